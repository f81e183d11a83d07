/*
 * edit.h - exact replacement in a text. Pure.
 *
 * `old` must occur exactly once, or start on the given line, or all of its
 * places are meant. Line ends are compared normalised and written as the file
 * has them; whether the file ends in a newline stays as it is. All other bytes
 * stay, so that a file need not be UTF-8.
 */
#ifndef WORKER_AGENT_EDIT_H
#define WORKER_AGENT_EDIT_H

#include "common/buf.h"
#include "common/err.h"

struct edit {
	const char *old_text;
	const char *new_text;
	uint64_t line; /* 1-based, 0: none */
	bool replace_all;
};

struct edit_done {
	uint64_t n;    /* places changed */
	uint64_t line; /* of the first, 1-based */
};

/* ret is appended to. name stands in the errors. */
int edit_apply(const char *name, const char *src, size_t len,
    const struct edit *ed, struct buf *ret, struct edit_done *done,
    struct err *e);

/* The lines in which two texts differ, for a person and for the record: JSON,
 * {"old", "new"}, each at most EDIT_SAID_MAX bytes of them. free() it. */
#define EDIT_SAID_MAX 1000
char *edit_said(
    const char *old, size_t old_len, const char *new_text, size_t new_len);

/* A NUL byte: not a text. */
bool edit_is_binary(const char *s, size_t len);

#endif
