/*
 * proto/peer.c over real sockets: one loop, servers and clients beside each
 * other, and raw ZeroMQ sockets as clients that do not follow the protocol.
 */
#include "common/compat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/log.h"
#include "common/path.h"
#include "proto/peer_priv.h"

#define CLIENTS 200
#define WAIT_MS 120000 /* for what must come */

/* What one end has seen. */
struct seen {
	unsigned n;
	unsigned bad;
	enum msg_type type;
	struct peer_addr from;
	char worker[PEER_WORKER_MAX + 1];
	char why[1024];
	uint64_t number;
	bool answer;           /* with a VERDICT of the same seq */
	struct peer **free_it; /* peer_free() inside the callback */
	bool relay;            /* raw, back to the sender */
	uint64_t sum;          /* of the numbers */
};

struct fixture {
	struct loop *loop;
	void *zctx;
	char dir[64];
	char path[128];
	char endpoint[160];
	struct peer *server;
	struct seen at_server;
	/* To be freed even when a test fails: zmq_ctx_term() waits for them. */
	struct peer *clients[CLIENTS];
	void *raw;
};

static uint64_t
number_of(const struct msg *m)
{
	if (m->type == MSG_AUDIT)
		return m->u.audit.seq;
	if (m->type == MSG_VERDICT)
		return m->u.verdict.seq;
	return 0;
}

static void
on_msg(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct msg *m, const void *raw, size_t raw_len, void *ctx)
{
	struct msg answer = { .type = MSG_VERDICT };
	struct seen *s = ctx;

	s->n++;
	s->type = m->type;
	s->from = *from;
	s->number = number_of(m);
	s->sum += s->number;
	strlcpy(s->worker, worker, sizeof s->worker);
	assert_int_equal(msg_peek(raw, raw_len), m->type);
	if (s->answer) {
		answer.u.verdict.seq = s->number;
		answer.u.verdict.verdict = "allow";
		assert_int_equal(peer_send(p, from, worker, &answer, NULL), 0);
	}
	if (s->relay)
		assert_int_equal(
		    peer_relay(p, from, worker, raw, raw_len, NULL), 0);
	if (s->free_it != NULL) {
		*s->free_it = NULL;
		peer_free(p);
	}
}

static void
on_bad(struct peer *p, const struct peer_addr *from, const char *worker,
    const struct err *why, void *ctx)
{
	struct seen *s = ctx;

	s->bad++;
	s->from = *from;
	strlcpy(s->worker, worker, sizeof s->worker);
	strlcpy(s->why, why->text, sizeof s->why);
	if (s->free_it != NULL) {
		*s->free_it = NULL;
		peer_free(p);
	}
}

static const struct peer_ops server_ops = {
	.on_msg = on_msg,
	.on_bad = on_bad,
	.accept_from = 1u << ROLE_WORKER,
};

static const struct peer_ops client_ops = {
	.on_msg = on_msg,
	.on_bad = on_bad,
	.accept_from = 1u << ROLE_ORCH,
};

static void
start_server(struct fixture *f)
{
	struct err e;

	if (peer_bind(f->loop, f->zctx, f->endpoint, false, &server_ops,
		&f->at_server, &f->server, &e) < 0)
		fail_msg("%s", e.text);
}

static struct peer *
start_client(struct fixture *f, struct seen *s)
{
	struct peer **slot = f->clients;
	struct err e;

	while (*slot != NULL)
		slot++;
	assert_true(slot < f->clients + nitems(f->clients));
	memset(s, 0, sizeof *s);
	if (peer_connect(
		f->loop, f->zctx, f->endpoint, &client_ops, s, slot, &e) < 0)
		fail_msg("%s", e.text);
	return *slot;
}

static void
stop_client(struct fixture *f, struct peer *p)
{
	size_t i;

	for (i = 0; i < nitems(f->clients); i++) {
		if (f->clients[i] == p)
			f->clients[i] = NULL;
	}
	peer_free(p);
}

