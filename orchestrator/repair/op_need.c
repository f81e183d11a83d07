/*
 * op_need.c - a guard for what a statement takes for granted: that what it
 * divides by is not zero, that a member has not got a value yet. What the
 * guard does is what others of the file do.
 */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

#define TEXT_MAX 200
#define BODIES_MAX 3
#define MEMBERS_MAX 4
#define NAMES_MAX 4

/* Statements that leave and that may be a guard's body: those of other guards
 * first, nearest first. */
static size_t
find_bodies(struct gen *g, size_t i, struct span *ret)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	size_t self = s->tok[i].stmt, n = 0, m;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t d = 1; d < 300 && n < BODIES_MAX && g->budget > 0;
		     d++) {
			for (int side = 0; side < 2 && n < BODIES_MAX; side++) {
				size_t k = side == 0 ? self - d : self + d;
				const struct stmt *o;
				struct span c;

				g->budget--;
				if ((side == 0 && d > self) || k == 0 ||
				    k >= s->n_stmt)
					continue;
				o = &s->stmt[k];
				if (!tok_in(s, o->first,
					"return raise throw continue") ||
				    o->last - o->first > 24 ||
				    tok_is(s, s->stmt[k - 1].first, "if") ==
					(pass == 1))
					continue;
				c = (struct span){ o->first, o->last };
				for (m = 0; m < n && !gen_same(s, ret[m], c);
				     m++)
					;
				if (m == n && gen_known(g, c, block))
					ret[n++] = c;
			}
		}
	}
	return n;
}

static void
put_guards(struct gen *g, const struct places *ps, int rank, int len,
    const char *cond, const struct span *body, size_t n)
{
	const char *form = g->s->dialect == DIALECT_PY ? "if %.*s:"
	    : g->s->lines                              ? "if %.*s {"
						       : "if (%.*s)";
	char text[TEXT_MAX + 10];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	int size = snprintf(text, sizeof text, form, len, cond);
#pragma GCC diagnostic pop

	if (len >= TEXT_MAX || size < 0 || size >= (int)sizeof text)
		return;
	for (size_t k = 0; k < n; k++)
		places_put(g, ps, rank + (int)k, size, text,
		    SPAN(g->s, body[k].a, body[k].b));
}

/* What is divided by at op, without what only changes its type: n of
 * `int64(n)`, `(double)n`. */
static bool
divisor(const struct source *s, size_t op, struct span *ret)
{
	size_t a = op + 1, b;
	struct span el[1];

	if (!tok_in(s, op, "/ // %") || op == 0 || !expr_is_end(s, op - 1))
		return false;
	if (tok_is(s, a, "(") && tok_flag(s, a + 1, TF_TYPE) &&
	    s->tok[a].match > 0)
		a = (size_t)s->tok[a].match + 1;
	if (tok_is(s, a + 1, "(") &&
	    (tok_flag(s, a, TF_TYPE) ||
		tok_in(s, a,
		    "int64 int32 uint64 uint32 float64 float32 uint Number "
		    "BigInt Decimal Fraction")) &&
	    expr_elements(s, a + 1, ",", el, 1) == 1) {
		*ret = el[0];
		return true;
	}
	b = expr_primary_end(s, a);
	if (b == EXPR_NONE || tok_kind(s, a, TOK_NUMBER) || b - a > 16)
		return false;
	*ret = (struct span){ (uint32_t)a, (uint32_t)b };
	return true;
}

static void
for_divisors(struct gen *g, const struct stmt *st, const struct places *ps,
    const struct span *body, size_t n)
{
	const struct source *s = g->s;
	const char *is = s->dialect == DIALECT_JS ? "===" : "==";
	char text[TEXT_MAX];
	struct span d;

	for (size_t k = st->first; k < st->last; k++) {
		int len;

		if (!divisor(s, k, &d))
			continue;
		len = snprintf(
		    text, sizeof text, "%.*s %s 0", SPAN(s, d.a, d.b), is);
		if (len < (int)sizeof text)
			put_guards(g, ps, 0, len, text, body, n);
	}
}

