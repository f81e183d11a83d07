/* snapshot_priv.h - shared by the parts of snapshot.c only. */
#ifndef SANDBOX_SNAPSHOT_PRIV_H
#define SANDBOX_SNAPSHOT_PRIV_H

#include "common/buf.h"
#include "common/hash.h"
#include "sandbox/snapshot.h"

#define SNAP_ID_LEN 32
#define SKIPPED_MAX 100

/* Nanoseconds since 1970. */
static inline int64_t
snap_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* And back. */
static inline struct timespec
snap_from_ns(int64_t v)
{
	struct timespec t = { .tv_sec = v / 1000000000,
		.tv_nsec = v % 1000000000 };

	if (t.tv_nsec < 0) {
		t.tv_nsec += 1000000000;
		t.tv_sec--;
	}
	return t;
}

/* One path of a tree. */
struct snap_entry {
	char *path;
	char type;  /* f file, l link, d directory, u file that can't be read */
	bool known; /* hash is that of the content */
	bool linked;   /* old has the same content, mode and mtime */
	bool gone;     /* it vanished, or can't be had */
	uint32_t mode; /* permission bits */
	uint64_t size;
	int64_t mtime_ns, ctime_ns;
	uint64_t ino;
	unsigned char hash[HASH_LEN]; /* of a file */
	char *target;                 /* of a link */
	const struct snap_entry *old; /* in the last manifest; or NULL */
};

struct snap_list {
	struct snap_entry *v; /* in the order of walk_cmp */
	size_t n, size;
};

/* What a tree was like when its snapshot was made. */
struct manifest {
	char *id;
	char *git;       /* see snap_git.state */
	char *boot;      /* boot id of the kernel that wrote the tree */
	int64_t made_ns; /* CLOCK_REALTIME before the first stat */
	struct snap_list list;
};

struct snap_entry *snap_list_add(struct snap_list *l, const char *path);
void snap_list_clear(struct snap_list *l);

/* snapshot_manifest.c: one JSON object, then a JSON array a line. Strings that
 * are not UTF-8 have \xNN for such a byte, and for a backslash. */
void manifest_write(const struct manifest *m, struct buf *dst);
/* -EINVAL when it is not one of ours. */
int manifest_read(char *text, size_t len, struct manifest *ret);
/* One of its lines but the first, with its newline, added to l. -EINVAL. */
int manifest_line(char *line, size_t len, struct snap_list *l);
void manifest_clear(struct manifest *m);
/* The id of this content: 32 hex digits; yours. */
char *manifest_id(const struct manifest *m, uid_t owner);

/* snapshot_scan.c */
struct snap_scan {
	const char *root; /* absolute */
	int rootfd;
	const struct snapshot_opts *o;
	dev_t left_dev[3]; /* directories that are left out */
	ino_t left_ino[3];
	size_t left_n;
	struct snap_list *list;
	struct strv *skipped;
	struct strv secrets; /* files that may hold credentials, not listed */
	uint64_t seen;
};
/* All that goes in but for credential files, as lstat(2) sees it. */
int snap_scan(struct snap_scan *s, struct err *e);
void snap_skip(struct strv *skipped, const char *path, const char *why);
/* Does the name say that there may be a credential in it? always: even when it
 * is tracked. */
bool snap_is_secret(const char *path, int dirfd, bool *ret_always);

/* snapshot_repo.c, snapshot_git.c */
struct snap_git {
	char *gitdir; /* NULL: no git work tree */
	char *objects;
	char *commit; /* NULL: none yet */
	bool sha256;
	char *state;      /* "none", "empty sha1", "commit HEX", "broken WHY" */
	const char *pack; /* a pack file with the commit, taken instead of
			     objects; or NULL. Borrowed. */
	/* Object directories, taken instead of objects; or NULL. Borrowed. */
	const struct strv *borrow;
};
/* Finds it and asks for HEAD; root/.git may be anything. Fails only where git
 * itself can't be run for another reason than being absent. */
