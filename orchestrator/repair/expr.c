#include "common/compat.h"

#include "orchestrator/repair/expr.h"

#define WALK_MAX 120

bool
expr_is_end(const struct source *s, size_t i)
{
	const struct token *t;

	if (i >= s->n_tok)
		return false;
	t = &s->tok[i];
	if (t->flags & TF_CHUNK)
		return false;
	switch ((enum tok_kind)t->kind) {
	case TOK_IDENT:
	case TOK_NUMBER:
	case TOK_STRING:
		return true;
	case TOK_KEYWORD:
		return t->flags & TF_VALUE;
	case TOK_OP:
		return tok_in(s, i, ") ]") ||
		    (tok_is(s, i, "}") && !(t->flags & TF_BLOCK));
	case TOK_DIRECTIVE:
	case TOK_NEWLINE:
		break;
	}
	return false;
}

bool
expr_is_prefix(const struct source *s, size_t i)
{
	if (!tok_in(s, i,
		"- + ! ~ not * & ++ -- ** new await typeof delete sizeof"))
		return false;
	if (tok_in(s, i, "not ! ~ new await typeof delete sizeof"))
		return true;
	return i == 0 || !expr_is_end(s, i - 1);
}

bool
expr_is_start(const struct source *s, size_t i)
{
	/* Behind an operand they are of a call or an index. */
	if (tok_in(s, i, "( [") && s->dialect != DIALECT_SH)
		return i == 0 || !expr_is_end(s, i - 1);
	if (tok_in(s, i, "( [") ||
	    (tok_is(s, i, "{") && !tok_flag(s, i, TF_BLOCK)))
		return true;
	if (tok_in(s, i, ") ] }"))
		return false;
	return expr_is_end(s, i) || expr_is_prefix(s, i);
}

static int
python_prec(const struct source *s, size_t i)
{
	static const char *const levels[] = { "or", "and",
		"== != < <= > >= in is", "|", "^", "&", "<< >>", "+ -",
		"* / % // @", "**" };
	static const int prec[] = { 1, 2, 4, 5, 6, 7, 8, 9, 10, 12 };

	if (s->tok[i].len == 6 &&
	    (tok_is(s, i, "not in") || tok_is(s, i, "is not")))
		return 4;
	for (size_t k = 0; k < nitems(levels); k++) {
		if (tok_in(s, i, levels[k]))
			return prec[k];
	}
	return 0;
}

static int
brace_prec(const struct source *s, size_t i)
{
	static const char *const levels[] = { "|| ?\?", "&&", "|", "^", "&",
		"== != === !==", "< <= > >= instanceof", "<< >> >>>", "+ -",
		"* / %", "**" };
	static const int prec[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12 };

	for (size_t k = 0; k < nitems(levels); k++) {
		if (tok_in(s, i, levels[k]))
			return prec[k];
	}
	return 0;
}

/* `List<String>`: a less-than that has its bracket twin nearby. */
static bool
is_generic(const struct source *s, size_t i)
{
	size_t j = i;

	if (s->dialect == DIALECT_PY || s->dialect == DIALECT_SH)
		return false;
	if (s->text[s->tok[i].off > 0 ? s->tok[i].off - 1 : 0] == ' ')
		return false;
	if (tok_is(s, i, "<")) {
		while (++j < i + 10 &&
		    (tok_kind(s, j, TOK_IDENT) || tok_flag(s, j, TF_TYPE) ||
			tok_in(s, j, ", . ? [ ] & * <")))
			;
		return tok_in(s, j, "> >>");
	}
	while (j-- > 0 && j + 10 > i &&
	    (tok_kind(s, j, TOK_IDENT) || tok_flag(s, j, TF_TYPE) ||
		tok_in(s, j, ", . ? [ ] & *")))
		;
	return j < i && tok_is(s, j, "<") && tok_is(s, i, ">");
}

bool
expr_is_bound(const struct source *s, size_t i)
{
	size_t j = i;

	if (s->dialect != DIALECT_PY && s->dialect != DIALECT_JS)
		return false;
	while (j-- > 0 && i - j < 12 &&
	    (tok_kind(s, j, TOK_IDENT) || tok_in(s, j, ", ( ) [ ]")))
		;
	if (j >= i || (!tok_is(s, j, "for") && !tok_is(s, j, "lambda")))
		return false;
	if (tok_is(s, j, "lambda"))
		return true;
	for (j = i + 1; j < i + 12; j++) {
		if (tok_in(s, j, "in of"))
			return true;
		if (!tok_kind(s, j, TOK_IDENT) && !tok_in(s, j, ", ( ) [ ]"))
			return false;
	}
	return false;
}

