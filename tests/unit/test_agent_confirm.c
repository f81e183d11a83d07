/*
 * A reproducer in the worker: confirmed or refused, then protected in a
 * workspace and put back before a verification, with real commands in real
 * sandboxes.
 */
#include "common/compat.h"

#include "tests/unit/test_agent_bed.h"

#define ADD(f, line) \
	"diff --git a/" f " b/" f \
	"\nnew file mode 100644\n--- /dev/null\n+++ " \
	"b/" f "\n@@ -0,0 +1 @@\n+" line "\n"
#define CHANGE(f, from, to) \
	"diff --git a/" f " b/" f "\n--- a/" f "\n+++ b/" f \
	"\n@@ -1 +1 @@\n-" from "\n+" to "\n"
#define FIX CHANGE("calc.sh", "echo $(($1 - $2))", "echo $(($1 + $2))")
#define NO_FIX CHANGE("calc.sh", "echo $(($1 - $2))", "echo $(($1-$2))")

static const char runner[] =
    "n=0; for t in tests/*.sh; do n=$((n+1)); if sh $t; then echo \"ok $n - "
    "$t\"; else echo \"not ok $n - $t\"; bad=1; fi; done; echo 1..$n; exit "
    "${bad:-0}\n";
static const char repro[] = ADD("more/issue.sh",
    "r=$(sh calc.sh 1 2); test $r = 3 || { echo want 3, got $r; exit 1; }");
static const char *const cmds[] = { "sh more/issue.sh", "sh run.sh" };
static const char *const guarded[] = { "run.sh", "tests/a.sh" };

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

static const struct msg_summary *
sum(struct bed *b)
{
	return &b->summary->u.summary;
}

static void
prepare(struct bed *b, const char *kind)
{
	struct msg_task *t = &b->task.u.task;

	bed_need_sandbox();
	bed_text(b, "run.sh", runner);
	bed_text(b, "calc.sh", "echo $(($1 - $2))\n");
	bed_text(b, "tests/a.sh", "test $(sh calc.sh 5 0) = 5\n");
	t->kind = kind;
	t->guarded = (struct msg_strs){ guarded, 2 };
	t->tests = (struct msg_strs){ cmds, 2 };
	t->tests_passed = 1;
	t->test_ms = 100;
}

static void
ends(struct bed *b, const char *verdict, const char *reason)
{
	bed_run(b);
	if (strcmp(sum(b)->verdict, verdict) != 0)
		fail_msg("%s: %s", sum(b)->verdict, sum(b)->reason);
	bed_has(sum(b)->reason, reason);
}

/* --- confirm ------------------------------------------------------------- */

static void
confirm(
    struct bed *b, const char *patch, const char *verdict, const char *reason)
{
	b->task.u.task.patch = patch;
	b->task.u.task.patch_len = strlen(patch);
	if (b->task.u.task.expect == NULL)
		b->task.u.task.expect = "want 3, got -1";
	ends(b, verdict, reason);
}

static void
test_confirmed(void **state)
{
	prepare(*state, "confirm");
	confirm(
	    *state, repro, "done", "it fails twice with \"want 3, got -1\"");
	assert_int_equal(sum(*state)->failing.n, 1);
	assert_string_equal(sum(*state)->failing.v[0], cmds[0]);
	bed_has(sum(*state)->output, "want 3, got -1");
	assert_int_equal(((struct bed *)*state)->audits.n, 4);
}

static void
test_passes(void **state)
{
	prepare(*state, "confirm");
	confirm(*state, ADD("more/issue.sh", "echo want 3, got -1"), "refuted",
	    "exits with 0");
}

static void
test_other_reason(void **state)
{
	prepare(*state, "confirm");
	confirm(*state, ADD("more/issue.sh", "no-such-program; exit 1"),
	    "refuted", "\"want 3, got -1\" is not in its output");
	bed_has(sum(*state)->reason, "no-such-program");
}

/* Nothing is in any output. */
static void
test_no_expect(void **state)
{
	((struct bed *)*state)->task.u.task.expect = "";
	prepare(*state, "confirm");
	confirm(*state, repro, "refuted", "another reason");
}

static void
test_no_file(void **state)
{
	prepare(*state, "confirm");
	confirm(
	    *state, ADD("more/other.sh", "exit 1"), "refuted", "more/issue.sh");
}

static void
test_no_command(void **state)
{
	static const char *const tests[] = { "no-such-runner", "sh run.sh" };
	struct bed *b = *state;

	prepare(b, "confirm");
	b->task.u.task.tests = (struct msg_strs){ tests, 2 };
	confirm(b, repro, "refuted", "command not found");
}

