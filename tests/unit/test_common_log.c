#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"

static int fds[2];

static size_t
take(char *dst, size_t size)
{
	ssize_t n = read(fds[0], dst, size - 1);

	assert_true(n >= 0 || errno == EAGAIN);
	dst[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static int
setup(void **state)
{
	(void)state;
	assert_int_equal(fd_pipe(fds), 0);
	assert_int_equal(fd_nonblock(fds[0], true), 0);
	unsetenv("FORAY_DEBUG");
	log_init("prog");
	log_set_fd(fds[1]);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	log_set_fd(2);
	fd_close(&fds[0]);
	fd_close(&fds[1]);
	return 0;
}

static void
test_line(void **state)
{
	char text[256];

	(void)state;
	errno = EXDEV;
	log_info("a\x1b[2Jb\n\x7f %d \xc3\xa4\xff", 7);
	assert_int_equal(errno, EXDEV);
	take(text, sizeof text);
	assert_string_equal(text, "prog: a\\x1b[2Jb\\n\\x7f 7 \xc3\xa4\\xff\n");
}

static void
test_level(void **state)
{
	char text[256];

	(void)state;
	log_debug("no");
	assert_int_equal(take(text, sizeof text), 0);
	log_set_level(LOG_LVL_ERROR);
	log_warn("no");
	log_info("no");
	log_error("yes");
	take(text, sizeof text);
	assert_string_equal(text, "prog: yes\n");
	setenv("FORAY_DEBUG", "1", 1);
	log_init("prog");
	log_debug("d");
	take(text, sizeof text);
	assert_string_equal(text, "prog: d\n");
}

static void
test_long(void **state)
{
	static char longer[20000], text[20000];
	size_t n;

	(void)state;
	memset(longer, '\x01', sizeof longer - 1);
	log_info("%s", longer);
	n = take(text, sizeof text);
	assert_true(n > 8000 && n <= 8192);
	assert_string_equal(text + n - 4, "...\n");
}

static void
test_fatal(void **state)
{
	char text[256];
	pid_t pid;
	int status;

	(void)state;
	pid = fork();
	if (pid == 0)
		fatal("gone %d", 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 70);
	take(text, sizeof text);
	assert_string_equal(text, "prog: gone 1\n");
}

static void
test_alloc(void **state)
{
	char *s;

	(void)state;
	s = xmalloc(0);
	assert_non_null(s);
	free(s);
	s = xcalloc(0, 8);
	assert_non_null(s);
	s = xreallocarray(s, 0, 0);
	assert_non_null(s);
	free(s);
	s = xstrndup("abc", 2);
	assert_string_equal(s, "ab");
	free(s);
	s = xasprintf("%d-%s", 1, "x");
	assert_string_equal(s, "1-x");
	free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_level, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fatal, setup, teardown),
		cmocka_unit_test(test_alloc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
