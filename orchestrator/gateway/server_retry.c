/*
 * When to ask again, and when not. What the server said of its limits is kept
 * for later requests.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/gateway/remedy.h"
#include "orchestrator/gateway/server.h"

#define MAX_WAIT_MS 60000
#define OTHER_RETRIES 4 /* for faults that are no call for patience */
#define GIANT_RETRIES 2 /* of them, for replies over a cap */

uint64_t
server_output(
    const struct server *s, const struct provider_ask *q, size_t bytes)
{
	uint64_t want = q->max_output > 0 ? q->max_output : s->ep->max_output;
	uint64_t prompt = guess_tokens(&s->guess, bytes), left;

	if (s->output > 0 && (want == 0 || want > s->output))
		want = s->output;
	if (s->context == 0)
		return want > 0 ? want : GUESS_OUTPUT;
	left = prompt < s->context ? s->context - prompt : 0;
	if (left < OUTPUT_MIN)
		return 0;
	return want == 0 || want > left ? left : want;
}

/* --- ends ----------------------------------------------------------------- */

void
ask_free(struct ask *a)
{
	struct server *s = a->s;

	TAILQ_REMOVE(&s->asks, a, entry);
	gate_drop(s->gate, &a->wait);
	loop_del(s->loop, a->sleep);
	loop_del(s->loop, a->slow);
	if (a->running) {
		attempt_clear(&a->attempt);
		gate_leave(s->gate, false);
	}
	free((void *)a->q.wires);
	free((char *)a->q.late);
	free(a);
}

void
ask_done(struct ask *a, struct provider_answer *answer)
{
	void (*done)(void *, struct provider_answer *) = a->q.done;
	void *ctx = a->q.ctx;

	answer->requests = a->requests;
	answer->lost = a->lost;
	answer->micro = price_cost(&a->s->ep->price, &answer->usage);
	answer->lost_micro = price_cost(&a->s->ep->price, &answer->lost);
	ask_free(a);
	done(ctx, answer);
}

void
ask_fail(struct ask *a, const struct fault *why)
{
	struct provider_answer answer = { .fault = *why };

	fault_scrub(answer.fault.text, a->s->ep->key);
	remedy_add(&answer.fault, a->s->ep);
	ask_done(a, &answer);
}

static void
keep_lost(struct ask *a, const struct usage *u)
{
	if (!u->given)
		return;
	a->lost.given = true;
	a->lost.in_tokens += u->in_tokens;
	a->lost.cached += u->cached;
	a->lost.cache_write += u->cache_write;
	a->lost.out_tokens += u->out_tokens;
	a->lost.reasoning += u->reasoning;
	a->lost.has_cost |= u->has_cost;
	a->lost.cost_micro += u->cost_micro;
}

bool
ask_lost(struct ask *a, const struct usage *u)
{
	struct fault spent = { 0 };
	bool more;

	if (a->q.lost == NULL) {
		keep_lost(a, u);
		return true;
	}
	a->telling = true;
	more = a->q.lost(a->q.ctx, u, price_cost(&a->s->ep->price, u));
	a->telling = false;
	if (a->gone) {
		ask_free(a);
		return false;
	}
	if (!more) {
		fault_set(&spent, FAULT_CANCELLED, "the budget is spent");
		ask_fail(a, &spent);
	}
	return more;
}

/* --- again ---------------------------------------------------------------- */

static void
on_slept(void *ctx)
{
	struct ask *a = ctx;

	a->sleep = NULL;
	gate_join(a->s->gate, &a->wait);
}

/* Tell of a wait that is planned. The key can't be in it. */
static void
announce(struct ask *a, struct fault *why, uint64_t ms, bool tell)
{
	struct server *s = a->s;
	struct log_ids old;
	char wait[64];

	s->retries++;
	log_ids_get(&old);
	log_ids_set(&a->ids);
	fault_scrub(why->text, s->ep->key);
	if (tell)
		log_info("%s: %s: %s; again in %s", s->name,
		    fault_name(why->kind), why->text,
		    fault_wait_words(ms, wait, sizeof wait));
	log_ids_set(&old);
	if (s->planned != NULL)
		s->planned(s->planned_ctx, why, ms);
}