static int
setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);

	strlcpy(f->dir, "/tmp/foray-peer-XXXXXX", sizeof f->dir);
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof f->path, "%s/s", f->dir);
	snprintf(f->endpoint, sizeof f->endpoint, "ipc://%s", f->path);
	f->loop = loop_create();
	f->zctx = zmq_ctx_new();
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	size_t i;

	peer_free(f->server);
	for (i = 0; i < nitems(f->clients); i++)
		peer_free(f->clients[i]);
	if (f->raw != NULL)
		zmq_close(f->raw);
	loop_free(f->loop);
	zmq_ctx_term(f->zctx);
	assert_int_equal(path_rmtree(f->dir, NULL), 0);
	free(f);
	return 0;
}

/* Rounds until *n has reached want, at most ms. */
static bool
wait_count(struct fixture *f, const unsigned *n, unsigned want, uint64_t ms)
{
	uint64_t end = loop_now_ms() + ms;

	while (*n < want && loop_now_ms() < end)
		loop_once(f->loop, 10);
	return *n >= want;
}

static void
wait_ms(struct fixture *f, uint64_t ms)
{
	uint64_t end = loop_now_ms() + ms;

	while (loop_now_ms() < end)
		loop_once(f->loop, 10);
}

static struct msg
audit(uint64_t seq)
{
	struct msg m = { .type = MSG_AUDIT };

	m.u.audit.seq = seq;
	m.u.audit.act = "command";
	m.u.audit.subject = "make test";
	return m;
}

static void
send_audit(struct peer *p, const char *worker, uint64_t seq)
{
	struct msg m = audit(seq);
	struct err e;

	if (peer_send(p, NULL, worker, &m, &e) != 0)
		fail_msg("%s", e.text);
}

/* Between machines: only a connection that stands takes it. */
static void
send_audit_tcp(struct fixture *f, struct peer *p, uint64_t seq)
{
	struct msg m = audit(seq);
	uint64_t end = loop_now_ms() + WAIT_MS;
	struct err e;
	int r;

	while ((r = peer_send(p, NULL, "w1", &m, &e)) == -EAGAIN &&
	    loop_now_ms() < end)
		(void)loop_once(f->loop, 10);
	if (r != 0)
		fail_msg("%s", e.text);
}

/* A DEALER that does as the test says. */
static void *
raw_client(struct fixture *f, const char *id)
{
	void *sock = zmq_socket(f->zctx, ZMQ_DEALER);
	int linger = 500;

	assert_non_null(sock);
	zmq_setsockopt(sock, ZMQ_LINGER, &linger, sizeof linger);
	if (id != NULL)
		zmq_setsockopt(sock, ZMQ_ROUTING_ID, id, strlen(id));
	assert_int_equal(zmq_connect(sock, f->endpoint), 0);
	f->raw = sock;
	return sock;
}

static void
raw_send(void *sock, const char *part, size_t len, bool more)
{
	assert_int_equal(
	    zmq_send(sock, part, len, more ? ZMQ_SNDMORE : 0), (int)len);
}

#define DRAIN_BYTES "\x81\xa1t\x0e" /* comes from the orchestrator */
#define AUDIT_BYTES \
	"\x84\xa1t\x1a\xa3seq\x07\xa3" \
	"act\xa1x\xa7subject\xa1y"

/* --- tests --------------------------------------------------------------- */

