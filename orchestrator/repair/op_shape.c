/* op_shape.c - operators that drop, swap, delete or wrap what is there. */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"

#define ELEMENTS_MAX 12

void
op_drop_operand(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	int prec = expr_prec(s, i);
	size_t a, b;

	if (prec == 0) {
		if (expr_is_prefix(s, i) && tok_in(s, i, "- ~ ++ --"))
			gen_delete(g, i, i, 2);
		return;
	}
	if (s->dialect != DIALECT_SH && (prec == 4 || prec == 6 || prec == 7) &&
	    !tok_in(s, i, "| ^ &"))
		return; /* a comparison: its sides are no clauses */
	a = expr_left(s, i);
	b = expr_right(s, i);
	if (b != EXPR_NONE)
		gen_delete(g, i, b, 0);
	if (a != EXPR_NONE)
		gen_delete(g, a, i, 1);
}

/* Elements of the bracket at i, or operands of the shell's command words. */
static size_t
elements(const struct source *s, size_t i, struct span *el)
{
	size_t n;

	if (!tok_in(s, i, "( [ {") || tok_flag(s, i, TF_BLOCK))
		return 0;
	n = expr_elements(s, i, ",", el, ELEMENTS_MAX);
	if (n < 2 && tok_is(s, i, "(") && tok_is(s, i - 1, "for"))
		return expr_elements(s, i, ";", el, ELEMENTS_MAX);
	return n;
}

/* Words of a shell command from token i on; the command itself is not one. */
static size_t
shell_words(const struct source *s, size_t i, struct span *el)
{
	const struct stmt *st;
	size_t n = 0;

	if (i >= s->n_tok)
		return 0;
	st = &s->stmt[s->tok[i].stmt];
	while (i <= st->last && n < ELEMENTS_MAX) {
		size_t j = i;

		if (tok_in(s, i, "| || && ; > >> < ) ]] ] 2 } &") ||
		    s->tok[i].kind == TOK_NEWLINE)
			break;
		while (j < st->last &&
		    s->tok[j].off + s->tok[j].len == s->tok[j + 1].off &&
		    !tok_in(s, j + 1, "; | ) &")) {
			j++;
			if (tok_in(s, j, "( {") &&
			    s->tok[j].match > (int32_t)j &&
			    (size_t)s->tok[j].match <= st->last)
				j = (size_t)s->tok[j].match;
		}
		/* Inside double quotes blanks part no words. */
		while (j < st->last && tok_flag(s, i, TF_CHUNK) &&
		    s->text[s->tok[i].off] == '"' &&
		    s->text[s->tok[j].off + s->tok[j].len - 1] != '"')
			j++;
		el[n++] = (struct span){ (uint32_t)i, (uint32_t)j };
		i = j + 1;
	}
	return n;
}

static bool
shell_command_at(const struct source *s, size_t i)
{
	if (s->dialect != DIALECT_SH || !tok_kind(s, i, TOK_IDENT) ||
	    tok_flag(s, i, TF_VAR | TF_ARITH))
		return false;
	return i == s->stmt[s->tok[i].stmt].first ||
	    tok_in(s, i - 1, "| && || ( ! if elif while until");
}

static size_t
args_at(const struct source *s, size_t i, struct span *el)
{
	if (s->dialect != DIALECT_SH)
		return elements(s, i, el);
	if (shell_command_at(s, i))
		return shell_words(s, i + 1, el);
	if (tok_in(s, i, "[ [["))
		return shell_words(s, i + 1, el);
	return 0;
}

void
op_swap_args(struct gen *g, size_t i)
{
	struct span el[ELEMENTS_MAX];
	size_t n = args_at(g->s, i, el);
	int rank = 0;

	if (gen_stmt(g, i)->kind == STMT_DEF && g->s->dialect != DIALECT_SH)
		return;
	for (size_t d = 1; d < n; d++) {
		for (size_t k = 0; k + d < n; k++) {
			/* f(a, x=b): by place and by name */
			if (tok_is(g->s, el[k].a + 1, "=") ==
			    tok_is(g->s, el[k + d].a + 1, "="))
				gen_swap(g, el[k], el[k + d], rank++);
		}
	}
	/* return a, b and a, b = b, a */
	if (g->s->dialect == DIALECT_PY && tok_is(g->s, i, ",") &&
	    expr_enclosing(g->s, i) == EXPR_NONE) {
		size_t a = expr_primary_start(g->s, i - 1);
		size_t b = expr_primary_end(g->s, i + 1);

		if (a != EXPR_NONE && b != EXPR_NONE)
			gen_swap(g,
			    (struct span){ (uint32_t)a, (uint32_t)i - 1 },
			    (struct span){ (uint32_t)i + 1, (uint32_t)b }, 0);
	}
}

