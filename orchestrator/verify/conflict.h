/*
 * conflict.h - why a patch does not fit: both versions of each place.
 */
#ifndef ORCHESTRATOR_VERIFY_CONFLICT_H
#define ORCHESTRATOR_VERIFY_CONFLICT_H

#include "common/buf.h"

/* For a person: of each hunk whose old lines are not where the patch has them,
 * the file and line, what the tree has there and what the patch would make of
 * it, unless it is that already. patch: one that patch_paths() passes. Some
 * hunks, each cut, are enough; without such a hunk nothing is added. Files that
 * can't be read are left out. b needs no more than 64 KiB. */
void conflict_describe(
    const char *root, const char *patch, size_t len, struct buf *b);

#endif
