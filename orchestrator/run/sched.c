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
#include "orchestrator/run/fleet.h"
#include "orchestrator/run/pass.h"
#include "orchestrator/run/sched_priv.h"

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

void
sched_save(struct run *r, const struct subtask *t)
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
	sched_save(r, t);
	return t;
}

static int
worker_cmp(const struct worker *a, const struct worker *b)
{
	return strcmp(a->name, b->name);
}

/* libbsd's RB_GENERATE_STATIC wants __unused, which glibc has not. */
RB_GENERATE_INTERNAL(worker_tree, worker, node, worker_cmp, unused_arg static)

struct worker *
sched_worker(struct run *r, const char *name)
{
	struct worker key;

	/* One that is longer is none: it is not cut to another's. */
	if (strlcpy(key.name, name, sizeof key.name) >= sizeof key.name)
		return NULL;
	return RB_FIND(worker_tree, &r->by_name, &key);
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

/* What holds back explores, the same for all of them: looked up once for many
 * subtasks. */
struct holds {
	bool paid; /* those that cost something */
	unsigned running;
};

static void
find_holds(const struct run *r, struct holds *ret)
{
	ret->running = (unsigned)sched_count(r, KIND_EXPLORE, SUBTASK_RUNNING);
	ret->paid = r->no_more || is_decided_soon(r) || pass_under_way(r);
}

static bool
is_held_back(
    const struct run *r, const struct holds *h, const struct subtask *t)
{
	if (t->kind != KIND_EXPLORE)
		return false;
	/* Without a failing test there is nothing to judge it by. */
	return (!t->pass && h->paid) || r->base.failing.n == 0 ||
	    h->running >= sched_workers(r, t);
}

unsigned
sched_ready(const struct run *r)
{
	const struct subtask *t;
	unsigned explores = 0, n = 0, free;
	struct holds holds;

	find_holds(r, &holds);
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->state != SUBTASK_WAITING || is_held_back(r, &holds, t))
			continue;
		/* Some, since it is not held back. */
		free = sched_workers(r, t) - holds.running;
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
	(void)RB_INSERT(worker_tree, &r->by_name, w);
	sched_save(r, t);
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
	struct holds holds = { 0 };
	bool full = false; /* for explores: it is the same for all of them */
	struct subtask *t;
	struct host *h;
	int rc;

	if (!verify)
		find_holds(r, &holds);
	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->state != SUBTASK_WAITING ||
		    (t->kind == KIND_VERIFY) != verify ||
		    (full && t->kind == KIND_EXPLORE) ||
		    is_held_back(r, &holds, t))
			continue;
		if ((h = host_for(r, t)) == NULL) {
			full |= t->kind == KIND_EXPLORE;
			continue;
		}
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

void
sched_forget(struct run *r, struct worker *w)
{
	TAILQ_REMOVE(&r->workers, w, entry);
	(void)RB_REMOVE(worker_tree, &r->by_name, w);
	free(w);
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
		sched_save(r, t);
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
		sched_drop(r, w, "stopped", NULL);
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

	while ((w = TAILQ_FIRST(&r->workers)) != NULL)
		sched_forget(r, w);
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