/* Members that the function names, nearest first. */
static size_t
near_members(struct gen *g, size_t i, struct span *ret)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	size_t n = 0, m, a;

	for (size_t d = 0; d < 400 && n < MEMBERS_MAX && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < MEMBERS_MAX; side++) {
			size_t j = side == 0 ? i - d : i + d;
			struct span c;

			g->budget--;
			if ((side == 0 && d > i) || j < block.a ||
			    j > block.b || !tok_kind(s, j, TOK_IDENT) ||
			    tok_in(s, j + 1, "( . -> [ ?.") || j == 0 ||
			    !tok_in(s, j - 1, ". ->"))
				continue;
			a = expr_primary_start(s, j);
			if (a == EXPR_NONE || j - a > 4 || tok_is(s, a, "("))
				continue;
			c = (struct span){ (uint32_t)a, (uint32_t)j };
			for (m = 0; m < n && !gen_same(s, ret[m], c); m++)
				;
			if (m == n)
				ret[n++] = c;
		}
	}
	return n;
}

void
op_need(struct gen *g, size_t i)
{
	static const char *const forms[] = { "", " > 0", " == 0" };
	const struct source *s = g->s;
	struct span body[BODIES_MAX], member[MEMBERS_MAX];
	struct places ps;
	char text[TEXT_MAX];
	size_t n, n_member;
	int len;

	if (s->dialect == DIALECT_SH || !places_find(g, i, &ps))
		return;
	n = find_bodies(g, i, body);
	if (n == 0)
		return;
	for_divisors(g, gen_stmt(g, i), &ps, body, n);
	ps.n = 1; /* before the statement only */
	if (ps.v[0].after != EXPR_NONE)
		return;
	n_member = near_members(g, i, member);
	for (size_t k = 0; k < n_member; k++) {
		struct span c = member[k];

		for (size_t f = s->lines; f < nitems(forms); f++) {
			len = snprintf(text, sizeof text, "%.*s%s",
			    SPAN(s, c.a, c.b), forms[f]);
			if (len < (int)sizeof text)
				put_guards(
				    g, &ps, 2 + 2 * (int)k, len, text, body, n);
		}
		len = snprintf(
		    text, sizeof text, "%s%.*s", gen_not(s), SPAN(s, c.a, c.b));
		if (len < (int)sizeof text && !s->lines)
			put_guards(g, &ps, 3 + 2 * (int)k, len, text, body, n);
	}
}

/* `if (!x) return ...`, with what others of the function leave by. */
void
op_composed(struct gen *g, size_t i)
{
	static const char *const c[] = { " == NULL", " == 0", " < 0" };
	static const char *const js[] = { " === undefined", ".length === 0",
		" === 0" };
	static const char *const py[] = { " is None", " == 0" };
	const struct source *s = g->s;
	bool is_py = s->dialect == DIALECT_PY, is_js = s->dialect == DIALECT_JS;
	const char *const *form = is_py ? py : is_js ? js : c;
	size_t n_form = is_py ? nitems(py) : nitems(c), n, n_names;
	struct span body[BODIES_MAX];
	uint32_t names[NAMES_MAX];
	struct places ps;
	char text[TEXT_MAX];
	int len;

	if (!places_find(g, i, &ps) || s->lines ||
	    (n = find_bodies(g, i, body)) == 0)
		return;
	ps.n = 1; /* before the statement only */
	if (ps.v[0].after != EXPR_NONE)
		return;
	n_names = gen_all_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n_names; k++) {
		int rank = 2 * (int)k;

		len = snprintf(
		    text, sizeof text, "%s%.*s", gen_not(s), TOK(s, names[k]));
		put_guards(g, &ps, rank, len, text, body, n);
		for (size_t f = 0; f < n_form; f++) {
			len = snprintf(text, sizeof text, "%.*s%s",
			    TOK(s, names[k]), form[f]);
			put_guards(g, &ps, rank + 1, len, text, body, n);
		}
		for (int no = 0; no < 2 && s->dialect == DIALECT_C; no++) {
			len = snprintf(text, sizeof text, "*%.*s %s '\\0'",
			    TOK(s, names[k]), no ? "!=" : "==");
			put_guards(g, &ps, rank + 1, len, text, body, n);
		}
	}
}
