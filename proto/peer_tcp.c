/*
 * peer_tcp.c - peers between machines: CURVE, and clients that connect again.
 */
#include "common/compat.h"

#include <errno.h>
#include <zmq.h>

#include "common/log.h"
#include "proto/peer_priv.h"
#include "proto/zap.h"

/* After a handshake that came to nothing, and twice that after the next. */
#define AGAIN_MS 250u
#define AGAIN_DOUBLED 5

static int
set_keys(struct peer *p, const struct curve_pair *own, const char *server,
    struct err *e)
{
	const int yes = 1;

	if (zmq_setsockopt(
		p->sock, ZMQ_CURVE_PUBLICKEY, own->public_key, CURVE_KEY) < 0 ||
	    zmq_setsockopt(
		p->sock, ZMQ_CURVE_SECRETKEY, own->secret_key, CURVE_KEY) < 0 ||
	    (server != NULL ? zmq_setsockopt(p->sock, ZMQ_CURVE_SERVERKEY,
				  server, CURVE_KEY)
			    : zmq_setsockopt(p->sock, ZMQ_CURVE_SERVER, &yes,
				  sizeof yes)) < 0 ||
	    (server == NULL &&
		zmq_setsockopt(p->sock, ZMQ_ZAP_DOMAIN, ZAP_DOMAIN,
		    strlen(ZAP_DOMAIN)) < 0))
		return err_set(e, -errno, "keys: %s", zmq_strerror(errno));
	return 0;
}

int
peer_bind_curve(struct loop *l, void *zctx, const char *endpoint,
    const struct curve_pair *keys, const struct peer_ops *ops, void *ctx,
    struct peer **ret, struct err *e)
{
	struct peer *p = NULL;
	int r = peer_make(l, zctx, true, true, ops, ctx, &p, e);

	if (r < 0 || p == NULL)
		return r;
	if ((r = set_keys(p, keys, NULL, e)) < 0 ||
	    (r = peer_bind_at(p, endpoint, false, e)) < 0) {
		peer_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

static int dial(struct peer *p, struct err *e);

static void
again_cb(void *ctx)
{
	struct peer *p = ctx;
	struct err e;

	p->again = NULL;
	loop_del(p->loop, p->watch);
	p->watch = NULL;
	shake_free(p->shake);
	p->shake = NULL;
	(void)zmq_close(p->sock);
	p->sock = zmq_socket(p->zctx, ZMQ_DEALER);
	if (p->sock == NULL || peer_options(p, false, &e) < 0 ||
	    dial(p, &e) < 0)
		fatal("%s can't be connected again: %s", p->endpoint,
		    p->sock == NULL ? zmq_strerror(errno) : e.text);
}

/* libzmq itself goes on ten times a second, or not at all. Not all hosts of a
 * fleet at once. */
static void
later(struct peer *p)
{
	uint64_t ms = (uint64_t)AGAIN_MS << p->failed;
	const int linger = 0; /* else it goes on with what waits */

	if (p->failed < AGAIN_DOUBLED)
		p->failed++;
	(void)zmq_setsockopt(p->sock, ZMQ_LINGER, &linger, sizeof linger);
	(void)zmq_disconnect(p->sock, p->endpoint);
	loop_zmq_used(p->loop, p->watch);
	ms += arc4random_uniform((uint32_t)ms / 2);
	p->again = loop_timer_add(p->loop, ms, 0, again_cb, p);
}

static void
shake_happened(enum shake what, void *ctx)
{
	struct peer *p = ctx;

	if (p->dead)
		return;
	if (what == SHAKE_UP)
		p->failed = 0;
	if ((what == SHAKE_REFUSED || what == SHAKE_FAILED ||
		what == SHAKE_CUT) &&
	    p->again == NULL)
		later(p);
	if (p->ops.on_link != NULL)
		p->ops.on_link(p, what, p->ctx);
}

/* Of a socket that is made and has its options. */
static int
dial(struct peer *p, struct err *e)
{
	int r = peer_option(p, ZMQ_IPV6, 1, e);

	if (r == 0 && p->keys != NULL)
		r = set_keys(p, &p->keys->own, p->keys->server, e);
	if (r == 0)
		r = shake_watch(
		    p->loop, p->zctx, p->sock, shake_happened, p, &p->shake, e);
	if (r < 0)
		return r;
	if (zmq_connect(p->sock, p->endpoint) < 0)
		return err_set(e, -errno, "connect %s: %s", p->endpoint,
		    zmq_strerror(errno));
	p->watch = loop_zmq_add(p->loop, p->sock, peer_readable_cb, p);
	return 0;
}

int
peer_connect_tcp(struct loop *l, void *zctx, const char *endpoint,
    const struct curve_host *keys, const struct peer_ops *ops, void *ctx,
    struct peer **ret, struct err *e)
{
	struct peer *p = NULL;
	int r = peer_make(l, zctx, false, false, ops, ctx, &p, e);

	if (r < 0 || p == NULL)
		return r;
	p->zctx = zctx;
	p->endpoint = xstrdup(endpoint);
	if (keys != NULL) {
		p->keys = xmalloc(sizeof *p->keys);
		*p->keys = *keys;
	}
	if ((r = dial(p, e)) < 0) {
		peer_free(p);
		return r;
	}
	*ret = p;
	return 0;
}
