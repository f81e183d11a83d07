/* judge_archive.c - what packs, unpacks and copies whole trees, and what shows
 * one under another name; see judge.h. Sources: the manual pages. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* --- tar ------------------------------------------------------------------ */

static const char tar_spec[] =
    "f=A --file=A C=K --directory=K T=L --files-from=L X=A --exclude-from=A "
    "I=A F=A b=A V=A g=W --listed-incremental=W K=A L=A N=A H=A --format=A "
    "--exclude=A --transform=A --xform=A --strip-components=A --owner=A "
    "--group=A --mode=A --mtime=A --index-file=W --volno-file=W "
    "--use-compress-program=A --to-command=A --checkpoint-action=A --newer=A "
    "--level=A --starting-file=A --suffix=A --info-script=A --label=A "
    "--record-size=A --blocking-factor=A --sort=A --warning=A "
    "--tape-length=A --rsh-command=A --rmt-command=A --new-volume-script=A "
    "--remove-files=F --recursion=F --extract=F --get=F --to-stdout=F";

struct tar {
	bool packs, unpacks, removes, renames;
	bool listed;   /* names come from a file */
	bool absolute; /* they may lead anywhere */
	size_t n;      /* of operands */
};

/* "tar xzf FILE" is "tar -x -z -f FILE": letters take their words in order. */
static size_t
tar_words(const struct call *c, struct sh_word *a)
{
	const char *takes =
	    strcmp(c->name, "jar") == 0 ? "fme" : "fCTXIFbVgKLNH";
	size_t next = 2, n = 0, k;

	a[n++] = c->w[0];
	if (c->n < 2 || c->w[1].text[0] == '-' ||
	    (c->w[1].flags & SH_COMPUTED) != 0) {
		memcpy(a + n, c->w + 1, (c->n - 1) * sizeof *a);
		return c->n;
	}
	for (k = 0; c->w[1].text[k] != '\0'; k++) {
		char l = c->w[1].text[k];

		a[n].text =
		    (char *)(uintptr_t)judge_keep(c->p->j, xasprintf("-%c", l));
		a[n++].len = 2;
		if (strchr(takes, l) == NULL || next >= c->n)
			continue;
		if (l == 'I' || l == 'F')
			piece_found(c->p, FIND_POWER, call_place(c, next),
			    "tar %c, which runs something,", l);
		a[n++] = c->w[next++];
	}
	memcpy(a + n, c->w + next, (c->n - next) * sizeof *a);
	return n + c->n - next;
}

static void
tar_mode(struct tar *m, const struct opt *t, const char *word)
{
	char l = t->letter;

	if (t->kind == OPT_OPERAND || t->kind == OPT_COMPUTED) {
		m->n++;
		return;
	}
	m->packs |= (l != '\0' && strchr("cruA", l) != NULL) ||
	    text_starts(word, "--cr") || text_starts(word, "--ap") ||
	    text_starts(word, "--up") || text_starts(word, "--conc") ||
	    text_starts(word, "--cat") || text_starts(word, "--delete");
	m->unpacks |= l == 'x' || text_starts(word, "--ext") ||
	    text_starts(word, "--get");
	m->removes |= text_starts(word, "--remove");
	m->absolute |= l == 'P' || text_starts(word, "--abs");
	m->renames |= l == 's' || text_starts(word, "--tra") ||
	    text_starts(word, "--xf") || text_starts(word, "--str") ||
	    text_starts(word, "--wild");
	m->listed |= l == 'T' || text_starts(word, "--files");
}

/* In their order: "-C" is for what comes behind it. */
static void
tar_operands(const struct call *c, const struct tar *m, struct opts *o)
{
	struct piece *p = c->p;
	struct opt t;

	while (opts_next(o, &t)) {
		if (t.kind == OPT_DIR && t.has_value)
			piece_chdir(p, &t.value, true);
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED)
			continue;
		if (m->packs)
			judge_reach(p->j, RULE_READ, REACH_BELOW | REACH_ANY,
			    &t.value, p->src, p->src_len);
		if (m->packs && m->removes)
			judge_remove(p->j, &t.value, p->src, p->src_len);
		if (m->unpacks && !m->renames)
			judge_reach(p->j, RULE_EDIT,
			    REACH_BELOW |
				(transfer_may_be_dir(t.value.text) ? REACH_ANY
								   : 0),
			    &t.value, p->src, p->src_len);
	}
	if (m->packs && m->listed)
		judge_some(p, RULE_READ, "names in a list");
	if (!m->unpacks)
		return;
	if (m->n == 0 || m->renames)
		judge_into(p, RULE_EDIT, NULL);
	if (m->absolute)
		judge_some(p, RULE_EDIT, "names in an archive");
}

