/* Which test command a tree speaks of. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the one above */
#include <cmocka.h>

#include <stdlib.h>

#include "common/fdio.h"
#include "common/path.h"
#include "orchestrator/run/detect.h"

struct row {
	const char *files[6]; /* name, text, name, text ... */
	const char *command;  /* NULL: none */
};

#define GO_MOD "go.mod", "module x\n"
#define UNIT "import unittest\n"

static const struct row rows[] = {
	{ { "test_a.py", "def test_x():\n    pass\n", "b.py", "\ndef test_x" },
	    "python3 -m unittest discover -v" },
	{ { "test_a.py", "import a\n\ndef test_x():\n    pass\n" },
	    "python3 -m pytest -v" },
	{ { "tests/test_a.py", UNIT },
	    "python3 -m unittest discover -v -s tests" },
	{ { "tests/test_a.py", UNIT, "tests/__init__.py", "" },
	    "python3 -m unittest discover -v" },
	{ { "test_a.py", UNIT, "pytest.ini", "[pytest]\n" },
	    "python3 -m pytest -v" },
	{ { "test_a.py", UNIT, "pyproject.toml", "[tool.pytest]\n" },
	    "python3 -m pytest -v" },
	{ { "test_a.py", UNIT, ".venv/bin/python", "", "conftest.py", "" },
	    ".venv/bin/python -m pytest -v" },
	{ { "Makefile", "all:\n\ntest: all\n" }, "make test" },
	{ { "Makefile", "check:\n\ttrue\n" }, "make check" },
	{ { "Makefile", "check := 1\n" }, NULL },
	{ { "package.json", "{\"scripts\":{\"test\":\"vitest run\"}}" },
	    "npm test --silent" },
	{ { "package.json", "{\"scripts\":{\"test\":\"jest\"}}" },
	    "npm test --silent" },
	{ { "package.json",
	      "{\"scripts\":{\"test\":\"echo no test specified\"}}" },
	    NULL },
	{ { "package.json", "{}", "test/a.test.js", "" }, "node --test" },
	{ { "package.json", "{}", "node_modules/x/a.test.js", "" }, NULL },
	{ { GO_MOD, "x_test.go", "package x\n" }, "go test -v ./..." },
	{ { GO_MOD, "x.go", "package x\n" }, NULL },
	{ { "Cargo.toml", "[package]\n", "src/lib.rs", "" }, "cargo test" },
	{ { "build/CTestTestfile.cmake", "", "CMakeLists.txt", "" },
	    "ctest --test-dir build --output-on-failure" },
	{ { "CMakeLists.txt", "enable_testing()\n" }, NULL },
	{ { "page.js", "", "page.test.js", "" }, "node --test" },
	{ { "page.js", "", "test/page.js", "" }, "node --test" },
	{ { "page.js", "", "page-test.mjs", "" }, "node --test" },
	{ { "page.js", "", "node_modules/x/a.test.js", "" }, NULL },
	{ { "latest.js", "", "contest/a.js", "" }, NULL },
	{ { "a.test.js", "", "Makefile", "test:\n\ttrue\n" }, "make test" },
	{ { "README", "" }, NULL },
};

static void
one(const struct row *row)
{
	char dir[] = "/tmp/foray-detect-XXXXXX";
	struct strv files = { 0 }, found = { 0 };
	const char *why = NULL, *got;
	struct err e;
	int r;

	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < nitems(row->files) && row->files[i] != NULL;
	     i += 2) {
		char *path = path_join(dir, row->files[i]);
		char *up = path_dir(path);

		assert_int_equal(path_mkdirs(up, 0755, &e), 0);
		assert_int_equal(file_write(path, row->files[i + 1],
				     strlen(row->files[i + 1]), 0644, &e),
		    0);
		strv_add(&files, row->files[i]);
		free(up);
		free(path);
	}
	strv_sort(&files);
	r = detect_tests(dir, ".", &files, &found, &why, &e);
	got = found.n > 0 ? found.v[0] : NULL;
	if (row->command == NULL
		? r == 0
		: r != 0 || got == NULL || strcmp(got, row->command) != 0)
		fail_msg("%s, ...: %s, not %s", row->files[0],
		    got != NULL ? got : e.text,
		    row->command != NULL ? row->command : "nothing");
	strv_clear(&files);
	strv_clear(&found);
	(void)path_rmtree(dir, NULL);
}

static void
test_rows(void **state unused_arg)
{
	for (size_t i = 0; i < nitems(rows); i++)
		one(&rows[i]);
}

/* The reason is the one that there is. */
static void
test_why(void **state unused_arg)
{
	static const struct {
		const char *name, *text, *why;
	} of[] = {
		{ "test_a.py", "import pytest\n",
		    "a test file that imports pytest" },
		{ "test_a.py", "import a\n\ndef test_x():\n    pass\n",
		    "tests that are functions" },
		{ "pytest.ini", "[pytest]\n", "pytest.ini" },
		{ "tox.ini", "[pytest]\n", "pytest in tox.ini" },
	};

	for (size_t i = 0; i < nitems(of); i++) {
		char dir[] = "/tmp/foray-detect-XXXXXX", *path;
		struct strv files = { 0 }, found = { 0 };
		const char *why = NULL;
		struct err e;

		assert_non_null(mkdtemp(dir));
		path = path_join(dir, of[i].name);
		assert_int_equal(
		    file_write(path, of[i].text, strlen(of[i].text), 0644, &e),
		    0);
		if (i >= 2)
			strv_add(&files, "test_a.py");
		strv_add(&files, of[i].name);
		strv_sort(&files);
		assert_int_equal(
		    detect_tests(dir, ".", &files, &found, &why, &e), 0);
		assert_string_equal(why, of[i].why);
		strv_clear(&files);
		strv_clear(&found);
		(void)path_rmtree(dir, NULL);
		free(path);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows),
		cmocka_unit_test(test_why) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
