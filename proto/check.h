/*
 * check.h - walk msgpack bytes before msgpack-c sees them.
 *
 * msgpack-c allocates by what a header announces, not by the bytes that are
 * there (upstream issue 1013). This walk bounds every count by the bytes left.
 */
#ifndef PROTO_CHECK_H
#define PROTO_CHECK_H

#include "common/err.h"

#define CHECK_MAX_DEPTH 8
#define CHECK_MAX_ITEMS 65536 /* values in all, keys included */

/* p[0..len) is exactly one value, well formed, within the limits; no ext types,
 * strings are UTF-8 without NUL. Returns 0 or ERR_PROTO. */
int check_msgpack(const void *p, size_t len, struct err *e);

/*
 * The reader beneath: one header at a time, safe on any bytes. A container
 * that announces more values than bytes are left is refused here.
 */
enum check_kind {
	CHECK_NIL,
	CHECK_BOOL, /* n: 0 or 1 */
	CHECK_UINT, /* n; non-negative numbers of signed types too */
	CHECK_INT,  /* negative */
	CHECK_FLOAT,
	CHECK_STR,   /* n bytes at p */
	CHECK_BIN,   /* n bytes at p */
	CHECK_ARRAY, /* n values follow */
	CHECK_MAP    /* n pairs follow */
};

struct check_in {
	const unsigned char *start; /* for the offsets in errors */
	const unsigned char *at;
	const unsigned char *end;
};

struct check_token {
	enum check_kind kind;
	uint64_t n;
	const unsigned char *p;
};

void check_begin(struct check_in *in, const void *p, size_t len);
int check_next(struct check_in *in, struct check_token *ret, struct err *e);
/* Pass one whole value. */
int check_skip(struct check_in *in, struct err *e);

#endif
