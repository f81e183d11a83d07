/* shapes.c - see shapes.h. A candidate begins where no letter, digit or '_'
 * stands before it, so that a part of a longer word is none. */
#include "common/compat.h"

#include <ctype.h>

#include "orchestrator/monitor/shapes.h"

enum alphabet {
	UPPER, /* A-Z 2-7 0-9 */
	ALNUM,
	WORD,  /* ALNUM and _ */
	TOKEN, /* WORD and - */
	DOTTED /* TOKEN and . */
};

/* Sources: the services' own documentation of their tokens. */
static const struct shape {
	const char *kind, *begin;
	enum alphabet of;
	size_t min; /* bytes of the alphabet behind the beginning */
	size_t max; /* 0: any more */
} shapes[] = {
	{ "AWS access key", "AKIA", UPPER, 16, 16 },
	{ "AWS access key", "ASIA", UPPER, 16, 16 },
	{ "GitHub token", "ghp_", ALNUM, 36, 0 },
	{ "GitHub token", "gho_", ALNUM, 36, 0 },
	{ "GitHub token", "ghu_", ALNUM, 36, 0 },
	{ "GitHub token", "ghs_", ALNUM, 36, 0 },
	{ "GitHub token", "ghr_", ALNUM, 36, 0 },
	{ "GitHub token", "github_pat_", WORD, 50, 0 },
	{ "GitLab token", "glpat-", TOKEN, 20, 0 },
	{ "model API key", "sk-", TOKEN, 32, 0 },
	{ "Slack token", "xoxb-", TOKEN, 20, 0 },
	{ "Slack token", "xoxp-", TOKEN, 20, 0 },
	{ "Slack token", "xoxa-", TOKEN, 20, 0 },
	{ "Google API key", "AIza", TOKEN, 35, 35 },
	{ "Stripe key", "sk_live_", ALNUM, 24, 0 },
	{ "Stripe key", "rk_live_", ALNUM, 24, 0 },
	{ "npm token", "npm_", ALNUM, 36, 36 },
	{ "PyPI token", "pypi-AgEI", TOKEN, 50, 0 },
	{ "SendGrid key", "SG.", DOTTED, 60, 0 },
};

static bool
is_of(enum alphabet a, unsigned char c)
{
	switch (a) {
	case UPPER:
		return isdigit(c) || (c >= 'A' && c <= 'Z');
	case ALNUM:
		return c < 128 && isalnum(c);
	case WORD:
		return (c < 128 && isalnum(c)) || c == '_';
	case TOKEN:
		return (c < 128 && isalnum(c)) || c == '_' || c == '-';
	case DOTTED:
		break;
	}
	return (c < 128 && isalnum(c)) || c == '_' || c == '-' || c == '.';
}

static bool
begins(const char *p, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && memcmp(p, with, n) == 0;
}

/* Bytes of the alphabet, counted no further than is of use. */
static size_t
span(const char *p, size_t len, enum alphabet a, size_t most)
{
	size_t n = 0;

	while (n < len && n < most && is_of(a, (unsigned char)p[n]))
		n++;
	return n;
}

/* "xxxx...", "your-key-here": one that a document shows. A real one is a
 * mixture. */
static bool
is_made_up(const char *p, size_t n)
{
	bool seen[256] = { false };
	size_t i, kinds = 0, digits = 0;

	for (i = 0; i < n; i++) {
		kinds += !seen[(unsigned char)p[i]];
		digits += isdigit((unsigned char)p[i]) != 0;
		seen[(unsigned char)p[i]] = true;
	}
	return kinds < 8 || digits == 0;
}

static bool
is_shape(const struct shape *s, const char *p, size_t len)
{
	size_t n, most = s->max > 0 ? s->max + 1 : s->min;

	if (!begins(p, len, s->begin))
		return false;
	p += strlen(s->begin);
	len -= strlen(s->begin);
	n = span(p, len, s->of, most);
	return n >= s->min && (s->max == 0 || n <= s->max) && !is_made_up(p, n);
}

/* -----BEGIN [KIND ]PRIVATE KEY----- with something behind it. */
static bool
is_private_key(const char *p, size_t len)
{
	static const char end[] = "PRIVATE KEY-----";
	size_t i;

	if (!begins(p, len, "-----BEGIN "))
		return false;
	for (i = 11; i + sizeof end <= len && i < 40; i++) {
		if (memcmp(p + i, end, sizeof end - 1) == 0) {
			p += i + sizeof end - 1;
			len -= i + sizeof end - 1;
			/* A line end, or that of a string; "+" of a patch. */
			i = 0;
			while (
			    i < len && i < 16 && strchr("\r\n\\+ rn\"", p[i]))
				i++;
			return span(p + i, len - i, ALNUM, 24) >= 24 ||
			    begins(p + i, len - i, "Proc-Type");
		}
	}
	return false;
}

/* header.payload.signature, each base64url; the first two are JSON objects. */
static bool
is_jwt(const char *p, size_t len)
{
	size_t n;

	if (!begins(p, len, "eyJ"))
		return false;
	n = span(p, len, TOKEN, 2048);
	if (n < 16 || n >= len || p[n] != '.' ||
	    !begins(p + n + 1, len - n - 1, "eyJ"))
		return false;
	p += n + 1;
	len -= n + 1;
	n = span(p, len, TOKEN, 8192);
	return n >= 16 && n < len && p[n] == '.' &&
	    span(p + n + 1, len - n - 1, TOKEN, 16) >= 16;
}

static const char *
kind_at(const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < nitems(shapes); i++)
		if (p[0] == shapes[i].begin[0] && is_shape(&shapes[i], p, len))
			return shapes[i].kind;
	if (p[0] == '-' && is_private_key(p, len))
		return "private key";
	if (p[0] == 'e' && is_jwt(p, len))
		return "JSON web token";
	return NULL;
}

const char *
shape_find(const void *p, size_t len)
{
	const char *s = p, *kind;
	unsigned char before = '\n';
	size_t i;

	if (len > SHAPES_MAX)
		len = SHAPES_MAX;
	for (i = 0; i < len; before = (unsigned char)s[i++]) {
		/* "\nAKIA" within a string of JSON: the n is no letter. */
		if (is_of(WORD, before) &&
		    !(i > 1 && s[i - 2] == '\\' && before == 'n'))
			continue;
		if ((kind = kind_at(s + i, len - i)) != NULL)
			return kind;
	}
	return NULL;
}
