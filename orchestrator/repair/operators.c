/*
 * The operators. A yield is the share of bugs that such an edit mends, divided
 * by how many such edits a program has: of 204 one-edit bugs of small programs
 * (weighing less than half), of small fixes of real repositories (of which 22 %
 * add a clause, 13 % a guard, 13 % take another name, 13 % insert or move a
 * statement, 11 % change an operator, constant or literal, 9 % add a call), and
 * of tests/bugs; checked with each of these left out in turn. The unit is of no
 * importance. Of two operators that make the same edit the first one counts.
 *
 * Estimated, not measured so: "stale variable", "opposite clause", "method
 * asked", "argument passed", "name and member", "fallback", "names compared"
 * and "guard composed" stand beside operators of their kind and number of
 * edits. "unfed collection", "bound doubled", "absent value", "length asked",
 * "flag asked" and "term appended" are weighed by the ranks of the fixes of 150
 * programs: of few edits that mend something the first ones come early.
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
	{ "twin clause", "a missing clause",
	    "adds a clause that a similar condition has", { 25, 12, 6, 4 }, ALL,
	    CODE, 1, op_twin },
	{ "relation", "a comparison or boundary", "changes a comparison",
	    { 21, 4, 1.8f, 1.8f }, ALL, CODE, 1, op_relation },
	{ "pair word", "an `and`, `or` or truth value",
	    "turns a word into its opposite", { 18, 3.5f, 3.5f, 3.5f }, ALL,
	    ALSO_DEF, 1, op_pair },
	{ "operands swapped", "the order of operands",
	    "swaps the operands of an operator", { 15, 15, 15, 0.44f }, NOT_SH,
	    CODE, 1, op_swap_operands },
	{ "statement moved", "a misplaced statement", "moves a statement",
	    { 14, 14, 3.1f, 3.1f }, NOT_SH, CODE, 1, op_move },
	{ "test", "a test of a file or text", "changes a test", { 12, 8, 4, 3 },
	    DIALECT_SH, CODE, 1, op_sh_test },
	{ "assignment operator", "an assignment or bit operator",
	    "changes an assignment or bit operator", { 12, 12, 1.5f, 1 }, ALL,
	    CODE, 1, op_assign },
	{ "expansion", "an expansion or redirection", "changes an expansion",
	    { 12, 3, 1.5f, 1.5f }, DIALECT_SH, CODE, 1, op_sh_expand },
	{ "command wrapped", "a missing call", "puts a function around a value",
	    { 11, 9.6f, 2.8f, 2.8f }, DIALECT_SH, CODE, 2, op_sh_wrap },
	{ "operand dropped", "a superfluous operand or clause",
	    "drops an operand with its operator", { 11, 7.8f, 7.8f, 7.8f }, ALL,
	    CODE, 1, op_drop_operand },
	{ "arithmetic", "an arithmetic operator",
	    "changes an arithmetic operator", { 9.2f, 2.4f, 1.3f, 1.3f }, ALL,
	    CODE, 1, op_arith },
	{ "arguments swapped", "the order of arguments",
	    "swaps two arguments or elements", { 8.9f, 3.1f, 1.6f, 0.94f }, ALL,
	    CODE, 1, op_swap_args },
	{ "constant", "a constant", "changes a constant a little",
	    { 8.6f, 6.5f, 1.5f, 1.5f }, ALL, ALSO_DEF, 1, op_const },
	{ "option", "an option of a command", "changes an option",
	    { 8, 4, 2, 2 }, DIALECT_SH, CODE, 2, op_sh_word },
	{ "kin clause", "a missing clause",
	    "adds a clause that asks the same function", { 8, 2.5f, 1.2f, 1 },
	    ALL, CODE, 1, op_kin_clause },
	{ "method to assignment", "a call whose result is lost",
	    "assigns what was passed to a method", { 6.3f, 6.3f, 6.3f, 6.3f },
	    SCRIPT, CODE, 1, op_method_assign },
	{ "unfed collection", "a missing statement",
	    "puts a value into a collection that stays empty",
	    { 9, 6, 2, 0.4f }, NOT_SH, CODE, 1, op_unfed },
	{ "reset", "a missing reset", "sets a counter or collection back",
	    { 6, 2.6f, 0.5f, 0.5f }, NOT_SH, CODE, 2, op_reset },
	{ "callee", "a function's name",
	    "calls another function of the program", { 6, 2.1f, 1, 1 }, NOT_SH,
	    CODE, 1, op_callee },
	{ "like with like", "a missing clause", "compares another member, too",
	    { 5.7f, 5.7f, 1.8f, 1.8f }, NOT_SH, CODE, 1, op_like_with_like },
	{ "sibling name", "a function's name", "takes a related name instead",
	    { 5.2f, 1.4f, 1.4f, 1.4f }, NOT_SH, CODE, 1, op_sibling },
	{ "absent value", "how a missing value is told from an empty one",
	    "asks whether a value is there, not whether it is true",
	    { 8, 5, 3, 2 }, NOT_SH, CODE, 1, op_absent },
	{ "argument passed", "a missing argument",
	    "passes a value on that bears a parameter's name", { 5, 2, 1, 1 },
	    SCRIPT, CODE, 1, op_pass },
	{ "length asked", "a missing clause",
	    "asks for the length before an element", { 6, 2, 0.8f, 0.5f },
	    NOT_SH, CODE, 1, op_length },
	{ "flag asked", "a missing clause",
	    "asks for a member that only a failing test speaks of",
	    { 4, 0.8f, 0.4f, 0.2f }, NOT_SH, CODE, 1, op_flag },
	{ "name and member", "a missing clause",
	    "compares a member with the variable of its name",
	    { 1.5f, 0.7f, 0.3f, 0.1f }, NOT_SH, CODE, 1, op_share_clause },
	{ "fallback", "a missing default",
	    "takes something else where a value is missing",
	    { 0.8f, 0.4f, 0.2f, 0.1f }, SCRIPT, CODE, 2, op_fallback },
	{ "guard", "a missing guard", "adds a guard for what may be missing",
	    { 5, 1, 0.5f, 0.5f }, NOT_SH, CODE, 2, op_guard },
	{ "negated", "an inverted condition", "negates a condition",
	    { 4.9f, 1.4f, 1.4f, 1.4f }, ALL, CODE, 1, op_negate },
	{ "twin argument", "a wrong argument",
	    "takes the argument that another call of the function has",
	    { 4.6f, 1.5f, 0.77f, 0.77f }, NOT_SH, CODE, 1, op_twin_arg },
	{ "string", "a text literal", "changes a text literal",
	    { 4, 4, 2.1f, 2.1f }, ALL, ALSO_DEF, 1, op_string },
	{ "accessor", "a member's name", "asks a method in place of a member",
	    { 4, 2, 1, 0.5f }, SCRIPT, CODE, 1, op_accessor },
	{ "wrapped", "a missing call", "wraps an expression in a call",
	    { 3, 0.4f, 0.3f, 0.2f }, NOT_SH, CODE, 2, op_wrap },
	{ "own guard of a shell", "a missing guard",
	    "adds a guard that another function has", { 3, 2.5f, 1, 0.5f },
	    DIALECT_SH, CODE, 1, op_sh_guard },
	{ "list value", "a value that should be a list",
	    "makes a list of a value", { 2.9f, 0.98f, 0.33f, 0.33f }, SCRIPT,
	    CODE, 2, op_list_value },
	{ "stale variable", "a missing assignment",
	    "changes a variable that keeps its first value",
	    { 2.8f, 1.6f, 0.5f, 0.1f }, NOT_SH, CODE, 1, op_stale },
	{ "member test", "a missing clause",
	    "adds a clause that asks what a collection holds",
	    { 2.7f, 0.76f, 0.35f, 0.35f }, SCRIPT, CODE, 1, op_member_test },
	{ "default value", "a default value", "changes a default value",
	    { 2.3f, 2.3f, 1.2f, 1.2f }, NOT_SH, ALSO_DEF, 1, op_default },
	{ "regrouped", "which operands belong together",
	    "puts two operands in parentheses", { 2.2f, 2.2f, 2.2f, 2.2f }, ALL,
	    CODE, 1, op_regroup },
	{ "guard made", "a missing guard",
	    "adds a guard for what a statement takes for granted",
	    { 2, 1.4f, 0.13f, 0.06f }, NOT_SH, CODE, 2, op_need },
	{ "target", "where a value goes", "assigns to another place",
	    { 1.9f, 1.1f, 0.76f, 0.76f }, NOT_SH, CODE, 2, op_target },
	{ "opposite clause", "a missing clause",
	    "adds a clause that another condition of the function asks",
	    { 1.9f, 1, 0.4f, 0.2f }, NOT_SH, CODE, 1, op_opposite },
	{ "far constant", "a constant", "changes a constant a lot",
	    { 1.8f, 1.8f, 1.8f, 1.8f }, ALL, ALSO_DEF, 1, op_const_far },
	{ "member for a name", "a wrong name",
	    "takes a member of the object in place of a name",
	    { 1.8f, 1.2f, 0.34f, 0.34f }, SCRIPT, CODE, 2, op_member },
	{ "clause on a literal", "a missing clause",
	    "compares with another literal of the file",
	    { 1.7f, 1.7f, 0.15f, 0.06f }, NOT_SH, CODE, 1, op_literal_clause },
	{ "names compared", "a missing clause",
	    "compares a value with another of the function",
	    { 0.5f, 0.25f, 0.1f, 0.05f }, NOT_SH, CODE, 2, op_compared },
	{ "own guard", "a missing guard", "adds a guard that the file has",
	    { 1.6f, 0.3f, 0.17f, 0.1f }, NOT_SH, CODE, 2, op_own_guard },
	{ "guard composed", "a missing guard",
	    "leaves early when a value is missing or empty",
	    { 0.35f, 0.2f, 0.1f, 0.05f }, NOT_SH, CODE, 2, op_composed },
	{ "plus one", "an off-by-one", "adds or subtracts 1",
	    { 1.4f, 1, 0.61f, 0.61f }, ALL, CODE, 1, op_plus_one },
	{ "name", "a wrong name", "takes another name",
	    { 1.4f, 0.78f, 0.16f, 0.065f }, ALL, CODE, 1, op_ident },
	{ "statement of the file", "a missing statement",
	    "adds a statement that another function has",
	    { 1.2f, 0.8f, 0.7f, 0.4f }, ALL, CODE, 2, op_file_statement },
	{ "clamped", "a value without a bound", "bounds a value",
	    { 1.2f, 0.93f, 0.39f, 0.39f }, SCRIPT, CODE, 1, op_clamp },
	{ "statement deleted", "a superfluous statement", "deletes a statement",
	    { 1.2f, 0.9f, 0.47f, 0.47f }, ALL, CODE | OP_WEAK, 1, op_delete },
	{ "unwrapped", "a superfluous call or index",
	    "takes what a call or index was given", { 1, 0.79f, 0.79f, 0.79f },
	    NOT_SH, CODE, 1, op_unwrap },
	{ "relation and constant", "a comparison and its constant",
	    "changes a comparison and its constant",
	    { 0.73f, 0.58f, 0.39f, 0.39f }, ALL, CODE, 1, op_relation_const },
	{ "attribute", "a member's name", "takes another member",
	    { 0.72f, 0.7f, 0.16f, 0.16f }, NOT_SH, CODE, 1, op_attr },
	{ "clause cloned", "a missing clause",
	    "adds a clause from elsewhere in the file",
	    { 0.6f, 0.4f, 0.35f, 0.25f }, ALL, CODE, 2, op_clause },
	{ "argument dropped", "a superfluous argument",
	    "drops an argument or element", { 0.58f, 0.39f, 0.23f, 0.02f }, ALL,
	    CODE, 1, op_drop_arg },
	{ "bound doubled", "a bound", "doubles or halves a bound",
	    { 1.6f, 0.4f, 0.3f, 0.2f }, NOT_SH, CODE, 1, op_double },
	{ "other literal", "a text literal",
	    "takes another literal of the file", { 0.51f, 0.41f, 0.34f, 0.34f },
	    ALL, CODE, 2, op_string_other },
	{ "condition or result", "a wrong condition or result",
	    "takes a name or a test of it in place of a condition or result",
	    { 0.43f, 0.26f, 0.13f, 0.043f }, NOT_SH, CODE, 2, op_place },
	{ "predicate", "a missing clause",
	    "adds a clause that asks a function of the file",
	    { 0.28f, 0.19f, 0.094f, 0.056f }, NOT_SH, CODE, 2, op_predicate },
	{ "method asked", "a missing call", "asks a method of a value",
	    { 0.3f, 0.2f, 0.12f, 0.08f }, NOT_SH, CODE, 2, op_method },
	{ "statement inserted", "a missing statement",
	    "repeats a statement of the function",
	    { 0.28f, 0.2f, 0.14f, 0.14f }, ALL, CODE, 2, op_insert },
	{ "element added", "a missing statement",
	    "adds a value to a collection of the file",
	    { 0.19f, 0.15f, 0.095f, 0.038f }, SCRIPT, CODE, 2, op_element },
	{ "donor", "a wrong expression",
	    "takes another expression of the function",
	    { 0.19f, 0.11f, 0.075f, 0.056f }, NOT_SH, CODE, 2, op_donor },
	{ "names swapped", "two swapped names", "swaps two names",
	    { 0.18f, 0.12f, 0.092f, 0.092f }, ALL, CODE, 2, op_ident_swap },
	{ "put under a condition", "a missing condition",
	    "puts a statement under a condition",
	    { 0.17f, 0.11f, 0.071f, 0.071f }, ALL, CODE, 2, op_under_if },
	{ "clause changed", "a missing clause",
	    "adds a clause like another with a name or literal changed",
	    { 0.16f, 0.078f, 0.031f, 0.02f }, NOT_SH, CODE, 2,
	    op_clause_changed },
	{ "slice", "a missing slice", "adds a slice or index",
	    { 0.15f, 0.1f, 0.06f, 0.06f }, SCRIPT, CODE, 2, op_slice },
	{ "name assigned", "a missing assignment",
	    "assigns one name to another", { 0.12f, 0.076f, 0.046f, 0.031f },
	    NOT_SH, CODE, 2, op_name_assigned },
	{ "atom clause", "a missing clause", "adds a clause on a name",
	    { 0.12f, 0.084f, 0.06f, 0.024f }, NOT_SH, CODE, 2, op_atom },
	{ "term appended", "a missing term", "adds or subtracts a name",
	    { 0.16f, 0.16f, 0.05f, 0.039f }, ALL, CODE, 2, op_append },
	{ "statement adapted", "a missing statement",
	    "adds a statement like another with one name changed",
	    { 0.25f, 0.12f, 0.041f, 0.02f }, ALL, CODE, 2, op_adapted },
	{ "collapsed", "a superfluous expression",
	    "puts a name in place of an expression",
	    { 0.075f, 0.045f, 0.037f, 0.03f }, NOT_SH, CODE, 2, op_collapse },
	{ "two edits", "two faults on one line", "makes two edits of one line",
	    { 0.064f, 0.064f, 0.064f, 0.064f }, ALL, CODE, 2, NULL },
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
	gen_idle(&g);
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
	free(g.idle);
	free(idle);
}
