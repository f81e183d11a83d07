#include "common/compat.h"

#include "orchestrator/run/state.h"

#define TICK_MS 1000
/* To READY, or to more of the snapshot. Its host ends it after 30 s. */
#define BEGIN_MS 120000
/* All that a worker does without a word besides its commands: a copy of the
 * workspace, a large patch. */
#define WORK_MS 300000
/* For the host to end it, and to say so. */
#define GRACE_MS 15000
#define BEGIN_WALL_MS (6ull * 3600 * 1000)

void
lease_begin(struct lease *l, uint64_t now)
{
	*l = (struct lease){ .start_ms = now, .heard_ms = now };
}

void
lease_ready(struct lease *l, uint64_t call_ms, uint64_t now)
{
	l->ready_ms = l->heard_ms = now;
	l->call_ms = call_ms;
}

/* Is it so long ago? */
static bool
is_past(uint64_t since, uint64_t ms, uint64_t now)
{
	return now >= since && now - since >= ms;
}

const char *
lease_over(const struct lease *l, uint64_t now)
{
	if (l->ready_ms == 0)
		return is_past(l->heard_ms, BEGIN_MS, now)
		    ? "its host has said nothing of it for 120 s"
		    : is_past(l->start_ms, BEGIN_WALL_MS, now)
		    ? "its host has not begun it in six hours"
		    : NULL;
	if (is_past(l->ready_ms, l->wall_ms + GRACE_MS, now))
		return "its host does not keep the time limit";
	if (is_past(l->heard_ms, 2 * l->call_ms + WORK_MS, now))
		return "its host lives, and it has done nothing for too long";
	return NULL;
}

static struct worker *
find_over(struct run *r, uint64_t now, const char **ret_why)
{
	struct worker *w;

	TAILQ_FOREACH (w, &r->workers, entry)
		if (host_address(w->host) != NULL &&
		    (*ret_why = lease_over(&w->lease, now)) != NULL)
			return w;
	return NULL;
}

/* We did not run: what was said meanwhile is still to be read. */
static void
forgive(struct run *r, uint64_t ms)
{
	struct worker *w;

	TAILQ_FOREACH (w, &r->workers, entry) {
		w->lease.start_ms += ms;
		w->lease.heard_ms += ms;
		if (w->lease.ready_ms != 0)
			w->lease.ready_ms += ms;
	}
}

void
lease_tick(struct run *r)
{
	uint64_t now = loop_now_ms();
	const char *why = NULL;
	struct worker *w;

	if (r->tick_ms != 0 && now - r->tick_ms > 2 * TICK_MS)
		forgive(r, now - r->tick_ms - TICK_MS);
	r->tick_ms = now;
	while (r->phase != PHASE_END && (w = find_over(r, now, &why)) != NULL)
		sched_give_up(r, w, "host lost", why);
}
