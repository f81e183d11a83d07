/* Hooks: the settings, what answers mean, processes, and what a pass is good
 * for. */
#include "common/compat.h"

#include <signal.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/hooks_priv.h"

#define FILE_NAME "settings.json"

static json_t *
parse(const char *text)
{
	json_t *j;
	struct err e;

	if (json_parse(text, strlen(text), 1 << 20, &j, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return j;
}

static struct hook_conf *
conf(const char *text)
{
	struct hook_conf *c;
	json_t *j = parse(text);
	struct err e;

	if (hook_conf_parse(j, FILE_NAME, &c, NULL, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	json_decref(j);
	return c;
}

/* One PreToolUse hook with this matcher. */
static struct hook_conf *
matching(const char *matcher)
{
	char *text =
	    xasprintf("{\"PreToolUse\":[{\"matcher\":\"%s\",\"hooks\":["
		      "{\"type\":\"command\",\"command\":\"true\"}]}]}",
		matcher);
	struct hook_conf *c = conf(text);

	free(text);
	return c;
}

/* --- settings ------------------------------------------------------------ */

#define HOOK(more) "{\"type\":\"command\",\"command\":\"x\"" more "}"
#define ONE(event, more) "{\"" event "\":[{\"hooks\":[" HOOK(more) "]}]}"
#define WITH(matcher) \
	"{\"PreToolUse\":[{\"matcher\":" matcher ",\"hooks\":[" HOOK("") "]}]}"

static void
test_refused(void **state unused_arg)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "[]", "object" },
		{ "{\"Pre\":[]}", "\"Pre\"" },
		{ "{\"preToolUse\":[]}", "preToolUse" },
		{ "{\"Stop\":{}}", "hooks.Stop: not a list" },
		{ "{\"Stop\":[1]}", "hooks.Stop[0]: not an object" },
		{ "{\"Stop\":[{}]}", "\"hooks\" is missing" },
		{ "{\"Stop\":[{\"hooks\":[],\"x\\u0007\":1}]}", "unknown" },
		{ "{\"Stop\":[{\"hooks\":[{}]}]}", "hooks[0]" },
		{ ONE("Stop", ",\"env\":{}"), "unknown member \"env\"" },
		{ ONE("Stop", ",\"timeout\":0"), "1 to 600" },
		{ ONE("Stop", ",\"timeout\":601"), "1 to 600" },
		{ ONE("Stop", ",\"timeout\":-1"), "1 to 600" },
		{ ONE("Stop", ",\"timeout\":1.5"), "1 to 600" },
		{ ONE("Stop", ",\"failClosed\":1"), "failClosed" },
		{ ONE("SessionEnd", ",\"failClosed\":true"),
		    "can't be blocked" },
		{ ONE("Stop", ",\"where\":\"workspace\""), "no workspace" },
		{ ONE("PreToolUse", ",\"where\":\"host\""), "only \"where\"" },
		{ "{\"Stop\":[{\"matcher\":\"x\",\"hooks\":[]}]}", "matcher" },
		{ WITH("1"), "matcher" },
		{ WITH("\"|\""), "names nothing" },
		{ WITH("\"Edit|\""), "names nothing" },
		{ WITH("\"|Edit\""), "names nothing" },
		{ WITH("\"Edit||Bash\""), "names nothing" },
		{ WITH("\"(Edit|)\""), "names nothing" },
		{ WITH("\".*|\""), "names nothing" },
		{ ONE("Stop", ",\"timeout\":null"), "1 to 600" },
		{ ONE("Stop", ",\"timeout\":\"5\""), "1 to 600" },
		{ WITH("\"a{1,9}\""), "\"{\"" },
		{ WITH("\"(a)\\\\1\""), "backslash" },
		{ WITH("\"(\""), "regular expression" },
		{ WITH("\"bash\""), "no tool \"bash\"" },
		{ WITH("\"Edit|Bsh\""), "no tool \"Bsh\"" },
		{ WITH("\"Bash(git *)\""), "no tool" },
		{ WITH("\"run.\""), "no tool" },
		{ "{\"SessionStart\":[{\"matcher\":\"clear\",\"hooks\":[]}]}",
		    "startup, resume" },
		{ "{\"SubagentStop\":[{\"matcher\":\"Bash\",\"hooks\":[]}]}",
		    "explore" },
		{ WITH("\"[\""), "regular expression" },
		{ "{\"Stop\":[{\"hooks\":[{\"type\":\"prompt\","
		  "\"command\":\"x\"}]}]}",
		    "type" },
		{ "{\"Stop\":[{\"hooks\":[{\"type\":\"command\","
		  "\"command\":\"\"}]}]}",
		    "1 to 8192" },
	};
	struct hook_conf *c;
	struct err e;
	json_t *j;
	size_t i;

	for (i = 0; i < nitems(rows); i++) {
		j = parse(rows[i].text);
		if (hook_conf_parse(j, FILE_NAME, &c, NULL, &e) != ERR_SYNTAX)
			fail_msg("%s is taken", rows[i].text);
		if (strstr(e.text, rows[i].says) == NULL ||
		    strstr(e.text, FILE_NAME) == NULL)
			fail_msg("%s: %s", rows[i].text, e.text);
		assert_null(c);
		json_decref(j);
	}
}

/* What other tools have besides: noted, each with its place; and the hook is
 * there. */
static void
test_elsewhere(void **state unused_arg)
{
	static const char text[] =
	    "{\"Notification\":[{\"hooks\":[]}],\"Stop\":[{\"description\":"
	    "\"d\",\"hooks\":[{\"type\":\"command\",\"command\":\"x\","
	    "\"statusMessage\":\"s\",\"once\":true}]}]}";
	static const char *const says[] = { "\"Notification\"",
		"Stop[0]: the member \"description\"",
		"Stop[0].hooks[0]: the member \"statusMessage\"",
		"Stop[0].hooks[0]: the member \"once\"" };
	struct strv notes = { 0 };
	struct hook_conf *c;
	json_t *j = parse(text);
	struct err e;
	size_t i, k;

	assert_int_equal(hook_conf_parse(j, FILE_NAME, &c, &notes, &e), 0);
	assert_true(hook_conf_has(c, HOOK_STOP, NULL));
	assert_int_equal(notes.n, nitems(says));
	for (i = 0; i < nitems(says); i++) {
		for (k = 0; k < notes.n; k++)
			if (strstr(notes.v[k], says[i]) != NULL)
				break;
		if (k == notes.n)
			fail_msg("%s is not said", says[i]);
	}
	strv_clear(&notes);
	hook_conf_free(c);
	json_decref(j);
}

static void
test_many(void **state unused_arg)
{
	struct hook_conf *c;
	struct err e;
	struct buf b;
	json_t *j;
	int i;

	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&b, "{\"Stop\":[{\"hooks\":[" HOOK(""));
	for (i = 1; i < HOOKS_MAX; i++)
		(void)buf_adds(&b, "," HOOK(""));
	(void)buf_adds(&b, "]}]}");
	c = conf(buf_str(&b));
	hook_conf_free(c);
	b.len -= 4;
	(void)buf_adds(&b, "," HOOK("") "]}]}");
	j = parse(buf_str(&b));
	assert_int_equal(
	    hook_conf_parse(j, FILE_NAME, &c, NULL, &e), ERR_SYNTAX);
	assert_non_null(strstr(e.text, "at most"));
	json_decref(j);
	buf_clear(&b);
	assert_int_equal(hook_conf_parse(NULL, FILE_NAME, &c, NULL, &e), 0);
	assert_null(c);
	assert_null(conf("{}"));
	assert_null(conf("{\"Stop\":[{\"hooks\":[]}]}"));
}

