/*
 * The context policy of the real worker: class E of tests/cases, with a model
 * that is a function.
 */
#include "common/compat.h"

#include "tests/unit/test_agent_cases.h"
#include "worker/agent/tool.h"

#define COMPACT "\"kind\":\"compact\""

static unsigned compactions, overflows;
static const char *summary; /* of the model */
static bool (*extra)(struct bed *b, struct msg *m);

static int
setup(void **state)
{
	static struct bed b;

	bed_open(&b);
	compactions = overflows = 0;
	summary = "we were at it";
	extra = NULL;
	*state = &b;
	return 0;
}

static int
teardown(void **state)
{
	bed_close(*state);
	return 0;
}

static const char *
last(const struct bed *b)
{
	return b->conv.v[b->conv.n - 1];
}

/* Answers the request for a summary; the script has the rest. */
static void
with_summary(struct bed *b, const struct msg_model *q, struct msg *m)
{
	static char *text;
	json_t *j;

	(void)q;
	if (strstr(last(b), COMPACT) == NULL) {
		if (extra != NULL)
			(void)extra(b, m);
		return;
	}
	compactions++;
	j = json_pack("{s:s, s:s}", "role", "assistant", "content", summary);
	free(text);
	text = json_text(j);
	json_decref(j);
	m->u.model_result.status = "ok";
	m->u.model_result.message = text;
}

static size_t
count(const struct bed *b, const char *part)
{
	size_t n = 0;

	for (size_t i = 0; i < b->conv.n; i++)
		n += strstr(b->conv.v[i], part) != NULL;
	return n;
}

static char *
filled(size_t len)
{
	char *s = xmalloc(len + 1);

	for (size_t i = 0; i < len; i++)
		s[i] = i % 64 == 63 ? '\n'
				    : "abcdefghijklmnop"[(i * 7 + i / 64) % 16];
	s[len] = '\0';
	return s;
}

/* A file of len bytes for each of the n calls that read one. */
static void
reads(struct bed *b, unsigned n, size_t len)
{
	char name[32], args[64], *s = filled(len);

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof name, "f%u.txt", i);
		snprintf(s, 20, "file %u\n", i);
		s[strlen(s)] = '.';
		bed_text(b, name, s);
		snprintf(args, sizeof args, "{\"path\":\"%s\"}", name);
		bed_call(b, "read_file", args);
	}
	free(s);
}

static size_t
tools_len(void)
{
	json_t *j = tool_list();
	char *s = json_text(j);
	size_t n = strlen(s);

	free(s);
	json_decref(j);
	return n;
}

/* --- E-001 to E-006 ------------------------------------------------------ */

static void
test_e_001(void **state)
{
	struct bed *b = *state;
	json_t *c = case_get("E-001"), *v;
	size_t fixed, i;
	char *system, *prompt;

	b->task.u.task.context =
	    (uint64_t)json_integer_value(case_in(c, "context_limit"));
	fixed = 4 *
	    (size_t)json_integer_value(case_in(c, "system_and_tools_tokens"));
	system = filled(fixed - tools_len());
	prompt =
	    filled(4 * (size_t)json_integer_value(case_in(c, "user_tokens")));
	b->task.u.task.system = system;
	b->task.u.task.prompt = prompt;
	b->model = with_summary;
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(compactions, 0); /* at most 2 */
	assert_int_equal(b->models, 0);
	assert_string_equal(b->summary->u.summary.verdict, "error");
	bed_has(b->summary->u.summary.reason, "context too small");
	v = json_object_get(json_object_get(c, "expected"), "message_lists");
	for (i = 0; i < json_array_size(v); i++)
		bed_has(b->summary->u.summary.reason,
		    json_string_value(json_array_get(v, i)));
	json_decref(c);
	free(system);
	free(prompt);
}

/* A "summary" that is the conversation itself frees nothing. */
static void
test_e_002(void **state)
{
	struct bed *b = *state;
	char *same = filled(60000);

	b->task.u.task.context = 20000;
	b->model = with_summary;
	summary = same;
	for (int i = 0; i < 40; i++) {
		char *s = filled(3000), *args;

		args = xasprintf(
		    "{\"path\":\"f%d\",\"old\":\"\",\"new\":\"%s\"}", i, s);
		bed_call(b, "edit_file", args);
		free(args);
		free(s);
	}
	bed_run(b);
	free(same);
	assert_int_equal(compactions, 2);
	assert_string_equal(b->summary->u.summary.verdict, "error");
	bed_has(b->summary->u.summary.reason, "no progress");
	bed_has(b->summary->u.summary.reason, "context too small");
}

static unsigned first_at;

static bool
note_first(struct bed *b, struct msg *m)
{
	(void)m;
	if (compactions == 0)
		first_at = b->used;
	return false;
}

