/* shell_quote.c - quotes, and text in which only expansions count. */
#include "common/compat.h"

#include <utf8proc.h>

#include "sandbox/policy/shell_priv.h"

/* --- quotes ----------------------------------------------------------------
 */

void
sh_single_quote(struct sh_parser *p, struct sh_draft *d)
{
	const char *end;

	d->flags |= SH_QUOTED;
	p->at++;
	end = memchr(p->s + p->at, '\'', p->len - p->at);
	if (end == NULL) {
		sh_refuse(p, "a single quote is not closed");
		return;
	}
	for (; p->s + p->at < end; p->at++)
		sh_put(d, p->s[p->at], false);
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
		h = hex(sh_ahead(p, 0));
		if (h < 0 || h >= base)
			break;
		v = v * base + h;
		p->at++;
	}
	return n > 0 ? v : -1;
}

static void
put_unicode(struct sh_parser *p, struct sh_draft *d, long v)
{
	utf8proc_uint8_t u[4];
	utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)v, u);

	if (n <= 0 || (v >= 0xd800 && v < 0xe000))
		sh_fail(p, "no character in $'...'");
	for (utf8proc_ssize_t i = 0; i < n; i++)
		sh_put(d, u[i], false);
}

/* After a backslash in $'...'. */
static void
ansi_escape(struct sh_parser *p, struct sh_draft *d)
{
	static const char from[] = "abeEfnrtv\\'\"?";
	static const char to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	const char *simple;
	long v = -1;
	int c = sh_ahead(p, 0);

	if (c < 0)
		return;
	if ((simple = strchr(from, c)) != NULL && c != 0) {
		sh_put(d, to[simple - from], false);
		p->at++;
		return;
	}
	if (c >= '0' && c <= '7') {
		v = digits(p, 8, 3) & 0xff;
	} else if (c == 'x' && sh_ahead(p, 1) == '{') {
		sh_fail(p, "\\x{ in $'...'"); /* how long is for the shell */
	} else if (c == 'x') {
		p->at++;
		v = digits(p, 16, 2);
	} else if (c == 'u' || c == 'U') {
		p->at++;
		v = digits(p, 16, c == 'u' ? 4 : 8);
		if (v > 0) {
			put_unicode(p, d, v);
			return;
		}
	} else if (c == 'c') {
		/* A backslash, a quote behind it: taken in two ways. */
		sh_fail(p, "\\c in $'...'");
	} else {
		sh_put(d, '\\', false);
		return;
	}
	if (v == 0) {
		sh_fail(p, "a NUL byte in $'...'");
	} else if (v > 0) {
		sh_put(d, (int)v, false);
	} else {
		sh_put(d, '\\', false);
		sh_put(d, c, false);
	}
}

/* At the quote of $'...'. */
void
sh_ansi_quote(struct sh_parser *p, struct sh_draft *d)
{
	d->flags |= SH_QUOTED;
	p->at++;
	while (!p->failed && sh_ahead(p, 0) != '\'') {
		if (sh_ahead(p, 0) < 0) {
			sh_fail(p, "a quote is not closed");
		} else if (sh_ahead(p, 0) == '\\') {
			p->at++;
			ansi_escape(p, d);
		} else {
			sh_put(d, sh_ahead(p, 0), false);
			p->at++;
		}
	}
	p->at++;
}

/* One step of what double quotes and here-documents have in common. */
static void
in_double(struct sh_parser *p, struct sh_draft *d, const char *escapes)
{
	int c = sh_ahead(p, 0), next = sh_ahead(p, 1);

	if (c == '$') {
		sh_dollar(p, d, true);
	} else if (c == '`') {
		sh_backquote(p, d, true);
	} else if (c == '\\' && next == '\n') {
		p->at += 2;
	} else if (c == '\\' && next > 0 && strchr(escapes, next) != NULL) {
		sh_put(d, next, false);
		p->at += 2;
	} else {
		sh_put(d, c, false);
		p->at++;
	}
}

void
sh_double_quote(struct sh_parser *p, struct sh_draft *d)
{
	d->flags |= SH_QUOTED;
	p->at++;
	while (!p->failed && sh_ahead(p, 0) != '"') {
		if (sh_ahead(p, 0) < 0)
			sh_refuse(p, "a double quote is not closed");
		else
			in_double(p, d, "$`\"\\");
	}
	p->at++;
}

void
sh_body(struct sh_parser *p, const char *text, size_t len, struct sh_word *ret)
{
	struct sh_parser q = { .out = p->out,
		.sub = p->sub,
		.plain = p->plain,
		.s = text,
		.len = len,
		.depth = p->depth + 1,
		.piped = p->piped,
		.substituted = p->substituted,
		.work = p->work,
		.max_work = p->max_work };
	struct sh_draft d = { 0 };

	while (!q.failed && q.at < q.len)
		in_double(&q, &d, "$`\\");
	*ret = (struct sh_word){ .text = sh_dup(p->out, text, len),
		.len = len,
		.flags = (d.flags & SH_COMPUTED) | SH_QUOTED,
		.var = d.var };
	p->failed |= q.failed;
	p->work = q.work;
	sh_draft_clear(&d);
}
