/*
 * server.h - what provider_http.c (requests and replies) and server_retry.c
 * (ends, and when to ask again) share; of these two alone.
 */
#ifndef ORCHESTRATOR_GATEWAY_SERVER_H
#define ORCHESTRATOR_GATEWAY_SERVER_H

#include <sys/queue.h>

#include "common/log.h"
#include "orchestrator/gateway/attempt.h"
#include "orchestrator/gateway/gate.h"
#include "orchestrator/gateway/guess.h"
#include "orchestrator/gateway/model.h"
#include "orchestrator/gateway/provider.h"

#define OUTPUT_MIN 16    /* less is left than any reply needs */
#define CONTEXT_MIN 1024 /* a smaller window is not believed */

TAILQ_HEAD(asks, ask);

struct server {
	struct endpoint *ep;
	struct http *http;
	struct loop *loop;
	struct gate *gate;
	struct asks asks;
	struct guess guess;
	uint64_t context; /* the endpoint's, or learned from a refusal */
	uint64_t output;  /* most that the server takes; 0: not known */
	uint64_t seed;
	char *name;
	char cache_key[32];                           /* "": not sent */
	uint64_t retries, requests[PROVIDER_CLASSES]; /* for server_state() */
	uint64_t silent_ms; /* not said before: that nothing comes */
	void (*planned)(void *ctx, const struct fault *why, uint64_t ms);
	void *planned_ctx;
};

struct ask {
	TAILQ_ENTRY(ask) entry;
	struct server *s;
	struct log_ids ids;    /* of whom it is for */
	struct provider_ask q; /* wires is our array; late is ours; no conv */
	struct gate_wait wait;
	struct attempt attempt;
	struct loop_watch *sleep;
	struct loop_watch *slow; /* it is told that nothing comes */
	bool running;
	bool telling, gone; /* q.lost is being called; cancelled from in it */
	size_t bytes;       /* of the prompt */
	uint64_t sent_output;
	unsigned requests, refusals, failures, empties, giants;
	bool lowered;
	bool renamed;         /* the output's limit, once */
	bool sent_completion; /* quirks.max_completion, as it was sent */
	struct usage lost;
};

/* Tokens to ask for: never more than what the prompt leaves of the window.
 * 0: none are left. */
uint64_t server_output(
    const struct server *s, const struct provider_ask *q, size_t bytes);
/* Longest wait between two tries that is our own idea; a server may ask for
 * FAULT_WAIT_TIMES times that. */
uint64_t server_max_wait(const struct server *s);

void ask_free(struct ask *a);
/* These free a and call its done. */
void ask_done(struct ask *a, struct provider_answer *answer);
void ask_fail(struct ask *a, const struct fault *why);
/* Usage of a reply that is thrown away: told, or kept for the answer when there
 * is nobody to be told. False: a was ended, by a budget that is spent or a
 * cancel. */
bool ask_lost(struct ask *a, const struct usage *u);
/* It is not running: wait and ask again, or fail. */
void ask_retry(struct ask *a, struct fault *why);
/* The same for a reply with nothing in it. */
void ask_retry_empty(struct ask *a, struct fault *why);

#endif
