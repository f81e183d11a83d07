/*
 * snapshot.h - a private copy of a tree as it is now.
 *
 * Everything goes in: uncommitted, untracked and ignored files; sockets, fifos
 * and devices do not, nor do credential files that git does not track (.env not
 * even then; the list is in snapshot_scan.c). Every ".git" below the tree is
 * left out; at the top a private one is made: the base commit alone, shallow,
 * its index refreshed, no remotes, hooks, credentials or other history; the
 * user's configuration of the repository is not copied. Files keep their mode
 * (without setuid, setgid) and mtime; the owner is stage_uid().
 *
 * Layout of the store, below DIR (path_cache_dir()/snapshots):
 *	ID/           0700: who may read the original is decided further up, too
 *	ID/tree/      the copy; never written again
 *	ID/manifest   an object (version, id, made_ns, git, boot), then one JSON
 *	              array a line: path, type, mode, size, mtime_ns, ctime_ns,
 *	              inode, hash or link target
 *	by-path/HASH  the id of the last snapshot of the tree with this path
 *	by-path/HASH.m   as ID/manifest, with this path's times and inodes
 *	tmp-PID-RANDOM   one that is being made; swept when its lock is free
 *
 * ID is a hash of the content (paths, modes, hashes, the commit; not times),
 * 32 hex digits. A new snapshot links the files that did not change (size,
 * mtime, ctime, inode) from the last one of the same path and copies the rest
 * (reflink where it can). A file that changes while it is read is read again,
 * thrice at most; one whose times were younger than two seconds is read again
 * by the next snapshot.
 *
 * Left out and named in skipped: what can't be read, credentials, special
 * files, paths over PATH_MAX, file systems of the kernel (/proc). Left out
 * silently: the store, foray's state and cache directories.
 */
#ifndef SANDBOX_SNAPSHOT_H
#define SANDBOX_SNAPSHOT_H

#include "common/err.h"
#include "common/strv.h"

struct snapshot {
	char *id;
	char *tree;          /* absolute path of the copy */
	char *root;          /* absolute path of the original */
	char *commit;        /* base commit in hex; NULL: none or no git; a
				repository that can't be used is in skipped */
	struct strv files;   /* regular files and links, relative, sorted */
	struct strv skipped; /* "path: why", for a person; at most 100 */
	uint64_t bytes;      /* of all regular files */
	bool reused;         /* this id was there already */
};

struct snapshot_opts {
	const char *store; /* directory; made when missing */
	/* Called now and then with the files and bytes taken so far, 0 bytes
	 * while the tree is only looked at; may be NULL. A nonzero return ends
	 * it with -EINTR. */
	int (*progress)(uint64_t files, uint64_t bytes, void *ctx);
	void *ctx;
	/* Absolute paths that are left out with all that is below them; what
	 * is committed can still be read in the history. May be NULL. */
	const struct strv *hide;
};

/* root: the top of the tree (for git: of the work tree). Never writes below
 * root, never runs anything that the repository configures. A half-made
 * snapshot is removed. -ENOSPC keeps its number, and the text says where and
 * how much. */
int snapshot_create(const char *root, const struct snapshot_opts *o,
    struct snapshot *ret, struct err *e);
/* One that was made before, by its id; ERR_NOTFOUND when it is not there any
 * more, or not whole. root as at its making. */
int snapshot_open(const char *root, const char *store, const char *id,
    struct snapshot *ret, struct err *e);
void snapshot_clear(struct snapshot *s);
/* "a: why; b: why; and 3 more": what is skipped, for a person, the first few;
 * NULL when nothing is. Yours. */
char *snapshot_left_out(const struct snapshot *s);

/* Its files without those that git ignores (build outputs); all of them when
 * there is no commit. */
int snapshot_unignored(
    const struct snapshot *s, struct strv *ret, struct err *e);

/* The top of the git work tree that dir lies in, NULL when there is none; both
 * absolute and resolved. A bare repository is an error. */
int snapshot_toplevel(const char *dir, char **ret, struct err *e);

/* The directory outside root that a linked worktree's or a submodule's
 * repository is in (the whole common one, to be shown read-only); NULL when
 * there is none, or when it does not point back at root. */
char *snapshot_outside(const char *root);

#endif
