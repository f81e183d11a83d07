/*
 * cgroup_priv.h - what the cgroup*.c files share; for nobody else.
 */
#ifndef SANDBOX_CGROUP_PRIV_H
#define SANDBOX_CGROUP_PRIV_H

#include "sandbox/cgroup.h"

#define CGROUP_PREFIX "foray-"
#define CGROUP_TEXT 8192 /* of a file */

struct cgroup {
	enum cgroup_kind kind;
	char *dir[CGROUP_CTLS]; /* NULL: not limited */
	int lock[CGROUP_CTLS];  /* of cgroup_open(); else -1 */
	uid_t owner;
	uint64_t memory_bytes; /* its limit; 0: none */
	/* Ready for a child that may not allocate. */
	char *procs[CGROUP_CTLS];
	char *oom_file;
};

/* Is dir[i] a directory of its own, and not one that came before it? */
bool cgroup_is_first(char *const dir[CGROUP_CTLS], int i);
/* Negative errno. Allocates nothing. */
int cgroup_put(const char *path, const char *text);
int cgroup_put_in(const char *dir, const char *file, const char *text);
/* "" when it can't be read. */
void cgroup_get_in(const char *dir, const char *file, char *text, size_t size);

/* Call fn for each different directory and all groups below it, the deepest
 * first. */
typedef void (*cgroup_dir_fn)(const char *dir, enum cgroup_kind kind);
void cgroup_each(
    char *const dir[CGROUP_CTLS], enum cgroup_kind kind, cgroup_dir_fn fn);
void cgroup_thaw_dir(const char *dir, enum cgroup_kind kind);
void cgroup_kill_dir(const char *dir, enum cgroup_kind kind);

#endif
