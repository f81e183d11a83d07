#include "common/compat.h"

#include "orchestrator/run/wanted.h"

#define EVERY_MS 1000

unsigned
wanted_slots(const struct run *r)
{
	struct hosts_figures f = { 0 };
	unsigned n = r->phase == PHASE_END ? 0 : sched_ready(r);

	/* Slots that are there get theirs a few at a time. */
	if (n > 0 && r->hosts != NULL)
		hosts_figures(r->hosts, &f);
	return n > f.soon ? n - (unsigned)f.soon : 0;
}

static void
on_time(void *ctx)
{
	struct run *r = ctx;
	struct hosts_figures f;
	unsigned wanted = wanted_slots(r);

	hosts_figures(r->hosts, &f);
	if (wanted == r->wanted && f.slots == r->slots)
		return;
	r->wanted = wanted;
	r->slots = f.slots;
	run_event(r, "wanted_slots",
	    json_pack("{s:i, s:I, s:I}", "wanted", (int)wanted, "slots",
		(json_int_t)f.slots, "busy", (json_int_t)f.busy));
}

void
wanted_begin(struct run *r)
{
	(void)loop_timer_add(r->loop, EVERY_MS, EVERY_MS, on_time, r);
}
