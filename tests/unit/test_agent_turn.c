/*
 * The loop of the real worker: cut-off messages, ids, calls that go round,
 * answers that come twice or not at all, results recorded by an earlier
 * attempt. C- and D-ids are of the collected failures of other tools.
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

/* --- messages ------------------------------------------------------------ */

/* C-002, C-003: never run, and the result says what to do. */
static void
test_cut_call(void **state)
{
	struct bed *b = *state;

	/* Even when what is left happens to be whole. */
	bed_say(b,
	    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
	    "\"t1\",\"name\":\"edit_file\",\"arguments\":\"{\\\"path\\\":"
	    "\\\"a\\\",\\\"old\\\":\\\"\\\",\\\"new\\\":\\\"x\\\"}\",\"cut\":"
	    "true},{\"id\":\"t2\",\"name\":\"list_dir\",\"arguments\":\"{}\"}]"
	    ",\"stop\":\"length\"}");
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->results.n, 2);
	bed_has(b->results.v[0], "error: ");
	bed_has(b->results.v[0], "truncated");
	bed_has(b->results.v[0], "shorter call");
	bed_has(b->results.v[0], "edit_file");
	bed_has(b->results.v[1], "entries");
	assert_null(bed_get(b, "a"));
	assert_int_equal(b->audits.n, 0);
}

static void
test_length_goes_on_once(void **state)
{
	static const char cut[] = "{\"role\":\"assistant\",\"content\":\"I "
				  "think\",\"stop\":\"length\"}";
	struct bed *b = *state;

	bed_say(b, cut);
	bed_say(b, cut);
	bed_say(b, cut);
	bed_say(b, cut);
	bed_run(b);
	/* go on; then as any message without a call */
	assert_int_equal(b->models, 4);
	bed_has(b->conv.v[4], "cut off");
	bed_has(b->conv.v[6], "no tool call");
	bed_has(b->conv.v[8], "no tool call");
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
}

/* C-007: the same id in two turns and in one message; none at all (C-014). */
static void
test_ids_are_unique(void **state)
{
	struct bed *b = *state;
	struct strv ids = { 0 };
	const char *id;
	json_t *j;

	for (int i = 0; i < 2; i++)
		bed_say(b,
		    "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":["
		    "{\"id\":\"x:0\",\"name\":\"list_dir\",\"arguments\":\"\"},"
		    "{\"id\":\"x:0\",\"name\":\"list_dir\",\"arguments\":null},"
		    "{\"name\":\"list_dir\",\"arguments\":{}},7]}");
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->results.n, 8);
	for (size_t i = 0; i < b->conv.n; i++) {
		assert_int_equal(json_parse(b->conv.v[i], strlen(b->conv.v[i]),
				     1 << 20, &j, NULL),
		    0);
		id = json_string_value(json_object_get(j, "tool_call_id"));
		if (id != NULL) {
			assert_false(strv_has(&ids, id));
			strv_add(&ids, id);
			/* The message before has it. */
			bed_has(b->conv.v[i > 7 ? 8 : 3], id);
		}
		json_decref(j);
	}
	assert_int_equal(ids.n, 8);
	bed_has(b->results.v[3], "there is no tool");
	strv_clear(&ids);
}

/* C-025: what is no character becomes U+FFFD, and all stays valid. */
static void
test_lone_surrogate(void **state)
{
	struct bed *b = *state;

	bed_text(b, "a", "x\n");
	bed_call(b, "edit_file",
	    "{\"path\":\"a\",\"old\":\"x\",\"new\":\"\\ud83d end\"}");
	bed_finish(b, "done");
	bed_run(b);
	bed_has(b->results.v[0], "replaced");
	bed_expect(b, "a", "\xef\xbf\xbd end\n");
}

