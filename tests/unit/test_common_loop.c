#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/loop.h"

static struct loop *l;
static struct loop_watch *one, *two;
static int calls, others;
static char order[64];

static void
note(char c)
{
	size_t n = strlen(order);

	if (n + 1 < sizeof order) {
		order[n] = c;
		order[n + 1] = '\0';
	}
}

static int
setup(void **state)
{
	(void)state;
	l = loop_create();
	one = two = NULL;
	calls = others = 0;
	order[0] = '\0';
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	loop_free(l);
	return 0;
}

static void
on_note(void *ctx)
{
	note(*(const char *)ctx);
}

static void
on_stop(void *ctx)
{
	loop_stop(l, *(int *)ctx);
}

static void
test_timers(void **state)
{
	int seven = 7;
	uint64_t start = loop_now_ms();

	(void)state;
	loop_timer_add(l, 20, 0, on_note, (void *)"c");
	loop_timer_add(l, 0, 0, on_note, (void *)"a");
	loop_timer_add(l, 0, 0, on_note, (void *)"b");
	loop_timer_add(l, 40, 0, on_stop, &seven);
	loop_del(l, loop_timer_add(l, 5, 0, on_note, (void *)"x"));
	loop_timer_add(l, UINT64_MAX, 0, on_note, (void *)"y");
	assert_int_equal(loop_run(l), 7);
	assert_string_equal(order, "abc");
	assert_in_range(loop_now_ms() - start, 39, 60000);
	loop_del(l, NULL);
}

static void
on_again(void *ctx)
{
	(void)ctx;
	calls++;
	loop_timer_add(l, 0, 0, on_again, NULL);
}

static void
test_zero_timer(void **state)
{
	(void)state;
	loop_timer_add(l, 0, 0, on_again, NULL);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(loop_once(l, 1000), 0);
		assert_int_equal(calls, i);
	}
}

static void
on_repeat(void *ctx)
{
	(void)ctx;
	if (++calls == 3)
		loop_del(l, one); /* itself */
}

static void
test_repeat(void **state)
{
	int zero = 0;

	(void)state;
	one = loop_timer_add(l, 1, 5, on_repeat, NULL);
	loop_timer_add(l, 60, 0, on_stop, &zero);
	assert_int_equal(loop_run(l), 0);
	assert_int_equal(calls, 3);
}

/* Whichever comes first deletes both, and adds a new one. */
static void
on_fd(int fd, unsigned events, void *ctx)
{
	(void)ctx;
	assert_true(events & LOOP_IN);
	calls++;
	loop_del(l, one);
	loop_del(l, two);
	loop_fd_add(l, fd, 0, on_fd, NULL);
}

static void
test_fd_delete(void **state)
{
	int a[2], b[2];

	(void)state;
	assert_int_equal(fd_pipe(a), 0);
	assert_int_equal(fd_pipe(b), 0);
	assert_int_equal(write(a[1], "x", 1), 1);
	assert_int_equal(write(b[1], "x", 1), 1);
	one = loop_fd_add(l, a[0], LOOP_IN, on_fd, NULL);
	two = loop_fd_add(l, b[0], LOOP_IN, on_fd, NULL);
	assert_int_equal(loop_once(l, 1000), 0);
	assert_int_equal(loop_once(l, 0), 0);
	assert_int_equal(calls, 1);
	for (int i = 0; i < 2; i++) {
		fd_close(&a[i]);
		fd_close(&b[i]);
	}
}

static void
on_events(int fd, unsigned events, void *ctx)
{
	(void)fd;
	*(unsigned *)ctx |= events;
}

