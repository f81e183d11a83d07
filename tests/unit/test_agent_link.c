/*
 * The worker as a whole: loop, tools and sandboxed commands, with a scripted
 * model. The ids (B-001, F-004, ...) are of the collected failures of other
 * tools.
 */
#include "common/compat.h"

#include "tests/unit/test_agent_bed.h"

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
	if (strstr(s, part) == NULL)
		fail_msg("\"%s\" is not in: %s", part, s);
}

static void
has_not(const char *s, const char *part)
{
	if (strstr(s, part) != NULL)
		fail_msg("\"%s\" is in: %s", part, s);
}

/* --- the loop ------------------------------------------------------------ */

static void
test_reads_and_finishes(void **state)
{
	struct bed *b = *state;

	bed_text(b, "a.txt", "one\r\nt\rw\033[1mo\n");
	bed_call(b, "read_file", "{\"path\":\"a.txt\"}");
	bed_call(b, "finish",
	    "{\"verdict\":\"refuted\",\"findings\":[\"f1\",\"f2\"],"
	    "\"evidence\":[\"a.txt:1\"],\"reason\":\"because\"}");
	bed_run(b);
	assert_string_equal(b->results.v[0],
	    "a.txt (lines 1-2 of 2)\none\nt\xe2\x90\x8dw"
	    "\xe2\x90\x9b[1mo\n");
	assert_string_equal(b->summary->u.summary.verdict, "refuted");
	assert_string_equal(b->summary->u.summary.reason, "because");
	assert_int_equal(b->summary->u.summary.findings.n, 2);
	assert_int_equal(b->summary->u.summary.calls, 2);
	assert_int_equal(b->summary->u.summary.tools, 2);
	/* tools, system, user; then only what is new */
	assert_int_equal(b->bodies.n, 3 + 2);
	has(b->bodies.v[0], "\"role\":\"tools\"");
	has(b->bodies.v[1], "\"content\":\"system\"");
}

static void
test_sends_bodies_again(void **state)
{
	struct bed *b = *state;

	b->ask_bodies = true;
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->bodies.n, 3 + 2);
	assert_string_equal(b->bodies.v[0], b->bodies.v[3]);
	assert_string_equal(b->summary->u.summary.verdict, "done");
}

static void
test_budget(void **state)
{
	struct bed *b = *state;

	b->task.u.task.hypothesis = "the moon";
	bed_run(b);
	assert_string_equal(b->summary->u.summary.verdict, "budget");
	assert_string_equal(b->summary->u.summary.hypothesis, "the moon");
}

static void
test_no_call_is_stuck(void **state)
{
	struct bed *b = *state;
	int i;

	/* C-027: an empty message is not kept */
	for (i = 0; i < 3; i++)
		bed_say(b,
		    i == 0 ? "{\"role\":\"assistant\",\"content\":null}"
			   : "{\"role\":\"assistant\",\"content\":\"hm\"}");
	bed_run(b);
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
	has(b->summary->u.summary.reason, "hm");
	assert_int_equal(b->bodies.n, 3 + 1 + 2);
}

static void
test_same_call_is_stuck(void **state)
{
	struct bed *b = *state;
	int i;

	/* C-020 */
	for (i = 0; i < 20; i++)
		bed_call(b, "unknown", "{}");
	bed_run(b);
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
	assert_in_range(b->models, 1, 6);
	has(b->results.v[0], "read_file"); /* C-019 */
}

static void
test_errors_are_stuck(void **state)
{
	struct bed *b = *state;
	char args[40];
	int i;

	for (i = 0; i < 20; i++) {
		snprintf(args, sizeof args, "{\"path\":\"no%d\"}", i);
		bed_call(b, "read_file", args);
	}
	bed_run(b);
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
	assert_int_equal(b->models, 8);
}

static void
test_max_turns(void **state)
{
	struct bed *b = *state;
	char args[60];
	int i;

	b->task.u.task.max_turns = 3;
	for (i = 0; i < 9; i++) {
		snprintf(args, sizeof args,
		    "{\"todos\":[{\"text\":\"%d\",\"done\":false}]}", i);
		bed_call(b, "update_todos", args);
	}
	bed_run(b);
	assert_int_equal(b->models, 3);
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
}

