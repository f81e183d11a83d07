/* op_value.c - operators that change an operator, a constant or a word. */
#include "common/compat.h"

#include <ctype.h>
#include <inttypes.h>

#include "common/text.h"
#include "orchestrator/repair/gen.h"
#include "orchestrator/repair/word.h"

/* Replace token i by the words of list, best first; skip: one not to take. */
static void
put_words(struct gen *g, size_t i, const char *list, int rank, int skip)
{
	const char *w;
	size_t len;

	for (int n = 0; (w = word_at(list, n, &len)) != NULL; n++) {
		if (n != skip)
			gen_put(g, i, i, rank++, "%.*s", (int)len, w);
	}
}

void
op_pair(struct gen *g, size_t i)
{
	static const char *const pairs[] = { "and or", "&& ||", "True False",
		"true false", "any all", "min max", "break continue",
		"some every", "push unshift", "-n -z", "Math.min Math.max",
		"fmin fmax", "MIN MAX", "INT_MIN INT_MAX" };
	const struct source *s = g->s;

	for (size_t k = 0; k < nitems(pairs); k++) {
		int n =
		    word_find(pairs[k], s->text + s->tok[i].off, s->tok[i].len);

		if (n >= 0)
			put_words(g, i, pairs[k], 0, n);
	}
	if (tok_in(s, i, "and &&") && !tok_same(s, i, i - 1)) {
		/* Every one of the line at once, if there are more. */
		size_t j = i + 1, last = i;
		char text[512];
		int at = 0;

		while (j < s->n_tok && s->tok[j].line == s->tok[i].line) {
			if (tok_same(s, i, j))
				last = j;
			j++;
		}
		if (last == i)
			return;
		for (j = i; j <= last && at < (int)sizeof text; j++) {
			size_t gap = j < last
			    ? s->tok[j + 1].off - s->tok[j].off - s->tok[j].len
			    : 0;

			at += snprintf(text + at, sizeof text - (size_t)at,
			    "%.*s%.*s",
			    tok_same(s, i, j) ? 2 : (int)s->tok[j].len,
			    tok_same(s, i, j) ? gen_or(s)
					      : s->text + s->tok[j].off,
			    (int)gap, s->text + s->tok[j].off + s->tok[j].len);
		}
		if (at < (int)sizeof text)
			gen_put(g, i, last, 1, "%s", text);
	}
}

/* The other relations for this one, boundary twin first. */
static const char *
relations(const struct source *s, size_t i)
{
	static const struct {
		const char *of, *others;
	} rel[] = { { "<", "<= > >= != ==" }, { "<=", "< >= > == !=" },
		{ ">", ">= < <= != ==" }, { ">=", "> <= < == !=" },
		{ "==", "!= >= <= > <" }, { "!=", "== > < >= <=" },
		{ "===", "!== >= <= > <" }, { "!==", "=== > < >= <=" },
		{ "-lt", "-le -gt -ge -ne -eq" },
		{ "-le", "-lt -ge -gt -eq -ne" },
		{ "-gt", "-ge -lt -le -ne -eq" },
		{ "-ge", "-gt -le -lt -eq -ne" },
		{ "-eq", "-ne -ge -le -gt -lt" },
		{ "-ne", "-eq -gt -lt -ge -le" } };
	const char *op = s->text + s->tok[i].off;

	for (size_t k = 0; k < nitems(rel); k++) {
		if (tok_is(s, i, rel[k].of))
			return *op == '-' || expr_prec(s, i) > 0 ? rel[k].others
								 : NULL;
	}
	return NULL;
}

/* Shell: inside [ ] or [[ ]]. */
static bool
in_test(const struct gen *g, size_t i)
{
	for (size_t j = i; j-- > gen_stmt(g, i)->first;) {
		if (tok_in(g->s, j, "[ [["))
			return true;
	}
	return false;
}

void
op_relation(struct gen *g, size_t i)
{
	const char *others = relations(g->s, i);

	if (others != NULL)
		put_words(g, i, others, 0, -1);
	else if (g->s->dialect == DIALECT_SH && tok_in(g->s, i, "= == !=") &&
	    in_test(g, i))
		put_words(g, i, tok_is(g->s, i, "!=") ? "=" : "!=", 0, -1);
}

