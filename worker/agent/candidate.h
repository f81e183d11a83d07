/*
 * candidate.h - one throw-away copy of the workspace with edits in it, and the
 * check that runs there.
 *
 * The edited files lie in a directory of their own, the topmost lower layer of
 * an overlay over the workspace's layers; what the check writes goes to a
 * tmpfs that ends with it. Where no overlay can be mounted the tree is copied.
 */
#ifndef WORKER_AGENT_CANDIDATE_H
#define WORKER_AGENT_CANDIDATE_H

#include "sandbox/overlay.h"
#include "worker/agent/agent.h"
#include "worker/agent/edits.h"
#include "worker/agent/exec.h"

struct candidate {
	char *dir; /* below the worker's /tmp, ours */
	struct overlay overlay;
	struct sandbox_spec spec;
	struct exec x;
	bool started;
};

#define CANDIDATE_KEEP 16384 /* of its output's head, and of the tail */

/* Open, then run: with the edits in it. ERR_SANDBOX: no copy can be made. */
int candidate_start(struct agent *a, struct candidate *c,
    const struct edits *es, const char *check, uint64_t timeout_ms,
    struct err *e);
void candidate_clear(struct candidate *c);

/* The same in two steps, for what changes spec or x between them. */
void candidate_open(struct agent *a, struct candidate *c, const char *check,
    uint64_t timeout_ms);
/* may_copy: when no overlay can be had. */
int candidate_run(struct agent *a, struct candidate *c, const struct edits *es,
    bool may_copy, struct err *e);
bool candidate_has_overlay(const struct agent *a);

#endif
