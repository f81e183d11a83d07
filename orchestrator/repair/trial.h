/*
 * trial.h - candidates as try_edits calls, and what came of them.
 */
#ifndef REPAIR_TRIAL_H
#define REPAIR_TRIAL_H

#include "orchestrator/repair/ladder.h"
#include "orchestrator/repair/queue.h"

#define TRIAL_MAX 40
#define RESULT_MAX (4 * 1024 * 1024) /* the text of an answer */

/* Arguments of a call for n candidates; *n is lowered when they are too many
 * bytes. check: what they must pass; stop: when one does. */
json_t *trial_args(const struct queue *q, const uint32_t *cand, size_t *n,
    const struct step *check, bool stop);
/* The seconds that all of them together may take, at least 1; UINT64_MAX: no
 * limit. */
void trial_within(json_t *args, uint64_t s);
/* Arguments of edit_file for a candidate; back: to undo it. */
json_t *trial_edit(const struct queue *q, size_t cand, bool back);
/* The candidate that an object with path, line, old, new means; its changes
 * may stand in an array "changes". back: old and new swapped. */
size_t trial_find(const struct queue *q, const json_t *edit, bool back);
/* What makes the tests pass, for a person: the fix first, then others of which
 * one may be what was meant. */
json_t *trial_passed(const struct queue *q, size_t fix);
/* How many candidates are tried before the model gives up, when no time limit
 * makes it: as many as some minutes allow, but never so few that the first wave
 * is not done. */
size_t trial_most(const struct facts *f);
/* How many candidates to deal in one call, when one takes ms. calls, errors:
 * how many there were before. */
size_t trial_size(
    const struct facts *f, uint64_t ms, size_t calls, size_t errors);

struct trial_result {
	uint32_t
	    cand[TRIAL_MAX]; /* QUEUE_NONE never: unknown ones are left out */
	bool tried[TRIAL_MAX], passed[TRIAL_MAX];
	bool late[TRIAL_MAX]; /* timed out */
	size_t n;
};
/* args and the text of the tool's answer. An error answer: nothing tried. */
void trial_read(const struct queue *q, const json_t *args, const char *text,
    struct trial_result *ret);

#endif
