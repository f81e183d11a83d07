#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/late.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/reproduce.h"
#include "orchestrator/run/resume.h"
#include "orchestrator/run/review.h"
#include "orchestrator/run/topology.h"

#define OPTS_MAX ((size_t)8 << 20)

/* --- what was asked for -------------------------------------------------- */

int
resume_save(struct run *r, struct err *e)
{
	const struct run_opts *o = &r->o;
	json_t *j = json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:I, s:s, s:s*, s:s*, s:I, s:I, "
	    "s:I, s:I, s:I, s:b, s:b, s:s*, s:s, s:b, s:b}",
	    "tests", json_from_strv(&r->tests), "checks",
	    json_from_strv(&o->checks), "protect", json_from_strv(&o->protect),
	    "unprotect", json_from_strv(&o->unprotect), "allow_net",
	    json_from_strv(&o->allow_net), "workers", (json_int_t)o->workers,
	    "model", r->model, "topology", o->topology, "task", o->task,
	    "max_calls", (json_int_t)o->max_calls, "max_tokens",
	    (json_int_t)o->max_tokens, "max_micro", (json_int_t)o->max_micro,
	    "max_time_ms", (json_int_t)o->max_time_ms, "seed",
	    (json_int_t)o->seed, "all", o->all, "apply", o->apply, "branch",
	    o->branch, "snapshot", r->snap.id, "review", r->review,
	    "no_builtin", o->no_builtin);
	char *text = json_text(j);
	int rc = store_set(r->store, "opts", text, e);

	free(text);
	json_decref(j);
	return rc;
}

static void
take_strs(const json_t *j, const char *key, struct strv *to)
{
	const json_t *v;
	size_t i;

	if (to->n > 0)
		return;
	json_array_foreach (json_object_get(j, key), i, v)
		if (json_is_string(v))
			strv_add(to, json_string_value(v));
}

static uint64_t
number(const json_t *j, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(j, key));

	return n > 0 ? (uint64_t)n : 0;
}

static void
take_number(const json_t *j, const char *key, uint64_t *to)
{
	if (*to == 0)
		*to = number(j, key);
}

static void
take_str(const json_t *j, const char *key, const char **to)
{
	if (*to == NULL)
		*to = json_string_value(json_object_get(j, key));
}

static void
take_opts(struct run *r)
{
	struct run_opts *o = &r->o;
	const json_t *j = r->saved;
	uint64_t n = number(j, "workers");

	take_strs(j, "tests", &r->tests);
	take_strs(j, "checks", &r->saved_checks);
	take_strs(j, "protect", &r->saved_protect);
	take_strs(j, "unprotect", &r->saved_unprotect);
	o->checks = r->saved_checks;
	o->protect = r->saved_protect;
	o->unprotect = r->saved_unprotect;
	if (o->workers == 0)
		o->workers = n > 0 && n <= RUN_MAX_WORKERS ? (unsigned)n : 1;
	take_str(j, "topology", &o->topology);
	take_str(j, "task", &o->task);
	take_number(j, "seed", &o->seed);
	o->all = json_is_true(json_object_get(j, "all"));
	o->no_builtin = json_is_true(json_object_get(j, "no_builtin"));
	r->review = json_is_true(json_object_get(j, "review"));
	if (o->replay != NULL)
		return;
	/* Not for a replay, which may be of somebody else's run. */
	take_strs(j, "allow_net", &r->saved_allow);
	strv_extend(&r->saved_allow, &o->allow_net);
	o->allow_net = r->saved_allow;
	take_str(j, "model", &o->model);
	take_number(j, "max_calls", &o->max_calls);
	take_number(j, "max_tokens", &o->max_tokens);
	take_number(j, "max_micro", &o->max_micro);
	take_number(j, "max_time_ms", &o->max_time_ms);
	o->apply = json_is_true(json_object_get(j, "apply"));
	take_str(j, "branch", &o->branch);
}

static int
open_old(struct run *r, struct err *e)
{
	const char *replay = r->o.replay;
	int rc;

	if (replay != NULL) {
		rc = strchr(replay, '/') != NULL
		    ? store_open_path(replay, &r->old, e)
		    : store_open(
			  *replay != '\0' ? replay : NULL, false, &r->old, e);
		return rc;
	}
	rc = store_open(
	    *r->o.resume != '\0' ? r->o.resume : NULL, true, &r->store, e);
	return rc < 0 ? rc : store_lock(r->store, e);
}

