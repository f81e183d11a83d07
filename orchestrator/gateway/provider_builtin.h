/*
 * provider_builtin.h - the built-in model: it plays the model's part over
 * ordinary messages and tools, costs nothing and never blocks.
 *
 * Role plan: lists and reads the sources, makes candidate edits, finishes with
 * hypotheses "H1: ...". Role explore: tries the candidates of its hypothesis
 * with try_edits, makes the edit that passes, finishes; all workers are served
 * from one queue. The facts stand in a fenced block of JSON at the end of the
 * first user message (orchestrator/repair/dialog.h).
 *
 * What can be is derived from the conversation, so a run that starts again
 * carries on where the conversations stand: an explorer whose builtin has no
 * queue yet reads the sources itself, and results that are in a conversation
 * count as tried. Asking the same again gives the same answer again.
 */
#ifndef ORCHESTRATOR_GATEWAY_PROVIDER_BUILTIN_H
#define ORCHESTRATOR_GATEWAY_PROVIDER_BUILTIN_H

#include "common/err.h"
#include "common/json.h"

/* The reason of an explorer that ended for want of time (late.h). */
#define BUILTIN_OVER "The time for it is over."
/* How the reason of an explorer begins most of whose trials timed out, with
 * how many of how many (late.h). */
#define BUILTIN_TIMED_OUT "%zu of %zu edits timed out"

struct builtin;

/* One a run. Another seed tries candidates of equal score in another order. */
struct builtin *builtin_create(uint64_t seed);
void builtin_free(struct builtin *b);
/* From then on (loop_now_ms(); 0: never) nothing new is planned or tried: an
 * explorer that has not found anything ends with what it ruled out. Trials are
 * cut so that they end by then. */
void builtin_until(struct builtin *b, uint64_t at_ms);

/* conv: JSON array of messages. ret_message: a new assistant message. 0, or
 * ERR_MODEL when the conversation is not one it can play in. */
int builtin_reply(struct builtin *b, const char *worker, const json_t *conv,
    json_t **ret_message, struct err *e);
/* How many candidates there are, and how many were tried; false: the sources
 * were not read yet. */
bool builtin_outlook(
    const struct builtin *b, uint64_t *ret_total, uint64_t *ret_done);
/* What the worker was dealt and did not report goes back to the queue. */
void builtin_worker_gone(struct builtin *b, const char *worker);

#endif
