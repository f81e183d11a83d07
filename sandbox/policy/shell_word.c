/*
 * shell_word.c - words: quotes, expansions, substitutions.
 *
 * A word is built byte by byte, with a mark for each byte that stood there
 * unquoted, since only those can be braces, wildcards or a tilde.
 */
#include "common/compat.h"

#include <ctype.h>
#include <utf8proc.h>

#include "common/log.h"
#include "sandbox/policy/shell_priv.h"

struct draft {
	char *text;
	bool *plain; /* that byte was not quoted */
	size_t n, size;
	unsigned flags;
	bool assign; /* NAME= has been read */
	char *var;   /* in the arena */
};

static void dollar(struct sh_parser *p, struct draft *d, bool in_quotes);
static void backquote(struct sh_parser *p, struct draft *d, bool in_quotes);
static void double_quote(struct sh_parser *p, struct draft *d);

/* --- characters ------------------------------------------------------------
 */

static bool
is_meta(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' ||
	    c == '|' || c == '<' || c == '>' || c == '(' || c == ')';
}

static bool
is_name_start(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name(int c)
{
	return is_name_start(c) || (c >= '0' && c <= '9');
}

static int
ahead(const struct sh_parser *p, size_t n)
{
	return p->at + n < p->len ? (unsigned char)p->s[p->at + n] : -1;
}

int
sh_peek(struct sh_parser *p)
{
	while (ahead(p, 0) == '\\' && ahead(p, 1) == '\n')
		p->at += 2;
	return ahead(p, 0);
}

bool
sh_at_word(const struct sh_parser *p)
{
	int c = ahead(p, 0);

	if ((c == '<' || c == '>') && ahead(p, 1) == '(')
		return true;
	return c >= 0 && !is_meta(c);
}

/* Every way back costs; so does every expansion. */
static bool
step(struct sh_parser *p)
{
	if (++p->steps > SH_MAX_STEPS)
		sh_fail(p, "it is too long to be read");
	return !p->failed;
}

/* --- drafts ----------------------------------------------------------------
 */

static void
put(struct draft *d, int c, bool plain)
{
	if (d->n == d->size) {
		d->size = d->size > 0 ? 2 * d->size : 64;
		d->text = xreallocarray(d->text, d->size, 1);
		d->plain = xreallocarray(d->plain, d->size, sizeof *d->plain);
	}
	d->text[d->n] = (char)c;
	d->plain[d->n++] = plain;
}

/* As it stands in the text, from start to where we are. */
static void
put_source(const struct sh_parser *p, struct draft *d, size_t start)
{
	for (size_t i = start; i < p->at; i++)
		put(d, p->s[i], false);
}

static void
draft_clear(struct draft *d)
{
	free(d->text);
	free(d->plain);
}

static void
computed(struct sh_parser *p, struct draft *d, const char *var, size_t len)
{
	d->flags |= SH_COMPUTED;
	if (d->var == NULL && len > 0)
		d->var = sh_dup(p->out, var, len);
}

/* --- quotes ----------------------------------------------------------------
 */

static void
single_quote(struct sh_parser *p, struct draft *d)
{
	const char *end;

	d->flags |= SH_QUOTED;
	p->at++;
	end = memchr(p->s + p->at, '\'', p->len - p->at);
	if (end == NULL) {
		sh_fail(p, "a single quote is not closed");
		return;
	}
	for (; p->s + p->at < end; p->at++)
		put(d, p->s[p->at], false);
	p->at++;
}

static int
hex(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Digits of a base at p->at, at most max of them; -1: there is none. */
static long
digits(struct sh_parser *p, int base, int max)
{
	long v = 0;
	int n, h;

	for (n = 0; n < max; n++) {
		h = hex(ahead(p, 0));
		if (h < 0 || h >= base)
			break;
		v = v * base + h;
		p->at++;
	}
	return n > 0 ? v : -1;
}

static void
put_unicode(struct draft *d, long v)
{
	utf8proc_uint8_t u[4];
	utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)v, u);

	for (utf8proc_ssize_t i = 0; i < n; i++)
		put(d, u[i], false);
}

