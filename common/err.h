/*
 * err.h - how functions of this tree fail.
 *
 * A function that can fail returns int: 0 or a count on success, a negative
 * value on failure: -errno, or one of the project's own codes below. Where a
 * person will read the reason, the last argument is a struct err *, filled
 * only on failure; NULL is allowed there. err_set() returns the code, so that
 * a failing path is one line:
 *
 *	return err_set(e, -errno, "open %s: %s", path, strerror(errno));
 */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

#include "common/compat.h"

/* Project codes lie beyond any errno. */
enum err_code {
	ERR_PROTO = -10001,   /* a peer broke the protocol */
	ERR_DENIED = -10002,  /* policy says no */
	ERR_BUDGET = -10003,  /* a budget is spent */
	ERR_MODEL = -10004,   /* the model or its provider failed */
	ERR_SANDBOX = -10005, /* the sandbox can't be set up here */
	ERR_USAGE = -10006,   /* the person asked for something impossible */
	ERR_LIMIT = -10007,   /* larger than the limit allows */
	ERR_SYNTAX = -10008,  /* text can't be read: JSON, patch, options */
	ERR_NOTFOUND = -10009 /* the named thing does not exist */
};

struct err {
	int code;
	char text[1024]; /* cut, never overrun; no newline at the end */
};

/* Text of a code: a project sentence or strerror(-code). Never NULL. */
const char *err_str(int code);

/* Fill *e (may be NULL) and return code. */
int err_set(struct err *e, int code, const char *fmt, ...) printflike(3, 4);

/* The analyser can't see that the code comes back. */
#ifdef __clang_analyzer__
#define err_set(e, code, ...) (err_set(e, code, __VA_ARGS__), (code))
#endif

/* Put "what: " before the text that is there; returns e->code (-EIO when e is
 * NULL). */
int err_prefix(struct err *e, const char *fmt, ...) printflike(2, 3);

#endif
