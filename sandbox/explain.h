/* explain.h - a sandbox in words. */
#ifndef SANDBOX_EXPLAIN_H
#define SANDBOX_EXPLAIN_H

#include "common/buf.h"
#include "sandbox/profile_def.h"
#include "sandbox/spec.h"

/* The allowed hosts, when they are known. */
struct explain_net {
	struct strv hosts; /* "pypi.org (--allow-net)" */
	const char *own;   /* where the command's own servers are, when it is
			    * not all of its loopback; or NULL */
};

/* What the command can see, change and use, line by line, each from the spec
 * that would be run and not from what a profile meant. tree: where the person's
 * tree is. net may be NULL. */
void explain(const struct profile_def *d, const struct sandbox_spec *s,
    const char *tree, const struct explain_net *net, struct buf *ret);

#endif