/* After a backslash in $'...'. */
static void
ansi_escape(struct sh_parser *p, struct draft *d)
{
	static const char from[] = "abeEfnrtv\\'\"?";
	static const char to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	const char *simple;
	long v = -1;
	int c = ahead(p, 0);

	if (c < 0)
		return;
	if ((simple = strchr(from, c)) != NULL && c != 0) {
		put(d, to[simple - from], false);
		p->at++;
		return;
	}
	if (c >= '0' && c <= '7') {
		v = digits(p, 8, 3) & 0xff;
	} else if (c == 'x') {
		p->at++;
		v = digits(p, 16, 2);
	} else if (c == 'u' || c == 'U') {
		p->at++;
		v = digits(p, 16, c == 'u' ? 4 : 8);
		if (v > 0) {
			put_unicode(d, v);
			return;
		}
	} else if (c == 'c' && ahead(p, 1) >= 0) {
		v = ahead(p, 1) & 0x1f;
		p->at += 2;
	} else {
		put(d, '\\', false);
		return;
	}
	if (v == 0) {
		sh_fail(p, "a NUL byte in $'...'");
	} else if (v > 0) {
		put(d, (int)v, false);
	} else {
		put(d, '\\', false);
		put(d, c, false);
	}
}

/* At the quote of $'...'. */
static void
ansi_quote(struct sh_parser *p, struct draft *d)
{
	d->flags |= SH_QUOTED;
	p->at++;
	while (!p->failed && ahead(p, 0) != '\'') {
		if (ahead(p, 0) < 0) {
			sh_fail(p, "a quote is not closed");
		} else if (ahead(p, 0) == '\\') {
			p->at++;
			ansi_escape(p, d);
		} else {
			put(d, ahead(p, 0), false);
			p->at++;
		}
	}
	p->at++;
}

/* One step of what double quotes and here-documents have in common. */
static void
in_double(struct sh_parser *p, struct draft *d, const char *escapes)
{
	int c = ahead(p, 0), next = ahead(p, 1);

	if (c == '$') {
		dollar(p, d, true);
	} else if (c == '`') {
		backquote(p, d, true);
	} else if (c == '\\' && next == '\n') {
		p->at += 2;
	} else if (c == '\\' && next > 0 && strchr(escapes, next) != NULL) {
		put(d, next, false);
		p->at += 2;
	} else {
		put(d, c, false);
		p->at++;
	}
}

static void
double_quote(struct sh_parser *p, struct draft *d)
{
	d->flags |= SH_QUOTED;
	p->at++;
	while (!p->failed && ahead(p, 0) != '"') {
		if (ahead(p, 0) < 0)
			sh_fail(p, "a double quote is not closed");
		else
			in_double(p, d, "$`\"\\");
	}
	p->at++;
}

void
sh_body(struct sh_parser *p, const char *text, size_t len, struct sh_word *ret)
{
	struct sh_parser q = { .out = p->out,
		.s = text,
		.len = len,
		.depth = p->depth + 1,
		.steps = p->steps };
	struct draft d = { 0 };

	while (!q.failed && q.at < q.len)
		in_double(&q, &d, "$`\\");
	*ret = (struct sh_word){ .text = sh_dup(p->out, text, len),
		.len = len,
		.flags = (d.flags & SH_COMPUTED) | SH_QUOTED,
		.var = d.var };
	p->failed |= q.failed;
	p->steps = q.steps;
	draft_clear(&d);
}

/* --- substitutions ---------------------------------------------------------
 */

/* From behind "$(", "<(" or ">(" to behind the parenthesis. */
static void
substitution(struct sh_parser *p)
{
	size_t outer = p->base_pending;
	bool piped = p->piped;

	if (!step(p))
		return;
	p->base_pending = p->n_pending;
	p->piped = false;
	sh_list_until(p, ')');
	if (p->n_pending > p->base_pending)
		sh_fail(p, "a here-document has no body");
	p->base_pending = outer;
	p->piped = piped;
}