static void
test_match(void **state unused_arg)
{
	static const struct {
		const char *matcher, *tool;
		bool yes;
	} rows[] = {
		{ "", "finish", true },
		{ "*", "run_command", true },
		{ "run_command", "run_command", true },
		{ "run_command", "run_commands", false },
		{ "run_command|edit_file", "edit_file", true },
		{ "Bash", "run_command", true },
		{ "Bash", "try_edits", false },
		{ "Read", "read_file", true },
		{ "Read", "list_dir", true },
		{ "Read", "grep", true },
		{ "Grep", "grep", true },
		{ "Grep", "read_file", false },
		{ "Edit", "edit_file", true },
		{ "Edit", "apply_patch", true },
		{ "Write", "try_edits", true },
		{ "edit_file", "apply_patch", false },
		{ "WebFetch", "fetch_url", true },
		{ "run_.*", "run_command", true },
		{ ".*command", "run_command", true },
		{ "run_command|.*file", "edit_file", true },
		{ "r|run_comman.|x", "run_command", true },
		{ "^run_command$", "run_command", true },
		{ "Ba.h", "run_command", true },
		{ "(Edit|Write)+", "apply_patch", true },
		{ "mcp__.*", "run_command", false },
		{ "mcp__.*", "mcp__a__b", true },
		{ "mcp__a", "mcp__a", true },
	};
	struct hook_conf *c;
	size_t i;

	for (i = 0; i < nitems(rows); i++) {
		c = matching(rows[i].matcher);
		if (hook_conf_has(c, HOOK_PRE_TOOL, rows[i].tool) !=
		    rows[i].yes)
			fail_msg("%s %s", rows[i].matcher, rows[i].tool);
		assert_false(hook_conf_has(c, HOOK_POST_TOOL, rows[i].tool));
		hook_conf_free(c);
	}
	c = conf(
	    "{\"SubagentStop\":[{\"matcher\":\"Bash|plan\",\"hooks\":[" HOOK(
		"") "]}]}");
	assert_true(hook_conf_has(c, HOOK_SUBAGENT_STOP, "plan"));
	assert_true(hook_conf_has(c, HOOK_SUBAGENT_STOP, "Bash"));
	assert_false(hook_conf_has(c, HOOK_SUBAGENT_STOP, "run_command"));
	hook_conf_free(c);
}

