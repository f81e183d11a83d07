#include "common/compat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/num.h"
#include "common/text.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/run/topology.h"

#define LABEL STORE_FREE /* "builtin-" */
#define FACT "pass"      /* when it began, milliseconds of the run */
#define LEAST_MS 2000
#define NOTE_LINES 24
#define NOTE_LINE 240

struct pass {
	uint64_t limit_ms;
	uint64_t end_ms;         /* loop_now_ms(); 0: it has not begun */
	struct gateway *gateway; /* NULL: a replay, where the run's serves */
};

/* --- is there one? ------------------------------------------------------- */

int
pass_create(struct run *r, const json_t *settings, struct err *e)
{
	uint64_t limit = PASS_MS;
	char *began;
	int rc;

	if (r->old != NULL) {
		began = store_get(r->old, FACT);
		if (began != NULL)
			r->pass = xcalloc(1, sizeof *r->pass);
		free(began);
		return 0;
	}
	if ((rc = settings_pass(settings, &limit, e)) < 0)
		return rc;
	if (r->endpoint == NULL && r->o.no_builtin)
		return err_set(e, ERR_USAGE,
		    "--no-builtin: the model is builtin; it only goes before "
		    "one that -m names");
	if (r->endpoint == NULL || r->o.no_builtin || limit == 0)
		return 0;
	if (r->o.max_time_ms != 0 && limit > r->o.max_time_ms / 4)
		limit = r->o.max_time_ms / 4;
	r->pass = xcalloc(1, sizeof *r->pass);
	r->pass->limit_ms = limit;
	return 0;
}

void
pass_start(struct run *r, const struct gateway_ops *ops)
{
	struct gateway_ops own = *ops;
	struct provider p;

	if (r->pass == NULL || r->old != NULL)
		return;
	own.late = NULL;
	provider_builtin(&p, r->o.seed);
	r->pass->gateway = gateway_create(r->store, &p, &own, r->t0_ms);
}

void
pass_free(struct run *r)
{
	if (r->pass == NULL)
		return;
	gateway_free(r->pass->gateway);
	free(r->pass);
	r->pass = NULL;
}

bool
pass_is_label(const char *label)
{
	return text_starts(label, LABEL) || text_starts(label, "verify-" LABEL);
}

struct gateway *
pass_gateway(const struct run *r)
{
	return r->pass != NULL ? r->pass->gateway : NULL;
}

unsigned
pass_workers(const struct run *r)
{
	return r->cpus != 0 && r->cpus < r->o.workers ? r->cpus : r->o.workers;
}

/* --- its time ------------------------------------------------------------ */

static bool
is_search(const struct subtask *t)
{
	return t->pass && (t->kind == KIND_PLAN || t->kind == KIND_EXPLORE);
}

static bool
is_open(const struct subtask *t)
{
	return t->state == SUBTASK_WAITING || t->state == SUBTASK_RUNNING;
}

bool
pass_under_way(const struct run *r)
{
	const struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->pass && is_open(t))
			return true;
	return false;
}

bool
pass_has_time(const struct run *r)
{
	/* The record of a replay ends where its time did. */
	return r->pass != NULL &&
	    (r->old != NULL || loop_now_ms() + 1000 <= r->pass->end_ms);
}

static void
say(struct run *r, json_t *hypotheses, const char *reason)
{
	run_event(r, "planned",
	    json_pack("{s:s, s:b, s:o, s:s}", "model", "builtin", "pass", true,
		"hypotheses", hypotheses, "reason", reason));
}

static void
skipped(struct run *r, const char *why)
{
	char *s = xasprintf("the built-in pass is left out: %s", why);

	say(r, json_array(), s);
	free(s);
}

static void
on_late(void *ctx)
{
	struct run *r = ctx;
	const struct subtask *t;

	if (r->phase == PHASE_END)
		return;
	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->pass && t->kind == KIND_PLAN && is_open(t)) {
			skipped(r, "reading the sources took its time");
			r->phase = PHASE_EXPLORE;
		}
	sched_cancel(r, is_search, "the built-in model's time is over");
	results_check(r);
	sched_pump(r);
}

/* It began at that time of the run. */
static void
set_clock(struct run *r, uint64_t began_ms)
{
	struct pass *p = r->pass;
	uint64_t now = loop_now_ms();

	if (r->old != NULL)
		return;
	p->end_ms = r->t0_ms + began_ms + p->limit_ms;
	provider_builtin_until(gateway_provider(p->gateway), p->end_ms);
	(void)loop_timer_add(r->loop,
	    (p->end_ms > now ? p->end_ms - now : 0) + PASS_GRACE_MS, 0, on_late,
	    r);
}

