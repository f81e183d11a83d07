/*
 * review.h - a second model's look at a verified patch, when the settings say
 * {"review": true} and the model is paid for: does it find something that the
 * tests don't show? An objection sends the hypothesis back with its reason; no
 * objection, or a reviewer that comes to nothing, lets the patch stand, since
 * the tests are the evidence.
 */
#ifndef ORCHESTRATOR_RUN_REVIEW_H
#define ORCHESTRATOR_RUN_REVIEW_H

#include "orchestrator/run/state.h"

bool review_wanted(const struct run *r, const struct subtask *t);
/* v: a verification that holds. */
void review_begin(struct run *r, struct subtask *v);
void review_after(struct run *r, struct subtask *t);
/* The verification that "review-H3" is about; NULL: not there. */
struct subtask *review_of(const struct run *r, const char *label);
void review_role(const struct subtask *t, struct buf *b);

#endif