static void
test_fields(void **state unused_arg)
{
	struct hook_conf *c = conf(
	    "{\"PreToolUse\":[{\"matcher\":\"Edit\","
	    "\"hooks\":[" HOOK(
		",\"timeout\":600,\"failClosed\":true,"
		"\"where\":\"workspace\"") "," HOOK("") "]}],"
							"\"PreCompact\":[{\"hooks\":[" HOOK(
							    "") "]}],"
								"\"PostToolUse\":[{\"matcher\":\"gre.\","
								"\"hooks\":[" HOOK(
								    "") "]}],"
									"\"Stop\":[{\"hooks\":[" HOOK(
									    "") "]}]}");
	const struct hook *v[4];
	struct strv wanted = { 0 };

	assert_int_equal(
	    hook_conf_find(c, HOOK_PRE_TOOL, "edit_file", v, 4), 2);
	assert_int_equal(v[0]->timeout_ms, 600000);
	assert_true(v[0]->fail_closed && v[0]->workspace);
	assert_int_equal(v[1]->timeout_ms, 60000);
	assert_false(v[1]->fail_closed || v[1]->workspace);
	assert_int_equal(
	    hook_conf_find(c, HOOK_PRE_TOOL, "edit_file", v, 1), 1);
	hook_conf_wanted(c, &wanted);
	assert_int_equal(wanted.n, 5);
	assert_true(strv_has(&wanted, "PreToolUse:edit_file"));
	assert_true(strv_has(&wanted, "PreToolUse:apply_patch"));
	assert_true(strv_has(&wanted, "PreToolUse:try_edits"));
	assert_true(strv_has(&wanted, "PostToolUse:*"));
	assert_true(strv_has(&wanted, "PreCompact"));
	strv_clear(&wanted);
	hook_conf_free(c);
}

/* --- answers ------------------------------------------------------------- */

#define SAYS(what) "{\"hookSpecificOutput\":{" what "}}"