static void
test_bad_arguments(void **state)
{
	struct bed *b = *state;

	bed_text(b, "a", "x\n");
	bed_call(b, "list_dir", "");                              /* C-001 */
	bed_call(b, "Read_File", "{\"path\":\"a\"}");             /* C-021 */
	bed_call(b, "read_file", "\"{\\\"path\\\":\\\"a\\\"}\""); /* C-015 */
	bed_call(b, "edit_file", "{\"path\":\"a\",\"old\":\"x\",\"new\":\"in");
	bed_call(b, "edit_file",
	    "{\"path\":\"a\",\"old\":\"x\",\"new\":\"l1\n\tl2\"}"); /* C-017 */
	bed_call(b, "grep", "{\"pattern\":\"l\\d+$\"}");            /* C-018 */
	bed_call(b, "read_file", "{\"file\":\"a\"}");
	bed_call(b, "read_file", "{\"path\":7}");
	bed_call(b, "read_file", "[1]");
	bed_finish(b, "done");
	bed_run(b);
	has(b->results.v[0], "a\n");
	has(b->results.v[1], "x\n");
	has(b->results.v[2], "x\n");
	has(b->results.v[3], "truncated"); /* C-002 */
	has(b->results.v[4], "replaced");
	has(b->results.v[5], "a:2:\tl2");
	has(b->results.v[6],
	    "error: the argument `path` is missing. read_file "
	    "takes {path: string, offset?: integer");
	has(b->results.v[7], "`path` must be a string");
	has(b->results.v[8], "object");
	bed_expect(b, "a", "l1\n\tl2\n");
}

static void
test_two_calls_in_order(void **state)
{
	struct bed *b = *state;

	bed_text(b, "a", "A\n");
	bed_text(b, "b", "B\n");
	bed_say(b,
	    "{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":["
	    "{\"id\":\"t1\",\"name\":\"read_file\",\"arguments\":"
	    "\"{\\\"path\\\":\\\"a\\\"}\"},"
	    "{\"id\":\"t1\",\"name\":\"read_file\",\"arguments\":"
	    "\"{\\\"path\\\":\\\"b\\\"}\"}]}"); /* C-007 */
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->results.n, 2);
	has(b->results.v[0], "A");
	has(b->results.v[1], "B");
}

/* --- files --------------------------------------------------------------- */

static void
test_paths_stay_inside(void **state)
{
	struct bed *b = *state;
	char *p;

	bed_text(b, "tests/test_a.py", "t\n");
	bed_text(b, ".git/config", "c\n");
	bed_text(b, "sub/x", "x\n");
	p = path_join(b->tree, "notes.md");
	assert_int_equal(symlink("../victim", p), 0); /* B-015 */
	free(p);
	p = path_join(b->tree, "esc");
	assert_int_equal(symlink("..", p), 0); /* B-016 */
	free(p);
	p = path_join(b->tree, "t");
	assert_int_equal(symlink("tests", p), 0);
	free(p);
	p = path_join(b->dir, "victim");
	assert_int_equal(file_write(p, "orig\n", 5, 0666, NULL), 0);
	b->task.u.task.guarded =
	    (struct msg_strs){ (const char *const[]){ "tests/test_a.py" }, 1 };
	bed_call(b, "edit_file",
	    "{\"path\":\"notes.md\",\"old\":\"orig\",\"new\":\"y\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\"esc/evil\",\"old\":\"\",\"new\":\"y\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\"../evil\",\"old\":\"\",\"new\":\"y\"}"); /* B-017 */
	bed_call(b, "edit_file",
	    "{\"path\":\"t/test_a.py\",\"old\":\"t\",\"new\":\"y\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\".git/config\",\"old\":\"c\",\"new\":\"y\"}");
	bed_call(b, "read_file", "{\"path\":\"/etc/passwd\"}");
	bed_call(b, "read_file", "{\"path\":\"esc/victim\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\"sub/../sub/x\",\"old\":\"x\",\"new\":\"y\"}");
	bed_finish(b, "done");
	bed_run(b);
	has(b->results.v[0], "refused");
	has(b->results.v[1], "outside");
	has(b->results.v[2], "outside");
	has(b->results.v[3],
	    "t/test_a.py is protected: tests, what runs them and what the "
	    "person names can't be changed");
	has(b->results.v[4], "protected");
	has(b->results.v[5], "outside");
	has(b->results.v[6], "outside");
	bed_expect(b, "sub/x", "y\n");
	bed_expect(b, "tests/test_a.py", "t\n");
	bed_expect(b, "../victim", "orig\n");
	free(p);
}

