/*
 * op_twin.c - two conditions of a file that are alike but for a clause: the
 * one that lacks it may need it.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define CLAUSES_MAX 8
#define CLONED_MAX 4
#define NEAR_MAX 10
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

/* A member's name that is not called, or a whole literal. */
static bool
is_part(const struct source *s, size_t k, bool *ret_literal)
{
	*ret_literal = tok_kind(s, k, TOK_STRING) && !tok_flag(s, k, TF_CHUNK);
	if (s->dialect == DIALECT_JS && tok_kind(s, k, TOK_IDENT) && k > 0 &&
	    tok_is(s, k + 1, ":") && tok_in(s, k - 1, "{ ,"))
		return true; /* `{ name: value }` */
	return *ret_literal ||
	    (tok_kind(s, k, TOK_IDENT) && k > 0 &&
		tok_in(s, k - 1, ". -> ?.") && !tok_is(s, k + 1, "("));
}

/* Those that stand beside the one at k elsewhere, as in a list of fields,
 * before the others. */
static void
companions_first(struct gen *g, size_t k, uint32_t *v, size_t n)
{
	const struct source *s = g->s;
	uint32_t sorted[NEAR_MAX];
	bool beside[NEAR_MAX] = { false };
	size_t at = 0;

	for (size_t a = 0; a < s->n_tok; a++) {
		g->budget--;
		if (!tok_same(s, a, k) || s->tok[a].stmt == s->tok[k].stmt)
			continue;
		for (size_t b = a > 6 ? a - 6 : 0; b < a + 6; b++)
			for (size_t m = 0; m < n; m++)
				beside[m] |= tok_same(s, b, v[m]);
	}
	for (int pass = 1; pass >= 0; pass--)
		for (size_t m = 0; m < n; m++)
			if (beside[m] == (pass == 1))
				sorted[at++] = v[m];
	memcpy(v, sorted, n * sizeof *v);
}

/* Others like that near it. */
static size_t
near_parts(struct gen *g, size_t k, uint32_t *ret, size_t max)
{
	const struct source *s = g->s;
	uint32_t v[NEAR_MAX];
	bool literal, other;
	size_t n = 0, m;

	if (!is_part(s, k, &literal))
		return 0;
	for (size_t d = 1; d < 500 && n < NEAR_MAX && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < NEAR_MAX; side++) {
			size_t j = side == 0 ? k - d : k + d;

			g->budget--;
			if ((side == 0 && d > k) || j >= s->n_tok ||
			    !is_part(s, j, &other) || other != literal ||
			    tok_same(s, j, k) || s->tok[j].len > 40 ||
			    (literal &&
				s->text[s->tok[j].off] !=
				    s->text[s->tok[k].off]))
				continue;
			for (m = 0; m < n && !tok_same(s, v[m], j); m++)
				;
			if (m == n)
				v[n++] = (uint32_t)j;
		}
	}
	companions_first(g, k, v, n);
	if (n > max)
		n = max;
	memcpy(ret, v, n * sizeof *ret);
	return n;
}

/* The text of c with each token like k replaced; its length, or -1. */
static int
all_replaced(const struct source *s, struct span c, size_t k, size_t by,
    char *dst, size_t size)
{
	size_t at = s->tok[c.a].off;
	int n = 0;

	for (size_t j = c.a; j <= c.b; j++) {
		if (!tok_same(s, j, k))
			continue;
		n += snprintf(dst + n, size - (size_t)n, "%.*s%.*s",
		    (int)(s->tok[j].off - at), s->text + at, TOK(s, by));
		if ((size_t)n >= size)
			return -1;
		at = s->tok[j].off + s->tok[j].len;
	}
	n += snprintf(dst + n, size - (size_t)n, "%.*s",
	    (int)(s->tok[c.b].off + s->tok[c.b].len - at), s->text + at);
	return (size_t)n < size ? n : -1;
}

/* A clause of the place or near it, with a member's name or a literal changed
 * wherever it stands. */
