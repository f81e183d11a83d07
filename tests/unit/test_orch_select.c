/* Pure parts of the orchestrator: selection, ledger, detection of tests. */
#include "common/compat.h"

#include <errno.h>
#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/gateway/ledger.h"
#include "orchestrator/run/checkers.h"
#include "orchestrator/run/detect.h"
#include "orchestrator/verify/select.h"

static void
test_select(void **state unused_arg)
{
	static const char one[] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
	static const char two[] =
	    "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n-c\n+b\n+d\n";
	static const char wide[] = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+bbb\n";

	/* It changes less of a longer line. */
	static const char less[] = "--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@ f\n z\n"
				   "-if (count < limit)\n"
				   "+if (count > limit)\n";
	static const char more[] = "--- a/x\n+++ b/x\n@@ -9 +9 @@\n"
				   "-if (!a)\n+if (b || a)\n";
	/* A comment of SQL, and a line that begins with "++ ". */
	static const char odd[] = "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n"
				  "--- y\n-z\n+++ y\n\\ No newline at end\n";
	size_t bytes;

	assert_int_equal(select_changed_lines(one, sizeof one - 1, NULL), 2);
	assert_int_equal(
	    select_changed_lines(less, sizeof less - 1, &bytes), 2);
	assert_int_equal(bytes, 2);
	assert_int_equal(
	    select_changed_lines(more, sizeof more - 1, &bytes), 2);
	assert_int_equal(bytes, strlen("!") + strlen("b || "));
	assert_true(
	    select_better(less, sizeof less - 1, 2, more, sizeof more - 1, 1));
	assert_int_equal(select_changed_lines(odd, sizeof odd - 1, &bytes), 3);
	assert_int_equal(select_changed_lines("@@ -\n", 5, &bytes), 0);
	assert_int_equal(
	    select_changed_lines("@@ -1 +1 @@\n-a", 14, &bytes), 1);
	assert_int_equal(bytes, 1);
	assert_true(
	    select_better(one, sizeof one - 1, 9, two, sizeof two - 1, 1));
	assert_true(
	    select_better(one, sizeof one - 1, 9, wide, sizeof wide - 1, 1));
	assert_true(
	    select_better(one, sizeof one - 1, 1, one, sizeof one - 1, 2));
	assert_false(
	    select_better(one, sizeof one - 1, 2, one, sizeof one - 1, 2));
}

static void
test_ledger_calls(void **state unused_arg)
{
	struct ledger l = { .max_calls = 2 };
	struct amount a = { 0 };
	struct spend s = { .calls = 1, .in_tokens = 10, .out_tokens = 5 };
	struct err e = { 0 };

	assert_int_equal(ledger_reserve(&l, &a, &e), 0);
	assert_int_equal(ledger_reserve(&l, &a, &e), 0);
	/* Both may yet come to nothing. */
	assert_int_equal(ledger_reserve(&l, &a, &e), -EAGAIN);
	assert_false(l.out);
	ledger_release(&l, &a);
	assert_int_equal(ledger_reserve(&l, &a, &e), 0);
	ledger_settle(&l, &a, &s);
	ledger_settle(&l, &a, &s);
	assert_int_equal(l.spent.calls, 2);
	assert_int_equal(l.spent.in_tokens, 20);
	assert_int_equal(l.reserved_calls, 0);
	assert_int_equal(ledger_reserve(&l, &a, &e), ERR_BUDGET);
	assert_true(l.out);
}

/* The last one may pass the limit, but no two at once. */
static void
test_ledger_money(void **state unused_arg)
{
	struct ledger l = { .max_micro = 100 };
	struct amount a = { .micro = 60, .in_tokens = 7, .out_tokens = 1 };
	struct spend s = { .calls = 1, .micro = 50 };
	struct err e = { 0 };

	assert_int_equal(ledger_reserve(&l, &a, &e), 0);
	assert_int_equal(ledger_reserve(&l, &a, &e), -EAGAIN);
	ledger_settle(&l, &a, &s);
	assert_int_equal(l.reserved.in_tokens + l.reserved.out_tokens, 0);
	/* 50 are left, 60 are asked for, nobody else has any. */
	assert_int_equal(ledger_reserve(&l, &a, &e), 0);
	assert_int_equal(ledger_reserve(&l, &a, &e), -EAGAIN);
	s.micro = 60;
	ledger_settle(&l, &a, &s);
	assert_int_equal(ledger_reserve(&l, &a, &e), ERR_BUDGET);
	assert_non_null(strstr(e.text, "$0.00"));
}

