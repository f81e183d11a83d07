/* trial.c - see trial.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "common/text.h"
#include "worker/agent/batch.h"
#include "worker/agent/output.h"
#include "worker/agent/tool.h"
#include "worker/agent/trial.h"

#define WHY_MAX 121
#define LABEL_MAX 40
#define PROGRESS_MS 500
/* A sandbox that can't be set up says nothing of the edit. */
#define SANDBOX_TRIES 3

enum task {
	NOTHING,
	PLAIN,   /* a candidate, by the plain command */
	CONFIRM, /* one that passed in a lane, by the plain command */
	DOUBT,   /* one that failed in a lane, by the plain command */
	BASE,    /* the tree as it is, by the plain command */
	LANE,    /* a candidate, in the lane */
	PROOF    /* the tree as it is, in the lane */
};

/* Where one thing at a time runs. */
struct slot {
	enum task task;
	size_t i; /* of the edit */
	unsigned tries;
	enum batch_proof proof;
	struct candidate c; /* of the plain command */
	struct lane *lane;  /* while it runs something */
};

/* Of an edit. */
enum place {
	OPEN,       /* nobody has looked at it */
	IN_LANE,    /* it runs there, or what is recorded comes from there */
	BY_PLAIN,   /* the same of the plain command */
	TO_PLAIN,   /* waits for it: as any other */
	TO_CONFIRM, /* it passed in a lane */
	TO_DOUBT    /* it failed in a lane */
};

struct runner {
	struct trial *t;
	struct batch *b; /* NULL: everything is plain */
	struct slot *slots;
	size_t n_slots;
	enum place *where;
	size_t next, waiting; /* not yet looked at; to be run plainly */
	bool stopped;
	uint64_t told_ms;
};

/* --- results ------------------------------------------------------------- */

static void
record(struct runner *r, size_t i, bool pass, const char *why)
{
	struct trial *t = r->t;
	json_t *j = json_object();
	const char *label = arg_str(json_array_get(t->edits, i), "label", NULL);

	json_object_set_new(j, "n", json_integer((json_int_t)i + 1));
	if (label != NULL)
		json_object_set_new(j, "label",
		    json_str_lossy(
			label, text_cut(label, strlen(label), LABEL_MAX)));
	json_object_set_new(j, "pass", json_boolean(pass));
	if (why != NULL)
		json_object_set_new(j, "why",
		    json_str_lossy(
			why, text_cut(why, strlen(why), WHY_MAX - 1)));
	t->results[i] = j;
	t->done++;
	if (pass) {
		json_array_append_new(
		    t->passed, json_integer((json_int_t)i + 1));
		if (t->stop_on_pass)
			r->stopped = true;
	}
}

static const json_t *
changes(const struct runner *r, size_t i)
{
	return json_object_get(json_array_get(r->t->edits, i), "changes");
}

/* Of the tree as it is, all that it says: nobody knows it otherwise. */
static void
add_output(struct runner *r, size_t i, const struct exec *x)
{
	char status[160];
	struct buf raw, text;

	if (json_array_size(changes(r, i)) > 0)
		return;
	buf_init(&raw, BUF_NOMAX);
	buf_init(&text, BUF_NOMAX);
	(void)exec_text(x, &raw);
	exec_status_str(x, status, sizeof status);
	(void)buf_printf(&text, "%s\n", status);
	if (raw.len > 0)
		(void)text_clean(&text, buf_str(&raw), raw.len, 4096);
	json_object_set_new(r->t->results[i], "output",
	    json_str_lossy(buf_str(&text), text.len));
	json_object_set_new(
	    r->t->results[i], "ms", json_integer((json_int_t)x->ms));
	buf_clear(&raw);
	buf_clear(&text);
}

static bool
passes(const struct exec *x)
{
	return !x->timed_out && !x->too_much && x->status == 0;
}

