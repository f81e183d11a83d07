/*
 * stage.h - from root to an unprivileged uid that can still reach its files.
 *
 * As kernel uid 0 bwrap is no wall, so nothing that foray sandboxes runs as
 * root. The one unprivileged uid it runs under (SANDBOX_UID, no passwd entry
 * needed) can't walk through a 0700 home. So, as root: a private mount
 * namespace with a tmpfs on /run/foray, every needed path bound below it by its
 * number, then the uid is dropped for good.
 *
 * For an ordinary user a stage does nothing: stage_path() gives the path back.
 *
 *	stage_open(&st, e); stage_add(&st, "/root/.pyenv", e); ...
 *	stage_drop(&st, e);           the process is SANDBOX_UID from here on
 *	stage_path(&st, "/root/.pyenv/bin")  ->  "/run/foray/0/bin"
 */
#ifndef SANDBOX_STAGE_H
#define SANDBOX_STAGE_H

#include "common/err.h"
#include "common/strv.h"
#include "sandbox/spec.h"

#define SANDBOX_UID 61184
#define STAGE_DIR "/run/foray"

struct stage {
	bool active; /* started as root */
	struct strv from;
};

/* The uid that workers have when this process starts them, and so the owner of
 * snapshots and scratch directories: SANDBOX_UID for root, else our own. */
uid_t stage_uid(void);

/* Unshares the mount namespace when root. The caller is single-threaded. */
int stage_open(struct stage *st, struct err *e);
/* path: absolute; a directory or a file. Paths that every uid can reach (below
 * /usr, /etc, /bin, /lib*, /opt, /proc, /dev, /sys) are not staged. Adding a
 * path below one that is already there does nothing. idmap: files of its owner
 * appear as ours (for a live tree); where that is impossible (overlayfs) the
 * bind is read-only and *ret_readonly (may be NULL) is set. */
int stage_add(struct stage *st, const char *path, struct err *e);
int stage_add_idmap(
    struct stage *st, const char *path, bool *ret_readonly, struct err *e);
/* Yours. */
char *stage_path(const struct stage *st, const char *path);
/* Rewrite the sources of a spec's mounts. */
void stage_spec(const struct stage *st, struct sandbox_spec *s);
/* setgroups, setresgid, setresuid, no new privileges, no capabilities, dumpable
 * again. Checks that there is no way back. Nothing for an ordinary user.
 * PR_SET_PDEATHSIG must be set after this. */
int stage_drop(struct stage *st, struct err *e);
void stage_clear(struct stage *st);

#endif
