/*
 * topology.h - which subtasks a run is made of, and in what order.
 *
 *	single      one worker with the whole task
 *	hypotheses  a planner, then one worker a hypothesis
 *	escalate    one worker first, with a quarter of the budget; when it
 *	            finds nothing, hypotheses that know what it ruled out
 *
 * Before a model that is paid for the built-in one has its pass (pass.h).
 *
 * The default is hypotheses with the built-in model, whose attempts cost
 * nothing, and escalate with one that is paid for.
 */
#ifndef ORCHESTRATOR_RUN_TOPOLOGY_H
#define ORCHESTRATOR_RUN_TOPOLOGY_H

#include "orchestrator/run/state.h"

enum topology {
	TOPOLOGY_SINGLE,
	TOPOLOGY_HYPOTHESES,
	TOPOLOGY_ESCALATE
};

/* ERR_USAGE that lists the names. */
int topology_check(const char *name, struct err *e);
const char *topology_name(enum topology t);

/* The baseline is done: the first subtasks. */
void topology_begin(struct run *r);
/* Has it begun, or does the pass before it (pass.h) go on? */
bool topology_is_begun(const struct run *r);
/* A plan's summary: one explore for each hypothesis that is a new one. */
void topology_planned(struct run *r, const struct subtask *plan);
/* Nothing waits or runs: true when that was not all. */
bool topology_more(struct run *r);
/* Of "H3: sentence", or of a sentence alone, the sentence. */
const char *topology_sentence(const char *s);

#endif
