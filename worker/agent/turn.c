/*
 * turn.c - the loop: ask the model, make its tool calls, ask again.
 *
 * Whatever the model writes, each call gets exactly one result, in order. What
 * ends the loop is finish, a spent budget, a model that failed for good, a
 * window that is too small, the limit of turns, or no progress.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/hook.h"
#include "worker/agent/memory.h"
#include "worker/agent/tool.h"
#include "worker/agent/turn.h"

#define NO_CALLS_MAX 3 /* messages in a row without a call */
#define CALLS_MAX 64   /* in one message */
#define GIANTS_MAX 3   /* answers in a row that are too large */
#define ID_MAX 200
#define STOPS_MAX 8 /* times that hooks may send a worker on */

static const char nudge[] =
    "Your message holds no tool call. Use a tool to go on, or call finish with "
    "a verdict when you are done.";
static const char go_on[] =
    "Your message was cut off at the limit of one answer. Go on, in fewer "
    "words, with a tool call.";
/* In the place of an answer of which nothing was kept. */
static const char left_out[] =
    "{\"role\":\"assistant\",\"content\":\"(This message was too large and "
    "is left out.)\"}";

/* --- the model's message ------------------------------------------------- */

/* Providers want each call's id once in a conversation, servers don't always
 * give it so. True: j was changed. */
static bool
unique_ids(struct turns *t, json_t *j)
{
	json_t *calls = json_object_get(j, "tool_calls"), *call;
	bool changed = false;
	const char *id;
	char own[64];
	size_t i, n;

	json_array_foreach (calls, i, call) {
		if (!json_is_object(call)) {
			call = json_object();
			json_array_set_new(calls, i, call);
			changed = true;
		}
		id = arg_str(call, "id", "");
		n = i + 1;
		while (*id == '\0' || strlen(id) > ID_MAX ||
		    strv_has(&t->ids, id)) {
			snprintf(own, sizeof own, "call_%llu_%zu",
			    (unsigned long long)t->turn, n);
			n += json_array_size(calls);
			id = own;
		}
		if (id == own) {
			json_object_set_new(call, "id", json_string(own));
			changed = true;
		}
		strv_add(&t->ids, id);
	}
	return changed;
}

static int
add_message(
    struct turns *t, const struct msg_model_result *m, json_t *j, struct err *e)
{
	char *s;
	int r;

	if (!unique_ids(t, j))
		return conv_add_text(&t->conv, CONV_ASSISTANT, m->message,
		    strlen(m->message), e);
	s = json_text(j);
	r = conv_add_text(&t->conv, CONV_ASSISTANT, s, strlen(s), e);
	free(s);
	return r;
}

/* A message without calls: ask for one. */
static int
no_calls(struct turns *t, const struct msg_model_result *m, json_t *message,
    struct err *e)
{
	const char *text = arg_str(message, "content", "");
	bool was_cut = strcmp(arg_str(message, "stop", ""), "length") == 0;
	int r;

	if (was_cut && !t->went_on) {
		t->went_on = true;
	} else if (++t->no_calls >= NO_CALLS_MAX) {
		agent_end(t->a, "stuck",
		    "the model made no tool call %u times in a row; its last "
		    "words: %.1200s",
		    t->no_calls, *text != '\0' ? text : "(none)");
		return 0;
	} else {
		was_cut = false;
	}
	/* Providers refuse a message with neither text nor calls. */
	if (text[strspn(text, " \t\r\n")] != '\0' &&
	    (r = add_message(t, m, message, e)) < 0)
		return r;
	return conv_add_user(&t->conv, NULL, was_cut ? go_on : nudge, e);
}

static int
too_many(struct turns *t, const json_t *call, struct err *e)
{
	char text[80];

	snprintf(text, sizeof text,
	    "error: not done: at most %d calls in one message", CALLS_MAX);
	return conv_add(&t->conv,
	    conv_result(arg_str(call, "id", ""), arg_str(call, "name", ""),
		text, strlen(text)),
	    e);
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
	t->went_on = false;
	r = add_message(t, m, j, e);
	json_array_foreach (calls, i, call) {
		if (r < 0 || t->a->out.verdict != NULL)
			break;
		r = i < CALLS_MAX ? turns_call(t, call, &m->recorded, e)
				  : too_many(t, call, e);
	}
out:
	json_decref(j);
	return r;
}

/* --- the loop ------------------------------------------------------------ */