/* C-019: a name that a model made up is a result, however long. */
static void
test_huge_name(void **state)
{
	struct bed *b = *state;
	char *name = xmalloc(300001);

	memset(name, 'n', 300000);
	name[300000] = '\0';
	bed_call(b, name, "{}");
	bed_finish(b, "done");
	bed_run(b);
	free(name);
	bed_has(b->results.v[0], "there is no tool \"nnn");
	assert_true(strlen(b->conv.v[4]) < 2000);
	assert_string_equal(b->summary->u.summary.verdict, "done");
}

static void
loops(struct bed *b, const char *const *calls, size_t n, unsigned want)
{
	char *s;

	bed_text(b, "a", "x\n");
	bed_text(b, "b", "y\n");
	for (size_t i = 0; i < 40; i++) {
		s = xasprintf("{\"path\":\"%s\"}", calls[i % n]);
		bed_call(b, "read_file", s);
		free(s);
	}
	bed_run(b);
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
	assert_int_equal(b->models, want);
	bed_has(b->summary->u.summary.reason, "no progress");
}

static void
test_round_of_one(void **state)
{
	loops(*state, (const char *const[]){ "a" }, 1, 4);
}

static void
test_round_of_two(void **state)
{
	struct bed *b = *state;

	loops(b, (const char *const[]){ "a", "gone" }, 2, 8);
	bed_has(b->summary->u.summary.reason, "2 calls");
	/* and what was tried */
	bed_has(b->summary->u.summary.reason, "failed: read_file gone: error");
}

static void
test_round_of_three(void **state)
{
	loops(*state, (const char *const[]){ "a", "b", "." }, 3, 12);
}

/* --- answers ------------------------------------------------------------- */

static void
lost(struct bed *b, const struct msg_model *q, struct msg *m)
{
	(void)b;
	(void)q;
	m->u.model_result.status = "error";
	m->u.model_result.error = "the connection was lost";
	m->u.model_result.message =
	    "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"t1\",\"name\":"
	    "\"edit_file\",\"arguments\":\"{\\\"path\\\":\\\"a\\\",\\\"old\\\":"
	    "\\\"\\\",\\\"new\\\":\\\"x\\\"}\"}]}";
}

/* D-007: only an answer that is ok is looked at. */
static void
test_lost_answer(void **state)
{
	struct bed *b = *state;

	b->model = lost;
	bed_run(b);
	assert_string_equal(b->summary->u.summary.verdict, "error");
	bed_has(b->summary->u.summary.reason, "the connection was lost");
	assert_int_equal(b->summary->u.summary.tools, 0);
	assert_null(bed_get(b, "a"));
}

static unsigned giants; /* in a row, each behind a message that is kept */

static void
giant(struct bed *b, const struct msg_model *q, struct msg *m)
{
	static unsigned so_far;

	(void)b;
	if (q->turn == 1)
		so_far = 0;
	if (so_far == giants) {
		so_far = 0;
		return;
	}
	so_far++;
	m->u.model_result.status = "too_large";
	m->u.model_result.error = "the reply has more than 128 calls";
	m->u.model_result.message = NULL;
}

/* An answer of which nothing was kept is an error to the model. */
static void
test_giant_answers(void **state)
{
	struct bed *b = *state;
	size_t i, told = 0;

	b->model = giant;
	giants = 2;
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->models, 3);
	assert_string_equal(b->summary->u.summary.verdict, "done");
	for (i = 0; i < b->conv.n; i++)
		told += strstr(b->conv.v[i], "more than 128 calls") != NULL &&
		    strstr(b->conv.v[i], "at most 64 calls") != NULL;
	assert_int_equal(told, 2);
	assert_non_null(strstr(b->conv.v[b->conv.n - 2], "left out"));
}

static void
test_giant_answers_only(void **state)
{
	struct bed *b = *state;

	b->model = giant;
	giants = 100;
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->models, 3);
	assert_string_equal(b->summary->u.summary.verdict, "stuck");
	bed_has(b->summary->u.summary.reason, "more than 128 calls");
}

