/* judge_program.c - options and operands of a program, by its row; see
 * programs.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Options of these kinds make a program more than its name promises. */
#define POWERS "PQRBCWM"

/* A command's words without global options, and back to the piece's. */
struct view {
	struct piece *p;
	const struct sh_word *w;
	size_t n;
	const struct program *prog;
	bool dry, inplace, scripted, coded, recursive;
	struct sh_word into;    /* where an archive is unpacked */
	struct finding asks[4]; /* undone by --dry-run */
	size_t n_asks;
};

static size_t
place_of(const struct view *v, size_t i)
{
	return v->p->off + (i == 0 ? 0 : i + v->p->shift);
}

static void
script(struct view *v, const struct sh_word *text, size_t at, bool sed)
{
	struct strv files = { 0 };
	unsigned does;
	struct sh_word w = { 0 };
	size_t i;

	if ((text->flags & SH_COMPUTED) != 0) {
		piece_found(v->p, FIND_POWER, at, "a computed script of %s",
		    v->prog->name);
		return;
	}
	does = sed ? script_sed(text->text, &files)
		   : script_awk(text->text, &files);
	if ((does & (SCRIPT_RUNS | SCRIPT_UNREAD)) != 0)
		piece_found(v->p, FIND_OPAQUE, at,
		    (does & SCRIPT_RUNS) != 0
			? "a script of %s that runs programs"
			: "a script of %s that can't be read",
		    v->prog->name);
	if ((does & SCRIPT_WRITES) != 0) {
		w.text = (char *)(uintptr_t) "a name in its script";
		w.flags = SH_COMPUTED;
		judge_write(v->p->j, &w, v->p->src, v->p->src_len);
	}
	for (i = 0; i < files.n; i++) {
		w.text = files.v[i];
		w.len = strlen(w.text);
		w.flags = 0;
		judge_write(v->p->j, &w, v->p->src, v->p->src_len);
	}
	strv_clear(&files);
}

static void
ask(struct view *v, const struct opt *t)
{
	struct finding *f;

	if (v->n_asks == nitems(v->asks))
		return;
	f = &v->asks[v->n_asks++];
	f->at = place_of(v, t->at);
	(void)snprintf(f->what, sizeof f->what, "%s%s%s %s%.*s", v->prog->name,
	    v->prog->sub != NULL ? " " : "",
	    v->prog->sub != NULL ? v->prog->sub : "",
	    t->letter != '\0' ? "-" : "", (int)t->name_len, t->name);
}

/* python -m timeit CODE..., python -m json.tool FILE... */
static void
module(struct view *v, const struct opt *t)
{
	static const char *const readers[] = { "ast", "base64", "cProfile",
		"dis", "gzip", "json", "json.tool", "pdb", "pickle", "profile",
		"quopri", "tarfile", "tokenize", "trace", "zipfile" };
	size_t i, k;

	for (k = 0; t->has_value && k < nitems(readers); k++)
		for (i = t->at + 1;
		     strcmp(t->value.text, readers[k]) == 0 && i < v->n; i++)
			if (v->w[i].text[0] != '-')
				judge_read(v->p->j, &v->w[i], v->p->src,
				    v->p->src_len);
	if (!t->has_value || strcmp(t->value.text, "timeit") != 0)
		return;
	for (i = t->at + 1; i < v->n; i++)
		if ((v->w[i].flags & SH_COMPUTED) != 0 ||
		    code_starts(v->prog->name, v->w[i].text))
			piece_found(v->p, FIND_OPAQUE, place_of(v, i),
			    "%s code that may run programs", v->prog->name);
}

static void
code(struct view *v, const struct sh_word *w, size_t at)
{
	if ((w->flags & SH_COMPUTED) != 0 ||
	    code_starts(v->prog->name, w->text))
		piece_found(v->p, FIND_OPAQUE, at,
		    "%s code that may run programs", v->prog->name);
}

/* Its input tells which files. */
static void
some_written(struct view *v, const char *where)
{
	struct sh_word w = { .flags = SH_COMPUTED };

	w.text = (char *)(uintptr_t)where;
	w.len = strlen(where);
	judge_write(v->p->j, &w, v->p->src, v->p->src_len);
}

/* Commands of sqlite3 that open other files. */
static void
db_commands(struct view *v, const struct sh_word *w)
{
	static const char *const marks[] = { ".open", ".backup", ".save",
		".clone", ".log", ".archive", ".ar ", "attach", "vacuum",
		"writefile", ".output", ".once", ".excel", ".restore" };
	size_t i;

	for (i = 0; i < nitems(marks); i++)
		if (strcasestr(w->text, marks[i]) != NULL) {
			some_written(v, "a name in its commands");
			return;
		}
}