static void
test_ledger_levels(void **state unused_arg)
{
	struct ledger run = { .max_tokens = 100 };
	struct ledger one = { .parent = &run, .max_tokens = 50 };
	struct ledger two = { .parent = &run };
	struct amount a = { .in_tokens = 30, .out_tokens = 10 };
	struct spend s = { .calls = 1, .in_tokens = 30, .out_tokens = 10 };
	struct err e = { 0 };

	assert_int_equal(ledger_reserve(&one, &a, &e), 0);
	assert_int_equal(ledger_reserve(&two, &a, &e), 0);
	assert_int_equal(run.reserved.in_tokens, 60);
	/* What is refused above is reserved nowhere. */
	assert_int_equal(ledger_reserve(&two, &a, &e), -EAGAIN);
	assert_int_equal(two.reserved_calls, 1);
	assert_int_equal(run.reserved_calls, 2);
	ledger_settle(&one, &a, &s);
	ledger_settle(&two, &a, &s);
	assert_int_equal(run.spent.in_tokens, 60);
	assert_int_equal(ledger_reserve(&one, &a, &e), 0); /* the last of 50 */
	ledger_settle(&one, &a, &s);
	assert_int_equal(ledger_reserve(&one, &a, &e), ERR_BUDGET);
	assert_true(one.out);
	assert_int_equal(ledger_reserve(&two, &a, &e), ERR_BUDGET);
	assert_true(run.out);
}

static char dir[] = "/tmp/foray-test-detect-XXXXXX";

static void
put(const char *name, const char *text, struct strv *files)
{
	char *path = path_join(dir, name), *up = path_dir(path);

	assert_int_equal(path_mkdirs(up, 0755, NULL), 0);
	assert_int_equal(file_write(path, text, strlen(text), 0644, NULL), 0);
	strv_add(files, name);
	free(path);
	free(up);
}

/* pairs: name, text, ..., NULL. */
static void
detects(const char *want, const char *const *pairs)
{
	struct strv files = { 0 }, got = { 0 };
	const char *why;
	struct err e = { 0 };
	int r;

	memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	for (; *pairs != NULL; pairs += 2)
		put(pairs[0], pairs[1], &files);
	strv_sort(&files);
	r = detect_tests(dir, dir, &files, &got, &why, &e);
	if (want == NULL) {
		assert_int_equal(r, ERR_NOTFOUND);
	} else {
		assert_int_equal(r, 0);
		assert_string_equal(got.v[0], want);
	}
	strv_clear(&files);
	strv_clear(&got);
	assert_int_equal(path_rmtree(dir, NULL), 0);
}

#define D(want, ...) detects(want, (const char *const[]){ __VA_ARGS__, NULL })

static void
test_detect(void **state unused_arg)
{
	D(NULL, "README", "x");
	D("python3 -m pytest -v", "conftest.py", "", "test_a.py", "");
	D("python3 -m pytest -v", "pyproject.toml", "[tool.pytest]",
	    "tests/test_a.py", "");
	D(".venv/bin/python -m pytest -v", ".venv/bin/python", "", "pytest.ini",
	    "", "test_a.py", "");
	D("python3 -m unittest discover -v -s tests", "tests/test_a.py",
	    "import unittest\n");
	D("python3 -m pytest -v", "tests/test_a.py", "\ndef test_x():\n");
	D("python3 -m pytest -v", "tests/__init__.py", "", "tests/test_a.py",
	    "import pytest\n");
	D("python3 -m unittest discover -v", "tests/__init__.py", "",
	    "tests/test_a.py", "");
	D("make test", "Makefile", "all:\n\ntest : all\n\techo\n");
	D("make check", "Makefile", "test := 3\ncheck:\n\techo\n");
	D("npm test --silent", "package.json",
	    "{\"scripts\":{\"test\":\"node --test\"}}");
	D(NULL, "package.json",
	    "{\"scripts\":{\"test\":\"echo \\\"Error: no test "
	    "specified\\\" && exit 1\"}}");
	D(NULL, "package.json", "{{{");
	/* Somebody else's tests do not count. */
	D(NULL, "node_modules/x/test_a.py", "");
}

/* What is protected besides what the command names; want: "a b ", in order. */
static void
checkers_of(const struct strv *all, const char *command, const char *want)
{
	struct strv commands = { 0 };
	struct buf got;
	size_t i;

	buf_init(&got, 512);
	strv_add(&commands, command);
	checkers_find(dir, all, &commands);
	assert_string_equal(commands.v[0], command);
	for (i = 1; i < commands.n; i++) {
		assert_true(text_starts(commands.v[i], "sh "));
		(void)buf_printf(&got, "%s ", commands.v[i] + 3);
	}
	assert_string_equal(buf_str(&got), want);
	buf_clear(&got);
	strv_clear(&commands);
}