void
op_swap_operands(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t a, b;

	if (expr_prec(s, i) == 0 ||
	    !tok_in(s, i, "- / // % ** << >> + and && or || ?\?"))
		return;
	a = expr_left(s, i);
	b = expr_right(s, i);
	if (a == EXPR_NONE || b == EXPR_NONE)
		return;
	gen_swap(g, (struct span){ (uint32_t)a, (uint32_t)i - 1 },
	    (struct span){ (uint32_t)i + 1, (uint32_t)b },
	    tok_in(s, i, "+ and && or ||") ? 8 : 0);
}

void
op_drop_arg(struct gen *g, size_t i)
{
	struct span el[ELEMENTS_MAX];
	const struct source *s = g->s;
	size_t n = args_at(s, i, el);

	if (gen_stmt(g, i)->kind == STMT_DEF && s->dialect != DIALECT_SH)
		return;
	if (n == 1 && tok_is(s, i, "[") && i > 0 && expr_is_end(s, i - 1))
		return; /* an index */
	for (size_t k = 0; k < n; k++) {
		if (s->dialect == DIALECT_SH || n == 1)
			gen_delete(g, el[k].a, el[k].b, (int)(n - 1 - k));
		else if (k + 1 < n)
			gen_delete(
			    g, el[k].a, el[k + 1].a - 1, (int)(n - 1 - k));
		else
			gen_delete(g, el[k - 1].b + 1, el[k].b, 0);
	}
}

/* Is the statement the only one of its body? */
static bool
only_one(const struct source *s, const struct stmt *st)
{
	size_t a = st->first, b = st->last + 1;

	if (s->dialect == DIALECT_PY) {
		size_t k = s->tok[a].stmt;
		bool first = k == 0 || tok_is(s, a - 1, ":") ||
		    tok_is(s, s->stmt[k - 1].last, ":");
		size_t next;

		if (!first)
			return false;
		if (k + 1 >= s->n_stmt)
			return true;
		next = s->stmt[k + 1].first;
		/* Less indented: the body ends here. */
		return s->tok[next].off - s->line_off[s->tok[next].line - 1] <
		    s->tok[a].off - s->line_off[s->tok[a].line - 1];
	}
	while (tok_kind(s, b, TOK_NEWLINE) || tok_is(s, b, ";"))
		b++;
	if (s->dialect == DIALECT_SH)
		return tok_in(s, b, "fi done } else elif ;; esac") &&
		    (a < 2 || tok_in(s, a - 2, "then do else {") ||
			tok_in(s, a - 1, "then do else { )"));
	return a > 0 && s->tok[a - 1].stmt < s->n_stmt &&
	    s->stmt[s->tok[a - 1].stmt].kind == STMT_HEADER &&
	    !tok_flag(s, a - 1, TF_BLOCK);
}

/* The simple statement that makes up the body of the head at st, if it is one
 * and can be dropped together with it. */
static bool
one_line_body(const struct source *s, const struct stmt *st, size_t *ret_last)
{
	const struct stmt *next = st + 1;
	size_t b;

	if (next >= s->stmt + s->n_stmt || next->kind != STMT_SIMPLE)
		return false;
	b = next->last + 1;
	if (s->dialect == DIALECT_PY) {
		size_t col = s->tok[next->first].off -
		    s->line_off[s->tok[next->first].line - 1];
		const struct stmt *after = next + 1;

		if (after < s->stmt + s->n_stmt &&
		    (s->tok[after->first].off -
			    s->line_off[s->tok[after->first].line - 1] >=
			col))
			return false;
		if (after < s->stmt + s->n_stmt &&
		    tok_in(s, after->first, "else elif"))
			return false;
		*ret_last = next->last;
		return true;
	}
	while (tok_kind(s, b, TOK_NEWLINE) || tok_is(s, b, ";"))
		b++;
	if (s->dialect == DIALECT_SH) {
		*ret_last = b;
		return tok_is(s, b, "fi");
	}
	if (tok_is(s, next->first - 1, "{")) {
		*ret_last = b;
		return tok_is(s, b, "}") && !tok_is(s, b + 1, "else");
	}
	*ret_last =
	    tok_is(s, next->last + 1, ";") ? next->last + 1 : next->last;
	return !tok_is(s, b, "else");
}

void
op_delete(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	size_t b = st->last;

	if (i != st->first)
		return;
	if (st->kind == STMT_HEADER) {
		/* A guard with its body. */
		if (tok_is(s, i, "if") && one_line_body(s, st, &b))
			gen_delete(g, i, b, 3);
		return;
	}
	if (st->kind != STMT_SIMPLE || tok_in(s, i, "pass else"))
		return;
	if (only_one(s, st)) {
		gen_put(g, i, b, tok_in(s, i, "return raise throw") ? 3 : 0,
		    "%s",
		    s->dialect == DIALECT_PY       ? "pass"
			: s->dialect == DIALECT_SH ? ":"
						   : "");
		return;
	}
	if (tok_is(s, b + 1, ";"))
		b++;
	gen_delete(g, i, b, tok_in(s, i, "return raise throw") ? 3 : 1);
}

