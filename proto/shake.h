/*
 * shake.h - how the handshakes of a ZeroMQ client go, from its monitor.
 *
 * libzmq does not connect again after a server has refused the key, or speaks
 * no CURVE at all: whoever hears SHAKE_REFUSED, SHAKE_FAILED or SHAKE_CUT makes
 * a new socket after a while.
 */
#ifndef PROTO_SHAKE_H
#define PROTO_SHAKE_H

#include "common/err.h"
#include "common/loop.h"

enum shake {
	SHAKE_UP,      /* the handshake is done */
	SHAKE_DOWN,    /* a connection ended, in whatever state */
	SHAKE_REFUSED, /* the server does not want our key */
	SHAKE_FAILED,  /* the other side is not what we take it for */
	SHAKE_CUT      /* it ended in the handshake: something has cut it, or a
			  server with another key has closed it */
};

struct shake_watch;

typedef void (*shake_cb)(enum shake what, void *ctx);

/* Before the socket connects; free it before the socket is closed. cb may not
 * free it. */
int shake_watch(struct loop *l, void *zctx, void *sock, shake_cb cb, void *ctx,
    struct shake_watch **ret, struct err *e);
void shake_free(struct shake_watch *s); /* NULL is allowed */

#endif
