/*
 * call.c - one call of a tool: made, watched, and its one result added; see
 * turn.h.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/tool.h"
#include "worker/agent/turn.h"

#define TRIED_MAX 1200 /* bytes of what was tried in a reason */

static const char cut_call[] =
    "error: this call is truncated: your message was cut off at the limit of "
    "one answer, so the arguments are incomplete and nothing was done. Make a "
    "shorter call: split what you write into several files or parts, or change "
    "a piece of a file with edit_file.";

/* The first argument that tells a person what the call is about. */
static void
one_line(const json_t *call, char *dst, size_t size)
{
	static const char *const keys[] = { "command", "path", "pattern",
		"check", "verdict", "name" };
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

/* What was tried, for a verdict of stuck. */
static void
stuck(struct turns *t, const char *why)
{
	struct buf tried;

	buf_init(&tried, BUF_NOMAX);
	notes_failed(&t->notes, TRIED_MAX, false, &tried);
	agent_end(t->a, "stuck", "no progress: %s%s%s", why,
	    tried.len > 0 ? "; failed: " : "", buf_str(&tried));
	buf_clear(&tried);
}

/* Count what shows that nothing moves on. */
static void
watch(struct turns *t, const json_t *call, const char *line, const char *text)
{
	json_t *args = json_object_get(call, "arguments");
	const char *name = arg_str(call, "name", "");
	char *written = args != NULL ? json_text(args) : xstrdup("");
	char why[700];
	unsigned period;

	notes_add(&t->notes, &t->a->task->tests, name, line, text);
	watch_add(&t->watch, name, written, text, text_starts(text, "error: "));
	free(written);
	period = watch_period(&t->watch);
	if (period == 1)
		snprintf(why, sizeof why,
		    "the call of %.64s was made %d times in a row with the "
		    "same result",
		    name, WATCH_SAME);
	else if (period > 1)
		snprintf(why, sizeof why,
		    "the same %u calls, the last of %.64s, went round %d times "
		    "with the same results",
		    period, name, WATCH_SAME);
	else if (t->watch.errors >= WATCH_ERRORS)
		snprintf(why, sizeof why,
		    "%u tool calls in a row failed, the last with: %.400s",
		    t->watch.errors, text);
	else
		return;
	stuck(t, why);
}

/* Into the conversation: the recorded text if there is one for this call and
 * the outcome is the same. */
static int
add_result(struct turns *t, const json_t *call, const char *line,
    const struct buf *text, const struct msg_strs *recorded, struct err *e)
{
	const char *id = arg_str(call, "id", "");
	const char *name = arg_str(call, "name", ""), *old = NULL;
	json_t *j = NULL;
	char how[300];
	int r;

	if (!t->diverged &&
	    recorded_find(recorded, id, name, buf_str(text), &old, &j, how,
		sizeof how) == RECORDED_DIFFERS) {
		t->diverged = true;
		agent_progress(t->a, "diverged", NULL, NULL, how, 0);
	}
	if (j == NULL)
		j = conv_result(id, name, buf_str(text), text->len);
	watch(t, call, line, arg_str(j, "content", ""));
	if (old == NULL)
		return conv_add(&t->conv, j, e);
	r = conv_add_text(&t->conv, CONV_RESULT, old, strlen(old), e);
	json_decref(j);
	return r;
}

static void
run_call(struct turns *t, const json_t *call, const struct tool *tool,
    const struct msg_strs *recorded, struct tool_result *r)
{
	struct buf whole;
	size_t max = context_result_max(&t->ctx);

	t->a->tools++;
	if (json_is_true(json_object_get(call, "cut"))) {
		*r = (struct tool_result){ .error = true };
		buf_init(&r->text, BUF_NOMAX);
		(void)buf_adds(&r->text, cut_call);
		return;
	}
	/* What reaches beyond the workspace is not done again. */
	if (tool == &tool_fetch_url && !t->diverged) {
		*r = (struct tool_result){ 0 };
		buf_init(&r->text, BUF_NOMAX);
		if (recorded_result(recorded, call, &r->text))
			return;
	}
	t->a->call = arg_str(call, "id", "");
	tool_call(t->a, arg_str(call, "name", ""),
	    json_object_get(call, "arguments"), r);
	t->a->call = NULL;
	if (r->text.len <= max)
		return;
	whole = r->text;
	buf_init(&r->text, BUF_NOMAX);
	(void)text_head_tail(&r->text, buf_str(&whole), whole.len, max);
	buf_clear(&whole);
}

int
turns_call(struct turns *t, const json_t *call, const struct msg_strs *recorded,
    struct err *e)
{
	const char *verdict;
	char about[400], line[400];
	struct tool_result r;
	const struct tool *tool = tool_find(arg_str(call, "name", ""));
	uint64_t began = loop_now_ms();
	int rc;

	run_call(t, call, tool, recorded, &r);
	verdict = r.denied ? "denied" : r.error ? "error" : "ok";
	one_line(call, about, sizeof about);
	snprintf(
	    line, sizeof line, "%.390s", r.error ? buf_str(&r.text) : about);
	agent_progress(t->a, "tool_call", tool != NULL ? tool->name : "unknown",
	    verdict, line, loop_now_ms() - began);
	rc = add_result(t, call, about, &r.text, recorded, e);
	tool_result_clear(&r);
	return rc;
}
