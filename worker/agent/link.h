/*
 * link.h - the worker's one way out, used as calls.
 *
 * A worker does one thing at a time: it sends a request and spins the loop
 * until the wanted answer is there. Answers to older requests, which come when
 * one was sent twice, are dropped. ZeroMQ's own thread keeps the connection
 * alive while a tool call blocks.
 */
#ifndef WORKER_AGENT_LINK_H
#define WORKER_AGENT_LINK_H

#include "proto/msg.h"

struct link;

/* Is this the answer? ctx is link_call's. NULL: any message of the type. */
typedef bool (*link_match)(const struct msg *m, const void *ctx);

/* worker: the name in the worker frame. */
int link_open(
    const char *endpoint, const char *worker, struct link **ret, struct err *e);
void link_close(struct link *l);
/* What the orchestrator said to the model between the turns (STEER): at most
 * LINK_STEERS texts, the first ones, of which *ret gets those that are new. */
#define LINK_STEERS 8
void link_steered(struct link *l, struct strv *ret);

/* For what needs no answer. Lost when the queue is full. */
int link_send(struct link *l, const struct msg *m, struct err *e);

/* Send m and wait for a message of type want that matches. Sent again after
 * every resend_ms of silence (0: never); timeout_ms 0: no limit, else
 * -ETIMEDOUT. *ret is yours (msg_free). */
int link_call(struct link *l, const struct msg *m, enum msg_type want,
    link_match match, const void *ctx, uint64_t resend_ms, uint64_t timeout_ms,
    struct msg **ret, struct err *e);

#endif
