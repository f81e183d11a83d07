/*
 * common/tests_*.c: what test runners really print, and what a hostile
 * test prints among it.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/log.h"
#include "common/tests_parse.h"

static void
parse(const char *s, struct test_report *t)
{
	tests_parse(s, strlen(s), t);
}

/* runner, numbers, and names joined by ", ". */
static void
expect(const char *s, const char *runner, uint64_t passed, uint64_t failed,
    uint64_t skipped, const char *failing, const char *passing)
{
	struct test_report t;
	struct buf f, p;
	size_t i;

	parse(s, &t);
	assert_non_null(t.runner);
	assert_string_equal(t.runner, runner);
	buf_init(&f, BUF_NOMAX);
	buf_init(&p, BUF_NOMAX);
	for (i = 0; i < t.failed.n; i++)
		(void)buf_printf(&f, "%s%s", i > 0 ? ", " : "", t.failed.v[i]);
	for (i = 0; i < t.passed.n; i++)
		(void)buf_printf(&p, "%s%s", i > 0 ? ", " : "", t.passed.v[i]);
	assert_string_equal(buf_str(&f), failing);
	if (passing != NULL)
		assert_string_equal(buf_str(&p), passing);
	assert_int_equal(t.n_passed, passed);
	assert_int_equal(t.n_failed, failed);
	assert_int_equal(t.n_skipped, skipped);
	assert_false(t.none);
	buf_clear(&f);
	buf_clear(&p);
	test_report_clear(&t);
}

static void
expect_none(const char *s, const char *runner)
{
	struct test_report t;

	parse(s, &t);
	assert_non_null(t.runner);
	assert_string_equal(t.runner, runner);
	assert_true(t.none);
	test_report_clear(&t);
}

static void
expect_nothing(const char *s)
{
	struct test_report t;

	parse(s, &t);
	if (t.runner != NULL)
		fail_msg("taken for %s: %s", t.runner, s);
	test_report_clear(&t);
}

static void
test_pytest(void **state)
{
	(void)state;
	expect(
	    "============================= test session starts "
	    "==============================\n"
	    "collecting ... collected 9 items\n\n"
	    "test_a.py::T::test_bad FAILED                                "
	    "            [ 11%]\n"
	    "test_a.py::T::test_ok PASSED                                 "
	    "            [ 33%]\n"
	    "test_a.py::T::test_skip SKIPPED (no)                         "
	    "            [ 44%]\n"
	    "test_a.py::test_p[a PASSED b] PASSED                         "
	    "            [ 66%]\n"
	    "test_a.py::test_err ERROR                                    "
	    "            [ 88%]\n"
	    "=================================== ERRORS "
	    "====================================\n"
	    "FAILED a::b - not the summary\n"
	    "test_a.py::fake PASSED\n"
	    "=========================== short test summary info "
	    "============================\n"
	    "FAILED test_a.py::T::test_bad - AssertionError: 1 != 2\n"
	    "FAILED test_a.py::test_p[a - b] - assert 'a b' == 'c'\n"
	    "ERROR test_a.py::test_err\n"
	    "========== 2 failed, 2 passed, 1 skipped, 1 xfailed, 1 error in "
	    "0.06s ==========\n",
	    "pytest", 2, 3, 2,
	    "test_a.py::T::test_bad, test_a.py::test_err, "
	    "test_a.py::test_p[a - b]",
	    "test_a.py::T::test_ok, test_a.py::test_p[a PASSED b]");
	expect(".F.                                          [100%]\n"
	       "=========================== short test summary info "
	       "============================\n"
	       "ERROR test_b.py\n"
	       "!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection "
	       "!!!!!!!!!!!!!!!!!!!!\n"
	       "1 error in 0.12s\n",
	    "pytest", 0, 1, 0, "test_b.py", "");
	expect("..                  [100%]\n2 passed in 0.01s\n", "pytest", 2,
	    0, 0, "", "");
	expect("[gw0] [ 50%] PASSED t.py::test_a \n[gw1] [100%] FAILED "
	       "t.py::test_b \n=== short test summary info ===\nFAILED "
	       "t.py::test_b - x\n=== 1 failed, 1 passed, 3 warnings in 1.00s "
	       "(0:00:01) ===\n",
	    "pytest", 1, 1, 0, "t.py::test_b", "t.py::test_a");
	expect_none(
	    "collected 0 items\n\n=== no tests ran in 0.01s ===\n", "pytest");
	expect_none("collected 15 items / 15 deselected / 0 selected\n\n"
		    "=== 15 deselected in 0.02s ===\n",
	    "pytest");
	expect("=== 1 passed, 15 deselected in 0.02s ===\n", "pytest", 1, 0, 15,
	    "", "");
	/* a test that prints a summary: the last one is pytest's own */
	expect("=== 9 passed in 0.01s ===\n=== short test summary info ===\n"
	       "FAILED t.py::a - x\n=== 1 failed in 0.05s ===\n",
	    "pytest", 0, 1, 0, "t.py::a", "");
	expect_nothing("it passed in 3 ways\n1 apple in 2 trees\n");
}

