/*
 * reap.h - what workers leave behind: orphaned processes and workspaces.
 *
 * The host is pid 1 of its namespace, so every process whose parent dies
 * becomes its child and must be waited for. Children that somebody watches
 * with loop_child_add() are left to that watch: reap_know() them first.
 *
 * Removing a workspace can take seconds, so forked children do it, a few at
 * once.
 */
#ifndef WORKER_HOST_REAP_H
#define WORKER_HOST_REAP_H

#include "common/loop.h"

struct reaper;
struct workspace;

/* SIGCHLD is watched on the loop. */
struct reaper *reaper_create(struct loop *l);
void reaper_free(struct reaper *r);

void reap_know(struct reaper *r, pid_t pid);
/* After its watch has called: its number means nothing any more. */
void reap_done(struct reaper *r, pid_t pid);
/* Wait for all orphans that are dead. Now and then, since signals merge. */
void reap_orphans(struct reaper *r);

/* Takes what *w holds and zeroes it. */
void reap_workspace(struct reaper *r, struct workspace *w);
/* Remove what hosts that are no more left in this directory. */
void reap_leftovers(struct reaper *r, const char *parent);
/* Removals that run or wait. */
size_t reap_pending(const struct reaper *r);

/* No removal is begun any more: the whole scratch directory goes. */
void reap_stop(struct reaper *r);
/* At the end: remove a tree in a child that nobody watches. */
void reap_tree(const char *path);
/* At the end: wait for every child that is dead or dies within limit_ms. */
void reap_all(uint64_t limit_ms);

#endif