static void
clone_parts(struct gen *g, struct span p, struct span c, int rank)
{
	const struct source *s = g->s;
	uint32_t others[4];
	char text[256];
	size_t n, j;
	int len;

	for (size_t k = c.a; k <= c.b; k++) {
		for (j = c.a; j < k && !tok_same(s, j, k); j++)
			;
		n = j < k ? 0 : near_parts(g, k, others, nitems(others));
		for (size_t m = 0; m < n; m++, rank++) {
			len =
			    all_replaced(s, c, k, others[m], text, sizeof text);
			if (len < 0)
				continue;
			gen_clause(g, p, gen_and(s), false, rank, len, text);
			gen_clause(g, p, gen_or(s), false, rank, len, text);
		}
	}
}

/* A clause of the place that compares like with like, once more for another
 * member: `a.w <= b.w and a.h <= b.h`. */
void
op_like_with_like(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct clauses mine;
	uint32_t others[4];
	struct span p;
	char text[256];
	size_t n, times;
	int rank, len;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank) ||
	    !cut(s, p, &mine))
		return;
	for (size_t m = 0; m < mine.n; m++) {
		struct span c = mine.v[m];
		bool literal;

		for (size_t k = c.a; k < c.b; k++) {
			times = 0;
			for (size_t j = c.a; j <= c.b; j++)
				times += tok_same(s, j, k);
			if (times != 2 || !is_part(s, k, &literal) || literal)
				continue;
			n = near_parts(g, k, others, nitems(others));
			for (size_t x = 0; x < n; x++) {
				len = all_replaced(
				    s, c, k, others[x], text, sizeof text);
				if (len < 0)
					continue;
				gen_clause(
				    g, p, gen_and(s), false, (int)x, len, text);
				gen_clause(g, p, gen_or(s), false, (int)x + 1,
				    len, text);
			}
			break;
		}
	}
}

/* A clause of the place or near it, with one name or number changed. */
static void
clone_changed(struct gen *g, struct span p, struct span c,
    const uint32_t *names, size_t n, int rank)
{
	static const char *const numbers[] = { "0", "1" };
	const struct source *s = g->s;
	char text[256];
	int len;

	for (size_t k = c.a; k <= c.b; k++) {
		bool number = tok_kind(s, k, TOK_NUMBER);
		size_t others = number ? nitems(numbers) : n;

		if (!number && (!gen_is_name(s, k) || tok_is(s, k - 1, ".")))
			continue;
		for (size_t m = 0; m < others; m++) {
			if (!number && !tok_same(s, k, names[m]) &&
			    (len = all_replaced(
				 s, c, k, names[m], text, sizeof text)) > 0) {
				gen_clause(
				    g, p, gen_and(s), false, rank, len, text);
				gen_clause(
				    g, p, gen_or(s), false, rank, len, text);
			}
			if (number)
				len = gen_replaced(
				    s, c, k, 1, numbers[m], text, sizeof text);
			else
				len = gen_replaced(s, c, k, TOK(s, names[m]),
				    text, sizeof text);
			if (len < 0 || (!number && tok_same(s, k, names[m])))
				continue;
			gen_clause(g, p, gen_and(s), false, rank, len, text);
			gen_clause(g, p, gen_or(s), false, rank, len, text);
			gen_clause(g, p, gen_or(s), true, rank + 1, len, text);
			rank++;
		}
	}
}

void
op_clause_changed(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span p, got[CLONED_MAX];
	uint32_t names[4];
	size_t n, found = 0, k;
	int rank;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	n = gen_names(g, i, names, nitems(names));
	for (size_t d = 0; d < 300 && found < CLONED_MAX && g->budget > 0;
	     d++) {
		for (int side = 0; side < 2 && found < CLONED_MAX; side++) {
			size_t j = side == 0 ? p.a + d : p.a - d, e;
			struct span c;

			g->budget--;
			if (j >= s->n_tok || (side == 1 && (d == 0 || d > p.a)))
				continue;
			e = j == p.a ? p.b : gen_clause_end(s, j);
			if (e == EXPR_NONE || e - j > 12)
				continue;
			c = (struct span){ (uint32_t)j, (uint32_t)e };
			for (k = 0; k < found && !gen_same(s, got[k], c); k++)
				;
			if (k < found || !gen_known(g, c, gen_block(s, i)))
				continue;
			got[found++] = c;
			clone_changed(g, p, c, names, n, rank + (int)found - 1);
			clone_parts(g, p, c, rank + (int)found - 1);
		}
	}
}
