/*
 * op_file.c - operators that bring in what other functions of the file have: a
 * statement, a member, a call of a function that says yes or no; and what sets
 * a counter or collection back.
 */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

#define TEXT_MAX 200
#define ARGS_MAX 3

/* Is c one of the n in got? */
static bool
is_among(
    const struct source *s, struct span c, const struct span *got, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (gen_same(s, got[k], c))
			return true;
	return false;
}

/* A statement of another function, or from further off in this one. */
void
op_file_statement(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i), got[8], c;
	size_t self = s->tok[i].stmt, n = 0;
	struct places ps;

	if (!places_find(g, i, &ps))
		return;
	for (size_t d = 1; d < 200 && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < nitems(got); side++) {
			size_t k = side == 0 ? self - d : self + d;
			const struct stmt *o;

			g->budget--;
			if ((side == 0 && d > self) || k >= s->n_stmt)
				continue;
			o = &s->stmt[k];
			if (o->kind != STMT_SIMPLE || o->first == o->last ||
			    o->last - o->first > 20 ||
			    tok_in(s, o->first, PLACE_LEAVES) ||
			    source_region(s, s->tok[o->first].line) < 0)
				continue;
			c = (struct span){ o->first, o->last };
			if (is_among(s, c, got, n) ||
			    (s->dialect != DIALECT_SH &&
				!gen_known(g, c, block)))
				continue;
			got[n++] = c;
			places_put(
			    g, &ps, (int)n - 1, SPAN(s, c.a, c.b), 0, NULL);
		}
	}
}

/* The operand that the token j adds to: counted by `+=` and the like, or a
 * collection that something is put into. false: none. */
static bool
grows(const struct source *s, size_t j, struct span *ret, bool *ret_counter)
{
	size_t end = EXPR_NONE, a;

	*ret_counter = true;
	if (j > 0 && tok_in(s, j, "+= -= ++ --"))
		end = j - 1;
	if (j > 1 && tok_is(s, j - 1, ".") && tok_is(s, j + 1, "(") &&
	    tok_in(s, j, "append add push extend insert appendleft")) {
		end = j - 2;
		*ret_counter = false;
	}
	if (end == EXPR_NONE || !tok_kind(s, end, TOK_IDENT))
		return false;
	a = expr_primary_start(s, end);
	if (a == EXPR_NONE || end - a > 4)
		return false;
	*ret = (struct span){ (uint32_t)a, (uint32_t)end };
	return true;
}

/* What was counted or collected begins anew. */
void
op_reset(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i), got[6], c;
	size_t n = 0;
	struct places ps;
	char text[TEXT_MAX];
	bool counter;

	if (s->dialect == DIALECT_SH || !places_find(g, i, &ps))
		return;
	for (size_t d = 1; d < 2000 && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < nitems(got); side++) {
			size_t j = side == 0 ? i - d : i + d;
			const char *how;
			int len;

			g->budget--;
			if ((side == 0 && d > i) || j >= s->n_tok ||
			    !grows(s, j, &c, &counter) ||
			    is_among(s, c, got, n) || !gen_known(g, c, block))
				continue;
			how = counter                  ? " = 0"
			    : s->dialect == DIALECT_PY ? ".clear()"
			    : s->dialect == DIALECT_JS ? ".length = 0"
						       : NULL;
			if (how == NULL)
				continue;
			got[n] = c;
			len = snprintf(text, sizeof text, "%.*s%s",
			    SPAN(s, c.a, c.b), how);
			if (len < (int)sizeof text)
				places_put(g, &ps, (int)n, len, text, 0, NULL);
			n++;
		}
	}
}

/* A member of the object itself in place of a name. */
void
op_member(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span got[6], c;
	size_t n = 0;

	if (!(s->dialect & (DIALECT_PY | DIALECT_JS)) || !gen_is_name(s, i) ||
	    expr_is_bound(s, i) || tok_in(s, i, "self cls") ||
	    tok_in(s, i + 1, "= ( :") || i == gen_stmt(g, i)->first)
		return;
	for (size_t d = 1; d < 1200 && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < nitems(got); side++) {
			size_t j = side == 0 ? i - d : i + d;

			g->budget--;
			if ((side == 0 && d > i) || j + 3 >= s->n_tok ||
			    !tok_in(s, j, "self this") ||
			    !tok_is(s, j + 1, ".") ||
			    !tok_kind(s, j + 2, TOK_IDENT) ||
			    tok_is(s, j + 3, "("))
				continue;
			c = (struct span){ (uint32_t)j, (uint32_t)j + 2 };
			if (is_among(s, c, got, n))
				continue;
			got[n++] = c;
			gen_put(g, i, i, (int)n - 1, "%.*s", SPAN(s, c.a, c.b));
		}
	}
}

/* --- functions that say yes or no ------------------------------------------
 */

struct predicate {
	size_t name; /* token in its head */
	size_t param[ARGS_MAX];
	size_t n;
	bool method;
};

