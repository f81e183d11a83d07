/*
 * results.c - what a summary means for the run.
 */
#include "common/compat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/deliver.h"
#include "orchestrator/run/late.h"
#include "orchestrator/run/outside.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/reproduce.h"
#include "orchestrator/run/review.h"
#include "orchestrator/run/topology.h"
#include "orchestrator/verify/select.h"

/* On another machine it may be that one's fault. */
static void
no_baseline(struct run *r, const struct subtask *t)
{
	const char *why =
	    *t->reason != '\0' ? t->reason : "the tests can't be run";
	char *hint;

	if (t->made_on.name[0] == '\0') {
		run_end(r, EXIT_USAGE, "error", "%s", why);
		return;
	}
	hint = outside_hint(r);
	run_end(r, EXIT_USAGE, "error", "on host %s: %s%s%s", t->made_on.name,
	    why, hint != NULL ? ". " : "", hint != NULL ? hint : "");
	free(hint);
}

static void
after_baseline(struct run *r, struct subtask *t)
{
	const struct baseline *b = &r->base;

	if (strcmp(t->verdict, "done") != 0)
		no_baseline(r, t);
	else if (reproduce_wanted(r))
		reproduce_begin(r);
	else if (b->failing.n == 0 && b->flaky.n > 0)
		run_end(r, EXIT_USAGE, "error",
		    "no test fails in both of two runs: %s is flaky, and a fix "
		    "could not be told from luck",
		    b->flaky.v[0]);
	else if (b->failing.n == 0)
		run_end(r, EXIT_USAGE, "error",
		    r->o.task == NULL
			? "the tests already pass: nothing to fix (-t names "
			  "the command that fails)"
			: "the tests already pass, and the built-in model "
			  "needs a failing test: add one that shows the bug");
	else
		topology_begin(r);
}

static void
after_plan(struct run *r, struct subtask *t)
{
	if (t->pass)
		pass_planned(r, t);
	else if (t->findings.n > 0)
		topology_planned(r, t);
	else if (strcmp(t->verdict, "budget") == 0)
		run_end(
		    r, EXIT_BUDGET, "budget", "no hypothesis: %s", t->reason);
	else if (strcmp(t->verdict, "error") == 0)
		run_end(r, EXIT_FATAL, "error", "no plan: %s", t->reason);
	else
		run_end(
		    r, EXIT_UNFIXED, "unfixed", "no hypothesis: %s", t->reason);
}

static bool
patch_seen(const struct run *r, const void *patch, size_t len)
{
	const struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == KIND_VERIFY && t->patch_len == len &&
		    memcmp(t->patch, patch, len) == 0)
			return true;
	return false;
}

static void
after_explore(struct run *r, struct subtask *t)
{
	struct subtask *v;
	char *label, *why;

	/* Also what a worker left that ran out of budget or of words: looking
	 * is cheap. */
	if (strcmp(t->verdict, "refuted") == 0 ||
	    strcmp(t->verdict, "error") == 0 || t->patch_len == 0 ||
	    patch_seen(r, t->patch, t->patch_len))
		return;
	if (!approvals_patch(r, t, &why)) {
		free(t->reason);
		t->reason = why;
		return;
	}
	label = xasprintf("verify-%s", t->label);
	/* What the worker showed may be another's hypothesis than its own. */
	v = sched_add(r, KIND_VERIFY, label, t->hypothesis_id, t->shown,
	    t->patch, t->patch_len);
	v->of = t;
	v->fix = xstrdup(t->findings.n > 0 ? t->findings.v[0]
		: *t->shown != '\0'        ? t->shown
					   : "the tests pass with it");
	free(label);
}

#define SOON_MS 5000 /* tests that take no longer are soon run once more */
#define AGAIN_MAX 3  /* attempts at one hypothesis that are paid for */

/* The patch was no fix: the hypothesis goes on where it stopped. */
void
results_again(struct run *r, const struct subtask *found)
{
	const struct subtask *t;
	size_t n = 1;
	char *label;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == KIND_EXPLORE &&
		    strcmp(t->hypothesis_id, found->hypothesis_id) == 0)
			n++;
	if (found->pass ? !pass_has_time(r)
			: n > AGAIN_MAX && !models_builtin(r, found))
		return;
	label = xasprintf("%s.%zu", found->hypothesis_id, n);
	(void)sched_add(r, KIND_EXPLORE, label, found->hypothesis_id,
	    found->hypothesis, NULL, 0);
	free(label);
}

