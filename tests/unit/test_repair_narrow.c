/* From test commands and the names of failing tests, which are hostile, to
 * commands that run less; and the shell's own word on what they say. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/strv.h"
#include "orchestrator/repair/narrow.h"
#include "sandbox/policy/shell.h"

#define NONE "(none)"

/* names: joined by newlines; output may be NULL. */
static void
expect_with(const char *command, const char *names, const char *output,
    const char *tests, const char *files)
{
	struct strv v = { 0 };
	char *got;

	for (const char *p = names; *p != '\0'; p += *p == '\n') {
		size_t n = strcspn(p, "\n");

		strv_addn(&v, p, n);
		p += n;
	}
	got = narrow_tests(command, &v, output != NULL ? output : "");
	assert_string_equal(got != NULL ? got : NONE, tests);
	free(got);
	got = narrow_files(command, &v, output != NULL ? output : "");
	assert_string_equal(got != NULL ? got : NONE, files);
	free(got);
	strv_clear(&v);
}

static void
expect(const char *command, const char *names, const char *tests,
    const char *files)
{
	expect_with(command, names, NULL, tests, files);
}

static void
nothing(const char *command, const char *names)
{
	expect_with(command, names, NULL, NONE, NONE);
}

/* --- one runner after the other ------------------------------------------- */

static void
test_pytest(void **state)
{
	(void)state;
	expect("python3 -m pytest -q tests/", "tests/test_a.py::T::test_x",
	    "python3 -m pytest -q tests/test_a.py::T::test_x",
	    "python3 -m pytest -q tests/test_a.py");
	expect("pytest", "test_a.py::test_x\ntest_b.py::test_y",
	    "pytest test_a.py::test_x test_b.py::test_y",
	    "pytest test_a.py test_b.py");
	/* what it ran before goes, options stay */
	expect(".venv/bin/python -B -W error -m pytest -v -k 'not slow' "
	       "--tb=short --maxfail 3 -p no:cacheprovider a.py b.py::test_z",
	    "a.py::test_x",
	    ".venv/bin/python -B -W error -m pytest -v -k 'not slow' "
	    "--tb=short --maxfail 3 -p no:cacheprovider a.py::test_x",
	    ".venv/bin/python -B -W error -m pytest -v -k 'not slow' "
	    "--tb=short --maxfail 3 -p no:cacheprovider a.py");
	/* parameters: blanks, brackets, quotes; a lost end means all of them */
	expect("pytest -x", "a.py::test_p[a - b]\na.py::test_p[it's [1]]",
	    "pytest -x 'a.py::test_p[a - b]' 'a.py::test_p[it'\\''s [1]]'",
	    "pytest -x a.py");
	expect("pytest", "a.py::test_p[a - ", "pytest a.py::test_p",
	    "pytest a.py");
	expect("pytest", "a.py::test_p[x::y]", "pytest 'a.py::test_p[x::y]'",
	    "pytest a.py");
	/* a file that can't be collected, and names twice */
	expect("pytest .", "tests/test_a.py\ntests/test_a.py",
	    "pytest tests/test_a.py", "pytest tests/test_a.py");
	/* neither an option nor a file of arguments */
	expect("pytest", "-x.py::test_a\n@y.py::test_b",
	    "pytest ./-x.py::test_a ./@y.py::test_b", "pytest ./-x.py ./@y.py");
	expect("pytest --cov --tb=no", "a.py::t",
	    "pytest --cov --tb=no a.py::t", "pytest --cov --tb=no a.py");
	/* is "src" what is measured, or what is run? */
	nothing("pytest --cov src", "a.py::t");
	nothing("pytest --cov-rep xml", "a.py::t"); /* abbreviated */
	nothing("pytest --some-plugin value", "a.py::t");
	nothing("pytest --cov-fail-under=90", "a.py::t");
	nothing("pytest -Z x", "a.py::t");
	nothing("pytest --lf", "a.py::t");
	nothing("pytest", "test_x (test_a.T.test_x)");
	nothing("pytest", "");
	/* it runs no more than that as it is */
	nothing("pytest a.py", "a.py");
	expect("pytest a.py", "a.py::t", "pytest a.py::t", NONE);
}