static void
test_unittest(void **state)
{
	(void)state;
	expect(
	    "test_a (test_x.T.test_a) ... ok\n"
	    "test_b (test_x.T.test_b) ... FAIL\n"
	    "test_c (test_x.T)\nIt does this. ... ok\n"
	    "test_d (test_x.T.test_d) ... skipped 'no'\n"
	    "\n=========================================================="
	    "============\n"
	    "FAIL: test_b (test_x.T.test_b)\n"
	    "----------------------------------------------------------------"
	    "------\n"
	    "Traceback (most recent call last):\nFAIL: fake\n"
	    "\n=========================================================="
	    "============\n"
	    "ERROR: test_e (test_x.T.test_e) (i=1)\n"
	    "----------------------------------------------------------------"
	    "------\n"
	    "Ran 5 tests in 0.001s\n\n"
	    "FAILED (failures=1, errors=1, skipped=1)\n",
	    "unittest", 2, 2, 1, "test_x.T.test_b, test_x.T.test_e (i=1)",
	    "test_x.T.test_a, test_x.T.test_c");
	expect("..\n------\nRan 2 tests in 0.000s\n\nOK\n", "unittest", 2, 0, 0,
	    "", "");
	expect("..\nRan 2 tests in 0.000s\n\nFAILED (expected failures=1, "
	       "unexpected successes=1)\n",
	    "unittest", 1, 0, 1, "", "");
	expect("======\n==================\nERROR: test_b "
	       "(unittest.loader._FailedTest.test_b)\nRan 1 test in "
	       "0.0s\n\nFAILED (errors=1)\n",
	    "unittest", 0, 1, 0, "unittest.loader._FailedTest.test_b", "");
	expect_none("Ran 0 tests in 0.000s\n\nOK\n", "unittest");
}

static void
test_tap(void **state)
{
	(void)state;
	expect("TAP version 13\n# Subtest: top ok\nok 1 - top ok\n  ---\n"
	       "  duration_ms: 9.499851\n  ok 7 - fake\n  ...\n"
	       "# Subtest: suite\n    # Subtest: inner ok\n    ok 1 - inner "
	       "ok\n      ---\n      duration_ms: 0.14\n      ...\n"
	       "    # Subtest: inner bad\n    not ok 2 - inner bad\n      ---\n"
	       "      stack: |-\n        not ok 9 - fake\n      ...\n"
	       "    1..2\nnot ok 5 - suite\n"
	       "ok 3 - skipped one # SKIP\nnot ok 4 - todo one # TODO\n1..4\n",
	    "tap", 2, 1, 2, "suite > inner bad", "suite > inner ok, top ok");
	expect("1..3\nok 1 - first\nnot ok 2 - second # not a directive\n#   "
	       "Failed\nok 3 # SKIP none\n",
	    "tap", 1, 1, 1, "second # not a directive", "first");
	expect("ok 1\nok 2\n1..2\n", "tap", 2, 0, 0, "", "1, 2");
	expect_none("1..0 # SKIP all\n", "tap");
	expect_nothing("ok then\nnot ok at all\n");
}

