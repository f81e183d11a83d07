/*
 * meter.h - what a run tells of itself in numbers: --metrics.
 *
 *	meter_start(r, &e);     listens; says where
 *	meter_event(r, ...)     each event goes by here: what they tell is
 *counted meter_stop(r);          at the end of the run
 *
 * What others count is read when a scrape asks for it and not counted again.
 * Without --metrics all of these do nothing.
 */
#ifndef ORCHESTRATOR_RUN_METER_H
#define ORCHESTRATOR_RUN_METER_H

#include "orchestrator/run/state.h"

#define METER_FILE "metrics.prom" /* in the run's directory, at its end */

int meter_start(struct run *r, struct err *e);
void meter_event(struct run *r, const char *name, const json_t *ev);
void meter_note(struct run *r, const struct gateway_note *n);
/* A call failed for good. */
void meter_fault(struct run *r, const struct worker *w);
/* Writes METER_FILE and listens no more. */
void meter_stop(struct run *r);

#endif
