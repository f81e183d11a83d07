/*
 * gateway.h - the one place where models are asked.
 *
 * A worker's request is a list of message hashes plus the bodies that are new;
 * the gateway puts the conversation together from what it has seen (memory,
 * then the store), asks the provider, records the exchange and answers. It
 * keeps no state that the store has not: a request for an exchange that is on
 * record, asked again by the same worker or by a later attempt at the same
 * subtask, gets the recorded reply and costs nothing. A request that is under
 * way when its worker dies is carried to its end and recorded for the next
 * attempt.
 *
 * Before a request its highest cost is reserved, of the subtask and of the run;
 * one that does not fit beside what others have reserved waits for them.
 */
#ifndef ORCHESTRATOR_GATEWAY_GATEWAY_H
#define ORCHESTRATOR_GATEWAY_GATEWAY_H

#include "orchestrator/gateway/ledger.h"
#include "orchestrator/gateway/provider.h"
#include "orchestrator/store/store.h"
#include "proto/msg.h"

struct gateway;

/* A reply that was accepted and recorded. */
struct gateway_note {
	const char *worker, *subtask;
	uint64_t turn, ms; /* ms: of the accepted request */
	uint64_t whole_ms; /* since the worker's message came */
	unsigned requests; /* made for it, refused ones included */
	struct spend spend;
	bool recorded; /* served from the record: nothing was spent */
};

struct gateway_ops {
	/* A MODEL_RESULT for a worker; m is borrowed. */
	void (*answer)(void *ctx, const char *worker, const struct msg *m);
	void (*note)(void *ctx, const struct gateway_note *n);
	/* A request failed for good. */
	void (*fault)(void *ctx, const char *worker, const struct fault *f);
	/* What is told late and not kept (siblings' findings, the budget);
	 * yours to add to b. May be NULL. */
	void (*late)(void *ctx, const char *worker, struct buf *b);
	/* The record can't be written: the run can't go on. */
	void (*failed)(void *ctx, const struct err *e);
	void *ctx;
};

/* Takes the provider. t0_ms: loop_now_ms() at the start of the run. */
struct gateway *gateway_create(struct store *s, struct provider *p,
    const struct gateway_ops *ops, uint64_t t0_ms);
/* Serve replies of another run by subtask and turn, and nothing else; where its
 * record ends a worker is told status_at_end ("error", or "budget" when that
 * ended it). Both borrowed. */
void gateway_replay(
    struct gateway *g, struct store *from, const char *status_at_end);
void gateway_free(struct gateway *g);

/* The answer comes by ops.answer, at once or later. l: the subtask's. */
void gateway_ask(struct gateway *g, const char *worker, const char *subtask,
    unsigned attempt, struct ledger *l, const struct msg_model *q);
void gateway_worker_gone(struct gateway *g, const char *worker);
/* Calls that wait for the budget, or for the first one. */
size_t gateway_waiting(const struct gateway *g);
const struct provider *gateway_provider(const struct gateway *g);

#endif
