/*
 * op_file.c - operators that bring in what other functions of the file have: a
 * statement, a member; and what sets a counter or collection back.
 */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

#define TEXT_MAX 200

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

static bool
is_sh_guard(const struct source *s, const struct stmt *st)
{
	for (size_t i = st->first; i < st->last; i++)
		if (tok_is(s, i, "||") &&
		    tok_in(s, i + 1, "return exit continue"))
			return true;
	return false;
}

/* Statements of the file that are known here, nearest first: guards only, or
 * all. */
static void
put_statements(struct gen *g, size_t i, const struct places *ps, bool guards)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i), got[8], c;
	size_t self = s->tok[i].stmt, n = 0;

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
			    source_region(s, s->tok[o->first].line) < 0 ||
			    (guards && !is_sh_guard(s, o)))
				continue;
			c = (struct span){ o->first, o->last };
			if (is_among(s, c, got, n) ||
			    (s->dialect != DIALECT_SH &&
				!gen_known(g, c, block)))
				continue;
			places_put(g, ps, (int)n, SPAN(s, c.a, c.b), 0, NULL);
			got[n++] = c;
		}
	}
}

/* A statement of another function, or from further off in this one. */
void
op_file_statement(struct gen *g, size_t i)
{
	struct places ps;

	if (places_find(g, i, &ps))
		put_statements(g, i, &ps, false);
}

/* Of a shell's statements, a guard `f "$x" || return` is what is forgotten
 * first. */
void
op_sh_guard(struct gen *g, size_t i)
{
	struct places ps;

	if (places_find(g, i, &ps))
		put_statements(g, i, &ps, true);
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

/* Is the statement k a reset of a member of what c is a member of? */
static bool
resets_beside(const struct source *s, size_t k, struct span c)
{
	const struct stmt *st = &s->stmt[k];

	return k < s->n_stmt && c.b > c.a && tok_same(s, st->first, c.a) &&
	    tok_same(s, st->first + 1, c.a + 1) &&
	    tok_is(s, st->first + 3, "=") &&
	    (tok_in(s, st->first + 4, "0 nil NULL null None [ { false False") ||
		tok_kind(s, st->first + 4, TOK_STRING));
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
	bool counter, beside;

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
			beside = resets_beside(s, s->tok[i].stmt, c) ||
			    (s->tok[i].stmt > 0 &&
				resets_beside(s, s->tok[i].stmt - 1, c));
			if (len < (int)sizeof text)
				places_put(g, &ps, beside ? 0 : (int)n + 1, len,
				    text, 0, NULL);
			n++;
		}
	}
}

static bool
is_property(const struct gen *g, size_t name)
{
	for (size_t k = 0; k < g->n_property; k++)
		if (g->property[k] == name)
			return true;
	return false;
}

/* `self.x` -> `self.m()`, with methods of the file that need no argument. */
void
op_accessor(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	int r = source_region(s, s->tok[i].line), rank = 0;

	if (r < 0 || !tok_in(s, i, "self this") || !tok_is(s, i + 1, ".") ||
	    !tok_kind(s, i + 2, TOK_IDENT) ||
	    tok_in(s, i + 3, "( = . [ += -= ++ --"))
		return;
	for (size_t d = 1; d < 20 && rank < 4; d++) {
		for (int side = 0; side < 2; side++) {
			size_t k = side == 0 ? (size_t)r + d : (size_t)r - d;
			size_t head, name;

			if ((side == 1 && d > (size_t)r) || k >= s->n_region)
				continue;
			head = s->region[k].first_tok;
			name = head > 8 ? head - 8 : 0;
			while (name < head &&
			    s->tok[name].line < s->region[k].first_line)
				name++;
			if (tok_in(s, name, "def async get static"))
				name++;
			if (!tok_kind(s, name, TOK_IDENT) ||
			    !tok_is(s, name + 1, "(") ||
			    !(tok_is(s, name + 2, ")") ||
				(tok_is(s, name + 2, "self") &&
				    tok_is(s, name + 3, ")"))) ||
			    tok_same(s, name, i + 2) ||
			    s->text[s->tok[name].off] == '_')
				continue;
			gen_put(g, i, i + 2, rank++, "%.*s.%.*s%s", TOK(s, i),
			    TOK(s, name), is_property(g, name) ? "" : "()");
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
