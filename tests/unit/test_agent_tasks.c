/*
 * The worker's tasks without a model: baseline and verify, with real commands
 * in real sandboxes. The ids (I-001, ...) are of the collected failures of
 * other tools.
 */
#include "common/compat.h"

#include "tests/unit/test_agent_bed.h"

static const char runner[] =
    "n=0; for t in tests/*.sh; do n=$((n+1)); if sh $t; then echo \"ok $n - "
    "$t\"; else echo \"not ok $n - $t\"; bad=1; fi; done; echo 1..$n; exit "
    "${bad:-0}\n";

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
	if (s == NULL || strstr(s, part) == NULL)
		fail_msg("\"%s\" is not in: %s", part, s);
}

static void
tests_are(struct bed *b, const char *const *v, size_t n)
{
	b->task.u.task.tests = (struct msg_strs){ v, n };
}

static const struct msg_summary *
sum(struct bed *b)
{
	return &b->summary->u.summary;
}

static void
baseline(struct bed *b, const char *const *v, size_t n)
{
	bed_need_sandbox();
	b->task.u.task.kind = "baseline";
	tests_are(b, v, n);
	bed_run(b);
}

static void
one_baseline(
    struct bed *b, const char *cmd, const char *verdict, const char *reason)
{
	baseline(b, &cmd, 1);
	assert_string_equal(sum(b)->verdict, verdict);
	has(sum(b)->reason, reason);
}

static void
test_baseline(void **state)
{
	static const char *const cmds[] = { "sh run.sh", "true" };
	struct bed *b = *state;

	bed_text(b, "run.sh", runner);
	bed_text(b, "tests/a.sh", "exit 0\n");
	bed_text(b, "tests/b.sh", "echo it broke; exit 1\n");
	bed_text(
	    b, "tests/c.sh", "if test -e seen; then exit 1; fi; touch seen\n");
	baseline(b, cmds, 2);
	assert_string_equal(sum(b)->verdict, "done");
	assert_int_equal(sum(b)->failing.n, 1);
	assert_string_equal(sum(b)->failing.v[0], "tests/b.sh");
	assert_int_equal(sum(b)->flaky.n, 1);
	assert_string_equal(sum(b)->flaky.v[0], "tests/c.sh");
	assert_int_equal(sum(b)->tests_passed, 2);
	assert_int_equal(sum(b)->tests_failed, 2);
	assert_false(sum(b)->per_test);
	has(sum(b)->output, "it broke");
	assert_int_equal(b->audits.n, 4);
	has(b->audits.v[0], "test sh run.sh");
}

static void
test_baseline_green(void **state)
{
	one_baseline(*state, "true", "done", "1 passed, 0 failing");
}

static void
test_baseline_missing(void **state)
{
	one_baseline(*state, "no-such-runner -v", "error", "command not found");
}

static void
test_baseline_exec(void **state)
{
	bed_text(*state, "x", "echo\n");
	one_baseline(*state, "./x", "error", "not executable");
}

static void
test_baseline_nothing(void **state)
{
	one_baseline(*state, "echo; echo 'Ran 0 tests in 0.000s'; echo OK",
	    "error", "ran no tests");
}

static void
test_baseline_time(void **state)
{
	((struct bed *)*state)->task.u.task.call_ms = 500;
	one_baseline(*state, "sleep 60", "error", "timed out");
}

static void
test_baseline_network(void **state)
{
	one_baseline(*state,
	    "echo 'curl: (6) Could not resolve host: x.y'; exit 6", "error",
	    "network");
}

/* --- verify -------------------------------------------------------------- */

