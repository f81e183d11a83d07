/* Whole conversations with the built-in model, the worker's part played here:
 * files in memory, and a check that passes when one of them has a given text.
 */
#include "common/compat.h"

#include <setjmp.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/json.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "orchestrator/gateway/provider_builtin.h"

#define FILES_MAX 4

struct world {
	const char *path[FILES_MAX];
	char *text[FILES_MAX];
	const char *wanted; /* the check passes when a file holds this */
	size_t tried, batches, biggest;
	bool broken;         /* tools answer with errors */
	bool no_source;      /* nothing but tests is listed */
	bool no_fix;         /* nothing ever passes */
	const char *also;    /* so it does with this */
	bool half;           /* try_edits stops in the middle of each batch */
	const char *control; /* what the narrowed command says at first */
	unsigned control_ms; /* and how long it takes */
	const char *decoy;   /* this passes that, and not the whole */
	size_t controls, narrow, whole; /* calls */
	size_t decoys;                  /* that were tried with the whole */
	/* The tests need so long on an edit, so long as it is; hang: the part
	 * of a tree that never ends. */
	unsigned run_ms, now_ms;
	const char *hang;
	size_t measured, late;
	bool told; /* a reply says that the limit was widened */
	/* What tracing gives: counts and rows; NULL: nothing, as without an
	 * interpreter. forged: with a nonce of its own. */
	const char *spectrum;
	bool forged;
	size_t traced;    /* calls for that */
	json_int_t first; /* line of the first edit tried */
	json_t *finish;   /* what was finished with */
};

static const char inventory[] = "def restock(stock, wanted, limit):\n"
				"    if stock > limit:\n"
				"        return 0\n"
				"    return min(wanted - stock, limit)\n"
				"\n"
				"\n"
				"def price(net, rate):\n"
				"    return net * rate\n";
static const char tests_text[] = "from inventory import restock, price\n"
				 "\n"
				 "def test_restock_at_limit():\n"
				 "    assert restock(3, 9, 3) == 0\n"
				 "\n"
				 "def test_price():\n"
				 "    assert price(2, 3) == 6\n";

#define FAILS \
	"=========================== FAILURES ===========================\n" \
	"E   assert 6 == 0\n" \
	"=================== short test summary info ====================\n"
#define CONTROL \
	"exit status 1\n" FAILS \
	"FAILED tests/test_inventory.py::test_restock_at_limit - assert " \
	"6 == 0\n1 failed in 0.02s\n"
#define WHOLE "python3 -m pytest"
#define NARROW WHOLE " tests/test_inventory.py::test_restock_at_limit"

static void
world_init(struct world *w)
{
	*w = (struct world){ .wanted = "if stock >= limit:",
		.control = CONTROL };
	w->path[0] = "inventory.py";
	w->text[0] = xstrdup(inventory);
	w->path[1] = "tests/test_inventory.py";
	w->text[1] = xstrdup(tests_text);
	w->path[2] = "README.md";
	w->text[2] = xstrdup("# Inventory\n");
}

static void
world_clear(struct world *w)
{
	for (size_t i = 0; i < FILES_MAX; i++)
		free(w->text[i]);
	json_decref(w->finish);
}

static json_t *
conversation_ms(const char *role, const char *id, int test_ms, int budget_ms)
{
	json_t *facts = json_pack(
	    "{s:s, s:s?, s:s, s:[s], s:[s], s:s, s:i, s:i, s:i, s:[s]}", "role",
	    role, "hypothesis_id", id, "hypothesis", "restock is wrong",
	    "tests", "python3 -m pytest", "failing",
	    "tests/test_inventory.py::test_restock_at_limit", "output",
	    "E   assert 6 == 0\ntests/test_inventory.py:4: AssertionError\n"
	    "```json\n{\n",
	    "test_ms", test_ms, "budget_ms", budget_ms, "parallel", 2,
	    "guarded", "tests/test_inventory.py");
	char *text = json_dumps(facts, JSON_INDENT(2));
	char *user = xasprintf("Fix it.\n\n```json\n%s\n```\n", text);
	json_t *conv = json_pack("[{s:s, s:s}, {s:s, s:s}]", "role", "system",
	    "content", "You are a worker.", "role", "user", "content", user);

	free(user);
	free(text);
	json_decref(facts);
	return conv;
}

