/*
 * restore.h - protected files, where they could not be made read-only.
 *
 * A command can change them then, but no later command sees that: before each
 * one every protected file that is not as it was is put back. (A patch never
 * holds such a change; in a verification one is a refutation.)
 */
#ifndef WORKER_AGENT_RESTORE_H
#define WORKER_AGENT_RESTORE_H

#include "worker/agent/agent.h"

struct restore;

/* What a->fs guards now, and .git/config. What differs from the base is kept in
 * memory. a must outlive it. */
struct restore *restore_create(const struct agent *a);
/* NULL is allowed, in all of them. */
void restore_all(struct restore *r);
void restore_free(struct restore *r);
/* As created now: what a verification has put in place counts as right. */
void restore_renew(struct agent *a);
/* A file that a command has changed since then, put back or not; NULL: none.
 * Changed and changed back counts, too: the ctime tells. */
const char *restore_changed(const struct restore *r);

#endif
