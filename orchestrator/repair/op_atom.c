/*
 * op_atom.c - what is made of one name of the function: a clause, a whole
 * condition, a result.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define NAMES_MAX 8

/* A function of the file that is called with one argument, near i. */
static size_t
near_helper(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span el[1];

	for (size_t d = 1; d < 600 && g->budget > 0; d++) {
		for (int side = 0; side < 2; side++) {
			size_t j = side == 0 ? i - d : i + d;

			if ((side == 0 && d >= i) || j + 1 >= s->n_tok)
				continue;
			g->budget--;
			if (tok_kind(s, j, TOK_IDENT) &&
			    expr_is_call(s, j + 1) &&
			    !tok_in(s, j - 1, ". -> ?. def function new") &&
			    expr_elements(s, j + 1, ",", el, 1) == 1)
				return j;
		}
	}
	return EXPR_NONE;
}

static void
both(struct gen *g, struct span p, int rank, const char *text, int len)
{
	gen_clause(g, p, gen_and(g->s), false, rank, len, text);
	gen_clause(g, p, gen_or(g->s), false, rank, len, text);
}

/* A clause more, on a name of the function. */
void
op_atom(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	static const char *const tests[] = { "", " == 0", " > 0", " != 0",
		".length == 0" };
	size_t n_tests = nitems(tests) - (s->dialect != DIALECT_JS);
	uint32_t names[NAMES_MAX];
	char text[200];
	size_t n, f;
	struct span p;
	int rank, len;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	f = near_helper(g, i);
	n = gen_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		for (size_t t = 0; t < n_tests; t++) {
			len = snprintf(text, sizeof text, "%.*s%s",
			    TOK(s, names[k]), tests[t]);
			if (len < (int)sizeof text)
				both(g, p, rank + (int)k, text, len);
		}
		len = snprintf(
		    text, sizeof text, "%s%.*s", gen_not(s), TOK(s, names[k]));
		if (len < (int)sizeof text)
			both(g, p, rank + (int)k, text, len);
		if (f == EXPR_NONE)
			continue;
		len = snprintf(text, sizeof text, "%.*s(%.*s)", TOK(s, f),
		    TOK(s, names[k]));
		if (len < (int)sizeof text)
			both(g, p, rank + (int)k + 1, text, len);
	}
}

/* `return x` -> `return v + x`: what was gathered is left out. */
static void
sums(struct gen *g, struct span p, const uint32_t *names, size_t n, int rank)
{
	const struct source *s = g->s;
	bool wrap = gen_is_weaker(s, p, 9);
	const char *l = wrap ? "(" : "", *r = wrap ? ")" : "";

	for (size_t k = 0; k < n; k++, rank++) {
		gen_put(g, p.a, p.b, rank, "%.*s + %s%.*s%s", TOK(s, names[k]),
		    l, SPAN(s, p.a, p.b), r);
		gen_put(g, p.a, p.b, rank, "%s%.*s%s + %.*s", l,
		    SPAN(s, p.a, p.b), r, TOK(s, names[k]));
	}
}

/* A whole condition or result: a name, or a test of names. One that is a
 * constant says nothing and is the first to be wrong. */
void
op_place(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	uint32_t v[NAMES_MAX];
	struct span p;
	size_t n;
	int rank;
	bool value;

	if (i != st->first)
		return;
	value = tok_is(s, i, "return") && expr_value(s, st, &p);
	if (!value && !expr_condition(s, st, &p))
		return;
	rank = p.a == p.b &&
		(tok_flag(s, p.a, TF_VALUE) || tok_kind(s, p.a, TOK_NUMBER))
	    ? 0
	    : 2;
	n = gen_names(g, p.a, v, nitems(v));
	for (size_t k = 0; k < n; k++) {
		int at = rank + (int)k;

		gen_put(g, p.a, p.b, at, "%.*s", TOK(s, v[k]));
		gen_put(g, p.a, p.b, at, "%s%.*s", gen_not(s), TOK(s, v[k]));
		gen_put(g, p.a, p.b, at, "%.*s == 0", TOK(s, v[k]));
		if (s->dialect == DIALECT_JS) /* an empty list is true there */
			gen_put(
			    g, p.a, p.b, at + 1, "%.*s.length", TOK(s, v[k]));
		for (size_t m = 0; m < n && n <= 5; m++) {
			if (m != k)
				gen_put(g, p.a, p.b, at + 6, "%.*s < %.*s",
				    TOK(s, v[k]), TOK(s, v[m]));
		}
	}
	if (value)
		sums(g, p, v, n, rank);
}
