/*
 * op_clause.c - operators that add something: a clause cloned from elsewhere
 * in the file, a guard, a wrap, a slice, a term.
 */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define CLAUSES_MAX 12

/* Go's `case a == b:` */
static bool
case_condition(const struct source *s, const struct stmt *st, struct span *ret)
{
	size_t b = st->last;

	if (!s->lines || b < st->first + 2 || !tok_is(s, b, ":"))
		return false;
	*ret = (struct span){ st->first + 1, (uint32_t)b - 1 };
	for (size_t i = ret->a; i <= ret->b; i++)
		if (expr_prec(s, i) > 0 &&
		    tok_in(s, i, "== != < <= > >= && ||"))
			return true;
	return false;
}

bool
gen_boolean(const struct gen *g, size_t i, struct span *ret, int *ret_rank)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	size_t b, k;

	*ret_rank = 0;
	if (i == st->first && tok_is(s, i, "case"))
		return case_condition(s, st, ret);
	if (i == st->first)
		return expr_condition(s, st, ret) ||
		    (tok_is(s, i, "return") && expr_value(s, st, ret) &&
			!tok_in(s, ret->a, "{ [") &&
			!tok_kind(s, ret->a, TOK_STRING));
	*ret_rank = 2;
	if (!expr_is_start(s, i) ||
	    (i > 0 &&
		!tok_in(s, i - 1,
		    "( [ , = => && || and or "
		    "not ! if : ?")))
		return false;
	/* The longest run of operators from here on. */
	b = expr_primary_end(s, i);
	if (b == EXPR_NONE)
		return false;
	for (int n = 0; n < 20; n++) {
		if (expr_prec(s, b + 1) == 0)
			break;
		k = expr_right(s, b + 1);
		if (k == EXPR_NONE)
			break;
		b = k;
	}
	*ret = (struct span){ (uint32_t)i, (uint32_t)b };
	if (tok_is(s, b + 1, "?") && s->dialect != DIALECT_PY)
		return true;
	if (i > 0 && tok_in(s, i - 1, "=>"))
		return !tok_is(s, i, "{");
	if (i > 0 && tok_is(s, i - 1, "if") && s->dialect == DIALECT_PY)
		return true;
	if (i > 0 && tok_is(s, i - 1, "(") && !expr_is_call(s, i - 1)) {
		for (k = i; k <= b; k++) {
			int p = expr_prec(s, k);

			if ((p == 1 || p == 2) && s->dialect != DIALECT_SH)
				return true;
		}
	}
	return false;
}

bool
gen_is_weaker(const struct source *s, struct span c, int prec)
{
	for (size_t i = c.a; i <= c.b; i++) {
		if (tok_in(s, i, "( [ {") && s->tok[i].match > (int32_t)i)
			i = (size_t)s->tok[i].match;
		else if (i <= c.b &&
		    ((expr_prec(s, i) > 0 && expr_prec(s, i) < prec) ||
			tok_in(s, i, "? if else =")))
			return true;
	}
	return false;
}

void
gen_clause(struct gen *g, struct span p, const char *op, bool before, int rank,
    int len, const char *text)
{
	const struct source *s = g->s;
	bool and = op == gen_and(s);
	bool wrap = s->dialect != DIALECT_SH && gen_is_weaker(s, p, and? 2 : 1);
	const char *l = wrap ? "(" : "", *r = wrap ? ")" : "";

	if (before)
		gen_put(g, p.a, p.b, rank, "%.*s %s %s%.*s%s", len, text, op, l,
		    SPAN(s, p.a, p.b), r);
	else
		gen_put(g, p.a, p.b, rank, "%s%.*s%s %s %.*s", l,
		    SPAN(s, p.a, p.b), r, op, len, text);
}

/* `[ ... ]`, or a command that is asked: `if f "$x"`, `f "$x" || return`. */
static size_t
shell_clause_end(const struct source *s, size_t j)
{
	const struct stmt *st = &s->stmt[s->tok[j].stmt];
	size_t e = j;

	if (tok_in(s, j, "[ [["))
		return s->tok[j].match < (int32_t)j ? EXPR_NONE
						    : (size_t)s->tok[j].match;
	if (!tok_kind(s, j, TOK_IDENT) || tok_flag(s, j, TF_VAR) ||
	    (j != st->first &&
		!tok_in(s, j - 1, "if elif while until ! && ||")))
		return EXPR_NONE;
	while (e < st->last && !tok_in(s, e + 1, "&& || ; | then do ) < > >>"))
		e++;
	if (e == j || (j == st->first && !tok_in(s, e + 1, "&& ||")) ||
	    tok_in(s, e + 1, "| < > >>"))
		return EXPR_NONE;
	return e;
}

