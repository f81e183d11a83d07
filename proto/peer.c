/*
 * peer.c - a ROUTER or DEALER socket that speaks messages.
 *
 * DESIGN
 *
 * A ROUTER counts its routing ids up from rand(), which libzmq does not seed,
 * and aborts when the next is taken by a client that named itself so (libzmq
 * 4.3.4, add_out_pipe()). Seeding makes the place unknown to a client.
 *
 * All parts of a multipart are there once the first is, so receiving never
 * waits in its middle. The parts of a refused one are dropped over as many
 * rounds as it takes.
 */
#include "common/compat.h"

#include "proto/peer.h"

#include <errno.h>
#include <sys/random.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "proto/ipc.h"
#include "proto/peer_priv.h"

#define PEER_BITE 16        /* messages a callback */
#define PEER_BITE_PARTS 256 /* parts of a refused message a callback */
#define PEER_PARTS_MAX 3    /* routing id, worker, message */
#define ROUTER_ID_LEN \
	5 /* of an id that libzmq made: a zero byte and a number */

static bool
is_worker_name(const char *s, size_t len)
{
	size_t i;

	if (len > PEER_WORKER_MAX || (len > 0 && s[0] == '.'))
		return false;
	for (i = 0; i < len; i++) {
		if (s[i] == '\0' ||
		    strchr("abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.",
			s[i]) == NULL)
			return false;
	}
	return true;
}

/* --- receiving ----------------------------------------------------------- */

struct parts {
	zmq_msg_t v[PEER_PARTS_MAX];
	size_t n;
	bool more; /* there are others behind, not read */
};