static void
test_unittest(void **state)
{
	(void)state;
	expect("python3 -m unittest -v tests.test_x",
	    "tests.test_x.T.test_a\ntests.test_x.T.test_b (i=1)",
	    "python3 -m unittest -v tests.test_x.T.test_a "
	    "tests.test_x.T.test_b",
	    NONE);
	expect("python3 -m unittest", "tests.test_x.T.test_a [say 'x'] (i=1)",
	    "python3 -m unittest tests.test_x.T.test_a",
	    "python3 -m unittest tests.test_x");
	expect("python3 -m unittest discover -v -s tests", "test_x.T.test_a",
	    "python3 -m unittest discover -p test_x.py -k test_x.T.test_a -v "
	    "-s tests",
	    "python3 -m unittest discover -p test_x.py -k test_x. -v -s tests");
	/* of two files all are loaded */
	expect("python3 -m unittest discover -p 'test*.py' -k x tests",
	    "test_x.T.test_a\npkg.test_y.U.test_b",
	    "python3 -m unittest discover -k test_x.T.test_a -k "
	    "pkg.test_y.U.test_b tests",
	    "python3 -m unittest discover -k test_x. -k pkg.test_y. tests");
	/* its second operand is the pattern */
	expect("python3 -m unittest discover tests 'check_*.py'",
	    "check_x.T.test_a",
	    "python3 -m unittest discover -k check_x.T.test_a tests "
	    "'check_*.py'",
	    "python3 -m unittest discover -k check_x. tests 'check_*.py'");
	/* fixtures and imports that failed */
	expect("python3 -m unittest", "a.T.setUpClass\nb.setUpModule",
	    "python3 -m unittest a.T b", NONE);
	expect("python3 -m unittest discover -s t",
	    "unittest.loader._FailedTest.test_x",
	    "python3 -m unittest discover -p test_x.py -k test_x -s t",
	    "python3 -m unittest discover -p test_x.py -k test_x. -s t");
	expect("python3 tests/test_x.py -v T", "__main__.T.test_a",
	    "python3 tests/test_x.py -v T.test_a", NONE);
	nothing("python3 run_all.py --fast x", "__main__.T.test_a");
	nothing("python3 run_all.py", "mod.T.test_a");
	nothing("python3 -m unittest", "weird name here\n../x.T.a\n.a.b");
	expect("python manage.py test --settings=s.t shop",
	    "shop.tests.T.test_a",
	    "python manage.py test --settings=s.t shop.tests.T.test_a",
	    "python manage.py test --settings=s.t shop.tests");
	nothing("python manage.py check", "shop.tests.T.test_a");
}

static const char tap[] = "TAP version 13\n"
			  "# Subtest: suite\n"
			  "    # Subtest: adds (a+b) $x\n"
			  "    not ok 1 - adds (a+b) $x\n"
			  "      ---\n"
			  "      duration_ms: 10.651945\n"
			  "      location: '/src/a b/x.test.js:2:27'\n";

static void
test_js(void **state)
{
	(void)state;
	expect_with("node --test", "suite > adds (a+b) $x", tap,
	    "node '--test-name-pattern=adds \\(a\\+b\\) \\$x$' '/src/a "
	    "b/x.test.js'",
	    "node '/src/a b/x.test.js'");
	expect_with("node --test-reporter spec --test test/*.js",
	    "suite \xe2\x80\xba one\ntwo", "",
	    "node '--test-name-pattern=(one|two)$' --test-reporter spec --test "
	    "test/*.js",
	    NONE);
	/* the file of one of two is not known */
	expect_with("node --test a", "suite > adds (a+b) $x\ntwo", tap,
	    "node '--test-name-pattern=(adds \\(a\\+b\\) \\$x|two)$' --test a",
	    NONE);
	nothing("node --test", "3");
	nothing("node --test", "a \\# b");
	nothing("node x.js --test", "two");
	nothing("node test.js", "two");
	nothing("node --test --test-coverage-lines=90", "two");
	/* what is no script, and what is not the test's own block */
	expect_with("node --test", "a",
	    "not ok 1 - a\n  ---\n  location: '/etc/passwd:1:1'\n",
	    "node '--test-name-pattern=a$' --test", NONE);
	expect("npx jest -i -t old src", "Cart \xe2\x80\xba adds [1]",
	    "npx jest -t 'Cart adds \\[1\\]$' -i src", NONE);
	nothing("npx jest --coverage", "a");
	nothing("npm test", "a");
	expect("yarn jest", "a \xe2\x80\xba b", "yarn jest -t 'a b$'", NONE);
	expect("npx vitest run", "src/a.test.ts > s > t\ns \xe2\x80\xba t",
	    "npx vitest run -t 's t$' src/a.test.ts",
	    "npx vitest run src/a.test.ts");
	expect("./node_modules/.bin/mocha -R spec test", "s \xe2\x80\xba t\nu",
	    "./node_modules/.bin/mocha -g '(s t|u)$' -R spec test", NONE);
}

