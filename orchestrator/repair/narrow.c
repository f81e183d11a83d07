/*
 * narrow.c - reads the command, finds the runner in it, and writes it again;
 * see narrow.h. What each runner takes stands in narrow_*.c.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_parse.h"
#include "common/text.h"
#include "orchestrator/repair/narrow_priv.h"
#include "sandbox/policy/programs.h"

/* What stands before the runner's own arguments. */
enum how {
	PROGRAM, /* name [sub] ... */
	MODULE   /* python -m name ... */
};

static const struct {
	const char *name;
	const char *sub; /* a word that must follow; NULL: none */
	enum how how;
	narrow_fn *fn;
} runners[] = {
	{ "pytest", NULL, MODULE, narrow_pytest },
	{ "pytest", NULL, PROGRAM, narrow_pytest },
	{ "py.test", NULL, PROGRAM, narrow_pytest },
	{ "pytest-3", NULL, PROGRAM, narrow_pytest },
	{ "unittest", NULL, MODULE, narrow_unittest },
	{ "node", NULL, PROGRAM, narrow_node },
	{ "nodejs", NULL, PROGRAM, narrow_node },
	{ "jest", NULL, PROGRAM, narrow_jest },
	{ "vitest", "run", PROGRAM, narrow_vitest },
	{ "mocha", NULL, PROGRAM, narrow_mocha },
	{ "go", "test", PROGRAM, narrow_go },
	{ "cargo", "test", PROGRAM, narrow_cargo },
	{ "ctest", NULL, PROGRAM, narrow_ctest },
	{ "prove", NULL, PROGRAM, narrow_prove },
};

/* --- words ---------------------------------------------------------------- */

bool
narrow_is_clean(const char *name)
{
	size_t len = strlen(name);

	/* Longer ones may have lost their end. */
	if (len == 0 || len + 4 > TESTS_MAX_NAME || !text_is_utf8(name, len) ||
	    strstr(name, TEXT_REPLACEMENT) != NULL)
		return false;
	for (; *name != '\0'; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	return true;
}

bool
narrow_is_word(const char *s, size_t len, const char *more)
{
	for (size_t i = 0; i < len; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') ||
			(s[i] >= 'A' && s[i] <= 'Z') ||
			(s[i] >= '0' && s[i] <= '9') || s[i] == '_' ||
			(unsigned char)s[i] >= 0x80 ||
			(s[i] != '\0' && strchr(more, s[i]) != NULL)))
			return false;
	return len > 0;
}

void
narrow_escape(struct buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\0' && strchr("\\^$.*+?()[]{}|/", s[i]) != NULL)
			(void)buf_addc(b, '\\');
		(void)buf_addc(b, s[i]);
	}
}

char *
narrow_choice(const char *before, const struct strv *list, const char *after)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	(void)buf_printf(&b, "%s%s", before, list->n > 1 ? "(" : "");
	for (size_t i = 0; i < list->n; i++)
		(void)buf_printf(&b, "%s%s", i > 0 ? "|" : "", list->v[i]);
	(void)buf_printf(&b, "%s%s", list->n > 1 ? ")" : "", after);
	return buf_detach(&b, NULL);
}

bool
narrow_names(struct narrow *x,
    char *(*one)(const struct narrow *, const char *), size_t max,
    struct strv *ret)
{
	char *s;

	for (size_t i = 0; i < x->failing->n && ret->n <= max; i++) {
		if (!narrow_is_clean(x->failing->v[i]))
			continue;
		s = one(x, x->failing->v[i]);
		if (s != NULL && !strv_has(ret, s))
			strv_take(ret, &s);
		free(s);
	}
	return ret->n > 0 && ret->n <= max;
}

/* --- options -------------------------------------------------------------- */

static bool
take_option(
    struct narrow *x, const struct opts *o, const struct opt *t, size_t to)
{
	size_t len = strcspn(x->w[t->at].text, "=");
	bool attached = x->w[t->at].text[len] == '=';
	/* Is the word behind it perhaps its value? */
	bool followed = o->i < to && x->w[o->i].text[0] != '-';

