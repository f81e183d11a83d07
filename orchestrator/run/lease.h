/*
 * lease.h - how long a worker on another machine may have its subtask.
 *
 * Its host says that it lives, which says nothing of the work. So the worker
 * itself has to say something: READY (or its host, how far the snapshot is) in
 * two minutes; after that something else than READY, in the time that two of
 * its commands may take and five minutes more. And no longer than the subtask's
 * time limit, which the host should have kept. Times are in ms of
 * loop_now_ms().
 */
#ifndef ORCHESTRATOR_RUN_LEASE_H
#define ORCHESTRATOR_RUN_LEASE_H

#include "common/compat.h"

struct run;

struct lease {
	uint64_t start_ms; /* it was given out */
	uint64_t ready_ms; /* 0: it is not READY yet */
	uint64_t heard_ms; /* something of it came, that means something */
	uint64_t wall_ms;  /* its time limit */
	uint64_t call_ms;  /* that of one of its commands */
};

void lease_begin(struct lease *l, uint64_t now);
void lease_ready(struct lease *l, uint64_t call_ms, uint64_t now);
/* NULL, or why it is over; for a person. */
const char *lease_over(const struct lease *l, uint64_t now);

/* Once a second: attempts of workers whose lease is over are given up. */
void lease_tick(struct run *r);

#endif
