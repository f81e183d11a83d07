/*
 * compact.c - the last retreat: the model sums up, and the middle of the
 * conversation goes. What must not depend on its summary (hypothesis, files
 * touched, failed attempts, state of the tests) the worker adds itself; the
 * task stays where it is, word for word.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/hook.h"
#include "worker/agent/tool.h"
#include "worker/agent/turn.h"

#define FACTS_MAX ((size_t)8 << 10)
#define FILES_MAX 100

static const char request[] =
    "The context window is nearly full, so this conversation will be replaced "
    "by a summary. Write it now: plain text, no tool calls, %zu bytes at most. "
    "You go on with nothing but the system prompt, the task (both stay word "
    "for word) and this summary. Say: the hypothesis, and what speaks for and "
    "against it; which files matter, with paths and lines, and what you "
    "changed in them; every attempt that failed, and why; which tests pass and "
    "fail now; the next step.";

/* The facts that the worker knows; at most a part of the window. */
static void
add_facts(const struct turns *t, size_t max, struct buf *b)
{
	const struct strv *files = &t->a->written;
	size_t i;

	if (max > FACTS_MAX)
		max = FACTS_MAX;
	if (t->a->out.hypothesis != NULL)
		(void)buf_printf(
		    b, "Hypothesis: %.1024s\n", t->a->out.hypothesis);
	if (files->n > 0)
		(void)buf_adds(b, "Files changed with the editing tools:");
	for (i = 0; i < files->n && i < FILES_MAX && b->len < max; i++)
		(void)buf_printf(b, " %s", files->v[i]);
	if (files->n > 0)
		(void)buf_printf(b, "%s\n", i < files->n ? " ..." : "");
	if (t->notes.tests != NULL)
		(void)buf_printf(b, "%s: %s\n",
		    t->notes.is_test ? "State of the tests" : "Last command",
		    t->notes.tests);
	if (t->notes.failed.n > 0) {
		(void)buf_adds(b, "Calls that failed, oldest first:\n");
		notes_failed(&t->notes, max, true, b);
	}
}

static char *
summary_text(const struct turns *t, const char *model)
{
	struct buf b, facts;

	buf_init(&b, BUF_NOMAX);
	buf_init(&facts, BUF_NOMAX);
	add_facts(t, context_summary_max(&t->ctx) / 2, &facts);
	(void)buf_adds(&b,
	    "[The conversation up to here was too long and was replaced by "
	    "this summary.]\n\nYour summary:\n");
	(void)text_clean(&b, model, strlen(model), 0);
	(void)buf_adds(&b, "\n\nRecorded by the program:\n");
	(void)text_clean(&b, buf_str(&facts), facts.len, 0);
	(void)buf_adds(&b, "\nGo on with the task from here.");
	buf_clear(&facts);
	return buf_detach(&b, NULL);
}

static int
replace_middle(struct turns *t, const char *model, struct err *e)
{
	json_t *j = json_object();
	char *text = summary_text(t, model);

	json_object_set_new(j, "role", json_string("user"));
	json_object_set_new(j, "content", json_str_lossy(text, strlen(text)));
	json_object_set_new(j, "kind", json_string("summary"));
	free(text);
	return conv_splice(
	    &t->conv, t->ctx.fixed, context_tail(&t->ctx, &t->conv), j, e);
}

/* Why the answer is no summary; NULL: it is one. */
static const char *
refuse(const struct turns *t, const char *text)
{
	size_t len = strlen(text);

	if (text[strspn(text, " \t\r\n")] == '\0')
		return "it is empty";
	if (len > context_summary_max(&t->ctx))
		return "it is too long";
	return NULL;
}

static int
take_summary(struct turns *t, const struct msg *answer, struct err *e)
{
	const struct msg_model_result *m = &answer->u.model_result;
	uint64_t before = context_tokens(&t->ctx, &t->conv, 0, t->conv.n);
	const char *why;
	json_t *j = NULL;
	int r;

	if (strcmp(m->status, "ok") != 0)
		return context_barren(&t->ctx, &t->conv, e);
	if (m->message == NULL ||
	    json_parse(
		m->message, strlen(m->message), CONV_MESSAGE_MAX, &j, NULL) < 0)
		return context_barren(&t->ctx, &t->conv, e);
	if ((why = refuse(t, arg_str(j, "content", ""))) != NULL) {
		log_debug("summary refused: %s", why);
		r = context_barren(&t->ctx, &t->conv, e);
	} else {
		r = replace_middle(t, arg_str(j, "content", ""), e);
		if (r == 0)
			r = context_compacted(&t->ctx, &t->conv, before, e);
	}
	json_decref(j);
	return r;
}

void
compact(struct turns *t)
{
	size_t n = t->conv.n;
	struct msg *answer = NULL;
	struct buf text;
	struct err e;
	char *why;
	int r;

	if (!hook_event(t->a, "PreCompact", NULL, false, &why)) {
		log_debug("PreCompact: %s", msg_str(why));
		free(why);
		if (context_barren(&t->ctx, &t->conv, &e) < 0)
			agent_end(t->a, "error", "%s", e.text);
		return;
	}
	free(why);
	agent_progress(
	    t->a, "context", NULL, NULL, "the conversation is summed up", 0);
	buf_init(&text, BUF_NOMAX);
	(void)buf_printf(&text, request, context_summary_max(&t->ctx) * 3 / 4);
	r = conv_add_user(&t->conv, "compact", buf_str(&text), &e);
	buf_clear(&text);
	if (r == 0)
		turns_ask(t, NULL, &answer);
	if (r == 0)
		r = conv_splice(&t->conv, n, t->conv.n, NULL, &e);
	if (r == 0 && answer != NULL)
		r = take_summary(t, answer, &e);
	if (r < 0)
		agent_end(t->a, "error", "%s", e.text);
	msg_free(answer);
}
