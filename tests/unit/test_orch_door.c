/*
 * The first bytes of strangers, and the links of hosts: whole, in pieces, and
 * with a reader that does not read (H-013).
 */
#include "common/compat.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/door/greet.h"
#include "orchestrator/door/link.h"
#include "proto/msg.h"

static unsigned char server_public[32], server_secret[32];

/* As a client that knows this public key says it. */
static void
make_hello(const unsigned char *server, unsigned char ret[GREET_CURVE])
{
	unsigned char nonce[crypto_box_NONCEBYTES] = "CurveZMQHELLO---";
	unsigned char zeros[64] = { 0 }, public[32], secret[32];
	unsigned char *body = ret + GREET_PLAIN + 2;

	greet_ours(true, ret);
	memset(ret + GREET_PLAIN, 0, GREET_CURVE - GREET_PLAIN);
	ret[GREET_PLAIN] = 4;
	ret[GREET_PLAIN + 1] = 200;
	memcpy(body, "\5HELLO\1", 7);
	crypto_box_keypair(public, secret);
	memcpy(body + 80, public, 32);
	body[119] = nonce[23] = 1;
	assert_int_equal(crypto_box_easy(body + 120, zeros, sizeof zeros, nonce,
			     server, secret),
	    0);
}

static void
test_greet(void **state unused_arg)
{
	unsigned char b[GREET_CURVE], other_public[32], other_secret[32];
	const char *why;
	size_t i, n;

	crypto_box_keypair(server_public, server_secret);
	crypto_box_keypair(other_public, other_secret);
	make_hello(server_public, b);
	for (n = 0; n < sizeof b; n++)
		assert_int_equal(
		    greet_check(b, n, server_secret, &why), GREET_MORE);
	assert_int_equal(
	    greet_check(b, sizeof b, server_secret, &why), GREET_GOOD);
	/* For another one, or for nobody any more. */
	assert_int_equal(
	    greet_check(b, sizeof b, other_secret, &why), GREET_STRANGER);
	assert_non_null(strstr(why, "public key"));
	static const size_t matter[] = { 0, 9, 10, 12, 31, 64, 65, 66, 72, 150,
		180, 200, GREET_CURVE - 1 };
	for (i = 0; i < nitems(matter); i++) {
		b[matter[i]] ^= 1;
		assert_int_equal(greet_check(b, sizeof b, server_secret, &why),
		    GREET_STRANGER);
		assert_true(*why != '\0');
		b[matter[i]] ^= 1;
	}
}

static void
test_greet_plain(void **state unused_arg)
{
	unsigned char b[GREET_PLAIN];
	const char *why;

	greet_ours(false, b);
	assert_int_equal(greet_check(b, sizeof b, NULL, &why), GREET_GOOD);
	assert_int_equal(
	    greet_check(b, sizeof b, server_secret, &why), GREET_STRANGER);
	assert_string_equal(why, "it has no key");
	greet_ours(true, b);
	assert_int_equal(greet_check(b, sizeof b, NULL, &why), GREET_STRANGER);
	assert_int_equal(greet_check((const unsigned char *)"GET / HTTP/1.1",
			     14, server_secret, &why),
	    GREET_STRANGER);
}

/* --- links --------------------------------------------------------------- */

struct end {
	struct loop *loop;
	struct link *link;
	unsigned n, refuse;
	size_t bytes;
	char worker[40];
	char why[128];
	bool order; /* frames begin with a number that counts */
};

static int
on_frame(struct link *l unused_arg, const char *worker, const void *raw,
    size_t len, void *ctx)
{
	struct end *d = ctx;
	uint32_t number;

	if (d->refuse > 0) {
		d->refuse--;
		return -EAGAIN;
	}
	if (d->order) {
		assert_true(len >= sizeof number);
		memcpy(&number, raw, sizeof number);
		assert_int_equal(number, d->n);
	}
	d->n++;
	d->bytes += len;
	strlcpy(d->worker, worker, sizeof d->worker);
	return 0;
}

static void
on_end(struct link *l unused_arg, const char *why, void *ctx)
{
	struct end *d = ctx;

	strlcpy(d->why, why, sizeof d->why);
}

static const struct link_ops link_ops = { .on_frame = on_frame,
	.on_end = on_end };

