/* The proxy at work: this test is its parent, its sandboxes' commands and the
 * internet, all on this machine's loopback. */
#include "common/compat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/loop.h"
#include "orchestrator/egress/control.h"
#include "orchestrator/egress/proxy.h"

#define SOON 60000
#define QUIET 150 /* long enough for what should not come */

struct bed {
	pid_t pid;
	int control;
	int inside, lifeline; /* of worker w1 */
	uint16_t inside_port;
	int server;
	uint16_t server_port;
};

static struct bed bed;

static int
listen_on(uint16_t *ret_port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof sin;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, sizeof sin), 0);
	assert_int_equal(listen(fd, 511), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	*ret_port = ntohs(sin.sin_port);
	return fd;
}

/* Hand a socket over; the other end of its lifeline. */
static int
hand_over(const char *worker, int fd)
{
	struct order o = { .kind = ORDER_LISTEN };
	int pair[2], fds[2];

	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	(void)snprintf(o.worker, sizeof o.worker, "%s", worker);
	fds[0] = fd;
	fds[1] = pair[0];
	assert_int_equal(fd_pass(bed.control, &o, sizeof o, fds, 2), 0);
	fd_close(&pair[0]);
	return pair[1];
}

static int
setup(void **state unused_arg)
{
	struct net_rules rules = { 0 };
	char rule[64];
	int pair[2];
	struct err e;

	(void)signal(SIGPIPE, SIG_IGN);
	bed.server = listen_on(&bed.server_port);
	bed.inside = listen_on(&bed.inside_port);
	(void)snprintf(rule, sizeof rule, "127.0.0.1:%u", bed.server_port);
	assert_int_equal(net_rules_add(&rules, rule, &e), 0);
	/* Loopback, and no rule for its address with this port. */
	assert_int_equal(net_rules_add(&rules, "localhost:9", &e), 0);
	assert_int_equal(net_rules_add(&rules, "no-such-name.invalid", &e), 0);
	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	bed.pid = fork();
	if (bed.pid == 0) {
		(void)close(pair[0]);
		(void)close(bed.server);
		(void)close(bed.inside);
		_exit(proxy_run(pair[1], &rules));
	}
	fd_close(&pair[1]);
	bed.control = pair[0];
	net_rules_clear(&rules);
	bed.lifeline = hand_over("w1", bed.inside);
	return 0;
}

/* It ends when its parent is gone, whatever it is doing. */
static int
teardown(void **state unused_arg)
{
	uint64_t end = loop_now_ms() + SOON;
	int status = -1;

	fd_close(&bed.control);
	while (waitpid(bed.pid, &status, WNOHANG) == 0 && loop_now_ms() < end)
		(void)poll(NULL, 0, 10);
	if (status != 0) {
		(void)kill(bed.pid, SIGKILL);
		(void)waitpid(bed.pid, NULL, 0);
	}
	fd_close(&bed.server);
	fd_close(&bed.inside);
	fd_close(&bed.lifeline);
	return status;
}

/* --- the parts it plays -------------------------------------------------- */

static int
client_of(uint16_t port, const char *says, size_t len)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sin.sin_port = htons(port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(connect(fd, (struct sockaddr *)&sin, sizeof sin), 0);
	assert_int_equal(fd_write_all(fd, says, len), 0);
	return fd;
}

/* "%u" stands for the server's port. */
static int
client(const char *says)
{
	const char *at;
	struct buf b;
	int fd;

	buf_init(&b, 4096);
	for (; (at = strstr(says, "%u")) != NULL; says = at + 2)
		(void)buf_printf(
		    &b, "%.*s%u", (int)(at - says), says, bed.server_port);
	(void)buf_adds(&b, says);
	fd = client_of(bed.inside_port, b.data, b.len);
	buf_clear(&b);
	return fd;
}

static bool
readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* The next note. */
static struct note
note(void)
{
	struct note n;

	assert_true(readable(bed.control, SOON));
	assert_int_equal(recv(bed.control, &n, sizeof n, 0), sizeof n);
	return n;
}

static void
answer(const struct note *n, bool ok)
{
	struct order o = { .kind = ORDER_ANSWER, .ok = ok, .id = n->id };

	assert_int_equal(fd_pass(bed.control, &o, sizeof o, NULL, 0), 0);
}

