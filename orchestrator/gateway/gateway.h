/*
 * gateway.h - the one place where models are asked.
 *
 * A worker's request is a list of message hashes plus the bodies that are new;
 * the gateway puts the conversation together from what it has seen (memory,
 * then the store), asks the provider, records the exchange and answers. Asking
 * the same turn again gives the recorded answer again and costs nothing.
 */
#ifndef ORCHESTRATOR_GATEWAY_GATEWAY_H
#define ORCHESTRATOR_GATEWAY_GATEWAY_H

#include "orchestrator/gateway/provider.h"
#include "orchestrator/run/ledger.h"
#include "orchestrator/store/store.h"
#include "proto/msg.h"

struct gateway;

/* Takes the provider. t0_ms: loop_now_ms() at the start of the run. */
struct gateway *gateway_create(
    struct store *s, struct ledger *l, struct provider *p, uint64_t t0_ms);
void gateway_free(struct gateway *g);

struct gateway_reply {
	struct msg m; /* a MODEL_RESULT; borrows from the gateway until the
			 next call */
	bool fresh;   /* a new exchange, not a repeated one */
	uint64_t ms;
};

/* Always fills ret: a failure is a MODEL_RESULT with status error, budget or
 * need. Returns negative only when the record can't be written (disk full). */
int gateway_ask(struct gateway *g, const char *worker, const char *subtask,
    unsigned attempt, const struct msg_model *q, struct gateway_reply *ret,
    struct err *e);
void gateway_worker_gone(struct gateway *g, const char *worker);
const struct provider *gateway_provider(const struct gateway *g);

#endif