static void
open_pair(struct loop *l, struct end *a, int *ret_fd)
{
	int pair[2];

	assert_int_equal(
	    socketpair(
		AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
	    0);
	memset(a, 0, sizeof *a);
	a->loop = l;
	a->link = link_create(l, pair[0], &link_ops, a);
	*ret_fd = pair[1];
}

static void
turn(struct loop *l)
{
	for (int i = 0; i < 50; i++)
		(void)loop_once(l, 0);
}

static void
test_link_pieces(void **state unused_arg)
{
	static const unsigned char frames[] = { 0, 0, 0, 4, 2, 'w', '1', 'x',
		'y', 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 'z' };
	struct loop *l = loop_create();
	struct end a;
	size_t i;
	int fd;

	open_pair(l, &a, &fd);
	for (i = 0; i < sizeof frames; i++) {
		assert_int_equal(write(fd, frames + i, 1), 1);
		turn(l);
		assert_int_equal(a.n, (i >= 8) + (i >= 13) + (i >= 19));
		if (i == 8)
			assert_string_equal(a.worker, "w1");
	}
	assert_int_equal(a.bytes, 3);
	fd_close(&fd);
	turn(l);
	assert_string_equal(a.why, "the connection has ended");
	link_free(a.link);
	loop_free(l);
}

static void
test_link_bad(void **state unused_arg)
{
	static const unsigned char bad[][5] = { { 0xff, 0, 0, 0, 0 },
		{ 0, 0, 0, 1, 2 }, { 0, 0, 0, 99, 33 } };
	struct loop *l = loop_create();
	struct end a;
	size_t i;
	int fd;

	for (i = 0; i < nitems(bad); i++) {
		open_pair(l, &a, &fd);
		assert_int_equal(write(fd, bad[i], 5), 5);
		turn(l);
		assert_string_equal(a.why, "a frame is malformed");
		assert_int_equal(link_send(a.link, "w1", "x", 1, NULL), -EPIPE);
		link_free(a.link);
		fd_close(&fd);
	}
	loop_free(l);
}

/* H-013: to one that does not read 10,000 messages are sent: none is lost
 * silently, the sender is told, and what waits is bounded. */
static void
test_link_full(void **state unused_arg)
{
	struct loop *l = loop_create();
	struct end a, b;
	unsigned char *raw = xcalloc(1, 20000);
	uint32_t i, sent = 0;
	int fd, r = 0;

	open_pair(l, &a, &fd);
	for (i = 0; i < 10000; i++) {
		memcpy(raw, &sent, sizeof sent);
		r = link_send(a.link, "w1", raw, 20000, NULL);
		if (r == 0)
			sent++;
		else
			assert_int_equal(r, -EAGAIN);
	}
	assert_int_equal(r, -EAGAIN);
	assert_true(sent < 10000);
	assert_true(link_queued(a.link) < LINK_QUEUE + MSG_MAX_BYTES);
	/* It reads at last, with pauses of its own. */
	memset(&b, 0, sizeof b);
	b.loop = l;
	b.order = true;
	b.refuse = 3;
	b.link = link_create(l, fd, &link_ops, &b);
	for (i = 0; i < 100000 && b.n < sent; i++) {
		(void)loop_once(l, 0);
		link_resume(b.link);
	}
	assert_int_equal(b.n, sent);
	assert_int_equal(link_queued(a.link), 0);
	assert_int_equal(link_send(a.link, "w1", raw, 20000, NULL), 0);
	link_free(a.link);
	link_free(b.link);
	free(raw);
	loop_free(l);
}

static void
test_link_limits(void **state unused_arg)
{
	struct loop *l = loop_create();
	struct end a, b;
	void *raw = xcalloc(1, MSG_MAX_BYTES + 1);
	int fd, i;

	open_pair(l, &a, &fd);
	assert_int_equal(
	    link_send(a.link, "w1", raw, MSG_MAX_BYTES + 1, NULL), ERR_LIMIT);
	assert_int_equal(link_send(a.link, "w1", raw, MSG_MAX_BYTES, NULL), 0);
	memset(&b, 0, sizeof b);
	b.loop = l;
	b.link = link_create(l, fd, &link_ops, &b);
	for (i = 0; i < 100000 && b.n < 1; i++)
		(void)loop_once(l, 0);
	assert_int_equal(b.bytes, MSG_MAX_BYTES);
	link_free(a.link);
	link_free(b.link);
	free(raw);
	loop_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greet),
		cmocka_unit_test(test_greet_plain),
		cmocka_unit_test(test_link_pieces),
		cmocka_unit_test(test_link_bad),
		cmocka_unit_test(test_link_full),
		cmocka_unit_test(test_link_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