bool
special_tar(const struct call *c)
{
	struct sh_word *a =
	    judge_words(c->p->j, 2 * (c->n > 1 ? c->w[1].len : 0) + c->n + 1);
	size_t n = tar_words(c, a);
	struct tar m = { 0 };
	bool shown = false;
	struct opts o;
	struct opt t;

	opts_begin(&o, tar_spec, a, n);
	while (opts_next(&o, &t)) {
		tar_mode(&m, &t, a[t.at].text);
		shown |= t.letter == 'O' || text_starts(a[t.at].text, "--to-");
	}
	m.unpacks &= !m.packs && !shown;
	opts_begin(&o, tar_spec, a, n);
	while (opts_next(&o, &t))
		if (t.has_value &&
		    (t.kind == OPT_WRITE ||
			(m.packs &&
			    (t.letter == 'f' ||
				text_starts(a[t.at].text, "--fi")) &&
			    t.kind == OPT_VALUE)))
			judge_write(
			    c->p->j, &t.value, c->p->src, c->p->src_len);
	opts_begin(&o, tar_spec, a, n);
	tar_operands(c, &m, &o);
	return false;
}

/* --- ar, cpio, pax -------------------------------------------------------- */

bool
special_ar(const struct call *c)
{
	size_t i = 1, at;
	const char *letters;

	while (i < c->n && text_starts(c->w[i].text, "--"))
		i++;
	if (i >= c->n)
		return false;
	letters = c->w[i].text;
	/* Before the archive, a member that others go next to. */
	at = i + 1 + (strpbrk(letters, "abi") != NULL);
	if (strchr(letters, 'x') != NULL)
		judge_into(c->p, RULE_EDIT, NULL);
	else if (strpbrk(letters, "rqdms") != NULL && at < c->n)
		judge_write(c->p->j, &c->w[at], c->p->src, c->p->src_len);
	/* What is put into it; of others the names of members. */
	for (i = at + 1; strpbrk(letters, "rq") != NULL && i < c->n; i++)
		judge_read(c->p->j, &c->w[i], c->p->src, c->p->src_len);
	return false;
}

bool
special_cpio(const struct call *c)
{
	static const char spec[] =
	    "O=A F=A --file=A I=A H=A --format=A C=A D=K --directory=K E=A "
	    "R=A --owner=A M=A --rsh-command=A --block-size=A --io-size=A "
	    "--pattern-file=A";
	struct sh_word file = { 0 }, dir = { 0 };
	bool in = false, out = false, pass = false, lists = false;
	bool inside = false, links = false;
	struct piece *p = c->p;
	struct opts o;
	struct opt t;

	opts_begin(&o, spec, c->w, c->n);
	while (opts_next(&o, &t)) {
		const char *s = c->w[t.at].text;

		in |= t.letter == 'i' || text_starts(s, "--extract");
		out |= t.letter == 'o' || text_starts(s, "--create");
		pass |= t.letter == 'p' || text_starts(s, "--pass");
		lists |= t.letter == 't' || text_starts(s, "--list") ||
		    text_starts(s, "--to-stdout");
		links |= t.letter == 'l' || text_starts(s, "--link");
		inside |= text_starts(s, "--no-abs");
		if (t.letter == 'O' || t.letter == 'F' ||
		    text_starts(s, "--file"))
			file = t.value;
		if (t.kind == OPT_DIR && t.has_value)
			piece_chdir(p, &t.value, true);
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			dir = t.value;
	}
	if (out && file.text != NULL)
		judge_write(p->j, &file, p->src, p->src_len);
	if (out || pass)
		judge_into(p, RULE_READ, NULL);
	if (pass)
		judge_into(p, RULE_EDIT, &dir);
	if (pass && links)
		judge_into(p, RULE_EDIT, NULL);
	if (!in || lists)
		return false;
	judge_into(p, RULE_EDIT, NULL);
	if (!inside)
		judge_some(p, RULE_EDIT, "names in an archive");
	return false;
}

