#include "common/compat.h"

#include <sys/queue.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/gateway/convs.h"
#include "orchestrator/gateway/gateway.h"
#include "orchestrator/gateway/price.h"
#include "orchestrator/store/transcript.h"

#define LATE_MAX 8192
#define REPLY_MAX ((size_t)1 << 20) /* MODEL_RESULT's message */
#define TURN_MAX_RECORDED 64

enum call_state {
	CALL_WAITING, /* for others to be settled */
	CALL_ASKED
};

/* One request from its arrival to its answer. */
struct call {
	TAILQ_ENTRY(call) entry;
	struct gateway *g;
	enum call_state state;
	struct conv *conv;
	char *subtask;
	unsigned attempt;
	uint64_t turn;
	uint64_t since_ms;
	unsigned char digest[HASH_LEN];
	struct ledger *ledger; /* NULL: the subtask is gone */
	struct amount reserved;
	struct buf late;
	void *handle;
	bool promised; /* store_asked() */
	bool spent;    /* replies that were thrown away used the budget up */
	bool gone;     /* its worker; the reply is for the record */
};

TAILQ_HEAD(calls, call);

struct gateway {
	struct store *store, *replay;
	const char *replay_end;
	struct provider provider;
	struct gateway_ops ops;
	struct convs *convs;
	struct calls calls, waiters; /* by their state */
	struct buf need;
	uint64_t t0_ms;
	/* Of the calls: under way, waiting, without their worker. */
	unsigned asked, waiting, orphans;
	bool warm; /* a reply has come: the shared prefix is cached */
	bool pumping;
};

static void pump(struct gateway *g);

struct gateway *
gateway_create(struct store *s, struct provider *p,
    const struct gateway_ops *ops, uint64_t t0_ms)
{
	struct gateway *g = xcalloc(1, sizeof *g);

	g->store = s;
	g->provider = *p;
	*p = (struct provider){ 0 };
	g->ops = *ops;
	g->t0_ms = t0_ms;
	g->convs = convs_create(s, g->provider.dialect);
	TAILQ_INIT(&g->calls);
	TAILQ_INIT(&g->waiters);
	buf_init(&g->need, CONV_MAX_MESSAGES * HASH_LEN);
	return g;
}

void
gateway_replay(struct gateway *g, struct store *from, const char *status_at_end)
{
	g->replay = from;
	g->replay_end = status_at_end;
}

const struct provider *
gateway_provider(const struct gateway *g)
{
	return &g->provider;
}

size_t
gateway_waiting(const struct gateway *g)
{
	return g->waiting;
}

/* Lines that follow are about this call; *old is what was before. */
static void
call_ids(const struct call *c, struct log_ids *old)
{
	log_ids_get(old);
	log_id(LOG_ID_WORKER, c->conv->worker);
	log_id(LOG_ID_SUBTASK, c->subtask);
	log_id_number(LOG_ID_ATTEMPT, "", c->attempt);
	log_id_number(LOG_ID_CALL, "model-", c->turn);
}

static void
call_free(struct call *c)
{
	struct gateway *g = c->g;

	if (c->state == CALL_ASKED) {
		TAILQ_REMOVE(&g->calls, c, entry);
		g->asked--;
	} else {
		TAILQ_REMOVE(&g->waiters, c, entry);
		g->waiting--;
	}
	c->conv->call = NULL;
	if (c->gone)
		convs_drop(g->convs, c->conv->worker);
	g->orphans -= c->gone;
	buf_clear(&c->late);
	free(c->subtask);
	free(c);
}

void
gateway_free(struct gateway *g)
{
	struct call *c;

	if (g == NULL)
		return;
	while ((c = TAILQ_FIRST(&g->waiters)) != NULL)
		call_free(c);
	while ((c = TAILQ_FIRST(&g->calls)) != NULL) {
		if (c->handle != NULL && g->provider.cancel != NULL)
			g->provider.cancel(g->provider.self, c->handle);
		call_free(c);
	}
	if (g->provider.free != NULL)
		g->provider.free(g->provider.self);
	convs_free(g->convs);
	buf_clear(&g->need);
	free(g);
}

static double
now_s(const struct gateway *g)
{
	return (double)(loop_now_ms() - g->t0_ms) / 1000.0;
}

/* --- answers ------------------------------------------------------------- */

static void
answer(struct gateway *g, const char *worker, uint64_t turn, const char *status,
    const char *why)
{
	struct msg m = { .type = MSG_MODEL_RESULT };
	struct msg_model_result *r = &m.u.model_result;

	r->turn = turn;
	r->status = status;
	r->error = why;
	if (strcmp(status, "need") == 0) {
		r->need = g->need.data;
		r->need_len = g->need.len;
	}
	g->ops.answer(g->ops.ctx, worker, &m);
}

