/*
 * http.h - requests on the event loop, by libcurl's multi interface: one
 * connection pool (one more for each 64 calls at once), HTTP/2 where a server
 * offers it in TLS, nothing blocks.
 *
 * TLS is verified (against SSL_CERT_FILE of our environment when it is set),
 * redirects are not followed, only http and https are spoken (http to loopback
 * hosts alone, unless plain is set), no proxy is taken from the environment but
 * HTTPS_PROXY/NO_PROXY as curl reads them (none at all with resolve), no netrc,
 * no cookies, no compression. Replies are capped, their headers too (128 KiB).
 */
#ifndef ORCHESTRATOR_GATEWAY_HTTP_H
#define ORCHESTRATOR_GATEWAY_HTTP_H

#include "common/buf.h"
#include "common/err.h"
#include "common/loop.h"
#include "common/strv.h"
#include "orchestrator/gateway/fault.h"

struct http;
struct http_call;

struct http_reply {
	long status; /* 0: none came */
	char content_type[128];
	/* The header's value; of retry-after-ms as seconds; "" for none. */
	char retry_after[128];
	char location[2048]; /* where a redirect points, as it was sent */
	uint64_t bytes;
	uint64_t connect_ms, first_ms, total_ms;
	/* FAULT_NONE: the exchange came to its end, whatever the status. */
	struct fault fault;
};

struct http_request {
	const char *url;
	const char *method; /* NULL: POST when there is a body, else GET */
	const struct strv *headers; /* copied */
	const void *body;           /* copied */
	char *taken; /* instead: malloc'ed, and taken also when it fails */
	size_t body_len;
	uint64_t max_bytes;  /* of the reply; 0: 16 MiB */
	uint64_t connect_ms; /* 0: 15 s */
	uint64_t idle_ms;    /* no byte for so long; 0: 120 s */
	uint64_t total_ms;   /* 0: none */
	bool plain;          /* http to any host */
	/* No proxy, a connection of its own, and only to public addresses,
	 * whatever the name resolves to at that moment. */
	bool public_only;
	/* Pin the address: "host:port:address" (CURLOPT_RESOLVE); NULL. */
	const char *resolve;
	/* A piece of the reply's body; status is known by then. content_type is
	 * "" for none. Non-zero ends the call (FAULT_CANCELLED). */
	int (*on_data)(void *ctx, long status, const char *content_type,
	    const void *p, size_t len);
	/* Once, from the loop, never from within http_start; r is borrowed. */
	void (*on_done)(void *ctx, const struct http_reply *r);
	void *ctx;
};

struct http *http_create(struct loop *l, struct err *e);
/* Ends what runs without on_done. */
void http_free(struct http *h);
/* 0 and *ret, valid until on_done or http_cancel. */
int http_start(struct http *h, const struct http_request *q,
    struct http_call **ret, struct err *e);
/* No on_done follows. Allowed in every callback, one's own too; NULL is. */
void http_cancel(struct http_call *c);

/* Is it http or https, without a name and password in it, and http only to a
 * loopback host or when plain is set? ERR_USAGE with a sentence. */
int http_url_check(const char *url, bool plain, struct err *e);
/* Is its host this machine: localhost, 127.x.x.x, [::1]? */
bool http_url_loopback(const char *url);
/* Its host alone, escaped for a person. Yours; NULL: there is none. */
char *http_url_host(const char *url);

#endif
