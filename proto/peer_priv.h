/* peer_priv.h - what peer*.c share; for nobody else. */
#ifndef PROTO_PEER_PRIV_H
#define PROTO_PEER_PRIV_H

#include "proto/ipc.h"
#include "proto/peer.h"

struct peer {
	struct loop *loop;
	void *sock;
	struct loop_watch *watch;
	struct peer_ops ops;
	void *ctx;
	bool is_server;
	bool in_callback;
	bool dead;            /* peer_free() came inside a callback */
	bool dropping;        /* in the middle of a refused multipart */
	struct ipc_file file; /* of an ipc server */
	/* Of a client over TCP, to connect again: */
	void *zctx;
	char *endpoint;
	struct curve_host *keys; /* NULL: plain */
	struct shake_watch *shake;
	struct loop_watch *again;
	unsigned failed; /* handshakes, one after the other */
};

int peer_option(struct peer *p, int option, int value, struct err *e);
/* All that a socket of ours needs; ipc: it is between processes. */
int peer_options(struct peer *p, bool ipc, struct err *e);
/* With a socket that has them. */
int peer_make(struct loop *l, void *zctx, bool is_server, bool ipc,
    const struct peer_ops *ops, void *ctx, struct peer **ret, struct err *e);
int peer_bind_at(
    struct peer *p, const char *endpoint, bool world, struct err *e);
void peer_readable_cb(void *sock, void *ctx);

#endif