/* 30 renames, one a turn; the window is full after ten. */
static void
test_e_003(void **state)
{
	struct bed *b = *state;
	json_t *c = case_get("E-003");
	char *pad = filled(3000), *p, name[16], *args;

	for (p = pad; (p = strchr(p, '\n')) != NULL;)
		*p = ' ';
	b->task.u.task.prompt = "rename f to g in 30 files, one file per turn";
	b->task.u.task.context = 13500;
	b->model = with_summary;
	extra = note_first;
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "m%d.c", i);
		args = xasprintf("f %d %s\n", i, pad);
		bed_text(b, name, args);
		free(args);
		args = xasprintf("{\"path\":\"%s\",\"old\":\"f %d %s\",\"new\":"
				 "\"g %d %.20s\"}",
		    name, i, pad, i, pad);
		bed_call(b, "edit_file", args);
		free(args);
	}
	bed_finish(b, "done");
	bed_run(b);
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "m%d.c", i);
		p = bed_get(b, name);
		assert_int_equal(p[0], 'g');
		free(p);
	}
	assert_string_equal(b->summary->u.summary.verdict, "done");
	assert_in_range(first_at, 8, 12);
	assert_in_range(compactions, 2, 6);
	/* No prompts but the task and the one summary. */
	assert_int_equal(count(b, "\"role\":\"user\""), 2);
	bed_has(b->conv.v[2], "rename f to g in 30 files, one file per turn");
	bed_has(b->conv.v[3], "\"kind\":\"summary\"");
	bed_has(b->conv.v[3], "we were at it");
	bed_has(b->conv.v[3], "m0.c m1.c");
	/* What is kept beside them is complete. */
	assert_int_equal(
	    count(b, "\"role\":\"assistant\""), count(b, "\"role\":\"tool\""));
	bed_has(b->conv.v[4], "\"role\":\"assistant\"");
	free(pad);
	json_decref(c);
}

static void
test_e_004(void **state)
{
	struct bed *b = *state;
	json_t *c = case_get("E-004"), *v;

	bed_need_sandbox();
	b->task.u.task.prompt = "TASK: install foo \"so that\" it works";
	b->task.u.task.hypothesis = "foo is missing";
	b->task.u.task.context = 16000;
	b->task.u.task.tests =
	    (struct msg_strs){ (const char *const[]){ "sh t.sh" }, 1 };
	b->model = with_summary;
	bed_text(b, "pip",
	    "#!/bin/sh\necho trying\necho 'ERROR: no network'\n"
	    "exit 1\n");
	bed_text(b, "t.sh", "echo 3 failed\nexit 2\n");
	bed_call(b, "run_command",
	    "{\"command\":\"pip() { sh ./pip; }; pip install foo\"}");
	bed_call(b, "run_command", "{\"command\":\"sh t.sh\"}");
	bed_call(b, "edit_file",
	    "{\"path\":\"touched.c\",\"old\":\"\",\"new\":\"x\"}");
	for (int i = 0; i < 16; i++) {
		char *s = filled(3000), *args;

		args = xasprintf("{\"text\":\"%d\",\"pad\":\"%s\"}", i, s);
		bed_call(b, "update_todos", args); /* errors, all of them */
		free(args);
		free(s);
		bed_call(b, "list_dir", "{}");
	}
	bed_finish(b, "done");
	bed_run(b);
	assert_true(compactions >= 1);
	assert_string_equal(b->summary->u.summary.verdict, "done");
	bed_has(b->conv.v[2], "TASK: install foo \\\"so that\\\" it works");
	v = json_object_get(json_object_get(c, "expected"), "summary_contains");
	for (size_t i = 0; i < json_array_size(v); i++)
		bed_has(b->conv.v[3], json_string_value(json_array_get(v, i)));
	bed_has(b->conv.v[3], "Hypothesis: foo is missing");
	bed_has(b->conv.v[3], "touched.c");
	bed_has(b->conv.v[3],
	    "State of the tests: `sh t.sh`: exit status 2: 3 failed");
	json_decref(c);
}

static void
test_e_005(void **state)
{
	struct bed *b = *state;

	/* The worker has no clock in what it sends. */
	bed_text(b, "AGENTS.md", "be kind\n");
	bed_call(b, "update_todos",
	    "{\"todos\":[{\"text\":\"one\",\"done\":false}]}");
	bed_call(b, "read_file", "{\"path\":\"AGENTS.md\"}");
	bed_call(b, "update_todos",
	    "{\"todos\":[{\"text\":\"one\",\"done\":true}]}");
	bed_call(b, "nothing", "{}");
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->models, 5);
	assert_int_equal(b->rewrites, 0);
	assert_int_equal(count(b, "\"role\":\"system\""), 1);
	bed_has(b->conv.v[1], "\"role\":\"system\"");
	/* Late: with each request, never kept. */
	assert_string_equal(b->late.v[0], "");
	bed_has(b->late.v[1], "[ ] one");
	bed_has(b->late.v[4], "[x] one");
	assert_int_equal(count(b, "Your todos"), 0);
}

