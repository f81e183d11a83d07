/*
 * sched.c - which subtask goes to which free slot.
 *
 * Verifications go first (they can end the run), then what the phase needs;
 * explores are started in the order of the plan, at most -n at once. The hosts
 * have one slot more, so that a verification never waits for an explore.
 */
#include "common/compat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/num.h"
#include "common/text.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/fetch.h"
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/watch.h"

#define HOST_LOST "host lost"
#define MAX_LOST 30
#define SUBTASK_WALL_MS (6ull * 3600 * 1000)

const char *
kind_str(enum kind k)
{
	static const char *const names[] = { "baseline", "plan", "explore",
		"verify", "reproduce", "confirm", "review", "tool" };

	return names[k];
}

const char *
sched_state_str(enum subtask_state s)
{
	static const char *const names[] = { "waiting", "running", "done",
		"failed" };

	return names[s];
}

/* The id comes from what the subtask is, so that the same work has the same id
 * in every run over the same snapshot. */
static void
make_id(const struct run *r, struct subtask *t, char ret[SUBTASK_ID])
{
	unsigned char h[HASH_LEN];
	char hex[HASH_HEX];
	struct hash_state st;
	size_t i;

	hash_init(&st);
	for (i = 0; i < r->tests.n; i++)
		hash_update(&st, r->tests.v[i], strlen(r->tests.v[i]) + 1);
	hash_update(&st, r->snap.id, strlen(r->snap.id) + 1);
	hash_update(&st, kind_str(t->kind), strlen(kind_str(t->kind)) + 1);
	hash_update(&st, t->label, strlen(t->label) + 1);
	if (t->hypothesis != NULL)
		hash_update(&st, t->hypothesis, strlen(t->hypothesis) + 1);
	if (t->patch_len > 0)
		hash_update(&st, t->patch, t->patch_len);
	hash_final(&st, h);
	hash_hex(h, hex);
	memcpy(ret, hex, SUBTASK_ID - 1);
	ret[SUBTASK_ID - 1] = '\0';
}

static void
save(struct run *r, const struct subtask *t)
{
	struct err e = { 0 };

	if (store_subtask(r->store, t->id, kind_str(t->kind), t->label,
		t->hypothesis, sched_state_str(t->state), &e) < 0)
		log_warn("%s", e.text);
}

struct subtask *
sched_add(struct run *r, enum kind kind, const char *label,
    const char *hypothesis_id, const char *hypothesis, const void *patch,
    size_t patch_len)
{
	struct subtask *t = xcalloc(1, sizeof *t);

	t->kind = kind;
	t->pass = pass_is_label(label);
	t->ledger.parent = t->pass ? NULL : &r->ledger;
	t->label = xstrdup(label);
	if (hypothesis_id != NULL)
		t->hypothesis_id = xstrdup(hypothesis_id);
	if (hypothesis != NULL)
		t->hypothesis = xstrdup(hypothesis);
	if (patch_len > 0) {
		t->patch = xmalloc(patch_len + 1);
		memcpy(t->patch, patch, patch_len);
		t->patch[patch_len] = '\0';
		t->patch_len = patch_len;
	}
	make_id(r, t, t->id);
	TAILQ_INSERT_TAIL(&r->subtasks, t, entry);
	save(r, t);
	return t;
}

struct worker *
sched_worker(struct run *r, const char *name)
{
	struct worker *w;

	TAILQ_FOREACH (w, &r->workers, entry)
		if (strcmp(w->name, name) == 0)
			return w;
	return NULL;
}

bool
sched_was_worker(const struct run *r, const char *name)
{
	uint64_t n;

	return name[0] == 'w' &&
	    num_u64(name + 1, 1, r->next_worker, "a worker", &n, NULL) == 0;
}

size_t
sched_count(const struct run *r, enum kind kind, enum subtask_state state)
{
	const struct subtask *t;
	size_t n = 0;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->kind == kind && t->state == state)
			n++;
	return n;
}

bool
sched_idle(const struct run *r)
{
	const struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry)
		if (t->state == SUBTASK_WAITING || t->state == SUBTASK_RUNNING)
			return false;
	return true;
}

/* What may be a fix is being looked at: no money on others meanwhile. */
static bool
is_decided_soon(const struct run *r)
{
	return strcmp(r->model, "builtin") != 0 && !r->o.all &&
	    (sched_count(r, KIND_VERIFY, SUBTASK_RUNNING) > 0 ||
		sched_count(r, KIND_REVIEW, SUBTASK_WAITING) > 0 ||
		sched_count(r, KIND_REVIEW, SUBTASK_RUNNING) > 0);
}

