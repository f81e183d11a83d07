/*
 * limiter.h - one for each provider, shared by all workers: how many requests
 * may be in flight, and from when on. Pure: the caller gives the time.
 *
 * A 429 or an overload closes the gate for everyone until the wait is over and
 * halves the width; each success widens it by a part of one, up to max
 * (additive increase, multiplicative decrease). Who waits is served in order,
 * and after a refusal one by one, with a random pause that each refusal doubles
 * and each success shortens: those who waited for the same moment would be
 * refused together again.
 */
#ifndef ORCHESTRATOR_GATEWAY_LIMITER_H
#define ORCHESTRATOR_GATEWAY_LIMITER_H

#include "common/compat.h"

struct limiter {
	double width, max;
	unsigned in_flight;
	uint64_t closed_until_ms;
	uint64_t pause_ms, next_ms; /* between two; not before */
	unsigned strikes;           /* refusals in a row, over all requests */
	uint64_t seed;              /* of the jitter */
};

void limiter_init(struct limiter *l, unsigned max, uint64_t seed);
/* 0: go (counted in flight); else ask again after so many ms. UINT64_MAX: when
 * another one ends. */
uint64_t limiter_enter(struct limiter *l, uint64_t now_ms);
void limiter_leave(struct limiter *l, bool ok);
/* A server asked for patience. */
void limiter_refused(struct limiter *l, uint64_t now_ms, uint64_t wait_ms);

/* How long before attempt n (1: the first retry): base 500 ms, doubled each
 * time up to cap_ms, of which a random half to the whole is taken ("equal
 * jitter"); at least retry_after_ms when the server named it. */
uint64_t backoff_ms(unsigned n, uint64_t cap_ms, bool has_retry_after,
    uint64_t retry_after_ms, uint64_t *seed);

#endif