/* curl: "@FILE"; of a form "name=@FILE;type=..." and "name=<FILE"; of
 * --data-urlencode "name@FILE". */
static void
read_at(struct view *v, const struct opt *t)
{
	const struct sh_word *w = &t->value;
	const char *p = w->text + strcspn(w->text, "@=");
	struct sh_word file = *w;
	char *name;

	if (*p == '=' && (t->letter == 'F' || text_starts(t->name, "--form")))
		p++;
	else if (p > w->text && !text_starts(t->name, "--data-urlencode") &&
	    !text_starts(t->name, "--url-query"))
		return;
	if (*p != '@' && *p != '<')
		return;
	name = xstrndup(p + 1, strcspn(p + 1, ";,"));
	file.text = name;
	file.len = strlen(name);
	judge_read(v->p->j, &file, v->p->src, v->p->src_len);
	free(name);
}

static void
option(struct view *v, const struct opt *t)
{
	struct piece *p = v->p;
	size_t at = place_of(v, t->at);
	const char *name = v->prog->name;
	struct sh_word file;

	/* gawk's extension, by whichever way it is loaded */
	v->inplace |= t->has_value && v->prog->operands != NULL &&
	    strcmp(v->prog->operands, "awk") == 0 &&
	    strstr(t->value.text, "inplace") != NULL;
	v->recursive |=
	    t->letter == 'r' || text_starts(v->w[t->at].text, "--rec");
	if (t->kind == OPT_WRITE && t->letter == 'd' && t->has_value)
		v->into = t->value;
	switch (t->kind) {
	case OPT_POWER:
	case OPT_POWER_VALUE:
		piece_found(
		    p, FIND_POWER, at, "%s %.80s", name, v->w[t->at].text);
		break;
	case OPT_RUN:
	case OPT_MAYBE_RUN:
		piece_found(p, FIND_POWER, at,
		    "%s %.80s, which runs something,", name, v->w[t->at].text);
		if (t->has_value && (t->value.flags & SH_COMPUTED) == 0)
			piece_named(p, t->value.text, at);
		break;
	case OPT_SHELL:
		if (t->has_value)
			piece_text(p, t->value.text,
			    (t->value.flags & SH_COMPUTED) != 0, t->value.var,
			    at);
		break;
	case OPT_WRITE:
		file = t->value;
		if (t->has_value)
			judge_write(p->j, &file, p->src, p->src_len);
		break;
	case OPT_READ:
		file = t->value;
		if (t->has_value)
			judge_read(p->j, &file, p->src, p->src_len);
		break;
	case OPT_LAST:
		v->coded = true;
		module(v, t);
		break;
	case OPT_ASK:
	case OPT_ASK_VALUE:
		ask(v, t);
		break;
	case OPT_DRY:
		v->dry = true;
		break;
	case OPT_SCRIPT:
		v->scripted = true;
		if (t->has_value)
			script(v, &t->value, at,
			    strcmp(v->prog->operands, "sed") == 0);
		break;
	case OPT_READ_AT:
		if (t->has_value)
			read_at(v, t);
		break;
	case OPT_CODE:
		v->coded = true;
		if (t->has_value)
			code(v, &t->value, at);
		break;
	case OPT_CONFIG:
		if (t->has_value)
			piece_git_config(p, &t->value, at);
		break;
	case OPT_INPLACE:
		v->inplace = true;
		break;
	default:
		break;
	}
	if ((t->letter == 'f' || strncmp(t->name, "--file", 6) == 0 ||
		strncmp(t->name, "--makefile", 10) == 0) &&
	    t->has_value && v->prog->operands != NULL &&
	    (text_starts(t->value.text, "<(") ||
		piece_descriptor(p, &t->value) >= 0))
		piece_found(p, FIND_OPAQUE, at,
		    "a script of %s that comes through its input", name);
	/* "sed -f FILE": then the first operand is no script. */
	if (v->prog->operands != NULL && t->letter == 'f' &&
	    (strcmp(v->prog->operands, "sed") == 0 ||
		strcmp(v->prog->operands, "awk") == 0))
		v->scripted = true;
}

static void
written(struct view *v, const struct sh_word *w)
{
	judge_write(v->p->j, w, v->p->src, v->p->src_len);
}

static void
read_by(struct view *v, const struct sh_word *w)
{
	judge_read(v->p->j, w, v->p->src, v->p->src_len);
}

