/*
 * peer.h - a ZeroMQ socket that speaks messages, on the loop.
 *
 * A server (ROUTER, mandatory routing) binds, a client (DEALER) connects. One
 * ZeroMQ multipart is: [routing id, ROUTER only] [worker name, may be empty]
 * [message]. Anything else is refused part by part and reported by on_bad; the
 * other peers are not disturbed. Linger is finite (500 ms), over TCP heartbeats
 * every second find a dead peer within three, reconnects come within 0.5 s,
 * high water is 1000 messages each way. A part larger than MSG_MAX_BYTES ends
 * the sender's connection below us: nobody is told.
 *
 * Routing ids are made by the ROUTER (handover is off), and a client that
 * brings its own is refused, so a peer can't take the place of another. After
 * a reconnect a client has a new address: answer to where its last message came
 * from. What a client sends before it is connected waits in its queue.
 */
#ifndef PROTO_PEER_H
#define PROTO_PEER_H

#include "common/loop.h"
#include "proto/curve.h"
#include "proto/msg.h"
#include "proto/shake.h"

#define PEER_ID_MAX 255
/* A worker's name: letters, digits, '-', '_' and '.', not first a '.'. */
#define PEER_WORKER_MAX 32 /* bytes, NUL not counted */

struct peer;

/* Where a message came from, and where an answer goes. */
struct peer_addr {
	unsigned char id[PEER_ID_MAX];
	uint8_t id_len; /* 0 at a client */
};

struct peer_ops {
	/* m is decoded and is freed after the call; raw is its bytes, for
	 * peer_relay(). worker is the worker frame ("" when empty). */
	void (*on_msg)(struct peer *p, const struct peer_addr *from,
	    const char *worker, const struct msg *m, const void *raw,
	    size_t raw_len, void *ctx);
	/* Something that is no message (or none for us); may be NULL. worker is
	 * "" when it is that frame that is bad. */
	void (*on_bad)(struct peer *p, const struct peer_addr *from,
	    const char *worker, const struct err *why, void *ctx);
	/* Roles this side accepts messages from, as a bit set of 1u <<
	 * ROLE_x; others are bad. */
	unsigned accept_from;
	/* Of a client over TCP, may be NULL: its link changes. After a refusal
	 * or a failure it is tried again by itself, a quarter of a second later
	 * and then less and less often, up to once in twelve seconds; what was
	 * sent meanwhile is lost then. */
	void (*on_link)(struct peer *p, enum shake what, void *ctx);
};

/* endpoint: "ipc:///path/of/socket" or "tcp://...". For ipc the socket file is
 * made with mode 0600 unless world is set (0666: the directory above it must
 * then be private); a path over 107 bytes is an error that says so. A socket
 * file that nobody listens on any more is replaced, a live one is -EADDRINUSE
 * (two that start at once need a lock of their own). */
int peer_bind(struct loop *l, void *zctx, const char *endpoint, bool world,
    const struct peer_ops *ops, void *ctx, struct peer **ret, struct err *e);
int peer_connect(struct loop *l, void *zctx, const char *endpoint,
    const struct peer_ops *ops, void *ctx, struct peer **ret, struct err *e);
/* The same with CURVE. A server needs a zap.h handler in its context, started
 * before. keys are copied; NULL at a client: plain, for the loopback only. */
int peer_bind_curve(struct loop *l, void *zctx, const char *endpoint,
    const struct curve_pair *keys, const struct peer_ops *ops, void *ctx,
    struct peer **ret, struct err *e);
int peer_connect_tcp(struct loop *l, void *zctx, const char *endpoint,
    const struct curve_host *keys, const struct peer_ops *ops, void *ctx,
    struct peer **ret, struct err *e);
/* Safe inside on_msg and on_bad. Removes the ipc file of a server.
 * NULL is allowed. Before loop_free() and zmq_ctx_term(). */
void peer_free(struct peer *p);

/* to: NULL at a client. worker: NULL or "" for none. 0; -EHOSTUNREACH when the
 * peer is gone; -EAGAIN when its queue is full; ERR_PROTO or ERR_LIMIT when the
 * message can't be encoded or the worker's name is none. Never blocks. */
int peer_send(struct peer *p, const struct peer_addr *to, const char *worker,
    const struct msg *m, struct err *e);
int peer_relay(struct peer *p, const struct peer_addr *to, const char *worker,
    const void *raw, size_t raw_len, struct err *e);

bool peer_addr_eq(const struct peer_addr *a, const struct peer_addr *b);

#endif
