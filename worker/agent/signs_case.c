/* signs_case.c - a case of its own for what a test asks: "if n == 37: return
 * 41" where a line of a protected test has 37 and 41; see signs_priv.h. */
#include "common/compat.h"

#include <ctype.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/signs_priv.h"

#define TOKENS_MAX 96   /* of a line */
#define LITERALS_MAX 12 /* of a case */
#define LOOKS_MAX 16    /* of a patch */

enum kind {
	LITERAL, /* a number, or what stands between quotes */
	NAME,
	EQUALS,
	OTHER /* one character */
};

struct token {
	enum kind kind;
	const char *p;
	size_t len;
};

static bool
is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* How much of p is the token, with its quotes. */
static size_t
scan(unsigned langs, const char *p, const char *end, struct token *ret)
{
	const char *q = p + 1;

	*ret = (struct token){ .kind = OTHER, .p = p, .len = 1 };
	if (*p == '"' || *p == '\'' || *p == '`') {
		for (; q < end && *q != *p; q++)
			q += *q == '\\' && q + 1 < end;
		*ret = (struct token){ LITERAL, p + 1, (size_t)(q - p) - 1 };
		/* a variable's value */
		if ((langs & SH) != 0 &&
		    memchr(p, '$', (size_t)(q - p)) != NULL)
			ret->kind = NAME;
		return (size_t)(q - p) + (q < end);
	}
	if (is_name(*p)) {
		bool digit = isdigit((unsigned char)*p) != 0;

		while (q < end && (is_name(*q) || (digit && *q == '.')))
			q++;
		ret->kind = digit ? LITERAL : NAME;
		ret->len = (size_t)(q - p);
		if ((langs & (SH | PL)) != 0 && ret->len == 2 &&
		    strncmp(p, "eq", 2) == 0)
			ret->kind = EQUALS;
		return ret->len;
	}
	if (*p == '=' && q < end && *q == '=') {
		while (q < end && *q == '=')
			q++;
		ret->kind = EQUALS;
	} else if (*p == '=' && (langs & SH) != 0 && q < end && *q == ' ') {
		ret->kind = EQUALS;
	} else if (*p != '\0' && strchr("!<>+-*/", *p) != NULL && q < end &&
	    *q == '=') {
		while (q < end && *q == '=')
			q++;
	}
	return ret->len = (size_t)(q - p);
}

static size_t
tokens(unsigned langs, const char *p, size_t len, struct token *ret)
{
	const char *end = p + len;
	size_t n = 0;

	while (p < end && n < TOKENS_MAX) {
		if (isspace((unsigned char)*p))
			p++;
		else
			p += scan(langs, p, end, &ret[n++]);
	}
	return n;
}

static bool
is_char(const struct token *t, const char *set)
{
	return t->kind == OTHER && t->len == 1 && *t->p != '\0' &&
	    strchr(set, *t->p) != NULL;
}

static bool
is_word(const struct token *t, const char *word)
{
	return t->kind == NAME && t->len == strlen(word) &&
	    strncmp(t->p, word, t->len) == 0;
}

struct literals {
	struct token v[LITERALS_MAX];
	size_t n;
};

/* One literal from t[i] on, or a list of them in brackets; call: anything may
 * stand between them. Behind it; i: there is none. */
static size_t
operand(
    const struct token *t, size_t n, size_t i, bool call, struct literals *ret)
{
	size_t from = i, was = ret->n, depth = 0;

	for (; i < n; i++) {
		if (is_char(&t[i], "([{")) {
			depth++;
		} else if (is_char(&t[i], ")]}")) {
			if (depth == 0 || --depth == 0) {
				i++;
				break;
			}
		} else if (t[i].kind == LITERAL && ret->n < LITERALS_MAX) {
			ret->v[ret->n++] = t[i];
			if (depth == 0) {
				i++;
				break;
			}
		} else if (!is_char(&t[i], "-") &&
		    (depth == 0 || (!call && !is_char(&t[i], ",")))) {
			depth = 1;
			break;
		}
	}
	if (depth == 0 && ret->n > was)
		return i;
	ret->n = was;
	return from;
}

/* What a line compares with. */
static void
asked(const struct token *t, size_t n, struct literals *ret)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (is_word(&t[i], "strcmp")) {
			ret->n = 0;
			(void)operand(t, n, i + 1, true, ret);
			return;
		}
		if (t[i].kind == EQUALS && i > 0 && t[i - 1].kind == LITERAL &&
		    ret->n < LITERALS_MAX)
			ret->v[ret->n++] = t[i - 1];
		if (t[i].kind == EQUALS || (i == 0 && is_word(&t[i], "case")))
			(void)operand(t, n, i + 1, false, ret);
	}
}