size_t
gen_clause_end(const struct source *s, size_t j)
{
	size_t b = EXPR_NONE, op;

	if (s->dialect == DIALECT_SH)
		return shell_clause_end(s, j);
	if (!expr_is_start(s, j) ||
	    (j > 0 && tok_in(s, j - 1, ". -> :: ?. - + * /")))
		return EXPR_NONE;
	b = expr_primary_end(s, j);
	if (b == EXPR_NONE)
		return b;
	for (int n = 0; n < 4 && expr_prec(s, b + 1) >= 4; n++) {
		op = b + 1;
		b = expr_right(s, op);
		if (b == EXPR_NONE)
			return b;
		if (tok_in(s, op, "== != === !== < <= > >= in is") ||
		    s->tok[op].len == 6)
			return b;
	}
	if (tok_in(s, j, "not !"))
		return b;
	if (tok_in(s, b + 1, "and or && ||") ||
	    (j > 0 && tok_in(s, j - 1, "and or && ||")))
		return b;
	if (j > 0 && tok_in(s, j - 1, "if elif while") &&
	    tok_in(s, b + 1, ": ) ] } {"))
		return b;
	if (j > 1 && tok_is(s, j - 1, "(") && tok_in(s, j - 2, "if while"))
		return b;
	return EXPR_NONE;
}

bool
gen_known(struct gen *g, struct span c, struct span block)
{
	const struct source *s = g->s;

	for (size_t i = c.a; i <= c.b; i++) {
		size_t j;

		if (!tok_kind(s, i, TOK_IDENT) || tok_is(s, i + 1, "(") ||
		    (i > 0 && tok_in(s, i - 1, ". -> ?.")))
			continue;
		for (j = block.a; j <= block.b && !tok_same(s, i, j); j++)
			g->budget--;
		if (j > block.b && s->text[s->tok[i].off] >= 'a')
			return false;
	}
	return true;
}

static void
clone_clauses(struct gen *g, struct span p, struct span from, struct span block,
    bool check, int rank, size_t max)
{
	const struct source *s = g->s;
	struct span got[CLAUSES_MAX];
	size_t n = 0, k, lo = p.a, hi;

	hi = lo;
	if (max > CLAUSES_MAX)
		max = CLAUSES_MAX;
	while (n < max && (lo > from.a || hi < from.b) && g->budget > 0) {
		for (int side = 0; side < 2 && n < max; side++) {
			size_t j, e;
			struct span c;

			if (side == 0 ? lo <= from.a : hi >= from.b)
				continue;
			g->budget--;
			j = side == 0 ? --lo : ++hi;
			e = gen_clause_end(s, j);
			if (e == EXPR_NONE || e > from.b || e - j > 16 ||
			    (e >= p.a && j <= p.b))
				continue;
			c = (struct span){ (uint32_t)j, (uint32_t)e };
			for (k = 0; k < n && !gen_same(s, got[k], c); k++)
				;
			if (k < n ||
			    (check && s->dialect != DIALECT_SH &&
				!gen_known(g, c, block)))
				continue;
			got[n] = c;
			gen_clause(g, p, gen_and(s), false, rank + (int)n,
			    SPAN(s, c.a, c.b));
			gen_clause(g, p, gen_or(s), false, rank + (int)n,
			    SPAN(s, c.a, c.b));
			gen_clause(g, p, gen_and(s), true, rank + (int)n + 2,
			    SPAN(s, c.a, c.b));
			if (tok_in(s, c.a, "not !") && c.a + 1 <= c.b) {
				gen_clause(g, p, gen_and(s), false,
				    rank + (int)n + 3, SPAN(s, c.a + 1, c.b));
			} else if (s->dialect == DIALECT_SH ||
			    (tok_is(s, c.b, ")") && !gen_is_weaker(s, c, 9))) {
				char text[256];
				int len = snprintf(text, sizeof text, "%s%.*s",
				    gen_not(s), SPAN(s, c.a, c.b));

				if (len < (int)sizeof text)
					gen_clause(g, p, gen_and(s), false,
					    rank + (int)n + 3, len, text);
			}
			n++;
		}
	}
}