/* 1, or 0 when there is nothing. */
static int
parts_recv(struct peer *p, struct parts *ps)
{
	size_t want = p->is_server ? 3 : 2;

	ps->n = 0;
	ps->more = true;
	while (ps->more && ps->n < want) {
		zmq_msg_init(&ps->v[ps->n]);
		if (zmq_msg_recv(&ps->v[ps->n], p->sock, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(&ps->v[ps->n]);
			break;
		}
		ps->more = zmq_msg_more(&ps->v[ps->n]) != 0;
		ps->n++;
	}
	return ps->n > 0;
}

static void
parts_clear(struct parts *ps)
{
	while (ps->n > 0)
		zmq_msg_close(&ps->v[--ps->n]);
}

/* True when the refused multipart is at its end. */
static bool
drop_rest(struct peer *p)
{
	zmq_msg_t part;
	int i;

	for (i = 0; i < PEER_BITE_PARTS; i++) {
		zmq_msg_init(&part);
		if (zmq_msg_recv(&part, p->sock, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(&part);
			return false;
		}
		p->dropping = zmq_msg_more(&part) != 0;
		zmq_msg_close(&part);
		if (!p->dropping)
			return true;
	}
	return false;
}

/* What came, taken apart; refers into the parts. */
struct incoming {
	struct peer_addr from;
	char worker[PEER_WORKER_MAX + 1];
	const void *raw;
	size_t raw_len;
};

static int
take_from(struct parts *ps, struct incoming *in, struct err *e)
{
	const unsigned char *id = zmq_msg_data(&ps->v[0]);
	size_t len = zmq_msg_size(&ps->v[0]);

	if (len > PEER_ID_MAX)
		return err_set(e, ERR_PROTO, "a routing id is too long");
	memcpy(in->from.id, id, len);
	in->from.id_len = (uint8_t)len;
	if (len != ROUTER_ID_LEN || id[0] != 0)
		return err_set(e, ERR_PROTO, "the peer names itself");
	return 0;
}

static int
take_parts(struct peer *p, struct parts *ps, struct incoming *in, struct err *e)
{
	size_t at = p->is_server ? 1 : 0;
	size_t len;
	int r;

	memset(in, 0, sizeof *in);
	if (p->is_server) {
		r = take_from(ps, in, e);
		if (r < 0)
			return r;
	}
	if (ps->more || ps->n != at + 2)
		return err_set(e, ERR_PROTO, "%s parts, 2 are expected",
		    ps->more ? "too many" : "too few");
	len = zmq_msg_size(&ps->v[at]);
	if (!is_worker_name(zmq_msg_data(&ps->v[at]), len))
		return err_set(e, ERR_PROTO, "the worker part is no name");
	memcpy(in->worker, zmq_msg_data(&ps->v[at]), len);
	in->raw = zmq_msg_data(&ps->v[at + 1]);
	in->raw_len = zmq_msg_size(&ps->v[at + 1]);
	return 0;
}

static int
take_msg(
    struct peer *p, const struct incoming *in, struct msg **ret, struct err *e)
{
	struct msg *m;
	int r;

	r = msg_decode(in->raw, in->raw_len, &m, e);
	if (r < 0)
		return r;
	if ((p->ops.accept_from & 1u << msg_from(m->type)) == 0) {
		r = err_set(e, ERR_PROTO, "%s does not come from this side",
		    msg_name(m->type));
		msg_free(m);
		return r;
	}
	*ret = m;
	return 0;
}

/* False when there is nothing more. */
static bool
handle_one(struct peer *p)
{
	struct parts ps;
	struct incoming in;
	struct msg *m = NULL;
	struct err e;
	int r;

	if (!parts_recv(p, &ps))
		return false;
	p->dropping = ps.more;
	r = take_parts(p, &ps, &in, &e);
	if (r == 0)
		r = take_msg(p, &in, &m, &e);
	if (r == 0) {
		log_debug("peer: in %s, %zu bytes, worker '%s'",
		    msg_name(m->type), in.raw_len, in.worker);
		p->ops.on_msg(
		    p, &in.from, in.worker, m, in.raw, in.raw_len, p->ctx);
	} else {
		log_debug(
		    "peer: in refused, worker '%s': %s", in.worker, e.text);
		if (p->ops.on_bad != NULL)
			p->ops.on_bad(p, &in.from, in.worker, &e, p->ctx);
	}
	msg_free(m);
	parts_clear(&ps);
	return true;
}

void
peer_readable_cb(void *sock unused_arg, void *ctx)
{
	struct peer *p = ctx;
	int i;

	p->in_callback = true;
	for (i = 0; i < PEER_BITE && !p->dead; i++) {
		if (p->dropping && !drop_rest(p))
			break;
		if (!handle_one(p))
			break;
	}
	p->in_callback = false;
	if (p->dead)
		free(p);
}

/* --- sending ------------------------------------------------------------- */

static int
send_part(
    struct peer *p, const void *data, size_t len, bool more, struct err *e)
{
	int flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);

	loop_zmq_used(p->loop, p->watch);
	while (zmq_send(p->sock, data, len, flags) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EHOSTUNREACH)
			return err_set(e, -EHOSTUNREACH, "the peer is gone");
		if (errno == EAGAIN)
			return err_set(e, -EAGAIN, "the peer's queue is full");
		return err_set(e, -errno, "send: %s", zmq_strerror(errno));
	}
	return 0;
}

int
peer_relay(struct peer *p, const struct peer_addr *to, const char *worker,
    const void *raw, size_t raw_len, struct err *e)
{
	int r;

	if (worker == NULL)
		worker = "";
	if (!is_worker_name(worker, strlen(worker)))
		return err_set(e, ERR_PROTO, "not a worker's name");
	if (raw_len > MSG_MAX_BYTES)
		return err_set(e, ERR_LIMIT,
		    "a message has %zu bytes, %u are allowed", raw_len,
		    MSG_MAX_BYTES);
	if (p->is_server) {
		if (to == NULL || to->id_len == 0)
			return err_set(e, -EHOSTUNREACH, "no address");
		r = send_part(p, to->id, to->id_len, true, e);
		if (r < 0)
			return r;
	}
	/* From here on a ROUTER drops silently when the peer goes; a DEALER
	 * takes back the first part when the second is refused. */
	r = send_part(p, worker, strlen(worker), true, e);
	if (r < 0)
		return r;
	return send_part(p, raw, raw_len, false, e);
}