	if (*t->name == '\0')
		return t->letter == '\0' && (attached || !followed);
	/* An abbreviation, or an option that the table does not have. */
	if (t->letter == '\0' && t->name_len != len)
		return attached;
	if (t->letter == '\0' && t->kind == OPT_MAYBE)
		return attached || !followed;
	if (t->kind == NARROW_NEVER)
		return false;
	if (t->kind != NARROW_DROP && t->kind != NARROW_DROP_FLAG)
		return true;
	if (t->kind == NARROW_DROP && !t->has_value)
		return false;
	x->drop[t->at] = true;
	if (o->i == t->at + 2)
		x->drop[t->at + 1] = true;
	return true;
}

bool
narrow_span(
    struct narrow *x, const char *spec, size_t from, size_t to, bool drop)
{
	struct opts o;
	struct opt t;

	opts_begin(&o, spec, x->w, to);
	o.i = from;
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_OPERAND || t.kind == OPT_COMPUTED)
			x->drop[t.at] = drop;
		else if (!take_option(x, &o, &t, to))
			return false;
	}
	return true;
}

bool
narrow_options(struct narrow *x, const char *spec, bool drop)
{
	return narrow_span(x, spec, x->split, x->n, drop);
}

/* --- the runner ----------------------------------------------------------- */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Where the command begins that w[0] starts; n: it starts none that is sure. */
static size_t
peel(const struct sh_word *w, size_t n)
{
	const char *name = base_name(w[0].text);
	const struct wrapper *wr = wrapper_find(name, w, n);
	size_t skip;
	struct opts o;
	struct opt t;

	/* yarn and pnpm start what is installed, by its name. */
	if (n > 1 && (strcmp(name, "yarn") == 0 || strcmp(name, "pnpm") == 0) &&
	    (strcmp(w[1].text, "jest") == 0 ||
		strcmp(w[1].text, "vitest") == 0 ||
		strcmp(w[1].text, "mocha") == 0))
		return 1;
	if (wr == NULL || wr->kind != WRAP_ARGV || wr->skip > 9 ||
	    (wr->flags & WRAP_PRIV) != 0)
		return n;
	opts_begin(&o, wr->spec, w, n);
	skip = wr->skip;
	for (const char *s = wr->sub; s != NULL && *s != '\0'; o.i++)
		s += strcspn(s, " ") + strspn(s + strcspn(s, " "), " ");
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_COMPUTED || t.kind == OPT_SHELL ||
		    t.kind == OPT_DRY || t.kind == OPT_LAST)
			return n;
		if (t.kind != OPT_OPERAND ||
		    ((wr->flags & WRAP_ASSIGNS) != 0 &&
			strchr(w[t.at].text, '=') != NULL))
			continue;
		if (skip-- == 0)
			return t.at;
	}
	return n;
}

/* "python3.11", "pypy3" */
static bool
is_python(const char *name)
{
	if (text_starts(name, "python"))
		name += strlen("python");
	else if (text_starts(name, "pypy"))
		name += strlen("pypy");
	else
		return false;
	return strspn(name, "0123456789.") == strlen(name);
}

/* Behind "python -m", or at the file that it runs; n: neither. */
static size_t
python_at(const struct sh_word *w, size_t n, bool *ret_module)
{
	static const char spec[] = "+ m=Z c=X W=A X=A --check-hash-based-pycs=A"
				   " b=F B=F d=F E=F I=F O=F P=F q=F s=F S=F"
				   " u=F v=F x=F R=F";
	struct opts o;
	struct opt t;

	opts_begin(&o, spec, w, n);
	while (opts_next(&o, &t)) {
		*ret_module = t.letter == 'm';
		if (t.letter == 'm') /* "-mpytest" has no word of its own */
			return o.i == t.at + 2 ? o.i - 1 : n;
		if (t.kind == OPT_OPERAND)
			return t.at;
		if (t.kind != OPT_FLAG && t.kind != OPT_VALUE)
			return n;
		if (*t.name == '\0')
			return n;
	}
	return n;
}