static void
test_edit_keeps_mode_and_moves_mtime(void **state)
{
	struct bed *b = *state;
	struct stat before, after;
	char *p = path_join(b->tree, "run.sh");

	bed_put(b, "run.sh", "echo a\n", 7, 0775); /* B-013, B-014 */
	bed_text(b, "new/deep/dir/keep", "k\n");
	bed_call(b, "edit_file",
	    "{\"path\":\"run.sh\",\"old\":\"a\",\"new\":\"b\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\"made/here/f\",\"old\":\"\",\"new\":\"n\\n\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\"DENY\",\"old\":\"\",\"new\":\"n\\n\"}");
	bed_finish(b, "done");
	assert_int_equal(stat(p, &before), 0);
	bed_run(b);
	assert_int_equal(stat(p, &after), 0);
	assert_int_equal(after.st_mode & 07777, 0775);
	assert_true(after.st_mtime >= before.st_mtime + 1);
	bed_expect(b, "run.sh", "echo b\n");
	bed_expect(b, "made/here/f", "n\n");
	has(b->results.v[2], "error: denied: the test says no");
	assert_null(bed_get(b, "DENY"));
	free(p);
}

static void
test_patch_tool(void **state)
{
	struct bed *b = *state;

	bed_text(b, "a.txt", "1\n");
	bed_text(b, "b.txt", "2\n");
	bed_text(b, "plan.md", "old\nold2\n");
	bed_text(b, "d.md", "first\n");
	bed_call(b, "apply_patch", /* B-021 */
	    "{\"patch\":\"*** Begin Patch\\n*** Update File: a.txt\\n@@\\n-1\\n"
	    "+10\\n*** Update File: b.txt\\n@@\\n-NOPE\\n+20\\n*** End "
	    "Patch\\n\"}");
	bed_call(b, "apply_patch", /* B-020 */
	    "{\"patch\":\"*** Begin Patch\\n*** Delete File: plan.md\\n*** Add "
	    "File: plan.md\\n+new\\n*** End Patch\\n\"}");
	bed_call(b, "apply_patch", /* B-009 */
	    "{\"patch\":\"*** Begin Patch\\n*** Update File: d.md\\n*** Move "
	    "to: d.md\\n@@\\n first\\n+second\\n*** End Patch\\n\"}");
	bed_call(b, "apply_patch", /* B-010 */
	    "{\"patch\":\"*** Begin Patch\\n*** Add File: a.txt\\n+new\\n*** "
	    "End Patch\\n\"}");
	bed_call(b, "apply_patch",
	    "{\"patch\":\"--- a/a.txt\\n+++ b/moved/a.txt\\n@@ -1 +1 @@\\n-1\\n"
	    "+one\\n\"}");
	bed_call(b, "apply_patch",
	    "{\"patch\":\"diff --git a/a.txt b/moved/a.txt\\nrename from "
	    "a.txt\\nrename to moved/a.txt\\n--- a/a.txt\\n+++ "
	    "b/moved/a.txt\\n@@ -1,1 +1,1 @@\\n-1\\n+one\\n\"}");
	bed_finish(b, "done");
	bed_run(b);
	has(b->results.v[0], "b.txt");
	has(b->results.v[0], "nothing was changed");
	has(b->results.v[1], "changed plan.md (+1 -2)");
	has(b->results.v[3], "exists");
	has(b->results.v[4], "does not exist");
	bed_expect(b, "plan.md", "new\n");
	bed_expect(b, "d.md", "first\nsecond\n");
	bed_expect(b, "b.txt", "2\n");
	bed_expect(b, "moved/a.txt", "one\n");
	assert_null(bed_get(b, "a.txt"));
}

/* --- commands ------------------------------------------------------------ */