static void
test_hangs(void **state)
{
	prepare(*state, "confirm");
	((struct bed *)*state)->task.u.task.call_ms = 500;
	confirm(
	    *state, ADD("more/issue.sh", "sleep 60"), "refuted", "timed out");
}

static void
test_does_not_apply(void **state)
{
	prepare(*state, "confirm");
	confirm(*state, ADD("calc.sh", "x"), "refuted", "does not apply");
}

/* The first run leaves something behind. */
static void
test_only_once(void **state)
{
	prepare(*state, "confirm");
	confirm(*state,
	    ADD("more/issue.sh",
		"test -e seen && exit 0; touch seen; echo want 3, got -1; exit 1"),
	    "refuted", "exits with 0");
}

static void
test_other_names(void **state)
{
	prepare(*state, "confirm");
	confirm(*state,
	    ADD("more/issue.sh",
		"echo 1..1; echo want 3, got -1; if test -e seen; then echo not "
		"ok 1 - b; else touch seen; echo not ok 1 - a; fi; exit 1"),
	    "refuted", "same way twice");
}

static void
test_skips(void **state)
{
	prepare(*state, "confirm");
	confirm(*state,
	    ADD("more/issue.sh",
		"echo 1..2; echo want 3, got -1; echo ok 1 - x '#' SKIP; echo not "
		"ok 2 - b; exit 1"),
	    "refuted", "skips 1 tests");
}

/* Its files make another test fail; its own name does not hide that. */
static void
test_breaks_others(void **state)
{
	struct bed *b = *state;

	prepare(b, "confirm");
	bed_text(b, "tests/a.sh", "! test -e more/issue.sh\n");
	confirm(b, repro, "refuted",
	    "a test that passed before fails: tests/a.sh (of `sh run.sh`)");
}

static void
test_fewer_pass(void **state)
{
	prepare(*state, "confirm");
	((struct bed *)*state)->task.u.task.tests_passed = 2;
	confirm(*state, repro, "refuted", "fewer tests pass than the 2 before");
}

/* The runner finds it by itself. */
static void
test_collected(void **state)
{
	static const char *const tests[] = { "sh tests/issue.sh", "sh run.sh" };
	struct bed *b = *state;

	prepare(b, "confirm");
	b->task.u.task.tests = (struct msg_strs){ tests, 2 };
	confirm(b,
	    ADD("tests/issue.sh",
		"r=$(sh calc.sh 1 2); test $r = 3 || { echo want 3, got $r; "
		"exit 1; }"),
	    "done", "1 other tests pass");
	assert_int_equal(sum(b)->failing.n, 2);
}

/* --- an explore ---------------------------------------------------------- */

static void
with_reproducer(struct bed *b, const char *kind)
{
	static const char *const failing[] = { "sh more/issue.sh" };

	prepare(b, kind);
	b->task.u.task.base_patch = repro;
	b->task.u.task.base_patch_len = strlen(repro);
	b->task.u.task.failing = (struct msg_strs){ failing, 1 };
}

static void
test_explore(void **state)
{
	struct bed *b = *state;

	with_reproducer(b, "explore");
	bed_call(b, "edit_file",
	    "{\"path\":\"more/issue.sh\",\"old\":\"exit 1\",\"new\":\"exit 0\"}");
	bed_call(b, "run_command",
	    "{\"command\":\"echo exit 0 >more/issue.sh; sh more/issue.sh\"}");
	bed_call(b, "try_edits",
	    "{\"check\":\"echo exit 0 >more/issue.sh; sh more/issue.sh\","
	    "\"edits\":[{\"changes\":[{\"path\":\"calc.sh\",\"old\":\"-\","
	    "\"new\":\"+\"}]},{\"changes\":[{\"path\":\"calc.sh\",\"old\":\"-\","
	    "\"new\":\"*\"}]}]}");
	bed_call(b, "edit_file",
	    "{\"path\":\"calc.sh\",\"old\":\"-\",\"new\":\"+\"}");
	bed_call(b, "run_command", "{\"command\":\"sh more/issue.sh\"}");
	bed_finish(b, "fixed");
	ends(b, "fixed", "");
	bed_has(b->results.v[0], "protected");
	bed_has(b->results.v[1], "want 3, got -1");
	bed_has(b->results.v[2], "\"passed\":[1]");
	bed_has(sum(b)->patch, "calc.sh");
	bed_has_not(sum(b)->patch, "issue.sh");
}

/* --- verify -------------------------------------------------------------- */