/* The cheaper of two equal patches: money where it is known, else calls. */
static uint64_t
cost(const struct subtask *t)
{
	const struct spend *s = &t->ledger.spent;

	return s->micro > 0 ? s->micro : s->calls;
}

static bool
is_explore(const struct subtask *t)
{
	return t->kind == KIND_EXPLORE;
}

static bool
is_verifying(const struct run *r)
{
	return sched_count(r, KIND_VERIFY, SUBTASK_WAITING) > 0 ||
	    sched_count(r, KIND_VERIFY, SUBTASK_RUNNING) > 0;
}

/* Small edits that pass are often several: those of the built-in model that
 * were found by then are looked at, too, where that costs neither time nor
 * money. */
static bool
is_one_of_several(const struct run *r, const struct subtask *t)
{
	return models_builtin(r, t->of) && r->base.test_ms <= SOON_MS &&
	    is_verifying(r);
}

/* The others have had their time. */
static void
on_waited(void *ctx)
{
	struct run *r = ctx;

	run_end(r, EXIT_FIXED, "fixed", "%s", r->winner->fix);
}

json_t *
results_others(const struct run *r)
{
	const struct subtask *t;
	json_t *list = NULL;
	char *path;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (!t->holds || t == r->winner)
			continue;
		if (list == NULL)
			list = json_array();
		path = results_patch_path(r, t->of);
		(void)json_array_append_new(list,
		    json_pack("{s:s, s:s, s:s, s:s}", "candidate", t->of->label,
			"subtask", t->of->id, "fix", t->fix, "patch", path));
		free(path);
	}
	return list;
}

/* Of two verified patches. The built-in model offers the best that it has
 * first: it knows how likely an edit is, which the patch does not tell. */
static bool
is_better(const struct run *r, const struct subtask *a, const struct subtask *b)
{
	const struct subtask *t;

	if (r->o.all || !models_builtin(r, a->of))
		return select_better(a->patch, a->patch_len, cost(a->of),
		    b->patch, b->patch_len, cost(b->of));
	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t == a || t == b)
			break;
	return t == a;
}

void
results_accept(struct run *r, struct subtask *t)
{
	t->holds = true;
	if (r->winner == NULL || is_better(r, t, r->winner))
		r->winner = t;
	if (r->o.all)
		return;
	if (!is_one_of_several(r, t)) {
		run_end(r, EXIT_FIXED, "fixed", "%s", r->winner->fix);
		return;
	}
	sched_cancel(r, is_explore, "a fix is verified");
	(void)loop_timer_add(r->loop, 2 * SOON_MS, 0, on_waited, r);
}

static void
after_verify(struct run *r, struct subtask *t)
{
	bool ok = deliver_holds(t);

	run_event(r, "verified",
	    json_pack("{s:b, s:s, s:s, s:s, s:o}", "ok", ok, "reason",
		t->reason, "subtask", t->id, "candidate", t->of->label,
		"warnings", json_from_strv(&t->findings)));
	if (!ok && r->winner != NULL && !r->o.all)
		return;
	if (!ok && strcmp(t->of->verdict, "fixed") == 0)
		results_again(r, t->of);
	else if (ok && review_wanted(r, t) && !r->no_more)
		review_begin(r, t);
	else if (ok)
		results_accept(r, t);
}

/* What ends the worker has no result but its summary. */
static void
tool_done(struct run *r, struct subtask *t, const struct msg_summary *m)
{
	const char *text = provider_script_result(gateway_provider(r->gateway));

	if (r->tool != NULL) {
		r->tool->text = text != NULL ? xstrdup(text)
		    : strcmp(r->o.tool, "finish") == 0
		    ? xasprintf("finished: %s", m->verdict)
		    : NULL;
		r->tool->patch =
		    xstrndup(m->patch_len > 0 ? m->patch : "", m->patch_len);
		msg_strs_to(&m->findings, &r->tool->notes);
	}
	run_end(r, EXIT_FIXED, "done", "%s", t->reason);
}

