/*
 * reproduce.h - a TASK and green tests: a worker writes a test that shows the
 * bug (reproducer.h), another confirms it, and then the run goes on as if the
 * person had given that test first of all.
 *
 * Subtasks are reproduce-1, confirm-1, reproduce-2, ...; a refused one is
 * followed by another that is told why, MAX_ATTEMPTS in all. What holds follows
 * from the summaries alone, so a run that is loaded again comes to the same.
 */
#ifndef ORCHESTRATOR_RUN_REPRODUCE_H
#define ORCHESTRATOR_RUN_REPRODUCE_H

#include "orchestrator/run/state.h"

/* Green tests, but a task and a model that can write a test? */
bool reproduce_wanted(const struct run *r);
void reproduce_begin(struct run *r);

/* What a summary says of itself: reproduce, confirm and, once there is a
 * reproducer, explore (its patch loses what touches the reproducer). t has
 * verdict, reason, findings and patch already. */
void reproduce_take(
    struct run *r, struct subtask *t, const struct msg_summary *m);
/* And what follows. */
void reproduce_after(struct run *r, struct subtask *t);
void reproduce_confirm_after(struct run *r, struct subtask *t);

/* The reproduce subtask that a confirm with this label is of; NULL. */
struct subtask *reproduce_of(const struct run *r, const char *label);

/* The parts of TASK that are ours. *own, empty before, keeps what m borrows. */
void reproduce_task(const struct run *r, const struct subtask *t,
    struct strv *own, struct msg_task *m);
/* Prompts: of the worker that writes it, and what all later ones hear. */
void reproduce_role(const struct run *r, struct buf *b);
void reproduce_note(const struct run *r, struct buf *b);

/* The patch for the person: the fix, and the reproducer where there is one. */
void reproduce_final(
    const struct run *r, const struct subtask *winner, struct buf *ret);

#endif
