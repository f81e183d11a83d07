/* worker/agent: batch_cmd.c, and what batch_lane.c reads. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "tests/unit/test_agent_bed.h"
#include "worker/agent/batch.h"

static int
setup(void **state)
{
	static struct bed b;

	bed_open(&b);
	*state = &b;
	return 0;
}

static int
teardown(void **state)
{
	bed_close(*state);
	return 0;
}

static void
has(const char *s, const char *part)
{
	if (strstr(s, part) == NULL)
		fail_msg("\"%s\" is not in: %s", part, s);
}

/* --- which commands ------------------------------------------------------ */

/* "cwd|env,..|python,..|module or file|name|args,.." of what was read. */
static char *
show(const struct batch_cmd *c)
{
	const struct strv *lists[] = { &c->env, &c->python, &c->args };
	struct buf b[3];
	char *s;

	for (size_t i = 0; i < 3; i++) {
		buf_init(&b[i], BUF_NOMAX);
		for (size_t k = 0; k < lists[i]->n; k++)
			(void)buf_printf(
			    &b[i], "%s%s", k > 0 ? "," : "", lists[i]->v[k]);
	}
	s = xasprintf("%s|%s|%s|%s|%s|%s", c->cwd != NULL ? c->cwd : "",
	    buf_str(&b[0]), buf_str(&b[1]), c->module ? "m" : "f", c->name,
	    buf_str(&b[2]));
	for (size_t i = 0; i < 3; i++)
		buf_clear(&b[i]);
	return s;
}

static void
expect(const char *check, const char *path, const char *want)
{
	struct batch_cmd c;
	char *got;

	if (!batch_cmd_parse(check, path, &c)) {
		if (want != NULL)
			fail_msg("%s: it is not understood", check);
		assert_null(c.name);
		return;
	}
	got = show(&c);
	batch_cmd_clear(&c);
	if (want == NULL)
		fail_msg("%s: it is understood: %s", check, got);
	assert_string_equal(got, want);
	free(got);
}

/* --- when it is worth it -------------------------------------------------- */

/* Small calls of the same check add up; single ones don't. */
static void
test_worth(void **state unused_arg)
{
	static const char check[] = "python3 -m unittest";
	struct agent a = { .cfg.parallel = 1 };

	assert_null(batch_get(&a, check, 1));
	assert_null(batch_get(&a, check, 2));
	assert_null(batch_get(&a, check, 5));
	assert_null(batch_get(&a, "python3 t.py", 5));
	assert_non_null(batch_get(&a, check, 5));
	assert_non_null(batch_get(&a, "python3 -m pytest", 8));
	assert_null(batch_get(&a, "make test", 100));
	batch_free(&a);
}

#define CACHE "-o,cache_dir=/tmp/pytest-cache,--tb=no"

static void
test_commands(void **state)
{
	static const char *const good[][2] = {
		{ "python3 -m unittest", "||python3|m|unittest|" },
		{ "  python -m unittest -q  a.B.c ",
		    "||python|m|unittest|-q,a.B.c" },
		{ "/usr/bin/python3.11 -B -W error -Xdev -m unittest",
		    "||/usr/bin/python3.11,-B,-W,error,-Xdev|m|unittest|" },
		{ "venv/bin/python -m pytest -x",
		    "||venv/bin/python|m|pytest|" CACHE ",-x" },
		{ "A=1 PYTHONPATH=src:lib python3 -m unittest discover -s 'a b'",
		    "|A=1,PYTHONPATH=src:lib|python3|m|unittest|discover,-s,a b" },
		{ "cd sub/deep && python3 -m unittest",
		    "sub/deep||python3|m|unittest|" },
		{ "cd 'a b' && X=\"y z\" python3 t.py -v 2>&1",
		    "a b|X=y z|python3|f|t.py|-v" },
		{ "python3 -m pytest -k \"a or b\" t.py::T::x",
		    "||python3|m|pytest|" CACHE ",-k,a or b,t.py::T::x" },
		{ "python3 tests/run.py ''", "||python3|f|tests/run.py|" },
	};
	static const char *const bad[] = { "", "   ", "python3", "python3 -m",
		"python3 -", "python3 -c 'x'", "python3 -i t.py",
		"python3 -I -m unittest", "python3 -m tox", "python3 t",
		"python3 -m unittest; true", "python3 -m unittest && true",
		"python3 -m unittest | cat", "python3 -m unittest > x",
		"python3 -m unittest 2>&1 | cat", "python3 -m unittest 2>x",
		"python3 -m unittest $X", "python3 -m unittest \"$X\"",
		"python3 -m unittest `x`", "python3 -m unittest *.py",
		"python3 -m unittest ~/x", "python3 -m unittest 'x",
		"python3 -m unittest \"a\\b\"", "python3 -m unittest a\\ b",
		"python3 -m unittest #x", "python3 -m unittest &",
		"python3 -m unittest\ntrue", "(python3 -m unittest)",
		"! python3 -m unittest", "PATH=/x python3 -m unittest",
		"HOME=/x python3 -m unittest",
		"LD_PRELOAD=x python3 -m unittest", "1A=x python3 -m unittest",
		"A=x", "cd && python3 -m unittest",
		"cd - && python3 -m unittest", "cd $X && python3 -m unittest",
		"cd a; python3 -m unittest", "cd a b && python3 -m unittest",
		"cd a && cd b && python3 -m unittest", "make test",
		"pythonx -m unittest", "python3 -m pytest --lf",
		"python3 -m pytest --stepwise",
		"python3 -m pytest -o cache_dir=x",
		"python3 -m pytest --cache-clear" };

	(void)state;
	for (size_t i = 0; i < nitems(good); i++)
		expect(good[i][0], NULL, good[i][1]);
	for (size_t i = 0; i < nitems(bad); i++)
		expect(bad[i], "/usr/bin:/bin", NULL);
}