static void
after(struct run *r, struct subtask *t)
{
	static void (*const fn[])(struct run *, struct subtask *) = {
		after_baseline, after_plan, after_explore, after_verify,
		reproduce_after, reproduce_confirm_after, review_after
	};

	fn[t->kind](r, t);
}

/* Did it follow already? Then there is a subtask that says so. */
static bool
is_followed(const struct subtask *t)
{
	const struct subtask *s;

	for (s = TAILQ_NEXT(t, entry); s != NULL; s = TAILQ_NEXT(s, entry)) {
		switch (t->kind) {
		case KIND_BASELINE:
			return true;
		case KIND_PLAN:
			if (s->kind == KIND_EXPLORE || s->kind == KIND_PLAN)
				return true;
			break;
		case KIND_REPRODUCE:
			if (s->kind == KIND_CONFIRM ||
			    s->kind == KIND_REPRODUCE)
				return true;
			break;
		case KIND_CONFIRM:
			if (s->kind != KIND_EXPLORE ||
			    !text_starts(s->label, "hint-"))
				return true;
			break;
		case KIND_VERIFY:
			if (s->kind == KIND_REVIEW && s->of == t)
				return true;
			if (s->kind == KIND_EXPLORE &&
			    strcmp(s->hypothesis_id, t->hypothesis_id) == 0)
				return true;
			break;
		case KIND_REVIEW:
			if (s->kind == KIND_EXPLORE &&
			    strcmp(s->hypothesis_id, t->hypothesis_id) == 0)
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

void
results_consequences(struct run *r)
{
	struct subtask *t, *last = TAILQ_LAST(&r->subtasks, subtask_list);

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->kind == KIND_PLAN)
			r->phase = t->state == SUBTASK_DONE ? PHASE_EXPLORE
							    : PHASE_PLAN;
		else if (t->kind == KIND_EXPLORE && r->phase != PHASE_PLAN)
			r->phase = PHASE_EXPLORE;
		if (t->state == SUBTASK_DONE && !is_followed(t))
			after(r, t);
		if (t == last || r->phase == PHASE_END)
			break;
	}
}

static void
acknowledge(struct run *r, const struct worker *w)
{
	struct msg ack = { .type = MSG_SUMMARY_ACK };

	ack.u.summary_ack.subtask = w->subtask->id;
	/* It may be gone. */
	if (sched_worker(r, w->name) != NULL)
		(void)hosts_send(w->host, w->name, &ack, NULL);
}

void
results_summary(struct run *r, struct worker *w, const struct msg_summary *m)
{
	const struct subtask *t = w->subtask;

	if (strcmp(m->subtask, t->id) != 0 || m->attempt != w->attempt) {
		log_warn(
		    "%s: a summary of another subtask is dropped", w->name);
		return;
	}
	fleet_host_good(r, w->host);
	if (w->held) {
		/* It, or an act before it, waits for the person. */
		if (w->summary)
			acknowledge(r, w);
		return;
	}
	if (w->summary || t->state != SUBTASK_RUNNING ||
	    approvals_summary(r, w, m))
		results_settle(r, w, m);
}

void
results_settle(struct run *r, struct worker *w, const struct msg_summary *m)
{
	struct subtask *t = w->subtask;
	struct err e = { 0 };
	json_t *j;
	char *body;
	int rc;

	j = results_json(w, m);
	body = json_text(j);
	rc = store_summary(r->store, t->id, w->attempt, w->name, run_now(r),
	    body, m->patch, m->patch_len, &e);
	free(body);
	if (rc < 0) {
		/* Not acknowledged: the worker sends it again. */
		json_decref(j);
		run_end(r, EXIT_FATAL, "error", "%s", e.text);
		return;
	}
	acknowledge(r, w);
	if (rc == 1 || w->summary || t->state != SUBTASK_RUNNING) {
		json_decref(j); /* a later one: acknowledged and dropped */
		return;
	}
	w->summary = true;
	(void)json_object_set_new(j, "subtask", json_string(t->id));
	(void)json_object_set_new(j, "kind", json_string(kind_str(t->kind)));
	(void)json_object_set_new(j, "label", json_string(t->label));
	if (t->hypothesis != NULL && msg_str(m->hypothesis)[0] == '\0')
		(void)json_object_set_new(
		    j, "hypothesis", json_string(t->hypothesis));
	(void)json_object_del(j, "output");
	run_event(r, "summary", j);
	t->made_on = w->mark; /* its host may be gone */
	results_take(r, t, m);
	if (t->kind == KIND_TOOL)
		tool_done(r, t, m);
	else
		after(r, t);
	results_check(r);
	sched_pump(r);
}

void
results_failed(struct run *r, struct subtask *t, const char *why)
{
	if (t->kind == KIND_PLAN && t->pass) { /* the run goes on without it */
		log_warn("%s failed %d times: %s", t->label, MAX_ATTEMPTS, why);
		r->phase = PHASE_EXPLORE;
		return;
	}
	switch (t->kind) {
	case KIND_PLAN:
	case KIND_BASELINE:
	case KIND_REPRODUCE:
	case KIND_CONFIRM:
	case KIND_TOOL:
		run_end(r, EXIT_FATAL, "error", "the %s failed %d times: %s",
		    kind_str(t->kind), MAX_ATTEMPTS, why);
		break;
	case KIND_EXPLORE:
		log_warn("%s failed %d times: %s", t->label, MAX_ATTEMPTS, why);
		break;
	case KIND_REVIEW:
		results_accept(r, t->of); /* nobody has an objection */
		break;
	case KIND_VERIFY:
		run_event(r, "verified",
		    json_pack("{s:b, s:o, s:s, s:s}", "ok", false, "reason",
			json_str_lossy(why, strlen(why)), "subtask", t->id,
			"candidate", t->of->label));
		break;
	}
}

/* The reason, when no attempt came to a verdict of its own. */
static const char *
all_errors(const struct run *r)
{
	const struct subtask *t;
	const char *why = NULL;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->kind != KIND_EXPLORE || t->pass || t->verdict == NULL)
			continue;
		if (strcmp(t->verdict, "error") != 0)
			return NULL;
		why = t->reason;
	}
	return why;
}

