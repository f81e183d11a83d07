#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "orchestrator/repair/hint.h"
#include "orchestrator/repair/suspect.h"

static const char source_text[] = "LIMIT = 3\n"
				  "\n"
				  "def helper(x):\n"
				  "    return x + LIMIT\n"
				  "\n"
				  "def alpha(x):\n"
				  "    return helper(x)\n"
				  "\n"
				  "def beta(x):\n"
				  "    return x\n"
				  "\n"
				  "def unused(x):\n"
				  "    return x\n";
static const char test_text[] = "from mod import alpha, beta\n"
				"\n"
				"def test_alpha():\n"
				"    assert alpha(1) == 4\n"
				"\n"
				"def test_beta():\n"
				"    assert beta(1) == 1\n";

struct lines {
	struct source *files[2];
	float *w[2];
};

static void
look(struct lines *l, const char *path, const char *text, const char *test,
    const char *test_code, const char *failing, const char *output)
{
	struct strv names = { 0 };
	struct suspect_facts f = { .output = output, .failing = &names };

	if (failing != NULL)
		strv_add(&names, failing);
	l->files[0] = source_create(path, text, strlen(text));
	l->files[1] = source_create(test, test_code, strlen(test_code));
	assert_non_null(l->files[0]);
	assert_non_null(l->files[1]);
	suspect_lines(&f, l->files, 1, 2, l->w);
	strv_clear(&names);
}

static void
clear(struct lines *l)
{
	free(l->w[0]);
	source_free(l->files[0]);
	source_free(l->files[1]);
}

static void
test_reach(void **state)
{
	struct lines l;
	const float *w;

	(void)state;
	look(&l, "mod.py", source_text, "test_mod.py", test_text,
	    "test_alpha (test_mod.T.test_alpha)", "");
	w = l.w[0];
	assert_true(w[6] > w[9]);   /* alpha over beta */
	assert_true(w[3] > w[9]);   /* what alpha calls, too */
	assert_true(w[0] > w[9]);   /* and the constant it uses */
	assert_true(w[9] <= w[12]); /* beta as good as unused */
	assert_true(w[12] > 0);
	clear(&l);
}

static void
test_traceback(void **state)
{
	struct lines l;

	(void)state;
	look(&l, "pkg/mod.py", source_text, "test_mod.py", test_text, NULL,
	    "  File \"/x/pkg/mod.py\", line 7, in alpha\n"
	    "  File \"/x/pkg/mod.py\", line 13, in unused\n");
	assert_true(l.w[0][12] > l.w[0][6]); /* the last frame most */
	assert_true(l.w[0][6] > l.w[0][9]);
	clear(&l);
	look(&l, "mod.py", source_text, "test_mod.py", test_text, NULL,
	    "mod.py:10:5: error: x\n");
	assert_true(l.w[0][9] > l.w[0][6]);
	clear(&l);
}

/* A title names a test that has no function. */
static void
test_titles(void **state)
{
	static const char code[] = "function one(a) {\n  return a;\n}\n"
				   "function two(a) {\n  return a;\n}\n";
	static const char tests[] =
	    "test('first thing', () => {\n  ok(one(1));\n});\n"
	    "test('second thing', () => {\n  ok(two(1));\n});\n";
	struct lines l;

	(void)state;
	look(&l, "m.js", code, "m.test.js", tests, "suite > second thing", "");
	assert_true(l.w[0][4] > l.w[0][1]);
	clear(&l);
}

/* Tests as a row of statements in one function. */
static void
test_rows(void **state)
{
	static const char code[] = "int one(int a)\n{\n\treturn a;\n}\n"
				   "int two(int a)\n{\n\treturn a;\n}\n"
				   "int three(int a)\n{\n\treturn a;\n}\n";
	static const char tests[] = "int main(void)\n{\n"
				    "\tOK(one(1) == 1, \"first\");\n"
				    "\tOK(three(1) == 1, \"third\");\n"
				    "\tOK(two(1) == 1, \"second\");\n}\n";
	struct lines l;

	(void)state;
	look(&l, "m.c", code, "test_m.c", tests, "second", "");
	assert_true(l.w[0][6] > l.w[0][2]);
	assert_true(l.w[0][6] > l.w[0][10]);
	clear(&l);
}