static void
test_fd_events(void **state)
{
	unsigned in = 0, out = 0;
	struct loop_watch *w;
	int a[2];

	(void)state;
	assert_int_equal(fd_pipe(a), 0);
	w = loop_fd_add(l, a[0], LOOP_IN, on_events, &in);
	loop_fd_add(l, a[1], LOOP_OUT, on_events, &out);
	loop_once(l, 1000);
	assert_int_equal(in, 0);
	assert_int_equal(out, LOOP_OUT);
	loop_fd_events(w, 0);
	loop_free(l);
	l = loop_create();
	fd_close(&a[1]);
	w = loop_fd_add(l, a[0], LOOP_IN, on_events, &in);
	loop_fd_events(w, 0);
	loop_once(l, 0);
	assert_int_equal(in, 0);
	/* The end shows as readable as well, so that readers see it. */
	loop_fd_events(w, LOOP_IN);
	loop_once(l, 1000);
	assert_int_equal(in, LOOP_IN | LOOP_HUP);
	fd_close(&a[0]);
}

static void
on_message(void *sock, void *ctx)
{
	char text[8];

	(void)ctx;
	assert_int_equal(zmq_recv(sock, text, sizeof text, ZMQ_DONTWAIT), 1);
	if (++calls == 3)
		loop_stop(l, 1);
}

