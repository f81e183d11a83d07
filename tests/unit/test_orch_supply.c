/* A run's snapshot for hosts that lack it: who asks may be anybody. */
#include "common/compat.h"

#include "test_sandbox_bed.h"

#include <zmq.h>

#include "orchestrator/run/supply.h"
#include "sandbox/snapshot.h"
#include "sandbox/snapshot_export.h"

#define WAIT_MS 120000

static struct loop *loop;
static void *zctx;
static struct hosts *hosts;
static struct supply *supply;
static struct snapshot snap;

/* What a host has got. */
struct client {
	struct peer *peer;
	bool welcome;
	size_t n; /* of SNAPSHOT */
	uint64_t ticket, total, seq;
	char error[256], data[64];
};

static void
on_up(struct host *h unused_arg, void *ctx unused_arg)
{
}

static void
on_down(struct host *h, const char *why unused_arg, int code unused_arg,
    void *ctx unused_arg)
{
	supply_forget(supply, h);
}

static void
on_msg(struct host *h unused_arg, const char *worker unused_arg,
    const struct msg *m, void *ctx unused_arg)
{
	fail_msg("%s", msg_name(m->type));
}

static void
on_need(struct host *h, const struct msg_need *m, void *ctx unused_arg)
{
	supply_answer(supply, h, m);
}

static void
client_msg(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker unused_arg, const struct msg *m,
    const void *raw unused_arg, size_t len unused_arg, void *ctx)
{
	struct client *c = ctx;
	const struct msg_snapshot *s = &m->u.snapshot;

	if (m->type == MSG_WELCOME)
		c->welcome = true;
	if (m->type != MSG_SNAPSHOT)
		return;
	c->n++;
	c->ticket = s->ticket;
	c->total = s->total;
	c->seq = s->seq;
	(void)snprintf(c->error, sizeof c->error, "%s", msg_str(s->error));
	(void)snprintf(c->data, sizeof c->data, "%.*s", (int)s->data_len,
	    s->data_len > 0 ? (const char *)s->data : "");
}

static void
spin(int ms)
{
	uint64_t end = loop_now_ms() + (uint64_t)ms;

	while (loop_now_ms() < end)
		assert_true(loop_once(loop, 10) >= 0);
}

static void
wait_n(struct client *c, size_t n)
{
	uint64_t end = loop_now_ms() + WAIT_MS;

	while (c->n < n) {
		assert_true(loop_now_ms() < end);
		assert_true(loop_once(loop, 10) >= 0);
	}
	assert_int_equal(c->n, n);
}

static void
client_open(struct client *c, bool hello)
{
	static const struct peer_ops ops = { .on_msg = client_msg,
		.accept_from = 1u << ROLE_ORCH };
	struct msg m = { .type = MSG_HELLO };
	char *network = hosts_network(hosts), *dir = path_dir(network);
	char *endpoint = xasprintf("ipc://%s/s", dir);
	uint64_t end = loop_now_ms() + WAIT_MS;
	struct err e;

	memset(c, 0, sizeof *c);
	if (peer_connect(loop, zctx, endpoint, &ops, c, &c->peer, &e) < 0)
		fail_msg("%s", e.text);
	m.u.hello.protocol = PROTO_VERSION;
	m.u.hello.slots = 1;
	if (hello)
		assert_int_equal(peer_send(c->peer, NULL, NULL, &m, &e), 0);
	while (hello && !c->welcome) {
		assert_true(loop_now_ms() < end);
		assert_true(loop_once(loop, 10) >= 0);
	}
	free(network);
	free(dir);
	free(endpoint);
}

static void
need(struct client *c, const char *id, uint32_t entry, uint64_t offset,
    uint32_t len, uint64_t ticket)
{
	const struct snapshot_range r = { entry, offset, len };
	struct msg m = { .type = MSG_NEED };
	struct buf b;
	struct err e;

	buf_init(&b, BUF_NOMAX);
	snapshot_ranges_put(&b, &r, 1);
	m.u.need.snapshot = id;
	m.u.need.seq = 7;
	m.u.need.ranges = b.data;
	m.u.need.ranges_len = b.len;
	m.u.need.ticket = ticket;
	assert_int_equal(peer_send(c->peer, NULL, NULL, &m, &e), 0);
	buf_clear(&b);
}

