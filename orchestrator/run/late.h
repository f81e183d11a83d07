/*
 * late.h - hypotheses that the built-in model left for want of time, or since
 * their edits' trials timed out.
 *
 * It ends by itself before --max-time does, with what it ruled out. Such a run
 * ends as one that a budget ended, and is resumed as such: what was left is
 * begun anew.
 */
#ifndef ORCHESTRATOR_RUN_LATE_H
#define ORCHESTRATOR_RUN_LATE_H

#include "orchestrator/run/state.h"

/* Did the time end it? A pass before a paid model is no such thing. */
bool late_is(const struct subtask *t);
/* How many edits timed out, and of how many, where that is why a hypothesis
 * was neither refuted nor led to a fix. False: nowhere. */
bool late_edits(const struct run *r, size_t *ret_n, size_t *ret_of);
/* Is a hypothesis left like that, with no later attempt? */
bool late_any(const struct run *r);

#endif