static void
test_compiled(void **state)
{
	(void)state;
	expect("go test -v ./...", "example.com/m/pkg.TestA",
	    "go test -run '^TestA$' -vet=off -v example.com/m/pkg",
	    "go test -vet=off -v example.com/m/pkg");
	expect("go test -count=1 -run 'A|B' -timeout 30s ./...",
	    "m/a.TestA\nm/b.TestB/sub.Test\nm/a.TestC",
	    "go test -run '^(TestA|TestB|TestC)$' -vet=off -count=1 -timeout "
	    "30s m/a m/b",
	    "go test -vet=off -count=1 -timeout 30s m/a m/b");
	expect("go test ./x", "m/x.TestA/a+b_(c)/d.e",
	    "go test -run '^TestA$/^a\\+b_\\(c\\)$/^d\\.e$' -vet=off m/x",
	    "go test -vet=off m/x");
	/* it did not build: no test is named */
	expect("go test ./...", "m/x", NONE, "go test -vet=off m/x");
	expect("go test -vet=all", "command-line-arguments.TestA",
	    "go test -run '^TestA$' -vet=all", NONE);
	nothing("go test -args x", "m/x.TestA");
	nothing("go vet ./...", "m/x.TestA");
	nothing("go test -made-up 3 ./...", "m/x.TestA");
	expect("cargo test", "tests::adds\nit::works",
	    "cargo test -- --exact tests::adds it::works", NONE);
	expect("cargo test --release adds -- --nocapture --test-threads 1 add",
	    "tests::adds",
	    "cargo test --release -- --nocapture --test-threads 1 --exact "
	    "tests::adds",
	    NONE);
	nothing("cargo test --doc", "src/lib.rs - foo (line 3)");
	nothing("cargo test --no-run", "a");
	expect("ctest --test-dir build -j4 -R old --output-on-failure",
	    "unit.a+b\nother",
	    "ctest -R '^(unit\\.a\\+b|other)$' --test-dir build -j4 "
	    "--output-on-failure",
	    NONE);
	nothing("ctest -N", "a");
	expect("prove -r -Ilib t", "t/a.t\n-e.t", "prove -r -Ilib t/a.t ./-e.t",
	    "prove -r -Ilib t/a.t ./-e.t");
	nothing("prove t :: --fast", "t/a.t");
}

/* --- what stands around the runner ---------------------------------------- */

static void
test_around(void **state)
{
	(void)state;
	expect("cd x && VAR=1 python3 -m pytest -q tests/ 2>&1", "t.py::a",
	    "cd x && VAR=1 python3 -m pytest -q t.py::a 2>&1",
	    "cd x && VAR=1 python3 -m pytest -q t.py 2>&1");
	expect("make -s; export A='b c'\nenv -u X B=2 nice -n 5 timeout 60 "
	       "pytest tests",
	    "t.py::a",
	    "make -s; export A='b c'\nenv -u X B=2 nice -n 5 timeout 60 pytest "
	    "t.py::a",
	    "make -s; export A='b c'\nenv -u X B=2 nice -n 5 timeout 60 pytest "
	    "t.py");
	expect("poetry run pytest", "t.py::a", "poetry run pytest t.py::a",
	    "poetry run pytest t.py");
	expect("coverage run --source x -m pytest tests", "t.py::a",
	    "coverage run --source x -m pytest t.py::a",
	    "coverage run --source x -m pytest t.py");
	expect("A='x y' $HOME/bin/pytest ~/t*", "t.py::a",
	    "A='x y' $HOME/bin/pytest t.py::a",
	    "A='x y' $HOME/bin/pytest t.py");
	/* What decides is not the runner, or not it alone. */
	nothing("pytest | tee log", "t.py::a");
	nothing("pytest || true", "t.py::a");
	nothing("pytest && flake8", "t.py::a");
	nothing("pytest & wait", "t.py::a");
	nothing("! pytest", "t.py::a");
	nothing("time pytest", "t.py::a");
	nothing("(pytest)", "t.py::a");
	nothing("if true; then pytest; fi", "t.py::a");
	nothing("f() { pytest; }; f", "t.py::a");
	nothing("bash -c 'pytest'", "t.py::a");
	nothing("sudo pytest", "t.py::a");
	nothing("xargs pytest", "t.py::a");
	nothing("pytest > log", "t.py::a");
	nothing("pytest <<E\nx\nE", "t.py::a");
	nothing("pytest -p \"$X\"", "t.py::a");
	nothing("\"$PY\" -m pytest", "t.py::a");
	nothing("A=\"$X\" pytest", "t.py::a");
	nothing("pytest 'unclosed", "t.py::a");
	nothing("pytest $(ls tests)", "t.py::a");
	nothing("", "t.py::a");
	nothing("A=1", "t.py::a");
	nothing("python3", "t.py::a");
	nothing("python3 -c 'import pytest' -m pytest", "t.py::a");
	nothing("make test", "t.py::a");
}