static bool
is_worth_it(struct run *r)
{
	char took[32], most[32], *why;

	if (r->old != NULL)
		return true; /* it was, then */
	if (r->base.failing.n == 0) {
		skipped(r, "no test fails that edits could be tried with");
		return false;
	}
	if (r->pass->limit_ms < LEAST_MS) {
		skipped(r, "there are less than two seconds for it");
		return false;
	}
	if (r->base.test_ms <= PASS_TEST_MS)
		return true;
	why = xasprintf("the tests take %s (%s at most)",
	    num_fmt_ms(r->base.test_ms, took, sizeof took),
	    num_fmt_ms(PASS_TEST_MS, most, sizeof most));
	skipped(r, why);
	free(why);
	return false;
}

bool
pass_begin(struct run *r)
{
	uint64_t now = loop_now_ms() - r->t0_ms;
	char began[32];
	struct err e;

	if (r->pass == NULL || !is_worth_it(r))
		return false;
	(void)snprintf(began, sizeof began, "%" PRIu64, now);
	if (store_set(r->store, FACT, began, &e) < 0)
		log_warn("%s", e.text);
	set_clock(r, now);
	r->phase = PHASE_PLAN;
	(void)sched_add(r, KIND_PLAN, LABEL "plan", NULL, NULL, NULL, 0);
	return true;
}

void
pass_loaded(struct run *r, bool topology)
{
	struct subtask *t;
	uint64_t began;
	char *s;

	if (topology || r->pass == NULL) {
		/* What of it had no end by then has none. */
		TAILQ_FOREACH (t, &r->subtasks, entry)
			if (is_search(t) && t->state == SUBTASK_WAITING) {
				t->state = SUBTASK_DONE;
				t->verdict = xstrdup("cancelled");
			}
		return;
	}
	s = store_get(r->store, FACT);
	if (s != NULL && num_u64(s, 0, UINT64_MAX / 2, "", &began, NULL) == 0)
		set_clock(r, began);
	free(s);
}

/* --- what it does -------------------------------------------------------- */

void
pass_planned(struct run *r, const struct subtask *plan)
{
	json_t *list = json_array();
	size_t i, most = pass_workers(r);
	char label[32], *reason;

	r->phase = PHASE_EXPLORE;
	if (r->pass == NULL || strcmp(plan->verdict, "cancelled") == 0) {
		json_decref(list);
		return;
	}
	if (plan->findings.n == 0 || !pass_has_time(r)) {
		json_decref(list);
		skipped(r,
		    plan->findings.n == 0
			? plan->reason
			: "reading the sources took its time");
		return;
	}
	/* Each helps with what is left of all places. */
	for (i = 0; i < plan->findings.n && i < most; i++) {
		const char *s = topology_sentence(plan->findings.v[i]);

		(void)snprintf(label, sizeof label, LABEL "%zu", i + 1);
		(void)sched_add(r, KIND_EXPLORE, label, label, s, NULL, 0);
		(void)json_array_append_new(list,
		    json_pack("{s:s, s:s}", "id", label, "hypothesis", s));
	}
	reason = xasprintf("%s in %zu places", plan->reason, plan->findings.n);
	say(r, list, reason);
	free(reason);
}

const char *
pass_hypothesis_id(const struct subtask *t, char *dst, size_t size)
{
	if (t->hypothesis_id == NULL)
		return NULL;
	(void)snprintf(dst, size, "H%s", t->hypothesis_id + strlen(LABEL));
	return dst;
}

/* --- what comes of it ---------------------------------------------------- */

static size_t
note_line(struct buf *b, size_t n, const char *s)
{
	if (n == 0)
		(void)buf_adds(b,
		    "\nA program has tried small edits, each alone, with the "
		    "failing tests as the check. A place that it names may "
		    "still be at fault, but then needs another or a larger "
		    "change:\n");
	if (n < NOTE_LINES)
		(void)buf_printf(
		    b, "- %.*s\n", (int)text_cut(s, strlen(s), NOTE_LINE), s);
	return n + 1;
}

void
pass_note(const struct run *r, struct buf *b)
{
	const struct subtask *t;
	size_t n = 0, i;
	bool more = true;
	char *s;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (!t->pass || t->kind != KIND_VERIFY ||
		    t->state != SUBTASK_DONE ||
		    strcmp(t->verdict, "fixed") == 0)
			continue;
		s = xasprintf(
		    "%s, but it does not hold: %s", t->fix, t->reason);
		n = note_line(b, n, s);
		free(s);
	}
	/* Each worker's likeliest place first, then the next of each. */
	for (i = 0; more; i++) {
		more = false;
		TAILQ_FOREACH (t, &r->subtasks, entry) {
			if (!t->pass || t->kind != KIND_EXPLORE ||
			    t->patch_len > 0 || t->findings.n <= i)
				continue;
			n = note_line(b, n, t->findings.v[i]);
			more = true;
		}
	}
}