/* Does the function give back what is true or false? */
static bool
says_yes_or_no(struct gen *g, const struct region *r)
{
	const struct source *s = g->s;

	for (size_t j = r->first_tok; j < r->last_tok; j++) {
		g->budget--;
		if (!tok_is(s, j, "return"))
			continue;
		for (size_t k = j + 1; k <= s->stmt[s->tok[j].stmt].last; k++)
			if (tok_in(s, k,
				"== != === !== < <= > >= in not ! and or && "
				"|| True False true false is") ||
			    tok_is(s, k, "not in") || tok_is(s, k, "is not"))
				return true;
	}
	return false;
}

static bool
read_predicate(struct gen *g, const struct region *r, struct predicate *ret)
{
	const struct source *s = g->s;
	struct span el[ARGS_MAX + 1];
	size_t j = r->first_tok, n;

	*ret = (struct predicate){ 0 };
	for (int k = 0; k < 40 && j > 0; k++, j--) {
		if (tok_is(s, j, "(") && tok_kind(s, j - 1, TOK_IDENT) &&
		    s->tok[j - 1].len == strlen(r->name) &&
		    memcmp(s->text + s->tok[j - 1].off, r->name,
			s->tok[j - 1].len) == 0)
			break;
	}
	if (!tok_is(s, j, "(") || j == 0 || s->tok[j].match < 0)
		return false;
	ret->name = j - 1;
	n = (size_t)s->tok[j].match == j + 1
	    ? 0
	    : expr_elements(s, j, ",", el, nitems(el));
	if (n == 0 && (size_t)s->tok[j].match != j + 1)
		return false;
	for (size_t k = 0; k < n; k++) {
		/* `Type *name`, `name: type`, `name = value` */
		size_t at = el[k].a;

		if (s->dialect == DIALECT_C)
			at = el[k].b;
		if (!tok_kind(s, at, TOK_IDENT))
			return false;
		if (k == 0 && tok_in(s, at, "self cls")) {
			ret->method = true;
			continue;
		}
		if (ret->n == ARGS_MAX)
			return false;
		ret->param[ret->n++] = at;
	}
	return says_yes_or_no(g, r);
}

/* A name of the block for each parameter: the one that is called so, else the
 * only one there is to choose. false: there is none. */
static bool
arguments(struct gen *g, size_t i, const struct predicate *p, size_t choice,
    char *dst, size_t size)
{
	const struct source *s = g->s;
	uint32_t names[12];
	size_t n = gen_all_names(g, i, names, nitems(names)), k;
	int at = 0;

	*dst = '\0';
	for (size_t a = 0; a < p->n; a++) {
		for (k = 0; k < n && !tok_same(s, names[k], p->param[a]); k++)
			;
		if (k == n && p->n > 1)
			return false;
		if (p->n == 1 && choice > 0)
			k = choice - 1;
		if (k >= n)
			return false;
		at += snprintf(dst + at, size - (size_t)at, "%s%.*s",
		    a > 0 ? ", " : "", TOK(s, names[k]));
		if (at >= (int)size)
			return false;
	}
	return true;
}

/* The clause with it, and with its opposite. */
static void
put_predicate(struct gen *g, struct span p, const struct predicate *f, int rank,
    int len, const char *base, const char *args)
{
	const struct source *s = g->s;
	char text[TEXT_MAX], no[TEXT_MAX + 8];
	int n = snprintf(text, sizeof text, "%.*s%s%.*s(%s)", len, base,
	    len > 0 ? "." : "", TOK(s, f->name), args);
	int m = snprintf(no, sizeof no, "%s%s", gen_not(s), text);

	if (n >= (int)sizeof text)
		return;
	gen_clause(g, p, gen_and(s), false, rank, m, no);
	gen_clause(g, p, gen_and(s), false, rank, n, text);
	gen_clause(g, p, gen_or(s), false, rank + 1, n, text);
	gen_clause(g, p, gen_or(s), false, rank + 1, m, no);
}

static void
with_predicate(
    struct gen *g, size_t i, struct span p, const struct predicate *f, int rank)
{
	const struct source *s = g->s;
	uint32_t names[3];
	char args[TEXT_MAX / 2];
	size_t n = 1;

	if (f->method)
		n = gen_names(g, i, names, nitems(names));
	for (size_t k = 0; k < 3; k++) {
		if (!arguments(g, i, f, k, args, sizeof args))
			continue;
		if (!f->method)
			put_predicate(g, p, f, rank + (int)k, 0, "", args);
		for (size_t m = 0; f->method && m <= n; m++) {
			if (m == n)
				put_predicate(
				    g, p, f, rank + (int)k, 4, "self", args);
			else
				put_predicate(g, p, f, rank + (int)(k + m),
				    TOK(s, names[m]), args);
		}
		if (f->n != 1)
			break;
	}
}

/* A clause that asks a function of the file. */
void
op_predicate(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	int r = source_region(s, s->tok[i].line), rank, found = 0;
	struct predicate f;
	struct span p;

	if (s->dialect == DIALECT_SH || r < 0 || !gen_boolean(g, i, &p, &rank))
		return;
	for (size_t d = 1; d < 40 && found < 6 && g->budget > 0; d++) {
		for (int side = 0; side < 2; side++) {
			size_t k = side == 0 ? (size_t)r - d : (size_t)r + d;

			if ((side == 0 && d > (size_t)r) || k >= s->n_region ||
			    !read_predicate(g, &s->region[k], &f))
				continue;
			with_predicate(g, i, p, &f, rank + found++);
		}
	}
}
