/* place.c - see place.h. */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

bool
place_indent(const struct source *s, size_t i, struct place *ret)
{
	size_t line = s->line_off[s->tok[i].line - 1];
	size_t n = s->tok[i].off - line;

	if (n > 80)
		return false;
	for (size_t k = 0; k < n; k++) {
		if (s->text[line + k] != ' ' && s->text[line + k] != '\t')
			return false;
	}
	ret->after = EXPR_NONE;
	ret->indent = (int)n;
	ret->lead = s->text + line;
	return true;
}

const char *
place_unit(const struct place *p)
{
	if (p->indent > 0 && p->lead[0] == '\t')
		return "\t";
	return p->indent % 4 == 0 ? "    " : "  ";
}

static void
add_place(struct places *ps, const struct place *p, size_t after)
{
	if (ps->n == PLACES_MAX)
		return;
	ps->v[ps->n] = *p;
	ps->v[ps->n++].after = after;
}

/* Python: behind the last statement of a body, at its own indentation and at
 * those of the bodies that end there too. */
static void
ends_python(struct places *ps, const struct source *s, const struct stmt *st,
    const struct place *own)
{
	size_t self = s->tok[st->first].stmt, k = self;
	struct place p = *own, next = { 0 };
	int most = own->indent + 1;

	if (self + 1 < s->n_stmt &&
	    !place_indent(s, s->stmt[self + 1].first, &next))
		return;
	for (int n = 0; n < 200 && ps->n < PLACES_MAX; n++, k--) {
		if (place_indent(s, s->stmt[k].first, &p) && p.indent < most &&
		    p.indent > next.indent) {
			most = p.indent;
			add_place(ps, &p, st->last);
		}
		if (k == 0 || p.indent <= next.indent)
			break;
	}
}

/* Braces: behind the last statement of a block, and behind the blocks that end
 * a block themselves. */
static void
ends_braces(struct places *ps, const struct source *s, size_t end,
    const struct place *own)
{
	struct place p = *own;
	size_t j = end;

	for (int n = 0; n < 4; n++) {
		size_t k = j + 1;

		while (tok_kind(s, k, TOK_NEWLINE))
			k++;
		if (!tok_is(s, k, "}") || !tok_flag(s, k, TF_BLOCK))
			return;
		add_place(ps, &p, j);
		if (!place_indent(s, k, &p) || tok_in(s, k + 1, "else catch"))
			return;
		j = k;
	}
}

bool
places_find(struct gen *g, size_t i, struct places *ps)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	size_t end = st->last, self = s->tok[i].stmt;
	struct place p;

	*ps = (struct places){ .stmt = i, .semi = "" };
	if (i != st->first || source_region(s, s->tok[i].line) < 0 ||
	    !place_indent(s, i, &p) || p.indent == 0)
		return false;
	if (tok_is(s, end + 1, ";"))
		end++;
	if ((s->dialect == DIALECT_C && !s->lines) ||
	    (s->dialect == DIALECT_JS &&
		(end > st->last || st->kind == STMT_HEADER)))
		ps->semi = ";";
	/* The only statement of a head without braces is no place. */
	if (s->dialect & (DIALECT_C | DIALECT_JS) && self > 0 && i > 0 &&
	    s->stmt[self - 1].kind == STMT_HEADER &&
	    !tok_flag(s, i - 1, TF_BLOCK) && !tok_is(s, i - 1, ":"))
		return false;
	if (!tok_in(s, i, "else elif except finally catch case default do"))
		add_place(ps, &p, EXPR_NONE);
	if (st->kind == STMT_HEADER || tok_in(s, i, PLACE_LEAVES))
		return ps->n > 0;
	if (s->dialect == DIALECT_PY)
		ends_python(ps, s, st, &p);
	else if (s->dialect == DIALECT_SH) {
		size_t k = end + 1;

		while (tok_kind(s, k, TOK_NEWLINE))
			k++;
		if (tok_in(s, k, "fi done } else elif ;; esac"))
			add_place(ps, &p, end);
	} else {
		ends_braces(ps, s, end, &p);
	}
	return ps->n > 0;
}

void
places_put(struct gen *g, const struct places *ps, int rank, int len,
    const char *text, int body_len, const char *body)
{
	bool braces = len > 0 && text[len - 1] == '{';

	for (size_t k = 0; k < ps->n; k++) {
		const struct place *p = &ps->v[k];
		char two[PLACE_TEXT_MAX] = "";

		if (body != NULL &&
		    snprintf(two, sizeof two, "\n%.*s%s%.*s%s%s%.*s%s",
			p->indent, p->lead, place_unit(p), body_len, body,
			ps->semi, braces ? "\n" : "", braces ? p->indent : 0,
			p->lead, braces ? "}" : "") >= (int)sizeof two)
			continue;
		if (p->after == EXPR_NONE)
			gen_before(g, ps->stmt, rank, "%.*s%s%s\n%.*s", len,
			    text, body == NULL ? ps->semi : "", two, p->indent,
			    p->lead);
		else
			gen_after(g, p->after, rank, "\n%.*s%.*s%s%s",
			    p->indent, p->lead, len, text,
			    body == NULL ? ps->semi : "", two);
	}
}