static void
answer_ok(struct gateway *g, const char *worker, uint64_t turn,
    const char *reply, const struct spend *s, const struct strv *recorded)
{
	struct msg m = { .type = MSG_MODEL_RESULT };
	struct msg_model_result *r = &m.u.model_result;

	r->turn = turn;
	r->status = "ok";
	r->message = reply;
	r->in_tokens = s->in_tokens;
	r->out_tokens = s->out_tokens;
	r->cached_tokens = s->cached_tokens;
	if (recorded != NULL)
		r->recorded = msg_strs_of(recorded);
	g->ops.answer(g->ops.ctx, worker, &m);
}

/* --- the record ---------------------------------------------------------- */

static int
record(struct call *c, const char *status, const char *reply,
    const struct spend *s, const struct provider_answer *a, struct err *e)
{
	struct conv *v = c->conv;
	size_t base = conv_recorded(v);
	struct store_exchange x = {
		.worker = v->worker,
		.subtask = c->subtask,
		.attempt = c->attempt,
		.turn = (unsigned)c->turn,
		.base = base,
		.tail = v->hashes + base * HASH_LEN,
		.tail_len = (v->n - base) * HASH_LEN,
		.digest = c->digest,
		.late = buf_str(&c->late),
		.status = status,
		.reply = reply,
		.spend = *s,
		.requests = a->requests,
		.ms = a->ms,
		.t = now_s(c->g),
	};

	return store_exchange(c->g->store, &x, e);
}

