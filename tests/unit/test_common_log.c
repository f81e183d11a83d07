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

/* A reader who doesn't read holds nobody up, and is told what he missed. */
static void
test_unread(void **state)
{
	static char text[128 * 1024];
	char *at;

	(void)state;
	(void)alarm(60); /* what waits for the reader ends here */
	for (unsigned i = 0; i < 5000; i++)
		log_info("line %u of many that nobody reads", i);
	(void)alarm(0);
	assert_true(take(text, sizeof text) > 60000);
	assert_non_null(strstr(text, "prog: line 0 of"));
	assert_null(strstr(text, "line 4999"));
	log_info("read again");
	take(text, sizeof text);
	at = strstr(text, " lines are left out here: nobody read them\n");
	assert_non_null(at);
	assert_string_equal(at + 43, "prog: read again\n");
	log_info("and on");
	take(text, sizeof text);
	assert_string_equal(text, "prog: and on\n");
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

static void
test_json(void **state)
{
	char text[4096], *at;
	struct log_ids old;

	(void)state;
	setenv("FORAY_LOG", "json", 1);
	log_init("pro\"g");
	unsetenv("FORAY_LOG");
	assert_true(log_is_json());
	log_ids_get(&old);
	log_id(LOG_ID_RUN, "r\\1");
	log_id(LOG_ID_WORKER, "w1");
	log_id_number(LOG_ID_ATTEMPT, "", 2);
	log_id_number(LOG_ID_CALL, "model-", 17);
	log_id(LOG_ID_SUBTASK, "");
	log_warn("say \"%s\"\n\xff", "a\\b");
	take(text, sizeof text);
	assert_int_equal(strncmp(text, "{\"time\":\"20", 11), 0);
	assert_int_equal(strncmp(text + 33, "\",\"level\"", 9), 0);
	at = strstr(text, "\"level\"");
	assert_string_equal(at,
	    "\"level\":\"warning\",\"program\":\"pro\\\"g\","
	    "\"run\":\"r\\\\1\",\"attempt\":\"2\",\"worker\":\"w1\","
	    "\"call\":\"model-17\","
	    "\"message\":\"say \\\"a\\\\b\\\"\\\\n\\\\xff\"}\n");
	log_ids_set(&old);
	log_info("x");
	take(text, sizeof text);
	assert_non_null(strstr(text, "\"program\":\"pro\\\"g\",\"message\""));
	log_id_number(LOG_ID_CALL, "model-", 0);
	log_id(LOG_ID_WORKER, NULL);
	log_info("x");
	take(text, sizeof text);
	assert_null(strstr(text, "worker"));
	log_init("prog");
	assert_false(log_is_json());
}

/* The longest there can be: all of it is quotes. */
static void
test_json_long(void **state)
{
	char text[64 * 1024], *quotes = xmalloc(20001);
	size_t n;

	(void)state;
	memset(quotes, '"', 20000);
	quotes[20000] = '\0';
	setenv("FORAY_LOG", "json", 1);
	log_init("prog");
	unsetenv("FORAY_LOG");
	for (int i = 0; i < LOG_IDS; i++)
		log_id((enum log_id)i, quotes);
	log_info("%s", quotes);
	n = take(text, sizeof text);
	assert_true(n > 16000);
	assert_string_equal(text + n - 3, "\"}\n");
	for (int i = 0; i < LOG_IDS; i++)
		log_id((enum log_id)i, NULL);
	log_init("prog");
	free(quotes);
}

static void
test_budget(void **state)
{
	struct log_budget b = { 0 };
	char text[16384];
	size_t n;

	(void)state;
	log_budget(&b);
	for (int i = 0; i < 3 * LOG_BUDGET; i++)
		i % 2 ? log_warn("x") : log_info("x");
	n = take(text, sizeof text);
	assert_int_equal(n, LOG_BUDGET * strlen("prog: x\n"));
	assert_int_equal(b.unsaid, 2 * LOG_BUDGET);
	/* What is no answer to the peer is said, and errors are. */
	log_error("y");
	log_budget(NULL);
	log_info("z");
	take(text, sizeof text);
	assert_string_equal(text, "prog: y\nprog: z\n");
	b.since_s -= 10;
	log_budget(&b);
	log_info("x");
	log_budget(NULL);
	take(text, sizeof text);
	assert_string_equal(
	    text, "prog: 200 more lines about the same peer\nprog: x\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_line, setup, teardown),
		cmocka_unit_test_setup_teardown(test_level, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fatal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json, setup, teardown),
		cmocka_unit_test_setup_teardown(
		    test_json_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_budget, setup, teardown),
		cmocka_unit_test(test_alloc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
