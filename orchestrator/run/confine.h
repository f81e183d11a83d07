/* confine.h - the sandbox of a run's commands. */
#ifndef ORCHESTRATOR_RUN_CONFINE_H
#define ORCHESTRATOR_RUN_CONFINE_H

#include "orchestrator/run/state.h"

/* In the run's directory; hosts read it. */
#define RUN_PROFILE "profile.json"

/* Fills r->profile and the file. What is resumed or played again goes on in
 * the one that it began in. */
int confine_find(struct run *r, struct err *e);

#endif