uint64_t
server_max_wait(const struct server *s)
{
	return s->ep->max_wait_ms > 0 ? s->ep->max_wait_ms : MAX_WAIT_MS;
}

/* As long as was asked; what nobody would wait for is not believed. */
static uint64_t
wait_for(struct ask *a, const struct fault *why, unsigned n)
{
	struct server *s = a->s;
	uint64_t asked = why->retry_after_ms, cap = server_max_wait(s);

	if (asked > fault_wait_most(cap))
		asked = cap;
	return backoff_ms(n, cap, why->has_retry_after, asked, &s->seed);
}

/* Everybody waits; this one keeps its place. */
static void
wait_together(struct ask *a, struct fault *why)
{
	struct server *s = a->s;
	unsigned n = gate_strikes(s->gate) + 1;
	uint64_t ms;

	if (n < a->refusals)
		n = a->refusals;
	ms = wait_for(a, why, n);
	announce(a, why, ms, gate_refused(s->gate, ms));
	gate_join(s->gate, &a->wait);
}

static void
wait_alone(struct ask *a, struct fault *why, unsigned n)
{
	uint64_t ms = wait_for(a, why, n);

	announce(a, why, ms, true);
	a->sleep = gate_timer(a->s->gate, ms, on_slept, a);
}

/* Once: what the server says that it takes, else half. */
static bool
lower_output(struct ask *a, const struct fault *why)
{
	struct server *s = a->s;
	uint64_t half = a->sent_output / 2;

	if (a->lowered || half < OUTPUT_MIN)
		return false;
	a->lowered = true;
	if (why->output >= OUTPUT_MIN && why->output < a->sent_output)
		s->output = why->output;
	else if (why->context == 0 || s->context != why->context)
		a->q.max_output = half;
	if (server_output(s, &a->q, a->bytes) >= a->sent_output)
		a->q.max_output = half;
	return true;
}

/* Once: the other name. Another request may have switched it already. */
static bool
rename_output(struct ask *a)
{
	struct quirks *q = &a->s->ep->quirks;

	if (a->renamed || a->s->ep->dialect != &dialect_chat)
		return false;
	a->renamed = true;
	q->max_completion = !a->sent_completion;
	return true;
}

/* Does the same request in other words help? */
static bool
reword(struct ask *a, const struct fault *why)
{
	if (why->kind == FAULT_OUTPUT)
		return lower_output(a, why);
	return why->output_name && rename_output(a);
}

static bool
may_retry(struct ask *a, enum fault_kind k)
{
	if (a->refusals + a->failures >= a->s->ep->max_retries)
		return false;
	if (k == FAULT_TOOLARGE)
		return a->giants++ < GIANT_RETRIES;
	return fault_retryable(k);
}

void
ask_retry(struct ask *a, struct fault *why)
{
	struct server *s = a->s;

	if (why->context >= CONTEXT_MIN && s->context == 0)
		s->context = why->context;
	if (reword(a, why)) {
		announce(a, why, 0, true);
		gate_join(s->gate, &a->wait);
	} else if (!may_retry(a, why->kind)) {
		ask_fail(a, why);
	} else if (why->kind == FAULT_RATE || why->kind == FAULT_OVERLOAD) {
		a->refusals++;
		wait_together(a, why);
	} else if (a->failures < OTHER_RETRIES) {
		wait_alone(a, why, ++a->failures);
	} else {
		ask_fail(a, why);
	}
}

void
ask_retry_empty(struct ask *a, struct fault *why)
{
	wait_alone(a, why, ++a->empties);
}