static json_t *
conversation(const char *role, const char *id)
{
	return conversation_ms(role, id, 400, 0);
}

static size_t
file_index(const struct world *w, const char *path)
{
	for (size_t i = 0; i < FILES_MAX; i++) {
		if (w->path[i] != NULL && strcmp(w->path[i], path) == 0)
			return i;
	}
	fail_msg("no file %s", path);
	return 0;
}

/* The file with one change made; it must apply at its line. */
static char *
changed(const struct world *w, const json_t *ch)
{
	const char *text = w->text[file_index(
	    w, json_string_value(json_object_get(ch, "path")))];
	const char *old = json_string_value(json_object_get(ch, "old"));
	const char *p = text;

	for (json_int_t n = json_integer_value(json_object_get(ch, "line"));
	     n > 1; n--)
		p = strchr(p, '\n') + 1;
	assert_int_equal(strncmp(p, old, strlen(old)), 0);
	assert_true(p[strlen(old)] == '\n' || p[strlen(old)] == '\0');
	return xasprintf("%.*s%s%s", (int)(p - text), text,
	    json_string_value(json_object_get(ch, "new")), p + strlen(old));
}

static char *
read_file(const struct world *w, const json_t *args)
{
	const char *path = json_string_value(json_object_get(args, "path"));
	const char *text = w->text[file_index(w, path)];
	size_t n = 0;

	for (const char *p = text; *p != '\0'; p++)
		n += *p == '\n';
	return xasprintf("%s (lines 1-%zu of %zu)\n%s", path, n, n, text);
}

/* The nonce stands in the name of the tracer's directory. */
static char *
trace_output(struct world *w, const json_t *args)
{
	const char *command =
	    json_string_value(json_object_get(args, "command"));
	const char *p = strstr(command, "/foray-trace-");
	char nonce[17];

	assert_non_null(p);
	w->traced++;
	snprintf(nonce, sizeof nonce, "%s", p + strlen("/foray-trace-"));
	if (w->spectrum == NULL || strstr(command, "pytest") == NULL)
		return xstrdup("exit status 127\nsh: 1: not found\n");
	if (w->forged)
		nonce[3] = nonce[3] == '0' ? '1' : '0';
	return xasprintf("exit status 0\nforay-spectrum %s %send %s\n", nonce,
	    w->spectrum, nonce);
}

static char *
control(struct world *w, const json_t *args)
{
	json_t *j = json_pack("{s:i, s:[], s:[{s:i, s:b, s:i, s:s}]}", "tried",
	    1, "passed", "results", "n", 1, "pass", 0, "ms", (int)w->control_ms,
	    "output", w->control);
	char *text = json_dumps(j, 0);

	json_decref(j);
	w->controls++;
	assert_true(
	    text_starts(json_string_value(json_object_get(args, "check")),
		WHOLE " tests/test_inventory.py"));
	return text;
}

static char *
measured(struct world *w)
{
	w->measured++;
	return xasprintf("{\"tried\":1,\"results\":[{\"n\":1,"
			 "\"pass\":false,\"ms\":%u,\"output\":\"\"}]}",
	    w->now_ms);
}

