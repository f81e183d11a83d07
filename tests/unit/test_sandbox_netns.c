/* A listening socket inside a sandbox, made from outside. */
#include "common/compat.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

#include "common/fdpass.h"
#include "sandbox/netns.h"
#include "sandbox/profile.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"
#include "test_sandbox_bed.h"

#define SOON 60000

/* A command in the bed's sandbox, started. */
static int
start(
    const char *command, int *ret_listen, struct sandbox_proc *p, struct err *e)
{
	struct profile prof = { .root = bed, .tree_src = bed, .egress = true };
	struct sandbox_spec spec;
	struct sandbox_start s = { .spec = &spec,
		.stage = true,
		.fds = { -1, -1, -1 },
		.ret_listen = ret_listen };
	int r;

	if (geteuid() == 0)
		assert_int_equal(chown(bed, stage_uid(), stage_uid()), 0);
	profile_direct(&prof, &spec);
	strv_addl(&spec.argv, "python3", "-c", command, (char *)NULL);
	r = sandbox_start(&s, p, e);
	spec_clear(&spec);
	return r;
}

static int
finish(struct sandbox_proc *p)
{
	int ws, status = -1;

	assert_int_equal(waitpid(p->pid, &ws, 0), p->pid);
	assert_true(sandbox_finished(p, ws, &status));
	return status;
}

/* The command's first act finds it, every time. */
static void
test_there_first(void **state unused_arg)
{
	static const char command[] =
	    "import socket, os\n"
	    "s = socket.create_connection(('127.0.0.1', 3128), 5)\n"
	    "s.sendall(os.environ['http_proxy'].encode())\n"
	    "assert s.recv(10) == b'back'\n";
	struct sandbox_proc p;
	char text[64];
	struct pollfd pfd = { .events = POLLIN };
	struct err e;
	int i, l, fd;
	ssize_t n;

	if (probe_sandbox(&e) < 0)
		bed_skip();
	for (i = 0; i < 20; i++) {
		if (start(command, &l, &p, &e) < 0)
			fail_msg("%s", e.text);
		assert_int_equal(netns_check(l, &e), 0);
		pfd.fd = l;
		assert_int_equal(poll(&pfd, 1, SOON), 1);
		fd = accept(l, NULL, NULL);
		assert_true(fd >= 0);
		n = recv(fd, text, sizeof text - 1, 0);
		assert_true(n > 0);
		text[n] = '\0';
		assert_string_equal(text, "http://127.0.0.1:3128");
		assert_int_equal(fd_write_all(fd, "back", 4), 0);
		assert_int_equal(finish(&p), 0);
		fd_close(&fd);
		fd_close(&l);
	}
}

/* Nobody accepts, and it is closed: refused at once, as is all else. */
static void
test_closed(void **state unused_arg)
{
	static const char command[] =
	    "import socket, sys\n"
	    "sys.stdin.read()\n"
	    "for a in (('127.0.0.1', 3128), ('192.0.2.1', 80)):\n"
	    "    try:\n"
	    "        socket.create_connection(a, 5)\n"
	    "        sys.exit(1)\n"
	    "    except ConnectionRefusedError:\n"
	    "        assert a[1] == 3128\n"
	    "    except OSError:\n"
	    "        assert a[1] == 80\n";
	struct sandbox_proc p;
	struct err e;
	int l;

	if (probe_sandbox(&e) < 0)
		bed_skip();
	if (start(command, &l, &p, &e) < 0)
		fail_msg("%s", e.text);
	fd_close(&l);
	assert_int_equal(finish(&p), 0);
}

static void
test_gone(void **state unused_arg)
{
	int pidfd, fd = -1;
	pid_t pid = fork();
	struct err e;

	if (pid == 0)
		_exit(0);
	pidfd = pidfd_open(pid, 0);
	assert_true(pidfd >= 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(
	    netns_listen(pidfd, pid, NETNS_PORT, &fd, &e), ERR_SANDBOX);
	/* The number is somebody else's now: ours. */
	assert_int_equal(
	    netns_listen(pidfd, getpid(), NETNS_PORT, &fd, &e), ERR_SANDBOX);
	assert_int_equal(fd, -1);
	fd_close(&pidfd);
}

/* No network of its own, no allowed hosts. */
static void
test_container(void **state unused_arg)
{
	struct sandbox_spec spec;
	int l = 0;
	struct sandbox_start s = {
		.spec = &spec, .stage = true, .ret_listen = &l
	};
	struct sandbox_proc p;
	struct err e;

	spec_init(&spec, LAYER_INNER);
	spec.backend = BACKEND_CONTAINER;
	strv_add(&spec.argv, "true");
	assert_int_equal(sandbox_start(&s, &p, &e), ERR_SANDBOX);
	assert_int_equal(l, -1);
	spec_clear(&spec);
}

/* What somebody sends as such a socket. */
static void
test_check(void **state unused_arg)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fds[] = { socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
		socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
		socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0),
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
		open("/dev/null", O_RDONLY | O_CLOEXEC), -1 };
	struct err e;
	size_t i;

	(void)listen(fds[2], 1);
	for (i = 0; i < nitems(fds); i++)
		assert_int_equal(netns_check(fds[i], &e), ERR_DENIED);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fds[0], (struct sockaddr *)&sin, sizeof sin), 0);
	assert_int_equal(listen(fds[0], 1), 0);
	assert_int_equal(netns_check(fds[0], &e), 0);
	for (i = 0; i < nitems(fds); i++)
		fd_close(&fds[i]);
}

/* --- fdpass.h ------------------------------------------------------------ */

static void
test_pass(void **state unused_arg)
{
	int pair[2], got[FDPASS_MAX], std[] = { 0, 1, 2 };
	char text[8];
	size_t n = 9;

	assert_int_equal(
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(fd_pass(pair[0], "abc", 3, std, 3), 0);
	assert_int_equal(fd_take(pair[1], text, sizeof text, got, 3, &n), 3);
	assert_int_equal(n, 3);
	assert_memory_equal(text, "abc", 3);
	for (n = 0; n < 3; n++) {
		assert_int_equal(fcntl(got[n], F_GETFD), FD_CLOEXEC);
		fd_close(&got[n]);
	}
	/* More than is wanted: none of it. */
	assert_int_equal(fd_pass(pair[0], "abc", 3, std, 3), 0);
	assert_int_equal(
	    fd_take(pair[1], text, sizeof text, got, 1, &n), -EMSGSIZE);
	assert_int_equal(fd_pass(pair[0], "123456789", 9, std, 1), 0);
	assert_int_equal(
	    fd_take(pair[1], text, sizeof text, got, 1, &n), -EMSGSIZE);
	assert_int_equal(fd_pass(pair[0], "abc", 3, NULL, 0), 0);
	assert_int_equal(fd_take(pair[1], text, sizeof text, got, 1, &n), 3);
	assert_int_equal(n, 0);
	assert_int_equal(fd_pass(pair[0], "", 0, NULL, 0), -EINVAL);
	fd_close(&pair[0]);
	assert_int_equal(fd_take(pair[1], text, sizeof text, got, 1, &n), 0);
	assert_int_equal(fd_pass(pair[1], "abc", 3, NULL, 0), -EPIPE);
	fd_close(&pair[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_first),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_container),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_pass),
	};

	return cmocka_run_group_tests(tests, bed_setup, bed_teardown);
}
