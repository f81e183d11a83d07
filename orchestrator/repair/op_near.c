/*
 * op_near.c - what another condition of the function asks, or its opposite, as
 * one more clause: a case is told apart further down, but not yet here.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define NEAR_MAX 4     /* conditions that are looked at */
#define NEAR_REACH 16  /* statements on each side */
#define NEAR_TOKENS 12 /* of a condition */

/* The opposite of c, which is one comparison, one negation or one operand;
 * its length, or -1 when it is none of these or does not fit. */
static int
opposite(const struct source *s, struct span c, char *dst, size_t size)
{
	static const char *const twins[] = { "==", "!=", "===", "!==", "<",
		">=", ">", "<=", "in", "not in", "is", "is not" };
	size_t op = EXPR_NONE;
	int n;

	for (size_t k = c.a; k <= c.b; k++) {
		if (tok_in(s, k, "( [ {") && s->tok[k].match > (int32_t)k)
			k = (size_t)s->tok[k].match;
		else if (tok_in(s, k, "and or && || ? if else = :="))
			return -1;
		else if (expr_prec(s, k) == 4 || expr_prec(s, k) == 6 ||
		    expr_prec(s, k) == 7)
			op = op == EXPR_NONE ? k : s->n_tok;
	}
	for (size_t k = 0; k < nitems(twins) && op < s->n_tok; k++)
		if (tok_is(s, op, twins[k]))
			return gen_replaced(s, c, op, (int)strlen(twins[k ^ 1]),
			    twins[k ^ 1], dst, size);
	if (tok_in(s, c.a, "not !") && c.a < c.b)
		n = snprintf(dst, size, "%.*s", SPAN(s, c.a + 1, c.b));
	else if (op == EXPR_NONE && expr_primary_end(s, c.a) == c.b)
		n = snprintf(
		    dst, size, "%s%.*s", gen_not(s), SPAN(s, c.a, c.b));
	else
		return -1;
	return n >= 0 && (size_t)n < size ? n : -1;
}

void
op_opposite(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i), p, c;
	size_t self = s->tok[i].stmt;
	char text[256];
	int rank, len, found = 0;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	for (size_t d = 1; d <= NEAR_REACH && found < NEAR_MAX; d++) {
		for (int side = 1; side >= 0 && found < NEAR_MAX; side--) {
			size_t k = side == 0 ? self - d : self + d;

			g->budget--;
			if ((side == 0 && d > self) || k >= s->n_stmt ||
			    s->stmt[k].first < block.a ||
			    s->stmt[k].last > block.b ||
			    !expr_condition(s, &s->stmt[k], &c) ||
			    c.b - c.a > NEAR_TOKENS || gen_same(s, p, c) ||
			    (len = opposite(s, c, text, sizeof text)) < 0)
				continue;
			gen_clause(
			    g, p, gen_and(s), true, rank + found, len, text);
			gen_clause(g, p, gen_and(s), true, rank + found,
			    SPAN(s, c.a, c.b));
			gen_clause(g, p, gen_or(s), false, rank + found,
			    SPAN(s, c.a, c.b));
			found++;
		}
	}
}