static char *
try_edits(struct world *w, const json_t *args)
{
	json_int_t limit_s =
	    json_integer_value(json_object_get(args, "timeout_s"));
	json_t *passed = json_array(), *results = json_array(), *edit, *r;
	const json_t *edits = json_object_get(args, "edits");
	bool stop = json_is_true(json_object_get(args, "stop_on_pass"));
	size_t i, n = 0, limit = json_array_size(edits);
	bool all = strcmp(json_string_value(json_object_get(args, "check")),
		       WHOLE) == 0;
	char *text;

	if (w->batches++ == 0)
		w->first = json_integer_value(json_object_get(
		    json_array_get(
			json_object_get(json_array_get(edits, 0), "changes"),
			0),
		    "line"));
	w->whole += all;
	w->narrow += !all;
	if (limit > w->biggest)
		w->biggest = limit;
	if (w->half)
		limit = (limit + 1) / 2;
	json_array_foreach (edits, i, edit) {
		char *t = changed(
		    w, json_array_get(json_object_get(edit, "changes"), 0));
		bool ok = !w->no_fix &&
		    (strstr(t, w->wanted) != NULL ||
			(w->also != NULL && strstr(t, w->also) != NULL));
		bool decoy = w->decoy != NULL && strstr(t, w->decoy) != NULL;
		bool late = limit_s * 1000 < w->run_ms ||
		    (w->hang != NULL && strstr(t, w->hang) != NULL);

		free(t);
		w->decoys += decoy && all;
		ok |= decoy && !all;
		if (i >= limit)
			break;
		n++;
		ok &= !late;
		w->late += late;
		json_array_append_new(results,
		    json_pack("{s:i, s:b, s:s, s:b}", "n", (int)i + 1, "pass",
			ok, "why", ok ? "" : "exit status 1", "timed_out",
			late));
		if (ok)
			json_array_append_new(
			    passed, json_integer((json_int_t)i + 1));
		if (ok && stop)
			break;
	}
	w->tried += n;
	r = json_pack("{s:i, s:o, s:o}", "tried", (int)n, "passed", passed,
	    "results", results);
	text = json_dumps(r, 0);
	json_decref(r);
	return text;
}

static char *
run_tool(struct world *w, const char *name, const json_t *args)
{
	if (w->broken)
		return xstrdup("error: the sandbox is gone");
	if (strcmp(name, "list_dir") == 0 && w->no_source)
		return xstrdup("README.md\ntests/\ntests/test_inventory.py");
	if (strcmp(name, "list_dir") == 0)
		return xstrdup("README.md\ninventory.py\ntests/\n"
			       "tests/test_inventory.py\n[4 entries]");
	if (strcmp(name, "read_file") == 0)
		return read_file(w, args);
	if (strcmp(name, "run_command") == 0 &&
	    strstr(json_string_value(json_object_get(args, "command")),
		"/foray-trace-") != NULL)
		return trace_output(w, args);
	if (strcmp(name, "try_edits") == 0 &&
	    strcmp(json_string_value(json_object_get(
		       json_array_get(json_object_get(args, "edits"), 0),
		       "label")),
		"as it is, now") == 0)
		return measured(w);
	if (strcmp(name, "try_edits") == 0 &&
	    json_array_size(json_object_get(
		json_array_get(json_object_get(args, "edits"), 0),
		"changes")) == 0)
		return control(w, args);
	if (strcmp(name, "try_edits") == 0)
		return try_edits(w, args);
	if (strcmp(name, "edit_file") == 0) {
		size_t i = file_index(
		    w, json_string_value(json_object_get(args, "path")));
		char *t = changed(w, args);

		free(w->text[i]);
		w->text[i] = t;
		return xstrdup("ok");
	}
	assert_string_equal(name, "finish");
	json_decref(w->finish);
	w->finish = json_deep_copy(args);
	return xstrdup("ok");
}

/* One reply of the model and the answers to its calls. */
static void
turn(struct builtin *b, struct world *w, const char *worker, json_t *conv)
{
	json_t *msg = NULL, *again = NULL, *call;
	struct err e;
	size_t i;

	assert_int_equal(builtin_reply(b, worker, conv, &msg, &e), 0);
	assert_int_equal(builtin_reply(b, worker, conv, &again, &e), 0);
	assert_true(json_equal(msg, again)); /* asking again is harmless */
	json_decref(again);
	json_array_append_new(conv, msg);
	w->told |= strstr(json_string_value(json_object_get(msg, "content")),
		       "The tests take longer than before: the limit of a run "
		       "is ") != NULL;
	json_array_foreach (json_object_get(msg, "tool_calls"), i, call) {
		const char *text =
		    json_string_value(json_object_get(call, "arguments"));
		const char *name =
		    json_string_value(json_object_get(call, "name"));
		json_t *args = json_loads(text, 0, NULL);
		char *result = run_tool(w, name, args);

		json_array_append_new(conv,
		    json_pack("{s:s, s:O, s:s, s:s}", "role", "tool",
			"tool_call_id", json_object_get(call, "id"), "name",
			name, "content", result));
		free(result);
		json_decref(args);
	}
}

