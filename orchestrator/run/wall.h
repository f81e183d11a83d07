/*
 * wall.h - which sandbox a run has: tried before anything else is done, said
 * when it is the weaker one, and on record.
 */
#ifndef ORCHESTRATOR_RUN_WALL_H
#define ORCHESTRATOR_RUN_WALL_H

#include "orchestrator/run/state.h"

/* After audit_open(). ERR_SANDBOX with the remedy when the one that was asked
 * for can't be had here; no other takes its place. */
int wall_check(struct run *r, struct err *e);
/* Where snapshots and workspaces go. Yours. */
int wall_cache(const struct run *r, char **ret, struct err *e);

#endif