/* "coverage run [options] -m MODULE": where MODULE is. */
static size_t
coverage_at(const struct sh_word *w, size_t n)
{
	static const char spec[] =
	    "+ m=Z --module=Z a=F --append=F --branch=F --concurrency=A"
	    " --context=A --data-file=A --include=A --omit=A L=F --pylib=F"
	    " p=F --parallel-mode=F --source=A --timid=F --rcfile=A";
	struct opts o;
	struct opt t;

	if (n < 2 || strcmp(w[1].text, "run") != 0)
		return n;
	opts_begin(&o, spec, w, n);
	o.i = 2;
	while (opts_next(&o, &t)) {
		if (t.kind == OPT_LAST)
			return o.i == t.at + 2 ? o.i - 1 : n;
		if ((t.kind != OPT_FLAG && t.kind != OPT_VALUE) ||
		    *t.name == '\0')
			return n;
	}
	return n;
}

static narrow_fn *
find_runner(struct narrow *x, enum how how)
{
	const char *name = base_name(x->w[0].text);

	for (size_t i = 0; i < nitems(runners); i++) {
		if (runners[i].how != how || strcmp(runners[i].name, name) != 0)
			continue;
		x->split = 1;
		if (runners[i].sub == NULL)
			return runners[i].fn;
		if (x->n < 2 || strcmp(x->w[1].text, runners[i].sub) != 0)
			return NULL;
		x->split = 2;
		return runners[i].fn;
	}
	return NULL;
}

/* x->w moves on to the runner. */
static narrow_fn *
runner_of(struct narrow *x)
{
	size_t at;
	bool module = false;

	while ((at = peel(x->w, x->n)) < x->n) {
		x->w += at;
		x->n -= at;
	}
	if (is_python(base_name(x->w[0].text))) {
		if ((at = python_at(x->w, x->n, &module)) >= x->n)
			return NULL;
		x->w += at;
		x->n -= at;
		if (!module) {
			x->split = 1;
			if (strcmp(base_name(x->w[0].text), "manage.py") != 0)
				return narrow_script;
			if (x->n < 2 || strcmp(x->w[1].text, "test") != 0)
				return NULL;
			x->split = 2;
			return narrow_django;
		}
	}
	if (strcmp(base_name(x->w[0].text), "coverage") == 0) {
		if ((at = coverage_at(x->w, x->n)) >= x->n)
			return NULL;
		x->w += at;
		x->n -= at;
		module = true;
	}
	return find_runner(x, module ? MODULE : PROGRAM);
}

/* --- the command ---------------------------------------------------------- */

/*
 * Where the last command begins, when the text is nothing but simple commands,
 * one after the other or joined by "&&". Their exit status is the last one's,
 * and what stands before it may stay as it is. SIZE_MAX: it is more.
 */
static size_t
last_begins(const struct sh_script *s, const char *text)
{
	const char *p = text;
	size_t begins = SIZE_MAX, len;

	for (size_t i = 0; i < s->n; i++) {
		p += strspn(p, " \t\n");
		begins = (size_t)(p - text);
		len = s->cmds[i].src_len;
		if (len == 0 || strncmp(p, s->cmds[i].src, len) != 0)
			return SIZE_MAX;
		p += len;
		p += strspn(p, " \t");
		if (i + 1 == s->n)
			break;
		if (text_starts(p, "&&"))
			p += 2;
		else if (*p == '\n' || (*p == ';' && p[1] != ';'))
			p++;
		else
			return SIZE_MAX;
	}
	return p[strspn(p, " \t\n")] == '\0' ? begins : SIZE_MAX;
}

static void
put_quoted(struct buf *b, const char *s, bool always)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (!always && *s != '\0' && strspn(s, plain) == strlen(s)) {
		(void)buf_adds(b, s);
		return;
	}
	(void)buf_addc(b, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			(void)buf_adds(b, "'\\''");
		else
			(void)buf_addc(b, *s);
	}
	(void)buf_addc(b, '\'');
}

/* A word of the command as it was. What the shell makes something of must
 * stand there without quotes, and so looks as it did. */
static bool
put_word(struct buf *b, const struct sh_word *w)
{
	bool quoted = (w->flags & SH_QUOTED) != 0;

	if ((w->flags & (SH_COMPUTED | SH_GLOB | SH_TILDE)) == 0) {
		put_quoted(b, w->text, quoted);
		return true;
	}
	if (quoted || !narrow_is_word(w->text, w->len, "@%+=:,./-~*?$"))
		return false;
	(void)buf_adds(b, w->text);
	return true;
}

