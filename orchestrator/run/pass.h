/*
 * pass.h - the built-in model's pass: before a model that is paid for is asked
 * for anything, the built-in one tries its edits for a few seconds.
 *
 *	pass_create(r, settings, &e);   is there to be one?
 *	pass_start(r, &ops);            its gateway
 *	if (pass_begin(r)) ...          the baseline is done: it is under way
 *	...                             all its subtasks are done: the topology
 *	pass_note(r, &prompt);          what it ruled out, for the paid model
 *
 * It is made of ordinary subtasks that differ in who plays them (t->pass): the
 * plan "builtin-plan", explores "builtin-1" and on, one for each of the run's
 * workers but no more than processors, and their verifications. They have a
 * gateway and ledgers of their own, so what they do counts nowhere. A verified
 * fix ends the run; otherwise the topology begins when none is left.
 *
 * Time: the settings' "builtin_pass" (PASS_MS), a quarter of --max-time at
 * most, counted from its beginning in the run's own time, so that a run that is
 * resumed goes on with the rest of it. The built-in model ends its workers
 * itself; those that have not ended PASS_GRACE_MS later are cancelled. What was
 * found by then is still verified.
 */
#ifndef ORCHESTRATOR_RUN_PASS_H
#define ORCHESTRATOR_RUN_PASS_H

#include "orchestrator/run/state.h"

#define PASS_MS 10000
#define PASS_GRACE_MS 5000
#define PASS_TEST_MS 5000 /* slower tests: too few edits to be worth it */

/* settings: the person's; NULL in a replay, which has one when the recorded run
 * had. The model is known. ERR_SYNTAX, or ERR_USAGE for a --no-builtin that
 * leaves no model. */
int pass_create(struct run *r, const json_t *settings, struct err *e);
void pass_start(struct run *r, const struct gateway_ops *ops);
void pass_free(struct run *r);
/* NULL: there is none, or the run's own serves. */
struct gateway *pass_gateway(const struct run *r);

/* False: there is none, or it is not worth it, which is said. */
bool pass_begin(struct run *r);
/* Its plan is done. */
void pass_planned(struct run *r, const struct subtask *plan);
/* Does anything of it wait or run? Nothing is paid for meanwhile. */
bool pass_under_way(const struct run *r);
/* Is it worth while to begin another explore of it? */
bool pass_has_time(const struct run *r);
/* The subtasks of a run that goes on are loaded. topology: it was left behind.
 */
void pass_loaded(struct run *r, bool topology);

/* Does a subtask with this label belong to it? */
bool pass_is_label(const char *label);
/* Workers that it has at once. */
unsigned pass_workers(const struct run *r);
/* What the built-in model calls the hypothesis of one of its explores ("H1"),
 * in dst; NULL when it has none. */
const char *pass_hypothesis_id(const struct subtask *t, char *dst, size_t size);
/* The same for all workers and once it is over always the same; nothing when it
 * found out nothing. */
void pass_note(const struct run *r, struct buf *b);

#endif