static void
test_answers(void **state unused_arg)
{
	enum {
		N = HOOK_NONE,
		A = HOOK_ASK,
		D = HOOK_DENY
	};
	static const struct {
		enum hook_event event;
		int status;
		const char *out, *err;
		int want, closed; /* closed: with failClosed */
		const char *reason, *context, *warning;
	} rows[] = {
		{ HOOK_PRE_TOOL, 0, "", "", N, N, NULL, NULL, NULL },
		{ HOOK_PRE_TOOL, 0, "words", "x", N, N, NULL, NULL, NULL },
		/* an answer behind a line of a log */
		{ HOOK_PRE_TOOL, 0,
		    "starting\n"
		    "{\"decision\":\"block\",\"reason\":\"no\"}\n",
		    "", N, D, NULL, NULL, "before it" },
		{ HOOK_PRE_TOOL, 0,
		    "a\nb\n  " SAYS("\"permissionDecision\":\"deny\""), "", N,
		    D, NULL, NULL, "before it" },
		{ HOOK_PROMPT, 0, "x\n{\"continue\":false}", "", N, D, NULL,
		    NULL, "before it" },
		{ HOOK_PROMPT, 0, "x\n{ a }", "", N, N, NULL, "x\n{ a }",
		    NULL },
		{ HOOK_PRE_TOOL, 0, "see {\"decision\": 1}\nx", "", N, N, NULL,
		    NULL, NULL },
		{ HOOK_PROMPT, 0, "words\n", "", N, N, NULL, "words", NULL },
		{ HOOK_PRE_TOOL, 2, "", " why\n", D, D, " why", NULL, NULL },
		{ HOOK_PRE_TOOL, 2, SAYS("\"permissionDecision\":\"allow\""),
		    "", D, D, "gives no reason", NULL, NULL },
		{ HOOK_SESSION_END, 2, "", "why", N, N, NULL, NULL, "why" },
		{ HOOK_SUBAGENT_START, 2, "", "why", N, N, NULL, NULL, "why" },
		{ HOOK_POST_TOOL, 2, "", "why", D, D, "why", NULL, NULL },
		{ HOOK_PRE_TOOL, 1, "", "why", N, D, NULL, NULL,
		    "status 1: why" },
		{ HOOK_PRE_TOOL, 137, "", "", N, D, NULL, NULL, "status 137" },
		{ HOOK_PRE_TOOL, 0, "{", "", N, D, NULL, NULL, "JSON" },
		{ HOOK_PRE_TOOL, 0, " {} x", "", N, D, NULL, NULL, "JSON" },
		{ HOOK_PRE_TOOL, 0, "{\"continue\":1}", "", N, D, NULL, NULL,
		    "continue" },
		{ HOOK_PRE_TOOL, 0, "{\"reason\":[]}", "", N, D, NULL, NULL,
		    "reason" },
		{ HOOK_PRE_TOOL, 0, "{\"suppressOutput\":7}", "", N, N, NULL,
		    NULL, NULL },
		{ HOOK_PRE_TOOL, 0, "{\"decision\":\"block\",\"reason\":\"b\"}",
		    "", D, D, "b", NULL, NULL },
		{ HOOK_PRE_TOOL, 0, "{\"decision\":\"approve\"}", "", N, N,
		    NULL, NULL, NULL },
		{ HOOK_PRE_TOOL, 0, "{\"decision\":\"perhaps\"}", "", N, D,
		    NULL, NULL, "decision" },
		{ HOOK_PRE_TOOL, 0,
		    SAYS("\"permissionDecision\":\"deny\","
			 "\"permissionDecisionReason\":\"r\""),
		    "", D, D, "r", NULL, NULL },
		{ HOOK_PRE_TOOL, 0,
		    SAYS("\"permissionDecision\":\"ask\","
			 "\"permissionDecisionReason\":\"r\""),
		    "", A, A, "r", NULL, NULL },
		{ HOOK_PRE_TOOL, 0, SAYS("\"permissionDecision\":\"allow\""),
		    "", N, N, NULL, NULL, NULL },
		{ HOOK_PRE_TOOL, 0, SAYS("\"permissionDecision\":\"defer\""),
		    "", N, N, NULL, NULL, NULL },
		{ HOOK_PRE_TOOL, 0, SAYS("\"permissionDecision\":\"yes\""), "",
		    N, D, NULL, NULL, "permissionDecision" },
		{ HOOK_PRE_TOOL, 0, SAYS("\"hookEventName\":\"Stop\""), "", N,
		    D, NULL, NULL, "hookEventName" },
		{ HOOK_PRE_TOOL, 0, SAYS("\"updatedInput\":[]"), "", N, D, NULL,
		    NULL, "updatedInput" },
		{ HOOK_POST_TOOL, 0, SAYS("\"updatedInput\":{}"), "", N, D,
		    NULL, NULL, "updatedInput" },
		{ HOOK_PRE_TOOL, 0,
		    SAYS("\"additionalContext\":\"c\\u001b[1m\""), "", N, N,
		    NULL, "c", NULL },
		{ HOOK_PRE_TOOL, 0, "{\"permissionDecision\":\"deny\"}", "", N,
		    D, NULL, NULL, "stands in" },
		{ HOOK_PRE_TOOL, 0,
		    "{\"permissionDecision\":\"deny\",\"decision\":\"block\","
		    "\"reason\":\"no\"}",
		    "", D, D, "no", NULL, NULL },
		{ HOOK_POST_TOOL, 0, "{\"additionalContext\":\"x\"}", "", N, D,
		    NULL, NULL, "stands in" },
		{ HOOK_PRE_TOOL, 0,
		    "\xef\xbb\xbf{\"decision\":\"block\",\"reason\":\"no\"}",
		    "", D, D, "no", NULL, NULL },
		{ HOOK_PRE_TOOL, 0, "{\"hookSpecificOutput\":[]}", "", N, D,
		    NULL, NULL, "hookSpecificOutput" },
		{ HOOK_PERMISSION, 0,
		    SAYS("\"decision\":{\"behavior\":\"deny\","
			 "\"message\":\"m\"}"),
		    "", D, D, "m", NULL, NULL },
		{ HOOK_PERMISSION, 0,
		    SAYS("\"decision\":{\"behavior\":\"allow\"}"), "", N, N,
		    NULL, NULL, NULL },
		{ HOOK_POST_TOOL, 0, SAYS("\"permissionDecision\":\"ask\""), "",
		    N, N, NULL, NULL, "can't block" },
	};
	struct hook h = { .command = (char *)(uintptr_t) "cmd" };
	struct hook_answer a;
	struct hook_run r;
	size_t i, k;

	for (i = 0; i < nitems(rows) * 2; i++) {
		k = i / 2;
		h.event = rows[k].event;
		h.fail_closed = i % 2 == 1;
		r = (struct hook_run){ .status = rows[k].status,
			.out = rows[k].out,
			.err = rows[k].err,
			.out_len = strlen(rows[k].out),
			.err_len = strlen(rows[k].err) };
		hook_answer_read(&h, &r, &a);
		if ((int)a.verdict !=
		    (h.fail_closed && hook_event_blocks(h.event)
			    ? rows[k].closed
			    : rows[k].want))
			fail_msg("row %zu: verdict %d", i, (int)a.verdict);
		assert_int_equal(a.verdict != HOOK_NONE, a.reason != NULL);
		if (rows[k].reason != NULL &&
		    strstr(a.reason, rows[k].reason) == NULL)
			fail_msg("row %zu: reason %s", i, a.reason);
		if ((a.context != NULL) != (rows[k].context != NULL) ||
		    (a.context != NULL &&
			strcmp(a.context, rows[k].context) != 0))
			fail_msg("row %zu: context %s", i, a.context);
		if ((a.warning != NULL) != (rows[k].warning != NULL) ||
		    (a.warning != NULL &&
			strstr(a.warning, rows[k].warning) == NULL))
			fail_msg("row %zu: warning %s", i, a.warning);
		hook_answer_clear(&a);
	}
}