/* The k-th operand, from 0, of n. */
static void
operand(struct view *v, const struct sh_word *w, size_t k, size_t n, size_t at)
{
	const char *how = v->prog->operands;
	struct sh_word of = *w;

	if (how == NULL)
		return;
	if (strcmp(how, "c") == 0) {
		if (k == 0)
			code(v, w, at);
		return;
	}
	if (*how == 'i') {
		if (v->inplace && (k > 0 || v->coded))
			written(v, w);
		if (k == 0 ? !v->coded || how[1] == 'i'
			   : v->coded && how[1] == 'i')
			read_by(v, w);
	} else if (strcmp(how, "db") == 0) {
		if (k > 0) {
			db_commands(v, w);
			return;
		}
		read_by(v, w);
		if (!v->dry)
			written(v, w);
	} else if (strcmp(how, "zip") == 0) {
		if (k == 0 || v->inplace)
			written(v, w);
		if (k > 0)
			judge_reach(v->p->j, RULE_READ,
			    v->recursive ? REACH_BELOW | REACH_ANY : 0, w,
			    v->p->src, v->p->src_len);
	} else if (strcmp(how, "patch") == 0) {
		if (k > 0)
			read_by(v, w);
		else if (!v->dry)
			written(v, w);
	} else if (strcmp(how, "any") == 0) {
		read_by(v, w);
	} else if (strcmp(how, "sed") == 0 || strcmp(how, "awk") == 0) {
		if (k == 0 && !v->scripted) {
			v->inplace |=
			    *how == 'a' && strstr(w->text, "inplace") != NULL;
			script(v, w, at, *how == 's');
		} else if (v->inplace)
			written(v, w);
		else
			read_by(v, w);
	} else if (strcmp(how, "wr") == 0) {
		read_by(v, w);
		if (!v->dry)
			written(v, w);
	} else if (strcmp(how, "x") == 0) {
		if (!v->dry)
			judge_remove(v->p->j, w, v->p->src, v->p->src_len);
	} else if (strcmp(how, "w") == 0 || strcmp(how, "w+") == 0 ||
	    (strcmp(how, "w-1") == 0 && k > 0) ||
	    (strcmp(how, "rwl") == 0 && k + 1 == n) ||
	    ((strcmp(how, "w2") == 0 || strcmp(how, "rw2") == 0) && k == 1)) {
		if (!v->dry)
			written(v, w);
	} else if (strcmp(how, "dd") == 0 && text_starts(w->text, "of=")) {
		of.text += 3;
		written(v, &of);
	} else if (strcmp(how, "dd") == 0 && text_starts(w->text, "if=")) {
		of.text += 3;
		read_by(v, &of);
	} else if (strcmp(how, "r") == 0 || strcmp(how, "r+") == 0 ||
	    strcmp(how, "rwl") == 0 || strcmp(how, "rw2") == 0 ||
	    (strcmp(how, "r-1") == 0 && k > 0)) {
		read_by(v, w);
	}
}

/* fd -x COMMAND..., -xCOMMAND... */
static void
rest(struct view *v, const struct opt *t, size_t from)
{
	struct sh_word *a = judge_words(v->p->j, v->n - from + 1);
	size_t n = 0;

	if (t->has_value)
		a[n++] = t->value;
	memcpy(a + n, v->w + from, (v->n - from) * sizeof *a);
	judge_argv(v->p, a, n + v->n - from, v->p->needs_cover);
}

static void
options(struct view *v)
{
	struct piece *p = v->p;
	bool powers = opts_has(v->prog->spec, POWERS);
	struct sh_word *operands = judge_words(p->j, v->n);
	size_t *at = xcalloc(v->n + 1, sizeof *at), n = 0, i;
	struct transfer to = { .p = p,
		.name = v->prog->sub != NULL ? v->prog->sub : v->prog->name };
	struct opts o;
	struct opt t;

	opts_begin(&o, v->prog->spec, v->w, v->n);
	if (v->prog->sub != NULL)
		o.i = 2;
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_COMPUTED && powers)
			piece_found(p, FIND_POWER, place_of(v, t.at),
			    "%s%.60s, which may become an option of %s,",
			    t.value.var != NULL ? "$" : "",
			    t.value.var != NULL ? t.value.var : t.value.text,
			    v->prog->name);
		if (t.kind == OPT_REST) {
			rest(v, &t, o.i);
			break;
		}
		/* "vi +COMMAND", "less +COMMAND"; "+3" is a line */
		if (t.kind == OPT_OPERAND && t.value.text[0] == '+' &&
		    (t.value.text[1] < '0' || t.value.text[1] > '9') &&
		    v->prog->operands != NULL &&
		    strchr(v->prog->operands, '+') != NULL) {
			piece_found(p, FIND_POWER, place_of(v, t.at),
			    "%s %.60s", v->prog->name, t.value.text);
			piece_named(p, t.value.text + 1, place_of(v, t.at));
			continue;
		}
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED) {
			option(v, &t);
			transfer_option(&to, &t, &v->w[t.at]);
			continue;
		}
		at[n] = place_of(v, t.at);
		operands[n++] = t.value;
	}
	for (i = 0; i < n; i++)
		operand(v, &operands[i], i, n, at[i]);
	if (v->prog->operands != NULL && strcmp(v->prog->operands, "to") == 0 &&
	    !v->dry)
		transfer_judge(&to, operands, n);
	if (v->prog->operands != NULL && !v->dry &&
	    strcmp(v->prog->operands, "unzip") == 0) {
		if (v->into.text == NULL) {
			v->into.text = (char *)(uintptr_t) ".";
			v->into.len = 1;
		}
		judge_reach(
		    p->j, RULE_EDIT, REACH_BELOW, &v->into, p->src, p->src_len);
	}
	if (v->prog->operands != NULL && !v->dry &&
	    (strcmp(v->prog->operands, "any") == 0 ||
		(strcmp(v->prog->operands, "patch") == 0 && n == 0)))
		some_written(v, "names in a patch");
	free(at);
	for (i = 0; i < v->n_asks && !v->dry; i++)
		piece_found(p, FIND_ASK, v->asks[i].at, "%s", v->asks[i].what);
}

