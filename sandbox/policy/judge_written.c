/*
 * judge_written.c - files that a command writes and uses in one go: a script of
 * known text that it then runs, and names that options of a form of their own
 * hold; see judge.h. Files are known by the last part of their names, wherever
 * it goes in between; text that is computed is not followed.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

#define WRITTEN_MAX 32 /* scripts in one command */
#define WRITTEN_BYTES ((size_t)16 << 10)

/* --- scripts -------------------------------------------------------------- */

/* The escapes that matter to a script: of printf, and of echo -e. */
static void
unescape(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s != '\\' || s[1] == '\0') {
			(void)buf_addc(b, *s);
			continue;
		}
		s++;
		if (*s == 'n')
			(void)buf_addc(b, '\n');
		else if (*s == 't')
			(void)buf_addc(b, '\t');
		else if (*s == '\\')
			(void)buf_addc(b, '\\');
		else
			(void)buf_printf(b, "\\%c", *s);
	}
}

/* printf FORMAT ARGUMENT...: over again while there are arguments. */
static void
printed(struct buf *b, const struct sh_cmd *c, size_t at)
{
	size_t k = at + 1, before;
	const char *s;
	char one[3];

	if (at >= c->n_words)
		return;
	do {
		before = k;
		for (s = c->words[at].text; *s != '\0'; s++) {
			if (*s == '%' && s[1] == '%') {
				(void)buf_addc(b, *s++);
			} else if (*s == '%' && s[1] != '\0') {
				s += 1 + strspn(s + 1, "-+ #0123456789.");
				if (*s == '\0')
					return;
				if (k < c->n_words)
					unescape(b, c->words[k++].text);
			} else {
				one[0] = *s;
				one[1] = *s == '\\' ? s[1] : '\0';
				one[2] = '\0';
				s += *s == '\\' && s[1] != '\0';
				unescape(b, one);
			}
		}
	} while (k < c->n_words && k > before && b->len < WRITTEN_BYTES);
}

/* What it writes to its standard output, as far as its words tell. */
static void
output_of(const struct sh_cmd *c, struct buf *b)
{
	bool escapes = false, newline = true;
	size_t at, i;

	if (c->n_words == 0)
		return;
	at = judge_first(c) + 1;
	for (i = 0; i < c->n_words; i++)
		if ((c->words[i].flags & SH_COMPUTED) != 0)
			return;
	for (i = 0; i < c->n_redirs; i++)
		if ((judge_calls(c, "cat") || judge_calls(c, "tee")) &&
		    (c->redirs[i].op == SH_HEREDOC ||
			c->redirs[i].op == SH_HERESTRING))
			(void)buf_printf(b, "%s\n", c->redirs[i].target.text);
	if (judge_calls(c, "printf")) {
		at += at < c->n_words && strcmp(c->words[at].text, "--") == 0;
		printed(b, c, at);
	}
	if (!judge_calls(c, "echo"))
		return;
	for (; at < c->n_words && c->words[at].text[0] == '-' &&
	     c->words[at].text[1] != '\0' &&
	     strspn(c->words[at].text + 1, "neE") == c->words[at].len - 1;
	     at++) {
		escapes |= strchr(c->words[at].text, 'e') != NULL;
		newline &= strchr(c->words[at].text, 'n') == NULL;
	}
	for (i = at; i < c->n_words; i++) {
		(void)buf_adds(b, i > at ? " " : "");
		if (escapes)
			unescape(b, c->words[i].text);
		else
			(void)buf_adds(b, c->words[i].text);
	}
	(void)buf_adds(b, newline ? "\n" : "");
}

static bool
is_name(const struct sh_word *w)
{
	return (w->flags & SH_COMPUTED) == 0 && w->text[0] != '-' &&
	    *path_base(w->text) != '\0' && !text_starts(w->text, "/dev/");
}

/* The file that it writes: of a redirection, or of tee. */
static const struct sh_word *
file_of(const struct sh_cmd *c)
{
	const struct sh_redir *r;
	size_t i;

	for (i = 0; i < c->n_redirs; i++) {
		r = &c->redirs[i];
		if ((r->op == SH_OUT || r->op == SH_APPEND ||
			r->op == SH_BOTH || r->op == SH_RDWR) &&
		    is_name(&r->target))
			return &r->target;
	}
	if (judge_calls(c, "tee"))
		for (i = judge_first(c) + 1; i < c->n_words; i++)
			if (is_name(&c->words[i]))
				return &c->words[i];
	return NULL;
}

/* One more piece of a file. */
static void
add_written(struct judge *j, const char *name, const char *text)
{
	size_t i;
	char *s;

	for (i = 0; i < j->written.n; i += 2)
		if (strcmp(j->written.v[i], name) == 0)
			break;
	if (i == j->written.n) {
		if (i >= WRITTEN_MAX * (size_t)2)
			return;
		strv_add(&j->written, name);
		strv_add(&j->written, text);
		return;
	}
	if (strlen(j->written.v[i + 1]) > WRITTEN_BYTES)
		return;
	s = xasprintf("%s%s", j->written.v[i + 1], text);
	free(j->written.v[i + 1]);
	j->written.v[i + 1] = s;
}

