/*
 * op_insert.c - operators that add a statement: one of the function once more
 * or with a name changed, an assignment, a guard of the file; or that put one
 * under a condition.
 */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

static bool
in_loop(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);

	for (size_t k = s->tok[i].stmt; k-- > 0;) {
		const struct stmt *o = &s->stmt[k];

		g->budget--;
		if (o->first < block.a)
			break;
		if (tok_in(s, o->first, "for while until do switch"))
			return true;
	}
	return false;
}

/* break and continue are for loops only. */
static bool
may_leave(struct gen *g, size_t i, size_t word)
{
	return !tok_in(g->s, word, "break continue") || in_loop(g, i);
}

/* The simple statements of the block around i, nearest first. */
static size_t
near_statements(struct gen *g, size_t i, uint32_t max_tokens,
    const struct stmt **ret, size_t max)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	size_t self = s->tok[i].stmt, n = 0;

	for (size_t d = 0; d < 12; d++) {
		for (int side = 0; side < (d == 0 ? 1 : 2) && n < max; side++) {
			size_t k = side == 0 ? self - d : self + d;
			const struct stmt *o;

			g->budget--;
			if ((side == 0 && d > self) || k >= s->n_stmt)
				continue;
			o = &s->stmt[k];
			if (o->kind == STMT_SIMPLE && o->first >= block.a &&
			    o->last <= block.b &&
			    o->last - o->first <= max_tokens)
				ret[n++] = o;
		}
	}
	return n;
}

/* A statement of the function once more. */
void
op_insert(struct gen *g, size_t i)
{
	static const char *const words[] = { "return", "break", "continue" };
	const struct source *s = g->s;
	const struct stmt *near[8];
	struct places ps;
	size_t n;

	if (!places_find(g, i, &ps))
		return;
	n = near_statements(g, i, 30, near, nitems(near));
	for (size_t k = 0; k < n; k++) {
		if (near[k]->first != i && may_leave(g, i, near[k]->first))
			places_put(g, &ps, (int)k,
			    SPAN(s, near[k]->first, near[k]->last), 0, NULL);
	}
	for (size_t k = 0; k < (in_loop(g, i) ? nitems(words) : 1); k++)
		places_put(g, &ps, 3, (int)strlen(words[k]), words[k], 0, NULL);
}

/* One with one of its names changed. */
void
op_adapted(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct hints *h = g->out->hints;
	const struct stmt *near[6];
	uint32_t names[6];
	struct places ps;
	size_t n, n_names;
	char text[PLACE_TEXT_MAX / 2];
	int len;

	if (!places_find(g, i, &ps))
		return;
	n_names = gen_all_names(g, i, names, nitems(names));
	n = near_statements(g, i, 16, near, nitems(near));
	for (size_t k = 0; k < n; k++) {
		struct span c = { near[k]->first, near[k]->last };

		if (tok_in(s, c.a, PLACE_LEAVES))
			continue;
		for (size_t t = c.a; t <= c.b; t++) {
			for (size_t m = 0; tok_kind(s, t, TOK_STRING) &&
			     h != NULL && m < h->literals.n;
			     m++) { /* what a failing test speaks of */
				len = gen_replaced(s, c, t,
				    (int)strlen(h->literals.v[m]),
				    h->literals.v[m], text, sizeof text);
				if (len > 0)
					places_put(g, &ps, (int)(k + m), len,
					    text, 0, NULL);
			}
			if (!gen_is_name(s, t))
				continue;
			for (size_t m = 0; m < n_names; m++) {
				len = gen_replaced(s, c, t, TOK(s, names[m]),
				    text, sizeof text);
				if (len > 0)
					places_put(g, &ps, (int)(k + m), len,
					    text, 0, NULL);
			}
		}
	}
}