static void
judge(struct runner *r, size_t i, const struct exec *x)
{
	char status[160], line[WHY_MAX], why[WHY_MAX + 80];
	struct buf raw;

	if (passes(x)) {
		record(r, i, true, NULL);
		add_output(r, i, x);
		return;
	}
	buf_init(&raw, BUF_NOMAX);
	(void)exec_text(x, &raw);
	output_last_line(buf_str(&raw), raw.len, line, sizeof line);
	buf_clear(&raw);
	exec_status_str(x, status, sizeof status);
	snprintf(why, sizeof why, "%s%s%s",
	    text_starts(status, "exit status ") ? "exit " : "",
	    text_starts(status, "exit status ") ? status + 12 : status,
	    *line != '\0' ? ": " : "");
	(void)strlcat(why, line, sizeof why);
	record(r, i, false, why);
	if (x->timed_out && !x->too_much) /* it refutes nothing */
		json_object_set_new(r->t->results[i], "timed_out", json_true());
	add_output(r, i, x);
}

static void
give_up(struct runner *r, const struct err *e)
{
	r->t->broken = *e;
	r->stopped = true;
}

static void
run_plainly(struct runner *r, size_t i, enum place where)
{
	r->where[i] = where;
	r->waiting++;
}

/* What lanes said does not count any more. */
static void
take_back(struct runner *r, const char *why)
{
	size_t i;

	batch_off(r->b, why);
	for (i = 0; i < r->t->n; i++) {
		if (r->where[i] != IN_LANE || r->t->results[i] == NULL)
			continue;
		json_decref(r->t->results[i]);
		r->t->results[i] = NULL;
		r->t->done--;
		run_plainly(r, i, TO_PLAIN);
	}
}

/* --- starting ------------------------------------------------------------ */

/* True: it runs. */
static bool
start_plain(struct runner *r, struct slot *s, enum task task, size_t i,
    const struct edits *es)
{
	struct trial *t = r->t;
	struct err e;

	candidate_open(t->a, &s->c, t->check, t->timeout_ms);
	if (task == BASE)
		s->c.x.keep = BATCH_PROOF_KEEP;
	if (candidate_run(t->a, &s->c, es, true, &e) < 0) {
		candidate_clear(&s->c);
		give_up(r, &e);
		return false;
	}
	s->task = task;
	s->i = i;
	s->tries++;
	return true;
}

/* True: it runs. */
static bool
start_lane(struct runner *r, struct slot *s, enum task task, size_t i,
    const struct edits *es)
{
	const struct lane_job job = {
		.es = es,
		.limit_ms = r->t->timeout_ms,
		.keep = task == PROOF ? BATCH_PROOF_KEEP : CANDIDATE_KEEP,
		.first = task == PROOF && s->proof == PROOF_FIRST,
	};
	const size_t k = (size_t)(s - r->slots);
	struct err e;

	s->lane = batch_lane(r->t->a, r->b, k);
	if (s->lane == NULL)
		return false;
	if (lane_send(s->lane, &job, &e) < 0) {
		log_info("%s", e.text);
		batch_lane_lost(r->b, k, false);
		s->lane = NULL;
		return false;
	}
	s->task = task;
	s->i = i;
	return true;
}

static enum task
plain_task(enum place where)
{
	return where == TO_CONFIRM ? CONFIRM
	    : where == TO_DOUBT    ? DOUBT
				   : PLAIN;
}

/* An edit; its place says how. True: something runs. */
static bool
start_edit(struct runner *r, struct slot *s, size_t i)
{
	const enum place where = r->where[i];
	struct edits es = { 0 };
	char why[WHY_MAX];
	struct err e;
	bool runs = false;

	if (edits_make(r->t->a, &es, changes(r, i), &e) < 0) {
		snprintf(why, sizeof why, "can't be applied: %.100s", e.text);
		record(r, i, false, why);
		goto out;
	}
	r->t->a->tried += where == OPEN && es.n > 0;
	r->where[i] = IN_LANE;
	if (where == OPEN && es.n > 0 && r->b != NULL && batch_takes(r->b, &es))
		runs = start_lane(r, s, LANE, i, &es);
	if (!runs) {
		r->where[i] = BY_PLAIN;
		runs = start_plain(r, s, plain_task(where), i, &es);
	}
out:
	edits_clear(&es);
	return runs;
}