/* D-008: an answer that comes again, or late, is one answer. */
static void
test_answers_twice(void **state)
{
	struct bed *b = *state;

	bed_need_sandbox();
	b->twice = true;
	bed_text(b, "n", "");
	bed_call(b, "run_command", "{\"command\":\"echo x >> n\"}");
	bed_call(b, "run_command", "{\"command\":\"echo y >> m\"}");
	bed_finish(b, "done");
	bed_run(b);
	bed_expect(b, "n", "x\n");
	bed_expect(b, "m", "y\n");
	assert_int_equal(b->summary->u.summary.tools, 3);
}

/* --- recorded results ---------------------------------------------------- */

static const char *recorded[4];
static size_t n_recorded;

static void
resumed(struct bed *b, const struct msg_model *q, struct msg *m)
{
	(void)q;
	m->u.model_result.status = "ok";
	m->u.model_result.message = b->replies[b->used++];
	if (b->used == 1) {
		m->u.model_result.recorded.v = recorded;
		m->u.model_result.recorded.n = n_recorded;
	}
}

#define REC(id, name, content) \
	"{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"name\":\"" name \
	"\",  \"content\":\"" content "\"}"
#define TWO_COMMANDS \
	"{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":" \
	"\"t1\",\"name\":\"run_command\",\"arguments\":\"{\\\"command\\\":" \
	"\\\"date +%N > at; cat at\\\"}\"},{\"id\":\"t2\",\"name\":" \
	"\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"at\\\"}\"}]}"

static void
test_recorded_stands(void **state)
{
	struct bed *b = *state;
	char *at;

	bed_need_sandbox();
	b->model = resumed;
	recorded[0] = "no JSON";
	recorded[1] = REC("t2", "read_file", "at (lines 1-1 of 1)\\nOLD 2\\n");
	recorded[2] = REC("t1", "run_command", "exit status 0\\nOLD 1\\n");
	n_recorded = 3;
	bed_say(b, TWO_COMMANDS);
	bed_finish(b, "done");
	bed_run(b);
	/* made again for what it does, the text is the old one */
	at = bed_get(b, "at");
	assert_non_null(at);
	free(at);
	bed_has(b->conv.v[4], "exit status 0\\nOLD 1");
	bed_has(b->conv.v[5], "OLD 2");
	for (size_t i = 0; i < b->progress.n; i++)
		bed_has_not(b->progress.v[i], "diverged");
	/* the hash chain of the earlier attempt holds */
	assert_string_equal(b->results.v[0], "exit status 0\nOLD 1\n");
}

static void
test_recorded_differs(void **state)
{
	struct bed *b = *state;
	bool told = false;

	bed_need_sandbox();
	b->model = resumed;
	recorded[0] = REC("t1", "run_command", "exit status 1\\nOLD 1\\n");
	recorded[1] = REC("t2", "read_file", "OLD 2");
	n_recorded = 2;
	bed_say(b, TWO_COMMANDS);
	bed_finish(b, "done");
	bed_run(b);
	assert_int_equal(b->results.n, 2);
	bed_has(b->results.v[0], "exit status 0\n");
	bed_has_not(b->results.v[0], "OLD");
	bed_has_not(b->results.v[1], "OLD");
	for (size_t i = 0; i < b->progress.n; i++)
		told |=
		    strncmp(b->progress.v[i], "diverged run_command", 20) == 0;
	assert_true(told);
}

int
main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_cut_call),
		T(test_length_goes_on_once),
		T(test_ids_are_unique),
		T(test_lone_surrogate),
		T(test_huge_name),
		T(test_giant_answers),
		T(test_giant_answers_only),
		T(test_round_of_one),
		T(test_round_of_two),
		T(test_round_of_three),
		T(test_lost_answer),
		T(test_answers_twice),
		T(test_recorded_stands),
		T(test_recorded_differs),
	};

	bed_probe();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
