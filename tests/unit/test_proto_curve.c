/*
 * Keys in files, endpoints, and who is let in (H-016), over real sockets.
 */
#include "common/compat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "proto/peer.h"
#include "proto/tcp.h"
#include "proto/zap.h"

#define WAIT_MS 120000

static char dir[64];

static int
setup(void **state unused_arg)
{
	strcpy(dir, "/tmp/foray-curve-XXXXXX");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
teardown(void **state unused_arg)
{
	return path_rmtree(dir, NULL);
}

/* In dir; borrowed until the next call. */
static const char *
at(const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void
test_parse(void **state unused_arg)
{
	static const char key[] = "nPqTjQ(?ESO&l{u[F??&3!^&rjQAoSB<F&^bi?Dw";
	static const char *const bad[] = { "", "\n", "short\n",
		"nPqTjQ(?ESO&l{u[F??&3!^&rjQAoSB<F&^bi?D\"\n",
		"nPqTjQ(?ESO&l{u[F??&3!^&rjQAoSB<F&^bi?Dw "
		"nPqTjQ(?ESO&l{u[F??&3!^&rjQAoSB<F&^bi?Dw\n",
		"nPqTjQ(?ESO&l{u[F??&3!^&rjQAoSB<F&^bi?Dw\n"
		"nPqTjQ(?ESO&l{u[F??&3!^&rjQAoSB<F&^bi?Dw\n" };
	char ret[CURVE_KEY], text[256];
	struct err e;
	size_t i;

	assert_int_equal(curve_parse(key, strlen(key), "k", ret, &e), 0);
	assert_string_equal(ret, key);
	(void)snprintf(text, sizeof text, "# a host\r\n\n%s\r\n\n", key);
	assert_int_equal(curve_parse(text, strlen(text), "k", ret, &e), 0);
	assert_string_equal(ret, key);
	for (i = 0; i < nitems(bad); i++) {
		assert_int_equal(
		    curve_parse(bad[i], strlen(bad[i]), "k", ret, &e),
		    ERR_SYNTAX);
		assert_string_equal(ret, key);
	}
	(void)snprintf(text, sizeof text, "%s", key);
	text[5] = '\0';
	assert_int_equal(
	    curve_parse(text, CURVE_KEY - 1, "k", ret, &e), ERR_SYNTAX);
}

static void
test_files(void **state unused_arg)
{
	struct curve_pair a, b;
	char key[CURVE_KEY];
	struct err e;

	assert_int_equal(curve_new(&a, &e), 0);
	assert_int_equal(curve_write(at("s"), a.secret_key, true, &e), 0);
	assert_int_equal(curve_write(at("p"), a.public_key, false, &e), 0);
	assert_int_equal(curve_read_secret(at("s"), &b, &e), 0);
	assert_string_equal(b.public_key, a.public_key);
	assert_string_equal(b.secret_key, a.secret_key);
	assert_int_equal(curve_read_public(at("p"), key, &e), 0);
	assert_string_equal(key, a.public_key);
	/* Others can read it, or write to it. */
	for (unsigned mode = 0; mode < 0100; mode++) {
		assert_int_equal(chmod(at("s"), 0600 | mode), 0);
		if ((mode & 067) == 040 && geteuid() != 0)
			continue; /* ours, not root's: refused below */
		assert_int_equal(curve_read_secret(at("s"), &b, &e),
		    (mode & 067) == 0 ? 0 : ERR_USAGE);
		if ((mode & 067) != 0)
			assert_non_null(strstr(e.text, "chmod 600"));
	}
	assert_int_equal(curve_read_secret(at("none"), &b, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "/none: "));
	/* What is no file does not hold us up. */
	assert_int_equal(mkfifo(at("f"), 0600), 0);
	assert_int_equal(curve_read_secret(at("f"), &b, &e), ERR_USAGE);
	assert_int_equal(curve_read_public(at("f"), key, &e), ERR_USAGE);
	assert_int_equal(curve_read_public(dir, key, &e), ERR_USAGE);
	/* No secret: too large, or the public key copied over it. */
	assert_int_equal(curve_write(at("x.pub"), a.public_key, false, &e), 0);
	assert_int_equal(
	    curve_write(at("x.secret"), a.secret_key, true, &e), 0);
	assert_int_equal(curve_read_secret(at("x.secret"), &b, &e), 0);
	assert_int_equal(
	    curve_write(at("x.secret"), a.public_key, true, &e), 0);
	assert_int_equal(curve_read_secret(at("x.secret"), &b, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "is the public key"));
	assert_int_equal(truncate(at("x.secret"), 1 << 20), 0);
	assert_int_equal(curve_read_secret(at("x.secret"), &b, &e), ERR_USAGE);
	assert_non_null(strstr(e.text, "holds no key: it is larger"));
}

static void
test_allowed(void **state unused_arg)
{
	struct curve_pair a, b;
	char name[CURVE_NAME];
	int fd;

	assert_int_equal(mkdir(at("allowed"), 0700), 0);
	fd = open(at("allowed"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(curve_new(&a, NULL), 0);
	assert_int_equal(curve_new(&b, NULL), 0);
	assert_int_equal(curve_allowed(fd, a.public_key, name), 0);
	assert_int_equal(
	    curve_write(at("allowed/one.pub"), b.public_key, false, NULL), 0);
	assert_int_equal(
	    curve_write(at("allowed/two.pub"), a.public_key, false, NULL), 0);
	/* Damage and other files are no key, and no obstacle. */
	assert_int_equal(
	    file_write(at("allowed/bad.pub"), "x\n", 2, 0644, NULL), 0);
	assert_int_equal(
	    curve_write(at("allowed/two"), a.secret_key, false, NULL), 0);
	assert_int_equal(curve_allowed(fd, a.public_key, name), 1);
	assert_string_equal(name, "two");
	assert_int_equal(curve_allowed(fd, a.secret_key, name), 0);
	assert_int_equal(unlink(at("allowed/two.pub")), 0);
	assert_int_equal(curve_allowed(fd, a.public_key, name), 0);
	fd_close(&fd);
	assert_true(curve_allowed(-1, a.public_key, name) < 0);
}

static void
odd_cb(const char *text, void *ctx)
{
	struct buf *b = ctx;

	assert_int_equal(buf_printf(b, "%s\n", text), 0);
}

/* Others could let in whom they want. */
static void
test_written(void **state unused_arg)
{
	static const struct {
		const char *what; /* below dir */
		mode_t mode;
		bool list, host; /* good for curve_check_list(), _allowed() */
	} rows[] = {
		{ "", 0700, true, true },
		{ "", 0777, false, true },
		{ "", 0770, false, true },
		{ "", 01777, true, true }, /* as a mounted secret is */
		{ "/allowed", 0777, false, false },
		{ "/allowed", 0720, false, false },
		{ "/allowed", 01777, false, false },
		{ "/allowed", 0755, true, true },
		{ "/allowed/in.pub", 0666, true, false },
		{ "/allowed/in.pub", 0664, true, false },
		{ "/allowed/in.pub", 0644, true, true },
	};
	char name[CURVE_NAME], path[128];
	struct curve_pair a;
	struct buf odd;
	struct err e;
	int fd, fd2;

	buf_init(&odd, 4096);
	assert_int_equal(path_rmtree(at("allowed"), NULL), 0);
	assert_int_equal(mkdir(at("allowed"), 0700), 0);
	fd = open(at("allowed"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(curve_new(&a, NULL), 0);
	assert_int_equal(
	    curve_write(at("allowed/in.pub"), a.public_key, false, &e), 0);
	for (size_t i = 0; i < nitems(rows); i++) {
		(void)snprintf(path, sizeof path, "%s%s", dir, rows[i].what);
		assert_int_equal(chmod(path, rows[i].mode), 0);
		buf_clear(&odd);
		assert_int_equal(curve_check_list(dir, odd_cb, &odd, &e),
		    rows[i].list ? 0 : ERR_USAGE);
		assert_true(
		    rows[i].list || strstr(e.text, "chmod go-w /") != NULL);
		assert_int_equal(
		    curve_allowed(fd, a.public_key, name) == 1, rows[i].host);
		assert_int_equal(odd.len > 0, rows[i].list && !rows[i].host);
		if (!rows[i].list && rows[i].what[0] == '\0')
			assert_int_equal(chmod(path, 0700), 0);
	}
	/* What lets nobody in is said, each file once. */
	buf_clear(&odd);
	assert_int_equal(mkfifo(at("allowed/fifo.pub"), 0644), 0);
	assert_int_equal(symlink("/nonexistent", at("allowed/link.pub")), 0);
	assert_int_equal(
	    file_write(at("allowed/junk.pub"), "x\n", 2, 0644, NULL), 0);
	assert_int_equal(
	    curve_write(at("allowed/a b.pub"), a.public_key, false, &e), 0);
	fd2 = open(at("allowed/notes"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	fd_close(&fd2);
	assert_int_equal(curve_check_list(dir, odd_cb, &odd, &e), 0);
	assert_non_null(strstr(buf_str(&odd), "fifo.pub: is no file"));
	assert_non_null(strstr(buf_str(&odd), "link.pub: "));
	assert_non_null(strstr(buf_str(&odd), "junk.pub: holds no key"));
	assert_non_null(strstr(buf_str(&odd), "a b.pub: is no name"));
	assert_null(strstr(buf_str(&odd), "in.pub"));
	assert_null(strstr(buf_str(&odd), "notes"));
	if (geteuid() == 0) {
		assert_int_equal(chown(at("allowed/in.pub"), 12345, 0), 0);
		assert_int_equal(curve_allowed(fd, a.public_key, name), 0);
	}
	fd_close(&fd);
	buf_clear(&odd);
}

static void
test_endpoints(void **state unused_arg)
{
	static const struct {
		const char *text;
		bool listen;
		const char *again; /* NULL: an error */
	} rows[] = {
		{ "tcp://127.0.0.1:80", false, "tcp://127.0.0.1:80" },
		{ "tcp://host-1.example:65535", false,
		    "tcp://host-1.example:65535" },
		{ "tcp://[::1]:80", false, "tcp://[::1]:80" },
		{ "tcp://*:*", true, "tcp://*:0" },
		{ "tcp://[::]:0", true, "tcp://[::]:0" },
		{ "tcp://*:80", false, NULL },
		{ "tcp://h:*", false, NULL },
		{ "tcp://h:0", false, NULL },
		{ "tcp://h:65536", true, NULL },
		{ "tcp://h:-1", true, NULL },
		{ "tcp://h: 1", true, NULL },
		{ "tcp://h", true, NULL },
		{ "tcp://", true, NULL },
		{ "tcp://:1", true, NULL },
		{ "tcp://-h:1", true, NULL },
		{ "tcp://a/b:1", true, NULL },
		{ "tcp://::1:1", true, NULL },
		{ "tcp://[::1:1", true, NULL },
		{ "tcp://[::1]1", true, NULL },
		{ "tcp://[]:1", true, NULL },
		{ "tcp://[h]:1", true, NULL },
		{ "TCP://h:1", true, NULL },
		{ "ipc:///tmp/x", true, NULL },
	};
	char text[TCP_TEXT], longest[400];
	struct tcp_end t;
	struct err e;
	size_t i;

	for (i = 0; i < nitems(rows); i++) {
		int r = tcp_parse(rows[i].text, rows[i].listen, &t, &e);

		assert_int_equal(r, rows[i].again != NULL ? 0 : ERR_USAGE);
		if (r == 0)
			assert_string_equal(tcp_text(&t, text), rows[i].again);
	}
	memset(longest, 'a', sizeof longest);
	memcpy(longest, "tcp://", 6);
	strcpy(longest + sizeof longest - 3, ":1");
	assert_int_equal(tcp_parse(longest, true, &t, &e), ERR_USAGE);
}

static void
test_loopback(void **state unused_arg)
{
	static const char *const good[] = { "tcp://127.0.0.1:1",
		"tcp://127.9.9.9:1", "tcp://[::1]:1" };
	static const char *const bad[] = { "tcp://localhost:1", "tcp://*:1",
		"tcp://0.0.0.0:1", "tcp://[::]:1", "tcp://10.0.0.1:1",
		"tcp://[::ffff:127.0.0.1]:1" };
	struct tcp_end t;
	struct err e;
	size_t i;

	for (i = 0; i < nitems(good); i++) {
		assert_int_equal(tcp_parse(good[i], true, &t, &e), 0);
		assert_int_equal(tcp_check_loopback(&t, &e), 0);
	}
	for (i = 0; i < nitems(bad); i++) {
		assert_int_equal(tcp_parse(bad[i], true, &t, &e), 0);
		assert_int_equal(tcp_check_loopback(&t, &e), ERR_USAGE);
	}
}

/* On a socket of both families IPv4 comes in disguise. */
static void
test_peer_text(void **state unused_arg)
{
	static const char *const rows[][2] = {
		{ "::1", "[::1]:4711" },
		{ "::ffff:192.0.2.1", "192.0.2.1:4711" },
	};
	struct sockaddr_storage a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
	char text[64];

	for (size_t i = 0; i < nitems(rows); i++) {
		memset(&a, 0, sizeof a);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(4711);
		assert_int_equal(
		    inet_pton(AF_INET6, rows[i][0], &v6->sin6_addr), 1);
		tcp_peer_text(&a, text);
		assert_string_equal(text, rows[i][1]);
	}
}

static void
test_listen(void **state unused_arg)
{
	struct tcp_end t, bound, again;
	struct err e;
	int fd, other;

	assert_int_equal(tcp_parse("tcp://127.0.0.1:*", true, &t, &e), 0);
	fd = tcp_listen(&t, &bound, &e);
	assert_true(fd >= 0);
	assert_true(bound.port != 0);
	other = tcp_listen(&bound, &again, &e);
	assert_int_equal(other, ERR_USAGE);
	assert_non_null(strstr(e.text, "in use"));
	fd_close(&fd);
}

/* --- who is let in ------------------------------------------------------- */

struct door {
	struct loop *loop;
	void *zctx;
	struct zap *zap;
	struct peer *server, *client;
	const char *allowed;
	unsigned asked, messages;
	enum shake last;
	unsigned ups, refusals;
};

static bool
allow(const char key[CURVE_KEY], void *ctx)
{
	struct door *d = ctx;

	d->asked++;
	return d->allowed != NULL && strcmp(d->allowed, key) == 0;
}

static void
on_msg(struct peer *p unused_arg, const struct peer_addr *from unused_arg,
    const char *worker unused_arg, const struct msg *m,
    const void *raw unused_arg, size_t len unused_arg, void *ctx)
{
	struct door *d = ctx;

	assert_int_equal(m->type, MSG_HEARTBEAT);
	d->messages++;
}

static void
on_link(struct peer *p unused_arg, enum shake what, void *ctx)
{
	struct door *d = ctx;

	d->last = what;
	d->ups += what == SHAKE_UP;
	d->refusals += what == SHAKE_REFUSED;
}

static const struct peer_ops ops = {
	.on_msg = on_msg,
	.on_link = on_link,
	.accept_from = 1u << ROLE_HOST,
};

static void
turn_until(struct door *d, const unsigned *what, unsigned n)
{
	uint64_t end = loop_now_ms() + WAIT_MS;

	while (*what < n && loop_now_ms() < end)
		(void)loop_once(d->loop, 50);
	assert_true(*what >= n);
}

/* H-016: who knows the server's public key alone says nothing that arrives;
 * once its key is allowed it gets in by itself. */
static void
test_stranger(void **state unused_arg)
{
	struct door d = { .loop = loop_create(), .zctx = zmq_ctx_new() };
	struct msg m = { .type = MSG_HEARTBEAT };
	struct curve_pair server;
	struct curve_host host;
	struct tcp_end t, bound;
	char text[TCP_TEXT];
	struct err e;
	int fd, r;

	assert_int_equal(curve_new(&server, &e), 0);
	assert_int_equal(curve_new(&host.own, &e), 0);
	memcpy(host.server, server.public_key, CURVE_KEY);
	/* A port that is free. */
	assert_int_equal(tcp_parse("tcp://127.0.0.1:*", true, &t, &e), 0);
	fd = tcp_listen(&t, &bound, &e);
	assert_true(fd >= 0);
	fd_close(&fd);
	(void)tcp_text(&bound, text);
	assert_int_equal(zap_start(d.loop, d.zctx, allow, &d, &d.zap, &e), 0);
	assert_int_equal(peer_bind_curve(d.loop, d.zctx, text, &server, &ops,
			     &d, &d.server, &e),
	    0);
	assert_int_equal(peer_connect_tcp(d.loop, d.zctx, text, &host, &ops, &d,
			     &d.client, &e),
	    0);
	/* Nothing is kept for later, either. */
	assert_int_equal(peer_send(d.client, NULL, NULL, &m, &e), -EAGAIN);
	turn_until(&d, &d.refusals, 1);
	assert_int_equal(peer_send(d.client, NULL, NULL, &m, &e), -EAGAIN);
	assert_int_equal(d.messages, 0);
	assert_int_equal(d.ups, 0);
	assert_true(d.asked >= 1);
	d.allowed = host.own.public_key;
	turn_until(&d, &d.ups, 1);
	while ((r = peer_send(d.client, NULL, NULL, &m, &e)) == -EAGAIN)
		(void)loop_once(d.loop, 10);
	assert_int_equal(r, 0);
	turn_until(&d, &d.messages, 1);
	peer_free(d.client);
	peer_free(d.server);
	zap_stop(d.zap);
	loop_free(d.loop);
	assert_int_equal(zmq_ctx_term(d.zctx), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_endpoints),
		cmocka_unit_test(test_loopback),
		cmocka_unit_test(test_peer_text),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_stranger),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
