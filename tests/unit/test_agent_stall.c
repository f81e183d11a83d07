/* Is a process tree in a loop for good? Real children, each for moments. */
#include "common/compat.h"

#include <sys/wait.h>

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/loop.h"
#include "worker/agent/stall.h"

#define LOOKS_MS 1000
#define LONG_MS 300000 /* it may get a hundredth of a processor */
#define ENOUGH_MS 200

static void
spin(void)
{
	volatile unsigned n = 0;

	for (;;)
		n++;
}

/* Below a child of its own, as a test is below its shell. */
static void
spin_below(void)
{
	if (fork() == 0)
		spin();
	(void)waitpid(-1, NULL, 0);
}

static void
wait_often(void)
{
	for (;;) {
		volatile unsigned n = 0;

		while (n < 3000000)
			n++;
		usleep(1000);
	}
}

static void
take_memory(void)
{
	for (;;) {
		volatile char *p = xmalloc(1 << 20);

		for (size_t i = 0; i < 1 << 20; i += 512)
			p[i] = 1;
	}
}

static void
sleep_on(void)
{
	for (;;)
		(void)pause();
}

/* The most processor time that was seen to lead to nothing, within ms. */
static uint64_t
most(void (*fn)(void), bool output, uint64_t ms)
{
	struct stall s = { 0 };
	uint64_t end, stalled = 0, n, total = 0;
	pid_t pid = fork();

	if (pid == 0) {
		(void)setpgid(0, 0);
		(void)alarm(2 * LONG_MS / 1000);
		fn();
		_exit(0);
	}
	(void)setpgid(pid, pid);
	end = loop_now_ms() + ms;
	while (loop_now_ms() < end && stalled < ENOUGH_MS) {
		(void)usleep(20000);
		n = stall_look(&s, pid, output ? ++total : 0);
		stalled = n > stalled ? n : stalled;
	}
	(void)kill(-pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return stalled;
}

static void
test_loops(void **state)
{
	(void)state;
	/* Waited for as long as a slow machine takes. */
	assert_true(most(spin, false, LONG_MS) >= ENOUGH_MS);
	assert_true(most(spin_below, false, LONG_MS) >= ENOUGH_MS);
}

static void
test_moves(void **state)
{
	(void)state;
	assert_true(most(wait_often, false, LOOKS_MS) < ENOUGH_MS);
	assert_true(most(take_memory, false, LOOKS_MS) < ENOUGH_MS);
	assert_true(most(sleep_on, false, LOOKS_MS) < ENOUGH_MS);
	assert_true(most(spin, true, LOOKS_MS) < ENOUGH_MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
