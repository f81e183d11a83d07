/* judge_program.c - options and operands of a program, by its row; see
 * programs.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Options of these kinds make a program more than its name promises. */
#define POWERS "PQRBCWM"

static void
ask(struct view *v, const struct opt *t)
{
	struct finding *f;

	if (v->n_asks == nitems(v->asks))
		return;
	f = &v->asks[v->n_asks++];
	f->at = view_place(v, t->at);
	(void)snprintf(f->what, sizeof f->what, "%s%s%s %s%.*s", v->prog->name,
	    v->prog->sub != NULL ? " " : "",
	    v->prog->sub != NULL ? v->prog->sub : "",
	    t->letter != '\0' ? "-" : "", (int)t->name_len, t->name);
}

/* Its commands are those of vi. */
static bool
is_editor(const struct view *v)
{
	return v->prog->operands != NULL &&
	    strcmp(v->prog->operands, "w+") == 0;
}

/* gcc -wrapper NAME,ARGUMENT,...: the same with blanks. */
static void
with_commas(struct piece *p, const char *text, size_t at)
{
	char *s = xstrdup(text);
	size_t i;

	for (i = 0; s[i] != '\0'; i++)
		if (s[i] == ',')
			s[i] = ' ';
	piece_named(p, s, at);
	free(s);
}

/* bind -x '"KEYS": COMMAND' */
static void
bound(struct piece *p, const char *text, size_t at)
{
	const char *s = strstr(text, "\":");

	s = s != NULL ? s + 2 : strchr(text, ':');
	piece_named(p, s != NULL ? s : text, at);
}