static void
test_prove(void **state)
{
	(void)state;
	expect("t/a.t .. \nFailed 1/3 subtests \n\t(less 1 skipped subtest: 1 "
	       "okay)\nt/b.t .. ok\n\nTest Summary Report\n-----------\nt/a.t "
	       "(Wstat: 0 Tests: 3 Failed: 1)\n  Failed test:  2\nFiles=2, "
	       "Tests=4,  0 wallclock secs\nResult: FAIL\n",
	    "prove", 1, 1, 0, "t/a.t", "t/b.t");
}

static void
test_go(void **state)
{
	(void)state;
	expect(
	    "=== RUN   TestA\n--- PASS: TestA (0.01s)\n=== RUN   TestB\n"
	    "=== RUN   TestB/sub_1\n    b_test.go:5: no\n--- FAIL: TestB "
	    "(0.00s)\n    --- FAIL: TestB/sub_1 (0.00s)\n--- SKIP: TestC "
	    "(0.00s)\nFAIL\nFAIL\texample.com/m\t0.003s\n?   \texample.com/m/"
	    "x\t[no test files]\nok  \texample.com/m/y\t(cached)\nFAIL\n",
	    "go", 2, 2, 1, "example.com/m.TestB, example.com/m.TestB/sub_1",
	    "example.com/m.TestA");
	expect("--- FAIL: TestB (0.00s)\n    b_test.go:5: no\nFAIL\nFAIL\tm\t"
	       "0.003s\nFAIL\tm/z [build failed]\nok  \tm/y\t0.1s\nFAIL\n",
	    "go", 1, 2, 0, "m.TestB, m/z", "");
	expect_none("?   \texample.com/m\t[no test files]\n", "go");
	expect_none("ok  \tm\t0.001s [no tests to run]\n", "go");
}

static void
test_cargo(void **state)
{
	(void)state;
	expect(
	    "running 3 tests\ntest tests::ok ... ok\ntest tests::bad ... "
	    "FAILED\ntest tests::ig ... ignored\ntest tests::sp - should "
	    "panic ... ok\n\nfailures:\n\n---- tests::bad stdout ----\ntest "
	    "result: no\n\nfailures:\n    tests::bad\n\ntest result: FAILED. "
	    "2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; "
	    "finished in 0.41s\n   Doc-tests rs\n\nrunning 1 test\ntest "
	    "src/lib.rs - add (line 1) ... FAILED\n\ntest result: FAILED. 0 "
	    "passed; 1 failed; 0 ignored\n",
	    "cargo", 2, 2, 1, "src/lib.rs - add (line 1), tests::bad",
	    "tests::ok, tests::sp - should panic");
	expect_none("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 "
		    "ignored; 0 measured; 0 filtered out\n",
	    "cargo");
}

static void
test_ctest(void **state)
{
	struct test_report t;

	(void)state;
	expect("Test project /tmp/b\n    Start 1: good\n"
	       "1/6 Test #1: good .............................   Passed    "
	       "0.02 sec\n"
	       "2/6 Test #2: bad.one ..........................***Failed    "
	       "0.01 sec\n"
	       "3/6 Test #3: crash ............................***Exception: "
	       "SegFault  0.01 sec\n"
	       "4/6 Test #4: slow one .........................***Timeout   "
	       "1.01 sec\n"
	       "5/6 Test #5: nf ...............................***Not Run   "
	       "0.00 sec\n"
	       "6/6 Test #6: sk ...............................***Skipped   "
	       "0.01 sec\n\n33% tests passed, 4 tests failed out of 6\n",
	    "ctest", 1, 4, 1, "bad.one, crash, nf, slow one", "good");
	expect_none("No tests were found!!!\n", "ctest");
	expect_none("*****\nNo test configuration file found!\n", "ctest");
	parse("1/1 Test #1: a ...   Passed    1.50 sec\n\n100% tests passed, 0 "
	      "tests failed out of 1\n",
	    &t);
	assert_int_equal(t.slowest_ms, 1500);
	test_report_clear(&t);
}