static void
read_one(enum hook_event ev, const char *out, struct hook_answer *ret)
{
	struct hook h = { .event = ev, .command = (char *)(uintptr_t) "cmd" };
	struct hook_run r = { .out = out, .out_len = strlen(out) };

	hook_answer_read(&h, &r, ret);
}

static void
test_join(void **state unused_arg)
{
	static const char *const outs[] = {
		SAYS(
		    "\"permissionDecision\":\"ask\","
		    "\"permissionDecisionReason\":\"first\","
		    "\"additionalContext\":\"one\",\"updatedInput\":{\"a\":1}"),
		SAYS("\"permissionDecision\":\"allow\","
		     "\"updatedInput\":{\"a\":2}"),
		"{\"decision\":\"block\",\"reason\":\"second\"}",
		"{\"continue\":false,\"stopReason\":\"third\"}",
		SAYS("\"additionalContext\":\"two\""),
	};
	struct hook_answer sum = { 0 }, one;
	size_t i;

	for (i = 0; i < nitems(outs); i++) {
		read_one(HOOK_PRE_TOOL, outs[i], &one);
		hook_answer_join(&sum, &one);
		hook_answer_clear(&one);
		if (i == 1) {
			assert_int_equal(sum.verdict, HOOK_ASK);
			assert_string_equal(sum.reason, "first");
			assert_false(sum.stop);
		}
	}
	assert_int_equal(sum.verdict, HOOK_DENY);
	assert_string_equal(sum.reason, "second");
	assert_true(sum.stop);
	assert_string_equal(sum.context, "one\ntwo");
	assert_int_equal(
	    json_integer_value(json_object_get(sum.updated, "a")), 2);
	hook_answer_clear(&sum);
}

