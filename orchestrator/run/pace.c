/* pace.c - see pace.h. */
#include "common/compat.h"

#include "orchestrator/run/pace.h"

#define LEAST_MS 1000
#define LEAST_DONE 5

void
pace_add(struct pace *p, uint64_t now_ms, uint64_t more)
{
	size_t last = (p->n - 1) % PACE_RING;

	if (p->n == 0) { /* they began about then */
		p->at[0].ms = now_ms;
		p->at[0].done = 0;
		p->n = 1;
		p->done = more;
		return;
	}
	p->done += more;
	if (now_ms - p->at[last].ms < PACE_STEP_MS)
		return;
	p->at[p->n % PACE_RING].ms = now_ms;
	p->at[p->n % PACE_RING].done = p->done;
	p->n++;
}

double
pace_rate(const struct pace *p, uint64_t now_ms)
{
	size_t first = p->n > PACE_RING ? p->n % PACE_RING : 0;
	uint64_t ms, done;

	if (p->n == 0)
		return 0;
	ms = now_ms - p->at[first].ms;
	done = p->done - p->at[first].done;
	if (now_ms < p->at[first].ms || ms < LEAST_MS || done < LEAST_DONE)
		return 0;
	return (double)done * 1000.0 / (double)ms;
}

void
pace_fields(struct pace *p, uint64_t now_ms, uint64_t tried, uint64_t total,
    json_t *fields)
{
	double rate = pace_rate(p, now_ms);

	if (total == 0)
		tried = p->done;
	else if (tried > total)
		tried = total;
	/* Batches come to an end before they are counted: never backwards. */
	if (tried > p->shown)
		p->shown = tried;
	tried = p->shown;
	json_object_set_new(fields, "tried", json_integer((json_int_t)tried));
	if (total > 0)
		json_object_set_new(
		    fields, "candidates", json_integer((json_int_t)total));
	if (rate <= 0)
		return;
	json_object_set_new(
	    fields, "rate", json_real((double)(long)(rate * 10 + 0.5) / 10.0));
	if (total > 0 && tried <= total)
		json_object_set_new(fields, "left_s",
		    json_integer(
			(json_int_t)((double)(total - tried) / rate + 0.99)));
}
