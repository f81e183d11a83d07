/*
 * protected.h - the files that no worker may change, and what a person is told
 * of them.
 */
#ifndef ORCHESTRATOR_RUN_PROTECTED_H
#define ORCHESTRATOR_RUN_PROTECTED_H

#include "orchestrator/run/state.h"

/* Files as the work directory sees them; added. */
void protected_below(
    const struct strv *files, const char *workdir, struct strv *ret);

/* Fills r->guarded: the built-in list, what the test and check commands name or
 * run and --protect, without what --unprotect frees, which is r->freed. */
int protected_find(struct run *r, struct err *e);

/* No fix: the protected files that workers tried to change and that are so only
 * because the commands name or run them, so that the bug may be in them. An
 * array, yours; NULL: none. What workers say is checked against r->guarded. */
json_t *protected_wanted(const struct run *r);

/* A sentence for each freed file that a patch changes: added to ret. */
void protected_freed(
    const struct run *r, const char *patch, size_t len, struct strv *ret);

#endif