/* --- hostile names -------------------------------------------------------- */

/* What the shell makes of it: one command, whose last word is this. */
static void
last_word(const char *command, const char *name, const char *word)
{
	struct strv v = { 0 };
	struct sh_script *s;
	const struct sh_cmd *c;
	char *got;

	strv_add(&v, name);
	got = narrow_tests(command, &v, "");
	assert_non_null(got);
	s = sh_parse(got, strlen(got));
	assert_string_equal(s->error, "");
	assert_int_equal(s->n, 1);
	c = &s->cmds[0];
	assert_int_equal(c->n_redirs, 0);
	assert_string_equal(c->words[c->n_words - 1].text, word);
	assert_int_equal(
	    c->words[c->n_words - 1].flags & (SH_COMPUTED | SH_GLOB | SH_TILDE),
	    0);
	sh_free(s);
	free(got);
	strv_clear(&v);
}

static void
test_hostile(void **state)
{
	static const char *const ids[] = {
		"a.py::t[$(touch x)]",
		"a.py::t[`id`]",
		"a.py::t['; rm -rf / #]",
		"a.py::t[\" && x]",
		"a.py::t[\\]",
		"a.py::t[a\\'b]",
		"a.py::t[!! $HOME ~ * ? {a,b} > x < y | z & w]",
		"a.py::t[\xc3\xa9 \xe6\xbc\xa2]",
		"$(id).py::t",
		"~root.py::t",
		"a b;c.py::t",
	};
	struct strv v = { 0 };
	char big[400];

	(void)state;
	for (size_t i = 0; i < nitems(ids); i++)
		last_word("pytest", ids[i], ids[i]);
	last_word("prove", "$(id)", "$(id)");
	/* cut, damaged, or with what no runner prints */
	nothing("pytest", "a.py::t\x01");
	nothing("pytest", "a.py::t\x7f");
	nothing("pytest", "a.py::\xff");
	nothing("pytest", "a.py::\xef\xbf\xbd");
	strv_add(&v, "a.py::t[a\nb]");
	assert_null(narrow_tests("pytest", &v, ""));
	strv_clear(&v);
	memset(big, 'a', sizeof big);
	memcpy(big, "a.py::", 6);
	big[256] = '\0';
	nothing("pytest", big);
	big[200] = '\0';
	strv_add(&v, big);
	for (size_t i = 0; i < 60; i++)
		strv_addf(&v, "a.py::t%zu", i);
	/* too many names: their file alone */
	assert_null(narrow_tests("pytest", &v, ""));
	{
		char *s = narrow_files("pytest", &v, "");

		assert_string_equal(s, "pytest a.py");
		free(s);
	}
	strv_clear(&v);
	/* too long in all */
	for (size_t i = 0; i < 20; i++)
		strv_addf(&v, "a.py::t[%zu%.*s]", i, 220,
		    "''''''''''''''''''''''''''''''''''''''''''''''''''''''''''"
		    "''''''''''''''''''''''''''''''''''''''''''''''''''''''''''"
		    "''''''''''''''''''''''''''''''''''''''''''''''''''''''''''"
		    "''''''''''''''''''''''''''''''''''''''''''''''''''''''''");
	assert_null(narrow_tests("pytest", &v, ""));
	strv_clear(&v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pytest),
		cmocka_unit_test(test_unittest),
		cmocka_unit_test(test_js),
		cmocka_unit_test(test_compiled),
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