/* A plain decimal or hexadecimal whole number. */
static bool
integer(const struct source *s, size_t i, long long *ret)
{
	char text[24], *end;
	const struct token *t;

	if (!tok_kind(s, i, TOK_NUMBER) || s->tok[i].len >= sizeof text)
		return false;
	t = &s->tok[i];
	memcpy(text, s->text + t->off, t->len);
	text[t->len] = '\0';
	if (strlen(text) > 16)
		return false;
	*ret = strtoll(text, &end, text[1] == 'x' ? 16 : 10);
	return *end == '\0' || (strchr("uUlL", *end) && strlen(end) < 4);
}

void
op_relation_const(struct gen *g, size_t i)
{
	const char *others = relations(g->s, i), *w;
	long long v;
	size_t len;

	if (others == NULL || !integer(g->s, i + 1, &v))
		return;
	for (int n = 0; (w = word_at(others, n, &len)) != NULL; n++) {
		gen_put(g, i, i + 1, n, "%.*s %lld", (int)len, w, v + 1);
		gen_put(g, i, i + 1, n, "%.*s %lld", (int)len, w, v - 1);
	}
}

void
op_const(struct gen *g, size_t i)
{
	static const long long plain[] = { 0, 1, 2, -1 };
	const struct source *s = g->s;
	const char *fmt = "%lld";
	bool negative =
	    i > 0 && tok_is(s, i - 1, "-") && expr_is_prefix(s, i - 1);
	long long v;
	int rank = 2;

	if (!integer(s, i, &v))
		return;
	if (s->tok[i].len > 2 && s->text[s->tok[i].off + 1] == 'x')
		fmt = s->text[s->tok[i].off + 2] >= 'a' ? "0x%llx" : "0x%llX";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	gen_put(g, i, i, 0, fmt, v + 1);
	if (!negative || v != 1) /* -0 is nothing that anybody writes */
		gen_put(g, i, i, 1, fmt, v - 1);
#pragma GCC diagnostic pop
	if (s->dialect == DIALECT_SH && !tok_flag(s, i, TF_ARITH) &&
	    tok_is(s, i - 1, "$"))
		return;
	for (size_t k = 0; k < nitems(plain); k++) {
		if (!negative || plain[k] > 0)
			gen_put(g, i, i, rank, "%lld", plain[k]);
		rank++;
	}
	if (v != 0 && !negative)
		gen_put(g, i, i, rank, "-%.*s", TOK(s, i));
}

/* Two neighbouring digits the other way round. */
static void
put_transposed(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	char text[24];
	size_t n = s->tok[i].len;

	if (n < 3 || n >= sizeof text)
		return;
	for (size_t k = 0; k + 1 < n; k++) {
		memcpy(text, s->text + s->tok[i].off, n);
		text[n] = '\0';
		if (!isdigit((unsigned char)text[k]) ||
		    !isdigit((unsigned char)text[k + 1]) ||
		    text[k] == text[k + 1] || (k == 0 && text[1] == '0'))
			continue;
		text[k] = text[k + 1];
		text[k + 1] = s->text[s->tok[i].off + k];
		gen_put(g, i, i, 3, "%s", text);
	}
}

void
op_const_far(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	long long v;
	char text[32], *end;
	double d;

	if (tok_is(s, i - 1, "$"))
		return;
	if (integer(s, i, &v)) {
		gen_put(g, i, i, 1, "%lld", v * 2);
		gen_put(g, i, i, 1, "%lld", v / 2);
		gen_put(g, i, i, 1, "%lld", v + 2);
		gen_put(g, i, i, 1, "%lld", v - 2);
		gen_put(g, i, i, 2, "%lld", v * 10);
		if (v >= 10)
			gen_put(g, i, i, 2, "%lld", v / 10);
		put_transposed(g, i);
		return;
	}
	if (!tok_kind(s, i, TOK_NUMBER) || s->tok[i].len >= sizeof text ||
	    s->dialect == DIALECT_SH)
		return;
	memcpy(text, s->text + s->tok[i].off, s->tok[i].len);
	text[s->tok[i].len] = '\0';
	d = strtod(text, &end);
	if (*end != '\0' || !(d > -1e9 && d < 1e9))
		return;
	gen_put(g, i, i, 0, "%.10g", d * 10);
	gen_put(g, i, i, 0, "%.10g", d / 10);
	gen_put(g, i, i, 1, "%.10g", d + 1);
	gen_put(g, i, i, 1, "%.10g", d * 2);
	gen_put(g, i, i, 2, "%.10g", d / 2);
	gen_put(g, i, i, 2, "%.10g", 1 - d);
	if (d > 0)
		gen_put(g, i, i, 3, "%.10g", 1 / d);
}

