/*
 * Protected files have three walls: mounts in the sandbox of commands, refusal
 * in the tools, restoration before a verification. Each alone, where the other
 * two are not on the way: a command needs no tool, a tool is no command, and a
 * patch from elsewhere has met neither.
 */
#include "common/compat.h"

#include "tests/unit/test_agent_bed.h"
#include "worker/agent/treefs.h"

static const char a_sh[] = "test $(sh calc.sh 0 0) = 0\n";
static const char b_sh[] = "test $(sh calc.sh 1 2) = 3\n";
static const char calc[] = "echo $(($1 - $2))\n";
static const char run_sh[] = "sh tests/a.sh && echo ok 1 - a || echo not ok 1 "
			     "- a\nsh tests/b.sh && echo ok 2 - b || "
			     "echo not ok 2 - b\necho 1..2\n";
static const char *const guarded[] = { "run.sh", "tests/a.sh", "tests/b.sh" };

static int
setup(void **state)
{
	static struct bed b;

	bed_open(&b);
	bed_text(&b, "run.sh", run_sh);
	bed_text(&b, "calc.sh", calc);
	bed_text(&b, "tests/a.sh", a_sh);
	bed_text(&b, "tests/b.sh", b_sh);
	b.task.u.task.guarded = (struct msg_strs){ guarded, nitems(guarded) };
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
tests_are_whole(struct bed *b)
{
	bed_expect(b, "tests/a.sh", a_sh);
	bed_expect(b, "tests/b.sh", b_sh);
	bed_expect(b, "run.sh", run_sh);
}

/* --- the first: mounts --------------------------------------------------- *
 * What a mount can't stop is that the directory above is renamed: that is found
 * when the patch is made, and by the third. */

static void
test_mounts(void **state)
{
	static const char *const deeds[] = { "echo x >>tests/b.sh",
		"rm -f tests/b.sh", "mv tests/b.sh c", "rm -rf tests",
		": >run.sh", "chmod 000 tests/b.sh",
		"ln -sf /dev/null tests/b.sh",
		"echo x >t && cp -f t tests/b.sh",
		"echo x >t && mv -f t tests/b.sh", "sed -i d tests/b.sh" };
	struct bed *b = *state;
	size_t i;
	char *args;

	bed_need_sandbox();
	for (i = 0; i < nitems(deeds); i++) {
		args = xasprintf("{\"command\":\"%s && echo DONE\"}", deeds[i]);
		bed_call(b, "run_command", args);
		free(args);
	}
	bed_call(b, "run_command",
	    "{\"command\":\"echo new >tests/c.sh && echo DONE\"}");
	bed_finish(b, "stuck");
	bed_run(b);
	assert_true(b->results.n >= nitems(deeds) + 1);
	for (i = 0; i < nitems(deeds); i++)
		bed_has_not(b->results.v[i], "DONE");
	bed_has(b->results.v[i], "DONE"); /* a new one beside them */
	tests_are_whole(b);
	bed_expect(b, "tests/c.sh", "new\n");
}

/* --- the second: tools --------------------------------------------------- */

static void
test_tools(void **state)
{
	struct bed *b = *state;
	struct strv refused = { 0 };
	struct treefs fs;
	struct err e;
	size_t i;

	assert_int_equal(treefs_open(&fs, b->tree, NULL, NULL, "/tmp", &e), 0);
	treefs_guard(&fs, guarded, nitems(guarded));
	fs.refused = &refused;
	for (i = 0; i < nitems(guarded); i++) {
		assert_int_equal(
		    treefs_write(&fs, guarded[i], "x", 1, 0, &e), ERR_DENIED);
		bed_has(e.text, guarded[i]);
		bed_has(e.text, "protected");
		assert_int_equal(
		    treefs_remove(&fs, guarded[i], &e), ERR_DENIED);
	}
	assert_int_equal(refused.n, nitems(guarded)); /* for the summary */
	assert_int_equal(treefs_write(&fs, "tests/c.sh", "new\n", 4, 0, &e), 0);
	tests_are_whole(b);
	bed_expect(b, "tests/c.sh", "new\n");
	/* It is the list that refuses, not the tree. */
	treefs_guard(&fs, NULL, 0);
	assert_int_equal(treefs_remove(&fs, "tests/b.sh", &e), 0);
	strv_clear(&refused);
	treefs_close(&fs);
}

/* --- the third: a patch that was made elsewhere -------------------------- */

#define CHANGE(f, from, to) \
	"diff --git a/" f " b/" f "\n--- a/" f "\n+++ b/" f \
	"\n@@ -1 +1 @@\n-" from "\n+" to "\n"
#define REMOVE(f, from) \
	"diff --git a/" f " b/" f "\ndeleted file mode 100644\n--- a/" f \
	"\n+++ /dev/null\n@@ -1 +0,0 @@\n-" from "\n"
#define A "test $(sh calc.sh 0 0) = 0"
#define B "test $(sh calc.sh 1 2) = 3"
#define CALC "echo $(($1 - $2))"
#define IDLE CHANGE("calc.sh", CALC, CALC " # checked")
#define FIX CHANGE("calc.sh", CALC, "echo $(($1 + $2))")

static void
verify(struct bed *b, const char *patch, const char *verdict,
    const char *reason, const char *also)
{
	static const char *const cmd = "sh run.sh", *const failing = "b";
	struct msg_task *t = &b->task.u.task;
	const struct msg_summary *s;

	bed_need_sandbox();
	t->kind = "verify";
	t->tests = (struct msg_strs){ &cmd, 1 };
	t->failing = (struct msg_strs){ &failing, 1 };
	t->tests_passed = 1;
	t->per_test = true;
	t->test_ms = 100;
	t->patch = patch;
	t->patch_len = strlen(patch);
	bed_run(b);
	s = &b->summary->u.summary;
	if (strcmp(s->verdict, verdict) != 0)
		fail_msg("%s: %s", s->verdict, s->reason);
	bed_has(s->reason, reason);
	assert_true(s->findings.n > 0);
	bed_has(s->findings.v[0], also);
	tests_are_whole(b);
}

static void
test_deleted(void **state)
{
	verify(*state, IDLE REMOVE("tests/b.sh", B), "refuted",
	    "it still fails: b", "changes tests/b.sh, which is protected");
}

static void
test_weakened(void **state)
{
	verify(*state, IDLE CHANGE("tests/b.sh", B, "true"), "refuted",
	    "tests/b.sh", "changes tests/b.sh, which is protected");
}

/* Beside a fix it does not count, and is told. */
static void
test_beside(void **state)
{
	verify(*state, FIX REMOVE("tests/a.sh", A), "fixed", "2 tests pass",
	    "changes tests/a.sh, which is protected");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = { T(test_mounts), T(test_tools),
		T(test_deleted), T(test_weakened), T(test_beside) };

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
