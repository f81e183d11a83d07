/* tool_finish.c - finish: the model's own end of its subtask. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/tool.h"

static const char *const verdicts[] = { "fixed", "refuted", "stuck", "done" };

static void
take_list(const json_t *args, const char *key, struct strv *ret)
{
	const json_t *list = json_object_get(args, key), *v;
	size_t i;

	json_array_foreach (list, i, v) {
		strv_add(ret, json_string_value(v));
	}
}

static void
set_text(char **dst, const char *s)
{
	if (s == NULL || *s == '\0')
		return;
	free(*dst);
	*dst = xstrdup(s);
}

/* One line of a plan each: "H2: statement (place); refuted if ...". */
static void
take_hypotheses(const json_t *args, struct strv *ret)
{
	const json_t *list = json_object_get(args, "hypotheses"), *v;
	const char *statement, *place, *test;
	size_t i;

	json_array_foreach (list, i, v) {
		statement = arg_str(v, "statement", "");
		place = arg_str(v, "place", "");
		test = arg_str(v, "refuted_by", "");
		if (statement[strspn(statement, " \t\n")] == '\0')
			continue;
		strv_addf(ret, "H%zu: %.600s%s%.150s%s%s%.250s", i + 1,
		    statement, *place != '\0' ? " (" : "", place,
		    *place != '\0' ? ")" : "",
		    *test != '\0' ? "; refuted if " : "", test);
	}
}

static void
finish(struct agent *a, const json_t *args, struct tool_result *r)
{
	const char *verdict = arg_str(args, "verdict", ""), *kept = NULL;
	struct strv notes = { 0 };
	struct err e;
	size_t i;

	for (i = 0; i < nitems(verdicts); i++) {
		if (strcmp(verdicts[i], verdict) == 0)
			kept = verdicts[i];
	}
	if (kept == NULL) {
		tool_fail(r, "`verdict` must be fixed, refuted, stuck or done");
		return;
	}
	if (strcmp(a->task->kind, "plan") == 0 && strcmp(kept, "done") == 0 &&
	    json_array_size(json_object_get(args, "hypotheses")) == 0 &&
	    json_array_size(json_object_get(args, "findings")) == 0) {
		tool_fail(r,
		    "a plan that is done needs `hypotheses`: a list of "
		    "{statement, place, refuted_by}");
		return;
	}
	strv_clear(&a->out.findings);
	if (summary_patch(a, &e) < 0) {
		if (strcmp(kept, "fixed") == 0) {
			tool_fail_err(r, &e);
			return;
		}
		strv_addf(&notes, "there is no patch: %.900s", e.text);
	}
	if (strcmp(kept, "fixed") == 0 && a->out.patch.len == 0) {
		tool_fail(r,
		    "the verdict can't be fixed: no file was changed%s",
		    a->out.findings.n > 0
			? " but protected ones, which don't count"
			: "");
		strv_clear(&a->out.findings);
		return;
	}
	strv_extend(&notes, &a->out.findings);
	strv_clear(&a->out.findings);
	strv_clear(&a->out.evidence);
	take_hypotheses(args, &a->out.findings);
	take_list(args, "findings", &a->out.findings);
	strv_extend(&a->out.findings, &notes);
	take_list(args, "evidence", &a->out.evidence);
	set_text(&a->out.hypothesis, arg_str(args, "hypothesis", NULL));
	set_text(&a->out.reason, arg_str(args, "reason", NULL));
	a->out.verdict = kept;
	a->finished = true;
	tool_printf(r, "finished: %s", kept);
	strv_clear(&notes);
}

const struct tool tool_finish = {
	"finish",
	"End this task with a verdict: fixed (the files as they are now are the "
	"fix; it is verified afterwards), refuted (the hypothesis is wrong), "
	"stuck, or done (a task that changes nothing, such as planning). Give "
	"findings that others need, and evidence as path:line.",
	"{\"type\":\"object\",\"properties\":{"
	"\"verdict\":{\"type\":\"string\",\"enum\":[\"fixed\",\"refuted\","
	"\"stuck\",\"done\"]},"
	"\"hypothesis\":{\"type\":\"string\"},"
	"\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"evidence\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"hypotheses\":{\"type\":\"array\",\"description\":\"of a plan, the "
	"likeliest first\",\"items\":{\"type\":\"object\",\"properties\":{"
	"\"statement\":{\"type\":\"string\"},"
	"\"place\":{\"type\":\"string\"},"
	"\"refuted_by\":{\"type\":\"string\"}},"
	"\"required\":[\"statement\",\"place\",\"refuted_by\"]}},"
	"\"reason\":{\"type\":\"string\"}},"
	"\"required\":[\"verdict\"]}",
	finish,
};
