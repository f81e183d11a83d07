#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/loop.h"
#include "common/spawn.h"

static struct strv argv;
static struct buf out, err;
static struct spawn s;
static struct spawn_result res;

static int
setup(void **state)
{
	(void)state;
	buf_init(&out, 1 << 20);
	buf_init(&err, 1 << 20);
	s = (struct spawn){
		.argv = &argv, .out = &out, .err = &err, .timeout_ms = 120000
	};
	memset(&res, 0, sizeof res);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	strv_clear(&argv);
	buf_clear(&out);
	buf_clear(&err);
	return 0;
}

static void
run_sh(const char *script)
{
	struct err e = { .text = "" };

	strv_clear(&argv);
	strv_addl(&argv, "sh", "-c", script, (char *)NULL);
	if (spawn_run(&s, &res, &e) != 0)
		fail_msg("%s", e.text);
}

static void
test_output(void **state)
{
	(void)state;
	run_sh("echo out; echo err >&2; exit 3");
	assert_int_equal(res.status, 3);
	assert_string_equal(buf_str(&out), "out\n");
	assert_string_equal(buf_str(&err), "err\n");
	assert_false(res.timed_out);
	assert_false(res.truncated);
	buf_reset(&out);
	s.err = &out;
	run_sh("echo a; echo b >&2; echo c; kill -9 $$");
	assert_string_equal(buf_str(&out), "a\nb\nc\n");
	assert_int_equal(res.status, 137);
	s.out = s.err = NULL;
	run_sh("echo a; echo b >&2");
	assert_int_equal(res.status, 0);
}

static void
test_input(void **state)
{
	static char big[300000];
	struct strv env = { 0 };

	(void)state;
	memset(big, 'i', sizeof big);
	s.input = big;
	s.input_len = sizeof big;
	run_sh("cat; cat >&2");
	assert_int_equal(out.len, sizeof big);
	buf_reset(&out);
	run_sh("exit 0"); /* nobody reads it */
	assert_int_equal(res.status, 0);
	s.input = NULL;
	s.cwd = "/";
	strv_setenv(&env, "PATH", "/usr/bin:/bin");
	strv_setenv(&env, "X", "y");
	s.env = &env;
	run_sh("cat; pwd; echo $X$HOME");
	assert_string_equal(buf_str(&out), "/\ny\n");
	strv_clear(&env);
}

static void
test_missing(void **state)
{
	struct err e;

	(void)state;
	strv_add(&argv, "no-such-program");
	assert_int_equal(spawn_run(&s, &res, &e), ERR_NOTFOUND);
	strv_clear(&argv);
	strv_add(&argv, "/no/such/program");
	assert_int_equal(spawn_run(&s, &res, &e), ERR_NOTFOUND);
	strv_clear(&argv);
	strv_add(&argv, "/etc/passwd");
	assert_int_equal(spawn_run(&s, &res, &e), -EACCES);
	strv_clear(&argv);
	assert_int_equal(spawn_run(&s, &res, &e), -EINVAL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void
test_timeout(void **state)
{
	uint64_t start = loop_now_ms();

	(void)state;
	s.timeout_ms = 1500; /* within which it says something */
	run_sh("echo first; sleep 60 & sleep 60");
	assert_true(res.timed_out);
	assert_int_equal(res.status, 137);
	assert_string_equal(buf_str(&out), "first\n");
	assert_in_range(loop_now_ms() - start, 1500, 40000);
}

/* A grandchild holds the pipe after the exit, in the group and outside. */
static void
test_linger(void **state)
{
	uint64_t start = loop_now_ms();

	(void)state;
	s.linger_ms = 200;
	run_sh("sleep 60 & echo done");
	assert_int_equal(res.status, 0);
	assert_false(res.timed_out);
	assert_string_equal(buf_str(&out), "done\n");
	run_sh("setsid sleep 60 & exit 4");
	assert_int_equal(res.status, 4);
	run_sh("yes & sleep 0.1; exit 5");
	assert_int_equal(res.status, 5);
	assert_true(res.truncated);
	assert_in_range(loop_now_ms() - start, 600, 40000);
}

static void
test_truncated(void **state)
{
	(void)state;
	buf_clear(&out);
	buf_init(&out, 1000);
	run_sh("i=0; while [ $i -lt 20000 ]; do echo 0123456789; "
	       "i=$((i+1)); done; echo end >&2");
	assert_int_equal(res.status, 0);
	assert_true(res.truncated);
	assert_int_equal(out.len, 1000);
	assert_string_equal(buf_str(&err), "end\n");
}

static void
test_clean_child(void **state)
{
	int fd = open("/dev/null", O_RDONLY); /* not close-on-exec */
	sigset_t set;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* Without 32 and 33, which glibc keeps to itself: nobody can reset them
	 * when whoever started us ignores them. */
	run_sh("ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status; "
	       "ign=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status); "
	       "echo $((0x$ign & ~0x180000000)); "
	       "[ $(ps -o pgid= $$) = $$ ] && echo group");
	/* 0, 1, 2 and the directory that ls reads. */
	assert_string_equal(
	    buf_str(&out), "4\nSigBlk:\t0000000000000000\n0\ngroup\n");
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGPIPE, SIG_DFL);
	close(fd);
}

static void
test_keep(void **state)
{
	int a, b, c, status;
	pid_t pid;

	(void)state;
	a = open("/dev/null", O_RDONLY | O_CLOEXEC);
	b = open("/dev/null", O_RDONLY | O_CLOEXEC);
	c = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		int keep[] = { c, -1, a };

		spawn_child_clean(keep, nitems(keep));
		_exit(fcntl(a, F_GETFD) == 0 && fcntl(c, F_GETFD) == 0 &&
			    fcntl(b, F_GETFD) == -1
			? 0
			: 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(spawn_status(status), 0);
	close(a);
	close(b);
	close(c);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_output),
		T(test_input),
		T(test_missing),
		T(test_timeout),
		T(test_linger),
		T(test_truncated),
		T(test_clean_child),
		T(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