static void
test_both_ways(void **state)
{
	struct fixture *f = *state;
	struct seen s;
	struct peer *c;
	struct stat st;

	start_server(f);
	assert_int_equal(lstat(f->path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	f->at_server.answer = true;
	c = start_client(f, &s);
	send_audit(c, "w1", 42);
	assert_true(wait_count(f, &s.n, 1, WAIT_MS));
	assert_int_equal(f->at_server.n, 1);
	assert_int_equal(f->at_server.type, MSG_AUDIT);
	assert_string_equal(f->at_server.worker, "w1");
	assert_true(f->at_server.from.id_len > 0);
	assert_int_equal(s.type, MSG_VERDICT);
	assert_int_equal(s.number, 42);
	assert_string_equal(s.worker, "w1");
	assert_int_equal(s.from.id_len, 0);
	send_audit(c, NULL, 43);
	assert_true(wait_count(f, &s.n, 2, WAIT_MS));
	assert_string_equal(f->at_server.worker, "");
	assert_int_equal(f->at_server.bad + s.bad, 0);
	stop_client(f, c);
	peer_free(f->server);
	f->server = NULL;
	assert_int_equal(lstat(f->path, &st), -1);
}

static void
test_world(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	mode_t old = umask(077);

	assert_int_equal(peer_bind(f->loop, f->zctx, f->endpoint, true,
			     &server_ops, &f->at_server, &f->server, NULL),
	    0);
	umask(old);
	assert_int_equal(lstat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
}

/* Sent before there is a server: it waits. */
static void
test_early(void **state)
{
	struct fixture *f = *state;
	struct seen s;
	struct peer *c;

	c = start_client(f, &s);
	send_audit(c, "w1", 1);
	send_audit(c, "w1", 2);
	wait_ms(f, 100);
	start_server(f);
	assert_true(wait_count(f, &f->at_server.n, 2, WAIT_MS));
	assert_int_equal(f->at_server.sum, 3);
	stop_client(f, c);
}

static void
test_relay(void **state)
{
	struct fixture *f = *state;
	struct peer_ops ops = client_ops;
	struct seen s = { 0 };
	struct peer *c;

	start_server(f);
	f->at_server.relay = true;
	ops.accept_from = 1u << ROLE_WORKER;
	assert_int_equal(
	    peer_connect(f->loop, f->zctx, f->endpoint, &ops, &s, &c, NULL), 0);
	send_audit(c, "w-1_x.y", 9);
	assert_true(wait_count(f, &s.n, 1, WAIT_MS));
	assert_int_equal(s.number, 9);
	assert_string_equal(s.worker, "w-1_x.y");
	stop_client(f, c);
}

static void
test_bad_frames(void **state)
{
	struct fixture *f = *state;
	struct seen *at = &f->at_server;
	struct seen s;
	struct peer *c;
	void *raw;
	unsigned i;

	start_server(f);
	at->answer = true;
	c = start_client(f, &s);
	raw = raw_client(f, NULL);

	raw_send(raw, "one part", 8, false);
	assert_true(wait_count(f, &at->bad, 1, WAIT_MS));
	assert_string_equal(at->why, "too few parts, 2 are expected");
	raw_send(raw, "w1", 2, true);
	raw_send(raw, "junk", 4, false);
	assert_true(wait_count(f, &at->bad, 2, WAIT_MS));
	assert_string_equal(at->worker, "w1");
	raw_send(raw, "w1", 2, true);
	raw_send(raw, AUDIT_BYTES, sizeof AUDIT_BYTES - 1, true);
	raw_send(raw, "", 0, false);
	assert_true(wait_count(f, &at->bad, 3, WAIT_MS));
	assert_string_equal(at->why, "too many parts, 2 are expected");
	assert_string_equal(at->worker, "");

	/* More parts than a round drops; the next message is unharmed. */
	for (i = 0; i < 2000; i++)
		raw_send(raw, "x", 1, true);
	raw_send(raw, "x", 1, false);
	send_audit(c, "w2", 5);
	assert_true(wait_count(f, &at->bad, 4, WAIT_MS));
	assert_true(wait_count(f, &s.n, 1, WAIT_MS));

	raw_send(raw, "0123456789012345678901234567890123", 33, true);
	raw_send(raw, AUDIT_BYTES, sizeof AUDIT_BYTES - 1, false);
	assert_true(wait_count(f, &at->bad, 5, WAIT_MS));
	raw_send(raw, "../w", 4, true);
	raw_send(raw, AUDIT_BYTES, sizeof AUDIT_BYTES - 1, false);
	assert_true(wait_count(f, &at->bad, 6, WAIT_MS));
	raw_send(raw, "w\0x", 3, true);
	raw_send(raw, AUDIT_BYTES, sizeof AUDIT_BYTES - 1, false);
	assert_true(wait_count(f, &at->bad, 7, WAIT_MS));
	assert_string_equal(at->why, "the worker part is no name");

	/* A role that does not speak here. */
	raw_send(raw, "", 0, true);
	raw_send(raw, DRAIN_BYTES, sizeof DRAIN_BYTES - 1, false);
	assert_true(wait_count(f, &at->bad, 8, WAIT_MS));
	assert_string_equal(at->why, "DRAIN does not come from this side");

	/* The same peer is heard again when it behaves. */
	at->n = 0;
	raw_send(raw, "w1", 2, true);
	raw_send(raw, AUDIT_BYTES, sizeof AUDIT_BYTES - 1, false);
	assert_true(wait_count(f, &at->n, 1, WAIT_MS));
	assert_int_equal(at->number, 7);
	stop_client(f, c);
}

/* A client that brings a routing id could take another's place. */
static void
test_own_id(void **state)
{
	struct fixture *f = *state;
	void *raw;

	start_server(f);
	raw = raw_client(f, "admin");
	raw_send(raw, "w1", 2, true);
	raw_send(raw, AUDIT_BYTES, sizeof AUDIT_BYTES - 1, false);
	assert_true(wait_count(f, &f->at_server.bad, 1, WAIT_MS));
	assert_int_equal(f->at_server.n, 0);
	assert_string_equal(f->at_server.why, "the peer names itself");
}

/* Who knows the next routing id could take it and make libzmq abort. */
static void
test_id_unknown(void **state)
{
	static const unsigned char unseeded[] = { 0, 0x6b, 0x8b, 0x45, 0x67 };
	struct fixture *f = *state;
	struct seen s;
	struct peer *c;

	srand(1);
	start_server(f);
	c = start_client(f, &s);
	send_audit(c, "w1", 1);
	assert_true(wait_count(f, &f->at_server.n, 1, WAIT_MS));
	assert_int_equal(f->at_server.from.id_len, sizeof unseeded);
	assert_memory_not_equal(f->at_server.from.id, unseeded, 5);
}

static void
test_oversized(void **state)
{
	struct fixture *f = *state;
	struct seen s;
	struct peer *c;
	void *raw;
	char *big;

	start_server(f);
	f->at_server.answer = true;
	c = start_client(f, &s);
	send_audit(c, "w1", 1);
	assert_true(wait_count(f, &s.n, 1, WAIT_MS));
	raw = raw_client(f, NULL);
	big = xcalloc(1, MSG_MAX_BYTES + 1u);
	raw_send(raw, "w2", 2, true);
	raw_send(raw, big, MSG_MAX_BYTES + 1u, false);
	wait_ms(f, 300);
	assert_int_equal(f->at_server.n, 1);
	assert_int_equal(f->at_server.bad, 0);
	assert_int_equal(
	    peer_relay(c, NULL, "w1", big, MSG_MAX_BYTES + 1u, NULL),
	    ERR_LIMIT);
	send_audit(c, "w1", 2);
	assert_true(wait_count(f, &s.n, 2, WAIT_MS));
	free(big);
	stop_client(f, c);
}

static void
test_gone(void **state)
{
	struct fixture *f = *state;
	struct msg m = audit(1);
	struct peer_addr none = { .id = { 0, 1, 2, 3, 4 }, .id_len = 5 };
	struct seen s;
	struct peer *c;
	struct err e;
	uint64_t end;
	int r;

	start_server(f);
	c = start_client(f, &s);
	send_audit(c, "w1", 1);
	assert_true(wait_count(f, &f->at_server.n, 1, WAIT_MS));
	stop_client(f, c);
	end = loop_now_ms() + WAIT_MS;
	do {
		loop_once(f->loop, 10);
		r = peer_send(f->server, &f->at_server.from, "w1", &m, &e);
	} while (r == 0 && loop_now_ms() < end);
	assert_int_equal(r, -EHOSTUNREACH);
	assert_int_equal(e.code, -EHOSTUNREACH);
	assert_int_equal(
	    peer_send(f->server, &none, "", &m, NULL), -EHOSTUNREACH);
	assert_int_equal(
	    peer_send(f->server, NULL, "", &m, NULL), -EHOSTUNREACH);
}

/* A port that nobody has at this moment. */
static void
use_tcp(struct fixture *f)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(f->endpoint, sizeof f->endpoint, "tcp://127.0.0.1:%d",
	    ntohs(a.sin_port));
	close(fd);
}

/* Over TCP: a stopped process answers no heartbeat. */
static void
test_stopped(void **state)
{
	struct fixture *f = *state;
	struct msg m = audit(1);
	struct seen s;
	uint64_t start;
	pid_t pid;
	int r;

	use_tcp(f);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* Its own context and loop; it only connects and waits. */
		f->zctx = zmq_ctx_new();
		f->loop = loop_create();
		send_audit_tcp(f, start_client(f, &s), 1);
		for (;;)
			loop_once(f->loop, 1000);
	}
	start_server(f);
	assert_true(wait_count(f, &f->at_server.n, 1, WAIT_MS));
	start = loop_now_ms();
	kill(pid, SIGSTOP);
	do {
		wait_ms(f, 100);
		r = peer_send(f->server, &f->at_server.from, "w1", &m, NULL);
	} while (r == 0 && loop_now_ms() < start + WAIT_MS);
	assert_int_equal(r, -EHOSTUNREACH);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
test_server_restart(void **state)
{
	struct fixture *f = *state;
	struct seen s;
	struct peer *c;
	uint64_t end;
	unsigned i;

	start_server(f);
	f->at_server.answer = true;
	c = start_client(f, &s);
	for (i = 1; i <= 5; i++) {
		/* What was on its way when the server went is lost. */
		end = loop_now_ms() + 5000;
		do
			send_audit(c, "w1", i);
		while (
		    !wait_count(f, &s.n, s.n + 1, 200) && loop_now_ms() < end);
		assert_int_equal(s.number, i);
		peer_free(f->server);
		start_server(f);
	}
	stop_client(f, c);
}

/* What a crashed server left is replaced, a live server's socket is not. */
static void
test_path_taken(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct peer *second;
	struct seen s;
	struct peer *c;
	struct err e;
	FILE *file;
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strlcpy(sun.sun_path, f->path, sizeof sun.sun_path);
	assert_int_equal(
	    bind(fd, (const struct sockaddr *)&sun, sizeof sun), 0);
	close(fd);
	start_server(f);
	assert_int_equal(peer_bind(f->loop, f->zctx, f->endpoint, false,
			     &server_ops, &f->at_server, &second, &e),
	    -EADDRINUSE);
	c = start_client(f, &s);
	send_audit(c, "w1", 1);
	assert_true(wait_count(f, &f->at_server.n, 1, WAIT_MS));
	stop_client(f, c);

	/* A file that took the path is not ours to remove. */
	assert_int_equal(unlink(f->path), 0);
	file = fopen(f->path, "w");
	assert_non_null(file);
	fclose(file);
	peer_free(f->server);
	f->server = NULL;
	assert_int_equal(access(f->path, F_OK), 0);
	assert_int_equal(peer_bind(f->loop, f->zctx, f->endpoint, false,
			     &server_ops, &f->at_server, &second, &e),
	    -EEXIST);
}

static void
test_endpoints(void **state)
{
	struct fixture *f = *state;
	char endpoint[256];
	struct peer *p = NULL;
	struct err e;
	size_t len;

	for (len = 107; len <= 108; len++) {
		snprintf(endpoint, sizeof endpoint, "ipc://%s/", f->dir);
		while (strlen(endpoint) < len + 6)
			strlcat(endpoint, "x", sizeof endpoint);
		memset(&e, 0, sizeof e);
		assert_int_equal(peer_bind(f->loop, f->zctx, endpoint, false,
				     &server_ops, &f->at_server, &p, &e),
		    len == 107 ? 0 : -ENAMETOOLONG);
		if (len == 107)
			peer_free(p);
	}
	assert_non_null(strstr(e.text, "107"));
	assert_int_equal(peer_connect(f->loop, f->zctx, endpoint, &client_ops,
			     &f->at_server, &p, &e),
	    -ENAMETOOLONG);
	assert_true(peer_bind(f->loop, f->zctx, "ipc://relative", false,
			&server_ops, &f->at_server, &p, &e) < 0);
	assert_true(peer_bind(f->loop, f->zctx, "ipc:///nowhere/at/all", false,
			&server_ops, &f->at_server, &p, &e) < 0);
	assert_true(peer_bind(f->loop, f->zctx, "nonsense", false, &server_ops,
			&f->at_server, &p, &e) < 0);
	assert_true(peer_connect(f->loop, f->zctx, "nonsense", &client_ops,
			&f->at_server, &p, &e) < 0);
	peer_free(NULL);
}

static void
test_send_refused(void **state)
{
	struct fixture *f = *state;
	struct msg m = audit(1), bad = audit(0);
	struct seen s;
	struct peer *c;

	start_server(f);
	c = start_client(f, &s);
	assert_int_equal(peer_send(c, NULL, "a b", &m, NULL), ERR_PROTO);
	assert_int_equal(peer_send(c, NULL, "../x", &m, NULL), ERR_PROTO);
	assert_int_equal(
	    peer_send(c, NULL, "x23456789012345678901234567890123", &m, NULL),
	    ERR_PROTO);
	assert_int_equal(peer_send(c, NULL, "w1", &bad, NULL), ERR_PROTO);
	/* Nothing of these was sent, not even a first part. */
	send_audit(c, "w1", 3);
	assert_true(wait_count(f, &f->at_server.n, 1, WAIT_MS));
	assert_int_equal(f->at_server.number, 3);
	assert_int_equal(f->at_server.bad, 0);
	stop_client(f, c);
}

/* Nobody reads: after the high water, -EAGAIN at once. */
static void
test_full(void **state)
{
	struct fixture *f = *state;
	struct msg m = audit(1);
	struct seen s;
	struct peer *c;
	unsigned sent, got;
	int r = 0;

	c = start_client(f, &s);
	for (sent = 0; sent < 5000 && r == 0; sent++)
		r = peer_send(c, NULL, "w1", &m, NULL);
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(--sent, 1000);
	start_server(f);
	assert_true(wait_count(f, &f->at_server.n, sent, WAIT_MS));
	wait_ms(f, 50);
	got = f->at_server.n;
	assert_int_equal(got, sent);
	assert_int_equal(f->at_server.bad, 0);
	stop_client(f, c);
}

static void
test_free_inside(void **state)
{
	struct fixture *f = *state;
	struct seen s;
	struct peer *c;
	void *raw;

	/* A server, with more in its queue; then a client. */
	start_server(f);
	c = start_client(f, &s);
	f->at_server.free_it = &f->server;
	send_audit(c, "w1", 1);
	send_audit(c, "w1", 2);
	send_audit(c, "w1", 3);
	assert_true(wait_count(f, &f->at_server.n, 1, WAIT_MS));
	wait_ms(f, 100);
	assert_int_equal(f->at_server.n, 1);
	assert_int_equal(access(f->path, F_OK), -1);
	f->at_server.free_it = NULL;
	f->at_server.answer = true;
	start_server(f);
	s.free_it = &f->clients[0];
	send_audit(c, "w1", 4);
	assert_true(wait_count(f, &s.n, 1, WAIT_MS));
	assert_null(f->clients[0]);

	/* In on_bad, in the middle of a multipart. */
	raw = raw_client(f, NULL);
	f->at_server.free_it = &f->server;
	raw_send(raw, "a", 1, true);
	raw_send(raw, "b", 1, true);
	raw_send(raw, "c", 1, true);
	raw_send(raw, "d", 1, false);
	assert_true(wait_count(f, &f->at_server.bad, 1, WAIT_MS));
	wait_ms(f, 50);
	assert_null(f->server);
}

static void
test_many(void **state)
{
	static struct seen seen[CLIENTS];
	struct fixture *f = *state;
	struct peer *c[CLIENTS];
	char worker[16];
	unsigned i, round;

	start_server(f);
	f->at_server.answer = true;
	for (i = 0; i < CLIENTS; i++)
		c[i] = start_client(f, &seen[i]);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < CLIENTS; i++) {
			snprintf(worker, sizeof worker, "w%u", i);
			send_audit(c[i], worker, i + 1);
		}
	}
	assert_true(wait_count(f, &f->at_server.n, 5 * CLIENTS, 30000));
	for (i = 0; i < CLIENTS; i++) {
		assert_true(wait_count(f, &seen[i].n, 5, WAIT_MS));
		snprintf(worker, sizeof worker, "w%u", i);
		assert_string_equal(seen[i].worker, worker);
		assert_int_equal(seen[i].sum, 5 * (i + 1));
		stop_client(f, c[i]);
	}
	assert_int_equal(f->at_server.bad, 0);
}

