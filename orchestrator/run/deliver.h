/* deliver.h - the end of a run's work: the verified patch to its place. */
#ifndef ORCHESTRATOR_RUN_DELIVER_H
#define ORCHESTRATOR_RUN_DELIVER_H

#include "orchestrator/run/state.h"

/* Does a verification say that its patch is a fix, and could it be applied? A
 * host may say anything; then the verdict and its reason are put right. */
bool deliver_holds(struct subtask *t);
/* The winner's patch to its file, and on the tree or a branch when asked,
 * unless a Stop hook refuses: then the run is unfixed. *ret_path: the file,
 * yours; NULL: there is none. What goes wrong is in r->exit, status and why. */
void deliver_patch(struct run *r, char **ret_path);
/* There is no patch: the Stop hooks are told. */
void deliver_none(struct run *r);

#endif