static void
backquote(struct sh_parser *p, struct draft *d, bool in_quotes)
{
	size_t start = p->at;
	struct draft in = { 0 }, kept = { 0 };
	bool differ = false;
	int next;

	computed(p, d, NULL, 0);
	p->at++;
	while (ahead(p, 0) != '`' && ahead(p, 0) >= 0) {
		next = ahead(p, 1);
		if (ahead(p, 0) == '\\' &&
		    (next == '$' || next == '`' || next == '\\')) {
			p->at++;
		} else if (in_quotes && ahead(p, 0) == '\\' && next == '"') {
			/* Gone within double quotes, and not in a
			 * here-document: read both ways. */
			put(&kept, '\\', false);
			differ = true;
			p->at++;
		}
		put(&in, ahead(p, 0), false);
		put(&kept, ahead(p, 0), false);
		p->at++;
	}
	if (ahead(p, 0) < 0)
		sh_fail(p, "a backquote is not closed");
	p->at++;
	if (step(p))
		sh_nested(p, sh_dup(p->out, in.text, in.n), in.n);
	if (differ && step(p))
		sh_nested(p, sh_dup(p->out, kept.text, kept.n), kept.n);
	draft_clear(&in);
	draft_clear(&kept);
	if (!p->failed)
		put_source(p, d, start);
}

/* One step through text whose words don't matter, only what they start. */
static void
skim(struct sh_parser *p, bool in_quotes)
{
	struct draft d = { 0 };
	int c = ahead(p, 0);

	if (c == '\\' && ahead(p, 1) >= 0)
		p->at += 2;
	else if (c == '\'' && !in_quotes)
		single_quote(p, &d);
	else if (c == '"')
		double_quote(p, &d);
	else if (c == '$')
		dollar(p, &d, in_quotes);
	else if (c == '`')
		backquote(p, &d, in_quotes);
	else if ((c == '<' || c == '>') && ahead(p, 1) == '(' && !in_quotes) {
		p->at += 2;
		substitution(p);
	} else {
		p->at++;
	}
	draft_clear(&d);
}

/* Arithmetic evaluates what variables hold, and that may hold a[$(...)]. */
bool
sh_arith(struct sh_parser *p)
{
	const size_t start = p->at;
	const bool failed = p->failed;
	size_t depth = 0;
	bool names = false, good = false;
	char error[sizeof p->out->error];
	int c;

	memcpy(error, p->out->error, sizeof error);
	if (!step(p))
		return false;
	while (!p->failed && (c = ahead(p, 0)) >= 0) {
		if (c == ')' && depth == 0)
			break;
		if (c == '(') {
			depth++;
			p->at++;
		} else if (c == ')') {
			depth--;
			p->at++;
		} else if (c == '<' || c == '>') {
			p->at++; /* no process substitution here */
		} else {
			names |= is_name_start(c) || c == '$';
			skim(p, false);
		}
	}
	good = !p->failed && ahead(p, 0) == ')' && ahead(p, 1) == ')';
	if (good) {
		p->at += 2;
		p->out->evaluates |= names;
	} else {
		p->at = start;
		p->failed = failed;
		memcpy(p->out->error, error, sizeof error);
		(void)step(p);
	}
	return good;
}

/* A subscript or $[...], from behind the bracket to behind the other. */
static void
brackets(struct sh_parser *p)
{
	size_t depth = 0;
	int c;

	while (!p->failed) {
		c = ahead(p, 0);
		if (c < 0) {
			sh_fail(p, "a bracket is not closed");
		} else if (c == ']' && depth == 0) {
			p->at++;
			return;
		} else if (c == '[' || c == ']') {
			depth += c == '[' ? 1 : (size_t)-1;
			p->at++;
		} else {
			p->out->evaluates |= is_name_start(c);
			skim(p, false);
		}
	}
}

