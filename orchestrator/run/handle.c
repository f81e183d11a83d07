/*
 * handle.c - what a worker may say, and what comes of it. Identity is the
 * worker frame that the host stamped; a worker is judged alone.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/fetch.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/reproduce.h"
#include "orchestrator/run/watch.h"

#define TRY_MAX 200   /* edits of a call, as the tool takes them */
#define TOLD_MAX 1000 /* events of a worker's progress at once */
#define TOLD_PER_S 50 /* and for long */
/* What is put on record for ever: acts at once, for long, and all that one
 * attempt may fill. A worker waits for the verdict on each. */
#define ACTS_MAX 4000
#define ACTS_PER_S 100
#define ACTS_ALL 200000
#define ACTS_BYTES ((uint64_t)256 << 20)

void
handle_send(struct run *r, struct worker *w, const struct msg *m)
{
	struct err e = { 0 };
	int rc = hosts_send(w->host, w->name, m, &e);

	if (rc == ERR_LIMIT || rc == ERR_PROTO || rc == ERR_SYNTAX)
		/* It would wait for ever. */
		run_end(r, EXIT_FATAL, "error", "%s to %s can't be sent: %s",
		    msg_name(m->type), w->name, e.text);
	else if (rc < 0)
		log_debug("%s to %s: %s", msg_name(m->type), w->name, e.text);
}

/* Is the model one of ours? It costs nothing. */
static bool
is_own(const struct run *r, const struct subtask *t)
{
	return models_builtin(r, t) || strcmp(r->model, "script") == 0;
}

static void
on_ready(struct run *r, struct worker *w, const struct msg *m)
{
	const struct msg_ready *in = &m->u.ready;
	struct subtask *t = w->subtask;
	struct msg out = { .type = MSG_TASK };
	struct msg_task *o = &out.u.task;
	char *prompt = prompt_task(r, t), *role = prompt_role(r, t);
	struct strv tests = { 0 }, judged = { 0 }, hooks = { 0 };
	bool again = w->ready;

	if (!again) {
		w->ready = true;
		hosts_began(w->host);
		r->local_began |= host_address(w->host) == NULL;
		lease_ready(&w->lease,
		    limits_call_ms(&r->profile,
			t->kind == KIND_BASELINE || t->kind == KIND_CONFIRM),
		    loop_now_ms());
		w->pid = in->pid;
		run_event(r, "worker_started",
		    json_pack("{s:s, s:I, s:s, s:s, s:s, s:I}", "worker",
			w->name, "pid", (json_int_t)in->pid, "subtask", t->id,
			"kind", kind_str(t->kind), "layout",
			msg_str(in->layout), "start_ms",
			(json_int_t)(loop_now_ms() - w->lease.start_ms)));
	}
	o->kind = kind_str(t->kind);
	o->subtask = t->id;
	o->attempt = w->attempt;
	o->system = r->system;
	o->prompt = prompt;
	o->role = role;
	o->memory = is_own(r, t) ? NULL : r->notes;
	o->hypothesis = t->hypothesis;
	o->tests = msg_strs_of(&r->tests);
	o->checks = msg_strs_of(&r->o.checks);
	o->guarded = msg_strs_of(&r->guarded);
	approvals_judged(r->approvals, &judged);
	o->judged = msg_strs_of(&judged);
	hooks_task(r, t, &hooks);
	o->hooks = msg_strs_of(&hooks);
	if (t->kind == KIND_VERIFY || t->kind == KIND_REVIEW) {
		o->patch = t->patch;
		o->patch_len = t->patch_len;
	}
	reproduce_task(r, t, &tests, o);
	o->failing = msg_strs_of(&r->base.failing);
	o->flaky = msg_strs_of(&r->base.flaky);
	o->tests_passed = r->base.passed;
	o->per_test = r->base.per_test;
	o->test_ms = r->base.test_ms;
	o->call_ms = w->lease.call_ms;
	o->parallel = sched_parallel_of(r, t);
	o->max_turns = is_own(r, t) ? 10000 : MAX_TURNS;
	/* The built-in model reads its whole conversation each time. */
	o->context = is_own(r, t) ? UINT32_MAX : r->context;
	o->max_output = r->max_output;
	handle_send(r, w, &out);
	strv_clear(&tests);
	strv_clear(&judged);
	strv_clear(&hooks);
	free(prompt);
	free(role);
	if (!again)
		sched_pump(r); /* its host may begin with another */
}

