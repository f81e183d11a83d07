/*
 * batch.h - which checks of try_edits run in batches, and whether that is still
 * to be trusted.
 *
 * A check gets lanes (batch_lane.h) when it is a plain Python test command and
 * worth it. It has to prove itself first: without edits it must give in a lane,
 * with the modules imported anew and then beforehand, what the plain command
 * gives in a sandbox of its own. A candidate that passes in a lane is confirmed
 * by the plain command; of those that fail a few are. The first disagreement,
 * too many broken lanes, or tests that change the tree end it for good.
 */
#ifndef WORKER_AGENT_BATCH_H
#define WORKER_AGENT_BATCH_H

#include "worker/agent/batch_lane.h"

struct batch;

enum batch_state {
	BATCH_PROVING,
	BATCH_TRUSTED,
	BATCH_OFF
};

/* The proofs, in this order in a lane; the plain one at any time. */
enum batch_proof {
	PROOF_PLAIN,
	PROOF_FIRST, /* imports everything itself */
	PROOF_AGAIN, /* with it imported beforehand */
	PROOFS
};

/* NULL: this check with that many edits runs plainly. */
struct batch *batch_get(struct agent *a, const char *check, size_t n_edits);
enum batch_state batch_state(const struct batch *b);
void batch_off(struct batch *b, const char *why);

/* The next proof to be run by somebody who has (or may start) a lane; false:
 * none now. It counts as begun. */
bool batch_next_proof(struct batch *b, enum batch_proof *ret);
/* How much of the output a proof keeps. */
#define BATCH_PROOF_KEEP LANE_KEEP_MAX
/* What came of it: like the judge's view of a job. */
void batch_proved(struct batch *b, enum batch_proof p, const struct exec *x);
/* The modules that the first one reported. */
void batch_modules(struct batch *b, const struct buf *modules);

/* Can a lane run these edits? */
bool batch_takes(const struct batch *b, const struct edits *es);
/* Slot k's lane, started when it has none; NULL: there can be none. */
struct lane *batch_lane(struct agent *a, struct batch *b, size_t k);
/* Slot k's lane broke, or left something behind. */
void batch_lane_lost(struct batch *b, size_t k, bool dirty);
/* A candidate failed in a lane: is it to be run plainly, too? */
bool batch_doubts(struct batch *b);

/* Before anything changes the workspace: lanes see it as it was. */
void batch_rest(struct agent *a);
void batch_free(struct agent *a);

#endif
