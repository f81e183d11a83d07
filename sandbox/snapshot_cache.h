/*
 * snapshot_cache.h - which snapshots of a store may go.
 *
 * Who works on a snapshot holds it: a shared lock (flock) on its directory.
 * snapshot_sweep() takes the exclusive one, so that it never removes what a
 * process of this machine works on, whichever program that is.
 */
#ifndef SANDBOX_SNAPSHOT_CACHE_H
#define SANDBOX_SNAPSHOT_CACHE_H

#include "common/err.h"

/* Hold it until the descriptor is closed, and count it as used now.
 * ERR_NOTFOUND when it is not there. Not for threads that share the
 * descriptor with a child: the lock lives as long as any copy. */
int snapshot_hold(
    const char *store, const char *id, int *ret_fd, struct err *e);

/* While the store is larger than max bytes, remove whole snapshots that nobody
 * holds, the one that was used longest ago first. What several snapshots share
 * (hard links) counts once. ret_bytes, may be NULL: its size afterwards, which
 * is over max when what is left is held. Walks every file: not for a loop. */
int snapshot_sweep(
    const char *store, uint64_t max, uint64_t *ret_bytes, struct err *e);

#endif
