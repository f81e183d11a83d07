/*
 * workspace.h - a worker's scratch directory and the tree in it.
 *
 *	DIR/ws/{up,wk,m}  DIR/ws is the dir of struct overlay, so that a tmpfs
 *	                  on it hides nothing else; m is the tree
 *	DIR/m             the tree, with LAYOUT_COPY
 *	DIR/link          for the host: socket and worker.json
 *
 * DIR is made; it lies in a directory from workspace_scratch(). As root all of
 * it belongs to stage_uid().
 */
#ifndef SANDBOX_WORKSPACE_H
#define SANDBOX_WORKSPACE_H

#include "common/err.h"
#include "sandbox/overlay.h"
#include "sandbox/probe.h"

struct workspace {
	char *dir;
	enum layout layout;
	struct overlay overlay; /* unless LAYOUT_COPY */
	char *tree_src; /* "@merged" or the copy's path, for struct profile */
	char *up_src;   /* source of IN_UP, or NULL */
};

/* base: a snapshot's tree. For LAYOUT_COPY the whole tree is copied. After a
 * failure nothing is left of DIR. */
int workspace_create(const char *dir, const char *base, enum layout layout,
    struct workspace *ret, struct err *e);
/* Removes the directory too (work/work has mode 000; handled). */
void workspace_remove(struct workspace *w);

/* A directory of our own for all workers of this process: PARENT/PID-random
 * with a file "lock", locked through the descriptor, which stays open while we
 * live. PARENT is made when missing. workspace_sweep removes those whose owner
 * is gone. */
int workspace_scratch(
    const char *parent, char **ret_dir, int *ret_lock_fd, struct err *e);
void workspace_sweep(const char *parent);

#endif
