/*
 * op_literal.c - clauses that a condition may lack, made of what the function
 * compares and looks up: a subject against another literal of the file, a key
 * in a collection, a clause of the file that asks the same function.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define SUBJECTS_MAX 6
#define LITERALS_MAX 6
#define LOOKUPS_MAX 4
#define KIN_MAX 6
#define TEXT_MAX 200
#define REACH 1500 /* tokens on each side */

static bool
is_equality(const struct source *s, size_t i)
{
	return expr_prec(s, i) > 0 &&
	    (tok_in(s, i, "== != === !== is") || tok_is(s, i, "is not"));
}

static bool
is_literal(const struct source *s, size_t i)
{
	return (tok_kind(s, i, TOK_STRING) && !tok_flag(s, i, TF_CHUNK) &&
		   s->tok[i].len <= 24) ||
	    tok_in(s, i, "NULL None null nil");
}

/* What the literal at j is like: two are only compared with the same thing if
 * this is the same. */
static char
kind_of(const struct source *s, size_t j)
{
	char c = s->text[s->tok[j].off];

	return tok_kind(s, j, TOK_STRING) ? c : 'n';
}

struct subject {
	int len;
	char text[64];
	char kind; /* of the literals that it is compared with; 0: unknown */
};

static void
add_subject(struct subject *v, size_t *n, char kind, int len, const char *text)
{
	struct subject *x = &v[*n];

	if (*n == SUBJECTS_MAX || len <= 0 || len >= (int)sizeof x->text)
		return;
	for (size_t k = 0; k < *n; k++)
		if (v[k].len == len &&
		    memcmp(v[k].text, text, (size_t)len) == 0)
			return;
	x->len = len;
	memcpy(x->text, text, (size_t)len);
	x->text[len] = '\0';
	x->kind = kind;
	++*n;
}

/* `*p` with its star. */
static size_t
with_prefix(const struct source *s, size_t a)
{
	while (a > 0 && tok_in(s, a - 1, "*") && expr_is_prefix(s, a - 1))
		a--;
	return a;
}

/* The left side of the comparison at op; x[1] for x[0]; what a name that is
 * tested is called. */
static void
compared(const struct source *s, size_t op, struct subject *v, size_t *n)
{
	size_t a = expr_primary_start(s, op - 1);
	char kind = is_literal(s, op + 1) ? kind_of(s, op + 1) : 0;
	char text[64];
	int len;

	if (a == EXPR_NONE || tok_kind(s, op + 1, TOK_NUMBER))
		return;
	a = with_prefix(s, a);
	add_subject(v, n, kind, SPAN(s, a, op - 1));
	if (op < 4 || !tok_is(s, op - 1, "]") ||
	    !tok_kind(s, op - 2, TOK_NUMBER) || !tok_is(s, op - 3, "[") ||
	    s->tok[op - 2].len != 1)
		return;
	len = snprintf(text, sizeof text, "%.*s[%d]", SPAN(s, a, op - 4),
	    s->text[s->tok[op - 2].off] - '0' + 1);
	add_subject(v, n, kind, len < (int)sizeof text ? len : 0, text);
}

/* Subjects of the place, then of the two statements behind it. */
static size_t
find_subjects(struct gen *g, size_t i, struct span p, struct subject *v)
{
	const struct source *s = g->s;
	size_t n = 0, self = s->tok[i].stmt;
	struct span c;

	for (size_t j = p.a; j <= p.b; j++)
		if (is_equality(s, j))
			compared(s, j, v, &n);
	for (size_t k = self + 1; k < self + 3 && k < s->n_stmt; k++) {
		for (size_t j = s->stmt[k].first; j <= s->stmt[k].last; j++)
			if (is_equality(s, j))
				compared(s, j, v, &n);
		if (s->stmt[k].kind == STMT_SIMPLE &&
		    expr_value(s, &s->stmt[k], &c) && tok_in(s, c.b, "]") &&
		    expr_primary_end(s, c.a) == c.b)
			add_subject(v, &n, 0, SPAN(s, c.a, c.b));
	}
	for (size_t j = p.a; j <= p.b; j++) {
		size_t e;

		if (!gen_is_name(s, j) || (j > p.a && tok_is(s, j - 1, ".")))
			continue;
		e = expr_primary_end(s, j);
		if (e != EXPR_NONE && e <= p.b && !tok_is(s, e, ")"))
			add_subject(v, &n, 0, SPAN(s, j, e));
	}
	return n;
}

/* Literals that the file compares things with, nearest first. */
static size_t
find_literals(struct gen *g, size_t i, uint32_t *ret)
{
	const struct source *s = g->s;
	size_t n = 0, m;

	for (size_t d = 0; d < REACH && n < LITERALS_MAX && g->budget > 0;
	     d++) {
		for (int side = 0; side < 2 && n < LITERALS_MAX; side++) {
			size_t j = side == 0 ? i - d : i + d;

			g->budget--;
			if ((side == 0 && d > i) || j + 1 >= s->n_tok ||
			    !is_literal(s, j))
				continue;
			if (!(j > 0 && is_equality(s, j - 1)) &&
			    !(tok_is(s, j - 1, "case") &&
				tok_is(s, j + 1, ":")))
				continue;
			for (m = 0; m < n && !tok_same(s, ret[m], j); m++)
				;
			if (m == n)
				ret[n++] = (uint32_t)j;
		}
	}
	return n;
}

