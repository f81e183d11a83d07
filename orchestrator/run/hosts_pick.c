/*
 * hosts_pick.c - which host gets a subtask, and which get none for a while.
 *
 * A host on which attempts fail is worse than any other for a minute. One on
 * which three in a row have failed is set aside: what failed there says more of
 * it than of the work. It is tried again after a minute, then two, and so on.
 * One of another machine that is silent gets nothing either: what it got would
 * be lost with it, and it may be one of many that never say a word.
 */
#include "common/compat.h"

#include <string.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/run/hosts_priv.h"

#define POOR_MS 60000
#define FAULTS_MAX 3
#define ASIDE_MS ((uint64_t)60000)
#define ASIDE_MAX_MS ((uint64_t)600000)
#define FAULTY_MAX 1000
#define SILENT_MS 3000 /* of a heartbeat a second */

static bool
is_poor(const struct host *h)
{
	return h->poor_ms > loop_now_ms();
}

bool
hosts_is_silent(const struct host *h)
{
	return h->is_remote &&
	    (!h->spoken || loop_now_ms() > h->seen_ms + SILENT_MS);
}

/* One that is cut off, or falls silent, comes back soon, or is lost. */
static bool
is_sound(const struct host *h)
{
	return !h->place.draining && host_fits(h) && !is_poor(h) &&
	    !host_is_aside(h) && (h->spoken || !h->is_remote);
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

/* --- hosts on which all fails -------------------------------------------- */

bool
host_is_aside(const struct host *h)
{
	return h->aside_ms > loop_now_ms();
}

static void
set_aside(struct host *h, const char *why)
{
	struct hosts *hs = h->all;
	uint64_t ms = ASIDE_MS << h->asides;

	if (ms < ASIDE_MAX_MS)
		h->asides++;
	else
		ms = ASIDE_MAX_MS;
	h->aside_ms = loop_now_ms() + ms;
	/* A new connection makes no new host of it. */
	if (!strv_has(&hs->faulty, h->instance) && hs->faulty.n < FAULTY_MAX)
		strv_add(&hs->faulty, h->instance);
	hs->ops->aside(h, ms, why, hs->ctx);
}

bool
hosts_fault(struct host *h, bool sure, const char *why)
{
	h->poor_ms = loop_now_ms() + POOR_MS;
	if (h->is_remote) {
		h->faults = sure ? FAULTS_MAX : h->faults + 1;
		if (h->faults >= FAULTS_MAX && !host_is_aside(h))
			set_aside(h, why);
	}
	return any_sound(h->all, h);
}

void
hosts_good(struct host *h)
{
	h->faults = h->fulls = h->asides = 0;
	h->aside_ms = 0;
}

void
hosts_was_faulty(struct host *h)
{
	if (h->is_remote && strv_has(&h->all->faulty, h->instance))
		h->faults = FAULTS_MAX - 1;
}

bool
hosts_aside_over(struct host *h)
{
	if (h->aside_ms == 0 || host_is_aside(h))
		return false;
	h->aside_ms = 0;
	log_info("host %s gets work again, to see", h->name);
	return true;
}

/* --- who gets it --------------------------------------------------------- */

void
host_mark(const struct host *h, struct host_mark *ret)
{
	memset(ret, 0, sizeof *ret);
	if (!h->is_remote)
		return;
	memcpy(ret->key, h->key, sizeof ret->key);
	memcpy(ret->instance, h->instance, sizeof ret->instance);
	memcpy(ret->name, h->name,
	    text_cut(h->name, strlen(h->name), sizeof ret->name - 1));
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
		if ((!h->is_remote || h->remote != NULL) && !host_is_aside(h) &&
		    !hosts_is_silent(h) && (!sound || !is_poor(h)) &&
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
