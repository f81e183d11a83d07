/*
 * zmtp.c - the frames of a ZeroMQ connection, followed from outside.
 */
#include "common/compat.h"

#include "proto/zmtp.h"

#include "proto/msg.h"

#define GREETING_TAIL 9     /* the last byte of the signature */
#define GREETING_VERSION 10 /* the major version */
#define FLAG_MORE 0x01
#define FLAG_LONG 0x02
#define FLAG_COMMAND 0x04
#define FLAGS_KNOWN 0x07
#define COMMAND_MAX 4096
#define PARTS_MAX 8 /* two are right; peer.h says what is wrong with more */

static bool
is_greeting(unsigned at, unsigned char c)
{
	if (at == 0)
		return c == 0xff;
	if (at == GREETING_TAIL)
		return c == 0x7f;
	if (at == GREETING_VERSION)
		return c == 3;
	return true;
}

static enum zmtp_verdict
begin_frame(struct zmtp_walk *p, unsigned char flags)
{
	if ((flags & ~FLAGS_KNOWN) != 0 ||
	    (flags & FLAG_COMMAND && flags & FLAG_MORE))
		return ZMTP_NOT_ZMTP;
	p->flags = flags;
	p->size = 0;
	p->size_left = flags & FLAG_LONG ? 8 : 1;
	p->in_size = true;
	if (flags & FLAG_COMMAND)
		return ZMTP_GOOD;
	if (++p->parts > PARTS_MAX)
		return ZMTP_ENDLESS;
	if ((flags & FLAG_MORE) == 0)
		p->parts = 0;
	return ZMTP_GOOD;
}

static enum zmtp_verdict
take_size(struct zmtp_walk *p, unsigned char c)
{
	uint64_t max =
	    p->flags & FLAG_COMMAND ? COMMAND_MAX : MSG_MAX_BYTES + p->extra;

	p->size = p->size << 8 | c;
	if (p->size > max)
		return ZMTP_TOO_LARGE;
	if (--p->size_left == 0) {
		p->in_size = false;
		p->left = p->size;
		p->cost += p->size + ZMTP_FRAME_COST;
	}
	return ZMTP_GOOD;
}

enum zmtp_verdict
zmtp_check(struct zmtp_walk *p, const unsigned char *bytes, size_t n)
{
	enum zmtp_verdict v = ZMTP_GOOD;
	size_t i = 0, skip;

	while (i < n && v == ZMTP_GOOD) {
		if (p->greeting < ZMTP_GREETING) {
			if (!is_greeting(p->greeting++, bytes[i++]))
				v = ZMTP_NOT_ZMTP;
		} else if (p->left > 0) {
			skip = p->left < n - i ? (size_t)p->left : n - i;
			p->left -= skip;
			i += skip;
		} else if (p->in_size) {
			v = take_size(p, bytes[i++]);
		} else {
			v = begin_frame(p, bytes[i++]);
		}
	}
	return v;
}