static void
globals(struct piece *p, const char *name, const struct sh_word *w, size_t n)
{
	struct opts o;
	struct opt t;

	opts_begin(&o, program_globals(name), w, n);
	while (o.i <= p->shift && opts_next(&o, &t)) {
		if (t.kind == OPT_VALUE && t.letter == 'C' && t.has_value)
			piece_chdir(p, &t.value);
		if (t.kind == OPT_CONFIG && t.has_value)
			piece_git_config(p, &t.value, p->off + t.at);
		else if (t.kind == OPT_POWER_VALUE && t.has_value)
			piece_found(p,
			    strcmp(name, "git") == 0 &&
				    !text_starts(w[t.at].text, "--git-dir")
				? FIND_ASK
				: FIND_POWER,
			    p->off + t.at, "%s %.80s", name, w[t.at].text);
	}
}

/* The descriptor that its code comes from, -1: there is a file or an option for
 * it. */
static int
code_from(struct piece *p, const char *name)
{
	const struct program *prog = program_find(name, NULL);
	int fd = 0;
	struct opts o;
	struct opt t;

	opts_begin(
	    &o, prog != NULL ? prog->spec : "+", p->w + p->off, p->n - p->off);
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_CODE)
			fd = -1;
		else if (t.kind == OPT_LAST)
			return t.has_value &&
				(strcmp(t.value.text, "code") == 0 ||
				    strcmp(t.value.text, "pdb") == 0)
			    ? 0
			    : -1;
		else if (t.kind == OPT_FLAG && t.letter == 'i')
			return 0; /* more of it, when the file is done */
		else if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			return fd < 0 ? -1 : piece_descriptor(p, &t.value);
	}
	return fd;
}

/* Code that comes through its input. */
static void
interpreter_input(struct piece *p, const char *name)
{
	const struct sh_redir *r;
	int fd;

	if (!is_interpreter(name) || (fd = code_from(p, name)) < 0)
		return;
	r = piece_redir(p, &fd);
	if (r == NULL ? fd > 0 || p->j->fed || piece_has_input(p)
		      : r->op == SH_IN && (r->target.flags & SH_COMPUTED) != 0)
		piece_found(p, FIND_OPAQUE, UNSPELLED,
		    "%s code that comes through a pipe", name);
	else if (r != NULL && (r->op == SH_HEREDOC || r->op == SH_HERESTRING) &&
	    ((r->target.flags & SH_COMPUTED) != 0 ||
		code_starts(name, r->target.text)))
		piece_found(p, FIND_OPAQUE, UNSPELLED,
		    "%s code that may run programs", name);
}

void
piece_program(struct piece *p, const char *name)
{
	struct view v = { .p = p };
	const struct sh_word *w = p->w + p->off;
	struct sh_word *plain;

	v.w = w;
	v.n = p->n - p->off;
	if (p->shift > 0) {
		globals(p, name, w, v.n);
		v.n -= p->shift;
		plain = judge_words(p->j, v.n);
		plain[0] = w[0];
		memcpy(plain + 1, w + 1 + p->shift, (v.n - 1) * sizeof *w);
		v.w = plain;
	}
	interpreter_input(p, name);
	if (piece_special(p, name, v.w, v.n))
		return;
	v.prog = program_find(name, v.n > 1 ? v.w[1].text : NULL);
	if (v.prog != NULL)
		options(&v);
}