void
op_clause(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span p, block, file;
	int rank;

	if (!gen_boolean(g, i, &p, &rank))
		return;
	block = gen_block(s, i);
	clone_clauses(g, p, block, block, false, rank, CLAUSES_MAX);
	file = (struct span){ i > 1200 ? (uint32_t)i - 1200 : 0,
		(uint32_t)(i + 1200 < s->n_tok ? i + 1200 : s->n_tok - 1) };
	clone_clauses(g, p, file, block, true,
	    s->dialect == DIALECT_SH ? rank : rank + 5, CLAUSES_MAX);
}

/* What the place uses must be there: `x is not None and ...`. */
void
op_guard(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span p;
	int rank, found = 0;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	for (size_t j = p.a; j <= p.b && found < 4; j++) {
		const char *is = s->dialect == DIALECT_PY ? " is not None"
		    : s->dialect == DIALECT_JS            ? " != null"
							  : " != NULL";
		char text[160];
		int len;

		if (!tok_kind(s, j, TOK_IDENT) ||
		    !tok_in(s, j + 1, ". -> [ ?. )"))
			continue;
		if (s->dialect == DIALECT_JS && tok_is(s, j + 1, ".") &&
		    j == expr_primary_start(s, j)) {
			len = snprintf(text, sizeof text,
			    "typeof %.*s !== 'string'", TOK(s, j));
			if (len < (int)sizeof text)
				gen_clause(g, p, gen_or(s), true,
				    rank + found + 1, len, text);
			len = snprintf(text, sizeof text,
			    "typeof %.*s === 'string'", TOK(s, j));
			if (len < (int)sizeof text)
				gen_clause(g, p, gen_and(s), true,
				    rank + found + 1, len, text);
		}
		/* self.x: the value is the member. */
		size_t a = expr_primary_start(s, j);

		if (a == EXPR_NONE || (j == a && tok_in(s, j, "self Math")))
			continue;
		len = snprintf(text, sizeof text, "%.*s%s", SPAN(s, a, j), is);
		if (len >= (int)sizeof text)
			continue;
		found++;
		gen_clause(g, p, gen_and(s), true, rank + found - 1, len, text);
		gen_clause(g, p, gen_and(s), true, rank + found, SPAN(s, a, j));
		len = snprintf(
		    text, sizeof text, "%s%.*s", gen_not(s), SPAN(s, a, j));
		gen_clause(g, p, gen_or(s), true, rank + found, len, text);
	}
}

/* The end of `(unsigned char)*p`. */
static size_t
cast_end(const struct source *s, size_t i)
{
	size_t b;

	if (s->dialect != DIALECT_C || !tok_is(s, i, "(") ||
	    s->tok[i].match < (int32_t)i + 2)
		return EXPR_NONE;
	b = (size_t)s->tok[i].match;
	for (size_t j = i + 1; j < b; j++)
		if (!tok_flag(s, j, TF_TYPE) && !tok_is(s, j, "*"))
			return EXPR_NONE;
	for (b++; tok_in(s, b, "* & - ~ !"); b++)
		;
	return expr_primary_end(s, b);
}

/* The end of the sum that the operand a..b begins, as a whole value. */
static size_t
sum_end(const struct source *s, size_t a, size_t b)
{
	size_t e = b, op;

	if (a == 0 || !tok_in(s, a - 1, "( , = [ : => return"))
		return b;
	for (int n = 0; n < 8 && expr_prec(s, e + 1) >= 5; n++) {
		op = e + 1;
		e = expr_right(s, op);
		if (e == EXPR_NONE)
			return b;
	}
	return e;
}

struct helper {
	uint32_t name;
	struct span arg; /* that it is given there */
};