static void
on_model(struct run *r, struct worker *w, const struct msg *m)
{
	gateway_ask(models_gateway(r, w->subtask), w->name, w->subtask->id,
	    w->attempt, &w->subtask->ledger, &m->u.model);
	if (r->ledger.out && !r->no_more) {
		r->no_more = true;
		log_debug("budget: nothing new is started");
	}
}

static void
on_audit(struct run *r, struct worker *w, const struct msg *m)
{
	approvals_audit(r, w, &m->u.audit);
}

static void
on_fetch(struct run *r, struct worker *w, const struct msg *m)
{
	struct msg out = { .type = MSG_FETCH_RESULT };

	out.u.fetch_result.seq = m->u.fetch.seq;
	if (!hooks_fetch_passed(r, w, msg_str(m->u.fetch.url))) {
		out.u.fetch_result.error =
		    "a PreToolUse hook is for this, and it has not passed it";
		handle_send(r, w, &out);
		return;
	}
	if (r->fetches != NULL) {
		if (approvals_fetch(r, w, &m->u.fetch))
			fetches_start(r->fetches, w, &m->u.fetch);
		return;
	}
	out.u.fetch_result.error = "nothing is fetched in this run";
	handle_send(r, w, &out);
}

static void
on_hook(struct run *r, struct worker *w, const struct msg *m)
{
	hooks_message(r, w, &m->u.hook);
}

/* Edits of all workers: those that the model knows of as tried, and those of
 * the calls that run. */
static void
add_pace(struct run *r, struct worker *w, uint64_t done, json_t *fields)
{
	const struct provider *p = gateway_provider(r->gateway);
	uint64_t total = 0, tried = 0, now = loop_now_ms();
	const struct worker *v;

	if (done > TRY_MAX)
		done = TRY_MAX;
	if (done > w->tried) {
		pace_add(&r->pace, now, done - w->tried);
		w->tried = done;
	}
	if (p->outlook == NULL || !p->outlook(p->self, &total, &tried))
		total = 0;
	TAILQ_FOREACH (v, &r->workers, entry)
		tried += v->tried;
	pace_fields(&r->pace, now, tried, total, fields);
}

/* One more: is it within max at once, and per_s for long? */
static bool
within(struct recent *n, unsigned max, unsigned per_s)
{
	uint64_t now = loop_now_ms(), more = (now - n->ms) * per_s / 1000;

	if (more > 0) {
		n->n = more < n->n ? n->n - (unsigned)more : 0;
		n->ms = now;
	}
	if (n->n >= max)
		return false;
	n->n++;
	return true;
}

static void
on_progress(struct run *r, struct worker *w, const struct msg *m)
{
	const struct msg_progress *in = &m->u.progress;
	/* Events are kept for ever: what a worker says of itself must not fill
	 * the disk. */
	bool told = within(&w->told, TOLD_MAX, TOLD_PER_S);
	json_t *fields;

	if (strcmp(in->what, "tool_call") == 0) {
		w->tools++;
		w->tried = 0;
		watch_progress(r, w, in);
		if (!told)
			return;
		run_event(r, "tool_call",
		    json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "worker",
			w->name, "tool", msg_str(in->tool), "verdict",
			msg_str(in->verdict), "text", msg_str(in->text), "ms",
			(json_int_t)in->ms, "call", (json_int_t)in->call));
		return;
	}
	if (!told)
		return;
	fields = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I}", "worker", w->name,
	    "what", in->what, "text", msg_str(in->text), "done",
	    (json_int_t)in->done, "total", (json_int_t)in->total, "call",
	    (json_int_t)in->call);
	if (strcmp(in->what, "try") == 0)
		add_pace(r, w, in->done, fields);
	run_event(r, "progress", fields);
}

static void
on_summary(struct run *r, struct worker *w, const struct msg *m)
{
	results_summary(r, w, &m->u.summary);
}

