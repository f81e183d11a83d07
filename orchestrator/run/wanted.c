#include "common/compat.h"

#include "orchestrator/run/wanted.h"

#define EVERY_MS 1000

unsigned
wanted_slots(const struct run *r)
{
	return r->phase == PHASE_END ? 0 : sched_ready(r);
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