static void
verify(
    struct bed *b, const char *patch, const char *verdict, const char *reason)
{
	b->task.u.task.patch = patch;
	b->task.u.task.patch_len = strlen(patch);
	ends(b, verdict, reason);
}

static void
test_verified(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state, FIX, "fixed", "2 tests pass");
}

static void
test_unfixed(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state, NO_FIX, "refuted", "it still fails: sh more/issue.sh");
}

/* What the candidate says of the reproducer does not matter, for or against. */
static void
test_weakened(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state, ADD("more/issue.sh", "exit 0") NO_FIX, "refuted",
	    "it still fails: sh more/issue.sh");
	bed_has(sum(*state)->reason, "which is the reproducer's");
}

static void
test_spoiled(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state, ADD("more/issue.sh", "exit 1") FIX, "fixed", "2 tests");
}

static void
test_only_weakened(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state, ADD("more/issue.sh", "exit 0"), "refuted",
	    "changes nothing but tests and protected files");
}

static void
test_in_the_way(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state, ADD("more/issue.sh/x", "exit 0") FIX, "refuted",
	    "does not fit beside the patch");
}

static void
test_link_in_the_way(void **state)
{
	with_reproducer(*state, "verify");
	verify(*state,
	    "diff --git a/more b/more\nnew file mode 120000\n--- /dev/null\n+++ "
	    "b/more\n@@ -0,0 +1 @@\n+tests\n\\ No newline at end of file\n" FIX,
	    "refuted", "does not fit beside the patch");
}

/* Names that a model chose excuse no failure: neither one that is flaky by
 * chance, nor one of another command. */
static void
test_excuses(void **state)
{
	static const char *const names[] = { "sh more/issue.sh", "tests/a.sh" };
	struct bed *b = *state;

	with_reproducer(b, "verify");
	b->task.u.task.flaky = (struct msg_strs){ names, 1 };
	b->task.u.task.failing = (struct msg_strs){ names, 2 };
	verify(b, NO_FIX, "refuted", "it still fails: sh more/issue.sh");
}

static void
test_other_command_fails(void **state)
{
	static const char *const names[] = { "sh more/issue.sh", "tests/a.sh" };
	struct bed *b = *state;

	with_reproducer(b, "verify");
	b->task.u.task.failing = (struct msg_strs){ names, 2 };
	verify(b, CHANGE("calc.sh", "echo $(($1 - $2))", "echo 3"), "refuted",
	    "it still fails: tests/a.sh");
}

/* One that is gone is not made up for by the reproducer, which passes now. */
static void
test_other_gone(void **state)
{
	with_reproducer(*state, "verify");
	((struct bed *)*state)->task.u.task.tests_passed = 2;
	verify(*state, FIX, "refuted", "1 tests that ran before are skipped");
}

static void
test_runs_nothing(void **state)
{
	struct bed *b = *state;
	static const char quiet[] = ADD("more/issue.sh",
	    "sh calc.sh 1 2 | grep -q 3 || { echo want 3; exit 1; }; echo "
	    "'Ran 0 tests in 0.000s'; echo; echo OK");

	with_reproducer(b, "verify");
	b->task.u.task.base_patch = quiet;
	b->task.u.task.base_patch_len = strlen(quiet);
	verify(b, FIX, "refuted", "ran no tests");
}

static void
test_skips_now(void **state)
{
	struct bed *b = *state;
	static const char tap[] = ADD("more/issue.sh",
	    "echo 1..1; if sh calc.sh 1 2 | grep -q 3; then echo ok 1 - a '#' "
	    "SKIP; else echo not ok 1 - a; exit 1; fi");

	with_reproducer(b, "verify");
	b->task.u.task.base_patch = tap;
	b->task.u.task.base_patch_len = strlen(tap);
	verify(b, FIX, "refuted", "the reproducer no longer runs");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_confirmed),
		T(test_passes),
		T(test_other_reason),
		T(test_no_expect),
		T(test_no_file),
		T(test_no_command),
		T(test_hangs),
		T(test_does_not_apply),
		T(test_only_once),
		T(test_other_names),
		T(test_skips),
		T(test_breaks_others),
		T(test_fewer_pass),
		T(test_collected),
		T(test_explore),
		T(test_verified),
		T(test_unfixed),
		T(test_weakened),
		T(test_spoiled),
		T(test_only_weakened),
		T(test_in_the_way),
		T(test_link_in_the_way),
		T(test_excuses),
		T(test_other_command_fails),
		T(test_other_gone),
		T(test_runs_nothing),
		T(test_skips_now),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
