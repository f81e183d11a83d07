/*
 * op_predicate.c - functions of the program, of the file or of another one
 * where their object or name is known here: a clause that asks one which says
 * yes or no; one in place of another.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define TEXT_MAX 200
#define ARGS_MAX 3
#define OWN_MAX 6
#define OTHERS_MAX 8

struct predicate {
	const struct source *s; /* its own */
	size_t name;            /* token in its head */
	size_t param[ARGS_MAX];
	size_t n;
	bool method;
};

/* Does the function give back what is true or false? */
static bool
says_yes_or_no(struct gen *g, const struct source *s, const struct region *r)
{

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

/* Its name and parameters. */
static bool
read_head(const struct source *s, const struct region *r, struct predicate *ret)
{
	struct span el[ARGS_MAX + 1];
	size_t j = r->first_tok, n;

	*ret = (struct predicate){ .s = s };
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
		/* `Type *name`, `name type`, `name: type`, `name = value` */
		size_t at = el[k].a;

		if (s->dialect == DIALECT_C && !s->lines)
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
	return true;
}

static bool
read_predicate(struct gen *g, const struct source *s, const struct region *r,
    struct predicate *ret)
{
	return read_head(s, r, ret) && says_yes_or_no(g, s, r);
}

static bool
same_word(const struct source *s, size_t i, const struct source *o, size_t j)
{
	return s->tok[i].len == o->tok[j].len &&
	    memcmp(s->text + s->tok[i].off, o->text + o->tok[j].off,
		s->tok[i].len) == 0;
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
		for (k = 0; k < n && !same_word(s, names[k], p->s, p->param[a]);
		     k++)
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
	    len > 0 ? "." : "", TOK(f->s, f->name), args);
	int m = snprintf(no, sizeof no, "%s%s", gen_not(s), text);

	if (n >= (int)sizeof text)
		return;
	gen_clause(g, p, gen_and(s), false, rank, m, no);
	gen_clause(g, p, gen_and(s), false, rank, n, text);
	gen_clause(g, p, gen_or(s), false, rank + 1, n, text);
	gen_clause(g, p, gen_or(s), false, rank + 1, m, no);
}

/* Does the object that i names have members that the other file gives to one
 * of its own? */
static bool
is_of(struct gen *g, size_t i, const struct source *o)
{
	const struct source *s = g->s;
	size_t seen = 0;

	for (size_t j = 0; j + 2 < s->n_tok && seen < 6; j++) {
		g->budget--;
		if (!tok_same(s, i, j) || !tok_is(s, j + 1, ".") ||
		    !tok_kind(s, j + 2, TOK_IDENT))
			continue;
		seen++;
		for (size_t k = 2; k < o->n_tok && g->budget > 0; k++) {
			g->budget--;
			if (tok_kind(o, k, TOK_IDENT) &&
			    tok_is(o, k - 1, ".") &&
			    tok_in(o, k - 2, "self this") &&
			    same_word(s, j + 2, o, k))
				return true;
		}
	}
	return false;
}

static void
with_predicate(
    struct gen *g, size_t i, struct span p, const struct predicate *f, int rank)
{
	const struct source *s = g->s;
	uint32_t names[4];
	char args[TEXT_MAX / 2];
	bool own = f->s == s;
	size_t n = 1;

	if (f->method)
		n = gen_all_names(g, p.a, names, own ? 3 : nitems(names));
	for (size_t k = 0; k < 3; k++) {
		if (!arguments(g, i, f, k, args, sizeof args))
			continue;
		if (!f->method)
			put_predicate(g, p, f, rank + (int)k, 0, "", args);
		for (size_t m = 0; f->method && m < n; m++) {
			if (own || is_of(g, names[m], f->s))
				put_predicate(g, p, f,
				    rank + (int)(k + (own ? m : 0)),
				    TOK(s, names[m]), args);
		}
		if (f->method && own)
			put_predicate(g, p, f, rank + (int)k, 4, "self", args);
		if (f->n != 1)
			break;
	}
}