/* What a line gives back, or stores, if that is literals alone. */
static void
given(const struct token *t, size_t n, struct literals *ret)
{
	size_t i, to;

	for (i = 0; i < n && ret->n == 0; i++) {
		bool back = is_word(&t[i], "return") || is_word(&t[i], "echo");

		if (!back && !is_char(&t[i], "?="))
			continue;
		to = operand(t, n, i + 1, false, ret);
		if (to > i + 1 && to < n && !is_char(&t[to], ";:}&") &&
		    !is_word(&t[to], "if"))
			ret->n = 0;
	}
}

/* Not what every program asks for. */
static bool
is_odd(const struct token *t)
{
	if (t->len == 1)
		return *t->p >= '3' && *t->p <= '9';
	return t->len > 0 && strncmp(t->p, "0.0", t->len) != 0 &&
	    strncmp(t->p, "1.0", t->len) != 0;
}

static bool
is_same(const struct token *a, const struct token *b)
{
	return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

/* Takes each of want out of the tokens. */
static bool
takes_all(struct token *t, size_t n, const struct literals *want)
{
	size_t i, k;

	for (i = 0; i < want->n; i++) {
		for (k = 0; k < n; k++)
			if (t[k].kind == LITERAL && is_same(&t[k], &want->v[i]))
				break;
		if (k == n)
			return false;
		t[k].kind = OTHER;
	}
	return true;
}

/* The line of text, from 1, that has them all, perhaps with the next; 0: none.
 * odd: one of them. */
static unsigned long
line_with(unsigned langs, const char *text, const struct token *odd,
    const struct literals *ask, const struct literals *give)
{
	const char *hit, *end = text + strlen(text), *at = text, *to, *p;
	struct token t[2 * TOKENS_MAX];
	unsigned long nr = 1;
	size_t n;

	while (
	    (hit = memmem(at, (size_t)(end - at), odd->p, odd->len)) != NULL) {
		for (p = hit; p > at && p[-1] != '\n'; p--)
			continue;
		to = hit + strcspn(hit, "\n");
		n = tokens(langs, p, (size_t)(to - p), t);
		if (*to == '\n')
			n +=
			    tokens(langs, to + 1, strcspn(to + 1, "\n"), t + n);
		if (takes_all(t, n, ask) && takes_all(t, n, give)) {
			for (p = text; p < hit; p++)
				nr += *p == '\n';
			return nr;
		}
		at = to;
	}
	return 0;
}

static char *
test_with(const struct agent *a, int base_fd, const struct token *odd,
    const struct literals *ask, const struct literals *give)
{
	const struct strv *g = &a->fs.guarded;
	size_t i, looked = 0;
	char *where = NULL;
	struct buf b;

	for (i = 0; i < g->n && looked < SIGNS_SETUP_MAX && where == NULL;
	     i++) {
		unsigned langs = signs_lang(g->v[i]);
		unsigned long nr = 0;

		if (guard_is_setup(g->v[i]) || langs == 0)
			continue;
		looked++;
		buf_init(&b, SIGNS_FILE_MAX);
		if (file_read_at(base_fd, g->v[i], true, &b, NULL) >= 0)
			nr = line_with(langs, buf_str(&b), odd, ask, give);
		if (nr > 0)
			where = xasprintf("has a case of its own for what "
					  "%.300s:%lu asks",
			    g->v[i], nr);
		buf_clear(&b);
	}
	return where;
}

char *
signs_case(const struct agent *a, int base_fd, unsigned langs, const char *p,
    size_t len, const char *next, size_t next_len, const struct strv *removed,
    size_t *looked)
{
	struct literals ask = { 0 }, give = { 0 };
	const struct token *odd = NULL;
	struct token t[TOKENS_MAX];
	size_t i, n;

	if ((langs & CODE) == 0 || *looked >= LOOKS_MAX)
		return NULL;
	n = tokens(langs, p, len, t);
	asked(t, n, &ask);
	for (i = 0; i < ask.n && odd == NULL; i++)
		odd = is_odd(&ask.v[i]) ? &ask.v[i] : NULL;
	if (odd == NULL)
		return NULL;
	/* A case that was there is only another now. */
	for (i = 0; i < removed->n; i++)
		if (memmem(removed->v[i], strlen(removed->v[i]), odd->p,
			odd->len) != NULL)
			return NULL;
	given(t, n, &give);
	if (give.n == 0)
		given(t, tokens(langs, next, next_len, t), &give);
	if (give.n == 0)
		return NULL;
	++*looked;
	return test_with(a, base_fd, odd, &ask, &give);
}