static void
until_finish(
    struct builtin *b, struct world *w, const char *worker, json_t *conv)
{
	json_decref(w->finish);
	w->finish = NULL;
	for (int n = 0; n < 500 && w->finish == NULL; n++)
		turn(b, w, worker, conv);
	assert_non_null(w->finish);
}

static const char *
verdict(const struct world *w)
{
	return json_string_value(json_object_get(w->finish, "verdict"));
}

static void
run_plan(struct builtin *b, struct world *w)
{
	json_t *conv = conversation("plan", NULL);

	until_finish(b, w, "planner", conv);
	json_decref(conv);
}

static void
test_plan(void **state)
{
	struct builtin *b = builtin_create(0);
	struct world w;
	const json_t *list;

	(void)state;
	world_init(&w);
	run_plan(b, &w);
	assert_string_equal(verdict(&w), "done");
	list = json_object_get(w.finish, "findings");
	assert_in_range(json_array_size(list), 2, 24);
	assert_true(
	    text_starts(json_string_value(json_array_get(list, 0)), "H1: "));
	assert_non_null(strstr(json_string_value(json_array_get(list, 0)),
	    "restock() (inventory.py:1-4)"));
	world_clear(&w);
	builtin_free(b);
}

static void
test_explore_fixes(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;

	(void)state;
	world_init(&w);
	run_plan(b, &w);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "fixed");
	assert_non_null(strstr(w.text[0], "if stock >= limit:"));
	assert_true(w.tried < 30);
	assert_string_equal(json_string_value(json_array_get(
				json_object_get(w.finish, "evidence"), 0)),
	    "inventory.py:2");
	/* It was not right after all: back, and on with the rest. */
	w.no_fix = true;
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "refuted");
	assert_string_equal(w.text[0], inventory);
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* When the run's time is nearly over it ends by itself. */
static void
test_out_of_time(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation_ms("explore", "H1", 400, 1);
	json_t *plan = conversation_ms("plan", NULL, 400, 1);
	struct world w;

	(void)state;
	world_init(&w);
	until_finish(b, &w, "planner", plan);
	json_decref(plan);
	(void)usleep(5000);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "stuck");
	assert_int_equal(
	    json_array_size(json_object_get(w.finish, "findings")), 0);
	assert_int_equal(w.batches, 0);
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* Two edits that are about as likely pass: the smaller is made, both are told;
 * when it does not hold the other is next. */
static void
test_two_pass(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	const json_t *list;
	struct world w;

	(void)state;
	world_init(&w);
	w.wanted = "if stock <= limit:";
	w.also = "if stock < limit:";
	run_plan(b, &w);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "fixed");
	assert_non_null(strstr(w.text[0], "if stock < limit:"));
	list = json_object_get(w.finish, "findings");
	assert_int_equal(json_array_size(list), 2);
	assert_non_null(strstr(json_string_value(json_array_get(list, 0)),
	    "`>` -> `<` makes the tests pass"));
	assert_non_null(
	    strstr(json_string_value(json_array_get(list, 1)), "also makes"));
	json_decref(conv);
	/* Refuted: another worker goes on with the other one. */
	free(w.text[0]);
	w.text[0] = xstrdup(inventory);
	conv = conversation("explore", "H1");
	until_finish(b, &w, "w2", conv);
	assert_string_equal(verdict(&w), "fixed");
	assert_non_null(strstr(w.text[0], "if stock <= limit:"));
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* The first edit that an explorer tries, given what tracing gives. */
static json_int_t
first_line(const char *spectrum, bool forged)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;

	world_init(&w);
	w.spectrum = spectrum;
	w.forged = forged;
	w.no_fix = true;
	run_plan(b, &w);
	assert_int_equal(w.traced, 2);
	until_finish(b, &w, "w1", conv);
	assert_int_equal(w.traced, 2); /* the planner alone */
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
	return w.first;
}