/* Python: the `in` of `for x in y`. */
static bool
is_for_in(const struct source *s, size_t i)
{
	for (size_t j = i; j-- > 0 && i - j < 16;) {
		if (tok_is(s, j, "for"))
			return true;
		if (!tok_kind(s, j, TOK_IDENT) && !tok_in(s, j, ", ( ) _ *"))
			return false;
	}
	return false;
}

static int
find_prec(const struct source *s, size_t i)
{
	const struct token *t;

	if (i == 0 || i + 1 >= s->n_tok || s->tok[i].kind != TOK_OP)
		return 0;
	t = &s->tok[i];
	if (s->dialect == DIALECT_SH && !(t->flags & TF_ARITH)) {
		if (tok_is(s, i, "||"))
			return 1;
		return tok_is(s, i, "&&") ? 2 : 0;
	}
	if (!expr_is_end(s, i - 1) || !expr_is_start(s, i + 1))
		return 0;
	if (tok_in(s, i, "< > >>") && is_generic(s, i))
		return 0;
	if (s->dialect != DIALECT_PY)
		return brace_prec(s, i);
	if (tok_is(s, i, "in") && is_for_in(s, i))
		return 0;
	return python_prec(s, i);
}

int
expr_prec(const struct source *s, size_t i)
{
	return i < s->n_tok ? s->tok[i].prec : 0;
}

void
source_precedence(struct source *s)
{
	for (size_t i = 0; i < s->n_tok; i++)
		s->tok[i].prec = (uint8_t)find_prec(s, i);
}

size_t
expr_primary_start(const struct source *s, size_t i)
{
	if (!expr_is_end(s, i))
		return EXPR_NONE;
	for (int n = 0; n < WALK_MAX; n++) {
		if (tok_in(s, i, ") ] }")) {
			if (s->tok[i].match < 0)
				return EXPR_NONE;
			i = (size_t)s->tok[i].match;
			if (i == 0 || tok_is(s, i, "{"))
				return i;
			if (tok_kind(s, i - 1, TOK_IDENT) ||
			    tok_in(s, i - 1, ") ]") ||
			    tok_flag(s, i - 1, TF_VALUE)) {
				i--;
				continue;
			}
			return i;
		}
		if (i >= 2 && tok_in(s, i - 1, ". -> :: ?.") &&
		    expr_is_end(s, i - 2)) {
			i -= 2;
			continue;
		}
		return i;
	}
	return EXPR_NONE;
}

size_t
expr_primary_end(const struct source *s, size_t i)
{
	int n = 0;

	while (expr_is_prefix(s, i) && n++ < 8)
		i++;
	if (!expr_is_start(s, i) || expr_is_prefix(s, i))
		return EXPR_NONE;
	if (tok_in(s, i, "( [ {")) {
		if (s->tok[i].match < 0)
			return EXPR_NONE;
		i = (size_t)s->tok[i].match;
	}
	for (n = 0; n < WALK_MAX; n++) {
		if (tok_in(s, i + 1, ". -> :: ?.") &&
		    tok_kind(s, i + 2, TOK_IDENT)) {
			i += 2;
		} else if (tok_in(s, i + 1, "( [") && s->tok[i + 1].match > 0) {
			i = (size_t)s->tok[i + 1].match;
		} else if (tok_in(s, i + 1, "++ --")) {
			i++;
		} else {
			return i;
		}
	}
	return EXPR_NONE;
}

/* A shell's list: from the last `&&`, `||` or head word to the next. */
static size_t
shell_side(const struct source *s, size_t i, int step)
{
	size_t j = i;

	for (int n = 0; n < WALK_MAX; n++) {
		size_t k = j + (size_t)step;

		if (k >= s->n_tok || s->tok[k].stmt != s->tok[i].stmt ||
		    s->tok[k].kind == TOK_NEWLINE ||
		    tok_in(s, k,
			"&& || ; | [[ ]] if while until elif ( ) then do"))
			return j == i ? EXPR_NONE : j;
		j = k;
	}
	return EXPR_NONE;
}

