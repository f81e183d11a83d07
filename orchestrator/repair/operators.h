/*
 * operators.h - the table of repair operators: each makes single edits of one
 * kind. Order and yields come from measuring (fixes per 1000 candidates over
 * 204 one-edit bugs).
 */
#ifndef REPAIR_OPERATORS_H
#define REPAIR_OPERATORS_H

#include "orchestrator/repair/cand.h"
#include "orchestrator/repair/token.h"

struct gen;

/* In `where`: takes code away; the fix only when nothing else passes. */
#define OP_WEAK 0x10000u

/* At most so many: a bit each in the notes of the built-in model. */
#define REPAIR_OPS_MAX 128

struct repair_op {
	const char *name;
	const char *noun;     /* "a comparison": what may be wrong */
	const char *sentence; /* what the edit does, for a person */
	float yield[4];       /* per 1000: first, 2nd and 3rd, to 8th, later */
	unsigned dialects;    /* of enum token_dialect */
	unsigned where;       /* bit 1 << enum stmt_kind, OP_WEAK */
	uint8_t wave;         /* 1 or 2 */
	/* Called for each token; NULL: of two edits, when all others are
	 * done. */
	void (*fn)(struct gen *g, size_t tok);
};

extern const struct repair_op repair_ops[];
extern const size_t n_repair_ops;

/* All candidates of sources[idx]; the other ones have names that it may lack.
 * idx is stored in them; weight[line - 1] is the suspicion of a line, NULL: all
 * are alike. */
void repair_generate(struct cands *out, struct source *const *sources, size_t n,
    uint32_t idx, const float *weight);

#endif
