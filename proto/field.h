/*
 * field.h - inside proto/: the tables made from messages.def, and the limits
 * that the encoder (write.c) and the decoder (read.c) share.
 */
#ifndef PROTO_FIELD_H
#define PROTO_FIELD_H

#include "proto/msg.h"

enum field_kind {
	KIND_U64,
	KIND_BOOL,
	KIND_STR,
	KIND_BIN,
	KIND_STRS
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_kind kind;
	bool required;
	size_t off;     /* in the message's struct */
	size_t off_len; /* BIN: of its length */
	uint64_t min;   /* U64 */
	uint64_t max;   /* U64: value; STR, BIN, STRS: bytes */
	size_t max_n;   /* STRS: strings */
};

struct def {
	enum msg_type type;
	const char *name;
	enum msg_role from;
	enum msg_role to;
	const struct field *fields;
};

/* A field's value, wherever it is going. */
struct value {
	uint64_t u64;  /* U64, BOOL */
	const void *p; /* STR, BIN */
	size_t len;
	struct msg_strs strs;
};

const struct def *msg_def(uint64_t number); /* may be NULL */

void msg_field_get(
    const struct msg *m, const struct field *f, struct value *ret);
void msg_field_set(struct msg *m, const struct field *f, const struct value *v);

/* 0, ERR_PROTO or ERR_LIMIT. msg_str_limits() is for one string of len bytes;
 * msg_field_limits() does not look at the strings of a list. */
int msg_str_limits(
    const struct def *d, const struct field *f, size_t len, struct err *e);
int msg_field_limits(const struct def *d, const struct field *f,
    const struct value *v, struct err *e);
/* Of a whole encoded message, len bytes with a patch of patch_len. */
int msg_size_limits(
    const struct def *d, size_t len, size_t patch_len, struct err *e);

#endif
