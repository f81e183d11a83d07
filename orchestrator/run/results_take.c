/*
 * results_take.c - what a summary says, kept.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/reproduce.h"
#include "orchestrator/run/state.h"

static json_t *
strs_json(const struct msg_strs *s)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < s->n; i++)
		(void)json_array_append_new(a, json_string(s->v[i]));
	return a;
}

json_t *
results_json(const struct worker *w, const struct msg_summary *m)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, "
			 "s:I, s:I, s:I, s:I, s:s, s:I, s:o, s:I, s:I, "
			 "s:b}",
	    "worker", w->name, "verdict", m->verdict, "hypothesis",
	    msg_str(m->hypothesis), "reason", msg_str(m->reason), "findings",
	    strs_json(&m->findings), "evidence", strs_json(&m->evidence),
	    "failing", strs_json(&m->failing), "flaky", strs_json(&m->flaky),
	    "tests_passed", (json_int_t)m->tests_passed, "tests_failed",
	    (json_int_t)m->tests_failed, "tried", (json_int_t)m->tried, "calls",
	    (json_int_t)m->calls, "tools", (json_int_t)m->tools, "wall_ms",
	    (json_int_t)m->wall_ms, "output", msg_str(m->output), "patch_bytes",
	    (json_int_t)m->patch_len, "usage", spend_json(&w->spend), "test_ms",
	    (json_int_t)m->test_ms, "slowest_ms", (json_int_t)m->slowest_ms,
	    "per_test", m->per_test);
}

char *
results_patch_path(const struct run *r, const struct subtask *t)
{
	return path_joinf(
	    store_dir(r->store), "patches/%s-%.8s.patch", t->label, t->id);
}

static void
save_patch(const struct run *r, const struct subtask *t)
{
	struct err e = { 0 };
	char *path = results_patch_path(r, t);

	if (file_write(path, t->patch, t->patch_len, 0600, &e) < 0)
		log_warn("%s", e.text);
	free(path);
}

static void
take_baseline(struct run *r, const struct msg_summary *m)
{
	struct baseline *b = &r->base;

	if (strcmp(m->verdict, "done") != 0)
		return;
	msg_strs_to(&m->failing, &b->failing);
	msg_strs_to(&m->flaky, &b->flaky);
	b->output = xstrdup(msg_str(m->output));
	b->passed = m->tests_passed;
	b->failed = m->tests_failed;
	b->test_ms = m->test_ms;
	b->slowest_ms = m->slowest_ms;
	b->per_test = m->per_test;
	run_event(r, "baseline",
	    json_pack("{s:I, s:I, s:o, s:o, s:b, s:I, s:o}", "passed",
		(json_int_t)b->passed, "failed", (json_int_t)b->failed, "flaky",
		json_from_strv(&b->flaky), "failing",
		json_from_strv(&b->failing), "per_test", b->per_test, "test_ms",
		(json_int_t)b->test_ms, "output",
		json_str_lossy(b->output, strlen(b->output))));
}

static void
take_patch(struct run *r, struct subtask *t, const struct msg_summary *m)
{
	if ((t->kind != KIND_EXPLORE && t->kind != KIND_REPRODUCE) ||
	    m->patch_len == 0)
		return;
	t->patch = xmalloc(m->patch_len + 1);
	memcpy(t->patch, m->patch, m->patch_len);
	t->patch[m->patch_len] = '\0';
	t->patch_len = m->patch_len;
	save_patch(r, t);
}

void
results_take(struct run *r, struct subtask *t, const struct msg_summary *m)
{
	t->state = SUBTASK_DONE;
	t->verdict = xstrdup(m->verdict);
	t->reason = xstrdup(msg_str(m->reason));
	t->shown =
	    xstrdup(msg_str(m->hypothesis)[0] != '\0' ? m->hypothesis
						      : msg_str(t->hypothesis));
	if (t->kind == KIND_EXPLORE && !t->pass && t->findings.n == 0 &&
	    m->findings.n > 0)
		STAILQ_INSERT_TAIL(&r->found, t, told);
	msg_strs_to(&m->findings, &t->findings);
	take_patch(r, t, m);
	if (t->kind == KIND_BASELINE)
		take_baseline(r, m);
	reproduce_take(r, t, m);
	(void)store_subtask(r->store, t->id, kind_str(t->kind), t->label,
	    t->hypothesis, "done", NULL);
}