static int
setup(void **state)
{
	static const struct hosts_ops ops = {
		.up = on_up, .down = on_down, .msg = on_msg, .need = on_need
	};
	struct hosts_opts ho = { .run = "test", .slots = 1 };
	struct snapshot_opts so = { 0 };
	char *root, *store;
	struct err e;

	assert_int_equal(bed_setup(state), 0);
	bed_run("mkdir -p r/d; echo 12345 >r/f; ln -s f r/l");
	root = path_join(bed, "r");
	store = path_join(bed, "snapshots");
	so.store = store;
	loop = loop_create();
	zctx = zmq_ctx_new();
	if (snapshot_create(root, &so, &snap, &e) < 0 ||
	    supply_create(bed, snap.id, &supply, &e) < 0 ||
	    hosts_create(loop, &ho, &ops, NULL, &hosts, &e) < 0)
		fail_msg("%s", e.text);
	free(root);
	free(store);
	return 0;
}

static int
teardown(void **state)
{
	hosts_free(hosts);
	supply_free(supply);
	loop_free(loop);
	zmq_ctx_term(zctx);
	snapshot_clear(&snap);
	return bed_teardown(state);
}

static void
test_answers(void **state unused_arg)
{
	struct client c;

	client_open(&c, true);
	need(&c, snap.id, 1, 1, 4, 0);
	wait_n(&c, 1);
	assert_string_equal(c.data, "2345");
	assert_int_equal(c.seq, 7);
	need(&c, snap.id, SNAPSHOT_MANIFEST, 0, SNAPSHOT_CHUNK, c.ticket);
	wait_n(&c, 2);
	assert_true(c.total > 100);
	assert_int_equal(strncmp(c.data, "{\"version\"", 10), 0);
	peer_free(c.peer);
}

static void
test_hostile(void **state unused_arg)
{
	static const char other[] = "0123456789abcdef0123456789abcdef";
	struct msg m = { .type = MSG_NEED };
	struct supply *none;
	struct client c, early;
	struct err e;

	client_open(&early, false);
	need(&early, snap.id, 1, 0, 1, 0);
	client_open(&c, true);
	need(&c, other, 1, 0, 1, 0);
	wait_n(&c, 1);
	assert_non_null(strstr(c.error, "no such snapshot"));
	need(&c, "../../etc", 1, 0, 1, c.ticket);
	wait_n(&c, 2);
	assert_non_null(strstr(c.error, "no such snapshot"));
	need(&c, snap.id, 1, 0, 7, c.ticket);
	wait_n(&c, 3);
	assert_non_null(strstr(c.error, "it has 6"));
	need(&c, snap.id, 2, 0, 1, c.ticket);
	wait_n(&c, 4);
	assert_non_null(strstr(c.error, "is no file"));
	m.u.need.snapshot = snap.id;
	m.u.need.seq = 1;
	m.u.need.ranges = "123";
	m.u.need.ranges_len = 3;
	m.u.need.ticket = c.ticket;
	assert_int_equal(peer_send(c.peer, NULL, NULL, &m, &e), 0);
	wait_n(&c, 5);
	assert_non_null(strstr(c.error, "no list"));
	assert_string_equal(c.data, "");
	assert_int_equal(early.n, 0);
	assert_int_equal(supply_create(bed, other, &none, &e), ERR_NOTFOUND);
	peer_free(c.peer);
	peer_free(early.peer);
}

/* Four at most are under way to one that gives no ticket back. */
static void
test_tickets(void **state unused_arg)
{
	struct client c, d;
	uint64_t old;
	int i;

	client_open(&c, true);
	client_open(&d, true);
	for (i = 0; i < 200; i++)
		need(&c, snap.id, 1, 0, 6, (uint64_t)i);
	wait_n(&c, 4);
	spin(100);
	assert_int_equal(c.n, 4);
	need(&d, snap.id, 1, 0, 6, c.ticket);
	wait_n(&d, 1);
	assert_string_equal(d.data, "12345\n");
	old = c.ticket;
	need(&c, snap.id, 1, 0, 6, old);
	wait_n(&c, 5);
	/* It is worth nothing a second time, and another's nothing at all. */
	need(&c, snap.id, 1, 0, 6, old);
	need(&c, snap.id, 1, 0, 6, d.ticket);
	spin(100);
	assert_int_equal(c.n, 5);
	need(&c, snap.id, 1, 0, 6, c.ticket);
	wait_n(&c, 6);
	peer_free(c.peer);
	peer_free(d.peer);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(test_answers), T(test_hostile),
		T(test_tickets) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
