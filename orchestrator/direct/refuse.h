/*
 * refuse.h - what a sandbox of one command refuses, each with what to do
 * instead. Paths are resolved ones.
 */
#ifndef ORCHESTRATOR_DIRECT_REFUSE_H
#define ORCHESTRATOR_DIRECT_REFUSE_H

#include "orchestrator/direct/livetree.h"
#include "sandbox/spec.h"

/* ERR_USAGE: all of a tree would be writable, and it is a directory of the
 * system, "/", or the person's home is in it. */
int refuse_tree(const char *root, struct err *e);
/* Directories to be writable. ERR_USAGE as above, and for what of the tree
 * stays read-only all the same. Call it when t's lists are filled. */
int refuse_write(
    const struct strv *write, const struct livetree *t, struct err *e);
/* The same for those of the command line, with --copy: the tree's copy stands
 * where they are. */
int refuse_write_copy(
    const struct strv *write, const struct livetree *t, struct err *e);
/* ERR_USAGE: so much is hidden that nothing at all could be started. */
int refuse_hidden(const struct sandbox_spec *s, struct err *e);

#endif
