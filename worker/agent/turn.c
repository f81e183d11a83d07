/*
 * turn.c - the loop: ask the model, make its tool calls, ask again.
 *
 * Whatever the model writes, each call gets exactly one result, in order. What
 * ends the loop is finish, a spent budget, a model that failed for good, the
 * limit of turns, or no progress.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/conv.h"
#include "worker/agent/tool.h"

#define SAME_MAX 4     /* the same call with the same result */
#define ERRORS_MAX 8   /* results in a row that are errors */
#define NO_CALLS_MAX 3 /* messages in a row without a call */
#define CALLS_MAX 64   /* in one message */

static const char nudge[] =
    "Your message holds no tool call. Use a tool to go on, or call finish with "
    "a verdict when you are done.";

struct turns {
	struct agent *a;
	struct conv conv;
	uint64_t turn;
	unsigned no_calls;
	unsigned errors;
	unsigned same;
	unsigned char last[HASH_LEN]; /* of the last call and its result */
};

static int
add_user(struct turns *t, const char *text, struct err *e)
{
	json_t *j = json_object();

	json_object_set_new(j, "role", json_string("user"));
	json_object_set_new(j, "content", json_str_lossy(text, strlen(text)));
	return conv_add(&t->conv, j, e);
}

static int
add_result(struct turns *t, const char *id, const char *name,
    const struct buf *text, struct err *e)
{
	json_t *j = json_object();

	json_object_set_new(j, "role", json_string("tool"));
	json_object_set_new(j, "tool_call_id", json_str_lossy(id, strlen(id)));
	json_object_set_new(j, "name", json_str_lossy(name, strlen(name)));
	json_object_set_new(
	    j, "content", json_str_lossy(buf_str(text), text->len));
	return conv_add(&t->conv, j, e);
}

static int
start(struct turns *t, struct err *e)
{
	const struct msg_task *task = t->a->task;
	json_t *j;
	int r;

	if ((r = conv_add(&t->conv, tool_list(), e)) < 0)
		return r;
	j = json_object();
	json_object_set_new(j, "role", json_string("system"));
	json_object_set_new(j, "content", json_string(msg_str(task->system)));
	if ((r = conv_add(&t->conv, j, e)) < 0)
		return r;
	return add_user(t, msg_str(task->prompt), e);
}

/* The first argument that tells a person what the call is about. */
static void
one_line(const json_t *call, char *dst, size_t size)
{
	static const char *const keys[] = { "command", "path", "pattern",
		"check", "verdict" };
	json_t *args = NULL;
	const char *s = NULL;
	size_t i;

	if (tool_args(json_object_get(call, "arguments"), &args, NULL) == 0) {
		for (i = 0; i < nitems(keys) && s == NULL; i++)
			s = json_string_value(json_object_get(args, keys[i]));
	}
	snprintf(dst, size, "%s", s != NULL ? s : "");
	json_decref(args);
}

/* Count what shows that nothing moves on. */
static void
watch(struct turns *t, const json_t *call, const struct tool_result *r)
{
	unsigned char h[HASH_LEN];
	struct hash_state st;
	json_t *args = json_object_get(call, "arguments");
	const char *name = arg_str(call, "name", "");
	char *text = args != NULL ? json_text(args) : xstrdup("");

	hash_init(&st);
	hash_update(&st, name, strlen(name) + 1);
	hash_update(&st, text, strlen(text) + 1);
	hash_update(&st, buf_str(&r->text), r->text.len);
	hash_final(&st, h);
	free(text);
	if (t->same > 0 && memcmp(h, t->last, HASH_LEN) == 0)
		t->same++;
	else
		t->same = 1;
	memcpy(t->last, h, HASH_LEN);
	t->errors = r->error ? t->errors + 1 : 0;
	if (t->same >= SAME_MAX)
		agent_end(t->a, "stuck",
		    "no progress: the call of %s was made %u times in a row with "
		    "the same result",
		    name, t->same);
	else if (t->errors >= ERRORS_MAX)
		agent_end(t->a, "stuck",
		    "no progress: %u tool calls in a row failed, the last with: "
		    "%.600s",
		    t->errors, buf_str(&r->text));
}

