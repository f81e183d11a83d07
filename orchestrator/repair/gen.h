/*
 * gen.h - what operators make candidates with. A token range is a..b, both
 * included; rank is the position in the operator's own list for that place.
 */
#ifndef REPAIR_GEN_H
#define REPAIR_GEN_H

#include "orchestrator/repair/expr.h"
#include "orchestrator/repair/operators.h"

struct gen {
	const struct source *s;
	struct source *const *all; /* s is among them */
	size_t n_all;
	const struct repair_op *op;
	struct cands *out;
	const float *weight;
	uint32_t idx;
	uint16_t op_no;
	uint32_t made;     /* by this operator in this source */
	long budget;       /* steps of search left for this operator */
	size_t also;       /* a token whose line counts, too; 0: none */
	struct idle *idle; /* see gen_idle() */
	size_t n_idle;
	/* Functions of the file, or imported, that it never calls. */
	uint32_t uncalled[2];
	size_t n_uncalled;
	/* Members that are defined as functions but read as values. */
	uint32_t property[4];
	size_t n_property;
};

/* A variable of a function that is given a value but never read: something is
 * not asked. */
struct idle {
	uint32_t tok;
	int region;
	bool param;
};

/* For "%.*s": the text of tokens a..b. */
#define SPAN(s, a, b) \
	(int)((s)->tok[b].off + (s)->tok[b].len - (s)->tok[a].off), \
	    (s)->text + (s)->tok[a].off
#define TOK(s, i) (int)(s)->tok[i].len, (s)->text + (s)->tok[i].off

void gen_put(struct gen *g, size_t a, size_t b, int rank, const char *fmt, ...)
    printflike(5, 6);
/* Behind token i, or before it. */
void gen_after(struct gen *g, size_t i, int rank, const char *fmt, ...)
    printflike(4, 5);
void gen_before(struct gen *g, size_t i, int rank, const char *fmt, ...)
    printflike(4, 5);
void gen_delete(struct gen *g, size_t a, size_t b, int rank);
void gen_swap(struct gen *g, struct span x, struct span y, int rank);
bool gen_same(const struct source *s, struct span x, struct span y);

/* The tokens to look for names in: the function around i (its parameters too),
 * or what is near. */
struct span gen_block(const struct source *s, size_t i);
/* Fills these five; free g->idle. */
void gen_idle(struct gen *g);
/* Distinct names of variables around token i, nearest first; never the one at
 * i itself. gen_all_names(): that one too. */
size_t gen_names(struct gen *g, size_t i, uint32_t *ret, size_t max);
size_t gen_all_names(struct gen *g, size_t i, uint32_t *ret, size_t max);
/* Does token i name a variable, or start with one as in v.x and v[0]? */
bool gen_is_name(const struct source *s, size_t i);
/* The text of c with token k replaced, into dst; its length, or -1 when it
 * does not fit. */
int gen_replaced(const struct source *s, struct span c, size_t k, int len,
    const char *text, char *dst, size_t size);
/* Words of this dialect for `and`, `or`, `not `. */
const char *gen_and(const struct source *s);
const char *gen_or(const struct source *s);
const char *gen_not(const struct source *s);
static inline const struct stmt *
gen_stmt(const struct gen *g, size_t i)
{
	return &g->s->stmt[g->s->tok[i].stmt];
}

/*
 * A boolean place that begins at token i: a condition, what is returned, an
 * operand of and/or, what stands before a `?`, the body of an arrow function.
 */
bool gen_boolean(
    const struct gen *g, size_t i, struct span *ret, int *ret_rank);
/* The place p with a clause more: op is gen_and() or gen_or(). */
void gen_clause(struct gen *g, struct span p, const char *op, bool before,
    int rank, int len, const char *text);
/* The last token of the clause (a comparison, a negated operand, an operand of
 * and/or) that begins at j; EXPR_NONE. */
size_t gen_clause_end(const struct source *s, size_t j);
/* Does the place hold an operator that binds weaker than one of prec? */
bool gen_is_weaker(const struct source *s, struct span c, int prec);
/* Are all plain names of c known in block? */
bool gen_known(struct gen *g, struct span c, struct span block);

