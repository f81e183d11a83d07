/*
 * sched_gone.c - what becomes of a subtask when its worker or its host goes: it
 * is tried again, elsewhere where there is such a place, or has failed.
 */
#include "common/compat.h"

#include <string.h>

#include "orchestrator/run/approve.h"
#include "orchestrator/run/fetch.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/sched_priv.h"
#include "orchestrator/run/watch.h"

#define HOST_LOST "host lost"
#define MAX_LOST 30
#define MAX_UNBEGUN 1000

/* Some attempts were not the subtask's fault, unless that happens all the time.
 * Those that no worker has begun say nothing of it at all: there is only an end
 * to them. */
static void
forgive(struct subtask *t, unsigned n, bool begun)
{
	if (!begun && t->unbegun < MAX_UNBEGUN)
		t->unbegun += n;
	else if (t->attempts - t->unbegun >= MAX_LOST)
		return;
	t->attempts_before += n;
	if (t->attempts_before > t->attempts)
		t->attempts_before = t->attempts;
}

void
sched_drop(
    struct run *r, struct worker *w, const char *reason, const char *detail)
{
	struct subtask *t = w->subtask;
	bool unfinished = t->state == SUBTASK_RUNNING && !w->summary;

	if (strcmp(reason, HOST_LOST) == 0 && host_address(w->host) != NULL)
		forgive(t, 1, w->ready);

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
	sched_forget(r, w);
	if (!unfinished || r->phase == PHASE_END)
		return;
	if (t->attempts - t->attempts_before < MAX_ATTEMPTS) {
		t->state = SUBTASK_WAITING;
	} else {
		t->state = SUBTASK_FAILED;
		results_failed(r, t, detail != NULL ? detail : reason);
	}
	sched_save(r, t);
}

/* What failed on a host that is set aside was not the subtask's fault. */
static void
forgive_all(struct run *r, const struct host_mark *m)
{
	struct subtask *t;

	TAILQ_FOREACH (t, &r->subtasks, entry) {
		if (t->failed == 0 ||
		    strcmp(t->failed_on.instance, m->instance) != 0)
			continue;
		forgive(t, t->failed, true);
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
		forgive_all(r, &w->mark);
	return elsewhere;
}

/* Where workers have come up before, one whose sandbox could not be made is
 * lost as any other; where none has, no other will. */
static bool
may_try_again(const struct run *r, const struct worker *w)
{
	const struct subtask *t = w->subtask;

	return host_address(w->host) != NULL ||
	    (r->local_began && t->attempts - t->attempts_before < MAX_ATTEMPTS);
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

	hosts_release(w->host, w->ready);
	/* The host was about to go when it was assigned: nobody's fault. */
	if (drains && early) {
		hosts_drains(w->host);
		forgive(t, 1, false);
	} else if (full && early) {
		hosts_full(w->host);
		forgive(t, 1, false);
	} else if (t->state == SUBTASK_RUNNING && !w->summary && !w->ended) {
		elsewhere = failed_there(r, w, sandbox,
		    msg_str(m->detail)[0] != '\0' ? m->detail : m->reason);
	}
	if (sandbox && !elsewhere && !may_try_again(r, w)) {
		run_end(r, EXIT_SANDBOX, "error",
		    "the sandbox can't be set up here: %s (foray doctor says "
		    "what to do)",
		    msg_str(m->detail));
	}
	/* Whoever ends an allocation ends all of its processes with it. */
	lost = strcmp(m->reason, "killed") == 0 && host_is_draining(w->host);
	sched_drop(r, w, lost ? HOST_LOST : m->reason, m->detail);
	results_check(r);
	sched_pump(r);
}

void
sched_host_down(struct run *r, struct host *h, const char *why)
{
	struct worker *w, *next;

	TAILQ_FOREACH_SAFE (w, &r->workers, entry, next)
		if (w->host == h)
			sched_drop(r, w, HOST_LOST, why);
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
	hosts_release(w->host, w->ready);
	hosts_ghost(w->host, w->name);
	if (w->subtask->state == SUBTASK_RUNNING && !w->summary && !w->ended)
		(void)failed_there(r, w, false, why);
	sched_drop(r, w, reason, why);
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
			hosts_release(h, w->ready);
			sched_drop(r, w, HOST_LOST, m.u.cancel.reason);
		}
	for (i = 0; i < workers->n; i++)
		if ((w = sched_worker(r, workers->v[i])) == NULL ||
		    w->host != h)
			hosts_ghost(h, workers->v[i]);
	results_check(r);
	sched_pump(r);
}