/* v = w, where v is assigned to in the function. */
void
op_name_assigned(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	uint32_t v[4], w[6];
	size_t n = 0, n_w, k;
	struct places ps;
	char text[200];
	int len;

	if (!places_find(g, i, &ps))
		return;
	for (size_t j = block.a; j < block.b && n < nitems(v); j++) {
		g->budget--;
		if (!gen_is_name(s, j) || !tok_is(s, j + 1, "=") ||
		    expr_enclosing(s, j) != EXPR_NONE)
			continue;
		for (k = 0; k < n && !tok_same(s, v[k], j); k++)
			;
		if (k == n)
			v[n++] = (uint32_t)j;
	}
	n_w = gen_all_names(g, i, w, nitems(w));
	for (k = 0; k < n; k++) {
		for (size_t m = 0; m < n_w; m++) {
			if (tok_same(s, v[k], w[m]))
				continue;
			len = snprintf(text, sizeof text, "%.*s = %.*s",
			    TOK(s, v[k]), TOK(s, w[m]));
			if (len < (int)sizeof text)
				places_put(
				    g, &ps, (int)(k + m), len, text, 0, NULL);
		}
	}
}

/* How a value is added to the collection that the initializer at j makes. */
static const char *
adder(const struct source *s, size_t j)
{
	if (tok_is(s, j, "new") && tok_is(s, j + 1, "Set"))
		return "add";
	if (s->dialect == DIALECT_JS)
		return tok_is(s, j, "[") ? "push" : NULL;
	if (tok_is(s, j, "set") && tok_is(s, j + 1, "("))
		return "add";
	return tok_is(s, j, "[") ||
		(tok_in(s, j, "list deque") && tok_is(s, j + 1, "("))
	    ? "append"
	    : NULL;
}

/* v.add(w), where v is made as a collection before. */
void
op_element(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	uint32_t names[6];
	struct places ps;
	char text[200];
	size_t n, found = 0;
	int rank = 0, len;

	if (!places_find(g, i, &ps))
		return;
	n = gen_all_names(g, i, names, nitems(names));
	for (size_t j = i; j-- > 0 && i - j < 1500 && found < 4;) {
		const char *add;

		g->budget--;
		if (!gen_is_name(s, j) || !tok_is(s, j + 1, "=") ||
		    (add = adder(s, j + 2)) == NULL)
			continue;
		found++;
		for (size_t m = 0; m < n; m++) {
			if (tok_same(s, j, names[m]))
				continue;
			len = snprintf(text, sizeof text, "%.*s.%s(%.*s)",
			    TOK(s, j), add, TOK(s, names[m]));
			if (len < (int)sizeof text)
				places_put(g, &ps, rank++, len, text, 0, NULL);
		}
	}
}

/* Is o a guard: `if c: return`? Its condition and its body. */
static bool
is_guard(const struct source *s, const struct stmt *o, struct span *ret_cond,
    struct span *ret_body)
{
	const struct stmt *body = o + 1;

	if (o->kind != STMT_HEADER || !tok_is(s, o->first, "if") ||
	    body >= s->stmt + s->n_stmt || body->last - body->first > 24 ||
	    o->last - o->first > 40 || !tok_in(s, body->first, PLACE_LEAVES))
		return false;
	*ret_body = (struct span){ body->first, body->last };
	return expr_condition(s, o, ret_cond);
}

static void
put_guard(struct gen *g, const struct places *ps, int rank, int len,
    const char *cond, struct span body)
{
	char text[PLACE_TEXT_MAX];
	bool py = g->s->dialect == DIALECT_PY;
	int n = snprintf(text, sizeof text,
	    py                ? "if %.*s:"
		: g->s->lines ? "if %.*s {"
			      : "if (%.*s)",
	    len, cond);

	if (n < (int)sizeof text)
		places_put(g, ps, rank, n, text, SPAN(g->s, body.a, body.b));
}

/* A guard that stands elsewhere in the file, as it is or on another name. */
void
op_own_guard(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i), cond, body;
	size_t self = s->tok[i].stmt, n, found = 0;
	uint32_t names[3];
	struct places ps;
	char text[PLACE_TEXT_MAX / 2];
	int rank = 0, len;

	if (!places_find(g, i, &ps))
		return;
	n = gen_all_names(g, i, names, nitems(names));
	for (size_t d = 1; d < 60 && found < 5 && g->budget > 0; d++) {
		for (int side = 0; side < 2; side++) {
			size_t k = side == 0 ? self - d : self + d;

			g->budget--;
			if ((side == 0 && d > self) || k >= s->n_stmt ||
			    !is_guard(s, &s->stmt[k], &cond, &body) ||
			    !gen_known(g, body, block) ||
			    !may_leave(g, i, body.a))
				continue;
			found++;
			if (gen_known(g, cond, block))
				put_guard(g, &ps, rank++,
				    SPAN(s, cond.a, cond.b), body);
			for (size_t t = cond.a; t <= cond.b; t++) {
				if (!gen_is_name(s, t))
					continue;
				for (size_t m = 0; m < n; m++) {
					len = gen_replaced(s, cond, t,
					    TOK(s, names[m]), text,
					    sizeof text);
					if (len > 0)
						put_guard(g, &ps, rank++, len,
						    text, body);
				}
			}
		}
	}
}

