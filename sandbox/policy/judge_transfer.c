/* judge_transfer.c - cp, mv, ln and their like: what goes where, and under
 * which names it can be reached then; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

static void
does(const struct transfer *t, enum rule_about about, unsigned how,
    const struct sh_word *w)
{
	judge_reach(t->p->j, about, how, w, t->p->src, t->p->src_len);
}

void
transfer_option(
    struct transfer *t, const struct opt *o, const struct sh_word *w)
{
	const bool cp = strcmp(t->name, "cp") == 0;
	const bool dashes = text_starts(w->text, "--");

	if (o->kind == OPT_WRITE && o->has_value &&
	    (o->letter == 't' || text_starts(o->name, "--target"))) {
		t->target = o->value;
		t->has_target = true;
	}
	t->recursive |= (o->letter != '\0' && strchr("aRr", o->letter)) ||
	    (dashes &&
		(text_starts(w->text, "--rec") || text_starts(w->text, "--a")));
	/* to rsync and scp, something else */
	t->no_dir |= (o->letter == 'T' || text_starts(w->text, "--no-t")) &&
	    strcmp(t->name, "rsync") != 0 && strcmp(t->name, "scp") != 0;
	t->makes_dirs |= strcmp(t->name, "install") == 0 &&
	    (o->letter == 'd' || text_starts(w->text, "--d"));
	t->parents |= (cp && text_starts(w->text, "--pa")) ||
	    (strcmp(t->name, "rsync") == 0 &&
		(o->letter == 'R' || text_starts(w->text, "--rel")));
	t->links |= cp &&
	    (o->letter == 'l' || o->letter == 's' ||
		text_starts(w->text, "--li") || text_starts(w->text, "--sy"));
	t->symbolic |= (cp || strcmp(t->name, "ln") == 0) &&
	    (o->letter == 's' || text_starts(w->text, "--sy"));
	t->moves |= text_starts(w->text, "--remove-s"); /* rsync */
	t->relative |= o->letter == 'r' || text_starts(w->text, "--rel");
}

/* A path in a directory: words that go on as long as the judge. */
static struct sh_word
joined(const struct transfer *t, const struct sh_word *dir, const char *rest)
{
	struct sh_word w = *dir;

	w.text = (char *)(uintptr_t)judge_keep(
	    t->p->j, xasprintf("%s/%s", dir->text, rest));
	w.len = strlen(w.text);
	return w;
}

/* Nothing else than a directory can have such a name. */
static bool
is_dir(const char *s)
{
	const char *base = path_base(s);

	return *base == '\0' || strcmp(base, ".") == 0 ||
	    strcmp(base, "..") == 0;
}

bool
transfer_may_be_dir(const char *s)
{
	return is_dir(s) || strchr(path_base(s), '.') == NULL;
}

static bool
is_known(const struct sh_word *w)
{
	return (w->flags & (SH_COMPUTED | SH_GLOB)) == 0;
}

/* Outside of the workspace no rule for any directory holds. */
static bool
leaves(const struct transfer *t, const struct sh_word *dest)
{
	const struct judge *j = t->p->j;
	bool tilde = (dest->flags & SH_TILDE) != 0 && dest->text[0] == '~';
	bool out = !is_known(dest) || j->dir_unknown;
	size_t i;
	char *path;

	for (i = 0; i < j->dirs.n && !out; i++) {
		path = judge_path(dest->text, tilde, j->dirs.v[i], j->where);
		out = !path_is_below(path, j->where->workspace);
		free(path);
	}
	return out;
}

static void
linked(const struct transfer *t, const struct sh_word *to, unsigned how)
{
	does(t, RULE_READ, how | REACH_BELOW, to);
	does(t, RULE_EDIT, how | REACH_TREE | REACH_RULES, to);
}

/* What a symbolic link says is counted from where it is. */
static void
link_to(const struct transfer *t, const struct sh_word *to,
    const struct sh_word *dest, bool in, unsigned how)
{
	struct sh_word dir = *dest;
	char *above;

	if (!t->symbolic || t->relative || to->text[0] == '/' ||
	    to->text[0] == '~' || !is_known(to) || !is_known(dest)) {
		linked(t, to, how);
		return;
	}
	if (in || transfer_may_be_dir(dest->text)) {
		dir = joined(t, dest, to->text);
		linked(t, &dir, in ? how : how | REACH_MAYBE);
	}
	if (in)
		return;
	above = path_dir(dest->text);
	dir.text = above;
	dir.flags = dest->flags;
	dir = joined(t, &dir, to->text);
	free(above);
	linked(t, &dir, how);
}

static void
source(const struct transfer *t, const struct sh_word *w,
    const struct sh_word *dest, bool in, unsigned how)
{
	if (t->links) {
		link_to(t, w, dest, in, how);
		return;
	}
	does(t, RULE_READ, how | (t->recursive ? REACH_BELOW : 0), w);
	if (t->moves)
		does(t, RULE_EDIT, how | REACH_TREE, w);
}

/* The name that it gets in a directory; in: dest is one. */
static void
named_in(const struct transfer *t, const struct sh_word *w,
    const struct sh_word *dest, bool in)
{
	struct sh_word full;
	const char *base;
	char *plain;
	size_t n = w->len;

	if (!is_known(dest) || !transfer_may_be_dir(dest->text))
		return;
	if (t->parents && is_known(w)) {
		full = joined(t, dest, w->text);
		does(t, RULE_EDIT, t->recursive ? REACH_TREE : 0, &full);
	}
	if (!is_known(w) || is_dir(w->text)) {
		/* rsync means what is in it, the others the directory */
		while (n > 1 && w->text[n - 1] == '/')
			n--;
		plain = xstrndup(w->text, n);
		if (!is_known(w) || is_dir(plain) ||
		    strcmp(t->name, "rsync") == 0) {
			does(t, RULE_EDIT, REACH_BELOW | REACH_ANY, dest);
			free(plain);
			return;
		}
		base = judge_keep(t->p->j, plain);
	} else {
		base = w->text;
	}
	full = joined(t, dest, path_base(base));
	does(t, RULE_EDIT,
	    (t->recursive || t->links ? REACH_TREE : 0) |
		(in ? 0 : REACH_MAYBE),
	    &full);
}

void
transfer_judge(struct transfer *t, const struct sh_word *w, size_t n)
{
	static const struct sh_word here = { .text = (char *)(uintptr_t) ".",
		.len = 1 };
	const struct sh_word *dest = &here;
	unsigned how = 0;
	size_t i;
	bool in;

	for (i = 0; t->makes_dirs && i < n; i++)
		does(t, RULE_EDIT, 0, &w[i]);
	if (t->makes_dirs)
		return;
	t->links |= strcmp(t->name, "ln") == 0 || strcmp(t->name, "link") == 0;
	t->moves |= strcmp(t->name, "mv") == 0;
	t->recursive |= t->moves;
	t->relative &= strcmp(t->name, "ln") == 0;
	if (t->has_target)
		dest = &t->target;
	else if (n > 1 || (n == 1 && !t->links))
		dest = &w[--n];
	if (leaves(t, dest))
		how |= REACH_ANY;
	in = dest == &here || t->has_target || n > 1 || is_dir(dest->text);
	if (dest != &here)
		does(t, RULE_EDIT,
		    t->moves                                 ? REACH_TREE
			: t->recursive && (!in || t->no_dir) ? REACH_BELOW
							     : 0,
		    dest);
	for (i = 0; i < n; i++) {
		source(t, &w[i], dest, in && !t->no_dir, how);
		if (!t->no_dir)
			named_in(t, &w[i], dest, in);
	}
}
