/*
 * relay.h - what goes up to the orchestrator, in order and bounded.
 *
 * A message goes out at once when the socket takes it. Otherwise it waits here,
 * and everything after it too, so that order is kept. What a worker has waiting
 * is counted in its share: one that floods is stopped at RELAY_SHARE_MAX,
 * whatever the others do. Between machines it is held until an orchestrator has
 * answered HELLO: nothing comes before that, and nothing of one run is said to
 * another.
 */
#ifndef WORKER_HOST_RELAY_H
#define WORKER_HOST_RELAY_H

#include "proto/peer.h"

#define RELAY_SHARE_MAX ((size_t)64 << 20)

struct relay;

/* Zeroed: nothing waits. */
struct relay_share {
	size_t queued; /* bytes */
};

/* up stays the caller's and must outlive the relay. */
struct relay *relay_create(struct loop *l, struct peer *up);
void relay_free(struct relay *r);

/* 0, also when it waits; ERR_LIMIT when the share is full; others as
 * peer_relay(). share: NULL for messages of the host itself. */
int relay_raw(struct relay *r, const char *worker, const void *raw, size_t len,
    struct relay_share *share, struct err *e);
int relay_msg(struct relay *r, const char *worker, const struct msg *m,
    struct relay_share *share, struct err *e);

/* While held, everything waits. */
void relay_hold(struct relay *r, bool held);
/* What waits is thrown away. */
void relay_clear(struct relay *r);
/* The share's memory goes; what waits stays. */
void relay_forget(struct relay *r, const struct relay_share *share);
bool relay_is_empty(const struct relay *r);

#endif