int
peer_send(struct peer *p, const struct peer_addr *to, const char *worker,
    const struct msg *m, struct err *e)
{
	struct buf b;
	int r;

	buf_init(&b, MSG_MAX_BYTES);
	r = msg_encode(m, &b, e);
	if (r == 0) {
		r = peer_relay(p, to, worker, b.data, b.len, e);
		log_debug("peer: out %s, %zu bytes, worker '%s'%s",
		    msg_name(m->type), b.len, msg_str(worker),
		    r < 0 ? ", refused" : "");
	}
	buf_clear(&b);
	return r;
}

/* --- making -------------------------------------------------------------- */

/* The path of an ipc endpoint, NULL for others. */
static const char *
ipc_path(const char *endpoint)
{
	static const char scheme[] = "ipc://";

	if (strncmp(endpoint, scheme, sizeof scheme - 1) != 0)
		return NULL;
	return endpoint + sizeof scheme - 1;
}

int
peer_option(struct peer *p, int option, int value, struct err *e)
{
	if (zmq_setsockopt(p->sock, option, &value, sizeof value) < 0)
		return err_set(e, -errno, "socket option %d: %s", option,
		    zmq_strerror(errno));
	return 0;
}

/* ipc: the kernel tells of the end of the other side, and heartbeats would wake
 * idle processes and drop frozen ones. Worse, libzmq 4.3.4 aborts
 * ("!_io_error") when one falls due on a connection that has ended while its
 * input waits unread. */
int
peer_options(struct peer *p, bool ipc, struct err *e)
{
	static const struct {
		int option;
		int value;
		bool router_only;
		bool heartbeat;
	} opts[] = {
		{ ZMQ_LINGER, 500, false, false },
		{ ZMQ_HEARTBEAT_IVL, 1000, false, true },
		{ ZMQ_HEARTBEAT_TIMEOUT, 3000, false, true },
		{ ZMQ_HEARTBEAT_TTL, 3000, false, true },
		{ ZMQ_RECONNECT_IVL, 50, false, false },
		{ ZMQ_RECONNECT_IVL_MAX, 500, false, false },
		{ ZMQ_SNDHWM, 1000, false, false },
		{ ZMQ_RCVHWM, 1000, false, false },
		{ ZMQ_BACKLOG, IPC_BACKLOG, false, false },
		{ ZMQ_ROUTER_MANDATORY, 1, true, false },
		{ ZMQ_ROUTER_HANDOVER, 0, true, false },
	};
	int64_t max = MSG_MAX_BYTES;
	size_t i;
	int r;

	for (i = 0; i < nitems(opts); i++) {
		if ((opts[i].router_only && !p->is_server) ||
		    (opts[i].heartbeat && ipc))
			continue;
		r = peer_option(p, opts[i].option, opts[i].value, e);
		if (r < 0)
			return r;
	}
	/* Between machines nothing is queued for a connection that does not
	 * stand: it would come before HELLO there. */
	if ((r = peer_option(p, ZMQ_IMMEDIATE, !ipc, e)) < 0)
		return r;
	if (zmq_setsockopt(p->sock, ZMQ_MAXMSGSIZE, &max, sizeof max) < 0)
		return err_set(e, -errno, "socket option %d: %s",
		    ZMQ_MAXMSGSIZE, zmq_strerror(errno));
	return 0;
}

/* See the top. */
static void
seed_routing_ids(void)
{
	unsigned seed;

	if (getrandom(&seed, sizeof seed, 0) == (ssize_t)sizeof seed)
		srand(seed);
}