static void
test_commands(void **state)
{
	struct bed *b = *state;
	uint64_t began = loop_now_ms();

	bed_need_sandbox();
	bed_call(b, "run_command", "{\"command\":\"echo hi; exit 3\"}");
	bed_call(b, "run_command", "{\"command\":\"false\"}"); /* F-006 */
	bed_call(b, "run_command",                             /* F-001 */
	    "{\"command\":\"sleep 300 & echo ready\"}");
	bed_call(b, "run_command", /* F-004, F-005 */
	    "{\"command\":\"echo s1; echo s2 >&2; sh -c 'sleep 300' & wait\","
	    "\"timeout_s\":3}");
	bed_call(b, "run_command", /* F-007 */
	    "{\"command\":\"read a; echo got:$a\"}");
	bed_call(b, "run_command",
	    "{\"command\":\"cat /dev/tty || kill -9 $$\"}"); /* F-008 */
	bed_call(b, "run_command", "{\"command\":\"DENY\"}");
	bed_call(b, "run_command", /* E-009 */
	    "{\"command\":\"for i in 1 2 3 4 5 6 7 8 9; do printf "
	    "'\\\\033[32m%d%%\\\\033[0m\\\\r' $i; done; echo done\"}");
	bed_call(b, "run_command", /* E-010 */
	    "{\"command\":\"head -c 4096 /dev/urandom; printf '\\\\000end'\"}");
	bed_finish(b, "done");
	bed_run(b);
	assert_string_equal(b->results.v[0], "exit status 3\nhi\n");
	assert_string_equal(b->results.v[1], "exit status 1\n");
	has(b->results.v[2], "exit status 0\nready\n");
	has(b->results.v[3], "timed out after 3");
	has(b->results.v[3], "s1");
	has(b->results.v[3], "s2");
	has(b->results.v[4], "got:\n");
	has(b->results.v[5], "exit status 137");
	has(b->results.v[6], "denied");
	assert_true(strlen(b->results.v[7]) < 200);
	has(b->results.v[7], "done");
	has_not(b->results.v[7], "\033");
	has(b->results.v[8], "end");
	assert_true(loop_now_ms() - began < 200000);
	has(b->audits.v[0], "command echo hi");
}

static void
test_large_output(void **state)
{
	struct bed *b = *state;

	bed_need_sandbox();
	bed_call(
	    b, "run_command", "{\"command\":\"seq 1 200000\"}"); /* E-007 */
	bed_call(b, "run_command", "{\"command\":\"wc -l /tmp/out-1.txt\"}");
	bed_call(b, "read_file",
	    "{\"path\":\"/tmp/out-1.txt\",\"offset\":1000,\"limit\":1}");
	bed_call(b, "run_command", /* F-010 */
	    "{\"command\":\"yes\",\"timeout_s\":1}");
	bed_finish(b, "done");
	bed_run(b);
	assert_true(strlen(b->results.v[0]) < 17000);
	has(b->results.v[0], "1\n2\n");
	has(b->results.v[0], "199999\n200000");
	has(b->results.v[0], "left out");
	has(b->results.v[0], "/tmp/out-1.txt");
	has(b->results.v[1], "200000 /tmp/out-1.txt");
	has(b->results.v[2], "(lines 1000-1000 of 200000)\n1000\n");
	has(b->results.v[3], "timed out");
	assert_true(strlen(b->results.v[3]) < 17000);
}

static void
test_grep_and_list(void **state)
{
	struct bed *b = *state;
	char *line = xmalloc(600001);

	bed_need_sandbox();
	memset(line, 'x', 600000);
	memcpy(line + 300000, "NEEDLE", 6);
	line[599999] = '\n';
	line[600000] = '\0';
	bed_text(b, "min.js", line); /* E-008 */
	bed_text(b, "src/a.py", "def f():\n    return NEEDLE\n");
	free(line);
	bed_call(b, "grep", "{\"pattern\":\"NEEDLE\"}");
	bed_call(b, "grep", "{\"pattern\":\"nothing like it\"}");
	bed_call(b, "grep", "{\"pattern\":\"(\"}");
	bed_call(b, "grep", "{\"pattern\":\"(\",\"fixed\":true}");
	bed_call(b, "list_dir", "{}");
	bed_call(b, "list_dir", "{\"recursive\":true}");
	bed_call(b, "list_dir", "{\"path\":\"min.js\"}");
	bed_finish(b, "done");
	bed_run(b);
	assert_true(strlen(b->results.v[0]) < 2000);
	has(b->results.v[0], "src/a.py:2:    return NEEDLE");
	has(b->results.v[0], "xxNEEDLExx");
	has(b->results.v[0], "line of 599999 bytes");
	assert_string_equal(b->results.v[1], "no matches");
	has(b->results.v[2], "error: ");
	has(b->results.v[3], "src/a.py:1:def f():");
	has(b->results.v[4], "min.js\nsrc/\n");
	has(b->results.v[5], "min.js\nsrc/a.py\n");
	has(b->results.v[6], "not a directory");
}