static void
put_comparison(struct gen *g, struct span p, const struct subject *x, int rank,
    int len, const char *literal)
{
	const struct source *s = g->s;
	bool none = literal[0] == 'N' && s->dialect == DIALECT_PY;
	const char *is = none ? "is" : s->dialect == DIALECT_JS ? "===" : "==";
	const char *not = none         ? "is not"
	    : s->dialect == DIALECT_JS ? "!=="
				       : "!=";
	char text[TEXT_MAX];
	int n;

	n = snprintf(
	    text, sizeof text, "%s %s %.*s", x->text, is, len, literal);
	gen_clause(g, p, gen_or(s), false, rank, n, text);
	gen_clause(g, p, gen_and(s), false, rank + 3, n, text);
	n = snprintf(
	    text, sizeof text, "%s %s %.*s", x->text, not, len, literal);
	gen_clause(g, p, gen_and(s), false, rank, n, text);
	gen_clause(g, p, gen_or(s), false, rank + 3, n, text);
}

/* `x == 'a'` -> `x == 'a' || x == 'b'` */
void
op_literal_clause(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct subject v[SUBJECTS_MAX];
	const struct hints *h = g->out->hints;
	uint32_t lit[LITERALS_MAX];
	size_t n, n_lit;
	struct span p;
	int rank;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	n = find_subjects(g, i, p, v);
	n_lit = find_literals(g, i, lit);
	for (size_t k = 0; k < n; k++) {
		int at = rank + (int)k;

		for (size_t m = 0; m < n_lit; m++) {
			if (v[k].kind != 0 && v[k].kind != kind_of(s, lit[m]))
				continue;
			put_comparison(g, p, &v[k], at++, TOK(s, lit[m]));
		}
		for (size_t m = 0; h != NULL && m < h->literals.n && m < 4;
		     m++) { /* what a failing test speaks of */
			const char *text = h->literals.v[m];

			/* Only beside others: else it is a case of its own. */
			if (v[k].kind == text[0])
				put_comparison(
				    g, p, &v[k], at++, (int)strlen(text), text);
		}
		if (v[k].kind == 0 && v[k].text[v[k].len - 1] == ']')
			put_comparison(g, p, &v[k], at, 2, "\"\"");
	}
}

/* --- what is looked up -----------------------------------------------------
 */

struct lookup {
	struct span of, key;
	const char *ask; /* "has" and the like; NULL: `in` */
};

/* Is token j the bracket or name by which a collection is asked? */
static bool
read_lookup(const struct source *s, size_t j, struct lookup *ret)
{
	struct span el[2];
	size_t open, end;
	bool named = tok_in(s, j,
			 "get setdefault add has set append pop push remove "
			 "discard includes delete") &&
	    j > 1 && tok_is(s, j - 1, ".") && tok_is(s, j + 1, "(");

	open = named ? j + 1 : j;
	end = named ? j - 2 : j - 1;
	if (!named &&
	    (j == 0 || !tok_is(s, j, "[") || !tok_kind(s, j - 1, TOK_IDENT)))
		return false;
	if (!tok_kind(s, end, TOK_IDENT) || s->tok[open].match < 0 ||
	    expr_elements(s, open, ",", el, 2) == 0 || el[0].b - el[0].a > 6 ||
	    tok_kind(s, el[0].a, TOK_NUMBER))
		return false;
	ret->of.a = (uint32_t)expr_primary_start(s, end);
	ret->of.b = (uint32_t)end;
	ret->key = el[0];
	ret->ask = tok_in(s, j, "push includes") ? "includes" : "has";
	return end - ret->of.a <= 6;
}

static void
put_lookup(struct gen *g, struct span p, const struct lookup *x, int rank)
{
	const struct source *s = g->s;
	char yes[TEXT_MAX], no[TEXT_MAX + 4];
	int n, m;

	if (s->dialect == DIALECT_PY) {
		n = snprintf(yes, sizeof yes, "%.*s in %.*s",
		    SPAN(s, x->key.a, x->key.b), SPAN(s, x->of.a, x->of.b));
		m = snprintf(no, sizeof no, "%.*s not in %.*s",
		    SPAN(s, x->key.a, x->key.b), SPAN(s, x->of.a, x->of.b));
	} else {
		n = snprintf(yes, sizeof yes, "%.*s.%s(%.*s)",
		    SPAN(s, x->of.a, x->of.b), x->ask,
		    SPAN(s, x->key.a, x->key.b));
		m = snprintf(no, sizeof no, "!%s", yes);
	}
	if (n >= (int)sizeof yes || m >= (int)sizeof no)
		return;
	gen_clause(g, p, gen_or(s), false, rank, n, yes);
	gen_clause(g, p, gen_and(s), false, rank, m, no);
	gen_clause(g, p, gen_and(s), false, rank + 1, n, yes);
	gen_clause(g, p, gen_or(s), false, rank + 1, m, no);
}