void
op_unwrap(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span el[2];
	size_t close, a, last;

	if (s->dialect == DIALECT_SH || i == 0)
		return;
	if (tok_in(s, i, "( [") && expr_is_end(s, i - 1) &&
	    s->tok[i].match > (int32_t)i) {
		close = (size_t)s->tok[i].match;
		a = expr_primary_start(s, i - 1);
		if (a == EXPR_NONE || tok_is(s, a - 1, "new"))
			return;
		if (tok_is(s, i, "[")) { /* x[i] -> x */
			gen_delete(g, i, close, 1);
			return;
		}
		if (!expr_is_call(s, i))
			return;
		if (expr_elements(s, i, ",", el, 2) == 1)
			gen_put(
			    g, a, close, 0, "%.*s", SPAN(s, el[0].a, el[0].b));
		if (tok_in(s, i - 2, ". ?."))
			gen_delete(g, i - 2, close, 1);
		return;
	}
	if (tok_in(s, i, ". -> ?.") && tok_kind(s, i + 1, TOK_IDENT) &&
	    !tok_is(s, i + 2, "(") && !tok_in(s, i - 1, "self this")) {
		last = i + 1;
		gen_delete(g, i, last, 2); /* x.a -> x */
	}
}

/* `x.sort(y)` as a statement: x = y. */
void
op_method_assign(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	struct span el[2];
	size_t open;

	if (i != st->first || !tok_is(s, st->last, ")") ||
	    s->tok[st->last].match < 3)
		return;
	open = (size_t)s->tok[st->last].match;
	if (open < i + 3 || !tok_is(s, open - 2, ".") ||
	    expr_primary_start(s, st->last) != i ||
	    expr_elements(s, open, ",", el, 2) != 1)
		return;
	gen_put(g, i, st->last, 0, "%.*s = %.*s", SPAN(s, i, open - 3),
	    SPAN(s, el[0].a, el[0].b));
}

void
op_clamp(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	const char *pre = s->dialect == DIALECT_JS ? "Math." : "";
	struct span v;
	bool ret;

	if (i != st->first || !expr_value(s, st, &v) ||
	    tok_kind(s, v.a, TOK_STRING) || tok_in(s, v.a, "[ {"))
		return;
	ret = tok_is(s, i, "return");
	if (!ret && v.a >= i + 2 && expr_primary_start(s, v.a - 2) == i) {
		gen_put(g, v.a, v.b, 0, "%smax(%.*s, %.*s)", pre,
		    SPAN(s, i, v.a - 2), SPAN(s, v.a, v.b));
		gen_put(g, v.a, v.b, 1, "%smin(%.*s, %.*s)", pre,
		    SPAN(s, i, v.a - 2), SPAN(s, v.a, v.b));
	}
	gen_put(g, v.a, v.b, 3, "%smax(0, %.*s)", pre, SPAN(s, v.a, v.b));
	if (ret)
		gen_put(
		    g, v.a, v.b, 5, "%smax(1, %.*s)", pre, SPAN(s, v.a, v.b));
}

/* `return x` -> `return [x]`; an empty list that lacks its element. */
void
op_list_value(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	uint32_t names[4];
	struct span v;
	size_t n;

	if (i != st->first || !tok_is(s, i, "return") || !expr_value(s, st, &v))
		return;
	gen_put(g, v.a, v.b, 0, "[%.*s]", SPAN(s, v.a, v.b));
	if (!tok_is(s, v.a, "[") || v.b != v.a + 1)
		return;
	n = gen_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++)
		gen_put(g, v.a, v.b, (int)k, "[%.*s]", TOK(s, names[k]));
}

/* `a + b % c` as `(a + b) % c`, and `a * b + c` as `a * (b + c)`. */
void
op_regroup(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	int prec = expr_prec(s, i);
	size_t a, b;

	if (s->dialect == DIALECT_SH ? !tok_flag(s, i, TF_ARITH) : prec == 0)
		return;
	if (prec == 0 || i == 0)
		return;
	b = expr_primary_end(s, i + 1);
	if (b != EXPR_NONE && expr_prec(s, b + 1) > prec) {
		a = expr_left(s, i);
		if (a != EXPR_NONE && a < i)
			gen_put(g, a, b, 0, "(%.*s)", SPAN(s, a, b));
	}
	a = expr_primary_start(s, i - 1);
	if (a != EXPR_NONE && a > 0 && expr_prec(s, a - 1) > prec) {
		b = expr_right(s, i);
		if (b != EXPR_NONE && b > i)
			gen_put(g, a, b, 0, "(%.*s)", SPAN(s, a, b));
	}
}
