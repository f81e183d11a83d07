/*
 * op_twin.c - two conditions of a file that are alike but for a clause: the
 * one that lacks it may need it.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define CLAUSES_MAX 8
#define REACH 1500 /* tokens on each side to look for twins */

struct clauses {
	struct span v[CLAUSES_MAX];
	size_t n;
	bool or ; /* joined by or, not and */
};

/* Cut the place into clauses at its outermost and/or. */
static bool
cut(const struct source *s, struct span p, struct clauses *ret)
{
	size_t from = p.a;
	int level = 0;

	*ret = (struct clauses){ 0 };
	for (size_t i = p.a; i <= p.b + 1; i++) {
		bool end = i > p.b;
		bool joint = !end &&
		    (tok_is(s, i, gen_and(s)) || tok_is(s, i, gen_or(s)));

		if (!end && tok_in(s, i, "( [ {") &&
		    s->tok[i].match > (int32_t)i &&
		    (size_t)s->tok[i].match <= p.b) {
			i = (size_t)s->tok[i].match;
			continue;
		}
		if (!end && !joint)
			continue;
		if (joint) {
			bool or = tok_is(s, i, gen_or(s));

			if (level++ > 0 && or != ret->or)
				return false;
			ret->or = or ;
		}
		if (ret->n == CLAUSES_MAX || i == from)
			return false;
		ret->v[ret->n++] =
		    (struct span){ (uint32_t)from, (uint32_t)i - 1 };
		from = i + 1;
	}
	return true;
}

/* Equal but for literals. */
static bool
alike(const struct source *s, struct span x, struct span y)
{
	if (y.b - y.a != x.b - x.a)
		return false;
	for (size_t i = 0; i <= x.b - x.a; i++) {
		unsigned kind = s->tok[x.a + i].kind;

		if (tok_same(s, x.a + i, y.a + i))
			continue;
		if (kind != s->tok[y.a + i].kind ||
		    (kind != TOK_STRING && kind != TOK_NUMBER))
			return false;
	}
	return true;
}

static size_t
count_alike(const struct source *s, const struct clauses *p, struct span c)
{
	size_t n = 0;

	for (size_t k = 0; k < p->n; k++)
		n += alike(s, p->v[k], c);
	return n;
}

void
op_twin(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t from = i > REACH ? i - REACH : 0;
	struct clauses mine, other;
	struct span p, q;
	int rank, found = 0;

	if (!gen_boolean(g, i, &p, &rank) || !cut(s, p, &mine))
		return;
	for (size_t j = from;
	     j < s->n_tok && j < i + REACH && found < 8 && g->budget > 0; j++) {
		size_t same = 0;

		g->budget -= 4;
		if ((j >= p.a && j <= p.b) || !gen_boolean(g, j, &q, &rank) ||
		    q.a == p.a || !cut(s, q, &other) || other.n < 2)
			continue;
		for (size_t k = 0; k < other.n; k++)
			same += count_alike(s, &mine, other.v[k]) > 0;
		if (same == 0)
			continue;
		for (size_t k = 0; k < other.n; k++) {
			if (count_alike(s, &mine, other.v[k]) > 0 ||
			    !gen_known(g, other.v[k], gen_block(s, i)))
				continue;
			gen_clause(g, p, other.or ? gen_or(s) : gen_and(s),
			    false, found++,
			    SPAN(s, other.v[k].a, other.v[k].b));
		}
	}
}

/* What another call of the same function has in this argument's place. */
void
op_twin_arg(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t from = i > REACH ? i - REACH : 0, n, m;
	struct span mine[CLAUSES_MAX], other[CLAUSES_MAX];
	struct span block = gen_block(s, i);
	int found = 0;

	if (!expr_is_call(s, i) || !tok_kind(s, i - 1, TOK_IDENT))
		return;
	n = expr_elements(s, i, ",", mine, CLAUSES_MAX);
	for (size_t j = from; j < s->n_tok && j < i + REACH && found < 6 &&
	     n > 0 && g->budget > 0;
	     j++) {
		g->budget--;
		if (j == i || !tok_is(s, j, "(") ||
		    !tok_same(s, j - 1, i - 1) || !expr_is_call(s, j))
			continue;
		m = expr_elements(s, j, ",", other, CLAUSES_MAX);
		for (size_t k = 0; k < n && m == n; k++) {
			if (gen_same(s, mine[k], other[k]) ||
			    other[k].b - other[k].a > 16 ||
			    !gen_known(g, other[k], block))
				continue;
			gen_put(g, mine[k].a, mine[k].b, found++, "%.*s",
			    SPAN(s, other[k].a, other[k].b));
		}
	}
}