int snap_git_open(const char *root, struct snap_git *ret, struct err *e);
void snap_git_clear(struct snap_git *g);
/* Those of paths that the index has. */
void snap_git_tracked(const struct snap_git *g, const char *root,
    const struct strv *paths, struct strv *ret);
/* From the state alone, as a manifest has it; -EINVAL when that can't be. No
 * gitdir where there is to be no repository. */
int snap_git_from_state(const char *state, struct snap_git *ret);
/* TREE/.git, from the last snapshot's one (old_tree) when its commit is the
 * same, else from the user's objects. Where objects are missing there is none
 * in the end and state says so. */
int snap_git_make(
    struct snap_git *g, const char *tree, const char *old_tree, struct err *e);

/* An empty repository in dir, of g's kind and with its commit as HEAD. */
int snap_git_empty(const struct snap_git *g, const char *dir, struct err *e);
/* A variable for git: it sees these object directories, too. */
void snap_git_borrow(const struct strv *objects, struct strv *env);
/* The pack file of that path into DIR, a repository; its index is made here,
 * which checks every object. 1: it is none, g->state says why. */
int snap_git_take_pack(struct snap_git *g, const char *path, const char *dir,
    const char *tree, struct err *e);
/* Does TREE/.git have all that the commit names? 1: no, state says why. */
int snap_git_check(struct snap_git *g, const char *tree, struct err *e);

/* snapshot_copy.c */
struct snap_copy {
	const char *store;
	int rootfd, treefd; /* treefd: the new, empty tree */
	int oldfd;          /* the last snapshot's tree, or -1 */
	const struct snapshot_opts *o;
	struct snap_list *list;
	struct strv *skipped;
};
/* Copy or link everything. */
int snap_copy(struct snap_copy *c, struct err *e);
/* Directories get their mode and mtime, when nothing is written any more. */
int snap_copy_finish(struct snap_copy *c, struct err *e);
/* Hash files of the original that may well be as they were (same size; or a
 * time stamp too young to trust), while they are few. */
int snap_rehash(struct snap_copy *c);

/* snapshot_cache.c: as snapshot_hold(), but not a use. */
int snap_hold(const char *store, const char *id, int *ret_fd, struct err *e);

/* snapshot_store.c */
struct snap_store {
	char *dir;
	char *by_path; /* DIR/by-path/HASH */
	char *tmp;     /* DIR/tmp-..., once it is needed */
	int lockfd;
};
/* Makes it when missing, and sweeps. Close it also after a failure. */
int snap_store_open(struct snap_store *st, const char *dir, struct err *e);
void snap_store_close(struct snap_store *st);
void snap_store_path(struct snap_store *st, const char *root);
int snap_store_tmp(struct snap_store *st, struct err *e);
char *snap_store_tree(const struct snap_store *st, const char *id); /* yours */
char *snap_boot_id(void);
bool snap_is_id(const char *s);
/* What is listed in ID/manifest; the tree is not looked at. */
int snap_store_manifest(
    const struct snap_store *st, const char *id, struct manifest *ret);
/* All ids, the one that was used last first. */
struct snap_ids {
	struct snap_id {
		char id[SNAP_ID_LEN + 1];
		int64_t used_ns;
	} * v;
	size_t n;
};
void snap_store_ids(const struct snap_store *st, struct snap_ids *ret);
void snap_ids_clear(struct snap_ids *ids);
/* By its id, when it is there and whole. */
bool snap_store_get(
    struct snap_store *st, const char *id, struct manifest *ret);
/* The last snapshot of this path; false: none that can be used. */
bool snap_store_load(struct snap_store *st, struct manifest *ret);
/* Atomic, not synced: a lost file costs a new snapshot. */
int snap_store_put(struct snap_store *st, const char *path, const void *p,
    size_t len, struct err *e);
/* What this path is like, for the next time. with_id: m->id is its last. */
int snap_store_remember(struct snap_store *st, const struct manifest *m,
    bool with_id, struct err *e);
/* Move snap to its place, unless this id is there already. */
int snap_store_publish(struct snap_store *st, const char *snap, const char *id,
    bool *ret_was_there, struct err *e);

#endif