int
resume_open(struct run *r, struct err *e)
{
	struct store *from;
	char *text, *repo, *workdir;
	int rc;

	if ((rc = open_old(r, e)) < 0)
		return rc;
	from = r->old != NULL ? r->old : r->store;
	text = store_get(from, "opts");
	repo = store_get(from, "repo");
	workdir = store_get(from, "workdir");
	if (text == NULL || repo == NULL || workdir == NULL)
		rc = err_set(e, ERR_USAGE,
		    "the run %s did not come so far that it could go on: start "
		    "it anew",
		    store_id(from));
	else
		rc = json_parse(text, strlen(text), OPTS_MAX, &r->saved, e);
	if (rc == 0) {
		take_opts(r);
		r->root = repo;
		r->workdir = workdir;
		repo = workdir = NULL;
	}
	free(text);
	free(repo);
	free(workdir);
	return rc;
}

void
resume_free(struct run *r)
{
	strv_clear(&r->saved_checks);
	strv_clear(&r->saved_protect);
	strv_clear(&r->saved_unprotect);
	strv_clear(&r->saved_allow);
	store_close(r->old);
	json_decref(r->saved);
}

/* --- the snapshot -------------------------------------------------------- */

static const char *
snapshot_id(const struct run *r)
{
	return json_string_value(json_object_get(r->saved, "snapshot"));
}

int
resume_snapshot(struct run *r, const char *store, struct err *e)
{
	const char *id = snapshot_id(r);
	int rc;

	if (id == NULL)
		return err_set(e, ERR_USAGE, "the run names no snapshot");
	rc = snapshot_open(r->root, store, id, &r->snap, e);
	return rc == ERR_NOTFOUND ? 1 : rc;
}

int
resume_check_snapshot(const struct run *r, struct err *e)
{
	if (strcmp(r->snap.id, snapshot_id(r)) == 0)
		return 0;
	return err_set(e, ERR_USAGE,
	    "%s has changed since and the snapshot of then is gone: start a new "
	    "run",
	    r->root);
}

/* --- the subtasks -------------------------------------------------------- */

static enum kind
kind_of(const char *s)
{
	int k;

	for (k = KIND_BASELINE; k < KIND_TOOL; k++)
		if (strcmp(s, kind_str((enum kind)k)) == 0)
			break;
	return (enum kind)k;
}

/* A summary as it would come from a worker; it borrows from j. */
struct told {
	struct msg_summary m;
	struct strv failing, flaky, findings;
};

static void
tell(struct told *t, const json_t *j)
{
	struct msg_summary *m = &t->m;

	*t = (struct told){ 0 };
	take_strs(j, "failing", &t->failing);
	take_strs(j, "flaky", &t->flaky);
	take_strs(j, "findings", &t->findings);
	m->failing = msg_strs_of(&t->failing);
	m->flaky = msg_strs_of(&t->flaky);
	m->findings = msg_strs_of(&t->findings);
	take_str(j, "verdict", &m->verdict);
	take_str(j, "reason", &m->reason);
	take_str(j, "output", &m->output);
	take_str(j, "hypothesis", &m->hypothesis);
	m->tests_passed = number(j, "tests_passed");
	m->tests_failed = number(j, "tests_failed");
	m->test_ms = number(j, "test_ms");
	m->slowest_ms = number(j, "slowest_ms");
	m->per_test = json_is_true(json_object_get(j, "per_test"));
	if (m->verdict == NULL)
		m->verdict = "error";
}

static void
told_clear(struct told *t)
{
	strv_clear(&t->failing);
	strv_clear(&t->flaky);
	strv_clear(&t->findings);
}

/* "H3" of "H3.2" and of "verify-H3". */
static char *
hypothesis_id(const char *label)
{
	if (text_starts(label, "verify-") || text_starts(label, "review-"))
		label += strlen("verify-");
	return xstrndup(label, strcspn(label, "."));
}

static struct subtask *
explore_of(const struct run *r, const char *verify_label)
{
	struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == KIND_EXPLORE &&
		    text_starts(verify_label, "verify-") &&
		    strcmp(t->label, verify_label + strlen("verify-")) == 0)
			return t;
	return NULL;
}

