#include "common/compat.h"

#include <string.h>

#include "orchestrator/metrics/figures.h"

const char *const names_host_state[] = { "ready", "draining", NULL };
const char *const names_worker[] = { "starting", "working", "held", "done",
	NULL };
const char *const names_subtask[] = { "waiting", "running", "done", "failed",
	NULL };
const char *const names_verdict[] = { "fixed", "refuted", "stuck", "budget",
	"error", "done", "other", NULL };
const char *const names_exit[] = { "exited", "killed", "timeout", "cancelled",
	"sandbox", "start", "protocol", "memory", "disk", "draining",
	"host lost", "stopped", "other", NULL };
const char *const names_tool[] = { "ok", "error", "denied", "other", NULL };
const char *const names_call[] = { "ok", "recorded", "failed", NULL };
const char *const names_token[] = { "input", "cache_read", "cache_write",
	"output", "reasoning", NULL };
const char *const names_class[] = { "2xx", "4xx", "429", "5xx", "none", NULL };

const uint64_t bounds_call[HISTOGRAM_BUCKETS] = { 10, 25, 50, 100, 250, 500,
	1000, 2500, 5000, 10000, 20000, 40000, 80000, 160000, 320000 };
const uint64_t bounds_added[HISTOGRAM_BUCKETS] = { 1, 2, 5, 10, 20, 50, 100,
	200, 500, 1000, 2000, 5000, 15000, 60000, 300000 };

size_t
figures_place(const char *const *names, const char *name)
{
	size_t i;

	for (i = 0; names[i + 1] != NULL; i++)
		if (name != NULL && strcmp(names[i], name) == 0)
			break;
	return i;
}

void
histogram_add(
    struct histogram *h, const uint64_t bounds[HISTOGRAM_BUCKETS], uint64_t ms)
{
	size_t i = 0;

	while (i < HISTOGRAM_BUCKETS && ms > bounds[i])
		i++;
	h->at[i]++;
	h->n++;
	h->sum_ms += ms;
}