static void
test_long_text(void **state unused_arg)
{
	struct buf b;
	char *s;
	int i;

	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < HOOK_TEXT_MAX + 5; i++)
		(void)buf_adds(&b, "\xc3\xa9");
	s = hook_text(buf_str(&b), b.len);
	assert_int_equal(strlen(s), 2 * HOOK_TEXT_MAX);
	free(s);
	buf_clear(&b);
	s = hook_text("a\0b\x1b[2J\xff\n\n", 9);
	assert_true(text_is_utf8(s, strlen(s)));
	assert_null(strchr(s, '\x1b'));
	free(s);
}

/* --- processes ----------------------------------------------------------- */

struct end {
	struct hook_run r;
	struct buf out;
	char failure[128];
	uint64_t ms;
	int n;
};

static void
on_end(void *ctx, const struct hook_run *r, uint64_t ms)
{
	struct end *e = ctx;

	e->r = *r;
	e->ms = ms;
	e->n++;
	buf_init(&e->out, BUF_NOMAX);
	(void)buf_add(&e->out, r->out, r->out_len);
	if (r->failure != NULL)
		(void)snprintf(e->failure, sizeof e->failure, "%s", r->failure);
}

static struct hook_proc *
start(struct loop *l, const char *command, const char *input, uint64_t ms,
    struct end *ret)
{
	struct strv env = { 0 };
	struct hook_proc_opts o = { .loop = l,
		.command = command,
		.cwd = "/",
		.env = &env,
		.input = input,
		.input_len = strlen(input),
		.timeout_ms = ms };
	struct hook_proc *p;
	struct err e;

	strv_setenv(&env, "PATH", "/usr/bin:/bin");
	*ret = (struct end){ 0 };
	if (hook_proc_start(&o, on_end, ret, &p, &e) < 0)
		fail_msg("%s", e.text);
	strv_clear(&env);
	return p;
}

static void
run(const char *command, const char *input, uint64_t ms, struct end *ret)
{
	struct loop *l = loop_create();

	(void)start(l, command, input, ms, ret);
	while (ret->n == 0)
		(void)loop_once(l, 1000);
	loop_free(l);
}

