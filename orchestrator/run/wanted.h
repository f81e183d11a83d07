/*
 * wanted.h - what the run could use now beyond the slots that it has: subtasks
 * that could begin at once, as -n and the phase allow, and for which no host
 * has a place. An autoscaler reads the event or the gauge.
 */
#ifndef ORCHESTRATOR_RUN_WANTED_H
#define ORCHESTRATOR_RUN_WANTED_H

#include "orchestrator/run/state.h"

unsigned wanted_slots(const struct run *r);
/* From now on a wanted_slots event follows each change, and that of `slots`
 * that there are, at most one a second. */
void wanted_begin(struct run *r);

#endif
