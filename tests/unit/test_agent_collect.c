/* Tests that could not even be imported: worker/agent/collect. */
#include "common/compat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "worker/agent/collect.h"

static char root[] = "/tmp/foray-collect-XXXXXX";

static void
put(const char *name, const char *text)
{
	char *path = path_join(root, name), *up = path_dir(path);
	struct err e;

	assert_int_equal(path_mkdirs(up, 0755, &e), 0);
	assert_int_equal(file_write(path, text, strlen(text), 0755, &e), 0);
	free(up);
	free(path);
}

static int
setup(void **state unused_arg)
{
	if (mkdtemp(root) == NULL)
		return -1;
	put("shop/__init__.py", "");
	put("src/depot.py", "");
	put("tests/test_cart.py", "");
	put("bin/pytest", "");
	return 0;
}

static int
teardown(void **state unused_arg)
{
	return path_rmtree(root, NULL);
}

#define PYTEST(frames, name) \
	"ERROR collecting tests/test_cart.py\n" \
	"ImportError while importing test module '/x/tests/test_cart.py'" \
	".\nTraceback:\n/usr/lib/python3.11/importlib/__init__.py:126: " \
	"in import_module\n    return _bootstrap._gcd_import(name)\n" \
	"tests/test_cart.py:1: in <module>\n    import it\n" frames \
	"E   ModuleNotFoundError: No module named '" name "'\n"

#define UNITTEST(name) \
	"ImportError: Failed to import test module: test_a\n" \
	"Traceback (most recent call last):\n" \
	"  File \"/usr/lib/python3.11/unittest/loader.py\", line 4, in f\n" \
	"ModuleNotFoundError: No module named '" name "'\n"

static const struct row {
	const char *command, *output;
	unsigned passed, failed;
	bool wanted;
	const char *says; /* NULL: nothing */
} rows[] = {
	{ "pytest -q", PYTEST("", "shop"), 0, 1, false,
	    "try -t 'python3 -m pytest -q'" },
	{ "pytest", PYTEST("", "shop"), 0, 1, true, "PYTHONPATH=. pytest" },
	{ "python3 -m pytest", PYTEST("", "depot"), 0, 1, false,
	    "try -t 'PYTHONPATH=src python3 -m pytest'" },
	{ "python3 -m unittest", UNITTEST("depot"), 0, 1, false,
	    "PYTHONPATH=src" },
	{ "pytest", PYTEST("", "numpy"), 0, 1, false, "install it" },
	/* it may be what the task asks for */
	{ "pytest", PYTEST("", "numpy"), 0, 1, true, NULL },
	/* a wrong name in a source file, which an edit mends */
	{ "pytest", PYTEST("shop/cart.py:3: in <module>\n", "shopp"), 0, 1,
	    false, NULL },
	/* a line of what is installed is none of the project's */
	{ "pytest", PYTEST("../lib/x.py:3: in <module>\n", "numpy"), 0, 1,
	    false, "install it" },
	{ "pytest",
	    PYTEST(".venv/lib/python3/site-packages/x.py:3: in f\n", "numpy"),
	    0, 1, false, "install it" },
	/* a part of a package that is there */
	{ "pytest", PYTEST("", "shop.cart"), 0, 1, false, NULL },
	/* others ran, or failed for another reason */
	{ "pytest", PYTEST("", "shop"), 3, 1, false, NULL },
	{ "pytest", PYTEST("", "shop"), 0, 2, false, NULL },
	{ "pytest", "E   ModuleNotFoundError: No module named 'shop'\n", 0, 1,
	    false, NULL },
};

static void
test_rows(void **state unused_arg)
{
	for (size_t i = 0; i < nitems(rows); i++) {
		const struct row *w = &rows[i];
		struct test_command c = { .status = 2,
			.parsed = true,
			.n_passed = w->passed,
			.n_failed = w->failed };
		char *got;

		buf_init(&c.output, BUF_NOMAX);
		(void)buf_adds(&c.output, w->output);
		got = collect_trouble(w->command, &c, root, root, w->wanted);
		if (w->says == NULL
			? got != NULL
			: got == NULL || strstr(got, w->says) == NULL)
			fail_msg("%zu: %s", i, got != NULL ? got : "nothing");
		free(got);
		buf_clear(&c.output);
	}
}

/* `python3 -m pytest` has none, $PATH does. */
static void
test_offer(void **state unused_arg)
{
	struct test_command c = { .status = 1 };
	char *bin = path_join(root, "bin"), *got;

	buf_init(&c.output, BUF_NOMAX);
	(void)buf_adds(&c.output, "/usr/bin/python3: No module named pytest\n");
	got = collect_offer(xasprintf("why"), "python3 -m pytest -v", &c, bin);
	assert_non_null(strstr(got, "/bin/pytest has a python of its own"));
	assert_non_null(strstr(got, "-t 'PYTHONPATH=. pytest -v'"));
	free(got);
	got = collect_offer(xasprintf("why"), "python3 -m pytest", &c, root);
	assert_string_equal(got, "why");
	free(got);
	got = collect_offer(xasprintf("why"), "make test", &c, bin);
	assert_string_equal(got, "why");
	free(got);
	buf_clear(&c.output);
	free(bin);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows),
		cmocka_unit_test(test_offer) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