static void
test_spectrum(void **state)
{
	static const char price[] = "1 1\n= inventory.py\n"
				    "x 1,7\n0/1 2-3\n- 4\n1/0 8\n";

	json_int_t usual = first_line(NULL, false);

	(void)state;
	assert_in_range(usual, 1, 4);
	assert_int_equal(first_line(price, false), 8);
	assert_int_equal(first_line(price, true), usual);
	assert_int_equal(
	    first_line("1 1\n= inventory.py\n1/1 8", false), usual);
}

/* An explorer without a plan asks itself; slow tests are not run once more. */
static void
test_spectrum_asked(void **state)
{
	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		struct builtin *b = builtin_create(0);
		json_t *conv =
		    conversation_ms("explore", NULL, slow ? 9000 : 400, 0);
		struct world w;

		world_init(&w);
		until_finish(b, &w, "w1", conv);
		assert_int_equal(w.traced, slow ? 0 : 2);
		json_decref(conv);
		world_clear(&w);
		builtin_free(b);
	}
}

static void
test_explore_refutes(void **state)
{
	struct builtin *b = builtin_create(7);
	json_t *one = conversation("explore", "H1");
	json_t *two = conversation("explore", "H2");
	struct world w;
	size_t all;
	const char *s;

	(void)state;
	world_init(&w);
	w.no_fix = true;
	w.half = true;
	run_plan(b, &w);
	s = json_string_value(json_object_get(w.finish, "reason"));
	all = strtoul(s, NULL, 10);
	turn(b, &w, "w2", two);
	until_finish(b, &w, "w1", one);
	assert_string_equal(verdict(&w), "refuted");
	s = json_string_value(
	    json_array_get(json_object_get(w.finish, "findings"), 0));
	assert_non_null(strstr(s, "edits in restock() (inventory.py:1-4)"));
	until_finish(b, &w, "w2", two);
	assert_int_equal(w.tried, all); /* each one once */
	assert_in_range(w.biggest, 2, 40);
	json_decref(one);
	json_decref(two);
	world_clear(&w);
	builtin_free(b);
}

static json_int_t
within(const json_t *conv)
{
	const json_t *call = json_array_get(
	    json_object_get(
		json_array_get(conv, json_array_size(conv) - 2), "tool_calls"),
	    0);
	json_t *args = json_loads(
	    json_string_value(json_object_get(call, "arguments")), 0, NULL);
	json_int_t s = json_integer_value(json_object_get(args, "within_s"));

	assert_string_equal(
	    json_string_value(json_object_get(call, "name")), "try_edits");
	json_decref(args);
	return s;
}

