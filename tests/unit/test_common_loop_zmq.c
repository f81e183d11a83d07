/*
 * test_common_loop_zmq.c - ZeroMQ sockets on the loop: no message stays
 * behind, whoever uses the socket, and nobody is called that has none.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/loop.h"

#define MANY 150
#define TURNS 40
#define STUCK_MS 20000 /* nothing has come for so long: a wake-up is lost */

struct end {
	void *sock;
	struct loop_watch *watch;
	int got;  /* messages */
	int left; /* that a client still sends */
};

static struct loop *l;
static void *zctx;
static struct end servers[MANY], clients[MANY];
static int calls, timers, fds, children;

static int
setup(void **state)
{
	(void)state;
	l = loop_create();
	zctx = zmq_ctx_new();
	memset(servers, 0, sizeof servers);
	memset(clients, 0, sizeof clients);
	calls = timers = fds = children = 0;
	return 0;
}

static void
end_close(struct end *e)
{
	const int linger = 0;

	loop_del(l, e->watch);
	e->watch = NULL;
	if (e->sock != NULL) {
		(void)zmq_setsockopt(
		    e->sock, ZMQ_LINGER, &linger, sizeof linger);
		(void)zmq_close(e->sock);
	}
	e->sock = NULL;
}

static int
teardown(void **state)
{
	(void)state;
	for (int i = 0; i < MANY; i++) {
		end_close(&servers[i]);
		end_close(&clients[i]);
	}
	loop_free(l);
	zmq_ctx_term(zctx);
	return 0;
}

/* A ROUTER and its DEALER; hwm 0: as libzmq has it. */
static void
connect_pair(int i, const char *scheme, int hwm)
{
	char at[128];

	(void)snprintf(at, sizeof at, "%s%d", scheme, i);
	servers[i].sock = zmq_socket(zctx, ZMQ_ROUTER);
	clients[i].sock = zmq_socket(zctx, ZMQ_DEALER);
	assert_non_null(servers[i].sock);
	assert_non_null(clients[i].sock);
	if (hwm > 0) {
		assert_return_code(zmq_setsockopt(servers[i].sock, ZMQ_RCVHWM,
				       &hwm, sizeof hwm),
		    errno);
		assert_return_code(zmq_setsockopt(clients[i].sock, ZMQ_SNDHWM,
				       &hwm, sizeof hwm),
		    errno);
	}
	assert_return_code(zmq_bind(servers[i].sock, at), errno);
	assert_return_code(zmq_connect(clients[i].sock, at), errno);
}

/* 1: one was there. id: of its sender, may be NULL. */
static int
take(void *sock, bool router, unsigned char id[8], size_t *len)
{
	char text[8];
	int r;

	if (router) {
		r = zmq_recv(sock, id, 8, ZMQ_DONTWAIT);
		if (r < 0)
			return 0;
		*len = (size_t)r;
	}
	return zmq_recv(sock, text, sizeof text, ZMQ_DONTWAIT) == 1;
}

/* Takes one, and leaves what is behind it. */
static void
take_cb(void *sock, void *ctx)
{
	struct end *e = ctx;
	unsigned char id[8];
	size_t len;

	calls++;
	assert_int_equal(take(sock, true, id, &len), 1);
	e->got++;
}

static void
watch_servers(int n)
{
	for (int i = 0; i < n; i++)
		servers[i].watch =
		    loop_zmq_add(l, servers[i].sock, take_cb, &servers[i]);
}

/* Rounds until nothing more comes. */
static void
settle(void)
{
	int before;

	do {
		before = calls;
		assert_int_equal(loop_once(l, 0), 0);
	} while (calls > before);
}

/* Rounds until so many calls were made. */
static void
await(int n)
{
	uint64_t since = loop_now_ms();
	int before;

	while (calls < n) {
		before = calls;
		assert_int_equal(loop_once(l, STUCK_MS), 0);
		if (calls > before)
			since = loop_now_ms();
		assert_true(loop_now_ms() - since < STUCK_MS);
	}
}

/* What a use of the socket takes in would be told by nothing. */
static void
test_used(void **state)
{
	int events = 0;
	size_t size = sizeof events;

	(void)state;
	connect_pair(0, "inproc://used", 0);
	watch_servers(1);
	settle();
	assert_int_equal(zmq_send(clients[0].sock, "x", 1, 0), 1);
	assert_return_code(
	    zmq_getsockopt(servers[0].sock, ZMQ_EVENTS, &events, &size), errno);
	assert_true((events & ZMQ_POLLIN) != 0);
	loop_zmq_used(l, servers[0].watch);
	loop_zmq_used(l, servers[0].watch);
	loop_zmq_used(l, NULL);
	assert_int_equal(loop_once(l, STUCK_MS), 0);
	assert_int_equal(servers[0].got, 1);
	settle();
	assert_int_equal(calls, 1);
}

