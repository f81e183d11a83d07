#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/gateway/gate.h"

TAILQ_HEAD(waits, gate_wait);

struct gate {
	TAILQ_ENTRY(gate) entry;
	struct loop *loop;
	char *name;
	unsigned users;
	struct limiter limiter;
	struct waits waits; /* by arrival */
	uint64_t arrivals;
	struct loop_watch *pump;
	unsigned speed;
};

static TAILQ_HEAD(gates, gate) gates = TAILQ_HEAD_INITIALIZER(gates);

struct gate *
gate_get(struct loop *l, const char *name, unsigned max, uint64_t seed)
{
	struct gate *g;

	TAILQ_FOREACH (g, &gates, entry) {
		if (g->loop == l && strcmp(g->name, name) == 0) {
			g->users++;
			return g;
		}
	}
	g = xcalloc(1, sizeof *g);
	g->loop = l;
	g->name = xstrdup(name);
	g->users = 1;
	g->speed = 1;
	limiter_init(&g->limiter, max, seed);
	TAILQ_INIT(&g->waits);
	TAILQ_INSERT_TAIL(&gates, g, entry);
	return g;
}

void
gate_put(struct gate *g)
{
	if (--g->users > 0)
		return;
	TAILQ_REMOVE(&gates, g, entry);
	loop_del(g->loop, g->pump);
	free(g->name);
	free(g);
}

static uint64_t
now_ms(const struct gate *g)
{
	return loop_now_ms() * g->speed;
}

struct loop_watch *
gate_timer(struct gate *g, uint64_t ms, loop_cb cb, void *ctx)
{
	/* Rounded up: early would only mean to ask twice. */
	return loop_timer_add(
	    g->loop, ms / g->speed + (ms % g->speed > 0), 0, cb, ctx);
}

static void on_pump(void *ctx);

static void
pump_in(struct gate *g, uint64_t ms)
{
	loop_del(g->loop, g->pump);
	g->pump = gate_timer(g, ms, on_pump, g);
}

/* One a round, so that what go() does to the queue can't matter. */
static void
on_pump(void *ctx)
{
	struct gate *g = ctx;
	struct gate_wait *w = TAILQ_FIRST(&g->waits);
	uint64_t wait;

	g->pump = NULL;
	if (w == NULL)
		return;
	wait = limiter_enter(&g->limiter, now_ms(g));
	if (wait == UINT64_MAX)
		return; /* gate_leave() goes on */
	if (wait > 0) {
		pump_in(g, wait);
		return;
	}
	TAILQ_REMOVE(&g->waits, w, entry);
	w->queued = false;
	if (!TAILQ_EMPTY(&g->waits))
		pump_in(g, 0);
	w->go(w->ctx); /* g may be gone after it */
}

void
gate_join(struct gate *g, struct gate_wait *w)
{
	struct gate_wait *at;

	if (w->arrival == 0)
		w->arrival = ++g->arrivals;
	at = TAILQ_LAST(&g->waits, waits);
	while (at != NULL && at->arrival > w->arrival)
		at = TAILQ_PREV(at, waits, entry);
	if (at != NULL)
		TAILQ_INSERT_AFTER(&g->waits, at, w, entry);
	else
		TAILQ_INSERT_HEAD(&g->waits, w, entry);
	w->queued = true;
	pump_in(g, 0);
}

void
gate_drop(struct gate *g, struct gate_wait *w)
{
	if (!w->queued)
		return;
	TAILQ_REMOVE(&g->waits, w, entry);
	w->queued = false;
}

void
gate_leave(struct gate *g, bool ok)
{
	limiter_leave(&g->limiter, ok);
	if (!TAILQ_EMPTY(&g->waits))
		pump_in(g, 0);
}

bool
gate_refused(struct gate *g, uint64_t wait_ms)
{
	uint64_t now = now_ms(g);
	bool open = now >= g->limiter.closed_until_ms;

	limiter_refused(&g->limiter, now, wait_ms);
	pump_in(g, 0);
	return open;
}

size_t
gate_queued(const struct gate *g)
{
	const struct gate_wait *w;
	size_t n = 0;

	TAILQ_FOREACH (w, &g->waits, entry)
		n++;
	return n;
}

unsigned
gate_strikes(const struct gate *g)
{
	return g->limiter.strikes;
}

const struct limiter *
gate_limiter(const struct gate *g)
{
	return &g->limiter;
}

void
gate_speed(struct gate *g, unsigned times)
{
	g->speed = times > 0 ? times : 1;
	if (g->pump != NULL)
		pump_in(g, 0);
}
