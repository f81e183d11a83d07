/* What a person reads of a run: view/plain. */
#include "common/compat.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "orchestrator/view/plain.h"

static FILE *out;
static char *text;
static size_t len;

static struct plain *
begin(void)
{
	out = open_memstream(&text, &len);
	assert_non_null(out);
	return plain_create(out);
}

static void
end(struct plain *p)
{
	plain_free(p);
	assert_int_equal(fclose(out), 0);
	free(text);
	text = NULL;
}

static void
event(struct plain *p, const char *name, double t, const char *fields)
{
	json_t *ev = NULL;
	struct err e;

	assert_int_equal(json_parse(fields, strlen(fields), 4096, &ev, &e), 0);
	(void)json_object_set_new(ev, "t", json_real(t));
	plain_event(p, name, ev);
	json_decref(ev);
}

static size_t
lines(void)
{
	size_t n = 0;

	(void)fflush(out);
	for (const char *s = text; s != NULL && (s = strchr(s, '\n')); s++)
		n++;
	return n;
}

/* The tests as they are take long: it is said that they run, and now and then
 * that they still do; when they are done no more. */
static void
test_goes_on(void **state unused_arg)
{
	struct plain *p = begin();
	double t;

	event(p, "assigned", 1,
	    "{\"worker\":\"w1\",\"kind\":\"baseline\",\"label\":\"\"}");
	assert_int_equal(lines(), 1);
	assert_non_null(strstr(text, "w1        runs the tests as they are\n"));
	for (t = 2; t < 11; t++)
		plain_tick(p, t);
	assert_int_equal(lines(), 1);
	plain_tick(p, 11);
	assert_int_equal(lines(), 2);
	assert_non_null(strstr(text, "as they are, for 10 s\n"));
	for (t = 12; t < 1011; t++)
		plain_tick(p, t);
	assert_in_range(lines(), 30, 40);
	event(p, "baseline", 1011,
	    "{\"passed\":1,\"failed\":1,\"test_ms\":500000}");
	len = lines();
	for (t = 1012; t < 1100; t++)
		plain_tick(p, t);
	assert_int_equal(lines(), len);
	end(p);
}

static void
test_snapshot(void **state unused_arg)
{
	struct plain *p = begin();
	double t;

	for (t = 0; t < 100; t += 0.1)
		plain_snapshot(p, t, 256 + (uint64_t)(t * 10),
		    t < 50 ? 0 : (uint64_t)t << 20);
	assert_in_range(lines(), 3, 5);
	assert_non_null(strstr(text, " files found so far\n"));
	assert_non_null(strstr(text, " files, 70 MiB taken so far\n"));
	assert_null(strchr(text, '\r'));
	end(p);
}

static void
test_words(void **state unused_arg)
{
	struct plain *p = begin();

	event(p, "worker_gone", 1,
	    "{\"worker\":\"w5\",\"reason\":\"host lost\",\"detail\":"
	    "\"its connection was cut\"}");
	event(p, "worker_gone", 2,
	    "{\"worker\":\"w6\",\"reason\":\"killed\",\"detail\":\"\"}");
	event(p, "run_finished", 3,
	    "{\"status\":\"interrupted\",\"reason\":\"interrupted\"}");
	(void)fflush(out);
	assert_non_null(
	    strstr(text, "gone: host lost: its connection was cut\n"));
	assert_non_null(strstr(text, "gone: killed\n"));
	assert_non_null(strstr(text, "interrupted by a signal\n"));
	end(p);
}

/* What comes out of the other end, until want is in it. */
static void
read_until(int fd, char *ret, size_t size, const char *want)
{
	size_t have = 0;
	ssize_t n;

	ret[0] = '\0';
	while (strstr(ret, want) == NULL) {
		n = read(fd, ret + have, size - 1 - have);
		if (n <= 0)
			fail_msg("no \"%s\" in: %s", want, ret);
		have += (size_t)n;
		ret[have] = '\0';
	}
}

/* A terminal's lines end between words, and below each other; the status line
 * says nothing of 0 steps of 0. */