/* One callback takes one of a thousand: the rest is not told of again. */
static void
test_burst(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++)
		connect_pair(i, "inproc://burst", 0);
	watch_servers(3);
	settle();
	for (int i = 0; i < 900; i++)
		assert_int_equal(zmq_send(clients[i % 2].sock, "x", 1, 0), 1);
	for (int i = 1; i <= 450; i++) {
		assert_int_equal(loop_once(l, STUCK_MS), 0);
		/* Each had its turn in each round. */
		assert_int_equal(servers[0].got, i);
	}
	assert_int_equal(servers[1].got, 450);
	settle();
	assert_int_equal(calls, 900);
	assert_int_equal(zmq_send(clients[2].sock, "x", 1, 0), 1);
	assert_int_equal(loop_once(l, STUCK_MS), 0);
	assert_int_equal(servers[2].got, 1);
}

/* A full pipe, and its client tries again from a timer. */
static void
refill_cb(void *ctx)
{
	struct end *e = ctx;

	timers++;
	while (e->left > 0 && zmq_send(e->sock, "x", 1, ZMQ_DONTWAIT) == 1)
		e->left--;
}

static void
test_full(void **state)
{
	struct loop_watch *again;
	int refused;

	(void)state;
	connect_pair(0, "inproc://full", 4);
	clients[0].left = 200;
	refill_cb(&clients[0]);
	refused = clients[0].left;
	assert_in_range(refused, 1, 199);
	watch_servers(1);
	again = loop_timer_add(l, 0, 1, refill_cb, &clients[0]);
	await(200);
	loop_del(l, again);
	settle();
	assert_int_equal(calls, 200);
}

/* The first that is called removes all of them. */
static void
remove_cb(void *sock, void *ctx)
{
	(void)sock;
	(void)ctx;
	calls++;
	for (int i = 0; i < 20; i++)
		end_close(&servers[i]);
}

static void
test_removed(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		connect_pair(i, "inproc://removed", 0);
		servers[i].watch =
		    loop_zmq_add(l, servers[i].sock, remove_cb, NULL);
	}
	settle();
	for (int i = 0; i < 20; i++)
		assert_int_equal(zmq_send(clients[i].sock, "x", 1, 0), 1);
	settle();
	assert_int_equal(calls, 1);
}

/* One that comes before takes the message of the others. */
static void
steal_cb(void *sock, void *ctx)
{
	unsigned char id[8];
	size_t len;

	(void)sock;
	(void)ctx;
	calls++;
	for (int i = 0; i < 3; i++) {
		while (take(servers[i].sock, true, id, &len))
			servers[i].got++;
		loop_zmq_used(l, servers[i].watch);
	}
}

static void
test_stolen(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		connect_pair(i, "inproc://stolen", 0);
		servers[i].watch =
		    loop_zmq_add(l, servers[i].sock, steal_cb, NULL);
	}
	settle();
	for (int round = 1; round <= 5; round++) {
		for (int i = 0; i < 3; i++)
			assert_int_equal(
			    zmq_send(clients[i].sock, "x", 1, 0), 1);
		assert_int_equal(loop_once(l, STUCK_MS), 0);
		settle();
		assert_int_equal(calls, round);
		assert_int_equal(servers[2].got, round);
	}
}

static void
timer_cb(void *ctx)
{
	(void)ctx;
	timers++;
}

static void
fd_cb(int fd, unsigned events, void *ctx)
{
	char c;

	(void)ctx;
	assert_true((events & LOOP_IN) != 0);
	assert_int_equal(read(fd, &c, 1), 1);
	fds++;
}

/* The last message of a child comes before its end. */
static void
child_cb(pid_t pid, int status, void *ctx)
{
	(void)pid;
	(void)ctx;
	assert_int_equal(status, 0);
	assert_int_equal(servers[0].got, 1);
	children++;
}

