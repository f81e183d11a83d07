/*
 * place.h - where a statement can be put: before one, behind one that ends a
 * body, with its indentation.
 */
#ifndef REPAIR_PLACE_H
#define REPAIR_PLACE_H

#include "orchestrator/repair/gen.h"

#define PLACES_MAX 4
#define PLACE_TEXT_MAX 512

/* What leaves a body: nothing comes behind it. */
#define PLACE_LEAVES "return break continue raise throw goto exit"

/* Where a line can be put: before the statement, or behind token `after`. */
struct place {
	size_t after; /* EXPR_NONE: before */
	int indent;
	const char *lead; /* `indent` bytes of blanks */
};

struct places {
	struct place v[PLACES_MAX];
	size_t n;
	size_t stmt; /* first token */
	const char *semi;
};

/* The blanks that token i's line begins with; false: something else does. */
bool place_indent(const struct source *s, size_t i, struct place *ret);
/* One step of indentation. */
const char *place_unit(const struct place *p);
/* The places at the statement that token i begins; false: there are none. */
bool places_find(struct gen *g, size_t i, struct places *ps);
/* A line of text at every place; body: a second one, indented more, with a
 * brace behind it where text ends with one. */
void places_put(struct gen *g, const struct places *ps, int rank, int len,
    const char *text, int body_len, const char *body);

#endif