static void
test_try_edits(void **state)
{
	struct bed *b = *state;

	bed_need_sandbox();
	bed_text(b, "calc.sh", "echo $((1 - 2))\n");
	bed_call(b, "try_edits",
	    "{\"check\":\"test \\\"$(sh calc.sh)\\\" = 3 && touch made && exit "
	    "0; echo; echo got $(sh calc.sh); exit 1\",\"timeout_s\":5,"
	    "\"edits\":["
	    "{\"label\":\"mul\",\"changes\":[{\"path\":\"calc.sh\",\"old\":"
	    "\"-\",\"new\":\"*\"}]},"
	    "{\"changes\":[{\"path\":\"calc.sh\",\"old\":\"-\",\"new\":\"+\"}]"
	    "},{\"changes\":[{\"path\":\"calc.sh\",\"old\":\"nope\",\"new\":"
	    "\"+\"}]},"
	    "{\"changes\":[{\"path\":\"calc.sh\",\"old\":\"echo\",\"new\":"
	    "\"sleep 60; echo\"}]},"
	    "{\"changes\":[{\"path\":\"calc.sh\",\"old\":\"1 - 2\",\"new\":"
	    "\"4 - 2\",\"line\":1},{\"path\":\"calc.sh\",\"old\":\"4 - 2\","
	    "\"new\":\"4 - 1\"},{\"path\":\"dir/new\",\"old\":\"\",\"new\":"
	    "\"n\"}]}]}");
	bed_finish(b, "done");
	bed_run(b);
	has(b->results.v[0], "{\"tried\":5,\"passed\":[");
	has(b->results.v[0],
	    "{\"n\":1,\"label\":\"mul\",\"pass\":false,"
	    "\"why\":\"exit 1: got 2\"}");
	has(b->results.v[0], "{\"n\":2,\"pass\":true}");
	has(b->results.v[0], "can't be applied: `old` does not occur");
	has(b->results.v[0], "{\"n\":4,\"pass\":false,\"why\":\"timed out");
	has(b->results.v[0], "\"timed_out\":true},{\"n\":5,");
	has(b->results.v[0], "{\"n\":5,\"pass\":true}");
	bed_expect(b, "calc.sh", "echo $((1 - 2))\n");
	assert_null(bed_get(b, "made"));
	assert_null(bed_get(b, "dir/new"));
	assert_int_equal(b->summary->u.summary.tried, 4);
	has(b->audits.v[0], "try test");
}

/* What has no result when the time of all is over is no result. */
static void
test_try_within(void **state)
{
	struct bed *b = *state;

	bed_need_sandbox();
	bed_text(b, "n.sh", "sleep 0\n");
	bed_call(b, "try_edits",
	    "{\"check\":\"sh n.sh; exit 1\",\"within_s\":3,\"edits\":["
	    "{\"changes\":[{\"path\":\"n.sh\",\"old\":\"0\",\"new\":\"0.0\""
	    "}]},"
	    "{\"changes\":[{\"path\":\"n.sh\",\"old\":\"0\",\"new\":\"600\"}"
	    "]},"
	    "{\"changes\":[{\"path\":\"n.sh\",\"old\":\"0\",\"new\":\"601\"}"
	    "]}]}");
	bed_finish(b, "done");
	bed_run(b);
	assert_string_equal(b->results.v[0],
	    "{\"tried\":1,\"passed\":[],\"results\":[{\"n\":1,\"pass\":false,"
	    "\"why\":\"exit 1\"}]}");
	assert_int_equal(b->summary->u.summary.tried, 1);
	assert_true(b->summary->u.summary.wall_ms < 60000);
}