/* Words are bounded; the rest of it is no shorter command. */
static void
test_long_commands(void **state)
{
	struct batch_cmd c;
	struct buf b;

	(void)state;
	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&b, "python3 -m unittest");
	for (int i = 0; i < 150; i++)
		(void)buf_adds(&b, " a");
	assert_true(batch_cmd_parse(buf_str(&b), NULL, &c));
	assert_int_equal(c.args.n, 150);
	batch_cmd_clear(&c);
	for (int i = 0; i < 150; i++)
		(void)buf_adds(&b, " a");
	assert_false(batch_cmd_parse(buf_str(&b), NULL, &c));
	buf_clear(&b);
}

/* The interpreter that a script names is the one that is meant. */
static void
test_scripts(void **state)
{
	static const struct {
		const char *text, *python;
	} t[] = {
		{ "#!/usr/bin/python3\nimport x\n", "/usr/bin/python3" },
		{ "#! /opt/v/bin/python\n", "/opt/v/bin/python" },
		{ "#!/usr/bin/env python3\n", "python3" },
		{ "#!/usr/bin/python3 -I\n", NULL },
		{ "#!/usr/bin/env -S python3 -I\n", NULL },
		{ "#!/bin/sh\nexec python3\n", NULL },
		{ "#!python3\n", NULL },
		{ "#!/usr/bin/python3", NULL },
		{ "import x\n", NULL },
		{ "", NULL },
	};
	char dir[] = "/tmp/foray-unit-XXXXXX", *file, *want;

	(void)state;
	assert_non_null(mkdtemp(dir));
	file = path_join(dir, "pytest");
	for (size_t i = 0; i < nitems(t); i++) {
		assert_int_equal(
		    file_write(file, t[i].text, strlen(t[i].text), 0755, NULL),
		    0);
		want = t[i].python == NULL
		    ? NULL
		    : xasprintf("||%s|f|%s|" CACHE ",-q", t[i].python, file);
		expect("pytest -q", dir, want);
		free(want);
	}
	expect("pytest", "/nonexistent", NULL);
	expect("pytest", NULL, NULL);
	free(file);
	assert_int_equal(path_rmtree(dir, NULL), 0);
}

/* --- answers ------------------------------------------------------------- */

static int
parse(const char *s, size_t len, struct lane_answer *a)
{
	*a = (struct lane_answer){ 0 };
	buf_init(&a->out, LANE_KEEP_MAX);
	buf_init(&a->modules, LANE_KEEP_MAX);
	return lane_parse(s, len, 7, a);
}

