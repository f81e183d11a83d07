/*
 * walk.h - through a tree that somebody else may be changing.
 *
 * Everything is reached from a descriptor of the root, one component at a
 * time, without following a link; few descriptors are open, whatever the depth.
 *
 *	cursor_init(&c, rootfd);
 *	fd = cursor_dir(&c, "a/b", 3);     borrowed until the next call
 *	fd = cursor_parent(&c, "a/b/f", &name);
 *	cursor_clear(&c);
 */
#ifndef SANDBOX_WALK_H
#define SANDBOX_WALK_H

#include <sys/stat.h>

#include "common/err.h"

#define CURSOR_KEEP 16

struct cursor {
	int root;  /* borrowed */
	bool make; /* missing directories are made, mode 0700 */
	char *path;
	size_t len, size; /* of path: the directory that is open */
	struct {
		int fd;
		size_t end;
	} lv[CURSOR_KEEP]; /* the first levels of path */
	size_t n;
	int tip; /* path itself where it is deeper than lv; else -1 */
};

void cursor_init(struct cursor *c, int rootfd);
void cursor_clear(struct cursor *c);
/* An O_PATH descriptor of a directory, "" the root; or -errno. */
int cursor_dir(struct cursor *c, const char *dir, size_t len);
/* The directory that path lies in; *ret_name points into path. */
int cursor_parent(struct cursor *c, const char *path, const char **ret_name);

/* PATH_MAX. What has a longer path is left out: the error callback gets
 * ENAMETOOLONG. Bounds what a chain of directories can cost. */
#define WALK_PATH_MAX 4095

struct walk_ent {
	const char *path; /* below the root */
	const char *name; /* its last component */
	int dirfd;        /* the directory that it is in */
	const struct stat *st;
};

struct walk_ops {
	/* 0: go on, into it when it is a directory. WALK_SKIP: not into it.
	 * Negative ends the walk and is returned. A directory comes before
	 * what is in it; the names of one directory are sorted by bytes. */
	int (*entry)(const struct walk_ent *w, void *ctx);
	/* path can't be read (error: an errno); 0 goes on. May be NULL. What
	 * vanished meanwhile is not reported. */
	int (*error)(const char *path, int error, void *ctx);
};
#define WALK_SKIP 1

/* 0, what a callback returned, or -errno when the root can't be read. */
int walk_tree(int rootfd, const struct walk_ops *ops, void *ctx);

/* The order in which walk_tree gives paths. */
int walk_cmp(const char *a, const char *b);

#endif