static void
test_names_of_tests(void **state)
{
	(void)state;
	assert_true(suspect_is_test("tests/x.py"));
	assert_true(suspect_is_test("a/test_x.c"));
	assert_true(suspect_is_test("x_test.go"));
	assert_true(suspect_is_test("src/a.spec.ts"));
	assert_true(suspect_is_test("FooTest.java"));
	assert_true(suspect_is_test("conftest.py"));
	assert_false(suspect_is_test("src/attest.py"));
	assert_false(suspect_is_test("contest.c"));
}

/* Strange facts do no harm. */
static void
test_strange(void **state)
{
	static const char *const names[] = { "", "::", "[", "a[b]", "(", ". .",
		"> ", "test_" };
	struct lines l;

	(void)state;
	for (size_t i = 0; i < nitems(names); i++) {
		look(&l, "mod.py", source_text, "test_mod.py", test_text,
		    names[i], "mod.py: mod.py:0 mod.py:99999999999 mod.py(");
		clear(&l);
	}
	look(&l, "mod.py", "", "test_mod.py", "", "test_x", "mod.py:1");
	clear(&l);
}

/* What the names of failing tests speak of, and only if an edit brings it in.
 */
static void
test_hints(void **state)
{
	struct strv failing = { 0 };
	struct hints h;

	(void)state;
	hints_init(&h, &failing);
	assert_false(hints_match(&h, "", 0, "a", 1));
	hints_clear(&h);
	strv_add(&failing, "pinned ones stay");
	strv_add(
	    &failing, "test_padRight (tests.test_x.FormatTest.test_padRight)");
	strv_add(&failing, "tests/test_a.py::TestA::test_heights");
	hints_init(&h, &failing);
	assert_true(hints_match(&h, "f", 1, "f && pinned", 11));
	assert_false(hints_match(&h, "pinned", 6, "!pinned", 7));
	assert_true(hints_match(&h, "pinned", 6, "pinned(pinned)", 14));
	assert_true(hints_match(&h, "x", 1, "x.height", 8));
	assert_true(hints_match(&h, "x", 1, "d->pads", 7));
	assert_true(hints_match(&h, "x", 1, "toRight(x)", 10));
	assert_false(hints_match(&h, "x", 1, "format(x)", 9));
	assert_false(hints_match(&h, "x", 1, "x and tests", 11));
	assert_false(hints_match(NULL, "x", 1, "pinned", 6));
	hints_clear(&h);
	strv_clear(&failing);
}

/* What a failing test holds and the others of its file do not. */
static void
test_words(void **state)
{
	static const char test[] =
	    "def test_a():\n    assert run(Task('x', retries=2)) == 'GET'\n"
	    "def test_b():\n    assert run(Task('x', always=1, odd=2)) == 'HEAD'\n";
	static const char code[] =
	    "def run(t):\n    return t.name\n"
	    "class Task:\n    def __init__(self, name, always, retries):\n"
	    "        self.always = always\n";
	struct source *files[] = { source_create("a.py", code, strlen(code)),
		source_create("test_a.py", test, strlen(test)) };
	struct strv failing = { 0 };
	struct hints h;
	struct suspect_facts f = {
		.output = "", .failing = &failing, .hints = &h
	};
	float *weight[1];

	(void)state;
	strv_add(&failing, "test_a.test_b");
	hints_init(&h, &failing);
	suspect_lines(&f, files, 1, 2, weight);
	assert_int_equal(h.names.n, 1); /* the program does not know odd */
	assert_string_equal(h.names.v[0], "always");
	assert_int_equal(h.literals.n, 1);
	assert_string_equal(h.literals.v[0], "'HEAD'");
	assert_true(hints_match(&h, "x", 1, "t.always", 8));
	assert_false(hints_match(&h, "x", 1, "t.alwaysx", 9));
	assert_false(hints_match(&h, "always", 6, "!always", 7));
	hints_clear(&h);
	free(weight[0]);
	source_free(files[0]);
	source_free(files[1]);
	strv_clear(&failing);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_traceback),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_names_of_tests),
		cmocka_unit_test(test_strange),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
