/*
 * test_host_relay.c - what goes up while the orchestrator does not listen:
 * bounded for each worker, and in order when it does.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>
#include <zmq.h>

#include "worker/host/relay.h"

struct heard {
	uint64_t next;
	size_t n;
};

static void
msg_cb(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct msg *m, const void *raw, size_t len, void *ctx)
{
	struct heard *h = ctx;

	(void)p;
	(void)from;
	(void)raw;
	(void)len;
	if (m->type == MSG_HEARTBEAT)
		return;
	assert_string_equal(worker, "w");
	assert_int_equal(m->u.progress.done, h->next);
	h->next++;
	h->n++;
}

static int
send_one(struct relay *r, struct relay_share *share, uint64_t n, size_t size)
{
	struct msg m = { .type = MSG_PROGRESS };
	static char text[1024];
	struct err e;

	memset(text, 'x', sizeof text - 1);
	text[size] = '\0';
	m.u.progress.what = "test";
	m.u.progress.done = n;
	m.u.progress.text = text;
	return relay_msg(r, "w", &m, share, &e);
}

static void
test_queue(void **state)
{
	static const struct peer_ops none = { .on_msg = msg_cb },
				     ops = { .on_msg = msg_cb,
					     .accept_from = 1u << ROLE_WORKER |
						 1u << ROLE_HOST };
	struct relay_share share = { 0 }, other = { 0 };
	struct heard h = { 0 };
	struct peer *up, *orch;
	struct relay *r;
	struct loop *l = loop_create();
	void *zctx = zmq_ctx_new();
	char dir[] = "/tmp/fr-XXXXXX", endpoint[64];
	struct msg beat = { .type = MSG_HEARTBEAT };
	struct err e;
	uint64_t n = 0, i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(endpoint, sizeof endpoint, "ipc://%s/s", dir);
	assert_int_equal(
	    peer_connect(l, zctx, endpoint, &none, NULL, &up, &e), 0);
	r = relay_create(l, up);
	while (share.queued == 0)
		assert_int_equal(send_one(r, &share, n++, 1000), 0);
	assert_true(n > 900 && n < 1100);
	/* As much as a share may have, and not more. */
	while (send_one(r, &share, n, 1000) == 0)
		n++;
	assert_true(share.queued <= RELAY_SHARE_MAX);
	assert_true(share.queued > RELAY_SHARE_MAX - 2048);
	assert_int_equal(send_one(r, &share, n, 1000), ERR_LIMIT);
	/* Another one does not notice, and behind it order is kept. */
	assert_int_equal(send_one(r, &other, n++, 3), 0);
	assert_true(other.queued > 0);
	assert_int_equal(relay_msg(r, "", &beat, NULL, &e), 0);
	relay_forget(r, &other);
	other.queued = 0;
	assert_false(relay_is_empty(r));

	assert_int_equal(
	    peer_bind(l, zctx, endpoint, false, &ops, &h, &orch, &e), 0);
	for (i = 0; i < 200000 && (h.n < n || !relay_is_empty(r)); i++)
		assert_true(loop_once(l, 10) >= 0);
	assert_int_equal(h.n, n);
	assert_int_equal(share.queued, 0);
	assert_int_equal(other.queued, 0);

	relay_free(r);
	peer_free(up);
	peer_free(orch);
	loop_free(l);
	zmq_ctx_term(zctx);
	assert_int_equal(rmdir(dir), 0);
}

static unsigned
queued_when_sent(struct relay *r, struct relay_share *share, uint64_t n)
{
	assert_int_equal(send_one(r, share, n, 10), 0);
	return (unsigned)share->queued;
}

/* Held, nothing goes up, though the socket would take it; what is thrown away
 * is not said later. */
static void
test_held(void **state)
{
	static const struct peer_ops none = { .on_msg = msg_cb },
				     ops = { .on_msg = msg_cb,
					     .accept_from = 1u << ROLE_WORKER };
	struct relay_share share = { 0 };
	struct heard h = { .next = 2 };
	struct peer *up, *orch;
	struct relay *r;
	struct loop *l = loop_create();
	void *zctx = zmq_ctx_new();
	char dir[] = "/tmp/fr-XXXXXX", endpoint[64];
	struct err e;
	int i;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(endpoint, sizeof endpoint, "ipc://%s/s", dir);
	assert_int_equal(
	    peer_bind(l, zctx, endpoint, false, &ops, &h, &orch, &e), 0);
	assert_int_equal(
	    peer_connect(l, zctx, endpoint, &none, NULL, &up, &e), 0);
	r = relay_create(l, up);
	relay_hold(r, true);
	assert_true(queued_when_sent(r, &share, 0) > 0);
	assert_true(queued_when_sent(r, &share, 1) > 0);
	for (i = 0; i < 20; i++)
		assert_true(loop_once(l, 10) >= 0);
	assert_int_equal(h.n, 0);
	relay_clear(r);
	assert_int_equal(share.queued, 0);
	assert_true(relay_is_empty(r));
	assert_true(queued_when_sent(r, &share, 2) > 0);
	relay_hold(r, false);
	assert_true(queued_when_sent(r, &share, 3) > 0); /* behind it */
	for (i = 0; i < 1000 && h.n < 2; i++)
		assert_true(loop_once(l, 10) >= 0);
	assert_int_equal(h.n, 2);
	assert_int_equal(share.queued, 0);
	assert_int_equal(queued_when_sent(r, &share, 4), 0);

	relay_free(r);
	peer_free(up);
	peer_free(orch);
	loop_free(l);
	zmq_ctx_term(zctx);
	assert_int_equal(rmdir(dir), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
