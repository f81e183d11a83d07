/*
 * figures.h - what a run counts, as plain numbers; table.h says what each is
 * called and puts them into words. Counters of this process start at 0; those
 * that a resumed run goes on with (tokens, money) start where it stopped.
 */
#ifndef ORCHESTRATOR_METRICS_FIGURES_H
#define ORCHESTRATOR_METRICS_FIGURES_H

#include "common/compat.h"
#include "orchestrator/gateway/provider.h"

/* Each name has its place in an array of as many numbers; what has no name
 * counts at the last one, "other", so that no text of a peer makes a series. */
extern const char *const names_host_state[]; /* ready, draining */
extern const char *const names_worker[];     /* starting, working, held, ... */
extern const char *const names_subtask[];    /* waiting, running, ... */
extern const char *const names_verdict[];    /* of summaries */
extern const char *const names_exit[];       /* why a worker is gone */
extern const char *const names_tool[];       /* verdicts of tool calls */
extern const char *const names_call[];       /* ok, recorded, failed */
extern const char *const names_token[];      /* disjoint kinds */
extern const char *const names_class[];      /* enum provider_class */
#define FIGURES_NAMES 16                     /* at most so many of each */
/* The place of a name. */
size_t figures_place(const char *const *names, const char *name);

/* Upper bounds are in the table, in ms; one more counts all above. */
#define HISTOGRAM_BUCKETS 15
struct histogram {
	uint64_t at[HISTOGRAM_BUCKETS + 1];
	uint64_t n, sum_ms;
};
extern const uint64_t bounds_call[HISTOGRAM_BUCKETS];  /* of model calls */
extern const uint64_t bounds_added[HISTOGRAM_BUCKETS]; /* of our own part */
void histogram_add(
    struct histogram *h, const uint64_t bounds[HISTOGRAM_BUCKETS], uint64_t ms);

/* One of a run's models: the one that is paid for and the built-in one. */
struct model_figures {
	const char *provider, *model; /* borrowed; NULL: there is none */
	uint64_t calls[FIGURES_NAMES];
	struct provider_state state;
	struct histogram call, added;
};
#define FIGURES_MODELS 2

/* UINT64_MAX: not known, or no limit; it is left out. */
struct figures {
	const char *run; /* its name */
	uint64_t hosts[FIGURES_NAMES], slots, slots_busy, slots_wanted;
	uint64_t workers[FIGURES_NAMES], subtasks[FIGURES_NAMES];
	uint64_t attempts, summaries[FIGURES_NAMES], exits[FIGURES_NAMES];
	struct model_figures models[FIGURES_MODELS];
	uint64_t calls_waiting, tokens[FIGURES_NAMES], cost_micro;
	uint64_t left_calls, left_tokens, left_micro, left_ms;
	uint64_t tools[FIGURES_NAMES], tried, audit, bad;
	uint64_t store_bytes, busy_us;
	uint64_t cpu_us, resident, virtual_bytes, fds, max_fds, start_us;
};

#endif