/* Its time is over: what it ruled out counts, nothing new is begun. */
static void
test_until(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	const json_t *list;
	struct world w;
	size_t tried;
	const char *s;

	(void)state;
	world_init(&w);
	w.no_fix = true;
	run_plan(b, &w);
	turn(b, &w, "w1", conv);
	assert_int_equal(within(conv), 0); /* no limit */
	builtin_until(b, loop_now_ms() + 4900);
	turn(b, &w, "w1", conv);
	assert_in_range(within(conv), 1, 4);
	builtin_until(b, loop_now_ms() + 400); /* no whole second */
	tried = w.tried;
	assert_true(tried > 0);
	until_finish(b, &w, "w1", conv);
	assert_int_equal(w.tried, tried);
	assert_string_equal(verdict(&w), "stuck");
	s = json_string_value(
	    json_array_get(json_object_get(w.finish, "findings"), 0));
	assert_non_null(strstr(s, "none makes the tests pass"));
	list = json_object_get(w.finish, "findings");
	s = json_string_value(json_array_get(list, json_array_size(list) - 1));
	assert_non_null(strstr(s, "less likely edits were not tried"));
	run_plan(b, &w);
	assert_string_equal(verdict(&w), "stuck");
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* What passed before its end is a fix also afterwards. */
static void
test_until_fixed(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;

	(void)state;
	world_init(&w);
	run_plan(b, &w);
	for (int n = 0; n < 100; n++) {
		const char *last;

		turn(b, &w, "w1", conv);
		last = json_string_value(json_object_get(
		    json_array_get(conv, json_array_size(conv) - 1),
		    "content"));
		if (strstr(last, "\"pass\": true") != NULL)
			break;
	}
	builtin_until(b, 1);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "fixed");
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* A worker dies with a batch: others try it. */
static void
test_worker_gone(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *one = conversation("explore", "H1");
	json_t *two = conversation("explore", "H2");
	struct world w;
	struct err e;
	json_t *msg;

	(void)state;
	world_init(&w);
	run_plan(b, &w);
	assert_int_equal(builtin_reply(b, "w1", one, &msg, &e), 0);
	json_decref(msg);
	builtin_worker_gone(b, "w1");
	builtin_worker_gone(b, "nobody");
	until_finish(b, &w, "w2", two);
	assert_string_equal(verdict(&w), "fixed");
	json_decref(one);
	json_decref(two);
	world_clear(&w);
	builtin_free(b);
}

/* The orchestrator starts again: no queue, a conversation half way. */
static void
test_restart(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H2");
	struct world w;
	size_t before;

	(void)state;
	world_init(&w);
	w.no_fix = true;
	run_plan(b, &w);
	for (int i = 0; i < 5; i++)
		turn(b, &w, "w1", conv);
	builtin_free(b);
	before = w.tried;
	assert_true(before > 0);
	b = builtin_create(0);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "refuted");
	/* Nothing was tried twice: a fresh run needs as many. */
	builtin_free(b);
	json_decref(conv);
	b = builtin_create(0);
	conv = conversation("explore", "H2");
	before = w.tried;
	w.tried = 0;
	until_finish(b, &w, "w1", conv);
	assert_int_equal(w.tried, before);
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* The narrowed command first, then the whole; in a later process, too. */
static void
test_narrow(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;

	(void)state;
	world_init(&w);
	run_plan(b, &w);
	assert_int_equal(w.controls, 1);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "fixed");
	assert_int_equal(w.controls, 1); /* one for all */
	assert_int_equal(w.whole, 1);
	assert_true(w.narrow > 0);
	json_decref(conv);
	builtin_free(b);
	world_clear(&w);
	/* The orchestrator starts again after each turn. */
	world_init(&w);
	conv = conversation("explore", "H1");
	for (int i = 0; i < 400 && w.finish == NULL; i++) {
		b = builtin_create(0);
		turn(b, &w, "w1", conv);
		/* Only a process that has asked knows how long it took. */
		if (w.finish == NULL)
			turn(b, &w, "w1", conv);
		builtin_free(b);
	}
	assert_non_null(w.finish);
	assert_string_equal(verdict(&w), "fixed");
	assert_int_equal(w.whole, 1);
	json_decref(conv);
	world_clear(&w);
}

/* What mends the failing test and breaks others is refuted by the whole. */
static void
test_decoy(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;
	const json_t *v;
	size_t i, said = 0;

	(void)state;
	world_init(&w);
	w.decoy = "if stock < limit:";
	run_plan(b, &w);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "fixed");
	assert_non_null(strstr(w.text[0], "if stock >= limit:"));
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
	/* Nothing else helps: it is said. */
	b = builtin_create(0);
	world_init(&w);
	conv = conversation("explore", "H1");
	w.decoy = "if stock < limit:";
	w.no_fix = true;
	run_plan(b, &w);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "refuted");
	assert_string_equal(w.text[0], inventory);
	assert_int_equal(w.decoys, 1);
	json_array_foreach (json_object_get(w.finish, "findings"), i, v)
		said += strstr(json_string_value(v),
			    "1 mends what failed and breaks others") != NULL;
	assert_int_equal(said, 1);
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

