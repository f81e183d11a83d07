/*
 * onelayer.h - what `foray sandbox --sandbox container` needs beside a spec: a
 * private directory for /tmp, and a copy of the tree where one is wanted, both
 * in a scratch directory that the next start sweeps when we were killed.
 */
#ifndef ORCHESTRATOR_DIRECT_ONELAYER_H
#define ORCHESTRATOR_DIRECT_ONELAYER_H

#include "sandbox/spec.h"
#include "sandbox/workspace.h"

/* Zeroed, with lock -1: nothing is held. */
struct onelayer {
	char *scratch; /* ours */
	int lock;
	struct workspace ws; /* the copy */
	char *tmp;
};

/* base: what to copy, or NULL. The copy is at ws.tree_src. */
int onelayer_make(struct onelayer *o, const char *base, struct err *e);
/* root: the tree at its own path, where a copy stands in for it. */
void onelayer_spec(
    const struct onelayer *o, const char *root, struct sandbox_spec *s);
void onelayer_clear(struct onelayer *o);

#endif