static void
test_terminal(void **state unused_arg)
{
	struct winsize w = { .ws_row = 24, .ws_col = 80 };
	char got[8192], *s;
	struct plain *p;
	int master, slave;
	size_t n;
	FILE *f;

	assert_int_equal(setenv("TERM", "xterm", 1), 0);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, &w), 0);
	f = fdopen(slave, "w");
	assert_non_null(f);
	p = plain_create(f);
	event(p, "planned", 1,
	    "{\"hypotheses\":[{\"id\":\"H1\",\"hypothesis\":\"The bug is in "
	    "the function that counts how many pages there are, where it "
	    "divides, or in the one that calls it (src/page.js:17-29): both "
	    "are in the traceback\"}]}");
	read_until(master, got, sizeof got, "traceback\r\n");
	assert_non_null(strstr(got, "\n                    "));
	for (s = got; *s != '\0'; s += n + strspn(s + n, "\r\n")) {
		n = strcspn(s, "\r\n");
		if (n > 80 || (n > 0 && s[n - 1] == ' '))
			fail_msg("a line of %zu: %.*s", n, (int)n, s);
	}
	event(p, "assigned", 2,
	    "{\"worker\":\"w1\",\"kind\":\"baseline\",\"label\":\"\"}");
	read_until(master, got, sizeof got, "as they are\r\n");
	event(p, "progress", 3,
	    "{\"worker\":\"w1\",\"what\":\"test\",\"done\":0,\"total\":0}");
	plain_tick(p, 4);
	read_until(
	    master, got, sizeof got, "w1 runs the tests as they are, for 2 s");
	assert_null(strstr(got, "0/0"));
	plain_free(p);
	(void)fclose(f);
	(void)close(master);
}

/* What a test wrote is one line as it was one; where no line can be rewritten
 * none is, and no escape is sent. */
static void
test_dumb(void **state unused_arg)
{
	static const char *const kinds[] = { "dumb", "" };
	struct winsize w = { .ws_row = 24, .ws_col = 40 };
	const char *traced = "| File \"a/directory/with/a/long/name/file.py\", "
			     "line 7, in a_function_of_it\r\n";
	char got[8192];
	struct plain *p;
	int master, slave;
	FILE *f;

	for (size_t i = 0; i < nitems(kinds); i++) {
		assert_int_equal(setenv("TERM", kinds[i], 1), 0);
		assert_int_equal(openpty(&master, &slave, NULL, NULL, &w), 0);
		f = fdopen(slave, "w");
		assert_non_null(f);
		p = plain_create(f);
		event(p, "assigned", 2,
		    "{\"worker\":\"w1\",\"kind\":\"baseline\",\"label\":"
		    "\"\"}");
		plain_tick(p, 4);
		plain_tick(p, 30);
		event(p, "baseline", 31,
		    "{\"output\":\"File \\\"a/directory/with/a/long/name/"
		    "file.py\\\", line 7, in a_function_of_it\\n\"}");
		(void)fflush(f);
		read_until(master, got, sizeof got, "a_function_of_it\r\n");
		assert_non_null(strstr(got, "for 28 s\r\n"));
		assert_non_null(strstr(got, traced));
		assert_null(strchr(got, '\033'));
		plain_free(p);
		(void)fclose(f);
		(void)close(master);
	}
}

/* How to go on: where it helps, with the run's name; and what else to do. */
static void
test_next(void **state unused_arg)
{
	static const struct {
		const char *status, *exit, *says;
		bool resume, resumed;
	} rows[] = {
		{ "error", "2", "`foray run` with another -t (-k)", false,
		    false },
		{ "error", "2", "`foray resume R-1` carries on", true, true },
		{ "error", "5", "`foray resume R-1` carries on", true, false },
		{ "budget", "3", "`foray resume R-1` carries on", true, false },
		{ "unfixed", "1", "`foray show R-1`", false, false },
	};

	for (size_t i = 0; i < nitems(rows); i++) {
		struct plain *p = begin();
		char *ev = xasprintf("{\"run\":\"R-1\",\"status\":\"%s\","
				     "\"exit\":%s,\"reason\":\"it is so\"}",
		    rows[i].status, rows[i].exit);

		event(p, "run_started", 1,
		    rows[i].resumed ? "{\"run\":\"R-1\",\"resumed\":true}"
				    : "{\"run\":\"R-1\"}");
		event(p, "assigned", 1,
		    "{\"worker\":\"w1\",\"kind\":\"baseline\",\"label\":\"\"}");
		event(p, "host_up", 1, "{\"host\":\"local\"}");
		event(p, "run_finished", 2, ev);
		(void)fflush(out);
		assert_non_null(strstr(text, rows[i].says));
		assert_int_equal(
		    strstr(text, "foray resume") != NULL, rows[i].resume);
		free(ev);
		end(p);
	}
}

/* One is no plural. */
static void
test_one_edit(void **state unused_arg)
{
	struct plain *p = begin();

	event(p, "summary", 1,
	    "{\"worker\":\"w1\",\"kind\":\"explore\",\"label\":\"H1\","
	    "\"verdict\":\"fixed\",\"tried\":1}");
	(void)fflush(out);
	assert_non_null(strstr(text, "(1 edit tried)"));
	end(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_one_edit),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_dumb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