#define GIT(f) "diff --git a/" f " b/" f "\n"
static const char fix[] = GIT("calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n"
					 "@@ -1 +1 @@\n-echo $(($1 - $2))\n"
					 "+echo $(($1 + $2))\n";

static void
prepare(struct bed *b)
{
	static const char *const failing[] = { "tests/b.sh" };
	static const char *const guarded[] = { "run.sh", "tests/a.sh",
		"tests/b.sh" };
	static const char *const cmd = "sh run.sh";

	bed_need_sandbox();
	bed_text(b, "run.sh", runner);
	bed_text(b, "calc.sh", "echo $(($1 - $2))\n");
	bed_text(b, "tests/a.sh", "test $(sh calc.sh 0 0) = 0\n");
	bed_text(b, "tests/b.sh", "test $(sh calc.sh 1 2) = 3\n");
	b->task.u.task.kind = "verify";
	b->task.u.task.failing = (struct msg_strs){ failing, 1 };
	b->task.u.task.guarded = (struct msg_strs){ guarded, 3 };
	b->task.u.task.tests_passed = 1;
	b->task.u.task.per_test = true;
	b->task.u.task.test_ms = 100;
	tests_are(b, &cmd, 1);
}

static void
verify(
    struct bed *b, const char *patch, const char *verdict, const char *reason)
{
	b->task.u.task.patch = patch;
	b->task.u.task.patch_len = strlen(patch);
	bed_run(b);
	if (strcmp(sum(b)->verdict, verdict) != 0)
		fail_msg("%s: %s", sum(b)->verdict, sum(b)->reason);
	has(sum(b)->reason, reason);
}

static void
test_verify_fixed(void **state)
{
	prepare(*state);
	verify(*state, fix, "fixed", "2 tests pass");
	assert_int_equal(sum(*state)->tests_passed, 2);
}

static void
test_verify_empty(void **state)
{
	prepare(*state);
	verify(*state, "", "refuted", "empty");
}

static void
test_verify_garbage(void **state)
{
	prepare(*state);
	verify(*state, "hello\n", "refuted", "does not apply");
}

static void
test_verify_git(void **state)
{
	prepare(*state);
	verify(*state,
	    GIT(".git/config") "--- /dev/null\n+++ b/.git/config\n@@ -0,0 +1 "
			       "@@\n+x\n",
	    "refuted", "does not apply");
}

static void
test_verify_wrong(void **state)
{
	prepare(*state);
	verify(*state,
	    GIT("calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1 @@\n-echo "
			   "$(($1 - $2))\n+echo $(($1 * $2))\n",
	    "refuted", "it still fails: tests/b.sh");
}

static void
test_verify_breaks(void **state)
{
	prepare(*state);
	verify(*state,
	    GIT("calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1 @@\n-echo "
			   "$(($1 - $2))\n+echo 3\n",
	    "refuted", "a test fails now: tests/a.sh");
}

static void
test_verify_syntax(void **state)
{
	prepare(*state);
	verify(*state,
	    GIT("calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1 @@\n-echo "
			   "$(($1 - $2))\n+if echo $(($1 + $2))\n",
	    "refuted", "calc.sh does not parse");
}

static void
test_verify_check(void **state)
{
	static const char *const check = "echo bad style; false";
	struct bed *b = *state;

	prepare(b);
	b->task.u.task.checks = (struct msg_strs){ &check, 1 };
	verify(b, fix, "refuted", "the check `echo bad style; false` fails: ");
}

static void
test_verify_test_deleted(void **state) /* I-001 */
{
	prepare(*state);
	verify(*state,
	    GIT("tests/b.sh") "deleted file mode 100644\n--- a/tests/b.sh\n+++ "
			      "/dev/null\n@@ -1 +0,0 @@\n-test $(sh calc.sh 1 "
			      "2) = 3\n",
	    "refuted", "tests/b.sh");
	bed_expect(*state, "tests/b.sh", "test $(sh calc.sh 1 2) = 3\n");
}

static void
test_verify_runner_changed(void **state)
{
	prepare(*state);
	verify(*state,
	    GIT("tests/b.sh") "--- a/tests/b.sh\n+++ b/tests/b.sh\n@@ -1 +1 "
			      "@@\n-test $(sh calc.sh 1 2) = 3\n+exit 0\n" GIT(
				  "calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1,2 @@\n echo "
					     "$(($1 - $2))\n+# nothing\n",
	    "refuted", "protected");
}

static void
test_verify_added_tests(void **state) /* I-003 */
{
	prepare(*state);
	verify(*state,
	    GIT("conftest.py") "new file mode 100644\n--- /dev/null\n+++ "
			       "b/conftest.py\n@@ -0,0 +1 @@\n+x = 1\n" GIT(
				   "calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1 @@\n-echo "
					      "$(($1 - $2))\n+test -e conftest.py && echo $(($1 + "
					      "$2)) || echo no\n",
	    "refuted", "conftest.py");
	assert_null(bed_get(*state, "conftest.py"));
}

static void
test_verify_skipped(void **state) /* I-002 */
{
	static const char *const cmd = "cat out.tap";
	static const char *const failing[] = { "b" };
	struct bed *b = *state;

	prepare(b);
	bed_text(b, "out.tap", "1..2\nok 1 - a\nnot ok 2 - b\n");
	tests_are(b, &cmd, 1);
	b->task.u.task.failing = (struct msg_strs){ failing, 1 };
	verify(b,
	    GIT("out.tap") "--- a/out.tap\n+++ b/out.tap\n@@ -1,3 +1,3 @@\n "
			   "1..2\n ok 1 - a\n-not ok 2 - b\n+ok 2 - b # SKIP\n",
	    "refuted", "skipped");
}

static void
test_verify_hangs(void **state)
{
	struct bed *b = *state;

	prepare(b);
	b->task.u.task.call_ms = 3000;
	verify(b,
	    GIT("calc.sh") "--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1 @@\n-echo "
			   "$(($1 - $2))\n+sleep 60\n",
	    "refuted", "timed out after 3 s");
}

/* Only the first command must come to pass. */
static void
test_verify_second_command(void **state)
{
	static const char *const cmds[] = { "sh run.sh", "false" };
	static const char *const failing[] = { "false", "tests/b.sh" };
	struct bed *b = *state;

	prepare(b);
	tests_are(b, cmds, 2);
	b->task.u.task.per_test = false;
	b->task.u.task.failing = (struct msg_strs){ failing, 2 };
	verify(b, fix, "fixed", "2 tests pass");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_baseline),
		T(test_baseline_green),
		T(test_baseline_missing),
		T(test_baseline_exec),
		T(test_baseline_nothing),
		T(test_baseline_time),
		T(test_baseline_network),
		T(test_verify_fixed),
		T(test_verify_empty),
		T(test_verify_garbage),
		T(test_verify_git),
		T(test_verify_wrong),
		T(test_verify_breaks),
		T(test_verify_syntax),
		T(test_verify_check),
		T(test_verify_test_deleted),
		T(test_verify_runner_changed),
		T(test_verify_added_tests),
		T(test_verify_skipped),
		T(test_verify_hangs),
		T(test_verify_second_command),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