static void
test_process(void **state unused_arg)
{
	struct end e;

	run("cat; pwd; echo $#$0; exit 7", "in\n", 60000, &e);
	assert_int_equal(e.r.status, 7);
	assert_string_equal(buf_str(&e.out), "in\n/\n0sh\n");
	buf_clear(&e.out);
	run("env | sort | head -3", "", 60000, &e);
	assert_string_equal(buf_str(&e.out), "PATH=/usr/bin:/bin\nPWD=/\n");
	buf_clear(&e.out);
	run("kill -KILL $$", "", 60000, &e);
	assert_int_equal(e.r.status, 137);
	buf_clear(&e.out);
	run("exec >&- 2>&-; sleep 0.1; exit 3", "", 60000, &e);
	assert_int_equal(e.r.status, 3);
	buf_clear(&e.out);
	run("head -c 100000 /dev/zero", "", 60000, &e);
	assert_int_equal(e.out.len, HOOK_OUTPUT_MAX);
	assert_true(e.r.cut);
	assert_int_equal(e.failure[0], '\0');
	buf_clear(&e.out);
	run("cat /dev/zero", "", 60000, &e);
	assert_non_null(strstr(e.failure, "16 MiB"));
	buf_clear(&e.out);
}

static bool
is_gone(const struct end *e)
{
	pid_t pid = (pid_t)strtol(buf_str(&e->out), NULL, 10);

	assert_true(pid > 1);
	for (int i = 0; i < 3000; i++) {
		if (kill(pid, 0) < 0)
			return true;
		(void)usleep(10000);
	}
	return false;
}

static void
test_tree(void **state unused_arg)
{
	struct end e;

	run("sleep 98 & echo $!; wait", "", 2000, &e);
	assert_non_null(strstr(e.failure, "time limit"));
	assert_true(is_gone(&e));
	buf_clear(&e.out);
	/* It has ended, something holds its pipes. */
	run("sleep 97 & echo $!", "", 60000, &e);
	assert_int_equal(e.r.status, 0);
	assert_int_equal(e.failure[0], '\0');
	assert_true(e.ms < 10000);
	assert_true(is_gone(&e));
	buf_clear(&e.out);
}

static void
test_kill(void **state unused_arg)
{
	struct loop *l = loop_create();
	struct end e;
	struct hook_proc *p = start(l, "sleep 96", "", 60000, &e);

	(void)loop_once(l, 50);
	hook_proc_kill(p);
	(void)loop_once(l, 50);
	assert_int_equal(e.n, 0);
	loop_free(l);
}

static void
test_at_once(void **state unused_arg)
{
	struct loop *l = loop_create();
	struct end e[32];
	char text[16];
	int i, done = 0;

	for (i = 0; i < 32; i++) {
		(void)snprintf(text, sizeof text, "%d", i);
		(void)start(l, "sleep 0.2; cat", text, 30000, &e[i]);
	}
	while (done < 32) {
		(void)loop_once(l, 1000);
		for (done = i = 0; i < 32; i++)
			done += e[i].n;
	}
	for (i = 0; i < 32; i++) {
		(void)snprintf(text, sizeof text, "%d", i);
		assert_string_equal(buf_str(&e[i].out), text);
		buf_clear(&e[i].out);
	}
	loop_free(l);
}

/* --- what a pass is good for --------------------------------------------- */