static void
test_zmq(void **state)
{
	void *ctx = zmq_ctx_new(), *a, *b;

	(void)state;
	a = zmq_socket(ctx, ZMQ_PAIR);
	b = zmq_socket(ctx, ZMQ_PAIR);
	assert_int_equal(zmq_bind(a, "inproc://test"), 0);
	assert_int_equal(zmq_connect(b, "inproc://test"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(zmq_send(b, "x", 1, 0), 1);
	one = loop_zmq_add(l, a, on_message, NULL);
	assert_int_equal(loop_run(l), 1);
	assert_int_equal(calls, 3);
	loop_del(l, one);
	zmq_close(a);
	zmq_close(b);
	zmq_ctx_term(ctx);
}

static void
on_signal(int signo, void *ctx)
{
	(void)ctx;
	assert_int_equal(signo, SIGUSR1);
	calls++;
	loop_del(l, one);
	loop_stop(l, 0);
}

static void
on_many(int fd, unsigned events, void *ctx)
{
	char c;

	calls++;
	assert_true((events & LOOP_IN) != 0);
	if (read(fd, &c, 1) == 1)
		note(c);
	else
		note('0');
	/* Of two that are ready at once only the first is called. */
	if (ctx != NULL) {
		loop_del(l, one);
		loop_del(l, two);
	}
}

static void
on_many_child(pid_t pid, int status, void *ctx)
{
	(void)ctx;
	assert_true(pid > 0 && WIFEXITED(status));
	note('c');
}

static void
test_many(void **state)
{
	char path[] = "/tmp/foray-loop-XXXXXX";
	struct loop_watch *file;
	int a[2], b[2], fd;
	pid_t pid;

	(void)state;
	assert_return_code(pipe(a), errno);
	assert_return_code(pipe(b), errno);
	one = loop_fd_add(l, a[0], LOOP_IN, on_many, NULL);
	two = loop_fd_add(l, b[0], LOOP_IN, on_many, NULL);
	loop_many(l, one);
	loop_many(l, two);
	assert_int_equal(loop_once(l, 0), 0);
	assert_int_equal(calls, 0);
	assert_int_equal(write(b[1], "xy", 2), 2);
	assert_int_equal(loop_once(l, 1000), 0);
	assert_int_equal(loop_once(l, 1000), 0); /* it is still there */
	assert_string_equal(order, "xy");
	assert_return_code(close(a[1]), errno);
	assert_int_equal(loop_once(l, 1000), 0); /* a hang-up */
	assert_string_equal(order, "xy0");
	loop_del(l, one);
	assert_int_equal(loop_once(l, 0), 0);
	assert_int_equal(calls, 3);
	loop_del(l, two);

	one = loop_fd_add(l, a[0], LOOP_IN, on_many, l);
	two = loop_fd_add(l, b[0], LOOP_IN, on_many, l);
	loop_many(l, one);
	loop_many(l, two);
	assert_int_equal(write(b[1], "zz", 2), 2);
	assert_int_equal(loop_once(l, 1000), 0);
	assert_int_equal(loop_once(l, 0), 0);
	assert_int_equal(calls, 4);

	pid = fork();
	if (pid == 0)
		_exit(0);
	loop_many(l, loop_child_add(l, pid, on_many_child, NULL));
	assert_int_equal(loop_once(l, 10000), 0);
	assert_int_equal(order[strlen(order) - 1], 'c');

	/* A file can't be there, and is looked at as before. */
	fd = mkstemp(path);
	assert_return_code(fd, errno);
	file = loop_fd_add(l, fd, LOOP_IN, on_many, NULL);
	loop_many(l, file);
	assert_int_equal(loop_once(l, 1000), 0);
	assert_int_equal(calls, 5);
	loop_del(l, file);
	(void)unlink(path);
	(void)close(fd);
	(void)close(a[0]);
	(void)close(b[0]);
	(void)close(b[1]);
}

static void
test_signal(void **state)
{
	(void)state;
	one = loop_signal_add(l, SIGUSR1, on_signal, NULL);
	assert_non_null(one);
	assert_null(loop_signal_add(l, 9999, on_signal, NULL));
	kill(getpid(), SIGUSR1);
	loop_run(l);
	assert_int_equal(calls, 1);
}

static void
on_child(pid_t pid, int status, void *ctx)
{
	(void)pid;
	*(int *)ctx = status;
	loop_del(l, one); /* NULL or itself */
	one = NULL;
	if (++calls == 2)
		loop_stop(l, 0);
}

static pid_t
child(int status)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(status);
	return pid;
}

static void
test_child(void **state)
{
	int s1 = -1, s2 = -1;
	pid_t pid;

	(void)state;
	one = loop_child_add(l, child(3), on_child, &s1);
	pid = child(0);
	usleep(20000); /* it is a zombie already */
	loop_child_add(l, pid, on_child, &s2);
	loop_run(l);
	assert_int_equal(WEXITSTATUS(s1), 3);
	assert_int_equal(s2, 0);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_null(loop_child_add(l, pid, on_child, &s2));
}

static void
on_defer(void *ctx)
{
	note('d');
	if (++calls < 3)
		loop_defer(l, on_defer, ctx);
}

static void
on_order_fd(int fd, unsigned events, void *ctx)
{
	(void)fd;
	(void)events;
	(void)ctx;
	note('f');
	loop_del(l, one);
	loop_defer(l, on_defer, NULL);
}

static void
test_order(void **state)
{
	int a[2];

	(void)state;
	assert_int_equal(fd_pipe(a), 0);
	fd_close(&a[1]);
	one = loop_fd_add(l, a[0], LOOP_IN, on_order_fd, NULL);
	loop_timer_add(l, 0, 0, on_note, (void *)"t");
	loop_once(l, 1000);
	assert_string_equal(order, "tfd");
	loop_once(l, -1);
	assert_string_equal(order, "tfdd");
	loop_once(l, -1);
	loop_once(l, 0);
	assert_string_equal(order, "tfddd");
	loop_defer(l, on_defer, NULL); /* dropped with the loop */
	fd_close(&a[0]);
}

static void
on_alarm(int signo)
{
	(void)signo;
	others++;
}

static void
test_eintr(void **state)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	int three = 3, a[2];

	(void)state;
	assert_int_equal(fd_pipe(a), 0);
	sigaction(SIGALRM, &sa, NULL);
	ualarm(5000, 0);
	loop_fd_add(l, a[0], LOOP_IN, on_fd, NULL);
	loop_timer_add(l, 30, 0, on_stop, &three);
	assert_int_equal(loop_run(l), 3);
	assert_int_equal(others, 1);
	fd_close(&a[0]);
	fd_close(&a[1]);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_timers),
		T(test_zero_timer),
		T(test_repeat),
		T(test_fd_delete),
		T(test_fd_events),
		T(test_signal),
		T(test_child),
		T(test_order),
		T(test_eintr),
		T(test_zmq),
		T(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