static int
start(struct turns *t, struct err *e)
{
	const struct msg_task *task = t->a->task;
	struct buf memory;
	char *context;
	json_t *j;
	int r;

	if ((r = conv_add(&t->conv, tool_list(), e)) < 0)
		return r;
	j = json_object();
	json_object_set_new(j, "role", json_string("system"));
	json_object_set_new(j, "content", json_string(msg_str(task->system)));
	if ((r = conv_add(&t->conv, j, e)) < 0)
		return r;
	buf_init(&memory, BUF_NOMAX);
	memory_text(t->a, &memory);
	if (memory.len > 0)
		r = conv_add_user(&t->conv, "memory", buf_str(&memory), e);
	buf_clear(&memory);
	if (r == 0)
		r = conv_add_user(&t->conv, NULL, msg_str(task->prompt), e);
	if (r == 0 && *msg_str(task->role) != '\0')
		r = conv_add_user(&t->conv, NULL, task->role, e);
	if (hook_event(t->a, "SubagentStart", NULL, false, &context) &&
	    r == 0 && context != NULL)
		r = conv_add_user(&t->conv, NULL, context, e);
	free(context);
	t->ctx.fixed = t->conv.n;
	return r;
}

/* The provider's limit, not ours: make room once, ask again once. */
static void
overflow(struct turns *t)
{
	struct err e;

	if (t->overflowed) {
		(void)context_too_small(&t->ctx, &t->conv, &e);
		agent_end(t->a, "error",
		    "the provider says again that it is too long; %s", e.text);
		return;
	}
	t->overflowed = true;
	context_overflowed(&t->ctx, &t->conv);
	turns_make_room(t, true);
}

/* Nothing of the answer was kept: say so, and what would be. */
static void
giant(struct turns *t, const struct msg_model_result *m)
{
	const char *why = m->error != NULL ? m->error : "it is too large";
	char text[1024];
	struct err e;

	if (++t->giants >= GIANTS_MAX) {
		agent_end(t->a, "stuck",
		    "the model's answer was too large %u times in a row: "
		    "%.400s",
		    t->giants, why);
		return;
	}
	snprintf(text, sizeof text,
	    "error: your message was thrown away, and none of its calls was "
	    "made: %.400s. Make at most %d calls in one message, and write "
	    "what is large in several.",
	    why, CALLS_MAX);
	if (conv_add_text(&t->conv, CONV_ASSISTANT, left_out,
		sizeof left_out - 1, &e) < 0 ||
	    conv_add_user(&t->conv, NULL, text, &e) < 0)
		agent_end(t->a, "error", "%s", e.text);
}

static void
one_turn(struct turns *t)
{
	struct agent *a = t->a;
	struct msg *answer = NULL;
	struct buf late;
	struct err e;

	if (a->task->max_turns > 0 && t->turn >= a->task->max_turns) {
		agent_end(a, "stuck", "the limit of %llu turns is reached",
		    (unsigned long long)a->task->max_turns);
		return;
	}
	turns_make_room(t, false);
	if (a->out.verdict != NULL)
		return;
	buf_init(&late, BUF_NOMAX);
	link_steered(a->link, &t->steered);
	turns_late(t, &late);
	turns_ask(t, late.len > 0 ? buf_str(&late) : NULL, &answer);
	buf_clear(&late);
	if (answer == NULL)
		return;
	if (strcmp(answer->u.model_result.status, "too_large") == 0) {
		giant(t, &answer->u.model_result);
	} else if (strcmp(answer->u.model_result.status, "ok") != 0) {
		overflow(t);
	} else {
		t->overflowed = false;
		t->giants = 0;
		strv_clear(&t->steered);
		if (take_message(t, &answer->u.model_result, &e) < 0)
			agent_end(a, "error", "%s", e.text);
	}
	msg_free(answer);
}

/* The worker has a verdict. A hook may send the model on that called finish,
 * but not one that a limit ended, nor for ever. */
static void
stop(struct turns *t)
{
	struct agent *a = t->a;
	struct err e;
	char *why;
	bool may;

	may = hook_event(a, "SubagentStop", a->out.verdict, t->stops > 0, &why);
	if (!may && a->finished && t->stops < STOPS_MAX) {
		t->stops++;
		a->finished = a->hook_ran = false;
		a->out.verdict = NULL;
		if (conv_add_user(
			&t->conv, NULL, why != NULL ? why : "Go on.", &e) < 0)
			agent_end(a, "error", "%s", e.text);
	}
	free(why);
}

void
turn_run(struct agent *a)
{
	struct turns t = { .a = a };
	struct err e;

	context_init(&t.ctx, a->task->context, a->task->max_output);
	if (a->task->hypothesis != NULL && *a->task->hypothesis != '\0')
		a->out.hypothesis = xstrdup(a->task->hypothesis);
	if (start(&t, &e) < 0)
		agent_end(a, "error", "%s", e.text);
	do {
		while (a->out.verdict == NULL)
			one_turn(&t);
		a->hook_ran = false;
		stop(&t);
	} while (a->out.verdict == NULL);
	conv_clear(&t.conv);
	notes_clear(&t.notes);
	strv_clear(&t.ids);
	strv_clear(&t.steered);
	/* finish has made the patch, and a hook may have changed more. */
	if ((!a->finished || a->hook_ran) && summary_patch(a, &e) < 0)
		strv_addf(
		    &a->out.findings, "there is no patch: %.900s", e.text);
}
