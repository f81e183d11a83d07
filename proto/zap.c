/*
 * zap.c - who may connect.
 */
#include "common/compat.h"

#include "proto/zap.h"

#include <errno.h>
#include <zmq.h>

#include "common/log.h"

#define ENDPOINT "inproc://zeromq.zap.01"
#define PARTS 7 /* version, id, domain, address, identity, mechanism, key */
#define PART_MAX 256
#define KEY_BYTES 32

struct zap {
	struct loop *loop;
	void *sock;
	struct loop_watch *watch;
	zap_allow allow;
	void *ctx;
};

struct part {
	unsigned char bytes[PART_MAX];
	size_t len;
};

static bool
is(const struct part *p, const char *text)
{
	return p->len == strlen(text) && memcmp(p->bytes, text, p->len) == 0;
}

/* The number of parts; those beyond the first ones are passed over. 0: there
 * is no request. */
static size_t
receive(struct zap *z, struct part v[PARTS])
{
	size_t n = 0;
	int more = 1, len;
	zmq_msg_t m;

	while (more) {
		zmq_msg_init(&m);
		len = zmq_msg_recv(&m, z->sock, ZMQ_DONTWAIT);
		if (len < 0) {
			zmq_msg_close(&m);
			return 0;
		}
		more = zmq_msg_more(&m);
		if (n < PARTS) {
			/* What is too long is never equal to anything. */
			v[n].len = (size_t)len;
			if ((size_t)len <= PART_MAX)
				memcpy(
				    v[n].bytes, zmq_msg_data(&m), (size_t)len);
		}
		n++;
		zmq_msg_close(&m);
	}
	return n;
}

static bool
judge(const struct zap *z, const struct part v[PARTS], size_t n)
{
	char key[CURVE_KEY];

	return n == PARTS && is(&v[0], "1.0") && is(&v[2], ZAP_DOMAIN) &&
	    is(&v[5], "CURVE") && v[6].len == KEY_BYTES &&
	    zmq_z85_encode(key, v[6].bytes, KEY_BYTES) != NULL &&
	    z->allow(key, z->ctx);
}

static void
answer(struct zap *z, const struct part *id, bool good)
{
	const char *const rest[] = { good ? "200" : "400", "", "", "" };
	size_t i;

	/* A REP socket whose client is gone drops it. */
	(void)zmq_send(z->sock, "1.0", 3, ZMQ_SNDMORE);
	(void)zmq_send(
	    z->sock, id->bytes, id->len <= PART_MAX ? id->len : 0, ZMQ_SNDMORE);
	for (i = 0; i < nitems(rest); i++)
		(void)zmq_send(z->sock, rest[i], strlen(rest[i]),
		    i + 1 < nitems(rest) ? ZMQ_SNDMORE : 0);
}

static void
request_cb(void *sock unused_arg, void *ctx)
{
	struct zap *z = ctx;
	struct part v[PARTS];
	size_t n = receive(z, v);

	if (n > 0)
		answer(z, &v[n > 1 ? 1 : 0], judge(z, v, n));
}

int
zap_start(struct loop *l, void *zctx, zap_allow allow, void *ctx,
    struct zap **ret, struct err *e)
{
	struct zap *z = xcalloc(1, sizeof *z);
	const int linger = 0;

	z->loop = l;
	z->allow = allow;
	z->ctx = ctx;
	z->sock = zmq_socket(zctx, ZMQ_REP);
	if (z->sock == NULL ||
	    zmq_setsockopt(z->sock, ZMQ_LINGER, &linger, sizeof linger) < 0 ||
	    zmq_bind(z->sock, ENDPOINT) < 0) {
		int r =
		    err_set(e, -errno, "%s: %s", ENDPOINT, zmq_strerror(errno));

		zap_stop(z);
		return r;
	}
	z->watch = loop_zmq_add(l, z->sock, request_cb, z);
	*ret = z;
	return 0;
}

void
zap_stop(struct zap *z)
{
	if (z == NULL)
		return;
	loop_del(z->loop, z->watch);
	if (z->sock != NULL)
		(void)zmq_close(z->sock);
	free(z);
}