static void
test_e_006(void **state)
{
	struct bed *b = *state, other;

	bed_open(&other);
	for (int i = 0; i < 2; i++) {
		struct bed *x = i == 0 ? b : &other;

		bed_text(x, "AGENTS.md", "notes\n");
		bed_text(x, ".agents/skills/b/SKILL.md", "text\n");
		bed_text(x, ".agents/skills/a/SKILL.md", "text\n");
		bed_finish(x, "done");
		bed_run(x);
	}
	for (int i = 0; i < 4; i++)
		assert_string_equal(b->conv.v[i], other.conv.v[i]);
	bed_has(b->conv.v[0],
	    "{\"role\":\"tools\",\"tools\":[{\"name\":"
	    "\"read_file\",\"description\":");
	bed_close(&other);
}

/* --- drop, overflow ------------------------------------------------------ */

/* C-026: a signed block, with blanks that no serialiser would write. */
static const char opaque[] =
    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
    "\"o\",\"name\":\"list_dir\",\"arguments\":\"{}\"}],\"opaque\":"
    "{\"api\":\"anthropic\",\"blocks\":[ {\"thinking\":\"plan  A\\n\", "
    "\"signature\":\"sig==\"}]}}";

static void
test_drop(void **state)
{
	struct bed *b = *state;
	const char *stub = "", *p;

	b->task.u.task.context = 16000; /* high 12800, low 8000 tokens */
	b->model = with_summary;
	bed_say(b, opaque);
	reads(b, 14, 4000);
	bed_call(b, "read_file", "{\"path\":\"/tmp/dropped-1.txt\"}");
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(compactions, 0);
	assert_int_equal(b->rewrites, 1); /* in one batch */
	assert_string_equal(b->summary->u.summary.verdict, "done");
	for (size_t i = 0; i < b->conv.n && *stub == '\0'; i++) {
		p = strstr(b->conv.v[i], "dropped to save room");
		stub = p != NULL ? p : "";
	}
	bed_has(stub, "the output of read_file");
	bed_has(stub, "/tmp/dropped-1.txt");
	bed_has(stub, "f0.txt (lines 1-");
	/* Not all of them: down to the low mark, the newest stay. */
	assert_in_range(count(b, "dropped to save room"), 4, 10);
	bed_has(b->results.v[b->results.n - 1], "file 0\n");
	assert_int_equal(count(b, opaque), 1); /* byte for byte */
}

static bool
overflow_once(struct bed *b, struct msg *m)
{
	if (b->used != 6 || overflows == 1)
		return false;
	overflows++;
	m->u.model_result.status = "overflow";
	return true;
}

static bool
overflow_always(struct bed *b, struct msg *m)
{
	if (b->used < 6)
		return false;
	overflows++;
	m->u.model_result.status = "overflow";
	return true;
}

static void
test_overflow(void **state)
{
	struct bed *b = *state;

	b->model = with_summary;
	extra = overflow_once;
	reads(b, 5, 4000);
	bed_say(b, opaque);
	bed_call(b, "list_dir", "{\"path\":\"f0.txt\"}");
	bed_call(b, "list_dir", "{\"path\":\".\"}");
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(count(b, opaque), 1); /* in what is kept */
	assert_int_equal(overflows, 1);
	assert_int_equal(compactions, 1);
	assert_string_equal(b->summary->u.summary.verdict, "done");
	assert_int_equal(b->used, 9);
}

static void
test_overflow_again(void **state)
{
	struct bed *b = *state;

	b->model = with_summary;
	extra = overflow_always;
	reads(b, 8, 4000);
	bed_run(b);
	assert_int_equal(overflows, 2);
	assert_int_equal(compactions, 1);
	assert_string_equal(b->summary->u.summary.verdict, "error");
	bed_has(b->summary->u.summary.reason, "context too small");
}

/* The provider's count beats ours: 250 bytes a token of it. */
static bool
counts_high(struct bed *b, struct msg *m)
{
	m->u.model_result.status = "ok";
	m->u.model_result.message = b->replies[b->used++];
	m->u.model_result.in_tokens = b->used == 5 ? 110000 : 0;
	return true;
}

static void
test_in_tokens(void **state)
{
	struct bed *b = *state;

	b->model = with_summary;
	extra = counts_high;
	reads(b, 8, 30000);
	bed_finish(b, "done");
	bed_run(b);
	assert_true(b->rewrites >= 1 || compactions >= 1);
	assert_string_equal(b->summary->u.summary.verdict, "done");
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_e_001),
		T(test_e_002),
		T(test_e_003),
		T(test_e_004),
		T(test_e_005),
		T(test_e_006),
		T(test_drop),
		T(test_overflow),
		T(test_overflow_again),
		T(test_in_tokens),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