static bool
is_held_back(const struct run *r, const struct subtask *t)
{
	const struct subtask *s;
	unsigned n = 0;

	if (t->kind != KIND_EXPLORE)
		return false;
	if (!t->pass && (r->no_more || is_decided_soon(r) || pass_under_way(r)))
		return true;
	TAILQ_FOREACH (s, &r->subtasks, entry)
		n += s->kind == KIND_EXPLORE && s->state == SUBTASK_RUNNING;
	/* Without a failing test there is nothing to judge it by. */
	return r->base.failing.n == 0 || n >= sched_workers(r, t);
}

unsigned
sched_ready(const struct run *r)
{
	const struct subtask *t;
	unsigned explores = 0, n = 0, running, free;

	running = (unsigned)sched_count(r, KIND_EXPLORE, SUBTASK_RUNNING);
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->state != SUBTASK_WAITING || is_held_back(r, t))
			continue;
		free = sched_workers(r, t) - running; /* some, since not held */
		if (t->kind != KIND_EXPLORE)
			n++;
		else if (explores < free)
			explores++;
	}
	return n + explores;
}

unsigned
sched_workers(const struct run *r, const struct subtask *t)
{
	return t->pass ? pass_workers(r) : r->o.workers;
}

unsigned
sched_parallel(const struct run *r, const struct subtask *t)
{
	unsigned cpus = r->cpus != 0 ? r->cpus : 1;
	unsigned n = cpus / sched_workers(r, t);

	return n < 1 ? 1 : n > 16 ? 16 : n;
}

unsigned
sched_parallel_of(const struct run *r, const struct subtask *t)
{
	return t->kind == KIND_EXPLORE || t->kind == KIND_TOOL
	    ? sched_parallel(r, t)
	    : 1;
}

static int
start_worker(struct run *r, struct host *h, struct subtask *t, struct err *e)
{
	struct worker *w = xcalloc(1, sizeof *w);
	struct msg m = { .type = MSG_ASSIGN };
	int rc;

	(void)snprintf(w->name, sizeof w->name, "w%u", ++r->next_worker);
	w->host = h;
	w->subtask = t;
	w->attempt = t->attempts + 1;
	host_mark(h, &w->mark);
	lease_begin(&w->lease, loop_now_ms());
	m.u.assign.subtask = t->id;
	m.u.assign.attempt = w->attempt;
	m.u.assign.snapshot = r->snap.id;
	m.u.assign.root = r->root;
	m.u.assign.workdir = r->workdir;
	m.u.assign.wall_ms =
	    r->o.max_time_ms != 0 ? r->o.max_time_ms + 60000 : SUBTASK_WALL_MS;
	/* Never for what judges: others may have written there. */
	m.u.assign.cache = t->kind == KIND_EXPLORE || t->kind == KIND_TOOL;
	m.u.assign.parallel = sched_parallel_of(r, t);
	limits_assign(&r->profile, &m.u.assign);
	w->lease.wall_ms = m.u.assign.wall_ms;
	/* On record first: started anew, we must not give this name again. */
	if ((rc = store_attempt(r->store, t->id, w->attempt, w->name,
		 "assigned", run_now(r), e)) < 0) {
		free(w);
		run_end(r, EXIT_FATAL, "error", "%s", e->text);
		return rc;
	}
	if ((rc = hosts_assign(h, w->name, &m, e)) < 0) {
		(void)store_attempt_drop(r->store, t->id, w->attempt, NULL);
		free(w);
		return rc;
	}
	t->attempts++;
	t->state = SUBTASK_RUNNING;
	TAILQ_INSERT_TAIL(&r->workers, w, entry);
	save(r, t);
	if (t->kind == KIND_VERIFY)
		run_event(r, "verify_started",
		    json_pack("{s:s, s:s, s:s, s:s}", "worker", w->name,
			"subtask", t->id, "candidate", t->of->label, "host",
			host_name(h)));
	run_event(r, "assigned",
	    json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s*, s:s*}", "worker",
		w->name, "subtask", t->id, "attempt", (int)w->attempt, "kind",
		kind_str(t->kind), "label", t->label, "host", host_name(h),
		"hypothesis", t->hypothesis, "model", models_of(r, t)));
	fleet_assigned(r, h, w->name, t->label);
	return 0;
}

/* Verification and the like: their word is what the run goes by. */
static struct host *
host_for(struct run *r, const struct subtask *t)
{
	static const struct host_mark nobody;

	switch (t->kind) {
	case KIND_BASELINE:
		return hosts_free_judge(r->hosts, &nobody);
	case KIND_VERIFY:
	case KIND_CONFIRM:
		return hosts_free_judge(
		    r->hosts, t->of != NULL ? &t->of->made_on : &nobody);
	default:
		return hosts_free_slot(r->hosts);
	}
}

