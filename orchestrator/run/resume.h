/*
 * resume.h - a run that goes on, and one that is played again.
 *
 * What a run was asked for is kept as JSON in its store (resume_save). Going on
 * (`foray resume`) reads the store: what has a summary is done, the rest waits
 * for a new attempt, whose model replies come from the record as far as they
 * reach. Playing again (`foray replay`, -m replay:FILE) makes a new run with
 * the options and the snapshot of the old one whose replies all come from
 * there.
 */
#ifndef ORCHESTRATOR_RUN_RESUME_H
#define ORCHESTRATOR_RUN_RESUME_H

#include "orchestrator/run/state.h"

int resume_save(struct run *r, struct err *e);
/* Open what o.resume or o.replay names and take its options over those that the
 * command line leaves open. */
int resume_open(struct run *r, struct err *e);
/* The snapshot of the old run; 1: it is gone, a new one must have this id. */
int resume_snapshot(struct run *r, const char *store, struct err *e);
/* Same content? Else ERR_USAGE. */
int resume_check_snapshot(const struct run *r, struct err *e);
/* Its subtasks, what they have spent, the phase. */
int resume_load(struct run *r, struct err *e);
void resume_free(struct run *r);

#endif