/* A clause that asks whether what is looked up near it is there. */
void
op_member_test(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span p, block = gen_block(s, i);
	struct lookup got[LOOKUPS_MAX], x;
	size_t n = 0, m;
	int rank;

	if (!(s->dialect & (DIALECT_PY | DIALECT_JS)) ||
	    !gen_boolean(g, i, &p, &rank))
		return;
	for (size_t d = 0; d < 300 && n < LOOKUPS_MAX && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < LOOKUPS_MAX; side++) {
			size_t j = side == 0 ? i + d : i - d;

			g->budget--;
			if ((side == 1 && d > i) || j + 1 >= s->n_tok ||
			    j < block.a || j > block.b ||
			    !read_lookup(s, j, &x))
				continue;
			for (m = 0; m < n &&
			     !(gen_same(s, got[m].of, x.of) &&
				 gen_same(s, got[m].key, x.key));
			     m++)
				;
			if (m < n)
				continue;
			put_lookup(g, p, &x, rank + (int)n);
			got[n++] = x;
		}
	}
}

/* --- kin -------------------------------------------------------------------
 */

/* Is c about an object whose members p asks for, too? */
static bool
is_about_the_same(const struct source *s, struct span c, struct span p)
{
	size_t j = c.a + tok_in(s, c.a, "not !");

	if (!tok_kind(s, j, TOK_IDENT) || !tok_in(s, j + 1, ". ->") ||
	    tok_in(s, j, "self this"))
		return false;
	for (size_t k = p.a; k < p.b; k++)
		if (tok_same(s, j, k) && tok_in(s, k + 1, ". ->"))
			return true;
	return false;
}

/* Does c call a function that p calls, too? */
static bool
asks_the_same(const struct source *s, struct span c, struct span p)
{
	for (size_t j = c.a; j < c.b; j++) {
		if (!tok_kind(s, j, TOK_IDENT) || !tok_is(s, j + 1, "("))
			continue;
		for (size_t k = p.a; k < p.b; k++)
			if (tok_same(s, j, k) && tok_is(s, k + 1, "("))
				return true;
	}
	return false;
}

/* Shell: does a clause begin with a function of the program? */
static bool
asks_a_function(const struct gen *g, size_t i)
{
	const struct source *s = g->s, *o;

	for (size_t k = 0; k < g->n_all; k++) {
		o = g->all[k];
		for (size_t r = 0; o->dialect == DIALECT_SH && r < o->n_region;
		     r++)
			if (tok_is(s, i, o->region[r].name))
				return true;
	}
	return false;
}

/* A clause of the file that calls the same function or is about the same
 * object (a shell's: that asks a function), as it is and negated. */
void
op_kin_clause(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span p, c, got[KIN_MAX], block = gen_block(s, i);
	size_t n = 0, m;
	char no[TEXT_MAX];
	int rank, len;

	if (!gen_boolean(g, i, &p, &rank))
		return;
	for (size_t d = 1; d < REACH && n < KIN_MAX && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < KIN_MAX; side++) {
			size_t j = side == 0 ? i - d : i + d, e;

			g->budget--;
			if ((side == 0 && d > i) || j >= s->n_tok ||
			    !tok_kind(s, j, TOK_IDENT))
				continue;
			e = gen_clause_end(s, j);
			if (e == EXPR_NONE || e - j > 24 ||
			    (e >= p.a && j <= p.b))
				continue;
			c = (struct span){ (uint32_t)j, (uint32_t)e };
			if (s->dialect == DIALECT_SH
				? !asks_a_function(g, c.a)
				: !asks_the_same(s, c, p) &&
				    !is_about_the_same(s, c, p))
				continue;
			for (m = 0; m < n && !gen_same(s, got[m], c); m++)
				;
			if (m < n ||
			    (s->dialect != DIALECT_SH &&
				!gen_known(g, c, block)))
				continue;
			got[n] = c;
			rank = (int)n++;
			gen_clause(
			    g, p, gen_or(s), false, rank, SPAN(s, c.a, c.b));
			gen_clause(
			    g, p, gen_and(s), false, rank, SPAN(s, c.a, c.b));
			if (s->dialect != DIALECT_SH &&
			    (gen_is_weaker(s, c, 9) || !tok_is(s, c.b, ")")))
				continue;
			len = snprintf(no, sizeof no, "%s%.*s", gen_not(s),
			    SPAN(s, c.a, c.b));
			if (len < (int)sizeof no)
				gen_clause(
				    g, p, gen_and(s), false, rank, len, no);
		}
	}
}