/* From behind "${" to behind the brace. */
static void
parameter(struct sh_parser *p, struct draft *d, bool in_quotes)
{
	size_t name;
	int c = ahead(p, 0);

	if ((c == '!' || c == '#') && ahead(p, 1) != '}')
		p->at++;
	name = p->at;
	while (is_name(ahead(p, 0)))
		p->at++;
	if (p->at == name && ahead(p, 0) > 0 &&
	    strchr("@*#?-$!", ahead(p, 0)) != NULL)
		p->at++;
	computed(p, d, p->s + name, p->at - name);
	if (p->at == name && ahead(p, 0) != '}')
		sh_fail(p, "${...} is none of the known forms");
	if (ahead(p, 0) == '[') {
		p->at++;
		brackets(p);
	}
	/* ${x@P} is expanded like a prompt: substitutions run; ${x:n} is
	 * arithmetic. */
	if (ahead(p, 0) == '@' ||
	    (ahead(p, 0) == ':' && ahead(p, 1) > 0 &&
		strchr("-=?+", ahead(p, 1)) == NULL))
		p->out->evaluates = true;
	while (!p->failed && (c = ahead(p, 0)) != '}') {
		if (c < 0)
			sh_fail(p, "${ is not closed");
		/* Shells differ in what it quotes here. */
		else if (c == '\'' && in_quotes)
			sh_fail(p, "a single quote in \"${...}\"");
		else
			skim(p, in_quotes);
	}
	p->at++;
}

/* At the dollar sign. */
static void
expansion(struct sh_parser *p, struct draft *d, bool in_quotes)
{
	size_t start = p->at, name;
	int c = ahead(p, 1);

	if (c == '\\' && ahead(p, 2) == '\n')
		sh_fail(p, "a line ends within an expansion");
	if (!step(p))
		return;
	if (c == '\'' && !in_quotes) {
		p->at++;
		ansi_quote(p, d);
		return;
	}
	if (c == '"' && !in_quotes) {
		p->at++;
		double_quote(p, d);
		return;
	}
	p->at += 2;
	if (c == '(') {
		computed(p, d, NULL, 0);
		if (ahead(p, 0) == '(') {
			p->at++;
			if (!sh_arith(p)) {
				p->at--;
				substitution(p);
			}
		} else {
			substitution(p);
		}
	} else if (c == '{') {
		parameter(p, d, in_quotes);
	} else if (c == '[') {
		computed(p, d, NULL, 0);
		brackets(p);
	} else if (is_name_start(c)) {
		name = p->at - 1;
		while (is_name(ahead(p, 0)))
			p->at++;
		computed(p, d, p->s + name, p->at - name);
	} else if (c > 0 && strchr("@*#?-$!0123456789", c) != NULL) {
		computed(p, d, p->s + p->at - 1, 1);
	} else {
		p->at--; /* just a dollar sign */
		put(d, '$', true);
		return;
	}
	if (!p->failed)
		put_source(p, d, start);
}

static void
dollar(struct sh_parser *p, struct draft *d, bool in_quotes)
{
	if (++p->depth > SH_MAX_DEPTH)
		sh_fail(p, "nested more than %d deep", SH_MAX_DEPTH);
	expansion(p, d, in_quotes);
	p->depth--;
}

/* --- words -----------------------------------------------------------------
 */

static bool
is_plain_name(const struct draft *d)
{
	if (d->n == 0 || !is_name_start((unsigned char)d->text[0]))
		return false;
	for (size_t i = 0; i < d->n; i++) {
		if (!d->plain[i] || !is_name((unsigned char)d->text[i]))
			return false;
	}
	return true;
}

/* NAME[...] where an assignment may stand: the bracket may hold blanks. */
static bool
subscript(struct sh_parser *p, struct draft *d)
{
	size_t start = p->at;
	bool failed = p->failed, evaluates = p->out->evaluates;
	char error[sizeof p->out->error];

	memcpy(error, p->out->error, sizeof error);
	p->at++;
	brackets(p);
	if (!p->failed &&
	    (ahead(p, 0) == '=' ||
		(ahead(p, 0) == '+' && ahead(p, 1) == '='))) {
		put_source(p, d, start);
		if (ahead(p, 0) == '+') {
			put(d, '+', true);
			p->at++;
		}
		put(d, '=', true);
		p->at++;
		d->assign = true;
		return true;
	}
	p->at = start;
	p->failed = failed;
	p->out->evaluates = evaluates;
	memcpy(p->out->error, error, sizeof error);
	(void)step(p);
	return false;
}