/* op_value.c */
void op_pair(struct gen *g, size_t i);
void op_relation(struct gen *g, size_t i);
void op_relation_const(struct gen *g, size_t i);
void op_const(struct gen *g, size_t i);
void op_const_far(struct gen *g, size_t i);
void op_plus_one(struct gen *g, size_t i);
void op_negate(struct gen *g, size_t i);
void op_arith(struct gen *g, size_t i);
void op_assign(struct gen *g, size_t i);
void op_sibling(struct gen *g, size_t i);
void op_default(struct gen *g, size_t i);
void op_double(struct gen *g, size_t i);
/* op_shape.c */
void op_drop_operand(struct gen *g, size_t i);
void op_swap_args(struct gen *g, size_t i);
void op_swap_operands(struct gen *g, size_t i);
void op_drop_arg(struct gen *g, size_t i);
void op_delete(struct gen *g, size_t i);
void op_unwrap(struct gen *g, size_t i);
void op_method_assign(struct gen *g, size_t i);
void op_clamp(struct gen *g, size_t i);
void op_list_value(struct gen *g, size_t i);
void op_regroup(struct gen *g, size_t i);
/* op_name.c */
void op_attr(struct gen *g, size_t i);
void op_string(struct gen *g, size_t i);
void op_string_other(struct gen *g, size_t i);
void op_ident(struct gen *g, size_t i);
void op_ident_swap(struct gen *g, size_t i);
void op_collapse(struct gen *g, size_t i);
void op_donor(struct gen *g, size_t i);
void op_target(struct gen *g, size_t i);
/* op_clause.c */
void op_clause(struct gen *g, size_t i);
void op_guard(struct gen *g, size_t i);
void op_wrap(struct gen *g, size_t i);
void op_slice(struct gen *g, size_t i);
void op_append(struct gen *g, size_t i);
/* op_atom.c */
void op_atom(struct gen *g, size_t i);
void op_place(struct gen *g, size_t i);
/* op_stale.c */
void op_unfed(struct gen *g, size_t i);
void op_stale(struct gen *g, size_t i);
/* op_method.c */
void op_method(struct gen *g, size_t i);
/* op_absent.c */
void op_absent(struct gen *g, size_t i);
void op_length(struct gen *g, size_t i);
/* op_share.c */
void op_compared(struct gen *g, size_t i);
void op_share_clause(struct gen *g, size_t i);
void op_fallback(struct gen *g, size_t i);
void op_pass(struct gen *g, size_t i);
void op_flag(struct gen *g, size_t i);
/* op_near.c */
void op_opposite(struct gen *g, size_t i);
/* op_insert.c */
void op_insert(struct gen *g, size_t i);
void op_adapted(struct gen *g, size_t i);
void op_name_assigned(struct gen *g, size_t i);
void op_element(struct gen *g, size_t i);
void op_own_guard(struct gen *g, size_t i);
void op_under_if(struct gen *g, size_t i);
/* op_move.c, op_need.c */
void op_move(struct gen *g, size_t i);
void op_need(struct gen *g, size_t i);
void op_composed(struct gen *g, size_t i);
/* op_literal.c */
void op_literal_clause(struct gen *g, size_t i);
void op_member_test(struct gen *g, size_t i);
void op_kin_clause(struct gen *g, size_t i);
/* op_predicate.c */
void op_predicate(struct gen *g, size_t i);
void op_callee(struct gen *g, size_t i);
/* op_file.c */
void op_file_statement(struct gen *g, size_t i);
void op_reset(struct gen *g, size_t i);
void op_member(struct gen *g, size_t i);
void op_accessor(struct gen *g, size_t i);
void op_sh_guard(struct gen *g, size_t i);
/* op_lines.c: two edits of one line. All of a source at once, from what the
 * other operators made of it. */
void op_two_edits(struct gen *g);
/* op_twin.c */
void op_twin(struct gen *g, size_t i);
void op_twin_arg(struct gen *g, size_t i);
void op_clause_changed(struct gen *g, size_t i);
void op_like_with_like(struct gen *g, size_t i);
/* op_shell.c */
void op_sh_test(struct gen *g, size_t i);
void op_sh_expand(struct gen *g, size_t i);
void op_sh_word(struct gen *g, size_t i);
void op_sh_wrap(struct gen *g, size_t i);

#endif