/* A place where an operand ends and a number may be added to it. */
void
op_plus_one(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t a, open;
	bool side;
	int rank = 0;

	if (s->dialect == DIALECT_SH && !tok_flag(s, i, TF_ARITH))
		return;
	if (!expr_is_end(s, i) || tok_kind(s, i, TOK_STRING) ||
	    tok_flag(s, i, TF_VALUE) || expr_is_bound(s, i))
		return;
	a = expr_primary_start(s, i);
	if (a == EXPR_NONE || tok_kind(s, a, TOK_STRING) ||
	    tok_in(s, i + 1, "( [ . -> = :: ++ --"))
		return;
	if (tok_kind(s, a, TOK_KEYWORD) && !tok_flag(s, a, TF_VALUE))
		return;
	side = expr_prec(s, i + 1) >= 9 || expr_prec(s, a - 1) > 9;
	if (expr_prec(s, i + 1) > 9 || (a > 0 && expr_prec(s, a - 1) > 9)) {
		gen_put(g, a, i, 3, "(%.*s + 1)", SPAN(s, a, i));
		gen_put(g, a, i, 3, "(%.*s - 1)", SPAN(s, a, i));
		return;
	}
	if (side || tok_kind(s, i, TOK_NUMBER))
		return;
	open = expr_enclosing(s, i);
	if (open != EXPR_NONE && tok_is(s, open, "{"))
		return;
	if (tok_in(s, i + 1, ", )"))
		rank = open != EXPR_NONE && expr_is_call(s, open) ? 1 : 4;
	else if (!tok_in(s, i + 1, "] :") && expr_prec(s, i + 1) == 0 &&
	    i != gen_stmt(g, i)->last)
		return;
	if (i == gen_stmt(g, i)->last && (a == gen_stmt(g, i)->first || i < 1))
		return; /* a call as a statement */
	gen_after(g, i, rank, " + 1");
	gen_after(g, i, rank, " - 1");
}

/* A bound is twice as far, or half. */
void
op_double(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const char *half = s->dialect == DIALECT_PY ? "//" : "/";

	if (expr_prec(s, i) == 0 || !tok_in(s, i, "< <= > >=") || i == 0)
		return;
	for (int side = 0; side < 2; side++) {
		size_t a = i + 1, b = i - 1;

		if (side == 0)
			b = expr_primary_end(s, a);
		else
			a = expr_primary_start(s, b);
		/* As a side of the comparison, not a part of one. */
		if (a == EXPR_NONE || b == EXPR_NONE ||
		    tok_kind(s, a, TOK_NUMBER) || tok_kind(s, a, TOK_STRING) ||
		    tok_flag(s, a, TF_VALUE) ||
		    (side == 0 ? expr_prec(s, b + 1) >= 5
			       : a > 0 && expr_prec(s, a - 1) >= 5))
			continue;
		gen_before(g, a, side, "2 * ");
		gen_after(g, b, side + 1, " %s 2", half);
	}
}