static void
test_passed(void **state unused_arg)
{
	static const struct {
		const char *matcher, *tool, *input; /* passed last */
		const char *act, *subject;
		bool yes;
	} rows[] = {
		{ "Bash", NULL, "{}", "command", "ls", false },
		{ "Bash", "run_command", "{\"command\":\"ls\"}", "command",
		    "ls", true },
		{ "Bash", "run_command", "{\"command\":\"ls\"}", "command",
		    "ls -l", false },
		{ "Bash", "finish", "{\"command\":\"ls\"}", "command", "ls",
		    false },
		{ "Edit", NULL, "{}", "command", "ls", true },
		{ "Bash", NULL, "{}", "test", "make check", true },
		{ "Bash", NULL, "{}", "test", "curl x", false },
		{ "Edit", NULL, "{}", "write", "sub/a", false },
		{ "edit_file", "edit_file", "{\"path\":\"a\"}", "write",
		    "sub/a", true },
		{ "edit_file", "edit_file", "{\"path\":\"/r/x/../sub/a\"}",
		    "write", "sub/a", true },
		{ "edit_file", "edit_file", "{\"path\":\"a\"}", "write", "a",
		    false },
		{ "edit_file", "edit_file", "{\"path\":\"../b\"}", "write", "b",
		    true },
		{ "edit_file", "apply_patch", "{\"patch\":\"--- a/a\\n\"}",
		    "write", "sub/a", true },
		{ "edit_file", "apply_patch", "{\"patch\":\"--- a/b\\n\"}",
		    "write", "sub/zz", false },
		{ "apply_patch", "apply_patch",
		    "{\"patch\":\"--- \\\"a/\\\\303\\\\251\\\"\\n\"}", "write",
		    "sub/\xc3\xa9", true },
		{ "try_edits", "try_edits", "{\"check\":\"make\"}", "try",
		    "make", true },
		{ "try_edits", "try_edits", "{\"check\":\"make\"}", "try",
		    "make x", false },
		{ "Read", NULL, "{}", "read_file", "x", false },
		{ "Read", "read_file", "{\"path\":\"x\"}", "read_file", "x",
		    true },
		{ "Read", "list_dir", "{}", "list_dir", ".", true },
		{ "Read", "list_dir", "{}", "grep", ".", false },
		{ "*", NULL, "{}", "anything", "x", false },
	};
	struct subtask t = { .kind = KIND_EXPLORE };
	struct hooks h = { 0 };
	struct run r = { .hooks = &h,
		.root = (char *)(uintptr_t) "/r",
		.workdir = (char *)(uintptr_t) "sub" };
	struct worker w;
	struct msg_audit m = { .seq = 3 };
	const char *why;
	size_t i;

	strv_add(&r.tests, "make check");
	for (i = 0; i < nitems(rows); i++) {
		h.conf = matching(rows[i].matcher);
		w = (struct worker){ .name = "w1", .subtask = &t };
		if (rows[i].tool != NULL) {
			hook_side(&w)->tool = xstrdup(rows[i].tool);
			w.hook->passed = parse(rows[i].input);
		}
		m.act = rows[i].act;
		m.subject = rows[i].subject;
		if (hooks_passed(&r, &w, &m, &why) != rows[i].yes)
			fail_msg("row %zu: %s %s", i, m.act, m.subject);
		t.kind = KIND_VERIFY;
		assert_true(hooks_passed(&r, &w, &m, &why));
		t.kind = KIND_EXPLORE;
		hooks_worker_gone(&r, &w);
		hook_conf_free(h.conf);
	}
	/* Once: the same act again, not another. */
	h.conf = matching("Bash");
	w = (struct worker){ .name = "w1", .subtask = &t };
	hook_side(&w)->tool = xstrdup("run_command");
	w.hook->passed = parse("{\"command\":\"ls\"}");
	m.act = "command";
	m.subject = "ls";
	assert_true(hooks_passed(&r, &w, &m, &why));
	assert_true(hooks_passed(&r, &w, &m, &why));
	m.seq = 4;
	assert_false(hooks_passed(&r, &w, &m, &why));
	assert_false(hooks_fetch_passed(&r, &w, "x") &&
	    hook_conf_has(h.conf, HOOK_PRE_TOOL, "fetch_url"));
	hooks_worker_gone(&r, &w);
	hook_conf_free(h.conf);
	strv_clear(&r.tests);
}

static void
test_task(void **state unused_arg)
{
	struct subtask t = { .kind = KIND_EXPLORE };
	struct hooks h = { .conf = matching("edit_file") };
	struct run r = { .hooks = &h };
	struct strv v = { 0 };

	hooks_task(&r, &t, &v);
	assert_int_equal(v.n, 2); /* who writes can't be told apart */
	assert_true(strv_has(&v, "PreToolUse:apply_patch"));
	strv_clear(&v);
	t.kind = KIND_VERIFY;
	hooks_task(&r, &t, &v);
	assert_int_equal(v.n, 0);
	hook_conf_free(h.conf);
	r.hooks = NULL;
	t.kind = KIND_EXPLORE;
	hooks_task(&r, &t, &v);
	assert_int_equal(v.n, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_match),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_at_once),
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_task),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
