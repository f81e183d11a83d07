/* link.c - see link.h. */
#include "common/compat.h"

#include <errno.h>
#include <limits.h>
#include <zmq.h>

#include "common/log.h"
#include "proto/peer.h"
#include "worker/agent/link.h"

struct link {
	struct loop *loop;
	void *zctx;
	struct peer *peer;
	char *worker;
	/* what a call waits for */
	enum msg_type want;
	link_match match;
	const void *match_ctx;
	struct msg *got;
	struct strv steered; /* told, not fetched yet */
};

/* It may come at any moment, and stands until the next turn. */
static void
take_steer(struct link *l, const void *raw, size_t len)
{
	struct msg *m = NULL;
	struct err e;

	if (l->steered.n >= LINK_STEERS)
		return;
	if (msg_decode(raw, len, &m, &e) < 0)
		log_debug("STEER: %s", e.text);
	else
		strv_add(&l->steered, m->u.steer.text);
	msg_free(m);
}

void
link_steered(struct link *l, struct strv *ret)
{
	strv_extend(ret, &l->steered);
	strv_clear(&l->steered);
}

static void
on_msg(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct msg *m, const void *raw, size_t raw_len, void *ctx)
{
	struct link *l = ctx;
	struct err e;

	(void)p;
	(void)from;
	(void)worker;
	if (m->type == MSG_STEER) {
		take_steer(l, raw, raw_len);
		return;
	}
	if (m->type != l->want || l->got != NULL) {
		log_debug("%s dropped: not waited for", msg_name(m->type));
		return;
	}
	if (l->match != NULL && !l->match(m, l->match_ctx)) {
		log_debug("%s dropped: of an older request", msg_name(m->type));
		return;
	}
	if (msg_decode(raw, raw_len, &l->got, &e) < 0)
		log_debug("%s: %s", msg_name(m->type), e.text);
}

static void
on_bad(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct err *why, void *ctx)
{
	(void)p;
	(void)from;
	(void)worker;
	(void)ctx;
	log_warn("a message was refused: %s", why->text);
}

static const struct peer_ops link_ops = {
	.on_msg = on_msg,
	.on_bad = on_bad,
	.accept_from = 1u << ROLE_ORCH,
};

int
link_open(
    const char *endpoint, const char *worker, struct link **ret, struct err *e)
{
	struct link *l;
	int r;

	l = xcalloc(1, sizeof *l);
	l->worker = xstrdup(worker);
	l->loop = loop_create();
	l->zctx = zmq_ctx_new();
	r = peer_connect(l->loop, l->zctx, endpoint, &link_ops, l, &l->peer, e);
	if (r < 0) {
		link_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

void
link_close(struct link *l)
{
	if (l == NULL)
		return;
	peer_free(l->peer);
	loop_free(l->loop);
	zmq_ctx_term(l->zctx);
	msg_free(l->got);
	strv_clear(&l->steered);
	free(l->worker);
	free(l);
}

int
link_send(struct link *l, const struct msg *m, struct err *e)
{
	return peer_send(l->peer, NULL, l->worker, m, e);
}

int
link_call(struct link *l, const struct msg *m, enum msg_type want,
    link_match match, const void *ctx, uint64_t resend_ms, uint64_t timeout_ms,
    struct msg **ret, struct err *e)
{
	uint64_t start = loop_now_ms(), now, send_at = start;
	int r = 0;

	l->want = want;
	l->match = match;
	l->match_ctx = ctx;
	msg_free(l->got);
	l->got = NULL;
	while (l->got == NULL) {
		uint64_t wait = INT_MAX; /* an idle worker does not wake */

		now = loop_now_ms();
		if (timeout_ms > 0 && now - start >= timeout_ms) {
			r = err_set(e, -ETIMEDOUT, "no %s came within %llu s",
			    msg_name(want),
			    (unsigned long long)(timeout_ms / 1000));
			break;
		}
		if (now >= send_at) {
			r = link_send(l, m, e);
			/* A full queue or a lost peer: tried again soon. */
			if (r == -EAGAIN || r == -EHOSTUNREACH)
				send_at = now + 500;
			else if (r < 0)
				break;
			else
				send_at = resend_ms > 0 ? now + resend_ms
							: UINT64_MAX;
		}
		if (send_at > now && send_at - now < wait)
			wait = send_at - now;
		if (timeout_ms > 0 && start + timeout_ms - now < wait)
			wait = start + timeout_ms - now;
		if ((r = loop_once(l->loop, (int)wait)) < 0) {
			r = err_set(e, r, "the event loop failed");
			break;
		}
		r = 0;
	}
	l->want = MSG_NONE;
	if (l->got != NULL) {
		*ret = l->got;
		l->got = NULL;
		r = 0;
	}
	return r;
}