/* A request of this kind: nothing happens before it is on record. */
static struct note
request(int fd, bool deny, const char *subject)
{
	struct note n = note();

	assert_int_equal(n.kind, NOTE_REQUEST);
	assert_int_equal(n.deny, deny);
	assert_string_equal(n.worker, "w1");
	if (subject != NULL)
		assert_non_null(strstr(n.subject, subject));
	assert_false(readable(bed.server, QUIET));
	assert_false(readable(fd, 0));
	answer(&n, true);
	return n;
}

static int
accepted(void)
{
	int fd;

	assert_true(readable(bed.server, SOON));
	fd = accept4(bed.server, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* What comes until the end, or until it is quiet. */
static char *
hear(int fd)
{
	static char text[65536];
	size_t n = 0;
	ssize_t got;

	while (n + 1 < sizeof text && readable(fd, n == 0 ? SOON : QUIET)) {
		got = recv(fd, text + n, sizeof text - 1 - n, 0);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	text[n] = '\0';
	return text;
}

static void
expect_end(const char *detail)
{
	struct note n = note();

	assert_int_equal(n.kind, NOTE_END);
	if (strstr(n.detail, detail) == NULL)
		fail_msg("%s: no %s", n.detail, detail);
}

/* --- tests --------------------------------------------------------------- */

static void
test_tunnel(void **state unused_arg)
{
	int fd = client("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\nearly"), s;

	(void)request(fd, false, "CONNECT 127.0.0.1:");
	s = accepted();
	assert_string_equal(
	    hear(fd), "HTTP/1.1 200 Connection established\r\n\r\n");
	assert_string_equal(hear(s), "early");
	assert_int_equal(fd_write_all(s, "down", 4), 0);
	assert_string_equal(hear(fd), "down");
	/* One way ends before the other. */
	assert_int_equal(shutdown(fd, SHUT_WR), 0);
	assert_string_equal(hear(s), "");
	assert_int_equal(fd_write_all(s, "last", 4), 0);
	fd_close(&s);
	assert_string_equal(hear(fd), "last");
	fd_close(&fd);
	expect_end("\"sent\":5,\"received\":47");
}

static void
test_denied(void **state unused_arg)
{
	static const char *const list[] = {
		"CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n",
		"CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n",
		"GET http://169.254.169.254/latest/meta-data/ HTTP/1.1\r\n"
		"Host: 169.254.169.254\r\n\r\n",
		"CONNECT pypi.org:443 HTTP/1.1\r\n\r\n",
	};
	char *text;
	size_t i;
	int fd;

	for (i = 0; i < nitems(list); i++) {
		fd = client_of(bed.inside_port, list[i], strlen(list[i]));
		(void)request(fd, true, NULL);
		text = hear(fd);
		assert_int_equal(strncmp(text, "HTTP/1.1 403 ", 13), 0);
		assert_non_null(strstr(text, "network.allow"));
		assert_non_null(strstr(text, "--allow-net"));
		fd_close(&fd);
	}
	assert_false(readable(bed.control, QUIET));
}

/* What is not on record does not happen. */
static void
test_unrecorded(void **state unused_arg)
{
	int fd = client("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n");
	struct note n = note();

	answer(&n, false);
	assert_int_equal(strncmp(hear(fd), "HTTP/1.1 500 ", 13), 0);
	assert_false(readable(bed.server, QUIET));
	fd_close(&fd);
}

static void
test_malformed(void **state unused_arg)
{
	char big[20000];
	int fd = client("GET / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n");

	(void)request(fd, true, "malformed");
	assert_int_equal(strncmp(hear(fd), "HTTP/1.1 400 ", 13), 0);
	fd_close(&fd);
	memset(big, 'x', sizeof big);
	fd = client_of(bed.inside_port, big, sizeof big);
	(void)request(fd, true, "malformed");
	assert_int_equal(strncmp(hear(fd), "HTTP/1.1 431 ", 13), 0);
	fd_close(&fd);
}

/* One request reaches the server, whatever follows it. */
static void
test_smuggling(void **state unused_arg)
{
	static const char *const list[] = {
		"GET http://127.0.0.1:%u/a HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"\r\nGET /secret HTTP/1.1\r\nHost: internal\r\n\r\n",
		"POST http://127.0.0.1:%u/a HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"Content-Length: 3\r\n\r\nabcGET /secret HTTP/1.1\r\n\r\n",
		"POST http://127.0.0.1:%u/a HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
		"GET /secret HTTP/1.1\r\n\r\n",
	};
	static const char reply[] = "HTTP/1.1 204 No Content\r\n\r\n";
	char *text;
	size_t i;
	int fd, s;

	for (i = 0; i < nitems(list); i++) {
		fd = client(list[i]);
		(void)request(fd, false, "/a");
		s = accepted();
		text = hear(s);
		assert_non_null(strstr(text, " /a HTTP/1.1\r\n"));
		assert_non_null(strstr(text, "Connection: close\r\n"));
		assert_null(strstr(text, "secret"));
		assert_int_equal(fd_write_all(s, reply, sizeof reply - 1), 0);
		fd_close(&s);
		assert_string_equal(hear(fd), reply);
		fd_close(&fd);
		expect_end("\"end\":\"closed\"");
	}
}

/* An allowed name that leads to this machine: refused after the lookup, by a
 * record of its own. */
static void
test_private_name(void **state unused_arg)
{
	int fd = client("CONNECT localhost:9 HTTP/1.1\r\n\r\n");

	(void)request(fd, false, "CONNECT localhost:9");
	(void)request(fd, true, "CONNECT localhost:9");
	assert_non_null(strstr(hear(fd), "no public address"));
	fd_close(&fd);
	expect_end("its address is refused");
}

/* Once a host, to who holds the lifeline. */
static void
test_told(void **state unused_arg)
{
	char line[64];
	ssize_t n;
	int fd, i;

	for (i = 0; i < 2; i++) {
		fd = client("CONNECT example.org:443 HTTP/1.1\r\n\r\n");
		(void)request(fd, true, "CONNECT example.org:443");
		assert_non_null(
		    strstr(hear(fd), "--allow-net example.org, or"));
		fd_close(&fd);
	}
	n = recv(bed.lifeline, line, sizeof line, MSG_DONTWAIT);
	assert_int_equal(n, strlen("example.org:443\n"));
	assert_memory_equal(line, "example.org:443\n", (size_t)n);
	assert_false(readable(bed.lifeline, 0));
}

/* By a rule of the parent's: what it says is no advice, and no lie. */
static void
test_monitor(void **state unused_arg)
{
	int fd = client("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n");
	struct note n = note();
	struct order o = { .kind = ORDER_ANSWER, .denied = 1, .id = n.id };
	char *text;

	assert_int_equal(fd_pass(bed.control, &o, sizeof o, NULL, 0), 0);
	text = hear(fd);
	assert_non_null(strstr(text, "HTTP/1.1 403 "));
	assert_non_null(strstr(text, "monitor"));
	assert_null(strstr(text, "--allow-net"));
	fd_close(&fd);
}

static void
test_no_name(void **state unused_arg)
{
	int fd = client("CONNECT no-such-name.invalid:443 HTTP/1.1\r\n\r\n");
	char *text;

	(void)request(fd, false, "no-such-name.invalid");
	assert_true(readable(fd, 15000));
	text = hear(fd);
	if (strncmp(text, "HTTP/1.1 50", 11) != 0)
		fail_msg("%s", text);
	fd_close(&fd);
}

static void
test_socks(void **state unused_arg)
{
	unsigned char ask[] = { 5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 0 };
	char reply[64];
	int fd, s;

	ask[11] = (unsigned char)(bed.server_port >> 8);
	ask[12] = (unsigned char)bed.server_port;
	/* All at once: the greeting's answer comes first. */
	fd = client_of(bed.inside_port, (const char *)ask, sizeof ask);
	assert_true(readable(fd, SOON));
	assert_int_equal(recv(fd, reply, 2, MSG_WAITALL), 2);
	assert_memory_equal(reply, "\5\0", 2);
	(void)request(fd, false, "SOCKS 127.0.0.1:");
	s = accepted();
	assert_int_equal(recv(fd, reply, 10, MSG_WAITALL), 10);
	assert_memory_equal(reply, "\5\0\0\1", 4);
	assert_int_equal(fd_write_all(fd, "up", 2), 0);
	assert_string_equal(hear(s), "up");
	fd_close(&s);
	fd_close(&fd);
	expect_end("\"sent\":2");

	ask[11] = 0;
	ask[12] = 1;
	fd = client_of(bed.inside_port, (const char *)ask, sizeof ask);
	assert_int_equal(recv(fd, reply, 2, MSG_WAITALL), 2);
	(void)request(fd, true, "SOCKS 127.0.0.1:1");
	assert_int_equal(recv(fd, reply, 10, MSG_WAITALL), 10);
	assert_memory_equal(reply, "\5\2\0\1", 4);
	assert_string_equal(hear(fd), "");
	fd_close(&fd);
}

/* With the sandbox its connections go. */
static void
test_lifeline(void **state unused_arg)
{
	int fd = client("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n"), s;

	(void)request(fd, false, NULL);
	s = accepted();
	(void)hear(fd);
	fd_close(&bed.lifeline);
	assert_string_equal(hear(s), "");
	assert_string_equal(hear(fd), "");
	fd_close(&s);
	fd_close(&fd);
	expect_end("its sandbox is gone");
}

/* As many as one worker may have, and they say nothing: another one is served
 * as if they were not there. */
static void
test_share(void **state unused_arg)
{
	int idle[PROXY_SHARE + 100], other, line, fd;
	struct note n;
	uint16_t port;
	size_t i;

	for (i = 0; i < nitems(idle); i++)
		idle[i] = client_of(bed.inside_port, "C", 1);
	other = listen_on(&port);
	line = hand_over("w2", other);
	fd = client_of(port, "CONNECT a.org:443 HTTP/1.1\r\n\r\n", 30);
	n = note();
	assert_string_equal(n.worker, "w2");
	answer(&n, true);
	assert_int_equal(strncmp(hear(fd), "HTTP/1.1 403", 12), 0);
	for (i = 0; i < nitems(idle); i++)
		fd_close(&idle[i]);
	fd_close(&fd);
	/* And the first one again, once its own are gone. */
	fd = client("CONNECT a.org:443 HTTP/1.1\r\n\r\n");
	(void)request(fd, true, "a.org");
	fd_close(&fd);
	fd_close(&line);
	fd_close(&other);
}

/* A worker that makes its socket block gets nothing any more, and holds nobody
 * up. */
static void
test_blocking(void **state unused_arg)
{
	struct note n;
	uint16_t port;
	int other, line, fd, bad;

	/* A listener that is no listener is refused, too. */
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	line = hand_over("w3", fd);
	assert_true(readable(line, SOON));
	fd_close(&line);
	fd_close(&fd);

	assert_int_equal(fd_nonblock(bed.inside, false), 0);
	bad = client("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n");
	assert_true(readable(bed.lifeline, SOON)); /* closed */
	other = listen_on(&port);
	line = hand_over("w2", other);
	fd = client_of(port, "CONNECT a.org:443 HTTP/1.1\r\n\r\n", 30);
	n = note();
	assert_string_equal(n.worker, "w2");
	answer(&n, true);
	assert_int_equal(strncmp(hear(fd), "HTTP/1.1 403", 12), 0);
	fd_close(&fd);
	fd_close(&bad);
	fd_close(&line);
	fd_close(&other);
}

/* More than any buffer holds, both ways at once. */
static void
test_bulk(void **state unused_arg)
{
	static char up[1 << 20], down[1 << 20];
	int fd = client("CONNECT 127.0.0.1:%u HTTP/1.1\r\n\r\n"), s, status;
	char head[39];
	pid_t pid;

	(void)request(fd, false, NULL);
	s = accepted();
	assert_int_equal(recv(fd, head, sizeof head, MSG_WAITALL), sizeof head);
	memset(up, 'u', sizeof up);
	if ((pid = fork()) == 0) {
		bool bad = fd_write_all(s, up, sizeof up) < 0;

		_exit(bad ||
		    recv(s, down, sizeof down, MSG_WAITALL) !=
			(ssize_t)sizeof down);
	}
	assert_int_equal(fd_write_all(fd, up, sizeof up), 0);
	assert_int_equal(recv(fd, down, sizeof down, MSG_WAITALL), sizeof down);
	assert_memory_equal(up, down, sizeof up);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fd_close(&s);
	fd_close(&fd);
	expect_end("\"sent\":1048576,\"received\":1048615");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tunnel),
		TEST(test_denied),
		TEST(test_unrecorded),
		TEST(test_malformed),
		TEST(test_smuggling),
		TEST(test_private_name),
		TEST(test_told),
		TEST(test_monitor),
		TEST(test_no_name),
		TEST(test_socks),
		TEST(test_lifeline),
		TEST(test_share),
		TEST(test_blocking),
		TEST(test_bulk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