/* NAME=( ... ), at the parenthesis. */
static void
array(struct sh_parser *p, struct draft *d)
{
	struct sh_word *words = NULL;
	size_t n = 0, start = p->at;

	p->at++;
	for (;;) {
		sh_newlines(p);
		if (p->failed || !sh_at_word(p))
			break;
		sh_word(p, SH_ARGUMENT, &words, &n);
	}
	if (!p->failed && ahead(p, 0) != ')')
		sh_fail(p, "an array is not closed");
	p->at++;
	d->flags |= SH_COMPUTED;
	if (!p->failed)
		put_source(p, d, start);
}

/* ?(a|b) and its like, at the parenthesis. Without the option it is a mistake
 * of syntax, and nothing runs. */
static void
extended_glob(struct sh_parser *p, struct draft *d)
{
	size_t start = p->at, depth = 0;

	d->flags |= SH_GLOB | SH_COMPUTED;
	p->at++;
	while (!p->failed && (ahead(p, 0) != ')' || depth > 0)) {
		if (ahead(p, 0) < 0) {
			sh_fail(p, "a parenthesis is not closed");
		} else if (ahead(p, 0) == '(' || ahead(p, 0) == ')') {
			depth += ahead(p, 0) == '(' ? 1 : (size_t)-1;
			p->at++;
		} else {
			skim(p, false);
		}
	}
	p->at++;
	if (!p->failed)
		put_source(p, d, start);
}

static bool
ends_plain(const struct draft *d, const char *chars)
{
	return d->n > 0 && d->plain[d->n - 1] &&
	    strchr(chars, d->text[d->n - 1]) != NULL;
}

static void
plain_char(struct sh_parser *p, struct draft *d, int c, enum sh_place place)
{
	if (c == '=' && !d->assign && place != SH_ARGUMENT) {
		bool plus = ends_plain(d, "+");

		d->n -= plus;
		d->assign = is_plain_name(d);
		d->n += plus;
	}
	put(d, c, true);
	p->at++;
}

static void
read_word(struct sh_parser *p, enum sh_place place, struct draft *d)
{
	size_t start;
	int c;

	while (!p->failed && (c = sh_peek(p)) >= 0) {
		if (c == '\\') {
			d->flags |= SH_QUOTED;
			put(d, ahead(p, 1) >= 0 ? ahead(p, 1) : '\\', false);
			p->at += ahead(p, 1) >= 0 ? 2 : 1;
		} else if (c == '\'') {
			single_quote(p, d);
		} else if (c == '"') {
			double_quote(p, d);
		} else if (c == '$') {
			dollar(p, d, false);
		} else if (c == '`') {
			backquote(p, d, false);
		} else if ((c == '<' || c == '>') && ahead(p, 1) == '(') {
			start = p->at;
			computed(p, d, NULL, 0);
			p->at += 2;
			substitution(p);
			if (!p->failed)
				put_source(p, d, start);
		} else if (c == '(' && d->assign && ends_plain(d, "=")) {
			array(p, d);
		} else if (c == '(' && ends_plain(d, "?*+@!")) {
			extended_glob(p, d);
		} else if (is_meta(c)) {
			break;
		} else if (c == '[' && place != SH_ARGUMENT &&
		    is_plain_name(d) && subscript(p, d)) {
			continue;
		} else {
			plain_char(p, d, c, place);
		}
	}
}

bool
sh_is_assignment(const struct sh_word *w)
{
	return (w->flags & SH_ASSIGN) != 0;
}

/* --- braces ----------------------------------------------------------------
 */

#define BRACES_MAX 256

struct expansion {
	struct sh_parser *p;
	struct sh_word **words;
	size_t *n;
	size_t made;
	unsigned flags; /* of the whole word */
	char *var;
};

