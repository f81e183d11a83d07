/*
 * gen_idle.c - what a program has and does not use: a variable that is never
 * read, a function that is never called. A fix often takes it up again.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/gen.h"

#define IDLE_MAX 64
#define STEPS_MAX 2000000
#define HEAD_MAX 60 /* tokens of a function's head that are looked at */

/* Is token i, in the head or body of a function, given a value there? */
static bool
is_given(const struct source *s, size_t i, bool head)
{
	if (i == 0 || !tok_kind(s, i, TOK_IDENT) ||
	    s->text[s->tok[i].off] == '_' || tok_in(s, i - 1, ". -> ?. :"))
		return false;
	if (head)
		return tok_in(s, i + 1, ", ) = :") &&
		    !tok_in(s, i - 1, "def function class");
	return tok_is(s, i + 1, "=") &&
	    (s->stmt[s->tok[i].stmt].first == i ||
		tok_in(s, i - 1, "const let var") ||
		tok_flag(s, i - 1, TF_TYPE));
}

/* Does the function read what is named as token i is? */
static bool
is_read(const struct source *s, size_t i, size_t from, size_t to, long *steps)
{
	size_t first;

	for (size_t j = from; j <= to && j < s->n_tok; j++) {
		--*steps;
		if (j == i || !tok_same(s, i, j) ||
		    (j > 0 && tok_in(s, j - 1, ". -> ?.")) ||
		    tok_is(s, j + 1, "="))
			continue;
		/* `x = !x`, `x += 1` and `x++` by themselves are no use. */
		first = s->stmt[s->tok[j].stmt].first;
		if (tok_same(s, first, i) &&
		    tok_in(s, first + 1, "= += -= ++ -- |= &="))
			continue;
		return true;
	}
	return false;
}

/* Is a function defined at token i for this file alone? What others may call,
 * the tests first of all, is not forgotten because the file does not. */
static bool
is_own(const struct source *s, const struct stmt *st, size_t i)
{
	if (!tok_in(s, i - 1, "def function") || !tok_is(s, i + 1, "(") ||
	    tok_in(s, i + 2, "self cls )"))
		return false;
	if (s->dialect == DIALECT_PY)
		return s->text[s->tok[i].off] == '_';
	return tok_in(s, st->first, "function async");
}

/* Is the name defined or imported at token i? */
static bool
is_defined(const struct source *s, size_t i)
{
	const struct stmt *st = &s->stmt[s->tok[i].stmt];

	if (st->kind == STMT_DEF)
		return is_own(s, st, i);
	if (s->dialect == DIALECT_PY) {
		if (st->kind != STMT_INERT || !tok_is(s, st->first, "from"))
			return false;
		for (size_t k = st->first + 1; k < i; k++)
			if (tok_is(s, k, "import"))
				return !tok_is(s, i + 1, "as");
		return false;
	}
	for (size_t k = i; k <= st->last && k < i + 12; k++)
		if (tok_in(s, k, "require from"))
			return tok_in(s, i - 1, "{ ,");
	return false;
}

static void
find_uncalled(struct gen *g, long *steps)
{
	const struct source *s = g->s;
	size_t j;

	for (size_t i = 1;
	     i<s->n_tok && * steps> 0 && g->n_uncalled < nitems(g->uncalled);
	     i++) {
		--*steps;
		if (!tok_kind(s, i, TOK_IDENT) || !is_defined(s, i))
			continue;
		for (j = 0; j < s->n_tok && (j == i || !tok_same(s, i, j)); j++)
			--*steps;
		if (j == s->n_tok)
			g->uncalled[g->n_uncalled++] = (uint32_t)i;
	}
}

static void
find_properties(struct gen *g)
{
	const struct source *s = g->s;
	bool py = s->dialect == DIALECT_PY;

	for (size_t k = 1;
	     k + 2 < s->n_tok && s->dialect & (DIALECT_PY | DIALECT_JS) &&
	     g->n_property < nitems(g->property);
	     k++) {
		if (!tok_is(s, k, py ? "def" : "get") ||
		    !tok_kind(s, k + 1, TOK_IDENT) || !tok_is(s, k + 2, "("))
			continue;
		if (!py ||
		    (k > 1 && tok_in(s, k - 2, "property cached_property")))
			g->property[g->n_property++] = (uint32_t)k + 1;
	}
}

void
gen_idle(struct gen *g)
{
	const struct source *s = g->s;
	long steps = STEPS_MAX;

	g->idle = xcalloc(IDLE_MAX, sizeof *g->idle);
	g->n_idle = g->n_uncalled = g->n_property = 0;
	if (s->dialect == DIALECT_SH)
		return;
	find_uncalled(g, &steps);
	find_properties(g);
	steps = STEPS_MAX;
	for (size_t r = 0; r < s->n_region && g->n_idle < IDLE_MAX; r++) {
		const struct region *reg = &s->region[r];
		size_t head = reg->first_tok, seen = g->n_idle;

		while (head > 0 && s->tok[head - 1].line >= reg->first_line &&
		    reg->first_tok - head < HEAD_MAX)
			head--;
		for (size_t i = head;
		     i < reg->last_tok && i < s->n_tok && steps > 0; i++) {
			size_t k;

			steps--;
			if (g->n_idle >= IDLE_MAX ||
			    !is_given(s, i, i < reg->first_tok))
				continue;
			for (k = seen; k < g->n_idle; k++)
				if (tok_same(s, g->idle[k].tok, i))
					break;
			if (k < g->n_idle || tok_in(s, i, "self cls this") ||
			    is_read(s, i, head, reg->last_tok, &steps))
				continue;
			g->idle[g->n_idle++] = (struct idle){ (uint32_t)i,
				(int)r, i < reg->first_tok };
		}
	}
}