static void
test_answers(void **state)
{
	static const char whole[] = "7 t 137 12345 1 3 2\nabcde";
	static const char *const bad[] = { "\n", "x\n", "8 e 0 0 0 0 0\n",
		"7 q 0 0 0 0 0\n", "7 e 256 0 0 0 0\n", "7 e -1 0 0 0 0\n",
		"7 e 0 0 2 0 0\n", "7 e 0 0 0 262145 0\n",
		"7 e 0 0 0 0 262145\n", "7 e 0 0 0 0\n", "7 e 0 0 0 0 0 \n",
		"7 e 0 0 0 0 0 0\n", "7  e 0 0 0 0 0\n", "7 e 0 0 0 0 0\nx",
		"7 e 0 99999999999999999999999 0 0 0\n", "7 e\n",
		"99999999999999999999 e 0 0 0 0 0\n", "7e 0 0 0 0 0\n",
		"7 e 0 0 0 1 0\nab" };
	struct lane_answer a;
	char *copy;

	(void)state;
	for (size_t n = 0; n < strlen(whole); n++) {
		/* A copy, so that a sanitizer sees a byte too many. */
		copy = xmalloc(n + 1);
		memcpy(copy, whole, n);
		assert_int_equal(parse(copy, n, &a), 0);
		lane_answer_clear(&a);
		free(copy);
	}
	assert_int_equal(parse(whole, strlen(whole), &a), 1);
	assert_int_equal(a.how, LANE_TIMED_OUT);
	assert_int_equal(a.status, 137);
	assert_int_equal(a.total, 12345);
	assert_true(a.dirty);
	assert_string_equal(buf_str(&a.out), "abc");
	assert_string_equal(buf_str(&a.modules), "de");
	lane_answer_clear(&a);
	for (size_t i = 0; i < nitems(bad); i++) {
		if (parse(bad[i], strlen(bad[i]), &a) >= 0)
			fail_msg("taken for an answer: %s", bad[i]);
		lane_answer_clear(&a);
	}
	copy = xmalloc(LANE_HEAD_MAX);
	memset(copy, '7', LANE_HEAD_MAX);
	assert_true(parse(copy, LANE_HEAD_MAX, &a) < 0);
	lane_answer_clear(&a);
	free(copy);
}

/* --- several calls ------------------------------------------------------- */

#define MARK \
	"import os; os._exit(41 if os.path.isdir('/run/foray-batch') else 42)"
#define OLD "def f():"

/* n candidates that change nothing, then one that says where it ran, and one
 * that is told. */
static void
call_try(struct bed *b, int n, const char *old_text, const char *new_text)
{
	json_t *edits = json_array(), *args;
	char *text;

	for (int i = 0; i < n + 2; i++) {
		const char *old = i <= n ? OLD : old_text;

		text = i < n ? xasprintf("\n" OLD "  # %d", i)
		    : i == n ? xstrdup(MARK "\n" OLD)
			     : xstrdup(new_text);
		json_array_append_new(edits,
		    json_pack("{s:[{s:s, s:s, s:s}]}", "changes", "path",
			"m.py", "old", old, "new", text));
		free(text);
	}
	args = json_pack("{s:s, s:i, s:o}", "check", "python3 -m unittest",
	    "timeout_s", 60, "edits", edits);
	assert_non_null(args);
	text = json_text(args);
	bed_call(b, "try_edits", text);
	free(text);
	json_decref(args);
}

/* Lanes last from call to call, but never see an older tree than they may. */
static void
test_calls(void **state)
{
	struct bed *b = *state;

	bed_need_sandbox();
	if (system("python3 -c 'import unittest' 2>/dev/null") != 0) {
		print_message("skipped: no python3\n");
		skip();
	}
	bed_text(b, "m.py", "X = 1\n\n\n" OLD "\n    return X + 1\n");
	bed_text(b, "test_m.py",
	    "import unittest, m\n\n\nclass T(unittest.TestCase):\n"
	    "    def test_f(self):\n        self.assertEqual(m.f(), 10)\n");
	call_try(b, 100, "X + 1", "X + 9");
	/* Too few for lanes to be started, but there are some. */
	call_try(b, 0, "X + 1", "X + 8");
	bed_call(b, "edit_file",
	    "{\"path\":\"m.py\",\"old\":\"X = 1\",\"new\":\"X = 4\"}");
	call_try(b, 0, "X + 1", "X + 6");
	call_try(b, 10, "X + 1", "X + 6");
	bed_call(b, "run_command",
	    "{\"command\":\"echo 'import os; os._exit(9)' >test_m.py\"}");
	call_try(b, 10, "X + 1", "X + 6");
	bed_finish(b, "done");
	bed_run(b);
	has(b->results.v[0], "exit 41");
	has(b->results.v[0], "\"passed\":[102]");
	has(b->results.v[1], "exit 41");
	has(b->results.v[1], "\"passed\":[]");
	has(b->results.v[3], "exit 42");
	has(b->results.v[3], "\"passed\":[2]");
	has(b->results.v[4], "exit 41");
	has(b->results.v[4], "\"passed\":[12]");
	assert_null(strstr(b->results.v[6], "exit 4"));
	has(b->results.v[6], "exit 9");
	bed_expect(b, "m.py", "X = 4\n\n\n" OLD "\n    return X + 1\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_long_commands),
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_worth),
		cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
