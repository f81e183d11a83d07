/*
 * http_call.h - one request as curl sees it: its options, its bounded callbacks
 * and what its end means. Of http.c alone.
 */
#ifndef ORCHESTRATOR_GATEWAY_HTTP_CALL_H
#define ORCHESTRATOR_GATEWAY_HTTP_CALL_H

#include <sys/queue.h>

#include <curl/curl.h>

#include "orchestrator/gateway/http.h"

struct http_pool;

struct http_call {
	TAILQ_ENTRY(http_call) entry;
	struct http_pool *pool;
	struct http_request q; /* limits filled in; its pointers are not kept */
	CURL *easy;
	struct curl_slist *headers, *resolve;
	void *body;
	struct http_reply reply; /* so far; fault: what ended it, if we did */
	size_t header_bytes;
	struct loop_watch *idle;
	uint64_t moved_ms; /* the last byte, in either direction */
	curl_off_t moved;
	bool added;     /* curl has it */
	bool cancelled; /* while curl was busy */
	bool over;      /* on_done is being called */
	char error[CURL_ERROR_SIZE];
};

int http_call_create(
    const struct http_request *q, struct http_call **ret, struct err *e);
/* The headers, which hold the key, are wiped. Not while curl has it. */
void http_call_free(struct http_call *c);
/* Fill r for on_done. */
void http_call_result(struct http_call *c, CURLcode code, struct http_reply *r);

#endif