/* Functions that the file calls with one argument, nearest first. */
static size_t
near_helpers(struct gen *g, size_t i, struct helper *ret, size_t max)
{
	const struct source *s = g->s;
	struct span el[1];
	size_t n = 0, k;

	for (size_t d = 1; d < 600 && n < max && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < max; side++) {
			size_t j = side == 0 ? i - d : i + d;

			if ((side == 0 && d > i) || j + 1 >= s->n_tok)
				continue;
			g->budget--;
			if (!tok_kind(s, j, TOK_IDENT) ||
			    !expr_is_call(s, j + 1) ||
			    tok_in(s, j - 1, ". -> ?. def function") ||
			    expr_elements(s, j + 1, ",", el, 1) != 1)
				continue;
			for (k = 0; k < n && !tok_same(s, ret[k].name, j); k++)
				;
			if (k == n)
				ret[n++] =
				    (struct helper){ (uint32_t)j, el[0] };
		}
	}
	return n;
}

/* f(x) for an operand x or a sum, with f of those that the file calls so: first
 * those that are given the like elsewhere. */
void
op_wrap(struct gen *g, size_t i)
{
	static const char *const py[] = { "len", "int", "abs", "list", "sorted",
		"str", "set", "dict" };
	static const char *const js[] = { "String", "Number", "Boolean" };
	const struct source *s = g->s;
	struct helper h[6];
	size_t b, sum, n;
	int own;

	if (s->dialect == DIALECT_SH || !expr_is_start(s, i) ||
	    (expr_is_prefix(s, i) && !tok_is(s, i, "*")) ||
	    i == gen_stmt(g, i)->first || expr_is_bound(s, i) ||
	    (i > 0 && tok_in(s, i - 1, ". -> :: ?.")) ||
	    tok_kind(s, i, TOK_NUMBER) || tok_kind(s, i, TOK_STRING) ||
	    tok_flag(s, i, TF_VALUE))
		return;
	b = cast_end(s, i);
	if (b == EXPR_NONE)
		b = expr_primary_end(s, i);
	if (b == EXPR_NONE || tok_is(s, b + 1, "=") ||
	    (tok_is(s, b + 1, ":") && b + 1 != gen_stmt(g, i)->last))
		return;
	sum = sum_end(s, i, b);
	for (size_t k = 0; k < g->n_uncalled; k++) {
		gen_put(g, i, b, 0, "%.*s(%.*s)", TOK(s, g->uncalled[k]),
		    SPAN(s, i, b));
		if (sum > b)
			gen_put(g, i, sum, 0, "%.*s(%.*s)",
			    TOK(s, g->uncalled[k]), SPAN(s, i, sum));
	}
	own = source_region(s, s->tok[i].line);
	if (own >= 0 && s->region[own].name[0] != '\0') /* once more */
		gen_put(
		    g, i, b, 1, "%s(%.*s)", s->region[own].name, SPAN(s, i, b));
	n = near_helpers(g, i, h, nitems(h));
	for (size_t k = 0; k < n; k++) {
		struct span arg = h[k].arg;
		bool alike = tok_same(s, i, arg.a) &&
		    (i == b || tok_same(s, i + 1, arg.a + 1));

		gen_put(g, i, b, (int)k + (alike ? 0 : 2), "%.*s(%.*s)",
		    TOK(s, h[k].name), SPAN(s, i, b));
		if (sum > b)
			gen_put(g, i, sum,
			    (int)k + (gen_is_weaker(s, arg, 12) ? 0 : 1),
			    "%.*s(%.*s)", TOK(s, h[k].name), SPAN(s, i, sum));
	}
	for (size_t k = 0; k < nitems(py) && s->dialect == DIALECT_PY; k++)
		gen_put(g, i, b, 5 + (int)k, "%s(%.*s)", py[k], SPAN(s, i, b));
	for (size_t k = 0; k < nitems(js) && s->dialect == DIALECT_JS; k++)
		gen_put(g, i, b, 5 + (int)k, "%s(%.*s)", js[k], SPAN(s, i, b));
	if (s->dialect == DIALECT_JS) { /* a copy */
		gen_put(g, i, b, 5, "{ ...%.*s }", SPAN(s, i, b));
		gen_put(g, i, b, 6, "[...%.*s]", SPAN(s, i, b));
	}
}

/* Is the name at i given a number, or counts something? */
static bool
is_number(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span b = gen_block(s, i);

	for (size_t j = b.a; j < b.b; j++) {
		g->budget--;
		if (!tok_same(s, i, j) || (j > 0 && tok_is(s, j - 1, ".")))
			continue;
		if ((tok_in(s, j + 1, "= += -=") &&
			(tok_kind(s, j + 2, TOK_NUMBER) ||
			    tok_is(s, j + 2, "len"))) ||
		    (tok_is(s, j + 1, "in") && tok_is(s, j + 2, "range")) ||
		    tok_in(s, j + 1, "++ --"))
			return true;
	}
	return false;
}