int
peer_make(struct loop *l, void *zctx, bool is_server, bool ipc,
    const struct peer_ops *ops, void *ctx, struct peer **ret, struct err *e)
{
	struct peer *p = xcalloc(1, sizeof *p);
	int r;

	p->loop = l;
	p->ops = *ops;
	p->ctx = ctx;
	p->is_server = is_server;
	if (is_server)
		seed_routing_ids();
	p->sock = zmq_socket(zctx, is_server ? ZMQ_ROUTER : ZMQ_DEALER);
	if (p->sock == NULL) {
		r = err_set(e, -errno, "zmq_socket: %s", zmq_strerror(errno));
		peer_free(p);
		return r;
	}
	r = peer_options(p, ipc, e);
	if (r < 0) {
		peer_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

int
peer_bind_at(struct peer *p, const char *endpoint, bool world, struct err *e)
{
	const char *path = ipc_path(endpoint);
	int fd = -1, r;

	if (path != NULL) {
		fd = ipc_listen(path, world ? 0666 : 0600, &p->file, e);
		if (fd < 0)
			return fd;
	}
	/* libzmq takes the descriptor when it binds. */
	if ((fd >= 0 &&
		zmq_setsockopt(p->sock, ZMQ_USE_FD, &fd, sizeof fd) < 0) ||
	    zmq_bind(p->sock, endpoint) < 0) {
		r = err_set(
		    e, -errno, "bind %s: %s", endpoint, zmq_strerror(errno));
		fd_close(&fd);
		return r;
	}
	p->watch = loop_zmq_add(p->loop, p->sock, peer_readable_cb, p);
	return 0;
}

int
peer_bind(struct loop *l, void *zctx, const char *endpoint, bool world,
    const struct peer_ops *ops, void *ctx, struct peer **ret, struct err *e)
{
	struct peer *p = NULL;
	int r;

	r = peer_make(
	    l, zctx, true, ipc_path(endpoint) != NULL, ops, ctx, &p, e);
	if (r < 0 || p == NULL)
		return r;
	if ((r = peer_bind_at(p, endpoint, world, e)) < 0) {
		peer_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

int
peer_connect(struct loop *l, void *zctx, const char *endpoint,
    const struct peer_ops *ops, void *ctx, struct peer **ret, struct err *e)
{
	const char *path = ipc_path(endpoint);
	struct peer *p = NULL;
	int r;

	if (path != NULL) {
		r = ipc_check(path, e);
		if (r < 0)
			return r;
	}
	r = peer_make(l, zctx, false, path != NULL, ops, ctx, &p, e);
	if (r < 0 || p == NULL)
		return r;
	if (zmq_connect(p->sock, endpoint) < 0) {
		r = err_set(
		    e, -errno, "connect %s: %s", endpoint, zmq_strerror(errno));
		peer_free(p);
		return r;
	}
	p->watch = loop_zmq_add(l, p->sock, peer_readable_cb, p);
	*ret = p;
	return 0;
}

static void
forget_keys(struct peer *p)
{
	if (p->keys != NULL)
		explicit_bzero(p->keys, sizeof *p->keys);
	free(p->keys);
	free(p->endpoint);
	p->keys = NULL;
	p->endpoint = NULL;
}

void
peer_free(struct peer *p)
{
	if (p == NULL || p->dead)
		return;
	loop_del(p->loop, p->watch);
	loop_del(p->loop, p->again);
	shake_free(p->shake);
	ipc_unlink(&p->file);
	if (p->sock != NULL)
		(void)zmq_close(p->sock); /* fails on no socket only */
	forget_keys(p);
	p->dead = true;
	if (!p->in_callback)
		free(p);
}

bool
peer_addr_eq(const struct peer_addr *a, const struct peer_addr *b)
{
	return a->id_len == b->id_len && memcmp(a->id, b->id, a->id_len) == 0;
}