static struct subtask *
add_row(struct run *r, const struct store_row *row, enum kind kind)
{
	struct subtask *of = NULL, *t;
	char *id = NULL;

	if (kind == KIND_VERIFY) {
		of = explore_of(r, row->label);
		if (of == NULL || of->patch_len == 0)
			return NULL; /* its explore will bring it again */
	}
	if (kind == KIND_REVIEW && (of = review_of(r, row->label)) == NULL)
		return NULL;
	if (kind == KIND_CONFIRM && (of = reproduce_of(r, row->label)) == NULL)
		return NULL;
	if (kind == KIND_EXPLORE || kind == KIND_VERIFY || kind == KIND_REVIEW)
		id = hypothesis_id(row->label);
	t = sched_add(r, kind, row->label, id, row->hypothesis,
	    of != NULL ? of->patch : NULL, of != NULL ? of->patch_len : 0);
	free(id);
	t->of = of;
	if (kind == KIND_VERIFY)
		t->fix = xstrdup(of->findings.n > 0 ? of->findings.v[0]
						    : msg_str(t->hypothesis));
	t->attempts = t->attempts_before = row->attempts;
	(void)store_spend(r->store, t->id, &t->ledger.spent);
	return t;
}

/* A baseline that ended its run. */
static bool
is_no_use(const struct run *r, const struct told *t)
{
	if (strcmp(t->m.verdict, "done") != 0)
		return true;
	return t->failing.n == 0 && !reproduce_wanted(r);
}

/* What a budget ended goes on, and what a failed request did: the replies
 * before are on record. Tests that could not be run, or left nothing to mend,
 * may be able to by now. */
static bool
goes_on(const struct run *r, const struct subtask *t, const struct told *told)
{
	const char *verdict = told->m.verdict;

	return strcmp(verdict, "budget") == 0 ||
	    (strcmp(verdict, "error") == 0 &&
		store_request_failed(r->store, t->id)) ||
	    (t->kind == KIND_BASELINE && is_no_use(r, told));
}

static int
on_row(const struct store_row *row, void *ctx)
{
	struct run *r = ctx;
	enum kind kind = kind_of(msg_str(row->kind));
	struct subtask *t;
	struct told told;
	json_t *j = NULL;

	if (kind == KIND_TOOL || row->label == NULL ||
	    (t = add_row(r, row, kind)) == NULL)
		return 0;
	if (kind == KIND_PLAN && !t->pass)
		r->planned = true;
	if (row->summary == NULL ||
	    json_parse(row->summary, strlen(row->summary), OPTS_MAX, &j, NULL) <
		0)
		return 0;
	tell(&told, j);
	if (goes_on(r, t, &told)) {
		t->reopened = true;
		told_clear(&told);
		json_decref(j);
		return 0;
	}
	if (kind == KIND_EXPLORE || kind == KIND_REPRODUCE)
		(void)store_patch(
		    r->store, t->id, &t->patch, &t->patch_len, NULL);
	results_take(r, t, &told.m);
	if (late_is(t))
		results_again(r, t);
	told_clear(&told);
	json_decref(j);
	return 0;
}

/* The person's words are one more hypothesis, and the first to be tried. */
static void
add_hint(struct run *r)
{
	char *label;
	size_t n = 1;
	struct subtask *t, *hint;

	if (r->o.hint == NULL)
		return;
	TAILQ_FOREACH (t, &r->subtasks, entry)
		n += t->kind == KIND_EXPLORE && text_starts(t->label, "hint-");
	label = xasprintf("hint-%zu", n);
	hint = sched_add(r, KIND_EXPLORE, label, label, r->o.hint, NULL, 0);
	free(label);
	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == KIND_EXPLORE && t->state == SUBTASK_WAITING)
			break;
	if (t != hint) {
		TAILQ_REMOVE(&r->subtasks, hint, entry);
		TAILQ_INSERT_BEFORE(t, hint, entry);
	}
}

int
resume_load(struct run *r, struct err *e)
{
	const struct subtask *t;
	int rc;

	(void)store_spend(r->store, NULL, &r->ledger.spent);
	r->next_worker = store_last_worker(r->store);
	r->loading = true;
	r->phase = PHASE_BASELINE;
	rc = store_attempts_lost(r->store, "orchestrator lost", e);
	if (rc == 0)
		rc = store_subtasks(r->store, on_row, r, e);
	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->reopened && rc == 0)
			rc = store_reopen(r->store, t->id, e);
	r->loading = false;
	if (rc < 0 || r->phase == PHASE_END)
		return rc;
	pass_loaded(r, topology_is_begun(r));
	if (TAILQ_EMPTY(&r->subtasks))
		(void)sched_add(
		    r, KIND_BASELINE, "baseline", NULL, NULL, NULL, 0);
	results_consequences(r);
	if (r->phase == PHASE_END && r->o.hint != NULL)
		log_warn("the run has ended before: the HINT is not tried");
	else
		add_hint(r);
	return 0;
}
