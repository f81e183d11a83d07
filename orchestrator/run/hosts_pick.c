/*
 * hosts_pick.c - which of the hosts gets a subtask, and what its word is worth.
 */
#include "common/compat.h"

#include <string.h>

#include "orchestrator/run/hosts_priv.h"

#define POOR_MS 60000

static bool
is_poor(const struct host *h)
{
	return h->poor_ms > loop_now_ms();
}

/* One that is cut off comes back soon, or is lost. */
static bool
is_sound(const struct host *h)
{
	return !h->place.draining && host_fits(h) && !is_poor(h);
}

static bool
any_sound(const struct hosts *hs, const struct host *but)
{
	const struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (h != but && is_sound(h))
			return true;
	return false;
}

static bool
any_local(const struct hosts *hs)
{
	const struct host *h;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (!h->is_remote)
			return true;
	return false;
}

bool
hosts_fault(struct host *h)
{
	h->poor_ms = loop_now_ms() + POOR_MS;
	return any_sound(h->all, h);
}

void
host_mark(const struct host *h, struct host_mark *ret)
{
	memset(ret, 0, sizeof *ret);
	if (!h->is_remote)
		return;
	memcpy(ret->key, h->key, sizeof ret->key);
	memcpy(ret->instance, h->instance, sizeof ret->instance);
}

/* What its word on that work is worth. */
static int
worth(const struct host *h, const struct host_mark *of)
{
	if (!h->is_remote)
		return 3;
	if (strcmp(h->key, of->key) != 0)
		return 2;
	return strcmp(h->instance, of->instance) != 0 ? 1 : 0;
}

/* What fails at once has free slots all the time, and would get all there is to
 * do. */
static struct host *
pick(struct hosts *hs, const struct host_mark *of, int least)
{
	struct placing_want want = hs->o.want;
	struct host *h, *best = NULL;
	bool sound = any_sound(hs, NULL);

	want.judges = of != NULL;
	TAILQ_FOREACH (h, &hs->list, entry)
		if ((!h->is_remote || h->remote != NULL) &&
		    (!sound || !is_poor(h)) &&
		    (of == NULL || worth(h, of) >= least) &&
		    placing_better(
			&h->place, best != NULL ? &best->place : NULL, &want))
			best = h;
	return best;
}

struct host *
hosts_free_slot(struct hosts *hs)
{
	return pick(hs, NULL, 0);
}

struct host *
hosts_free_judge(struct hosts *hs, const struct host_mark *of)
{
	const struct host *h;
	/* Ours has been started, and is soon there. */
	int best = hs->pid != 0 && !any_local(hs) ? 3 : 0;

	TAILQ_FOREACH (h, &hs->list, entry)
		if (is_sound(h) && worth(h, of) > best)
			best = worth(h, of);
	return pick(hs, of, best);
}
