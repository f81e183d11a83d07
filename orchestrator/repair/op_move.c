/*
 * op_move.c - a statement in another place: before or behind its neighbour,
 * out of the block that it begins or ends, or into the one before it.
 */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

static bool
is_blank_between(const struct source *s, size_t a, size_t b)
{
	size_t from = s->tok[a].off + s->tok[a].len;

	for (size_t p = from; p < s->tok[b].off; p++)
		if (strchr(" \t\r\n", s->text[p]) == NULL)
			return false;
	return true;
}

/* The token before i that is no newline; EXPR_NONE: there is none, or a
 * comment stands between. */
static size_t
token_before(const struct source *s, size_t i)
{
	size_t k = i;

	while (k-- > 0 && tok_kind(s, k, TOK_NEWLINE))
		;
	return k < i && is_blank_between(s, k, i) ? k : EXPR_NONE;
}

static size_t
token_behind(const struct source *s, size_t i)
{
	size_t k = i + 1;

	while (tok_kind(s, k, TOK_NEWLINE))
		k++;
	return k;
}

/* A statement on a line of its own; ret: its place. */
static bool
stands_alone(const struct source *s, size_t k, struct place *ret)
{
	const struct stmt *st = &s->stmt[k];

	return k < s->n_stmt && st->kind == STMT_SIMPLE &&
	    !tok_in(s, st->first, PLACE_LEAVES) &&
	    !tok_in(s, st->first, "pass fallthrough") &&
	    source_region(s, s->tok[st->first].line) >= 0 &&
	    place_indent(s, st->first, ret) && ret->indent > 0;
}

static void
with_next(struct gen *g, size_t self, const struct place *p)
{
	const struct source *s = g->s;
	const struct stmt *a = &s->stmt[self], *b = a + 1;
	struct place next;

	if (!stands_alone(s, self + 1, &next) || next.indent != p->indent ||
	    s->tok[b->first].line == s->tok[a->first].line ||
	    !is_blank_between(
		s, a->last + tok_is(s, a->last + 1, ";"), b->first))
		return;
	gen_swap(g, (struct span){ a->first, a->last },
	    (struct span){ b->first, b->last }, 0);
}

/* Braces: tokens a..b with the statement before or behind them. */
static void
put_braces(struct gen *g, size_t from, size_t to, int rank, struct span head,
    const struct place *p, struct span st, bool before)
{
	const struct source *s = g->s;
	const char *semi = s->lines ? "" : ";";

	if (before)
		gen_put(g, from, to, rank, "%.*s%s\n%.*s%.*s",
		    SPAN(s, st.a, st.b), semi, p->indent, p->lead,
		    SPAN(s, head.a, head.b));
	else
		gen_put(g, from, to, rank, "%.*s\n%.*s}\n%.*s%.*s%s",
		    SPAN(s, head.a, head.b), p->indent, p->lead, p->indent,
		    p->lead, SPAN(s, st.a, st.b), semi);
}

static void
out_of_braces(struct gen *g, const struct stmt *st)
{
	const struct source *s = g->s;
	const struct span c = { st->first, st->last };
	size_t end = st->last + tok_is(s, st->last + 1, ";");
	size_t before = token_before(s, st->first), behind, head;
	struct place p;

	behind = token_behind(s, end);
	if (before == EXPR_NONE || behind >= s->n_tok ||
	    !is_blank_between(s, end, behind))
		return;
	/* Behind the block whose last statement it is. */
	if (tok_is(s, behind, "}") && tok_flag(s, behind, TF_BLOCK) &&
	    !tok_is(s, before, "{") && place_indent(s, behind, &p) &&
	    p.indent > 0 &&
	    !tok_in(s, token_behind(s, behind), "else catch finally while"))
		put_braces(g, before, behind, 1,
		    (struct span){ (uint32_t)before, (uint32_t)before }, &p, c,
		    false);
	/* Before the head of the one that it begins. */
	if (!tok_is(s, before, "{") || tok_is(s, behind, "}") || before == 0)
		return;
	head = s->stmt[s->tok[before - 1].stmt].first;
	if (s->stmt[s->tok[head].stmt].kind == STMT_HEADER &&
	    tok_in(s, head, "if for while switch") && place_indent(s, head, &p))
		put_braces(g, head, end, 2,
		    (struct span){ (uint32_t)head, (uint32_t)before }, &p, c,
		    true);
}

static void
into_braces(struct gen *g, const struct stmt *st)
{
	const struct source *s = g->s;
	size_t end = st->last + tok_is(s, st->last + 1, ";");
	size_t close = token_before(s, st->first), last;
	struct place own, inner;

	if (close == EXPR_NONE || !tok_is(s, close, "}") ||
	    !tok_flag(s, close, TF_BLOCK) || s->tok[close].match < 0 ||
	    !place_indent(s, close, &own))
		return;
	last = token_before(s, close);
	if (last == EXPR_NONE || tok_in(s, last, "{ }") ||
	    !place_indent(s, s->stmt[s->tok[last].stmt].first, &inner))
		return;
	gen_put(g, last, end, 4, "%.*s\n%.*s%.*s%s\n%.*s}", TOK(s, last),
	    inner.indent, inner.lead, SPAN(s, st->first, st->last),
	    s->lines ? "" : ";", own.indent, own.lead);
}

/* Python: the same statement at another indentation, or before the head. */
static void
reindent(struct gen *g, size_t self, const struct place *p)
{
	const struct source *s = g->s;
	const struct stmt *st = &s->stmt[self];
	size_t before = token_before(s, st->first), k = self;
	struct place prev, head, next = { 0 };
	bool last;

	if (before == EXPR_NONE || self == 0 ||
	    !place_indent(s, s->stmt[self - 1].first, &prev))
		return;
	if (self + 1 < s->n_stmt &&
	    !place_indent(s, s->stmt[self + 1].first, &next))
		return;
	if (prev.indent > p->indent) { /* into the block before it */
		gen_put(g, before, st->last, 4, "%.*s\n%.*s%.*s",
		    TOK(s, before), prev.indent, prev.lead,
		    SPAN(s, st->first, st->last));
		return;
	}
	while (k-- > 0)
		if (place_indent(s, s->stmt[k].first, &head) &&
		    head.indent < p->indent)
			break;
	if (k >= self || s->stmt[k].kind != STMT_HEADER || head.indent == 0)
		return;
	last = next.indent <= head.indent;
	if (last && k + 1 < self &&
	    !tok_in(s, st->last + 2, "else elif except finally"))
		gen_put(g, before, st->last, 1, "%.*s\n%.*s%.*s",
		    TOK(s, before), head.indent, head.lead,
		    SPAN(s, st->first, st->last));
	if (!last && k + 1 == self &&
	    tok_in(s, s->stmt[k].first, "if for while"))
		gen_put(g, s->stmt[k].first, st->last, 2, "%.*s\n%.*s%.*s",
		    SPAN(s, st->first, st->last), head.indent, head.lead,
		    SPAN(s, s->stmt[k].first, s->stmt[k].last));
}

void
op_move(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t self = s->tok[i].stmt;
	struct place p;

	if (i != gen_stmt(g, i)->first || !stands_alone(s, self, &p))
		return;
	with_next(g, self, &p);
	/* Where it is, it may be that it is not executed. */
	if (self + 1 < s->n_stmt)
		g->also = s->stmt[self + 1].first;
	if (s->dialect == DIALECT_PY) {
		reindent(g, self, &p);
	} else if (s->dialect != DIALECT_SH) {
		out_of_braces(g, &s->stmt[self]);
		into_braces(g, &s->stmt[self]);
	}
	g->also = 0;
}
