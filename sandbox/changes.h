/*
 * changes.h - what a worker changed, as a list and as a patch.
 *
 * With an overlay only its upper layer is walked: a character device 0:0 is a
 * deletion, "user.overlay.opaque=y" a replaced directory, the rest modified or
 * new. With a copy the two trees are compared by type, size, mtime and then
 * content. Nothing named ".git" (patch_is_dotgit), at any depth, is ever
 * listed, nor is what can't be read; empty directories and modes but the
 * executable bit are no change.
 */
#ifndef SANDBOX_CHANGES_H
#define SANDBOX_CHANGES_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

enum change_kind {
	CHANGE_NEW,
	CHANGE_MODIFIED,
	CHANGE_DELETED
};

struct change {
	enum change_kind kind;
	char *path; /* below the tree */
};

struct changes {
	struct change *v; /* sorted by path */
	size_t n;
};

/* up: the upper layer (merged is not looked at then), or NULL to compare merged
 * with base. At most max entries, else ERR_LIMIT. */
int changes_list(const char *base, const char *up, const char *merged,
    size_t max, struct changes *ret, struct err *e);
void changes_clear(struct changes *c);

/* A unified diff (git's form: binary, modes, links, quoted names) of those
 * changes for which want(path, kind, ctx) is true; git apply takes it at the
 * tree's root. Made with `git diff --no-index` over two small trees that hold
 * only these files, below tmp; no repository's configuration is read. Empty
 * when nothing changed. merged may be the upper layer: it has what changed.
 * want may be NULL. ERR_LIMIT when it passes ret->max. */
int changes_patch(const struct changes *c, const char *base, const char *merged,
    const char *tmp,
    bool (*want)(const char *path, enum change_kind kind, void *ctx), void *ctx,
    struct buf *ret, struct err *e);

/* Paths that a patch touches (old and new names), each checked to be a safe
 * relative path without a .git component: ERR_DENIED otherwise, as for a link
 * that leads out of the tree and for a submodule. Sorted. ERR_SYNTAX when it is
 * no patch, also when it is empty. Bounded; for hostile text. */
int patch_paths(const char *patch, size_t len, struct strv *ret, struct err *e);
/* Apply to the tree at dir with `git apply` (outside any repository's
 * configuration); all of it or nothing. check_only: see whether it would.
 * Errors of patch_paths; ERR_DENIED also when a link lies on the way in the
 * tree; ERR_USAGE with git's words when it does not fit. */
int patch_apply(const char *dir, const char *patch, size_t len, bool check_only,
    struct err *e);

#endif
