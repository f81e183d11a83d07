/*
 * restore.h - protected files, where they could not be made read-only.
 *
 * A command can change them then, but no later command sees that: before each
 * one every protected file that is not as it was is put back. (A patch never
 * holds such a change, and a verification has a fresh tree.)
 */
#ifndef WORKER_AGENT_RESTORE_H
#define WORKER_AGENT_RESTORE_H

#include "worker/agent/agent.h"

struct restore;

/* What a->fs guards now, and .git/config. What differs from the base is kept in
 * memory. a must outlive it. */
struct restore *restore_create(const struct agent *a);
/* NULL is allowed, in both. */
void restore_all(const struct restore *r);
void restore_free(struct restore *r);

#endif
