/*
 * late.h - hypotheses that the built-in model left for want of time.
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
/* Is a hypothesis left like that, with no later attempt? */
bool late_any(const struct run *r);

#endif