static void
on_worker_exit(struct run *r, struct worker *w, const struct msg *m)
{
	sched_worker_exit(r, w, &m->u.worker_exit);
}

/* The whole answer to "what can a hostile worker ask, and when?" */
static const struct {
	enum msg_type type;
	bool before_ready; /* allowed before READY */
	void (*fn)(struct run *, struct worker *, const struct msg *);
} table[] = {
	{ MSG_READY, true, on_ready },
	{ MSG_MODEL, false, on_model },
	{ MSG_FETCH, false, on_fetch },
	{ MSG_AUDIT, false, on_audit },
	{ MSG_HOOK, false, on_hook },
	{ MSG_PROGRESS, true, on_progress }, /* its host has no snapshot yet */
	{ MSG_SUMMARY, false, on_summary },
	{ MSG_WORKER_EXIT, true, on_worker_exit },
};

/* What the log says that it is about. */
static void
set_ids(const struct worker *w, const struct msg *m)
{
	log_id(LOG_ID_HOST, host_name(w->host));
	log_id(LOG_ID_WORKER, w->name);
	log_id(LOG_ID_SUBTASK, w->subtask->id);
	log_id_number(LOG_ID_ATTEMPT, "", w->attempt);
	if (m->type == MSG_MODEL)
		log_id_number(LOG_ID_CALL, "model-", m->u.model.turn);
	else if (m->type == MSG_AUDIT)
		log_id_number(LOG_ID_CALL, "audit-", m->u.audit.seq);
	else if (m->type == MSG_FETCH)
		log_id_number(LOG_ID_CALL, "fetch-", m->u.fetch.seq);
	else if (m->type == MSG_HOOK)
		log_id_number(LOG_ID_CALL, "hook-", m->u.hook.seq);
	else if (m->type == MSG_PROGRESS && m->u.progress.call > 0)
		log_id_number(LOG_ID_CALL, "tool-", m->u.progress.call);
}

/* Bytes that a message leaves on record, more or less. 0: it is no act. */
static uint64_t
weight(const struct msg *m)
{
	switch (m->type) {
	case MSG_AUDIT:
		return 256 + strlen(m->u.audit.subject) +
		    strlen(msg_str(m->u.audit.detail));
	case MSG_FETCH:
		return 256 + strlen(m->u.fetch.url);
	case MSG_HOOK:
		return 256 + strlen(msg_str(m->u.hook.input)) +
		    strlen(msg_str(m->u.hook.response));
	default:
		return 0;
	}
}

/* True: it does more than any worker does, and is dropped. */
static bool
drop_flood(struct run *r, struct worker *w, const struct msg *m)
{
	uint64_t bytes = weight(m);

	if (bytes == 0)
		return false;
	w->acts_all++;
	w->acts_bytes += bytes;
	if (within(&w->acts, ACTS_MAX, ACTS_PER_S) && w->acts_all <= ACTS_ALL &&
	    w->acts_bytes <= ACTS_BYTES)
		return false;
	r->refused++;
	log_warn("%s on %s: a flood of acts: it is dropped", w->name,
	    host_name(w->host));
	sched_give_up(r, w, "flood",
	    "it did more at once than a worker does, and is dropped");
	return true;
}

static void
dispatch(struct run *r, struct worker *w, const struct msg *m)
{
	size_t i;

	if (w->ended && m->type != MSG_WORKER_EXIT)
		return; /* by the monitor: nothing of it counts */
	if (w->ready && drop_flood(r, w, m))
		return;
	for (i = 0; i < nitems(table); i++)
		if (table[i].type == m->type &&
		    (w->ready || table[i].before_ready)) {
			/* Only to wait for its TASK is to do nothing. */
			if (m->type != MSG_READY)
				w->lease.heard_ms = loop_now_ms();
			table[i].fn(r, w, m);
			return;
		}
	r->refused++;
	log_warn("%s: %s is not permitted now", w->name, msg_name(m->type));
}

void
handle_msg(struct run *r, struct worker *w, const struct msg *m)
{
	struct log_ids old;

	log_ids_get(&old);
	set_ids(w, m);
	dispatch(r, w, m); /* w may be gone afterwards */
	log_ids_set(&old);
}
