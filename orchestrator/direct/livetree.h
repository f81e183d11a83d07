/*
 * livetree.h - the person's own tree in a sandbox: which parts of it stay as
 * they are.
 *
 * Git runs programs that a repository's .git names, and the person will call
 * git in their tree later, outside. So each .git in it, those of nested
 * repositories and submodules too, is read-only; and since a directory that
 * holds such a mount could still be renamed and another put in its place, the
 * directories on the way to a nested one are pinned.
 */
#ifndef ORCHESTRATOR_DIRECT_LIVETREE_H
#define ORCHESTRATOR_DIRECT_LIVETREE_H

#include "common/err.h"
#include "common/strv.h"

struct livetree {
	char *dir;  /* as asked for: absolute, resolved */
	char *root; /* top of the work tree that dir lies in, else dir */
	struct strv guarded; /* nested .git, relative to root */
	struct strv pinned;  /* absolute, outer ones first */
	struct strv shown;   /* outside: where a worktree's repository is */
	char *foreign; /* for root: something that is not the tree's owner's,
			  absolute, if one was met; NULL */
};

/* ERR_USAGE: there is no such directory, or refuse_tree(). */
int livetree_find(const char *repo, struct livetree *ret, struct err *e);
/* Fills the lists: a walk over the whole tree, names only, but for directories
 * that will be hidden. ERR_LIMIT: more nested repositories than mounts can be
 * made for. */
int livetree_look(struct livetree *t, const struct strv *hidden, struct err *e);
/* Nothing on the way to this path, relative to the root, can be renamed. */
void livetree_pin(struct livetree *t, const char *rel);
void livetree_clear(struct livetree *t);

#endif