static void
option(struct view *v, const struct opt *t)
{
	struct piece *p = v->p;
	size_t at = view_place(v, t->at);
	const char *name = v->prog->name;
	struct sh_word file;

	/* gawk's extension, by whichever way it is loaded */
	v->inplace |= t->has_value && v->prog->operands != NULL &&
	    strcmp(v->prog->operands, "awk") == 0 &&
	    strstr(t->value.text, "inplace") != NULL;
	v->recursive |=
	    (t->kind == OPT_FLAG && (t->letter == 'r' || t->letter == 'R')) ||
	    text_starts(v->w[t->at].text, "--rec");
	view_search_option(v, t);
	if (v->prog->operands != NULL && strcmp(v->prog->operands, "url") == 0)
		view_fetch_option(v, t);
	switch (t->kind) {
	case OPT_POWER:
	case OPT_POWER_VALUE:
		piece_found(
		    p, FIND_POWER, at, "%s %.80s", name, v->w[t->at].text);
		/* Most are files: what is wrong in one is shown. */
		file = t->value;
		if (t->has_value && (file.flags & SH_COMPUTED) == 0)
			judge_read(p->j, &file, p->src, p->src_len);
		break;
	case OPT_RUN:
	case OPT_MAYBE_RUN:
		piece_found(p, FIND_POWER, at,
		    "%s %.80s, which runs something,", name, v->w[t->at].text);
		if (t->has_value && (t->value.flags & SH_COMPUTED) == 0) {
			if (text_starts(t->name, "-wrapper"))
				with_commas(p, t->value.text, at);
			else if (strcmp(name, "bind") == 0)
				bound(p, t->value.text, at);
			else
				piece_named(p, t->value.text, at);
			if (is_editor(v))
				piece_editor(p, t->value.text);
		}
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
	case OPT_INTO:
		if (t->has_value)
			v->into = t->value;
		break;
	case OPT_DIR:
		if (t->has_value)
			piece_chdir(p, &t->value, true);
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
			view_script(v, &t->value, at,
			    strcmp(v->prog->operands, "sed") == 0);
		break;
	case OPT_READ_AT:
		if (t->has_value)
			view_read_at(v, t);
		break;
	case OPT_CODE:
		v->coded = true;
		if (!is_interpreter(name))
			piece_found(p, FIND_POWER, at, "%s %.80s", name,
			    v->w[t->at].text);
		if (t->has_value)
			view_code(v, &t->value, at);
		break;
	case OPT_IMPORT:
		if (t->has_value)
			view_import(v, &t->value, at);
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

void
view_judge(struct view *v)
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
			piece_found(p, FIND_POWER, view_place(v, t.at),
			    "%s%.60s, which may become an option of %s,",
			    t.value.var != NULL ? "$" : "",
			    t.value.var != NULL ? t.value.var : t.value.text,
			    v->prog->name);
		if (t.kind == OPT_LAST) {
			v->coded = v->module = true;
			if (t.has_value)
				view_module(v, &t.value, o.i);
			continue;
		}
		if (t.kind == OPT_REST) {
			rest(v, &t, o.i);
			break;
		}
		/* "vi +COMMAND", "less +COMMAND"; "+3" is a line */
		if (t.kind == OPT_OPERAND && t.value.text[0] == '+' &&
		    (t.value.text[1] < '0' || t.value.text[1] > '9') &&
		    v->prog->operands != NULL &&
		    strchr(v->prog->operands, '+') != NULL) {
			piece_found(p, FIND_POWER, view_place(v, t.at),
			    "%s %.60s", v->prog->name, t.value.text);
			piece_named(p, t.value.text + 1, view_place(v, t.at));
			if (is_editor(v))
				piece_editor(p, t.value.text + 1);
			continue;
		}
		if (t.kind != OPT_OPERAND && t.kind != OPT_COMPUTED) {
			option(v, &t);
			transfer_option(&to, &t, &v->w[t.at]);
			continue;
		}
		at[n] = view_place(v, t.at);
		operands[n++] = t.value;
	}
	view_operands(v, operands, at, n);
	if (v->prog->operands != NULL && strcmp(v->prog->operands, "to") == 0 &&
	    !v->dry)
		transfer_judge(&to, operands, n);
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
			piece_chdir(p, &t.value, true);
		if (t.kind == OPT_DIR && t.has_value)
			piece_chdir(p, &t.value, false);
		if (t.kind == OPT_INTO && t.has_value)
			judge_into(p, RULE_EDIT, &t.value);
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

#define SUBSTITUTED 63 /* of a process, as bash counts down from */

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
				    strcmp(t.value.text, "asyncio") == 0 ||
				    strcmp(t.value.text, "pdb") == 0)
			    ? 0
			    : -1;
		else if (t.kind == OPT_FLAG && t.letter == 'i')
			return 0; /* more of it, when the file is done */
		else if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			return fd < 0 ? -1
			    : text_starts(t.value.text, "<(")
			    ? SUBSTITUTED
			    : piece_descriptor(p, &t.value);
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
	if (r == NULL && piece_has_input(p))
		code_piped(p, name);
	if (r == NULL || (r->op != SH_HEREDOC && r->op != SH_HERESTRING))
		return;
	(void)code_files(p, name, r->target.text);
	if ((r->target.flags & SH_COMPUTED) != 0 ||
	    code_starts(name, r->target.text))
		piece_found(p, FIND_OPAQUE, UNSPELLED,
		    "%s code that may run programs", name);
}

void
piece_program(struct piece *p, const char *name)
{
	struct view v = { .p = p };
	const struct sh_word *w = p->w + p->off;
	const size_t n = p->n - p->off;
	struct sh_word *plain;
	bool special;

	v.w = w;
	v.n = n;
	if (p->shift > 0) {
		globals(p, name, w, v.n);
		v.n -= p->shift;
		plain = judge_words(p->j, v.n);
		plain[0] = w[0];
		memcpy(plain + 1, w + 1 + p->shift, (v.n - 1) * sizeof *w);
		v.w = plain;
	}
	interpreter_input(p, name);
	special = piece_special(p, name, v.w, v.n);
	v.prog = program_find(name, v.n > 1 ? v.w[1].text : NULL);
	if (p->j->rules->blocks_reads)
		piece_may_read(p, name, w, n,
		    !special && (v.prog == NULL || v.prog->operands == NULL));
	if (special)
		return;
	if (v.prog != NULL)
		view_judge(&v);
	else
		piece_may_run(p, name, w, n);
	piece_unlisted(p, name, v.w, v.n);
}