static int
make_call(struct turns *t, const json_t *call, size_t i, struct err *e)
{
	const char *name = arg_str(call, "name", ""), *id, *verdict;
	char own_id[48], line[400];
	struct tool_result r;
	const struct tool *tool;
	uint64_t began = loop_now_ms();
	int rc;

	snprintf(own_id, sizeof own_id, "call_%llu_%zu",
	    (unsigned long long)t->turn, i + 1);
	id = arg_str(call, "id", own_id);
	t->a->tools++;
	tool_call(t->a, name, json_object_get(call, "arguments"), &r);
	verdict = r.denied ? "denied" : r.error ? "error" : "ok";
	tool = tool_find(name);
	if (r.error)
		snprintf(line, sizeof line, "%.390s", buf_str(&r.text));
	else
		one_line(call, line, sizeof line);
	agent_progress(t->a, "tool_call", tool != NULL ? tool->name : "unknown",
	    verdict, line, loop_now_ms() - began);
	watch(t, call, &r);
	rc = add_result(t, id, name, &r.text, e);
	tool_result_clear(&r);
	return rc;
}

static int
too_many(struct turns *t, const json_t *call, size_t i, struct err *e)
{
	char own_id[48];
	struct buf b;
	int r;

	snprintf(own_id, sizeof own_id, "call_%llu_%zu",
	    (unsigned long long)t->turn, i + 1);
	buf_init(&b, 256);
	(void)buf_printf(
	    &b, "error: not done: at most %d calls in one message", CALLS_MAX);
	r = add_result(
	    t, arg_str(call, "id", own_id), arg_str(call, "name", ""), &b, e);
	buf_clear(&b);
	return r;
}

/* A message without calls: ask for one. */
static int
no_calls(struct turns *t, const struct msg_model_result *m,
    const json_t *message, struct err *e)
{
	const char *text = arg_str(message, "content", "");
	int r;

	if (++t->no_calls >= NO_CALLS_MAX) {
		agent_end(t->a, "stuck",
		    "the model made no tool call %u times in a row; its last "
		    "words: %.1200s",
		    t->no_calls, *text != '\0' ? text : "(none)");
		return 0;
	}
	/* Providers refuse a message with neither text nor calls. */
	if (text[strspn(text, " \t\r\n")] != '\0' &&
	    (r = conv_add_text(&t->conv, m->message, strlen(m->message), e)) <
		0)
		return r;
	return add_user(t, nudge, e);
}

static int
take_message(struct turns *t, const struct msg_model_result *m, struct err *e)
{
	json_t *j = NULL;
	const json_t *calls, *call;
	size_t i;
	int r;

	if (m->message == NULL)
		return err_set(e, ERR_PROTO, "the model's answer is empty");
	if ((r = json_parse(m->message, strlen(m->message), CONV_MESSAGE_MAX,
		 &j, e)) < 0) {
		err_prefix(e, "the model's message");
		return r;
	}
	calls = json_object_get(j, "tool_calls");
	if (json_array_size(calls) == 0) {
		r = no_calls(t, m, j, e);
		goto out;
	}
	t->no_calls = 0;
	r = conv_add_text(&t->conv, m->message, strlen(m->message), e);
	json_array_foreach (calls, i, call) {
		if (r < 0 || t->a->out.verdict != NULL)
			break;
		r = i < CALLS_MAX ? make_call(t, call, i, e)
				  : too_many(t, call, i, e);
	}
out:
	json_decref(j);
	return r;
}

static void
one_turn(struct turns *t)
{
	struct agent *a = t->a;
	struct msg *answer = NULL;
	const struct msg_model_result *m;
	struct err e;

	if (a->task->max_turns > 0 && t->turn >= a->task->max_turns) {
		agent_end(a, "stuck", "the limit of %llu turns is reached",
		    (unsigned long long)a->task->max_turns);
		return;
	}
	t->turn++;
	if (conv_ask(&t->conv, a->link, t->turn, &answer, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		return;
	}
	m = &answer->u.model_result;
	if (strcmp(m->status, "budget") == 0) {
		agent_end(a, "budget", "%s",
		    m->error != NULL ? m->error : "the budget is spent");
	} else if (strcmp(m->status, "ok") != 0) {
		agent_end(a, "error", "%s",
		    m->error != NULL ? m->error : "the model failed");
	} else {
		a->calls++;
		if (take_message(t, m, &e) < 0)
			agent_end(a, "error", "%s", e.text);
	}
	msg_free(answer);
}

void
turn_run(struct agent *a)
{
	struct turns t = { .a = a };
	struct err e;

	if (a->task->hypothesis != NULL && *a->task->hypothesis != '\0')
		a->out.hypothesis = xstrdup(a->task->hypothesis);
	if (start(&t, &e) < 0)
		agent_end(a, "error", "%s", e.text);
	while (a->out.verdict == NULL)
		one_turn(&t);
	conv_clear(&t.conv);
	/* finish has made the patch. */
	if (!a->finished && summary_patch(a, &e) < 0)
		strv_addf(
		    &a->out.findings, "there is no patch: %.900s", e.text);
}