static void
test_patch_comes_back(void **state)
{
	struct bed *b = *state;
	const struct msg_summary *s;

	bed_need_sandbox();
	b->task.u.task.kind = "explore";
	bed_text(b, "a.py", "x = 1\n");
	bed_finish(b, "fixed"); /* nothing changed: refused */
	bed_call(b, "run_command",
	    "{\"command\":\"mkdir -p __pycache__ && echo j > "
	    "__pycache__/a.pyc && sed -i s/1/2/ a.py && echo n > b.py && "
	    "printf 'b\\\\0' > bin\"}");
	bed_finish(b, "fixed");
	bed_run(b);
	s = &b->summary->u.summary;
	has(b->results.v[0], "error: the verdict can't be fixed");
	assert_string_equal(s->verdict, "fixed");
	assert_true(s->patch_len > 0);
	assert_non_null(memmem(s->patch, s->patch_len, "+x = 2", 6));
	assert_non_null(memmem(s->patch, s->patch_len, "b/b.py", 6));
	assert_null(memmem(s->patch, s->patch_len, "pyc", 3));
	assert_null(memmem(s->patch, s->patch_len, "bin", 3));
}

/* The whole of it behind both walls. */
static void
caged(struct bed *b, enum layout layout)
{
	static const char *const guarded[] = { "tests/t.sh" };
	const struct msg_summary *s;

	bed_need_sandbox();
	if (layout < probe_layout(b->dir)) {
		print_message("# %s has no such layout\n", b->dir);
		b->gone = true;
		return;
	}
	b->caged = true;
	b->layout = layout;
	b->task.u.task.kind = "explore";
	b->task.u.task.guarded = (struct msg_strs){ guarded, 1 };
	bed_text(b, "calc.sh", "echo $((1 - 2))\n");
	bed_text(b, "gone.sh", "x\n");
	bed_text(b, "tests/t.sh", "test $(sh calc.sh) = 3\n");
	bed_call(b, "run_command",
	    "{\"command\":\"rm gone.sh; echo > tests/t.sh; echo n > "
	    "tests/new.sh; ls /run/foray /proc | head -3; id -u\"}");
	bed_call(b, "try_edits",
	    "{\"check\":\"! test -e gone.sh && (echo >> tests/t.sh; sh "
	    "tests/t.sh)\",\"edits\":[{\"changes\":[{\"path\":\"calc.sh\","
	    "\"old\":\"-\",\"new\":\"*\"}]},{\"changes\":[{\"path\":"
	    "\"calc.sh\",\"old\":\"-\",\"new\":\"+\"}]}]}");
	bed_call(b, "edit_file",
	    "{\"path\":\"calc.sh\",\"old\":\"-\",\"new\":\"+\"}");
	bed_finish(b, "fixed");
	bed_run(b);
	s = &b->summary->u.summary;
	has(b->results.v[0], "Read-only");
	has(b->results.v[1], "\"passed\":[2]");
	assert_string_equal(s->verdict, "fixed");
	assert_non_null(memmem(s->patch, s->patch_len, "+echo $((1 + 2))", 16));
	assert_non_null(memmem(s->patch, s->patch_len, "tests/new.sh", 12));
	assert_non_null(memmem(s->patch, s->patch_len, "deleted file", 12));
	assert_null(memmem(s->patch, s->patch_len, "tests/t.sh", 10));
}

static void
test_caged_overlay(void **state)
{
	caged(*state, LAYOUT_OVERLAY);
}

static void
test_caged_tmpfs(void **state)
{
	caged(*state, LAYOUT_TMPFS);
}

static void
test_caged_copy(void **state)
{
	caged(*state, LAYOUT_COPY);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_reads_and_finishes),
		T(test_sends_bodies_again),
		T(test_budget),
		T(test_no_call_is_stuck),
		T(test_same_call_is_stuck),
		T(test_errors_are_stuck),
		T(test_max_turns),
		T(test_bad_arguments),
		T(test_two_calls_in_order),
		T(test_paths_stay_inside),
		T(test_edit_keeps_mode_and_moves_mtime),
		T(test_patch_tool),
		T(test_commands),
		T(test_large_output),
		T(test_grep_and_list),
		T(test_try_edits),
		T(test_try_within),
		T(test_patch_comes_back),
		T(test_caged_overlay),
		T(test_caged_tmpfs),
		T(test_caged_copy),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
