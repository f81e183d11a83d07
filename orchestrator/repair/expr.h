/*
 * expr.h - where expressions begin and end, guessed from tokens alone.
 *
 * Every function takes token indices and gives EXPR_NONE when there is no such
 * thing there.
 */
#ifndef REPAIR_EXPR_H
#define REPAIR_EXPR_H

#include "orchestrator/repair/token.h"

#define EXPR_NONE SIZE_MAX

/* How tightly the binary operator at i binds, 1 to 12; 0: it is none. */
int expr_prec(const struct source *s, size_t i);
/* An operator that stands alone before its operand: -x, !x, not x, *p. */
bool expr_is_prefix(const struct source *s, size_t i);
/* May an operand end (begin) with this token? */
bool expr_is_end(const struct source *s, size_t i);
bool expr_is_start(const struct source *s, size_t i);
/* A name that is bound here, not read: `x` in `for x in y`, `lambda x: ...`. */
bool expr_is_bound(const struct source *s, size_t i);
/* The first (last) token of the operand `a.b[c](d)` that ends (begins) at i,
 * prefix operators included at the end search only. */
size_t expr_primary_start(const struct source *s, size_t i);
size_t expr_primary_end(const struct source *s, size_t i);
/* The operands of the binary operator at i. */
size_t expr_left(const struct source *s, size_t op);
size_t expr_right(const struct source *s, size_t op);
/* Elements of the bracket at i, parted by `sep` at its level: up to max pairs
 * of first and last token. 0: empty, unmatched, or too many. */
struct span {
	uint32_t a, b;
};
size_t expr_elements(const struct source *s, size_t open, const char *sep,
    struct span *ret, size_t max);
/* The bracket that encloses token i, going back no further than its
 * statement; EXPR_NONE at the top level. */
size_t expr_enclosing(const struct source *s, size_t i);
/* The condition of an if, while, elif ... statement: its tokens. */
bool expr_condition(
    const struct source *s, const struct stmt *st, struct span *ret);
/* The bracket at i holds the arguments of a call (not parameters). */
bool expr_is_call(const struct source *s, size_t open);
/* The value of `return x`, `v = x`. */
bool expr_value(
    const struct source *s, const struct stmt *st, struct span *ret);

#endif
