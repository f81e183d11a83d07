/* html_hide.c - what attributes hide, of html_priv.h. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/html_priv.h"

#define STYLE_MAX ((size_t)1 << 24) /* more than a page has */

/* What pages have for the eye only, or for other machines. */
static const char *const noise[] = { "headerlink", "lineno", "linenos",
	"sr-only", "visually-hidden" };

static bool
equals(const struct slice *s, const char *word)
{
	return s->p != NULL && s->n == strlen(word) &&
	    strncasecmp(s->p, word, s->n) == 0;
}

struct slice
token_class(const struct slice *classes, const char *prefix, bool whole)
{
	const char *p = classes->p, *end = p + classes->n, *q;
	size_t k = strlen(prefix), n;

	for (; p < end; p = q + 1) {
		for (q = p; q < end && strchr(" \t\r\n\f", *q) == NULL; q++)
			;
		n = (size_t)(q - p);
		if ((whole ? n == k : n >= k) && strncasecmp(p, prefix, k) == 0)
			return (struct slice){ p + k, n - k };
	}
	return (struct slice){ NULL, 0 };
}

/* --- style attributes ------------------------------------------------------
 */

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A backslash and up to six hex digits are a character. */
static const char *
unescape(const char *p, const char *end, char *ret)
{
	unsigned v = 0, n;

	if (p == end || hex(*p) < 0) {
		*ret = p < end ? *p : '\\';
		return p < end ? p + 1 : p;
	}
	for (n = 0; n < 6 && p < end && hex(*p) >= 0; n++)
		v = v * 16 + (unsigned)hex(*p++);
	if (p < end && strchr(" \t\r\n\f", *p) != NULL)
		p++;
	*ret = v > 0 && v < 0x80 ? (char)v : '?';
	return p;
}

/* Without comments, escapes and white space, in lower case. */
static void
style_plain(struct buf *dst, const struct slice *raw)
{
	const char *p, *end;
	struct buf text;

	buf_init(&text, BUF_NOMAX);
	entity_text(&text, raw, STYLE_MAX);
	p = buf_str(&text);
	end = p + text.len;
	while (p < end) {
		const char *q;
		char c = *p++;

		if (c == '/' && p < end && *p == '*') {
			q = strstr(p + 1, "*/");
			p = q != NULL ? q + 2 : end;
			continue;
		}
		if (c == '\\')
			p = unescape(p, end, &c);
		if (strchr(" \t\r\n\f", c) != NULL)
			continue;
		if (c >= 'A' && c <= 'Z')
			c |= 0x20;
		(void)buf_addc(dst, c);
	}
	buf_clear(&text);
}

/* The value's number; def when it has none. */
static double
number(const char *s, double def)
{
	double whole = 0, scale = 1;
	const char *p = s;
	bool minus = *p == '-';

	if (minus || *p == '+')
		p++;
	for (s = p; *p >= '0' && *p <= '9'; p++)
		whole = whole < 1e6 ? whole * 10 + (*p - '0') : whole;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			whole += (*p - '0') * (scale /= 10);
	if (p == s)
		return def;
	return minus ? -whole : whole;
}

static bool
begins(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool
is_nothing(const char *value)
{
	double n = number(value, 9);

	return n <= 0 || (n < 2 && strstr(value, "px") != NULL);
}

/* One declaration hides; *boxed counts what does so only together: an empty
 * box, and cutting off what is over it. */
static bool
hides(const char *name, const char *value, unsigned *boxed)
{
	static const char *const moves[] = { "left", "right", "top", "bottom",
		"margin-left", "margin-top", "text-indent" };
	static const char *const sizes[] = { "width", "height", "max-width",
		"max-height" };
	size_t i;

	if (strcmp(name, "display") == 0)
		return begins(value, "none");
	if (strcmp(name, "visibility") == 0)
		return begins(value, "hidden") || begins(value, "collapse");
	if (strcmp(name, "content-visibility") == 0)
		return begins(value, "hidden");
	if (strcmp(name, "opacity") == 0)
		return number(value, 1) < 0.1;
	if (strcmp(name, "font-size") == 0)
		return number(value, 9) < 0.1 || begins(value, "1px");
	if (strcmp(name, "color") == 0)
		return begins(value, "transparent");
	if (strcmp(name, "clip") == 0)
		return begins(value, "rect(0") || begins(value, "rect(1px");
	if (strcmp(name, "transform") == 0)
		return begins(value, "scale(0)");
	if (strstr(name, "overflow") == name && begins(value, "hidden"))
		*boxed |= 1;
	for (i = 0; i < nitems(sizes); i++)
		if (strcmp(name, sizes[i]) == 0 && is_nothing(value))
			*boxed |= 2;
	for (i = 0; i < nitems(moves); i++)
		if (strcmp(name, moves[i]) == 0)
			return number(value, 0) <= -500;
	return false;
}

static bool
style_hides(const struct slice *style)
{
	char *text, *rest, *one, *value;
	unsigned boxed = 0;
	bool ret = false;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	style_plain(&b, style);
	rest = text = buf_detach(&b, NULL);
	while (!ret && (one = strsep(&rest, ";")) != NULL) {
		if ((value = strchr(one, ':')) == NULL)
			continue;
		*value++ = '\0';
		ret = hides(one, value, &boxed);
	}
	free(text);
	return ret || boxed == 3;
}

bool
token_is_hidden(const struct token *t)
{
	size_t i;

	if (t->attr[ATTR_HIDDEN].p != NULL ||
	    equals(&t->attr[ATTR_ARIA_HIDDEN], "true") ||
	    equals(&t->attr[ATTR_ROLE], "navigation"))
		return true;
	if (t->attr[ATTR_CLASS].p != NULL)
		for (i = 0; i < nitems(noise); i++)
			if (token_class(&t->attr[ATTR_CLASS], noise[i], true)
				.p != NULL)
				return true;
	return t->attr[ATTR_STYLE].p != NULL && t->attr[ATTR_STYLE].n > 0 &&
	    style_hides(&t->attr[ATTR_STYLE]);
}