/* What decides how tests run, whoever names it. */
static void
test_checkers(void **state unused_arg)
{
	static const char *const scripts[] = { "verify.py", "x/y.sh",
		"build.py", "build.js", "tool.py", "run.js", "more.js",
		"cli.js", "all.py" };
	struct strv files = { 0 };
	size_t i;

	memcpy(dir + sizeof dir - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	for (i = 0; i < nitems(scripts); i++)
		put(scripts[i], "", &files);
	put("Makefile",
	    "OBJS = t.o rb.o\nPROGS := one \\\n two\nrun ?= ./$(PROGS)\n"
	    "all:\n\tpython3 build.py\ncheck: all\n\t@python3 -B verify.py\n"
	    "\tcc -o t src.c\n\tpython3 -m unittest\n\n\tsh x/y.sh z\n"
	    ".PHONY: both said\nboth: said rb.o\n\t@echo done\n"
	    "said: t\n\t./$<\nt: $(OBJS)\n\t$(CC) -o $@ $^\n"
	    "sum: main.o rb.o\n\tcc -o sum main.o rb.o\n"
	    "alias: sums\nsums: sum\n\t./sum -v >/dev/null 2>&1\n"
	    "each:\n\tfor p in $(PROGS); do ./$$p || exit 1; done\n"
	    "judged: t\n\t./t <in | diff - out\n\t./t >got\n\t./t --self\n"
	    "\tpython3 tool.py in | cmp - out\n"
	    "below:\n\t$(MAKE) -C sub\ninto:\n\tcd sub && ./u\n"
	    "round: round\nloop: $(LOOP)\n\t$(LOOP)\nLOOP = $(LOOP) $(LOOP)\n",
	    &files);
	put("sub/Makefile", "all: u\n\t./u\n", &files);
	put("sub/u.cc", "#include \"u.h\"\n", &files);
	put("t.c", "#include \"rb.h\"\nint main(void) {}\n", &files);
	put("rb.c", "#include \"rb.h\"\n", &files);
	put("main.c", "#include \"rb.h\"\nint main(void) {}\n", &files);
	put("one.c", "#include \"rb.h\"\n", &files);
	put("two.c", "#include <stdio.h>\n", &files);
	put("package.json",
	    "{\"scripts\":{\"test\":\"X=1 node run.js && npm run more\","
	    "\"built\":\"node build.js && node more.js\","
	    "\"more\":\"node --trace more.js; node cli.js in | diff - out\"}}",
	    &files);
	put("go.sh",
	    "#!/bin/sh -e\n# sh never.sh\npython3 tool.py; ./tool\n"
	    "cd sub\npython3 ../all.py \"$@\" && exec sh ./go.sh\n\n",
	    &files);
	put("sub/go.sh", "sh ../go.sh\n", &files);
	checkers_of(&files, "make -s check", "verify.py ");
	checkers_of(&files, "make said", "t.c ");
	checkers_of(&files, "make both CC=gcc", "t.c ");
	checkers_of(&files, "make alias", "main.c ");
	checkers_of(&files, "make each", "one.c ");
	checkers_of(&files, "make judged", "");
	checkers_of(&files, "make below", "sub/u.cc ");
	checkers_of(&files, "make into", "sub/u.cc ");
	checkers_of(&files, "make", "");
	checkers_of(&files, "npm run built", "more.js ");
	checkers_of(&files, "make round", "");
	checkers_of(&files, "make loop", "");
	checkers_of(&files, "make nosuch", "");
	checkers_of(&files, "make t && ./t", "t.c ");
	checkers_of(&files, "npm test", "run.js more.js ");
	checkers_of(&files, "timeout 9 sh go.sh", "go.sh all.py sub/go.sh ");
	checkers_of(&files, "bash -c './go.sh'", "go.sh all.py sub/go.sh ");
	put("t.sh", "python3 tool.py a\npython3 tool.py b\n", &files);
	checkers_of(&files, "sh t.sh", "t.sh ");
	put("t.sh", "python3 tool.py\n[ $? = 1 ] || exit 1\n", &files);
	checkers_of(&files, "sh t.sh", "t.sh ");
	checkers_of(&files, "sh ../go.sh; /bin/go.sh; python3 no.py", "");
	strv_clear(&files);
	assert_int_equal(path_rmtree(dir, NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_ledger_calls),
		cmocka_unit_test(test_ledger_money),
		cmocka_unit_test(test_ledger_levels),
		cmocka_unit_test(test_detect),
		cmocka_unit_test(test_checkers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
