/*
 * queue.h - candidates, sorted once, grouped into hypotheses and dealt out.
 *
 *	struct queue *q = queue_create(&cands, sources, n, 5000, seed);
 *	queue_hypo(q, 0)->sentence
 *	n = queue_next(q, worker, "H1", 20, out);   out[i]: indices
 *	queue_settle(q, out[0], false);
 *	queue_return(q, worker);     what it still held is dealt again
 *
 * There is one order for all: a worker prefers its own hypothesis, but helps
 * with others where an edit is likelier, and none idles while any is left.
 * Workers are numbers that the caller gives out, from 1.
 */
#ifndef REPAIR_QUEUE_H
#define REPAIR_QUEUE_H

#include "orchestrator/repair/cand.h"
#include "orchestrator/repair/operators.h"

#define QUEUE_MAX_HYPO 24
#define QUEUE_NONE SIZE_MAX

struct hypo {
	char name[8];       /* "H1" */
	char place[160];    /* "restock() (inventory.py:40-58)" */
	char sentence[360]; /* for a person */
	size_t total, left, tried;
	size_t holders; /* workers at it */
	uint32_t *list; /* its candidates, best first */
	size_t n_list, next;
};

struct queue;

/* Takes the candidates (c is empty afterwards), the most likely max of them:
 * a run must end. sources must outlive q. */
struct queue *queue_create(struct cands *c, struct source *const *sources,
    size_t n_sources, size_t max, uint64_t seed);
void queue_free(struct queue *q);
size_t queue_n_hypo(const struct queue *q);
const struct hypo *queue_hypo(const struct queue *q, size_t i);
size_t queue_hypo_find(const struct queue *q, const char *name);
size_t queue_n_cand(const struct queue *q);
size_t queue_left(const struct queue *q);
const struct cand *queue_cand(const struct queue *q, size_t i);
const struct source *queue_source(const struct queue *q, size_t i);
/* Deal at most max candidates to worker, the most likely that are left: those
 * of its own hypothesis, and those of others that are twice as likely. name may
 * be NULL or unknown: the best that are left. */
size_t queue_next(struct queue *q, uint32_t worker, const char *name,
    size_t max, uint32_t *ret);
/* A candidate was tried. One that was settled before stays as it was. */
void queue_settle(struct queue *q, size_t i, bool passed);
/* A run of it took too long, worker's: it is neither dealt nor refuted, until
 * it is settled or put back. */
void queue_late(struct queue *q, size_t i, uint32_t worker);
/* One that took too long may be dealt again, once; false: it may not. */
bool queue_again(struct queue *q, size_t i);
/* How many took too long and were not put back. */
size_t queue_n_late(const struct queue *q);
/* Deal what is about as likely as the candidate i that passed, and is left:
 * another may pass and be the better one. */
size_t queue_band(
    struct queue *q, uint32_t worker, size_t i, size_t max, uint32_t *ret);
/* The best of those that passed and were not offered: about as likely as the
 * likeliest of them, one that takes no code away, the fewest changed tokens.
 * QUEUE_NONE: none. */
size_t queue_best(const struct queue *q);
/* The candidate is given out as the fix by a worker, and not again while that
 * worker is there; worker 0: for good. */
void queue_offer(struct queue *q, size_t i, uint32_t worker);
/* A dealt candidate that was not tried after all. */
void queue_undeal(struct queue *q, size_t i);
/* The worker is gone or done. */
void queue_return(struct queue *q, uint32_t worker);
/* Nothing is dealt any more, until it is started again. */
void queue_stop(struct queue *q, bool stop);
/* The candidate with this place and text; QUEUE_NONE. */
size_t queue_find(const struct queue *q, const char *path, uint32_t line,
    const char *old, const char *new_text);

#endif
