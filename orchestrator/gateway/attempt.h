/*
 * attempt.h - one HTTP request to a model and what came of it: a reply that
 * reached its end, or a fault. Never both: of a reply that broke off nothing
 * is used but what the server counted.
 */
#ifndef ORCHESTRATOR_GATEWAY_ATTEMPT_H
#define ORCHESTRATOR_GATEWAY_ATTEMPT_H

#include "orchestrator/gateway/dialect.h"
#include "orchestrator/gateway/http.h"
#include "orchestrator/gateway/sse.h"

enum shape {
	SHAPE_UNKNOWN, /* too little has come */
	SHAPE_STREAM,  /* server-sent events */
	SHAPE_WHOLE,   /* JSON, HTML, a refusal: kept, and read at the end */
};

struct attempt {
	/* set by the caller, with http_request but for on_data, on_done, ctx */
	struct loop *loop;
	struct http *http;
	const struct dialect *dialect;
	uint64_t max_wait_ms;                       /* fault_from_http() */
	void (*done)(void *ctx, struct attempt *a); /* once, from the loop */
	void *ctx;
	/* the outcome, at done */
	struct reply reply;
	struct fault fault; /* FAULT_NONE: reply is whole */
	bool begun;         /* a 2xx came: the server may count it */
	uint64_t ms;
	/* private */
	struct http_call *call;
	struct loop_watch *grace;
	struct sse sse;
	struct buf raw;
	enum shape shape;
	uint64_t start_ms;
};

/* The caller's fields are set. Then once start, then clear. */
void attempt_init(struct attempt *a);
int attempt_start(struct attempt *a, struct http_request *q, struct err *e);
/* Overwrite key (may be NULL) wherever the reply holds it. A word as short as
 * "ollama" is no secret, and stays. */
void attempt_scrub(struct attempt *a, const char *key);
/* Ends it when it runs; no done follows. Allowed from within done. */
void attempt_clear(struct attempt *a);

#endif
