/*
 * shake.c - how the handshakes of a ZeroMQ client go.
 */
#include "common/compat.h"

#include "proto/shake.h"

#include <errno.h>
#include <zmq.h>

#include "common/log.h"

#define EVENTS_A_TURN 16

struct shake_watch {
	struct loop *loop;
	void *sock; /* that is watched */
	void *pair;
	struct loop_watch *watch;
	shake_cb cb;
	void *ctx;
};

/* An event is a number and a value, and the endpoint in a part of its own. 0:
 * there is none. */
static unsigned
next_event(struct shake_watch *s)
{
	uint16_t event = 0;
	zmq_msg_t m;
	int more = 1;
	bool first = true;

	while (more) {
		zmq_msg_init(&m);
		if (zmq_msg_recv(&m, s->pair, ZMQ_DONTWAIT) < 0) {
			zmq_msg_close(&m);
			return event;
		}
		if (first && zmq_msg_size(&m) >= sizeof event)
			memcpy(&event, zmq_msg_data(&m), sizeof event);
		first = false;
		more = zmq_msg_more(&m);
		zmq_msg_close(&m);
	}
	return event;
}

static void
event_cb(void *pair unused_arg, void *ctx)
{
	struct shake_watch *s = ctx;
	unsigned event;
	int i;

	for (i = 0; i < EVENTS_A_TURN && (event = next_event(s)) != 0; i++) {
		switch (event) {
		case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
			s->cb(SHAKE_UP, s->ctx);
			break;
		case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
			s->cb(SHAKE_REFUSED, s->ctx);
			break;
		case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
			s->cb(SHAKE_FAILED, s->ctx);
			break;
		case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
			s->cb(SHAKE_CUT, s->ctx);
			break;
		default:
			s->cb(SHAKE_DOWN, s->ctx);
			break;
		}
	}
}

int
shake_watch(struct loop *l, void *zctx, void *sock, shake_cb cb, void *ctx,
    struct shake_watch **ret, struct err *e)
{
	static unsigned number;
	struct shake_watch *s = xcalloc(1, sizeof *s);
	const int linger = 0;
	char endpoint[64];

	s->loop = l;
	s->sock = sock;
	s->cb = cb;
	s->ctx = ctx;
	(void)snprintf(
	    endpoint, sizeof endpoint, "inproc://shake-%u", number++);
	s->pair = zmq_socket(zctx, ZMQ_PAIR);
	if (s->pair == NULL ||
	    zmq_setsockopt(s->pair, ZMQ_LINGER, &linger, sizeof linger) < 0 ||
	    zmq_socket_monitor(sock, endpoint,
		ZMQ_EVENT_HANDSHAKE_SUCCEEDED |
		    ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
		    ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
		    ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
		    ZMQ_EVENT_DISCONNECTED) < 0 ||
	    zmq_connect(s->pair, endpoint) < 0) {
		int r = err_set(e, -errno, "monitor: %s", zmq_strerror(errno));

		shake_free(s);
		return r;
	}
	s->watch = loop_zmq_add(l, s->pair, event_cb, s);
	*ret = s;
	return 0;
}

void
shake_free(struct shake_watch *s)
{
	if (s == NULL)
		return;
	loop_del(s->loop, s->watch);
	(void)zmq_socket_monitor(s->sock, NULL, 0);
	if (s->pair != NULL)
		(void)zmq_close(s->pair);
	free(s);
}