/* 1: one was started; 0: nothing can be now. */
static int
start_one(struct run *r, bool verify, struct err *e)
{
	struct subtask *t;
	struct host *h;
	int rc;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->state != SUBTASK_WAITING ||
		    (t->kind == KIND_VERIFY) != verify ||
		    (!verify && is_held_back(r, t)) ||
		    (h = host_for(r, t)) == NULL)
			continue;
		rc = start_worker(r, h, t, e);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

void
sched_pump(struct run *r)
{
	struct err e = { 0 };
	int rc = 1;

	while (r->phase != PHASE_END && rc > 0) {
		if ((rc = start_one(r, true, &e)) == 0)
			rc = start_one(r, false, &e);
	}
	if (rc < 0)
		log_warn("assign: %s", e.text);
}

static void
drop_worker(
    struct run *r, struct worker *w, const char *reason, const char *detail)
{
	struct subtask *t = w->subtask;
	bool unfinished = t->state == SUBTASK_RUNNING && !w->summary;

	/* It is not the subtask's fault when another machine goes, unless that
	 * happens all the time. */
	if (strcmp(reason, HOST_LOST) == 0 && host_address(w->host) != NULL &&
	    t->attempts < MAX_LOST)
		t->attempts_before++;

	(void)store_attempt(
	    r->store, t->id, w->attempt, w->name, reason, run_now(r), NULL);
	run_event(r, "worker_gone",
	    json_pack("{s:s, s:s, s:s, s:o*}", "worker", w->name, "subtask",
		t->id, "reason", reason, "detail",
		detail != NULL && *detail != '\0'
		    ? json_str_lossy(detail, strlen(detail))
		    : NULL));
	gateway_worker_gone(models_gateway(r, t), w->name);
	fetches_worker_gone(r->fetches, w->name);
	approvals_worker_gone(r->approvals, w->name);
	watch_worker_gone(r, w->name);
	hooks_worker_gone(r, w);
	TAILQ_REMOVE(&r->workers, w, entry);
	free(w);
	if (!unfinished || r->phase == PHASE_END)
		return;
	if (t->attempts - t->attempts_before < MAX_ATTEMPTS) {
		t->state = SUBTASK_WAITING;
	} else {
		t->state = SUBTASK_FAILED;
		results_failed(r, t, detail != NULL ? detail : reason);
	}
	save(r, t);
}

/* What failed on a host that is set aside was not the subtask's fault, unless
 * that happens all the time. */
static void
forgive(struct run *r, const struct host_mark *m)
{
	struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->failed == 0 ||
		    strcmp(t->failed_on.instance, m->instance) != 0)
			continue;
		if (t->attempts < MAX_LOST)
			t->attempts_before += t->failed;
		t->failed = 0;
	}
}

/* An attempt came to nothing; is there another host for the next? */
static bool
failed_there(struct run *r, struct worker *w, bool sure, const char *why)
{
	struct subtask *t = w->subtask;
	bool elsewhere;

	if (host_address(w->host) == NULL)
		return hosts_fault(w->host, false, why);
	if (strcmp(t->failed_on.instance, w->mark.instance) != 0)
		t->failed = 0;
	t->failed_on = w->mark;
	t->failed++;
	elsewhere = hosts_fault(w->host, sure, why);
	if (host_is_aside(w->host))
		forgive(r, &w->mark);
	return elsewhere;
}

void
sched_worker_exit(
    struct run *r, struct worker *w, const struct msg_worker_exit *m)
{
	struct subtask *t = w->subtask;
	bool early = t->state == SUBTASK_RUNNING && !w->summary && !w->ready;
	bool drains = strcmp(m->reason, "draining") == 0;
	bool full = strcmp(m->reason, "full") == 0;
	bool sandbox = strcmp(m->reason, "sandbox") == 0 && early;
	bool lost, elsewhere = false;