static void
test_mixed(void **state)
{
	int a[2], b[2];
	struct loop_watch *many;
	siginfo_t si;
	pid_t pid;

	(void)state;
	connect_pair(0, "inproc://mixed", 0);
	watch_servers(1);
	settle();
	assert_int_equal(fd_pipe(a), 0);
	assert_int_equal(fd_pipe(b), 0);
	loop_fd_add(l, a[0], LOOP_IN, fd_cb, NULL);
	many = loop_fd_add(l, b[0], LOOP_IN, fd_cb, NULL);
	loop_many(l, many);
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_return_code(
	    waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT), errno);
	loop_many(l, loop_child_add(l, pid, child_cb, NULL));
	loop_timer_add(l, 0, 0, timer_cb, NULL);
	assert_int_equal(write(a[1], "x", 1), 1);
	assert_int_equal(write(b[1], "x", 1), 1);
	assert_int_equal(zmq_send(clients[0].sock, "x", 1, 0), 1);
	while (children == 0)
		assert_int_equal(loop_once(l, STUCK_MS), 0);
	assert_int_equal(timers, 1);
	assert_int_equal(fds, 2);
	assert_int_equal(calls, 1);
	loop_free(l); /* before the descriptors */
	l = loop_create();
	servers[0].watch = NULL;
	for (int i = 0; i < 2; i++) {
		fd_close(&a[i]);
		fd_close(&b[i]);
	}
}

/* No descriptor is left for epoll: it is looked at as others are. */
static void
test_no_epoll(void **state)
{
	struct rlimit old, low;
	int next = dup(0);

	(void)state;
	assert_return_code(next, errno);
	connect_pair(0, "inproc://poor", 0);
	(void)close(next);
	next = dup(0); /* the lowest that is free */
	(void)close(next);
	assert_return_code(getrlimit(RLIMIT_NOFILE, &old), errno);
	low = old;
	low.rlim_cur = (rlim_t)next;
	assert_return_code(setrlimit(RLIMIT_NOFILE, &low), errno);
	watch_servers(1);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &old), errno);
	settle();
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(zmq_send(clients[0].sock, "x", 1, 0), 1);
		assert_int_equal(loop_once(l, STUCK_MS), 0);
		assert_int_equal(servers[0].got, i);
	}
}

/* --- many at once, through libzmq's own thread -----------------------------
 */

static void
echo_cb(void *sock, void *ctx)
{
	struct end *e = ctx;
	unsigned char id[8];
	size_t len;

	/* One a call, and at times two. */
	for (int n = 1 + e->got % 2; n > 0; n--) {
		if (!take(sock, true, id, &len))
			return;
		e->got++;
		assert_int_equal(
		    zmq_send(sock, id, len, ZMQ_DONTWAIT | ZMQ_SNDMORE), len);
		assert_int_equal(zmq_send(sock, "y", 1, ZMQ_DONTWAIT), 1);
	}
}

static int sent;

static void
send_from(struct end *e)
{
	e->left--;
	sent++;
	assert_int_equal(zmq_send(e->sock, "x", 1, ZMQ_DONTWAIT), 1);
	loop_zmq_used(l, e->watch);
}

/* An answer lets another client go on, whose own answer may be there by now,
 * and else this one. */
static void
answer_cb(void *sock, void *ctx)
{
	struct end *e = ctx, *other = &clients[(size_t)rand() % MANY];

	assert_int_equal(take(sock, false, NULL, NULL), 1);
	e->got++;
	calls++;
	if (other->left > 0)
		send_from(other);
	else if (e->left > 0)
		send_from(e);
}

static void
test_many(void **state)
{
	char dir[] = "/tmp/foray-loop-XXXXXX", scheme[64], path[64];
	int got = 0;

	(void)state;
	srand(7); /* the same in each run */
	sent = 0;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(scheme, sizeof scheme, "ipc://%s/s", dir);
	for (int i = 0; i < MANY; i++) {
		connect_pair(i, scheme, 0);
		servers[i].watch =
		    loop_zmq_add(l, servers[i].sock, echo_cb, &servers[i]);
		clients[i].watch =
		    loop_zmq_add(l, clients[i].sock, answer_cb, &clients[i]);
		clients[i].left = TURNS;
	}
	for (int i = 0; i < MANY; i++)
		send_from(&clients[i]);
	while (calls < sent)
		await(sent);
	assert_in_range(sent, MANY * TURNS / 2, MANY * TURNS);
	for (int i = 0; i < MANY; i++) {
		got += servers[i].got;
		end_close(&servers[i]);
		(void)snprintf(path, sizeof path, "%s/s%d", dir, i);
		(void)unlink(path);
	}
	assert_int_equal(got, sent);
	(void)rmdir(dir);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_used),
		T(test_burst),
		T(test_full),
		T(test_removed),
		T(test_stolen),
		T(test_mixed),
		T(test_no_epoll),
		T(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
