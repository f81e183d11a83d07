/*
 * profile_view.h - what of a profile this machine has: paths expanded, missing
 * ones left out, links followed. profile.h makes specs of it without looking at
 * the machine again.
 */
#ifndef SANDBOX_PROFILE_VIEW_H
#define SANDBOX_PROFILE_VIEW_H

#include "sandbox/profile_def.h"

struct profile_view {
	struct profile_def def; /* its lists are as they were written */
	/* Mounts: RO binds and links; late: what links in the former lead to.
	 */
	struct sandbox_spec show, late;
	struct strv write, hide_dirs, hide_files;
	/* /etc/passwd and /etc/group inside (accounts.h); NULL: there is none
	 * on this machine. */
	char *passwd, *group;
};

/* Takes *def in any case. home: for "~", or NULL. ERR_USAGE: a path to be shown
 * or written goes through a symbolic link that leads out of its directory: a
 * sandboxed command may have put it there. */
int profile_view_find(struct profile_def *def, const char *home,
    struct profile_view *ret, struct err *e);
/* The paths to be left out of a copy of the tree: "hide", expanded, those that
 * are there. */
void profile_view_hidden(
    const struct profile_def *d, const char *home, struct strv *ret);
void profile_view_clear(struct profile_view *v);

/* The supplied default profile on this machine; made once a process. */
const struct profile_view *profile_view_default(void);

#endif