static int
write_transcript(struct call *c, struct err *e)
{
	struct conv *v = c->conv;
	double t = now_s(c->g);
	size_t i;
	int r;

	for (i = v->base; i < v->n; i++) {
		/* The model's own earlier replies are there already. */
		if (strcmp(conv_role(v, i), "assistant") == 0)
			continue;
		r = transcript_add(c->g->store, v->worker, t, (unsigned)c->turn,
		    json_array_get(v->array, i), e);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the end of a call --------------------------------------------------- */

/* What was thrown away before it is paid for already: on_lost(). */
static int
settle(struct call *c, const struct spend *s, struct err *e)
{
	ledger_settle(c->ledger, &c->reserved, s);
	return c->promised ? store_answered(c->g->store, c->subtask, c->attempt,
				 (unsigned)c->turn, e)
			   : 0;
}

static void
accepted(struct call *c, struct provider_answer *a)
{
	struct gateway *g = c->g;
	struct gateway_note note = { .worker = c->conv->worker,
		.subtask = c->subtask,
		.turn = c->turn,
		.ms = a->ms,
		.whole_ms = loop_now_ms() - c->since_ms,
		.requests = a->requests,
		.spend.calls = 1 };
	struct err e;
	char *text = json_text(a->message);
	int r;

	g->warm = true;
	if (a->usage.given)
		price_spend(&note.spend, &a->usage, a->micro);
	else
		note.spend = (struct spend){ .calls = 1,
			.in_tokens = c->reserved.in_tokens,
			.out_tokens = c->reserved.out_tokens,
			.micro = c->reserved.micro };
	store_hold(g->store);
	if ((r = record(c, "ok", text, &note.spend, a, &e)) == 0 &&
	    (r = transcript_add(g->store, c->conv->worker, now_s(g),
		 (unsigned)c->turn, a->message, &e)) == 0 &&
	    (r = settle(c, &note.spend, &e)) == 0)
		g->ops.note(g->ops.ctx, &note);
	if (store_release(g->store, r == 0 ? &e : NULL) < 0 || r < 0)
		g->ops.failed(g->ops.ctx, &e);
	else if (!c->gone)
		answer_ok(g, c->conv->worker, c->turn, text, &note.spend, NULL);
	free(text);
	json_decref(a->message);
}

static void
refused(struct call *c, struct provider_answer *a)
{
	/* The first two are the worker's and the model's to mend. */
	const char *status = a->fault.kind == FAULT_OVERFLOW ? "overflow"
	    : a->fault.kind == FAULT_TOOLARGE                ? "too_large"
							     : "error";
	struct gateway *g = c->g;
	struct spend none = { 0 };
	struct err e;
	int r;

	store_hold(g->store);
	if ((r = settle(c, &none, &e)) == 0)
		r = record(c, fault_name(a->fault.kind), NULL, &none, a, &e);
	if (store_release(g->store, r == 0 ? &e : NULL) < 0 || r < 0) {
		g->ops.failed(g->ops.ctx, &e);
		return;
	}
	if (!c->gone)
		answer(g, c->conv->worker, c->turn,
		    c->spent ? "budget" : status, a->fault.text);
	if (!c->spent && strcmp(status, "error") == 0)
		g->ops.fault(g->ops.ctx, c->conv->worker, &a->fault);
}

/* It could not be passed on: no reply then, before it is on record as one. */
static void
check_size(struct provider_answer *a)
{
	char *text = a->message != NULL ? json_text(a->message) : NULL;

	if (text != NULL && strlen(text) > REPLY_MAX) {
		json_decref(a->message);
		a->message = NULL;
		fault_set(&a->fault, FAULT_TOOLARGE,
		    "the reply is %zu bytes large", strlen(text));
	}
	free(text);
}

static bool
on_lost(void *ctx, const struct usage *u, uint64_t micro)
{
	struct call *c = ctx;
	struct gateway *g = c->g;
	struct provider_answer a = { .requests = 1 };
	struct spend s = { 0 };
	struct err e;

	price_spend(&s, u, micro);
	s.calls = 1; /* what has used tokens was a call */
	if (record(c, "lost", NULL, &s, &a, &e) < 0) {
		g->ops.failed(g->ops.ctx, &e);
		return false;
	}
	c->spent |= ledger_charge(c->ledger, &s);
	return !c->spent;
}

static void
on_done(void *ctx, struct provider_answer *a)
{
	struct call *c = ctx;
	struct gateway *g = c->g;
	struct log_ids old;

	call_ids(c, &old);
	c->handle = NULL;
	check_size(a);
	if (a->message != NULL)
		accepted(c, a);
	else
		refused(c, a);
	call_free(c);
	log_ids_set(&old);
	pump(g);
}

/* --- its beginning ------------------------------------------------------- */

static void
make_late(struct call *c, const char *from_worker)
{
	struct gateway *g = c->g;

	buf_init(&c->late, LATE_MAX);
	if (from_worker != NULL)
		(void)buf_adds(&c->late, from_worker);
	if (g->ops.late != NULL)
		g->ops.late(g->ops.ctx, c->conv->worker, &c->late);
}

/* Where there is a limit, what is asked for is on record first: after a crash
 * it counts as spent. */
static int
promise(struct call *c)
{
	struct spend s = { .in_tokens = c->reserved.in_tokens,
		.out_tokens = c->reserved.out_tokens,
		.micro = c->reserved.micro };
	struct err e;

	if (!ledger_is_limited(c->ledger))
		return 0;
	c->promised = true;
	if (store_asked(c->g->store, c->conv->worker, c->subtask, c->attempt,
		(unsigned)c->turn, &s, &e) == 0)
		return 0;
	ledger_release(c->ledger, &c->reserved);
	c->g->ops.failed(c->g->ops.ctx, &e);
	call_free(c);
	return -1;
}

/* The call may be gone afterwards. False: it waits for others. */
static bool
try_call(struct call *c)
{
	struct gateway *g = c->g;
	struct provider_ask q = { .worker = c->conv->worker,
		.turn = c->turn,
		.conv = c->conv->array,
		.wires = c->conv->wires,
		.n = c->conv->n,
		.late = c->late.len > 0 ? buf_str(&c->late) : NULL,
		.lost = on_lost,
		.done = on_done,
		.ctx = c };
	struct log_ids old;
	void *handle = NULL;
	struct err e;
	int r;

	/* One goes first and writes the cache that the others read. */
	if (g->provider.dialect != NULL && !g->warm && g->asked > 0)
		return false;
	if (g->provider.estimate != NULL)
		g->provider.estimate(g->provider.self, &q,
		    &c->reserved.in_tokens, &c->reserved.out_tokens,
		    &c->reserved.micro);
	r = ledger_reserve(c->ledger, &c->reserved, &e);
	if (r == -EAGAIN)
		return false;
	if (r < 0) {
		answer(g, c->conv->worker, c->turn, "budget", e.text);
		call_free(c);
		return true;
	}
	if (promise(c) < 0)
		return true;
	TAILQ_REMOVE(&g->waiters, c, entry);
	g->waiting--;
	c->state = CALL_ASKED;
	TAILQ_INSERT_TAIL(&g->calls, c, entry);
	g->asked++;
	call_ids(c, &old);
	g->provider.ask(g->provider.self, &q, &handle);
	log_ids_set(&old);
	if (handle != NULL)
		c->handle = handle;
	return true;
}

/* Those that wait, in order of arrival. */
static void
pump(struct gateway *g)
{
	struct call *c;

	if (g->pumping)
		return;
	g->pumping = true;
	while ((c = TAILQ_FIRST(&g->waiters)) != NULL && try_call(c))
		;
	g->pumping = false;
}

static struct call *
find_orphan(struct gateway *g, const char *subtask, const unsigned char *digest)
{
	struct call *c;

	if (g->orphans == 0)
		return NULL;
	TAILQ_FOREACH (c, &g->calls, entry)
		if (c->gone && strcmp(c->subtask, subtask) == 0 &&
		    memcmp(c->digest, digest, HASH_LEN) == 0)
			return c;
	return NULL;
}

/* Is there a reply on record? Then that is the answer. */
static bool
from_record(
    struct gateway *g, struct conv *v, const char *subtask, uint64_t turn)
{
	struct gateway_note note = { .worker = v->worker,
		.subtask = subtask,
		.turn = turn,
		.recorded = true };
	struct store *from = g->replay != NULL ? g->replay : g->store;
	struct store_reply found;
	struct strv results = { 0 };

	if (store_reply_find(from, subtask,
		g->replay != NULL ? NULL : v->digest, turn, &found) < 0)
		return false;
	(void)store_results_after(from, &found, TURN_MAX_RECORDED, &results);
	note.spend.in_tokens = found.in_tokens;
	note.spend.out_tokens = found.out_tokens;
	note.spend.cached_tokens = found.cached_tokens;
	answer_ok(g, v->worker, turn, found.reply, &note.spend,
	    results.n > 0 ? &results : NULL);
	note.spend = (struct spend){ 0 };
	g->ops.note(g->ops.ctx, &note);
	strv_clear(&results);
	store_reply_clear(&found);
	return true;
}

static void
new_call(struct gateway *g, struct conv *v, const char *subtask,
    unsigned attempt, struct ledger *l, const struct msg_model *q)
{
	struct call *c = xcalloc(1, sizeof *c);
	struct err e;

	c->g = g;
	c->conv = v;
	v->call = c;
	c->subtask = xstrdup(subtask);
	c->attempt = attempt;
	c->turn = q->turn;
	c->since_ms = loop_now_ms();
	c->ledger = l;
	memcpy(c->digest, v->digest, HASH_LEN);
	TAILQ_INSERT_TAIL(&g->waiters, c, entry);
	g->waiting++;
	make_late(c, q->late);
	if (write_transcript(c, &e) < 0) {
		g->ops.failed(g->ops.ctx, &e);
		call_free(c);
		return;
	}
	pump(g);
}

void
gateway_ask(struct gateway *g, const char *worker, const char *subtask,
    unsigned attempt, struct ledger *l, const struct msg_model *q)
{
	struct conv *v = convs_get(g->convs, worker);
	struct call *c;
	struct err e;
	int r;

	if (v->call != NULL && !v->call->gone)
		return; /* asked again: the answer is on its way */
	store_hold(g->store);
	r = convs_take(g->convs, v, q, &g->need, &e);
	if (store_release(g->store, r == 0 ? &e : NULL) < 0 && r == 0)
		r = e.code;
	if (r == ERR_PROTO) {
		answer(g, worker, q->turn, "error", e.text);
	} else if (r < 0) {
		g->ops.failed(g->ops.ctx, &e);
	} else if (g->need.len > 0) {
		answer(g, worker, q->turn, "need", NULL);
	} else if (from_record(g, v, subtask, q->turn)) {
		; /* answered */
	} else if (g->replay != NULL) {
		answer(
		    g, worker, q->turn, g->replay_end, "the record ends here");
	} else if ((c = find_orphan(g, subtask, v->digest)) != NULL) {
		/* An earlier attempt's is under way: it is this one's. */
		convs_drop(g->convs, c->conv->worker);
		c->conv = v;
		v->call = c;
		c->attempt = attempt;
		c->gone = false;
		g->orphans--;
	} else {
		new_call(g, v, subtask, attempt, l, q);
	}
}

void
gateway_worker_gone(struct gateway *g, const char *worker)
{
	struct conv *v = convs_find(g->convs, worker);
	struct call *c = v != NULL ? v->call : NULL;

	if (c == NULL) {
		convs_drop(g->convs, worker);
	} else if (!c->gone) {
		c->gone = true;
		g->orphans++;
		if (c->state == CALL_WAITING)
			call_free(c);
	}
	if (g->provider.worker_gone != NULL)
		g->provider.worker_gone(g->provider.self, worker);
}