/* Beside an operator that takes numbers only, or an index itself. */
static bool
is_arithmetic(const struct source *s, size_t a, size_t b)
{
	static const char ops[] = "- * / // % ** -= += *= /= //= %=";

	return tok_in(s, b + 1, ops) || (a > 0 && tok_in(s, a - 1, ops)) ||
	    (a > 0 && tok_is(s, a - 1, "[") && expr_is_end(s, a - 2)) ||
	    (a > 1 && tok_in(s, a - 1, "( ,") && tok_is(s, a - 2, "range"));
}

void
op_slice(struct gen *g, size_t i)
{
	static const char *const py[] = { "[1:]", "[:-1]", "[0]", "[-1]", "[:]",
		"[::-1]" };
	static const char *const js[] = { ".slice(1)", ".slice(0, -1)", "[0]",
		".slice(-1)", ".slice()" };
	const struct source *s = g->s;
	bool is_py = s->dialect == DIALECT_PY;
	uint32_t names[4];
	size_t a, n;

	if (!expr_is_end(s, i) || tok_kind(s, i, TOK_NUMBER) ||
	    tok_kind(s, i, TOK_STRING) || tok_flag(s, i, TF_VALUE) ||
	    expr_is_bound(s, i) || tok_in(s, i + 1, "( [ . =") ||
	    (tok_is(s, i + 1, ":") && i + 1 != gen_stmt(g, i)->last))
		return;
	a = expr_primary_start(s, i);
	if (a == EXPR_NONE || a == gen_stmt(g, i)->first ||
	    is_arithmetic(s, a, i) || (a == i && is_number(g, i)))
		return;
	for (size_t k = 0; k < (is_py ? nitems(py) : nitems(js)); k++)
		gen_after(g, i, (int)k, "%s", is_py ? py[k] : js[k]);
	n = gen_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		gen_after(g, i, 2 + (int)k, is_py ? "[%.*s:]" : ".slice(%.*s)",
		    TOK(s, names[k]));
		gen_after(g, i, 2 + (int)k,
		    is_py ? "[:%.*s]" : ".slice(0, %.*s)", TOK(s, names[k]));
	}
}

/* `+ w`, `- w`, `* w` behind an operand, and its square. */
void
op_append(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	uint32_t names[9];
	size_t n, a;
	bool text;

	if (!expr_is_end(s, i) || tok_kind(s, i, TOK_STRING) ||
	    expr_is_bound(s, i) || tok_flag(s, i, TF_VALUE) ||
	    tok_in(s, i + 1, "( [ . -> = ::") ||
	    (s->dialect == DIALECT_SH && !tok_flag(s, i, TF_ARITH)))
		return;
	a = expr_primary_start(s, i);
	if (a == EXPR_NONE || a == gen_stmt(g, i)->first)
		return;
	if (s->dialect & (DIALECT_PY | DIALECT_JS) &&
	    !tok_kind(s, i, TOK_NUMBER))
		gen_after(g, i, 1, " ** 2");
	else if (a == i && tok_kind(s, i, TOK_IDENT))
		gen_after(g, i, 1, " * %.*s", TOK(s, i));
	if (!tok_kind(s, i, TOK_NUMBER))
		gen_before(g, a, 2, "2 * ");
	if (expr_prec(s, i + 1) > 9 || expr_prec(s, a - 1) > 9)
		return;
	/* All that is assigned; of texts and lists the order matters. */
	text = s->dialect & (DIALECT_PY | DIALECT_JS) &&
	    tok_is(s, a - 1, "=") && i == gen_stmt(g, i)->last;
	n = gen_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		gen_after(g, i, (int)k, " + %.*s", TOK(s, names[k]));
		gen_after(g, i, (int)k, " - %.*s", TOK(s, names[k]));
		gen_after(g, i, (int)k + 2, " * %.*s", TOK(s, names[k]));
		if (text && k < 4)
			gen_before(
			    g, a, (int)k + 1, "%.*s + ", TOK(s, names[k]));
	}
}