/* A control that says anything but what is expected: the whole alone. */
static void
test_control(void **state)
{
	static const char *const bad[] = {
		"error: denied: a rule forbids it",
		"exit status 0\n1 passed in 0.02s\n",
		"exit status 4\nERROR: not found: x\nno tests ran in 0.01s\n",
		"exit status 2\nusage: pytest\nerror: unrecognized arguments\n",
		"exit status 137 (killed: memory limit of 5 MiB)\n" FAILS
		"FAILED tests/test_inventory.py::test_restock_at_limit\n"
		"1 failed in 0.02s\n",
		"timed out after 1 s\n", "",
		/* another test, another reason, and too little of either */
		"exit status 1\n" FAILS "FAILED tests/test_inventory.py::"
		"test_price - x\n1 failed in 0.02s\n",
		"exit status 1\nE   assert 7 == 0\n=== short test summary info "
		"===\nFAILED tests/test_inventory.py::test_restock_at_limit\n"
		"1 failed in 0.02s\n",
		CONTROL "FAIL Required test coverage of 90% not reached.\n",
		CONTROL, /* as it should be, but no sooner than the whole */
	};
	struct world w;

	(void)state;
	for (size_t i = 0; i < nitems(bad); i++) {
		struct builtin *b = builtin_create(0);
		json_t *conv = conversation("explore", "H1");

		world_init(&w);
		w.control = bad[i];
		w.control_ms = i + 1 == nitems(bad) ? 320 : 0;
		run_plan(b, &w);
		/* the test, and its file when that may be sooner */
		assert_int_equal(w.controls, w.control_ms > 0 ? 1 : 2);
		until_finish(b, &w, "w1", conv);
		assert_string_equal(verdict(&w), "fixed");
		assert_in_range(w.controls, 1, 2);
		assert_int_equal(w.narrow, 0);
		json_decref(conv);
		world_clear(&w);
		builtin_free(b);
	}
}

static const char *
finding(const struct world *w)
{
	return json_string_value(
	    json_array_get(json_object_get(w->finish, "findings"), 0));
}

static const char *
reason(const struct world *w)
{
	return json_string_value(json_object_get(w->finish, "reason"));
}

/* The machine became slower: the tests' time is taken anew, and what timed out
 * is tried again; what can't be tried any better is not called refuted. */
static void
test_timed_out(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;
	size_t all;

	(void)state;
	world_init(&w);
	w.run_ms = 5000;
	w.now_ms = 4500;
	run_plan(b, &w);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "fixed");
	assert_non_null(strstr(w.text[0], "if stock >= limit:"));
	assert_int_equal(w.measured, 1);
	assert_true(w.told);
	assert_in_range(w.late, 8, 60);
	json_decref(conv);
	builtin_free(b);
	world_clear(&w);
	/* The tree as it is takes no longer than before: they hang. */
	b = builtin_create(0);
	conv = conversation("explore", "H1");
	world_init(&w);
	w.run_ms = 5000;
	w.now_ms = 300;
	run_plan(b, &w);
	all = strtoul(reason(&w), NULL, 10);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "stuck");
	assert_in_range(w.measured, 1, all / 8 + 1);
	assert_int_equal(w.tried, all); /* each one once */
	assert_false(w.told);
	assert_int_equal(strtoul(reason(&w), NULL, 10), all);
	assert_non_null(strstr(reason(&w), " edits timed out"));
	assert_non_null(strstr(finding(&w), " timed out"));
	assert_null(strstr(finding(&w), "makes the tests pass"));
	json_decref(conv);
	builtin_free(b);
	world_clear(&w);
}

