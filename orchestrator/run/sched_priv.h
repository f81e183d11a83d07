/* sched_priv.h - what sched*.c share; for nobody else. */
#ifndef ORCHESTRATOR_RUN_SCHED_PRIV_H
#define ORCHESTRATOR_RUN_SCHED_PRIV_H

#include "orchestrator/run/state.h"

/* Its state, to the store. */
void sched_save(struct run *r, const struct subtask *t);
/* The worker is gone: its subtask waits again, or has failed. w is freed.
 * detail, for a person, may be NULL. */
void sched_drop(
    struct run *r, struct worker *w, const char *reason, const char *detail);
/* Frees w, and nothing else. */
void sched_forget(struct run *r, struct worker *w);

#endif