static void
finish(struct expansion *x, const char *text, const bool *plain, size_t n)
{
	struct sh_word *w;

	*x->words = sh_grow(x->p->out, *x->words, *x->n, sizeof **x->words);
	w = &(*x->words)[(*x->n)++];
	*w = (struct sh_word){ .text = sh_dup(x->p->out, text, n),
		.len = n,
		.flags = x->flags,
		.var = x->var };
	for (size_t i = 0; i < n; i++) {
		if (plain[i] && text[i] != '\0' &&
		    strchr("*?[", text[i]) != NULL)
			w->flags |= SH_GLOB;
	}
	if (n > 0 && plain[0] && text[0] == '~')
		w->flags |= SH_TILDE;
	x->made++;
}

/* The end of the brace that opens at i, and whether there is a comma or ".." at
 * its own level; 0: it is none. */
static size_t
brace_end(const char *text, const bool *plain, size_t n, size_t i,
    bool *ret_list, bool *ret_range)
{
	size_t depth = 0;

	*ret_list = *ret_range = false;
	for (size_t k = i + 1; k < n; k++) {
		if (!plain[k])
			continue;
		if (text[k] == '{') {
			depth++;
		} else if (text[k] == '}') {
			if (depth-- == 0)
				return k;
		} else if (text[k] == ',' && depth == 0) {
			*ret_list = true;
		} else if (text[k] == '.' && depth == 0 && k + 1 < n &&
		    plain[k + 1] && text[k + 1] == '.') {
			*ret_range = true;
		}
	}
	return 0;
}

/* 1..3, a..f, 1..10..2; into ret, separated by NUL. False: it is none, or too
 * much. */
static bool
range(const char *s, size_t len, struct draft *ret)
{
	char buf[64], text[32];
	long a, b, by = 1, count;
	char *end;
	bool chars = false;

	if (len >= sizeof buf)
		return false;
	memcpy(buf, s, len);
	buf[len] = '\0';
	a = strtol(buf, &end, 10);
	if (end == buf && isalpha((unsigned char)buf[0])) {
		chars = true;
		a = buf[0];
		end = buf + 1;
	} else if (end == buf) {
		return false;
	}
	if (strncmp(end, "..", 2) != 0)
		return false;
	s = end + 2;
	b = chars ? *s : strtol(s, &end, 10);
	if (chars) {
		if (!isalpha((unsigned char)*s))
			return false;
		end = (char *)(uintptr_t)s + 1;
	} else if (end == s) {
		return false;
	}
	if (strncmp(end, "..", 2) == 0) {
		s = end + 2;
		by = strtol(s, &end, 10);
		if (end == s)
			return false;
		by = by < 0 ? -by : by == 0 ? 1 : by;
	}
	if (*end != '\0' || a > 1000000 || a < -1000000 || b > 1000000 ||
	    b < -1000000 || by <= 0 || by > 1000000)
		return false;
	count = (a < b ? b - a : a - b) / by + 1;
	if (count > BRACES_MAX)
		return false;
	for (long i = 0; i < count; i++) {
		long v = a < b ? a + i * by : a - i * by;
		int l = chars ? snprintf(text, sizeof text, "%c", (char)v)
			      : snprintf(text, sizeof text, "%ld", v);

		for (int k = 0; k <= l; k++)
			put(ret, text[k], false);
	}
	return true;
}

static void expand(struct expansion *x, const char *text, const bool *plain,
    size_t n, size_t from);

/* head + middle + tail, and on from where the middle begins. */
static void
join(struct expansion *x, const char *text, const bool *plain, size_t open,
    const char *mid, const bool *mid_plain, size_t mid_len, size_t close,
    size_t n)
{
	struct draft d = { 0 };

	if (x->made >= BRACES_MAX)
		return;
	for (size_t i = 0; i < open; i++)
		put(&d, text[i], plain[i]);
	for (size_t i = 0; i < mid_len; i++)
		put(&d, mid[i], mid_plain != NULL && mid_plain[i]);
	for (size_t i = close + 1; i < n; i++)
		put(&d, text[i], plain[i]);
	put(&d, '\0', false);
	expand(x, d.text, d.plain, d.n - 1, open);
	draft_clear(&d);
}

