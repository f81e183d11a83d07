/*
 * guard.h - which existing files are tests, or decide how tests run, and so
 * can't be edited by a worker (and are restored before a verification).
 */
#ifndef SANDBOX_POLICY_GUARD_H
#define SANDBOX_POLICY_GUARD_H

#include "common/err.h"
#include "common/strv.h"

/* Does the built-in list name this path (relative to the root)? Test
 * directories and names of the usual runners, their configuration, make and
 * package files, CI files. */
bool guard_is_builtin(const char *path);
/* Of those: does it decide how other tests run or are built, whatever it holds
 * itself? What a runner loads unasked, configuration, make and package files,
 * CI files. */
bool guard_is_setup(const char *path);
/* Is it what an installer or an interpreter made, whoever wrote it: packages
 * (node_modules, site-packages), byte code? No patch changes those. */
bool guard_is_installed(const char *path);

/* What a person gives as option (--protect), as globs for guard_select: "./x"
 * is x, a path that begins at the root (of the file system or of the tree, at
 * root) is taken from there, and a directory stands for all that is in it.
 * ERR_USAGE: one matches none of the files. */
int guard_globs(const char *option, const struct strv *given, const char *root,
    const struct strv *files, struct strv *ret, struct err *e);

/* From all files of a snapshot: those of the built-in list, those that a glob
 * of globs (--protect, text_glob) matches, those that a word of a test or check
 * command names (relative to workdir, "" = root). Sorted, no duplicates. */
void guard_select(const struct strv *files, const struct strv *globs,
    const struct strv *commands, const char *workdir, struct strv *ret);

/* Takes those that a glob matches out of guarded, unless one of keep does, too.
 * ret: these, sorted. */
void guard_free(const struct strv *globs, const struct strv *keep,
    struct strv *guarded, struct strv *ret);

#endif