static void
test_spec(void **state)
{
	(void)state;
	/* node's spec reporter; the end repeats what failed */
	expect("\xe2\x96\xb6 suite\n  \xe2\x9c\x94 inner ok (1.25ms)\n  "
	       "\xe2\x9c\x96 inner bad (0.1ms)\n\xe2\x96\xb6 suite (2.5ms)\n\n"
	       "\xe2\x9c\x94 top (3ms)\n\xef\xb9\xa3 later (0.1ms) # SKIP\n"
	       "\xe2\x84\xb9 tests 4\n\xe2\x84\xb9 pass 2\n\xe2\x84\xb9 fail "
	       "1\n\xe2\x84\xb9 skipped 1\n\n\xe2\x9c\x96 failing "
	       "tests:\n\n\xe2\x9c\x96 inner bad (0.1ms)\n",
	    "spec", 2, 1, 1, "suite \xe2\x80\xba inner bad",
	    "suite \xe2\x80\xba inner ok, top");
	/* mocha */
	expect(
	    "\n  math\n    \xe2\x9c\x94 adds\n    1) subtracts\n    deep\n   "
	    "   \xe2\x9c\x93 ok (5ms)\n\n\n  2 passing (8ms)\n  1 "
	    "failing\n\n  1) math\n       subtracts:\n     Error: x\n",
	    "spec", 2, 1, 0, "math \xe2\x80\xba subtracts",
	    "math \xe2\x80\xba adds, math \xe2\x80\xba deep \xe2\x80\xba ok");
	/* jest */
	expect("FAIL ./a.test.js\n  math\n    \xe2\x9c\x93 adds (2 ms)\n    "
	       "\xe2\x9c\x95 subtracts (1 ms)\n\n  \xe2\x97\x8f math "
	       "\xe2\x80\xba subtracts\n\n    expect(received)\n\nTest Suites: "
	       "1 failed, 1 total\nTests:       1 failed, 1 passed, 2 total\n",
	    "spec", 1, 1, 0, "math \xe2\x80\xba subtracts",
	    "math \xe2\x80\xba adds");
	/* vitest */
	expect(
	    " \xe2\x9c\x93 b.test.js (3 tests) 2ms\n FAIL  a.test.js > s > "
	    "bad\nAssertionError\n Test Files  1 failed | 1 passed (2)\n      "
	    "Tests  1 failed | 3 passed (4)\n",
	    "spec", 3, 1, 0, "a.test.js > s > bad", NULL);
	expect_nothing("\xe2\x9c\x93 compiled\n");
}

/* A number alone on a line counts nothing: what doctest, cmp or a program
 * prints. */
static void
test_no_runner(void **state)
{
	static const char *const texts[] = { "3\n", "    3\n", "    3\nx\n",
		"Failed example:\n    add(1, 2)\nExpected:\n    3\nGot:\n"
		"    -1\n***Test Failed*** 1 failures.\n",
		"  1\n  2\n\n  3" };
	struct test_report t;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		parse(texts[i], &t);
		if (t.runner != NULL)
			fail_msg(
			    "%zu: %s, %d passed", i, t.runner, (int)t.n_passed);
		test_report_clear(&t);
	}
}

static void
test_bounded(void **state)
{
	struct test_report t;
	struct buf b;
	size_t i;

	(void)state;
	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < 60000; i++)
		(void)buf_printf(&b, "not ok %zu - t%0300zu\n", i, i);
	(void)buf_adds(&b, "1..60000\n");
	tests_parse(buf_str(&b), b.len, &t);
	assert_int_equal(t.n_failed, 60000);
	assert_true(t.failed.n <= TESTS_MAX_NAMES);
	for (i = 0; i < t.failed.n; i++)
		assert_true(strlen(t.failed.v[i]) <= TESTS_MAX_NAME);
	test_report_clear(&t);
	buf_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pytest),
		cmocka_unit_test(test_unittest),
		cmocka_unit_test(test_tap),
		cmocka_unit_test(test_prove),
		cmocka_unit_test(test_go),
		cmocka_unit_test(test_cargo),
		cmocka_unit_test(test_ctest),
		cmocka_unit_test(test_spec),
		cmocka_unit_test(test_no_runner),
		cmocka_unit_test(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
