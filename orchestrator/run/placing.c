#include "common/compat.h"

#include "orchestrator/run/placing.h"
#include "proto/label.h"

static uint64_t
memory_left(const struct placing *p, const struct placing_want *w)
{
	uint64_t taken;

	if (p->memory_mib == 0)
		return UINT64_MAX;
	if (__builtin_mul_overflow((uint64_t)p->busy, w->memory_mib, &taken) ||
	    taken > p->memory_mib)
		return 0;
	return p->memory_mib - taken;
}

bool
placing_fits(const struct placing *p, const struct placing_want *w)
{
	return w->labels == NULL || labels_in(w->labels, &p->labels);
}

static bool
is_at_it(const struct placing *p)
{
	return p->at_once > 0 && p->starting >= p->at_once;
}

unsigned
placing_soon(const struct placing *p)
{
	unsigned taken = p->busy + p->judging;

	return is_at_it(p) && !p->draining && !p->full && p->slots > taken
	    ? p->slots - taken
	    : 0;
}

static bool
can_take(const struct placing *p, const struct placing_want *w)
{
	unsigned slots = w->judges ? p->slots : p->slots - p->judging;

	return !p->draining && !p->full && p->busy < slots &&
	    (w->judges || !is_at_it(p)) && placing_fits(p, w) &&
	    (p->busy == 0 || memory_left(p, w) >= w->memory_mib);
}

bool
placing_better(const struct placing *p, const struct placing *best,
    const struct placing_want *w)
{
	unsigned mine = p->slots - p->busy, its;

	if (!can_take(p, w))
		return false;
	if (best == NULL)
		return true;
	if (p->has_snapshot != best->has_snapshot)
		return p->has_snapshot;
	its = best->slots - best->busy;
	if (mine != its)
		return mine > its;
	return memory_left(p, w) > memory_left(best, w);
}
