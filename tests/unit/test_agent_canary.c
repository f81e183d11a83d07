/* Where a statement is planted in a test file: by table, and in texts that are
 * cut off, too long or made to be slow. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the one above */
#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "worker/agent/canary.h"

#define HEAD '\1'
#define END '\2'

/* The text without its two marks, and where these were; at the length: none. */
static char *
unmark(const char *marked, size_t *head, size_t *end)
{
	char *text = xmalloc(strlen(marked) + 1);
	size_t n = 0;

	*head = *end = strlen(marked);
	for (; *marked != '\0'; marked++) {
		if (*marked == HEAD)
			*head = *end = n;
		else if (*marked == END)
			*end = n;
		else
			text[n++] = *marked;
	}
	text[n] = '\0';
	return text;
}

static void
test_places(void **state unused_arg)
{
	static const struct {
		enum canary_lang lang;
		const char *text;
	} rows[] = {
		{ CANARY_PY, "import a\n\1\nassert a.f() == 1\n\2" },
		{ CANARY_PY, "import a\n\1\nassert a.f() == 1\2" },
		{ CANARY_PY, "import a\n\1\ncheck(a)\n\2a.done()\n" },
		{ CANARY_PY, "from a import (\n    b,\n)\n\1assert b\n\2" },
		{ CANARY_PY, "import a, \\\n    b\n\1assert b\n\2" },
		{ CANARY_PY,
		    "import a\n\1if a.x:\n    sys.exit(0)\nassert a\n" },
		{ CANARY_PY,
		    "import a\n\1assert a\nsys.exit(1)\nprint(1)\n\2" },
		{ CANARY_PY,
		    "import a\n\1def f():\n    assert a\n\2"
		    "if __name__ == \"__main__\":\n"
		    "    unittest.main()\n" },
		{ CANARY_PY,
		    "import a\n\1def f():\n    assert a\n"
		    "if __name__ == \"__main__\":\n    f()\n\2" },
		/* None: nothing is imported, nothing is tested. */
		{ CANARY_PY, "" },
		{ CANARY_PY, "\n\n# import a\n" },
		{ CANARY_PY, "\"\"\"import\nof a\n" },
		/* Cut off. */
		{ CANARY_PY, "import a\1" },
		{ CANARY_PY, "import a, \\\1" },
		{ CANARY_PY, "from a import (\n    b,\n\1" },
		{ CANARY_PY, "import a\r\n\1assert a\r\n\2" },
		{ CANARY_JS, "const a = require('./a');\n\1a.go();\n" },
		{ CANARY_JS,
		    "const {\n  b\n} = require('./a');\n\1assert(b);\n\2" },
		{ CANARY_JS,
		    "import a from './a.js'\n\1assert(a)\n\2process.go(a)\n" },
		{ CANARY_JS, "const a = 1;\n" },
		{ CANARY_JS, "const a = require(" },
		{ CANARY_C,
		    "int main(void)\n{\1\n\tgo();\n\2\treturn 0;\n}\n" },
		{ CANARY_C, "int main(void) {\1 return 0; }\n" },
		{ CANARY_C,
		    "int main(void)\n{\1\n\tif (a) {\n\t\treturn 1;\n"
		    "\t}\n\tgo();\n\2\treturn 0;\n}\n" },
		{ CANARY_C,
		    "int main(void)\n{\1\n\texit(0);\n\treturn 0;\n}\n" },
		{ CANARY_C, "int f(void);\n" },
		{ CANARY_C, "int main(void)" },
		{ CANARY_C, "int main(void)\n{\1" },
		{ CANARY_SH,
		    "#!/bin/sh\n\1set -e\n[ -n \"$a\" ]\necho ok\n\2" },
		{ CANARY_SH, "#!/bin/sh\n. ./a.sh\n\1echo ok\n\2" },
		{ CANARY_SH, "\1" },
		{ CANARY_SH, "#!/bin/sh\1" },
	};
	size_t i, head, end, at;
	char *text;

	for (i = 0; i < nitems(rows); i++) {
		bool none = strchr(rows[i].text, HEAD) == NULL;

		print_message("%zu\n", i);
		text = unmark(rows[i].text, &head, &end);
		assert_int_equal(
		    canary_place(rows[i].lang, text, CANARY_HEAD, &at), !none);
		if (!none) {
			assert_int_equal(at, head);
			assert_true(
			    canary_place(rows[i].lang, text, CANARY_END, &at));
			assert_int_equal(at, end);
		}
		free(text);
	}
}

/* 4 MiB of the same: read once, not once for each of its lines. */
static void
test_long(void **state unused_arg)
{
	static const char *const lines[] = { "import (\n", "import a, \\\n",
		"int main\n", "require(\n", ". a\\\n", "#\n", "x", "exit",
		"\"\"\"\n", "if __name__\n" };
	static const size_t size = 4 << 20;
	char *text = xmalloc(size + 1);
	size_t i, n, at;

	for (i = 0; i < nitems(lines); i++) {
		for (n = 0; n < size; n++)
			text[n] = lines[i][n % strlen(lines[i])];
		text[size] = '\0';
		(void)alarm(60);
		for (enum canary_lang l = CANARY_PY; l <= CANARY_SH; l++) {
			if (canary_place(l, text, CANARY_END, &at))
				assert_true(at <= size);
		}
		(void)alarm(0);
	}
	free(text);
}

static void
test_lang(void **state unused_arg)
{
	static const struct {
		const char *rel, *text;
		enum canary_lang lang;
	} rows[] = {
		{ "t/a.py", "", CANARY_PY },
		{ "a", "#!/usr/bin/env python3", CANARY_PY },
		{ "a", "# python\n", CANARY_NONE },
		{ "a", "x\n#!/bin/sh\n", CANARY_NONE },
		{ "a", "#!/bin/sh\n", CANARY_SH },
		{ "a.sh", "", CANARY_SH },
		{ "a.mjs", "", CANARY_JS },
		{ "a.cc", "", CANARY_C },
		{ "", "", CANARY_NONE },
	};
	size_t i;

	for (i = 0; i < nitems(rows); i++)
		assert_int_equal(
		    canary_lang(rows[i].rel, rows[i].text), rows[i].lang);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_lang),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
