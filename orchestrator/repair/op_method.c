/* op_method.c - a method without arguments is asked of a value: one that the
 * file calls elsewhere, or one that evens out what people type. */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define METHODS_MAX 5
#define REACH 1500 /* tokens on each side */

/* The names of such methods, nearest first. */
static size_t
near_methods(struct gen *g, size_t i, uint32_t *ret)
{
	const struct source *s = g->s;
	size_t n = 0, k;

	for (size_t d = 1; d < REACH && n < METHODS_MAX && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < METHODS_MAX; side++) {
			size_t j = side == 0 ? i - d : i + d;

			g->budget--;
			if ((side == 0 && d > i) || j + 2 >= s->n_tok ||
			    j == 0 || !tok_is(s, j - 1, ".") ||
			    !tok_kind(s, j, TOK_IDENT) ||
			    !tok_is(s, j + 1, "(") || !tok_is(s, j + 2, ")") ||
			    j == i + 2)
				continue;
			for (k = 0; k < n && !tok_same(s, ret[k], j); k++)
				;
			if (k == n)
				ret[n++] = (uint32_t)j;
		}
	}
	return n;
}

void
op_method(struct gen *g, size_t i)
{
	static const char *const py[] = { "lower", "strip", "copy" };
	static const char *const other[] = { "toLowerCase", "trim",
		"toUpperCase" };
	const struct source *s = g->s;
	bool is_py = s->dialect == DIALECT_PY;
	uint32_t got[METHODS_MAX];
	size_t a, n;

	if (!expr_is_end(s, i) || tok_kind(s, i, TOK_NUMBER) ||
	    tok_kind(s, i, TOK_STRING) || tok_flag(s, i, TF_VALUE) ||
	    tok_kind(s, i, TOK_KEYWORD) || expr_is_bound(s, i) ||
	    tok_in(s, i + 1, "( [ = += -= -> :: ++ --") ||
	    (tok_is(s, i + 1, ".") && !tok_is(s, i + 3, "(")))
		return;
	a = expr_primary_start(s, i);
	if (a == EXPR_NONE || a == gen_stmt(g, i)->first ||
	    tok_kind(s, a, TOK_NUMBER) || tok_in(s, i, "self this"))
		return;
	n = near_methods(g, i, got);
	for (size_t k = 0; k < n; k++)
		gen_after(g, i, (int)k, ".%.*s()", TOK(s, got[k]));
	if (s->dialect == DIALECT_C && n == 0)
		return; /* no objects to be seen */
	for (size_t k = 0; k < (is_py ? nitems(py) : nitems(other)); k++)
		gen_after(g, i, 2 + (int)k, ".%s()", is_py ? py[k] : other[k]);
}