/* NAME=value */
static bool
put_assign(struct buf *b, const struct sh_word *w)
{
	const char *eq = strchr(w->text, '=');

	if (eq == NULL ||
	    (w->flags & (SH_COMPUTED | SH_GLOB | SH_TILDE)) != 0 ||
	    !narrow_is_word(w->text, (size_t)(eq - w->text), ""))
		return false;
	(void)buf_add(b, w->text, (size_t)(eq + 1 - w->text));
	put_quoted(b, eq + 1, (w->flags & SH_QUOTED) != 0);
	return true;
}

/* "2>&1" alone. */
static bool
put_redir(struct buf *b, const struct sh_redir *r)
{
	if (r->op != SH_DUP || r->target.len != 1 ||
	    strchr("012-", r->target.text[0]) == NULL || r->fd < 0 ||
	    r->fd >= SH_FD_NAMED)
		return false;
	(void)buf_printf(b, " %d>&%s", r->fd, r->target.text);
	return true;
}

/* The words of c from number at on belong to the runner. */
static bool
write_command(
    const struct sh_cmd *c, size_t at, const struct narrow *x, struct buf *b)
{
	for (size_t i = 0; i < c->n_assigns; i++) {
		if (!put_assign(b, &c->assigns[i]))
			return false;
		(void)buf_addc(b, ' ');
	}
	for (size_t i = 0; i <= c->n_words; i++) {
		if (i == at + x->split)
			for (size_t k = 0; k < x->before.n; k++) {
				(void)buf_addc(b, ' ');
				put_quoted(b, x->before.v[k], false);
			}
		if (i == c->n_words || (i >= at && x->drop[i - at]))
			continue;
		if (i > 0)
			(void)buf_addc(b, ' ');
		if (!put_word(b, &c->words[i]))
			return false;
	}
	for (size_t i = 0; i < x->after.n; i++) {
		(void)buf_addc(b, ' ');
		put_quoted(b, x->after.v[i], false);
	}
	for (size_t i = 0; i < c->n_redirs; i++)
		if (!put_redir(b, &c->redirs[i]))
			return false;
	return b->len <= NARROW_COMMAND_MAX;
}

/* The last command of the script, narrowed; behind what precedes it. */
static bool
narrow_last(const struct sh_cmd *c, struct narrow *x, struct buf *b)
{
	narrow_fn *fn;
	struct buf same;
	size_t at, start = b->len;
	bool ok = false;

	x->w = c->words;
	x->n = c->n_words;
	if ((fn = runner_of(x)) == NULL)
		return false;
	at = (size_t)(x->w - c->words);
	x->drop = xcalloc(x->n + 1, sizeof *x->drop);
	/* As it is, for comparison. */
	buf_init(&same, BUF_NOMAX);
	if (write_command(c, at, x, &same) && fn(x) &&
	    write_command(c, at, x, b))
		ok = strcmp(buf_str(&same), buf_str(b) + start) != 0;
	buf_clear(&same);
	free(x->drop);
	strv_clear(&x->before);
	strv_clear(&x->after);
	return ok;
}

static char *
narrow(const char *command, struct narrow *x)
{
	struct sh_script *s;
	struct buf b;
	size_t from;
	char *ret = NULL;

	if (strlen(command) > NARROW_COMMAND_MAX)
		return NULL;
	s = sh_parse(command, strlen(command));
	buf_init(&b, BUF_NOMAX);
	if (s->n > 0 && s->error[0] == '\0' && s->n_functions == 0 &&
	    s->cmds[s->n - 1].n_words > 0 &&
	    (from = last_begins(s, command)) != SIZE_MAX) {
		(void)buf_add(&b, command, from);
		if (narrow_last(&s->cmds[s->n - 1], x, &b))
			ret = buf_detach(&b, NULL);
	}
	buf_clear(&b);
	sh_free(s);
	return ret;
}

char *
narrow_tests(
    const char *command, const struct strv *failing, const char *output)
{
	struct narrow x = { .failing = failing, .output = output };

	return narrow(command, &x);
}

char *
narrow_files(
    const char *command, const struct strv *failing, const char *output)
{
	struct narrow x = {
		.failing = failing, .output = output, .files = true
	};

	return narrow(command, &x);
}
