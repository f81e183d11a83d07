/*
 * treefs.h - files of the workspace by the names that a model gives.
 *
 * A name is relative to the working directory or absolute below the root (or,
 * for reading, below /tmp, which is where commands have theirs, or the name
 * that they have for it). It is opened
 * with openat2(2) beneath the root's descriptor, so that no symbolic link leads
 * out, also when a command swaps one in meanwhile. Writes go to a temporary
 * file beside the target, then rename; the mode stays, and the mtime moves on
 * by at least a second (Python's bytecode cache and make look at it).
 *
 * Refused for writing: a ".git" component, a protected file, a symbolic link.
 * Protected and .git are judged by the real path, links resolved.
 */
#ifndef WORKER_AGENT_TREEFS_H
#define WORKER_AGENT_TREEFS_H

#include <sys/stat.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

#define TREEFS_MAX_FILE ((size_t)16 << 20)

struct treefs {
	int root_fd;
	int tmp_fd; /* of the directory that commands see as /tmp, or -1 */
	char *tmp;  /* as they name it: "/tmp", or where it is */
	char *root;
	char *real_root;     /* as the kernel names it */
	char *prefix;        /* working directory below root, "" for root */
	struct strv guarded; /* sorted, below root */
	/* Guarded ones that were to be written; NULL: they are not kept. */
	struct strv *refused;
};

/* A resolved name; rel is below root or, with tmp set, below /tmp. */
struct treefs_name {
	char *rel; /* clean, "." for the top itself */
	bool tmp;
};

/* tmp: what commands see as /tmp; NULL or missing: none. tmp_name: how they
 * call it. */
int treefs_open(struct treefs *fs, const char *root, const char *workdir,
    const char *tmp, const char *tmp_name, struct err *e);
void treefs_close(struct treefs *fs);
/* Copies and sorts. */
void treefs_guard(struct treefs *fs, const char *const *v, size_t n);
bool treefs_is_guarded(const struct treefs *fs, const char *rel);

/* Lexical only: no file is looked at. ERR_DENIED when it lies outside. */
int treefs_name(const struct treefs *fs, const char *path,
    struct treefs_name *ret, struct err *e);
void treefs_name_clear(struct treefs_name *n);

/* Open for reading; a descriptor, or negative (-ENOENT is kept apart). flags:
 * O_DIRECTORY or 0. */
int treefs_fd(const struct treefs *fs, const struct treefs_name *n, int flags,
    struct err *e);
/* A whole regular file, at most TREEFS_MAX_FILE. st may be NULL. */
int treefs_read(const struct treefs *fs, const struct treefs_name *n,
    struct buf *ret, struct stat *st, struct err *e);

/* May rel (below root) be written? *ret_exists: a regular file is there. The
 * directories need not exist. */
int treefs_may_write(
    const struct treefs *fs, const char *rel, bool *ret_exists, struct err *e);
/* Write (missing directories are made), after treefs_may_write's checks.
 * mode 0: as the file has it, 0644 for a new one. */
int treefs_write(const struct treefs *fs, const char *rel, const void *p,
    size_t len, mode_t mode, struct err *e);
int treefs_remove(const struct treefs *fs, const char *rel, struct err *e);

/* The same below another directory (copies for candidates, restoring): no
 * checks but that rel is safe; mtime_floor: the mtime must be later by a second
 * (0: now). */
int treefs_put(int dirfd, const char *rel, const void *p, size_t len,
    mode_t mode, int64_t mtime_floor, struct err *e);

#endif