/* Can the function of another file be called here? A method, a name that is
 * imported, what is seen everywhere. */
static bool
is_in_reach(struct gen *g, const struct predicate *f)
{
	const struct source *s = g->s, *o = f->s;

	if (f->method)
		return true;
	if (s->lines)
		return true;
	if (s->dialect == DIALECT_C)
		return !tok_is(
		    o, o->stmt[o->tok[f->name].stmt].first, "static");
	for (size_t j = 0; j < s->n_tok; j++) {
		g->budget--;
		if (same_word(s, j, o, f->name))
			return true;
	}
	return false;
}

static void
of_others(struct gen *g, size_t i, struct span p, int rank)
{
	struct predicate f;
	int found = 0;

	for (size_t o = 0; o < g->n_all && found < OTHERS_MAX; o++) {
		const struct source *s = g->all[o];

		if (s == g->s || s->dialect != g->s->dialect)
			continue;
		for (size_t k = 0;
		     k < s->n_region && found < OTHERS_MAX && g->budget > 0;
		     k++) {
			uint32_t before = g->made;

			if (read_predicate(g, s, &s->region[k], &f) &&
			    is_in_reach(g, &f))
				with_predicate(g, i, p, &f, rank + found);
			found += g->made > before;
		}
	}
}

void
op_predicate(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	int r = source_region(s, s->tok[i].line), rank, found = 0;
	struct predicate f;
	struct span p;

	if (s->dialect == DIALECT_SH || r < 0 || !gen_boolean(g, i, &p, &rank))
		return;
	for (size_t d = 1; d < 40 && found < OWN_MAX && g->budget > 0; d++) {
		for (int side = 0; side < 2; side++) {
			size_t k = side == 0 ? (size_t)r - d : (size_t)r + d;

			if ((side == 0 && d > (size_t)r) || k >= s->n_region ||
			    !read_predicate(g, s, &s->region[k], &f))
				continue;
			with_predicate(g, i, p, &f, rank + found++);
		}
	}
	of_others(g, i, p, rank + 1);
}

/* --- another function ------------------------------------------------------
 */

/* JavaScript: a method is not called by its name alone. */
static bool
stands_alone(const struct source *s, const struct predicate *f)
{
	return !f->method &&
	    (s->dialect != DIALECT_JS ||
		tok_in(s, s->stmt[s->tok[f->name].stmt].first,
		    "function const let var async export"));
}

static void
put_callee(struct gen *g, size_t i, const struct source *s,
    const struct region *r, size_t n_args, int *rank)
{
	struct predicate f;

	if (!read_head(s, r, &f) || f.n != n_args || !stands_alone(s, &f) ||
	    same_word(g->s, i, s, f.name) || (s != g->s && !is_in_reach(g, &f)))
		return;
	gen_put(g, i, i, *rank, "%.*s", TOK(s, f.name));
	++*rank;
}

/* A function of the program that takes as many arguments. */
void
op_callee(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span el[ARGS_MAX + 1];
	int r = source_region(s, s->tok[i].line), rank = 0;
	size_t n;

	if (r < 0 || !tok_kind(s, i, TOK_IDENT) || !expr_is_call(s, i + 1) ||
	    (i > 0 && tok_in(s, i - 1, ". -> :: ?. new def func function")))
		return;
	n = expr_elements(s, i + 1, ",", el, nitems(el));
	for (size_t d = 1; d < 60 && rank < OWN_MAX; d++) {
		if (d <= (size_t)r)
			put_callee(
			    g, i, s, &s->region[(size_t)r - d], n, &rank);
		if ((size_t)r + d < s->n_region)
			put_callee(
			    g, i, s, &s->region[(size_t)r + d], n, &rank);
	}
	for (size_t o = 0; o < g->n_all; o++) {
		const struct source *other = g->all[o];

		if (other == s || other->dialect != s->dialect)
			continue;
		for (size_t k = 0;
		     k < other->n_region && g->budget > 0 && rank < OTHERS_MAX;
		     k++)
			put_callee(g, i, other, &other->region[k], n, &rank);
	}
}