void
judge_written_ahead(struct judge *j, const struct sh_script *s)
{
	const struct sh_word *to;
	struct buf b;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		if ((to = file_of(&s->cmds[i])) == NULL)
			continue;
		buf_init(&b, BUF_NOMAX);
		output_of(&s->cmds[i], &b);
		/* A group, or what a pipe brings: what is said before. */
		if (b.len == 0 && (s->cmds[i].n_words == 0 || s->cmds[i].piped))
			for (k = 0; k < s->n; k++)
				if (file_of(&s->cmds[k]) == NULL)
					output_of(&s->cmds[k], &b);
		if (b.len > 0 && b.len <= WRITTEN_BYTES)
			add_written(j, path_base(to->text), buf_str(&b));
		buf_clear(&b);
	}
}

const char *
judge_written(const struct judge *j, const struct sh_word *file)
{
	const char *name = path_base(file->text);
	size_t i;

	if ((file->flags & SH_COMPUTED) != 0 || *name == '\0')
		return NULL;
	for (i = 0; i < j->written.n; i += 2)
		if (strcmp(j->written.v[i], name) == 0)
			return j->written.v[i + 1];
	return NULL;
}

void
piece_written(struct piece *p, const struct sh_word *file, size_t at)
{
	const char *text = judge_written(p->j, file);
	const bool before = p->j->only_blocks, known = p->j->only_known;

	/* another's than a shell's */
	if (text == NULL ||
	    (text_starts(text, "#!") &&
		memmem(text, strcspn(text, "\n"), "sh", 2) == NULL))
		return;
	p->j->only_blocks = p->j->only_known = true;
	piece_text(p, judge_keep(p->j, xstrdup(text)), false, NULL, at);
	p->j->only_blocks = before;
	p->j->only_known = known;
}

void
view_written(struct view *v, const struct sh_word *file)
{
	const char *text = judge_written(v->p->j, file);
	const bool known = v->p->j->only_known;

	if (text == NULL)
		return;
	v->p->j->only_known = true;
	(void)code_files(v->p, v->prog->name, text);
	v->p->j->only_known = known;
}

/* --- directories and files in a form of their own ------------------------- */

void
piece_tmpdir(struct piece *p, const struct sh_word *w)
{
	static const char *const names[] = { "TMPDIR=", "TMP=", "TEMP=" };
	struct sh_word dir = *w;
	size_t i;

	for (i = 0; i < nitems(names); i++) {
		if (!text_starts(w->text, names[i]) ||
		    (w->flags & SH_COMPUTED) != 0)
			continue;
		dir.text += strlen(names[i]);
		dir.len -= strlen(names[i]);
		if (dir.len > 0)
			judge_reach(p->j, RULE_EDIT, REACH_BELOW, &dir, p->src,
			    p->src_len);
	}
}

/* The part of a word from there on, of n bytes. */
static void
written_part(
    const struct call *c, const struct sh_word *w, const char *from, size_t n)
{
	struct sh_word file = *w;

	if (n == 0)
		return;
	file.text = (char *)(uintptr_t)judge_keep(c->p->j, xstrndup(from, n));
	file.len = n;
	judge_reach(
	    c->p->j, RULE_EDIT, REACH_BELOW, &file, c->p->src, c->p->src_len);
}

/* --tmpdir=DIR */
bool
special_mktemp(const struct call *c)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		if (text_starts(c->w[i].text, "--t") &&
		    strchr(c->w[i].text, '=') != NULL)
			written_part(c, &c->w[i], strchr(c->w[i].text, '=') + 1,
			    c->w[i].len);
	return false;
}

/* -Xlog:WHAT:file=FILE:..., -Xloggc:FILE, -XX:...File=FILE, filename=FILE */
bool
special_java(const struct call *c)
{
	static const char *const ends[] = { "File", "Path", "Dir", "filename",
		"Repository" };
	size_t i, k, n;

	for (i = 1; i < c->n; i++) {
		const struct sh_word *w = &c->w[i];
		const char *s = w->text;

		if (text_starts(s, "-Xlog:") || text_starts(s, "-Xloggc:")) {
			s += strcspn(s, ":") + 1;
			if (w->text[5] == ':')
				s += strcspn(s, ":");
			s += *s == ':';
			if (text_starts(s, "file="))
				s += strlen("file=");
			n = strcspn(s, ":");
			if (strncmp(s, "stdout", n) != 0 &&
			    strncmp(s, "stderr", n) != 0)
				written_part(c, w, s, n);
			continue;
		}
		if (!text_starts(s, "-XX:"))
			continue;
		for (k = 0; k < nitems(ends); k++) {
			s = strstr(w->text, ends[k]);
			if (s != NULL && s[strlen(ends[k])] == '=') {
				s += strlen(ends[k]) + 1;
				written_part(c, w, s, strcspn(s, ","));
			}
		}
	}
	return false;
}