/* They are tried again once only, however slow it is. */
static void
test_timed_out_twice(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;
	size_t all;

	(void)state;
	world_init(&w);
	w.run_ms = 1000 * 1000 * 1000;
	w.now_ms = 90 * 1000;
	run_plan(b, &w);
	all = strtoul(reason(&w), NULL, 10);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "stuck");
	assert_in_range(w.tried, all + 8, 2 * all);
	assert_int_equal(strtoul(reason(&w), NULL, 10), all);
	json_decref(conv);
	builtin_free(b);
	world_clear(&w);
}

/* A few edits that hang are tried once more at the end, and counted apart. */
static void
test_some_hang(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;
	size_t all;

	(void)state;
	world_init(&w);
	w.no_fix = true;
	w.hang = "stock <";
	run_plan(b, &w);
	all = strtoul(reason(&w), NULL, 10);
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "refuted");
	assert_in_range(w.late, 1, all / 4);
	assert_int_equal(w.tried, all + w.late / 2); /* they once more */
	assert_non_null(strstr(finding(&w),
	    " timed out, none of the others makes the tests pass"));
	json_decref(conv);
	builtin_free(b);
	world_clear(&w);
}

static void
test_stuck(void **state)
{
	struct builtin *b = builtin_create(0);
	json_t *conv = conversation("explore", "H1");
	struct world w;

	(void)state;
	world_init(&w);
	run_plan(b, &w);
	w.broken = true;
	for (int i = 0; i < 3; i++)
		turn(b, &w, "w1", conv);
	w.broken = false;
	until_finish(b, &w, "w1", conv);
	assert_string_equal(verdict(&w), "stuck");
	json_decref(conv);
	world_clear(&w);
	builtin_free(b);
}

static void
test_nothing_to_edit(void **state)
{
	struct builtin *b = builtin_create(0);
	struct world w;

	(void)state;
	world_init(&w);
	free(w.text[0]);
	w.text[0] = xstrdup("# empty\n");
	run_plan(b, &w);
	assert_string_equal(verdict(&w), "stuck");
	world_clear(&w);
	builtin_free(b);
	/* Nor is there a source at all, below where it looks. */
	b = builtin_create(0);
	world_init(&w);
	w.no_source = true;
	run_plan(b, &w);
	assert_string_equal(verdict(&w), "stuck");
	assert_non_null(strstr(reason(&w), "in the directory of the run (-C)"));
	world_clear(&w);
	builtin_free(b);
}

static void
test_strange_conversations(void **state)
{
	static const char *const convs[] = { "[]", "{}", "[1, null, {}]",
		"[{\"role\":\"user\",\"content\":\"hello\"}]",
		"[{\"role\":\"user\",\"content\":7}]",
		"[{\"role\":\"user\",\"content\":\"```json\\n[]\\n```\"}]",
		"[{\"role\":\"user\",\"content\":\"```json\\n{\\\"role\\\":"
		"\\\"cook\\\"}\\n```\"}]",
		"[{\"role\":\"user\",\"content\":\"```json\\n{\\\"role\\\":"
		"\\\"plan\\\",\\\"tests\\\":3}\\n```\"}]" };
	struct builtin *b = builtin_create(0);
	json_t *msg = NULL;
	struct err e;

	(void)state;
	for (size_t i = 0; i < nitems(convs); i++) {
		json_t *conv = json_loads(convs[i], 0, NULL);

		assert_int_equal(
		    builtin_reply(b, "w", conv, &msg, &e), ERR_MODEL);
		json_decref(conv);
	}
	builtin_free(b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_explore_fixes),
		cmocka_unit_test(test_out_of_time),
		cmocka_unit_test(test_two_pass),
		cmocka_unit_test(test_spectrum),
		cmocka_unit_test(test_spectrum_asked),
		cmocka_unit_test(test_explore_refutes),
		cmocka_unit_test(test_until),
		cmocka_unit_test(test_until_fixed),
		cmocka_unit_test(test_worker_gone),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_decoy),
		cmocka_unit_test(test_control),
		cmocka_unit_test(test_timed_out),
		cmocka_unit_test(test_timed_out_twice),
		cmocka_unit_test(test_some_hang),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_nothing_to_edit),
		cmocka_unit_test(test_strange_conversations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