/* The plain one needs no lane, and goes to whoever is free first. */
static bool
start_proof(struct runner *r, struct slot *s)
{
	const struct edits none = { 0 };

	while (
	    r->b != NULL && !r->stopped && batch_next_proof(r->b, &s->proof)) {
		if (s->proof == PROOF_PLAIN ? start_plain(r, s, BASE, 0, &none)
					    : start_lane(r, s, PROOF, 0, &none))
			return true;
	}
	return false;
}

/* One that waits for the plain command; n: there is none. */
static size_t
next_waiting(const struct runner *r)
{
	size_t i;

	if (r->waiting == 0)
		return r->t->n;
	for (i = 0; i < r->t->n && r->where[i] < TO_PLAIN; i++)
		;
	return i;
}

/* True: something runs. */
static bool
start_next(struct runner *r, struct slot *s)
{
	size_t i;

	s->tries = 0;
	while (!r->stopped) {
		if ((i = next_waiting(r)) < r->t->n) {
			r->waiting--;
			if (start_edit(r, s, i))
				return true;
			continue;
		}
		if (start_proof(r, s))
			return true;
		if (r->stopped || r->next == r->t->n)
			break;
		if (start_edit(r, s, r->next++))
			return true;
	}
	return false;
}

/* --- what came of it ----------------------------------------------------- */

static void
lane_says(struct runner *r, struct slot *s, const struct exec *x)
{
	if (s->task == PROOF)
		batch_proved(r->b, s->proof, x);
	else if (batch_state(r->b) == BATCH_OFF)
		run_plainly(r, s->i, TO_PLAIN); /* it does not count any more */
	else if (passes(x))
		run_plainly(r, s->i, TO_CONFIRM);
	else if (batch_doubts(r->b))
		run_plainly(r, s->i, TO_DOUBT);
	else
		judge(r, s->i, x);
}

/* The answer as if a sandbox of its own had ended like that. */
static void
lane_finished(struct runner *r, struct slot *s)
{
	struct lane_answer ans;
	struct exec x = {
		.spec = &s->lane->c.spec,
		.timeout_ms = r->t->timeout_ms,
		.ran = true,
	};
	bool heard = lane_hear(s->lane, &ans);

	if (heard && ans.how != LANE_REFUSED) {
		x.status = ans.status;
		x.timed_out = ans.how == LANE_TIMED_OUT;
		x.too_much = ans.how == LANE_TOO_MUCH;
		x.oom = ans.oom;
		x.ms = ans.ms;
		x.head = ans.out;
		if (s->task == PROOF && s->proof == PROOF_FIRST)
			batch_modules(r->b, &ans.modules);
		lane_says(r, s, &x);
	} else if (s->task == LANE) {
		run_plainly(r, s->i, TO_PLAIN);
	}
	if (!heard || ans.dirty)
		batch_lane_lost(r->b, (size_t)(s - r->slots), heard);
	lane_answer_clear(&ans);
	s->lane = NULL;
}

static void
plain_says(struct runner *r, const struct slot *s)
{
	const struct exec *x = &s->c.x;

	if (s->task == BASE) {
		batch_proved(r->b, PROOF_PLAIN, x);
		return;
	}
	judge(r, s->i, x);
	if (s->task == CONFIRM && !passes(x))
		batch_off(r->b, "a candidate passed that did not pass alone");
	else if (s->task == DOUBT && passes(x))
		take_back(r, "a candidate failed that passes alone");
}

/* The same once more, since its sandbox failed. */
static bool
start_again(struct runner *r, struct slot *s)
{
	struct edits es = { 0 };
	bool runs = false;
	struct err e;

	if (s->task == BASE)
		return start_plain(r, s, BASE, 0, &es);
	if (edits_make(r->t->a, &es, changes(r, s->i), &e) < 0)
		give_up(r, &e); /* it could be made before */
	else
		runs = start_plain(r, s, s->task, s->i, &es);
	edits_clear(&es);
	return runs;
}

