/*
 * The operators, best first. The yields of the first column are about twice
 * the measured mean, since the list of each place begins with what fixes most.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/gen.h"

#define CODE (1u << STMT_SIMPLE | 1u << STMT_HEADER | 1u << STMT_DECL)
#define ALSO_DEF (CODE | 1u << STMT_DEF)
#define ALL (DIALECT_C | DIALECT_JS | DIALECT_PY | DIALECT_SH)
#define NOT_SH (DIALECT_C | DIALECT_JS | DIALECT_PY)
#define SCRIPT (DIALECT_JS | DIALECT_PY)

#define STMT_MAX_TOKENS 1500
#define SEARCH_MAX 3000000 /* steps of one operator in one source */

const struct repair_op repair_ops[] = {
	{ "pair word", "an `and`, `or` or truth value",
	    "turns a word into its opposite", { 40, 26, 15, 15 }, ALL, ALSO_DEF,
	    1, op_pair },
	{ "operand dropped", "a superfluous operand or clause",
	    "drops an operand with its operator", { 17, 12, 10, 8 }, ALL, CODE,
	    1, op_drop_operand },
	{ "method to assignment", "a call whose result is lost",
	    "assigns what was passed to a method", { 12, 12, 12, 12 }, SCRIPT,
	    CODE, 1, op_method_assign },
	{ "arguments swapped", "the order of arguments",
	    "swaps two arguments or elements", { 14, 10, 5, 3 }, ALL, CODE, 1,
	    op_swap_args },
	{ "operands swapped", "the order of operands",
	    "swaps the operands of an operator", { 10.3f, 8, 5, 0.3f }, NOT_SH,
	    CODE, 1, op_swap_operands },
	{ "relation", "a comparison or boundary", "changes a comparison",
	    { 22, 11, 5, 4 }, ALL, CODE, 1, op_relation },
	{ "constant", "a constant", "changes a constant a little",
	    { 13, 9, 4, 3 }, ALL, ALSO_DEF, 1, op_const },
	{ "far constant", "a constant", "changes a constant a lot",
	    { 5, 4.5f, 3, 2 }, ALL, ALSO_DEF, 1, op_const_far },
	{ "twin clause", "a missing clause",
	    "adds a clause that a similar condition has", { 12, 9, 6, 3 }, ALL,
	    CODE, 1, op_twin },
	{ "twin argument", "a wrong argument",
	    "takes the argument that another call of the function has",
	    { 4, 2, 1, 0.5f }, NOT_SH, CODE, 1, op_twin_arg },
	{ "attribute", "a member's name", "takes another member",
	    { 4, 2, 0.9f, 0.5f }, NOT_SH, CODE, 1, op_attr },
	{ "string", "a text literal", "changes a text literal", { 5, 5, 4, 2 },
	    ALL, ALSO_DEF, 1, op_string },
	{ "default value", "a default value", "changes a default value",
	    { 5, 4, 2, 2 }, NOT_SH, ALSO_DEF, 1, op_default },
	{ "argument dropped", "a superfluous argument",
	    "drops an argument or element", { 3, 2, 1.2f, 0.8f }, ALL, CODE, 1,
	    op_drop_arg },
	{ "test", "a test of a file or text", "changes a test", { 9, 5, 2, 1 },
	    DIALECT_SH, CODE, 1, op_sh_test },
	{ "expansion", "an expansion or redirection", "changes an expansion",
	    { 7, 4, 2, 2 }, DIALECT_SH, CODE, 1, op_sh_expand },
	{ "sibling name", "a function's name", "takes a sibling function",
	    { 6, 3, 2, 1 }, NOT_SH, CODE, 1, op_sibling },
	{ "assignment operator", "an assignment or bit operator",
	    "changes an assignment or bit operator", { 5, 3, 0.8f, 0.5f }, ALL,
	    CODE, 1, op_assign },
	{ "plus one", "an off-by-one", "adds or subtracts 1",
	    { 2.8f, 2, 1.2f, 0.8f }, ALL, CODE, 1, op_plus_one },
	{ "statement deleted", "a superfluous statement", "deletes a statement",
	    { 3, 2.3f, 1.2f, 1 }, ALL, CODE | OP_WEAK, 1, op_delete },
	{ "unwrapped", "a superfluous call or index",
	    "takes what a call or index was given", { 2.6f, 2, 1, 1 }, NOT_SH,
	    CODE, 1, op_unwrap },
	{ "negated", "an inverted condition", "negates a condition",
	    { 8, 4, 1.5f, 1 }, ALL, CODE, 1, op_negate },
	{ "arithmetic", "an arithmetic operator",
	    "changes an arithmetic operator", { 4, 1.8f, 1, 1 }, ALL, CODE, 1,
	    op_arith },
	{ "regrouped", "which operands belong together",
	    "puts two operands in parentheses", { 2.5f, 2, 1, 1 }, ALL, CODE, 1,
	    op_regroup },
	{ "relation and constant", "a comparison and its constant",
	    "changes a comparison and its constant", { 1.5f, 1.2f, 0.8f, 1 },
	    ALL, CODE, 1, op_relation_const },
	{ "clamped", "a value without a bound", "bounds a value",
	    { 1.6f, 1.2f, 0.5f, 0.4f }, SCRIPT, CODE, 1, op_clamp },
	{ "list value", "a value that should be a list",
	    "makes a list of a value", { 1.2f, 1, 0.8f, 0.6f }, SCRIPT, CODE, 2,
	    op_list_value },
	{ "kin clause", "a missing clause",
	    "adds a clause that asks the same function", { 6, 4, 2, 1 }, NOT_SH,
	    CODE, 1, op_kin_clause },
	{ "clause on a literal", "a missing clause",
	    "compares with another literal of the file",
	    { 3, 1.5f, 0.7f, 0.3f }, NOT_SH, CODE, 1, op_literal_clause },
	{ "member test", "a missing clause",
	    "adds a clause that asks what a collection holds",
	    { 3, 1.5f, 0.7f, 0.3f }, SCRIPT, CODE, 1, op_member_test },
	{ "statement moved", "a misplaced statement",
	    "moves a statement", { 1.5f, 1, 0.5f, 0.3f }, NOT_SH, CODE, 1,
	    op_move },
	{ "guard made", "a missing guard",
	    "adds a guard for what a statement takes for granted",
	    { 4, 0.5f, 0.25f, 0.12f }, NOT_SH, CODE, 2, op_need },
	{ "name", "a wrong name", "takes another name", { 4.5f, 2.5f, 1, 0.4f },
	    ALL, CODE, 1, op_ident },
	{ "other literal", "a text literal",
	    "takes another literal of the file", { 1.5f, 1.2f, 1, 1 }, ALL,
	    CODE, 2, op_string_other },
	{ "option", "an option of a command", "changes an option",
	    { 2, 1, 0.5f, 0.5f }, DIALECT_SH, CODE, 2, op_sh_word },
	{ "command wrapped", "a missing call",
	    "puts a function around a value", { 2, 1, 0.5f, 0.3f }, DIALECT_SH,
	    CODE, 2, op_sh_wrap },
	{ "guard", "a missing guard", "adds a guard for what may be missing",
	    { 1.6f, 0.8f, 0.4f, 0.2f }, NOT_SH, CODE, 2, op_guard },
	{ "clause cloned", "a missing clause",
	    "adds a clause from elsewhere in the file",
	    { 1.2f, 0.8f, 0.4f, 0.15f }, ALL, CODE, 2, op_clause },
	{ "names swapped", "two swapped names", "swaps two names",
	    { 0.6f, 0.4f, 0.3f, 0.2f }, ALL, CODE, 2, op_ident_swap },
	{ "collapsed", "a superfluous expression",
	    "puts a name in place of an expression",
	    { 0.5f, 0.3f, 0.25f, 0.2f }, NOT_SH, CODE, 2, op_collapse },
	{ "donor", "a wrong expression",
	    "takes another expression of the function",
	    { 0.5f, 0.3f, 0.2f, 0.15f }, NOT_SH, CODE, 2, op_donor },
	{ "clause changed", "a missing clause",
	    "adds a clause like another with a name or literal changed",
	    { 0.3f, 0.15f, 0.06f, 0.03f }, NOT_SH, CODE, 2, op_clause_changed },
	{ "target", "where a value goes", "assigns to another place",
	    { 0.5f, 0.3f, 0.2f, 0.15f }, NOT_SH, CODE, 2, op_target },
	{ "condition or result", "a wrong condition or result",
	    "takes a name or a test of it in place of a condition or result",
	    { 0.5f, 0.3f, 0.15f, 0.05f }, NOT_SH, CODE, 2, op_place },
	{ "slice", "a missing slice", "adds a slice or index",
	    { 0.25f, 0.2f, 0.1f, 0.1f }, SCRIPT, CODE, 2, op_slice },
	{ "two edits", "two faults on one line", "makes two edits of one line",
	    { 0.2f, 0.2f, 0.2f, 0.2f }, ALL, CODE, 2, NULL },
	{ "wrapped", "a missing call", "wraps an expression in a call",
	    { 0.2f, 0.14f, 0.1f, 0.1f }, NOT_SH, CODE, 2, op_wrap },
	{ "atom clause", "a missing clause", "adds a clause on a name",
	    { 0.1f, 0.07f, 0.05f, 0.02f }, NOT_SH, CODE, 2, op_atom },
	{ "statement inserted", "a missing statement",
	    "repeats a statement of the function",
	    { 0.1f, 0.07f, 0.05f, 0.03f }, ALL, CODE, 2, op_insert },
	{ "statement adapted", "a missing statement",
	    "adds a statement like another with one name changed",
	    { 0.1f, 0.08f, 0.04f, 0.02f }, ALL, CODE, 2, op_adapted },
	{ "element added", "a missing statement",
	    "adds a value to a collection of the file",
	    { 0.1f, 0.08f, 0.05f, 0.02f }, SCRIPT, CODE, 2, op_element },
	{ "own guard", "a missing guard", "adds a guard that the file has",
	    { 0.12f, 0.08f, 0.05f, 0.03f }, NOT_SH, CODE, 2, op_own_guard },
	{ "put under a condition", "a missing condition",
	    "puts a statement under a condition",
	    { 0.12f, 0.08f, 0.05f, 0.03f }, ALL, CODE, 2, op_under_if },
	{ "name assigned", "a missing assignment",
	    "assigns one name to another", { 0.08f, 0.05f, 0.03f, 0.02f },
	    NOT_SH, CODE, 2, op_name_assigned },
	{ "statement of the file", "a missing statement",
	    "adds a statement that another function has",
	    { 0.3f, 0.2f, 0.1f, 0.05f }, ALL, CODE, 2, op_file_statement },
	{ "reset", "a missing reset", "sets a counter or collection back",
	    { 0.6f, 0.4f, 0.2f, 0.1f }, NOT_SH, CODE, 2, op_reset },
	{ "member for a name", "a wrong name",
	    "takes a member of the object in place of a name",
	    { 0.4f, 0.3f, 0.15f, 0.1f }, SCRIPT, CODE, 2, op_member },
	{ "predicate", "a missing clause",
	    "adds a clause that asks a function of the file",
	    { 0.15f, 0.1f, 0.05f, 0.03f }, NOT_SH, CODE, 2, op_predicate },
	{ "term appended", "a missing term", "adds or subtracts a name",
	    { 0.1f, 0.06f, 0.04f, 0.02f }, ALL, CODE, 2, op_append },
};
const size_t n_repair_ops = nitems(repair_ops);