static void
test_tcp(void **state)
{
	struct fixture *f = *state;
	struct msg m = audit(4);
	struct seen s;
	struct err e;
	struct peer *c;

	use_tcp(f);
	c = start_client(f, &s);
	assert_int_equal(peer_send(c, NULL, "w1", &m, &e), -EAGAIN);
	start_server(f);
	f->at_server.answer = true;
	send_audit_tcp(f, c, 5);
	assert_true(wait_count(f, &s.n, 1, WAIT_MS));
	stop_client(f, c);
}

/* A message has come, and an answer to an older one goes out before the loop
 * has seen it: libzmq takes in the news then, and would not tell again. */
static void
test_crossing(void **state)
{
	struct fixture *f = *state;
	struct msg m = { .type = MSG_VERDICT };
	struct pollfd news = { .events = POLLIN };
	size_t size = sizeof news.fd;
	unsigned crossed = 0;
	struct seen s;
	struct peer *c;

	m.u.verdict.verdict = "allow";
	m.u.verdict.seq = 1;
	start_server(f);
	c = start_client(f, &s);
	send_audit(c, "w1", 1);
	assert_true(wait_count(f, &f->at_server.n, 1, 5000));
	wait_ms(f, 20);
	assert_return_code(
	    zmq_getsockopt(f->server->sock, ZMQ_FD, &news.fd, &size), errno);
	for (unsigned i = 2; i <= 100 && crossed < 9; i++) {
		send_audit(c, "w1", i);
		assert_int_equal(poll(&news, 1, 5000), 1);
		usleep(5000); /* it looks for news once a millisecond */
		assert_int_equal(
		    peer_send(f->server, &f->at_server.from, "w1", &m, NULL),
		    0);
		/* Not always, on a busy machine. */
		crossed += poll(&news, 1, 0) == 0;
		assert_true(wait_count(f, &f->at_server.n, i, 5000));
		assert_true(wait_count(f, &s.n, i - 1, 5000));
	}
	assert_int_not_equal(crossed, 0);
	stop_client(f, c);
}

static void
test_addr_eq(void **state unused_arg)
{
	struct peer_addr a = { .id = "abc", .id_len = 3 }, b = a;

	assert_true(peer_addr_eq(&a, &b));
	b.id[2] = 'x';
	assert_false(peer_addr_eq(&a, &b));
	b = a;
	b.id_len = 2;
	assert_false(peer_addr_eq(&a, &b));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stopped), /* forks: before there are many threads */
		TEST(test_both_ways),
		TEST(test_world),
		TEST(test_early),
		TEST(test_relay),
		TEST(test_bad_frames),
		TEST(test_own_id),
		TEST(test_id_unknown),
		TEST(test_oversized),
		TEST(test_gone),
		TEST(test_server_restart),
		TEST(test_path_taken),
		TEST(test_endpoints),
		TEST(test_send_refused),
		TEST(test_full),
		TEST(test_free_inside),
		TEST(test_many),
		TEST(test_tcp),
		TEST(test_crossing),
		cmocka_unit_test(test_addr_eq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