void
op_negate(struct gen *g, size_t i)
{
	static const char *const twins[] = { "is", "is not", "in", "not in" };
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	struct span c;
	size_t end;

	if (tok_in(s, i, "not !") && i + 1 < s->n_tok) {
		end = s->tok[i + 1].match > 0 ? (size_t)s->tok[i + 1].match : 0;
		if (tok_is(s, i + 1, "(") && end > i + 2 && i > 0 &&
		    ((tok_in(s, i - 1, "if elif while return") &&
			 tok_in(s, end + 1, ": ;")) ||
			(tok_is(s, i - 1, "(") && tok_is(s, end + 1, ")"))))
			gen_put(g, i, end, 0, "%.*s", SPAN(s, i + 2, end - 1));
		gen_delete(g, i, i, 0);
		return;
	}
	for (size_t k = 0; k < nitems(twins); k++) {
		if (expr_prec(s, i) > 0 && tok_is(s, i, twins[k]))
			gen_put(g, i, i, 0, "%s", twins[k ^ 1]);
	}
	/* Operands of and, or; the whole condition; what is before `?`. */
	if (i == st->first && expr_condition(s, st, &c)) {
		if (s->dialect == DIALECT_SH)
			gen_before(g, c.a, 0, "! ");
		else if (expr_primary_end(s, c.a) == c.b)
			gen_before(g, c.a, 0, "%s", gen_not(s));
		else
			gen_put(g, c.a, c.b, 0, "%s(%.*s)", gen_not(s),
			    SPAN(s, c.a, c.b));
	}
	if (s->dialect == DIALECT_SH || expr_is_prefix(s, i) ||
	    !expr_is_start(s, i) || (i > 0 && tok_in(s, i - 1, "not !")))
		return;
	end = expr_primary_end(s, i);
	if (end == EXPR_NONE || tok_kind(s, i, TOK_NUMBER))
		return;
	if (s->dialect == DIALECT_PY && i > 0 && expr_prec(s, i - 1) >= 4)
		return; /* `a == not b` is none */
	if (tok_in(s, end + 1, "and or && || ?") ||
	    (i > 0 && tok_in(s, i - 1, "and or && || return =>") &&
		(end == st->last || tok_in(s, end + 1, ") ; ,") ||
		    (end + 1 == st->last && tok_is(s, end + 1, ":")))))
		gen_before(g, i, expr_is_end(s, i) ? 0 : 1, "%s", gen_not(s));
	else if (i > 0 && tok_is(s, i - 1, "if") && s->dialect == DIALECT_PY)
		gen_before(g, i, 1, "not ");
}

void
op_arith(struct gen *g, size_t i)
{
	static const struct {
		const char *of, *py, *other;
	} ops[] = { { "+", "- * // %", "- * / %" },
		{ "-", "+ * // %", "+ * / %" },
		{ "*", "/ // + - **", "/ + - %" },
		{ "/", "// * % -", "* % - +" }, { "//", "/ % * -", "" },
		{ "%", "// / * -", "/ * - +" }, { "**", "* +", "* +" } };
	const struct source *s = g->s;

	if (expr_prec(s, i) < 9 || tok_kind(s, i + 1, TOK_STRING) ||
	    tok_kind(s, i - 1, TOK_STRING))
		return;
	for (size_t k = 0; k < nitems(ops); k++) {
		if (tok_is(s, i, ops[k].of))
			put_words(g, i,
			    s->dialect == DIALECT_PY ? ops[k].py : ops[k].other,
			    0, -1);
	}
}

void
op_assign(struct gen *g, size_t i)
{
	static const struct {
		const char *of, *others;
	} ops[] = { { "+=", "-= =" }, { "-=", "+= =" }, { "*=", "/= += =" },
		{ "/=", "*= -= =" }, { "//=", "/= %= =" }, { "%=", "//= =" },
		{ "|=", "&= ^= =" }, { "&=", "|= ^= =" }, { "^=", "|= &= =" },
		{ "<<=", ">>=" }, { ">>=", "<<=" }, { "++", "--" },
		{ "--", "++" }, { "||=", "&&= =" } };
	static const struct {
		const char *of, *others;
	} bits[] = { { "&", "| ^" }, { "|", "& ^" }, { "^", "| &" },
		{ "<<", ">>" }, { ">>", "<<" } };
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	bool unsigned_too = s->dialect == DIALECT_JS ||
	    (s->path != NULL && text_ends(s->path, ".java"));

	for (size_t k = 0; k < nitems(ops); k++) {
		if (tok_is(s, i, ops[k].of))
			put_words(g, i, ops[k].others, 0, -1);
	}
	for (size_t k = 0; k < nitems(bits); k++) {
		if (tok_is(s, i, bits[k].of) && expr_prec(s, i) > 0)
			put_words(g, i, bits[k].others, 0, -1);
	}
	if (s->dialect == DIALECT_JS && tok_is(s, i, "<<") &&
	    expr_prec(s, i) > 0) /* it cuts at 32 bits */
		gen_put(g, i, i, 1, "* 2 **");
	if (unsigned_too && tok_is(s, i, ">>"))
		gen_put(g, i, i, 1, ">>>");
	if (tok_in(s, i, "^= |=") && i < st->last) /* flips or sets: clears */
		gen_put(g, i, st->last, 2,
		    expr_primary_end(s, i + 1) == st->last ? "&= ~%.*s"
							   : "&= ~(%.*s)",
		    SPAN(s, i + 1, st->last));
	if (tok_is(s, i, "=") && st->kind == STMT_SIMPLE && i > st->first &&
	    expr_primary_start(s, i - 1) == st->first &&
	    s->dialect != DIALECT_SH) {
		gen_put(g, i, i, 3, "+=");
		gen_put(g, i, i, 3, "-=");
	}
}

