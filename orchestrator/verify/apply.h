/*
 * apply.h - put a verified patch on the user's repository. All or nothing; the
 * patch is checked first (changes.h), hooks never run.
 */
#ifndef ORCHESTRATOR_VERIFY_APPLY_H
#define ORCHESTRATOR_VERIFY_APPLY_H

#include "common/err.h"

/* A file of the patch that decides how tests run (guard_is_setup), which a
 * verification takes away: no test has seen it. Yours; NULL: none. */
char *apply_unseen(const char *patch, size_t len);
/* On the working tree; the index is left as it is. */
int apply_tree(const char *root, const char *patch, size_t len, struct err *e);
/* Could apply_branch() make this branch? ERR_USAGE says why not. */
int apply_branch_check(const char *root, const char *branch, struct err *e);
/* Does a snapshot's tree differ from the commit below it? Then a branch with a
 * patch is not the tree that the patch was verified on. The snapshot's own
 * repository answers: in the person's, filters would run. */
bool apply_is_dirty(const char *snapshot_tree);
/* As a commit on a new branch that starts at HEAD; working tree and index stay
 * as they are. An existing branch is an error. */
int apply_branch(const char *root, const char *branch, const char *patch,
    size_t len, const char *subject, struct err *e);

#endif
