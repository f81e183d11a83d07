/*
 * relay.c - what goes up to the orchestrator, in order and bounded.
 */
#include "common/compat.h"

#include "worker/host/relay.h"

#include <errno.h>
#include <sys/queue.h>

#include "common/log.h"

#define RETRY_MS 20

struct waiting {
	STAILQ_ENTRY(waiting) entry;
	struct relay_share *share; /* NULL: nobody counts it */
	char worker[PEER_WORKER_MAX + 1];
	size_t len;
	unsigned char raw[];
};

struct relay {
	struct loop *loop;
	struct peer *up;
	struct loop_watch *retry; /* only while something waits */
	bool held;
	STAILQ_HEAD(waiting_list, waiting) queue;
};

struct relay *
relay_create(struct loop *l, struct peer *up)
{
	struct relay *r = xcalloc(1, sizeof *r);

	r->loop = l;
	r->up = up;
	STAILQ_INIT(&r->queue);
	return r;
}

static void
remove_first(struct relay *r)
{
	struct waiting *w = STAILQ_FIRST(&r->queue);

	STAILQ_REMOVE_HEAD(&r->queue, entry);
	if (w->share != NULL)
		w->share->queued -= w->len;
	free(w);
}

void
relay_clear(struct relay *r)
{
	while (!STAILQ_EMPTY(&r->queue))
		remove_first(r);
	loop_del(r->loop, r->retry);
	r->retry = NULL;
}

void
relay_free(struct relay *r)
{
	if (r == NULL)
		return;
	relay_clear(r);
	free(r);
}

static void
retry_cb(void *ctx)
{
	struct relay *r = ctx;
	struct waiting *w;
	struct err e;
	int code;

	while (!r->held && (w = STAILQ_FIRST(&r->queue)) != NULL) {
		code = peer_relay(r->up, NULL, w->worker, w->raw, w->len, &e);
		if (code == -EAGAIN)
			return;
		if (code < 0)
			log_warn(
			    "a message of '%s' is lost: %s", w->worker, e.text);
		remove_first(r);
	}
	loop_del(r->loop, r->retry);
	r->retry = NULL;
}

void
relay_hold(struct relay *r, bool held)
{
	r->held = held;
	if (!held && !STAILQ_EMPTY(&r->queue) && r->retry == NULL)
		r->retry =
		    loop_timer_add(r->loop, RETRY_MS, RETRY_MS, retry_cb, r);
}

static int
put_off(struct relay *r, const char *worker, const void *raw, size_t len,
    struct relay_share *share, struct err *e)
{
	struct waiting *w;

	if (share != NULL && len > RELAY_SHARE_MAX - share->queued)
		return err_set(e, ERR_LIMIT,
		    "more than %zu MiB wait for the orchestrator",
		    RELAY_SHARE_MAX >> 20);
	/* len is at most MSG_MAX_BYTES: peer_relay() saw to it. */
	w = xmalloc(sizeof *w + len);
	w->share = share;
	(void)snprintf(w->worker, sizeof w->worker, "%s", worker);
	w->len = len;
	memcpy(w->raw, raw, len);
	if (share != NULL)
		share->queued += len;
	STAILQ_INSERT_TAIL(&r->queue, w, entry);
	relay_hold(r, r->held);
	return 0;
}

int
relay_raw(struct relay *r, const char *worker, const void *raw, size_t len,
    struct relay_share *share, struct err *e)
{
	int code;

	if (len > MSG_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "a message is too large");
	if (!r->held && STAILQ_EMPTY(&r->queue)) {
		code = peer_relay(r->up, NULL, worker, raw, len, e);
		if (code != -EAGAIN)
			return code;
	}
	return put_off(r, worker, raw, len, share, e);
}

int
relay_msg(struct relay *r, const char *worker, const struct msg *m,
    struct relay_share *share, struct err *e)
{
	struct buf b;
	int code;

	buf_init(&b, MSG_MAX_BYTES);
	code = msg_encode(m, &b, e);
	if (code == 0)
		code = relay_raw(r, worker, b.data, b.len, share, e);
	buf_clear(&b);
	return code;
}

void
relay_forget(struct relay *r, const struct relay_share *share)
{
	struct waiting *w;

	STAILQ_FOREACH (w, &r->queue, entry)
		if (w->share == share)
			w->share = NULL;
}

bool
relay_is_empty(const struct relay *r)
{
	return STAILQ_EMPTY(&r->queue);
}
