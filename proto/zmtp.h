/*
 * zmtp.h - the frames of a ZeroMQ connection, followed from outside (ZMTP 3,
 * rfc.zeromq.org/spec/23), so that bytes can be refused before libzmq has them.
 *
 * With CURVE a frame is followed by its length only: whether there is more of
 * the same message stands inside. There cost is what bounds it: see
 * door/guest.c.
 */
#ifndef PROTO_ZMTP_H
#define PROTO_ZMTP_H

#include "common/compat.h"

#define ZMTP_GREETING 64
#define ZMTP_FRAME_COST 128 /* of memory, whatever is in it */
#define ZMTP_CURVE_EXTRA 64 /* a frame is longer by that, and less */

/* Zeroed: a new connection. */
struct zmtp_walk {
	uint64_t extra;     /* that a frame may have beyond MSG_MAX_BYTES */
	uint64_t cost;      /* of all frames begun, in bytes of memory */
	uint64_t left;      /* of the frame's body */
	uint64_t size;      /* of the frame, as far as it is read */
	unsigned greeting;  /* bytes seen of it */
	unsigned size_left; /* bytes of the length to come */
	unsigned parts;     /* of the message so far */
	unsigned char flags;
	bool in_size;
};

enum zmtp_verdict {
	ZMTP_GOOD,
	ZMTP_NOT_ZMTP,
	ZMTP_TOO_LARGE,
	ZMTP_ENDLESS
};

enum zmtp_verdict zmtp_check(
    struct zmtp_walk *p, const unsigned char *bytes, size_t n);

#endif
