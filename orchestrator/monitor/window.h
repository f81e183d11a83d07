/*
 * window.h - how far one rule has come with one worker, or with a run.
 *
 *	struct window *w = window_create(rule);
 *	if (window_take(w, &seen))      true: all steps have been seen
 *		...
 *	window_free(w);
 *
 * Of each step the last `count` acts are kept, no more, so that memory and time
 * do not grow with what is fed in. After a hit it begins anew.
 */
#ifndef ORCHESTRATOR_MONITOR_WINDOW_H
#define ORCHESTRATOR_MONITOR_WINDOW_H

#include "orchestrator/monitor/rules.h"

struct window;

struct seen {
	unsigned steps; /* bit i: it fits step i */
	uint64_t t_ms;  /* never goes back */
	uint64_t n;     /* of the act, in its worker or in the run */
	unsigned weight;
	uint64_t subject, worker; /* hashes, for "distinct" */
};

/* The rule must outlive it. */
struct window *window_create(const struct monitor_rule *rule);
void window_free(struct window *w);
bool window_take(struct window *w, const struct seen *s);
/* How much it holds, to choose which of many makes room: marks, then time. */
size_t window_held(const struct window *w);
uint64_t window_last_ms(const struct window *w);

#endif