static void
expand_list(struct expansion *x, const char *text, const bool *plain, size_t n,
    size_t open, size_t close)
{
	size_t start = open + 1, depth = 0;

	for (size_t k = open + 1; k <= close; k++) {
		if (!plain[k])
			continue;
		if (text[k] == '{')
			depth++;
		else if (text[k] == '}' && k < close)
			depth--;
		else if (depth == 0 && (text[k] == ',' || k == close)) {
			join(x, text, plain, open, text + start, plain + start,
			    k - start, close, n);
			start = k + 1;
		}
	}
}

static void
expand(struct expansion *x, const char *text, const bool *plain, size_t n,
    size_t from)
{
	struct draft items = { 0 };
	bool list, ranged;
	size_t end;

	for (size_t i = from; i < n; i++) {
		if (!plain[i] || text[i] != '{' ||
		    (end = brace_end(text, plain, n, i, &list, &ranged)) == 0)
			continue;
		if (!step(x->p))
			return;
		if (list) {
			expand_list(x, text, plain, n, i, end);
			return;
		}
		if (ranged && range(text + i + 1, end - i - 1, &items)) {
			for (size_t k = 0; k < items.n;
			     k += strlen(items.text + k) + 1)
				join(x, text, plain, i, items.text + k, NULL,
				    strlen(items.text + k), end, n);
			draft_clear(&items);
			return;
		}
		draft_clear(&items);
		items = (struct draft){ 0 };
	}
	finish(x, text, plain, n);
}

void
sh_word(
    struct sh_parser *p, enum sh_place place, struct sh_word **words, size_t *n)
{
	struct draft d = { 0 };
	struct expansion x = { .p = p, .words = words, .n = n };
	size_t before = *n;

	read_word(p, place, &d);
	put(&d, '\0', false);
	d.n--;
	x.flags = d.flags | (d.assign ? SH_ASSIGN : 0);
	x.var = d.var;
	if (d.assign)
		finish(&x, d.text, d.plain, d.n);
	else
		expand(&x, d.text, d.plain, d.n, 0);
	/* Some of them are missing. */
	if (x.made >= BRACES_MAX) {
		for (size_t i = before; i < *n; i++)
			(*words)[i].flags |= SH_COMPUTED;
	}
	draft_clear(&d);
}

void
sh_one_word(struct sh_parser *p, struct sh_word *ret)
{
	struct sh_word *words = NULL;
	size_t n = 0;

	if (!sh_at_word(p)) {
		sh_fail(p, "a word is missing");
		return;
	}
	sh_word(p, SH_ARGUMENT, &words, &n);
	if (n != 1)
		sh_fail(p, "one word is wanted, and braces make several");
	else
		*ret = words[0];
}

/* --- [[ ]] -----------------------------------------------------------------
 */

static bool
is_word(const struct sh_word *w, const char *text)
{
	return (w->flags & (SH_QUOTED | SH_COMPUTED)) == 0 &&
	    strcmp(w->text, text) == 0;
}

void
sh_conditional(struct sh_parser *p)
{
	static const char *const arithmetic[] = { "-eq", "-ne", "-lt", "-le",
		"-gt", "-ge", "-v" };
	struct sh_word *words = NULL;
	size_t n = 0;
	int c;

	while (!p->failed) {
		sh_newlines(p);
		c = ahead(p, 0);
		if (c < 0 || c == ';' || (c == '&' && ahead(p, 1) != '&')) {
			sh_fail(p, "[[ is not closed");
		} else if (sh_at_word(p)) {
			n = 0;
			words = NULL;
			sh_word(p, SH_ARGUMENT, &words, &n);
			if (n == 1 && is_word(&words[0], "]]"))
				return;
			for (size_t i = 0; n == 1 && i < nitems(arithmetic);
			     i++)
				p->out->evaluates |=
				    is_word(&words[0], arithmetic[i]);
		} else {
			p->at += c == '&' ? 2 : 1;
		}
	}
}