/* True: it runs once more. */
static bool
plain_finished(struct runner *r, struct slot *s)
{
	const struct exec *x = &s->c.x;
	bool again = !x->ran && s->tries < SANDBOX_TRIES && !r->stopped;
	struct err e;

	flight_note(&r->t->a->flight, x);
	if (x->ran) {
		plain_says(r, s);
	} else if (again) {
		log_warn("a candidate's sandbox failed, once more: %.300s",
		    buf_str(&x->head));
	} else if (!r->stopped) {
		(void)err_set(&e, ERR_SANDBOX,
		    "a candidate's sandbox failed %d times: %.300s",
		    SANDBOX_TRIES, buf_str(&x->head));
		give_up(r, &e);
	}
	candidate_clear(&s->c);
	return again && start_again(r, s);
}

static struct exec *
job_of(struct slot *s)
{
	if (s->task == NOTHING)
		return NULL;
	return s->lane != NULL ? &s->lane->c.x : &s->c.x;
}

static void
finished(struct runner *r, struct slot *s)
{
	if (s->lane != NULL)
		lane_finished(r, s);
	else if (plain_finished(r, s))
		return;
	s->task = NOTHING;
}

/* --- all of them --------------------------------------------------------- */

static void
tell(struct runner *r)
{
	uint64_t now = loop_now_ms();

	if (now - r->told_ms < PROGRESS_MS)
		return;
	r->told_ms = now;
	agent_progress_n(r->t->a, "try", r->t->done, r->t->n);
}

/* The time of all together is over: what runs now has no result. */
static bool
is_over(struct runner *r)
{
	struct trial *t = r->t;
	struct slot *s;
	size_t i;

	if (t->end_ms == 0 || loop_now_ms() < t->end_ms)
		return false;
	for (s = r->slots; s < r->slots + r->n_slots; s++) {
		if (s->task == NOTHING)
			continue;
		if (s->lane != NULL)
			lane_clear(s->lane);
		else
			candidate_clear(&s->c);
	}
	for (i = 0; i < t->n; i++)
		t->a->tried -= r->where[i] != OPEN && t->results[i] == NULL &&
		    json_array_size(changes(r, i)) > 0;
	return true;
}

static uint64_t
wait_ms(const struct trial *t)
{
	uint64_t now = loop_now_ms();

	if (t->end_ms == 0 || t->end_ms > now + PROGRESS_MS)
		return PROGRESS_MS;
	return t->end_ms > now ? t->end_ms - now : 0;
}

/* False: nothing runs, and there is nothing more to run. */
static bool
fill(struct runner *r, struct exec **jobs)
{
	size_t k, running = 0;

	for (k = 0; k < r->n_slots; k++)
		running += r->slots[k].task != NOTHING;
	for (k = 0; k < r->n_slots; k++) {
		if (r->slots[k].task == NOTHING &&
		    running < flight_now(&r->t->a->flight))
			running += start_next(r, &r->slots[k]);
		jobs[k] = job_of(&r->slots[k]);
	}
	return running > 0;
}

void
trial_run(struct trial *t)
{
	struct agent *a = t->a;
	struct runner r = {
		.t = t,
		.b = batch_get(a, t->check, t->n),
		.n_slots = (size_t)a->cfg.parallel * FLIGHT_MORE,
		.told_ms = loop_now_ms(),
	};
	struct exec **jobs = xcalloc(r.n_slots, sizeof(struct exec *)), *x;
	size_t k;

	r.slots = xcalloc(r.n_slots, sizeof *r.slots);
	r.where = xcalloc(t->n, sizeof *r.where);
	flight_begin(&a->flight, (size_t)a->cfg.parallel, t->check,
	    a->cfg.candidate.limits.memory_bytes);
	while (!is_over(&r) && fill(&r, jobs)) {
		x = exec_wait(jobs, r.n_slots, wait_ms(t));
		for (k = 0; k < r.n_slots && x != NULL; k++) {
			if (jobs[k] == x)
				finished(&r, &r.slots[k]);
		}
		tell(&r);
	}
	agent_progress_n(a, "try", t->done, t->n);
	free(r.where);
	free(r.slots);
	free(jobs);
}