/* C outside of functions: nothing runs there but initializers. */
static bool
is_prototype(const struct source *s, const struct stmt *st)
{
	if (s->dialect != DIALECT_C ||
	    source_region(s, s->tok[st->first].line) >= 0 ||
	    s->tok[st->first].kind == TOK_DIRECTIVE)
		return false;
	for (size_t i = st->first; i <= st->last; i++) {
		if (tok_is(s, i, "="))
			return false;
	}
	return true;
}

/* Tables and packed text: slow to look at, and no place to mend. */
static bool
is_huge(const struct source *s, const struct stmt *st)
{
	size_t len;

	(void)source_line_text(s, s->tok[st->first].line, &len);
	return len > CAND_MAX_TEXT || st->last - st->first > STMT_MAX_TOKENS;
}

static float
best_yield(const struct repair_op *op)
{
	float best = 0;

	for (size_t k = 0; k < nitems(op->yield); k++)
		best = op->yield[k] > best ? op->yield[k] : best;
	return best;
}

void
repair_generate(struct cands *out, struct source *const *sources, size_t n,
    uint32_t idx, const float *weight)
{
	const struct source *s = sources[idx];
	struct gen g = { .s = s,
		.all = sources,
		.n_all = n,
		.out = out,
		.weight = weight,
		.idx = idx };
	float most = weight != NULL ? 0 : 1;
	size_t two = 0;
	bool *idle;

	if (s->n_stmt == 0)
		return;
	for (size_t k = 0; weight != NULL && k < s->n_line; k++)
		most = weight[k] > most ? weight[k] : most;
	idle = xcalloc(s->n_stmt, sizeof *idle);
	for (size_t k = 0; k < s->n_stmt; k++)
		idle[k] =
		    is_prototype(s, &s->stmt[k]) || is_huge(s, &s->stmt[k]);
	for (size_t k = 0; k < n_repair_ops; k++) {
		g.op = &repair_ops[k];
		g.op_no = (uint16_t)k;
		g.made = 0;
		g.budget = SEARCH_MAX;
		if (g.op->fn == NULL) {
			two = k;
			continue;
		}
		if (!(g.op->dialects & s->dialect) ||
		    most * best_yield(g.op) <= out->floor)
			continue;
		for (size_t i = 0; i < s->n_tok && g.budget > 0; i++) {
			unsigned kind = s->stmt[s->tok[i].stmt].kind;

			if (s->tok[i].kind <= TOK_OP &&
			    (g.op->where & 1u << kind) && !idle[s->tok[i].stmt])
				g.op->fn(&g, i);
		}
	}
	g.op = &repair_ops[two];
	g.op_no = (uint16_t)two;
	g.made = 0;
	op_two_edits(&g);
	free(idle);
}
