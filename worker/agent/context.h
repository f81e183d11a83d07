/*
 * context.h - what goes when the model's window fills. Pure but for the saving
 * of dropped texts, which the caller does.
 *
 * The order of retreat:
 *	cap      each result as it arrives (context_result_max)
 *	strip    noise in old results: repeated lines, results that came again
 *	drop     old results, oldest first, each replaced by a stub
 *	compact  the middle of the conversation, replaced by a summary
 *
 * Nothing happens below the high-water mark (80 % of the window, less where the
 * room for an answer needs more); then all that is needed happens at once, down
 * to the low-water mark (50 %), since each change costs the provider's cache.
 * Compaction is chosen when the rest can't reach the low mark. Messages of the
 * model are never changed: signed reasoning in them stays as it was, or goes
 * with its whole message, calls and results together.
 *
 * Tokens are bytes / 4, corrected by what the provider counted.
 */
#ifndef WORKER_AGENT_CONTEXT_H
#define WORKER_AGENT_CONTEXT_H

#include "worker/agent/conv.h"

#define CONTEXT_WINDOW 128000 /* tokens, when it is not known */
#define CONTEXT_BARREN_MAX 2  /* compactions in a row without progress */

struct context {
	uint64_t window, high, low; /* tokens */
	uint64_t per_kib;           /* tokens of 1024 bytes */
	size_t fixed;               /* messages at the head that never go */
	unsigned barren;            /* compactions in a row without progress */
};

enum context_need {
	CONTEXT_FITS,
	CONTEXT_COMPACT
};

/* Keep the text of a result that is dropped: its name for the model into dst,
 * or "" when it could not be kept. */
typedef void (*context_save)(
    void *ctx, const char *text, size_t len, char *dst, size_t size);

/* window: 0 is unknown; max_output: tokens of one answer, 0 is unknown. */
void context_init(struct context *x, uint64_t window, uint64_t max_output);
uint64_t context_tokens(
    const struct context *x, const struct conv *c, size_t from, size_t to);
/* The provider counted in_tokens (0: it did not) for all of c and extra bytes
 * beside it. */
void context_measure(
    struct context *x, const struct conv *c, size_t extra, uint64_t in_tokens);
/* The provider says that c is too long: believe it. */
void context_overflowed(struct context *x, const struct conv *c);
/* Bytes of one result. */
size_t context_result_max(const struct context *x);

/* Make room by strip and drop if it is full (or force is set). Says whether
 * compaction is to follow. ERR_LIMIT ("context too small"): no retreat can
 * help. */
int context_retreat(struct context *x, struct conv *c, bool force,
    context_save save, void *ctx, enum context_need *ret, struct err *e);

/* The first message of the tail that compaction keeps: complete call/result
 * groups, or c->n. */
size_t context_tail(const struct context *x, const struct conv *c);
/* Most bytes of a summary. */
size_t context_summary_max(const struct context *x);
/* A compaction is over: tokens before it. ERR_LIMIT when it was the second in a
 * row that did not help. */
int context_compacted(
    struct context *x, const struct conv *c, uint64_t before, struct err *e);
/* The same for one whose summary was refused. */
int context_barren(struct context *x, const struct conv *c, struct err *e);
int context_too_small(
    const struct context *x, const struct conv *c, struct err *e);

/* trim.c: old results made shorter. Each returns whether it changed c. */
bool trim_strip(struct conv *c, size_t from, size_t to);
bool trim_drop(struct conv *c, size_t i, context_save save, void *ctx);
/* Can dropping it be of use? */
bool trim_can_drop(const struct conv *c, size_t i);
#define TRIM_STUB 300 /* bytes of a message that was dropped, about */

#endif
