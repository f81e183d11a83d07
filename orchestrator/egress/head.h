/*
 * head.h - the head of a request to the proxy, from bytes. Pure.
 *
 * HTTP/1.0 and 1.1 (RFC 9112): CONNECT host:port, and any other method with an
 * absolute http URI. It is strict where leniency is how requests are smuggled
 * past a filter: lines end in CRLF, no folding, no bare CR, LF or NUL, one Host
 * that agrees with the URI, one Content-Length or "chunked" and not both. SOCKS
 * 5 (RFC 1928): CONNECT without authentication.
 */
#ifndef ORCHESTRATOR_EGRESS_HEAD_H
#define ORCHESTRATOR_EGRESS_HEAD_H

#include "common/buf.h"
#include "orchestrator/egress/target.h"

#define HEAD_MAX (16u << 10) /* bytes of a head; longer ones are refused */

enum head_kind {
	HEAD_CONNECT,
	HEAD_HTTP,
	HEAD_SOCKS
};

/* Where the bytes after the head end. */
enum body_kind {
	BODY_NONE,
	BODY_LENGTH,
	BODY_CHUNKED,
	BODY_ENDLESS /* a tunnel */
};

struct head {
	enum head_kind kind;
	char method[32];
	struct target target;
	char path[512]; /* HTTP: for a record, cut; without the query */
	enum body_kind body;
	uint64_t length; /* BODY_LENGTH */
	size_t used;     /* bytes of the input that it took */
	struct buf out;  /* HTTP: the head to send on; yours: head_clear() */
};

/* What a reader says. Above 1: the HTTP status (400 and up) or the SOCKS reply
 * to refuse with; e says why, for a person. */
#define HEAD_MORE 0
#define HEAD_DONE 1

/* ret is written only with HEAD_DONE. len is at most HEAD_MAX. */
int head_http(const char *p, size_t len, struct head *ret, struct err *e);

/* The greeting: HEAD_DONE and its length in *ret_used, or 0xff when it offers
 * no way without authentication. */
int head_socks_hello(const char *p, size_t len, size_t *ret_used);
int head_socks(const char *p, size_t len, struct head *ret, struct err *e);

void head_clear(struct head *h);

/* The bytes after a head, counted to their end. */
struct body {
	enum body_kind kind;
	uint64_t left; /* of the length, or of this chunk */
	enum {
		CHUNK_SIZE,
		CHUNK_EXT,
		CHUNK_SIZE_LF,
		CHUNK_DATA,
		CHUNK_CR,
		CHUNK_LF,
		CHUNK_TRAILER,
		CHUNK_TRAILER_LF
	} state;
	unsigned digits, line, extra;
	bool last, done, bad;
};

void body_init(struct body *b, const struct head *h);
/* How many of the n bytes belong to it. Sets done at its end; bad when the
 * chunks are none. */
size_t body_take(struct body *b, const char *p, size_t n);

#endif
