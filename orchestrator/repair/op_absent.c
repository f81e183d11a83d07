/*
 * op_absent.c - a value that is not there, one that is empty and one that is
 * false are told apart; an element is asked for only where there is one.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define TEXT_MAX 200

/* Does what begins at i stand where a condition asks for its truth? */
static bool
is_asked(const struct source *s, size_t i, size_t end)
{
	const struct stmt *st = &s->stmt[s->tok[i].stmt];

	if (end < st->last &&
	    !tok_in(s, end + 1, "and or && || ) : ? ] } ; else {"))
		return false;
	if (i == st->first)
		return false;
	if (tok_in(s, i - 1, "if elif while and or && ||"))
		return true;
	if (tok_is(s, i - 1, "("))
		return (i > 1 && tok_in(s, i - 2, "if while")) ||
		    tok_in(s, end + 1, "and or && ||");
	return tok_in(s, end + 1, "and or && || ?") &&
	    tok_in(s, i - 1, "return = , => :");
}

/* `!x` or `x` of JavaScript and Python, which takes 0 and "" for absent. */
static void
truth(struct gen *g, size_t i, bool no)
{
	static const char *const py[] = { "is not None", "is None" };
	static const char *const js[] = { "!== undefined", "=== undefined",
		"!== null", "=== null", "!== false", "=== false" };
	const struct source *s = g->s;
	size_t a = i + no, e;

	if (!tok_kind(s, a, TOK_IDENT) ||
	    (e = expr_primary_end(s, a)) == EXPR_NONE || !is_asked(s, i, e))
		return;
	if (s->dialect == DIALECT_PY) {
		gen_put(g, i, e, 0, "%.*s %s", SPAN(s, a, e), py[no]);
		return;
	}
	for (size_t k = 0; k < 3; k++)
		gen_put(
		    g, i, e, (int)k, "%.*s %s", SPAN(s, a, e), js[2 * k + no]);
}

/* A comparison with null: the other kinds of nothing, too. */
static void
nothing(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t e, op;
	bool no;

	if ((e = expr_primary_end(s, i)) == EXPR_NONE)
		return;
	op = e + 1;
	if (!tok_in(s, op + 1, "None null undefined NULL") ||
	    (tok_kind(s, op, TOK_OP) && !tok_in(s, op, "== != === !==")))
		return;
	no = tok_in(s, op, "!= !==") || tok_is(s, op, "is not");
	if (!no && !tok_in(s, op, "== === is"))
		return;
	if (s->dialect == DIALECT_C) {
		if (!tok_is(s, op + 1, "NULL") || !tok_kind(s, i, TOK_IDENT))
			return;
		gen_after(g, op + 1, 0,
		    no ? " && *%.*s != '\\0'" : " || *%.*s == '\\0'",
		    SPAN(s, i, e));
		return;
	}
	if (s->dialect == DIALECT_JS && tok_in(s, op, "=== !=="))
		gen_put(g, op, op + 1, 0, "%s", no ? "!= null" : "== null");
	gen_put(g, i, op + 1, 1, "%s%.*s", no ? "" : gen_not(s), SPAN(s, i, e));
}

void
op_absent(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	bool no = tok_in(s, i, "not !");

	if (i == 0 || (!no && !tok_kind(s, i, TOK_IDENT)) ||
	    tok_in(s, i - 1, ". -> ?. :: not !"))
		return;
	if (!no)
		nothing(g, i);
	if (s->dialect & (DIALECT_PY | DIALECT_JS))
		truth(g, i, no);
}

/* How the length of a..b is asked for; false: that is not known. */
static bool
length_of(struct gen *g, size_t a, size_t b, char *dst, size_t size)
{
	static const char names[] = "len n size length count used";
	const struct source *s = g->s;
	struct span block = gen_block(s, a);
	int n;

	if (s->dialect == DIALECT_PY)
		n = snprintf(dst, size, "len(%.*s)", SPAN(s, a, b));
	else if (s->dialect == DIALECT_JS)
		n = snprintf(dst, size, "%.*s.length", SPAN(s, a, b));
	else { /* x.data[0], beside it x.len */
		size_t j;

		if (b < a + 2 || !tok_in(s, b - 1, ". ->"))
			return false;
		for (j = block.a; j < block.b; j++) {
			g->budget--;
			if (tok_same(s, j, b - 2) && tok_in(s, j + 1, ". ->") &&
			    tok_in(s, j + 2, names))
				break;
		}
		if (j >= block.b)
			return false;
		n = snprintf(
		    dst, size, "%.*s%.*s", SPAN(s, a, b - 1), TOK(s, j + 2));
	}
	return n > 0 && (size_t)n < size;
}

/* `x[0] == y` -> `len(x) > 0 and x[0] == y` */
void
op_length(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	char len[TEXT_MAX / 2], text[TEXT_MAX];
	struct span p;
	size_t done = EXPR_NONE;
	int rank, from = 0, n;
	bool last = false;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	for (size_t j = p.a + 1; j < p.b; j++)
		last |= tok_is(s, j, "[") && tok_is(s, j + 1, "-");
	for (size_t j = p.a + 1; j < p.b; j++) {
		size_t a, k = j + 1 + tok_is(s, j + 1, "-");

		if (!tok_is(s, j, "[") || !expr_is_end(s, j - 1) ||
		    (a = expr_primary_start(s, j - 1)) == EXPR_NONE ||
		    a < p.a || j - a > 8)
			continue;
		if (tok_kind(s, k, TOK_NUMBER) && tok_is(s, k + 1, "]") &&
		    s->tok[k].len == 1)
			from = s->text[s->tok[k].off] - '0';
		else if (s->dialect != DIALECT_C)
			continue;
		if (done != EXPR_NONE && tok_same(s, a, done))
			continue;
		done = a;
		if (!length_of(g, a, j - 1, len, sizeof len))
			continue;
		for (int more = 0; more < 2; more++) {
			n = snprintf(
			    text, sizeof text, "%s > %d", len, from + more);
			if (n < (int)sizeof text)
				gen_clause(g, p, gen_and(s), true,
				    rank + (more != (int)last), n, text);
		}
	}
}