/* --cov-report=xml:FILE */
bool
special_pytest(const struct call *c)
{
	const char *s;
	size_t i;

	for (i = 1; i < c->n; i++) {
		s = c->w[i].text;
		if (text_starts(s, "--cov-report"))
			s += s[12] == '=' ? 13 : 12;
		else if (strcmp(c->w[i - 1].text, "--cov-report") != 0)
			continue;
		s = strchr(s, ':');
		if (s != NULL)
			written_part(c, &c->w[i], s + 1, strlen(s + 1));
	}
	return false;
}

/* Commands of gdb that write the files that they name, or are code: each word
 * of theirs may be one. */
static void
gdb_command(const struct call *c, const char *text)
{
	static const char *const writers[] = { "dump", "append", "save",
		"gcore", "generate-core-file", "set logging", "set history",
		"tee", "pipe", "record save", "maint", "python", "py",
		"guile" };
	struct sh_word w = { 0 };
	size_t i, n;
	bool writes = false;

	text += strspn(text, " \t");
	for (i = 0; i < nitems(writers); i++)
		writes |= text_starts(text, writers[i]);
	for (; writes && *text != '\0'; text += n) {
		text += strspn(text, " \t\"'(),");
		n = strcspn(text, " \t\"'(),");
		if (n == 0)
			continue;
		w.text =
		    (char *)(uintptr_t)judge_keep(c->p->j, xstrndup(text, n));
		w.len = n;
		judge_reach(c->p->j, RULE_EDIT, REACH_BELOW | REACH_RULES, &w,
		    c->p->src, c->p->src_len);
	}
}

bool
special_gdb(const struct call *c)
{
	const char *s;
	size_t i;

	for (i = 1; i < c->n; i++) {
		s = strchr(c->w[i].text, '=');
		if (i + 1 < c->n &&
		    (text_ends(c->w[i].text, "-ex") ||
			text_ends(c->w[i].text, "-iex") ||
			text_ends(c->w[i].text, "eval-command")))
			gdb_command(c, c->w[i + 1].text);
		else if (c->w[i].text[0] == '-' && s != NULL)
			gdb_command(c, s + 1);
		/* wherever it stands */
		if (i > 1 && i + 1 < c->n &&
		    (strcmp(c->w[i].text, "--args") == 0 ||
			strcmp(c->w[i].text, "-args") == 0)) {
			judge_argv(c->p, c->w + i + 1, c->n - i - 1, false);
			piece_found(c->p, FIND_POWER, call_place(c, i),
			    "gdb --args, which starts others,");
			break;
		}
	}
	return false;
}

/* git's own that come to another of its verbs. */
void
git_others(const struct call *c)
{
	static const struct {
		const char *verb, *sub, *as;
	} others[] = { { "subtree", "push", "push" },
		{ "subtree", "pull", "pull" }, { "subtree", "merge", "merge" },
		{ "subtree", "add", "fetch" }, { "lfs", "push", "push" },
		{ "lfs", "pull", "pull" }, { "lfs", "fetch", "fetch" },
		{ "send-pack", NULL, "push" }, { "http-push", NULL, "push" },
		{ "fetch-pack", NULL, "fetch" }, { "svn", "dcommit", "push" },
		{ "p4", "submit", "push" }, { "stage", NULL, "add" },
		{ "for-each-repo", NULL, NULL } };
	struct sh_word *w;
	size_t i, k, from;

	for (i = 0; i < nitems(others); i++) {
		if (strcmp(c->w[1].text, others[i].verb) != 0)
			continue;
		/* options may stand before the second verb, with values */
		for (k = 2; others[i].sub != NULL && k < c->n; k++)
			if (strcmp(c->w[k].text, others[i].sub) == 0)
				break;
		if (others[i].sub != NULL && k >= c->n)
			continue;
		from = others[i].sub != NULL ? k + 1 : 2;
		w = judge_words(c->p->j, c->n + 1);
		w[0] = c->w[0];
		k = 1;
		if (others[i].as != NULL) {
			w[k] = c->w[1];
			w[k].text = (char *)(uintptr_t)others[i].as;
			w[k].len = strlen(others[i].as);
			k++;
		} else {
			while (from < c->n && c->w[from].text[0] == '-')
				from += 1 +
				    (strcmp(c->w[from].text, "--config") == 0);
		}
		if (from < c->n)
			memcpy(w + k, c->w + from, (c->n - from) * sizeof *w);
		judge_argv(c->p, w, k + c->n - from, false);
	}
}
