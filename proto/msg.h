/*
 * msg.h - the messages of the wire protocol as structs, and their bytes.
 *
 * A message is one msgpack map: key "t" holds the message's number, every
 * other key a field name of messages.def. Decoding treats the bytes as hostile:
 * check.h walks them before msgpack-c sees them; unknown fields are ignored; a
 * wrong type, a missing required field, a number out of range, a duplicate key,
 * bad UTF-8, bytes left over are ERR_PROTO with a sentence; a string, a list or
 * a message over its maximum is ERR_LIMIT. Encoding refuses the same.
 *
 * Absent and empty are one for an optional field: encoding leaves out 0, false,
 * "" and the empty list; decoding gives 0, false, NULL and {NULL, 0}. A
 * required string or list may be empty but not NULL when encoding; decoded it
 * is never NULL, except that the items of an empty list may be.
 *
 *	struct msg m = {.type = MSG_READY};     all fields zero: absent
 *	m.u.ready.protocol = PROTO_VERSION;
 *	msg_encode(&m, &buf, e);
 *
 *	struct msg *in;
 *	if (msg_decode(p, len, &in, e) == 0)
 *		... in->u.ready.token is valid until msg_free(in)
 */
#ifndef PROTO_MSG_H
#define PROTO_MSG_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

#define PROTO_VERSION 1
/* Largest encoded message, either way. */
#define MSG_MAX_BYTES (6u << 20)
/* Largest SUMMARY, encoded, besides the bytes of its patch. */
#define MSG_MAX_SUMMARY (64u << 10)
/* Most fields of a message, unknown ones included. */
#define MSG_MAX_FIELDS 128
/* The largest data_mib and file_mib of ASSIGN: no limit of that kind. */
#define MSG_UNLIMITED_MIB 1048576u

enum msg_role {
	ROLE_HOST,
	ROLE_ORCH,
	ROLE_WORKER
};

enum msg_type {
	MSG_NONE = 0,
#define MSG(NAME, name, number, from, to, doc) MSG_##NAME = number,
#include "proto/messages.def"
};

/* Borrowed strings when encoding; owned by the message when decoded. */
struct msg_strs {
	const char *const *v;
	size_t n;
};

#define MSG(NAME, name, number, from, to, doc) struct msg_##name {
#define U64(name, field, req, min, max, doc) uint64_t field;
#define BOOL(name, field, req, doc) bool field;
#define STR(name, field, req, max, doc) const char *field;
#define BIN(name, field, req, max, doc) \
	const void *field; \
	size_t field##_len;
#define STRS(name, field, req, max_n, max, doc) struct msg_strs field;
#define END(NAME, name) \
	uint8_t end_; \
	} \
	;
#include "proto/messages.def"

struct msg {
	enum msg_type type;
	union {
#define MSG(NAME, name, number, from, to, doc) struct msg_##name name;
#include "proto/messages.def"
	} u;
	void *arena; /* memory of a decoded message; NULL otherwise */
};

/* b is appended to, and unchanged on failure; ERR_LIMIT also when b is full. */
int msg_encode(const struct msg *m, struct buf *b, struct err *e);
/* Also -ENOMEM. */
int msg_decode(const void *p, size_t len, struct msg **ret, struct err *e);
void msg_free(struct msg *m); /* a decoded one; NULL is allowed */

/* The number of an encoded message without decoding it, safe on any bytes;
 * MSG_NONE when it can't be told. For relays. */
enum msg_type msg_peek(const void *p, size_t len);

const char *msg_name(enum msg_type type); /* "READY", "?" */
/* Of messages that exist (decoded ones do). */
enum msg_role msg_from(enum msg_type type);
enum msg_role msg_to(enum msg_type type);

/* A strv as msg_strs, borrowed; and copied into one (cleared before). */
struct msg_strs msg_strs_of(const struct strv *v);
void msg_strs_to(const struct msg_strs *s, struct strv *ret);
/* A missing string field read safely: "". */
const char *msg_str(const char *s);

#endif