bool
special_pax(const struct call *c)
{
	static const char spec[] =
	    "f=A b=A o=A p=A s=A x=A B=A E=A G=A T=A U=A";
	struct transfer to = {
		.p = c->p, .name = "pax", .recursive = true, .parents = true
	};
	struct sh_word *w = judge_words(c->p->j, c->n), file = { 0 };
	bool reads = false, writes = false, renames = false;
	struct piece *p = c->p;
	size_t n = 0, i;
	struct opts o;
	struct opt t;

	opts_begin(&o, spec, c->w, c->n);
	while (opts_next(&o, &t)) {
		reads |= t.letter == 'r';
		writes |= t.letter == 'w';
		renames |= t.letter == 's';
		to.links |= t.letter == 'l';
		if (t.letter == 'f')
			file = t.value;
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			w[n++] = t.value;
	}
	if (reads && writes) {
		if (n > 0)
			judge_reach(p->j, RULE_EDIT,
			    n == 1 || renames ? REACH_BELOW | REACH_ANY : 0,
			    &w[n - 1], p->src, p->src_len);
		if (n == 1)
			judge_into(p, RULE_READ, NULL);
		transfer_judge(&to, w, n);
	} else if (reads) {
		judge_into(p, RULE_EDIT, NULL);
		judge_some(p, RULE_EDIT, "names in an archive");
	} else if (writes) {
		if (file.text != NULL)
			judge_write(p->j, &file, p->src, p->src_len);
		for (i = 0; i < n; i++)
			judge_into(p, RULE_READ, &w[i]);
		if (n == 0)
			judge_into(p, RULE_READ, NULL);
	}
	return false;
}

/* --- mount ---------------------------------------------------------------- */

/* What was there is hidden, and what is shown can be written by that name. */
bool
special_mount(const struct call *c)
{
	struct transfer to = { .p = c->p, .name = "ln" };
	struct sh_word *w = judge_words(c->p->j, c->n);
	bool binds = strcmp(c->name, "bindfs") == 0;
	struct piece *p = c->p;
	size_t n = 0;
	struct opts o;
	struct opt t;

	opts_begin(&o,
	    "o=A --options=A t=A --types=A L=A U=A --label=A --uuid=A "
	    "--source=A --target=A O=A --bind=F R=F",
	    c->w, c->n);
	while (opts_next(&o, &t)) {
		const char *s = c->w[t.at].text;

		binds |= t.letter == 'B' || t.letter == 'R' ||
		    t.letter == 'M' || text_starts(s, "--bind") ||
		    text_starts(s, "--rbind") || text_starts(s, "--move") ||
		    (t.has_value && strstr(t.value.text, "bind") != NULL);
		if (t.has_value && strstr(t.value.text, "dir=") != NULL)
			judge_some(p, RULE_EDIT, "a layer of a file system");
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED ||
		    (t.has_value &&
			(text_starts(s, "--source") ||
			    text_starts(s, "--target"))))
			w[n++] = t.value;
	}
	if (n > 1)
		judge_remove(p->j, &w[n - 1], p->src, p->src_len);
	if (n > 1 && binds)
		transfer_judge(&to, w, n);
	return true;
}

/* "SOURCE:PLACE:ro" of -v, "type=bind,source=SOURCE,readonly" of --mount. */
static void
container_mount(struct piece *p, const struct sh_word *value, bool keys)
{
	const char *s = value->text, *end;
	struct sh_word source = *value;
	bool only_read;

	if (keys && (s = strstr(s, "source=")) == NULL &&
	    (s = strstr(value->text, "src=")) == NULL)
		return;
	s += keys ? strcspn(s, "=") + 1 : 0;
	end = s + strcspn(s, keys ? "," : ":");
	only_read = keys ? strstr(value->text, "readonly") != NULL ||
		strstr(value->text, ",ro") != NULL
			 : text_ends(end, ":ro") || strstr(end, ":ro,") != NULL;
	source.text =
	    (char *)(uintptr_t)judge_keep(p->j, xstrndup(s, (size_t)(end - s)));
	source.len = strlen(source.text);
	judge_into(p, RULE_READ, &source);
	if (!only_read)
		judge_into(p, RULE_EDIT, &source);
}

/* What it runs sees these directories under names of its own. */
bool
special_container(const struct call *c)
{
	struct opts o;
	struct opt t;

	opts_begin(&o, "v=A --volume=A --mount=A --env-file=L", c->w, c->n);
	while (opts_next(&o, &t))
		if (t.has_value && t.kind == OPT_READ)
			judge_read(c->p->j, &t.value, c->p->src, c->p->src_len);
		else if (t.has_value && t.kind == OPT_VALUE)
			container_mount(c->p, &t.value,
			    text_starts(c->w[t.at].text, "--mount"));
	return false;
}
