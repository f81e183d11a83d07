/* explain.h - a sandbox in words. */
#ifndef SANDBOX_EXPLAIN_H
#define SANDBOX_EXPLAIN_H

#include "common/buf.h"
#include "sandbox/profile_def.h"
#include "sandbox/spec.h"

/* What the command can see, change and use, line by line, each from the spec
 * that would be run and not from what a profile meant. tree: where the person's
 * tree is. */
void explain(const struct profile_def *d, const struct sandbox_spec *s,
    const char *tree, struct buf *ret);

#endif
