/*
 * gate.h - a limiter on the event loop: one for each provider and loop, shared
 * by all its models and workers. Who waits is let in in the order of arrival,
 * which a request keeps when it has to ask again.
 */
#ifndef ORCHESTRATOR_GATEWAY_GATE_H
#define ORCHESTRATOR_GATEWAY_GATE_H

#include <sys/queue.h>

#include "common/loop.h"
#include "orchestrator/gateway/limiter.h"

struct gate;

struct gate_wait {
	TAILQ_ENTRY(gate_wait) entry;
	uint64_t arrival; /* 0: gate_join() sets it */
	bool queued;
	void (*go)(void *ctx); /* from the loop; counted in flight by then */
	void *ctx;
};

/* The same name gives the same gate; the first one's max and seed count. */
struct gate *gate_get(
    struct loop *l, const char *name, unsigned max, uint64_t seed);
void gate_put(struct gate *g);

void gate_join(struct gate *g, struct gate_wait *w);
/* Not yet let in: leave the queue. */
void gate_drop(struct gate *g, struct gate_wait *w);
/* Let in before, now over. */
void gate_leave(struct gate *g, bool ok);
/* A server asked for patience: nobody is let in for so long. True: the gate was
 * open until now. */
bool gate_refused(struct gate *g, uint64_t wait_ms);

/* Those that wait. */
size_t gate_queued(const struct gate *g);
/* Refusals in a row. */
unsigned gate_strikes(const struct gate *g);
const struct limiter *gate_limiter(const struct gate *g);

/* For tests: the gate's clock, and gate_timer(), run so many times faster. */
void gate_speed(struct gate *g, unsigned times);
/* A timer of the loop at the gate's speed. */
struct loop_watch *gate_timer(
    struct gate *g, uint64_t ms, loop_cb cb, void *ctx);

#endif
