/*
 * pace.h - how many edits were tried, how fast, and how long the rest takes.
 *
 * What is not known is not said: there is no rate before a few were tried, and
 * no rest where nobody knows how many there are (a paid model makes them up as
 * it goes). The rest is an upper bound: a fix may be found before.
 */
#ifndef ORCHESTRATOR_RUN_PACE_H
#define ORCHESTRATOR_RUN_PACE_H

#include "common/json.h"

#define PACE_RING 32
#define PACE_STEP_MS 500 /* between two samples: the ring is 16 s */

struct pace {
	uint64_t done; /* by all workers; a second try counts again */
	struct {
		uint64_t ms, done;
	} at[PACE_RING];
	size_t n;
	uint64_t shown; /* the most that was said */
};

/* More were done at that time (loop_now_ms()). */
void pace_add(struct pace *p, uint64_t now_ms, uint64_t more);
/* A second, over the last samples; 0: not known. */
double pace_rate(const struct pace *p, uint64_t now_ms);
/* Adds tried and, where they are known, candidates, rate and left_s to fields.
 * tried, total: edits that are done with, of how many; total 0: not known,
 * tried is p's own count then. */
void pace_fields(struct pace *p, uint64_t now_ms, uint64_t tried,
    uint64_t total, json_t *fields);

#endif