void
op_sibling(struct gen *g, size_t i)
{
	static const char *const groups[] = { "startswith endswith",
		"startsWith endsWith", "lower upper", "toLowerCase toUpperCase",
		"floor ceil round trunc", "append extend add insert",
		"first last", "left right", "pop popleft shift",
		"appendleft append", "lstrip rstrip strip",
		"trimStart trimEnd trim", "find rfind index rindex",
		"indexOf lastIndexOf", "split rsplit splitlines",
		"partition rpartition", "head tail", "start end begin stop",
		"keys values items", "keys values entries",
		"next prev previous", "low high", "lo hi", "row col",
		"rows cols", "width height", "x y", "add remove discard",
		"union intersection difference", "update setdefault",
		"bisect_left bisect_right bisect", "insort_left insort_right",
		"heappush heappop heappushpop", "int float round",
		"sorted reversed list", "list tuple set",
		"isalpha isalnum isdigit isspace", "isupper islower",
		"tolower toupper", "strcmp strcasecmp strncmp",
		"strchr strrchr", "memcpy memmove", "push pop", "parent child",
		"source target", "src dst", "key value", "min_size max_size",
		"before after", "get pop", "filter map",
		"slice splice substring", "encodeURI encodeURIComponent",
		"decodeURI decodeURIComponent", "concat push",
		"find findLast filter", "findIndex indexOf findLastIndex",
		"parseInt parseFloat Number", "islice chain", "sqrt pow abs",
		"len sum", "sum max min", "ascending descending",
		"height depth size length", "lower_bound upper_bound",
		"front back", "Min Max", "HasPrefix HasSuffix",
		"TrimLeft TrimRight TrimSpace", "encode decode",
		"read readline readlines", "some every", "reduce reduceRight",
		"test exec match", "days seconds", "minutes hours seconds days",
		"read write", "lock unlock" };
	const struct source *s = g->s;

	if (!tok_kind(s, i, TOK_IDENT))
		return;
	for (size_t k = 0; k < nitems(groups); k++) {
		int n = word_find(
		    groups[k], s->text + s->tok[i].off, s->tok[i].len);

		if (n >= 0)
			put_words(g, i, groups[k], 0, n);
	}
}

/* A default of a parameter, a field or an option of another kind. */
void
op_default(struct gen *g, size_t i)
{
	const struct source *s = g->s;

	if (i + 1 >= s->n_tok || !tok_in(s, i, "= :") ||
	    !tok_kind(s, i - 1, TOK_IDENT) || !tok_in(s, i + 2, ", ) } :"))
		return;
	if (tok_is(s, i, ":") && s->dialect != DIALECT_JS)
		return;
	if (tok_kind(s, i + 1, TOK_NUMBER)) {
		put_words(g, i + 1, "10 100", 2, -1);
	} else if (tok_flag(s, i + 1, TF_VALUE) ||
	    tok_kind(s, i + 1, TOK_STRING)) {
		put_words(g, i + 1,
		    s->dialect == DIALECT_PY ? "None 0 1 True False"
					     : "null 0 1 true false",
		    1, -1);
	}
}
