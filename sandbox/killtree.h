/*
 * killtree.h - end a tree of processes where no pid namespace holds it.
 *
 * The one who waits has to be a subreaper (PR_SET_CHILD_SUBREAPER): whatever
 * forks, double-forks or calls setsid stays below it. All that is found there
 * is stopped first, so that nothing forks away between a look and a blow, and
 * looked for again until nothing new comes.
 *
 * Monitors below (container.c, launch.c) are let be for a while: each ends by
 * itself when nothing is below it any more, and were the one who does all this
 * killed in the middle of it, they are the ones who can still end their trees.
 * They are told by the signals that they block. A program that looks like one
 * gains SOFT_MS.
 */
#ifndef SANDBOX_KILLTREE_H
#define SANDBOX_KILLTREE_H

#include "common/compat.h"

#include <signal.h>
#include <sys/types.h>

/* SIGKILL to everything below the calling process, but not to itself, and reap
 * it. True when nothing is left; false after limit_ms. The caller's children
 * are all reaped: keep no other children then, or pass reap false and reap
 * them yourself (what is dead counts as gone). Needs /proc. */
bool killtree(bool reap, uint64_t limit_ms);

/* The signals that a monitor blocks and waits for. */
void killtree_signals(sigset_t *ret);

/* How many threads run as uid now: what RLIMIT_NPROC counts. */
uint64_t killtree_threads(uid_t uid);

#endif