/* What the rules or a hook did not allow, when it is why every attempt ended:
 * there the tree was not found out about. */
static const char *
all_denied(const struct run *r)
{
	const struct subtask *t;
	const char *why = NULL;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->kind != KIND_EXPLORE || t->pass || t->verdict == NULL)
			continue;
		if (t->reason == NULL || strstr(t->reason, "denied") == NULL)
			return NULL;
		why = t->reason;
	}
	return why;
}

void
results_check(struct run *r)
{
	const char *why;
	size_t late, of;

	r->no_more |= r->ledger.out;
	if (r->phase != PHASE_EXPLORE)
		return;
	if (r->winner != NULL && !r->o.all && !is_verifying(r)) {
		run_end(r, EXIT_FIXED, "fixed", "%s", r->winner->fix);
		return;
	}
	if (r->no_more) {
		if (sched_count(r, KIND_EXPLORE, SUBTASK_RUNNING) > 0 ||
		    sched_count(r, KIND_VERIFY, SUBTASK_RUNNING) > 0 ||
		    sched_count(r, KIND_REVIEW, SUBTASK_RUNNING) > 0 ||
		    sched_count(r, KIND_REVIEW, SUBTASK_WAITING) > 0 ||
		    sched_count(r, KIND_VERIFY, SUBTASK_WAITING) > 0)
			return;
	} else if (!sched_idle(r) || topology_more(r)) {
		return;
	}
	why = all_errors(r);
	if (r->winner != NULL)
		run_end(r, EXIT_FIXED, "fixed", "%s", r->winner->fix);
	else if (!r->no_more && why != NULL)
		run_end(r, EXIT_FATAL, "error",
		    "no worker came to a verdict: %s", why);
	else if (r->no_more || late_any(r))
		run_end(r, EXIT_BUDGET, "budget",
		    "a budget ended the run before a fix was found");
	else if ((why = all_denied(r)) != NULL)
		run_end(r, EXIT_UNFIXED, "unfixed",
		    "no hypothesis led to a verified fix: %s", why);
	else if (late_edits(r, &late, &of))
		run_end(r, EXIT_UNFIXED, "unfixed",
		    "no hypothesis led to a verified fix, but %zu of %zu edits "
		    "timed out: these are not refuted",
		    late, of);
	else
		run_end(r, EXIT_UNFIXED, "unfixed",
		    "no hypothesis led to a verified fix");
}