size_t
expr_left(const struct source *s, size_t op)
{
	int prec = expr_prec(s, op);
	size_t j = op - 1, a;

	if (prec == 0)
		return EXPR_NONE;
	if (s->dialect == DIALECT_SH && !tok_flag(s, op, TF_ARITH))
		return shell_side(s, op, -1);
	for (int n = 0; n < WALK_MAX; n++) {
		if ((a = expr_primary_start(s, j)) == EXPR_NONE)
			return EXPR_NONE;
		while (a > 0 && expr_is_prefix(s, a - 1) &&
		    (!tok_is(s, a - 1, "not") || prec < 3))
			a--;
		if (a == 0 || expr_prec(s, a - 1) < prec)
			return a;
		j = a - 2;
	}
	return EXPR_NONE;
}

size_t
expr_right(const struct source *s, size_t op)
{
	int prec = expr_prec(s, op), p;
	size_t j = op + 1, b;

	if (prec == 0)
		return EXPR_NONE;
	if (s->dialect == DIALECT_SH && !tok_flag(s, op, TF_ARITH))
		return shell_side(s, op, 1);
	for (int n = 0; n < WALK_MAX; n++) {
		if ((b = expr_primary_end(s, j)) == EXPR_NONE)
			return EXPR_NONE;
		p = expr_prec(s, b + 1);
		if (p <= prec)
			return b;
		j = b + 2;
	}
	return EXPR_NONE;
}

size_t
expr_elements(const struct source *s, size_t open, const char *sep,
    struct span *ret, size_t max)
{
	size_t n = 0, from = open + 1, end;

	if (open >= s->n_tok || s->tok[open].match <= (int32_t)open + 1)
		return 0;
	end = (size_t)s->tok[open].match;
	for (size_t i = from; i <= end; i++) {
		if (i < end && tok_in(s, i, "( [ {") &&
		    s->tok[i].match > (int32_t)i) {
			i = (size_t)s->tok[i].match;
			continue;
		}
		if (i < end && !tok_is(s, i, sep))
			continue;
		if (i == from)
			return i == end ? n : 0; /* a comma at the end */
		if (n == max)
			return 0;
		ret[n++] = (struct span){ (uint32_t)from, (uint32_t)i - 1 };
		from = i + 1;
	}
	return n;
}

size_t
expr_enclosing(const struct source *s, size_t i)
{
	size_t first = s->n_stmt > 0 ? s->stmt[s->tok[i].stmt].first : 0;

	for (size_t j = i; j-- > first && j + 500 > i;) {
		if (tok_in(s, j, ") ] }") && s->tok[j].match >= 0)
			j = (size_t)s->tok[j].match;
		else if (tok_in(s, j, "( [ {"))
			return j;
	}
	return EXPR_NONE;
}

bool
expr_condition(const struct source *s, const struct stmt *st, struct span *ret)
{
	size_t a = st->first, b = st->last;

	if (tok_in(s, a, "} else"))
		a++;
	if (!tok_in(s, a, "if elif while until unless elsif assert"))
		return false;
	a++;
	if (s->dialect == DIALECT_PY && tok_is(s, b, ":"))
		b--;
	if (s->dialect != DIALECT_PY && s->dialect != DIALECT_SH &&
	    tok_is(s, a, "(") && s->tok[a].match == (int32_t)b) {
		a++;
		b--;
	}
	if (b < a || b >= s->n_tok)
		return false;
	*ret = (struct span){ (uint32_t)a, (uint32_t)b };
	return true;
}

bool
expr_is_call(const struct source *s, size_t open)
{
	if (open == 0 || !tok_is(s, open, "(") || s->n_stmt == 0)
		return false;
	if (!tok_kind(s, open - 1, TOK_IDENT) && !tok_in(s, open - 1, ") ]") &&
	    !tok_flag(s, open - 1, TF_VALUE))
		return false;
	return s->stmt[s->tok[open].stmt].kind != STMT_DEF;
}

bool
expr_value(const struct source *s, const struct stmt *st, struct span *ret)
{
	size_t a = st->first, b = st->last;

	if (tok_in(s, a, "return yield")) {
		a++;
	} else {
		for (; a < b && !tok_is(s, a, "=") && !tok_is(s, a, ":=");
		     a++) {
			if (tok_in(s, a, "( {") && s->tok[a].match > 0)
				a = (size_t)s->tok[a].match;
			if (a >= b)
				return false;
		}
		if (a >= b)
			return false;
		a++;
	}
	if (a > b || b >= s->n_tok || st->kind == STMT_HEADER)
		return false;
	*ret = (struct span){ (uint32_t)a, (uint32_t)b };
	return true;
}