	hosts_release(w->host);
	/* The host was about to go when it was assigned: nobody's fault, unless
	 * that happens all the time. */
	if (drains && early) {
		hosts_drains(w->host);
		t->attempts_before += t->attempts < MAX_LOST;
	} else if (full && early) {
		hosts_full(w->host);
		t->attempts_before += t->attempts < MAX_LOST;
	} else if (t->state == SUBTASK_RUNNING && !w->summary && !w->ended) {
		elsewhere = failed_there(r, w, sandbox,
		    msg_str(m->detail)[0] != '\0' ? m->detail : m->reason);
	}
	if (sandbox && !elsewhere && host_address(w->host) == NULL) {
		run_end(r, EXIT_SANDBOX, "error",
		    "the sandbox can't be set up here: %s (foray doctor says "
		    "what to do)",
		    msg_str(m->detail));
	}
	/* Whoever ends an allocation ends all of its processes with it. */
	lost = strcmp(m->reason, "killed") == 0 && host_is_draining(w->host);
	drop_worker(r, w, lost ? HOST_LOST : m->reason, m->detail);
	results_check(r);
	sched_pump(r);
}

void
sched_host_down(struct run *r, struct host *h, const char *why)
{
	struct worker *w, *next;

	TAILQ_FOREACH_SAFE (w, &r->workers, entry, next)
		if (w->host == h)
			drop_worker(r, w, HOST_LOST, why);
	results_check(r);
	sched_pump(r);
}

void
sched_give_up(
    struct run *r, struct worker *w, const char *reason, const char *why)
{
	struct msg m = { .type = MSG_CANCEL };

	m.u.cancel.reason = "it was given up";
	(void)hosts_send(w->host, w->name, &m, NULL);
	/* Its slot is not free until the host says so. */
	hosts_release(w->host);
	hosts_ghost(w->host, w->name);
	if (w->subtask->state == SUBTASK_RUNNING && !w->summary && !w->ended)
		(void)failed_there(r, w, false, why);
	drop_worker(r, w, reason, why);
	results_check(r);
	sched_pump(r);
}

static bool
is_among(const struct msg_strs *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (strcmp(names->v[i], name) == 0)
			return true;
	return false;
}

void
sched_host_back(struct run *r, struct host *h, const struct msg_strs *workers)
{
	struct msg m = { .type = MSG_CANCEL };
	struct worker *w, *next;
	size_t i;

	m.u.cancel.reason = "its host was cut off";
	TAILQ_FOREACH_SAFE (w, &r->workers, entry, next)
		if (w->host == h && !is_among(workers, w->name)) {
			/* It may still be on its way. */
			(void)hosts_send(h, w->name, &m, NULL);
			hosts_release(h);
			drop_worker(r, w, HOST_LOST, m.u.cancel.reason);
		}
	for (i = 0; i < workers->n; i++)
		if ((w = sched_worker(r, workers->v[i])) == NULL ||
		    w->host != h)
			hosts_ghost(h, workers->v[i]);
	results_check(r);
	sched_pump(r);
}

/* End what runs of these and what waits; their subtasks count as done. */
void
sched_cancel(
    struct run *r, bool (*which)(const struct subtask *), const char *why)
{
	struct msg m = { .type = MSG_CANCEL };
	struct subtask *t;
	struct worker *w;

	m.u.cancel.reason = why;
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (!which(t) || t->state == SUBTASK_DONE ||
		    t->state == SUBTASK_FAILED)
			continue;
		t->state = SUBTASK_DONE;
		free(t->verdict);
		t->verdict = xstrdup("cancelled");
		save(r, t);
	}
	TAILQ_FOREACH (w, &r->workers, entry)
		if (which(w->subtask) && !w->summary)
			(void)hosts_send(w->host, w->name, &m, NULL);
}

/* The run is over: say of each subtask and worker how it ended. */
void
sched_close(struct run *r)
{
	struct subtask *t;
	struct worker *w, *next;

	TAILQ_FOREACH_SAFE (w, &r->workers, entry, next)
		drop_worker(r, w, "stopped", NULL);
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		const char *state = t->state == SUBTASK_RUNNING ? "stopped"
		    : t->state == SUBTASK_WAITING               ? "not tried"
								: NULL;

		if (state != NULL)
			(void)store_subtask(r->store, t->id, kind_str(t->kind),
			    t->label, t->hypothesis, state, NULL);
	}
}

void
sched_free(struct run *r)
{
	struct subtask *t;
	struct worker *w;

	while ((w = TAILQ_FIRST(&r->workers)) != NULL) {
		TAILQ_REMOVE(&r->workers, w, entry);
		free(w);
	}
	while ((t = TAILQ_FIRST(&r->subtasks)) != NULL) {
		TAILQ_REMOVE(&r->subtasks, t, entry);
		free(t->label);
		free(t->hypothesis);
		free(t->hypothesis_id);
		free(t->verdict);
		free(t->reason);
		free(t->shown);
		free(t->fix);
		free(t->patch);
		free(t->wrong);
		if (t->repro != NULL)
			reproducer_clear(t->repro);
		free(t->repro);
		strv_clear(&t->findings);
		free(t);
	}
}
