/* changeset.h - which of the changed files belong in the patch. */
#ifndef WORKER_AGENT_CHANGESET_H
#define WORKER_AGENT_CHANGESET_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

struct agent;

/* The patch of all that was meant, into ret (appended; empty: nothing).
 * ret_notes gets a sentence for each protected file that was changed. */
int changeset_patch(
    struct agent *a, struct strv *ret_notes, struct buf *ret, struct err *e);

/* A cache or another by-product, by its name. */
bool changeset_is_litter(const char *path, bool is_new);

#endif
