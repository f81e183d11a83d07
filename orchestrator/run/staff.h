/* staff.h - the hosts of a run, from its start to its end. */
#ifndef ORCHESTRATOR_RUN_STAFF_H
#define ORCHESTRATOR_RUN_STAFF_H

#include "orchestrator/run/state.h"

/* Lets hosts work at the run until it is over. cache: wall_cache(). An error
 * where they can't be had. */
int staff_run(struct run *r, const char *cache, struct err *e);

#endif