static void
put_under(struct gen *g, size_t i, size_t end, const struct place *p, int rank,
    const char *neg, int len, const char *cond)
{
	const struct source *s = g->s;

	if (s->dialect == DIALECT_SH)
		gen_before(
		    g, i, rank, "%s[ -n \"$%.*s\" ] && ", neg, len, cond);
	else if (s->lines)
		gen_put(g, i, end, rank, "if %s%.*s {\n%.*s%s%.*s\n%.*s}", neg,
		    len, cond, p->indent, p->lead, place_unit(p),
		    SPAN(s, i, end), p->indent, p->lead);
	else
		gen_put(g, i, end, rank,
		    s->dialect == DIALECT_PY ? "if %s%.*s:\n%.*s%s%.*s"
					     : "if (%s%.*s)\n%.*s%s%.*s",
		    neg, len, cond, p->indent, p->lead, place_unit(p),
		    SPAN(s, i, end));
}

/* Under a test that what the statement uses is there at all. */
static void
put_granted(struct gen *g, size_t i, size_t end, const struct place *p)
{
	const struct source *s = g->s;
	const char *is = s->dialect == DIALECT_PY ? " is not None"
	    : s->dialect == DIALECT_JS            ? " !== undefined"
						  : " != NULL";
	char text[160];
	int rank = 0, n;

	if (s->dialect == DIALECT_SH)
		return;
	for (size_t k = i; k <= end && rank < 4; k++) {
		size_t e = k;

		if (!gen_is_name(s, k) ||
		    (k > 0 && tok_in(s, k - 1, ". -> ?.")))
			continue;
		/* Members, but not what is called. */
		while (tok_in(s, e + 1, ". ->") &&
		    tok_kind(s, e + 2, TOK_IDENT) && !tok_is(s, e + 3, "("))
			e += 2;
		n = snprintf(text, sizeof text, "%.*s%s", SPAN(s, k, e), is);
		if (n < (int)sizeof text)
			put_under(g, i, end, p, rank, "", n, text);
		if (s->dialect == DIALECT_PY && tok_is(s, e + 1, ".")) {
			n = snprintf(
			    text, sizeof text, "len(%.*s) > 1", SPAN(s, k, e));
			if (n < (int)sizeof text)
				put_under(g, i, end, p, rank + 1, "", n, text);
		}
		rank++;
	}
}

/* A statement that must not always run: under a name, or a condition that
 * another statement near is under. */
void
op_under_if(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	size_t end = st->last, n, self = s->tok[i].stmt;
	uint32_t names[5];
	struct place p;
	struct span c;
	int rank = 2;

	if (i != st->first || st->kind != STMT_SIMPLE ||
	    source_region(s, s->tok[i].line) < 0 || !place_indent(s, i, &p) ||
	    p.indent == 0)
		return;
	if (tok_is(s, end + 1, ";"))
		end++;
	put_granted(g, i, end, &p);
	n = gen_all_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		put_under(g, i, end, &p, (int)k, "", TOK(s, names[k]));
		put_under(g, i, end, &p, (int)k, gen_not(s), TOK(s, names[k]));
	}
	for (size_t d = 1; d < 20 && s->dialect != DIALECT_SH; d++) {
		for (int side = 0; side < 2; side++) {
			size_t k = side == 0 ? self - d : self + d;

			if ((side == 0 && d > self) || k >= s->n_stmt ||
			    s->stmt[k].kind != STMT_HEADER || rank > 6 ||
			    !tok_is(s, s->stmt[k].first, "if") ||
			    !expr_condition(s, &s->stmt[k], &c) ||
			    !gen_known(g, c, gen_block(s, i)))
				continue;
			put_under(g, i, end, &p, rank++, "", SPAN(s, c.a, c.b));
		}
	}
}
