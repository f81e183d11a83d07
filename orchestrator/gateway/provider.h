/*
 * provider.h - who answers a model request. One struct of functions for each
 * kind; the gateway picks one by the model's name.
 *
 * Asking never blocks: done is called once, at once (from within ask) or from
 * the loop later, unless the call was cancelled.
 */
#ifndef ORCHESTRATOR_GATEWAY_PROVIDER_H
#define ORCHESTRATOR_GATEWAY_PROVIDER_H

#include "common/err.h"
#include "common/json.h"
#include "orchestrator/gateway/dialect.h"
#include "orchestrator/gateway/fault.h"
#include "orchestrator/gateway/reply.h"

struct provider_answer {
	json_t *message;    /* our assistant message; NULL: fault says why */
	struct usage usage; /* of the accepted reply */
	/* What the server counted for replies that were thrown away (broken,
	 * empty, filtered); given: there is some. */
	struct usage lost;
	uint64_t micro, lost_micro; /* their costs, in millionths of a dollar */
	struct fault fault;
	unsigned requests; /* made for it, the refused ones included */
	uint64_t ms;       /* of the accepted one */
};

struct provider_ask {
	const char *worker;
	uint64_t turn;
	const json_t *conv; /* the whole conversation; borrowed for ask */
	/* The same, for a dialect; or NULL. The array is borrowed for ask, but
	 * the wires themselves must stay until done or cancel: the body is made
	 * anew for each attempt. */
	struct wire *const *wires;
	size_t n;
	const char *late;    /* copied */
	uint64_t max_output; /* tokens; 0: the endpoint's */
	/* A reply that the server had begun is thrown away: what it used, or an
	 * estimate. False: the budget is spent, do not try again. May be NULL.
	 */
	bool (*lost)(void *ctx, const struct usage *u, uint64_t micro);
	/* a is borrowed but for a->message, which is done's. */
	void (*done)(void *ctx, struct provider_answer *a);
	void *ctx;
};

/* Requests by the class of the HTTP status that came. */
enum provider_class {
	CLASS_2XX,
	CLASS_4XX, /* without 429 */
	CLASS_429,
	CLASS_5XX,
	CLASS_NONE, /* no connection, or the reply broke off */
	PROVIDER_CLASSES
};

struct provider_state {
	uint64_t requests[PROVIDER_CLASSES];
	uint64_t retries;           /* requests to be made again */
	uint64_t queued, in_flight; /* at the limiter, now */
	uint64_t width;             /* of it, now */
};

struct provider {
	const char *name;              /* "builtin", "openai/gpt-x" */
	const struct dialect *dialect; /* NULL: wants no wires */
	/* *ret_call: for cancel; NULL when done was called already. */
	void (*ask)(void *self, const struct provider_ask *q, void **ret_call);
	void (*cancel)(void *self, void *call); /* no done follows */
	/* The most that this request may cost, for the reservation: tokens of
	 * the prompt (estimated high) and of the output, and their price. */
	void (*estimate)(void *self, const struct provider_ask *q,
	    uint64_t *ret_in, uint64_t *ret_out, uint64_t *ret_micro);
	/* How many edits there are to try, and how many of them are done with;
	 * false: not known. May be NULL. */
	bool (*outlook)(void *self, uint64_t *ret_total, uint64_t *ret_done);
	/* For the metrics. May be NULL: nothing is asked over a network. */
	void (*state)(void *self, struct provider_state *ret);
	/* The worker will ask no more; may be NULL. */
	void (*worker_gone)(void *self, const char *worker);
	void (*free)(void *self);
	void *self;
};

struct http;
struct loop;
struct endpoint;

/*
 * A server: retries, the limiter that all models of the provider share, one
 * dialect. Takes ep; h and l must outlive it. done is never called from within
 * ask. A reply counts when its stream came to its end; anything else is thrown
 * away whole and asked again, ep->max_retries times at most. A refusal for too
 * many requests or overload makes everybody wait.
 */
void provider_http(struct provider *ret, struct endpoint *ep, struct http *h,
    struct loop *l, uint64_t seed);
/* For tests: waits are slept so many times faster; planned, when given, is told
 * each as it is planned, before a retry. */
void provider_http_hook(struct provider *p, unsigned speed,
    void (*planned)(void *ctx, const struct fault *why, uint64_t ms),
    void *ctx);

/* For providers that know at once: message (taken), or why there is none. */
void provider_answer_now(
    const struct provider_ask *q, json_t *message, const char *why);

/* Plays builtin (gateway/provider_builtin.h). */
void provider_builtin(struct provider *ret, uint64_t seed);
void provider_builtin_until(const struct provider *p, uint64_t at_ms);
/* Makes one tool call, keeps its result, then finishes: `foray tool`. args is
 * JSON text, sent as it is (also when it is malformed: the worker judges it).
 */
void provider_script(struct provider *ret, const char *tool, const char *args);
/* Has no answer of its own: what it is asked for is on record. name: of the
 * model that gave it; copied. */
void provider_replay(struct provider *ret, const char *name);
/* The result of that call, NULL before it came. Borrowed. */
const char *provider_script_result(const struct provider *p);

#endif
