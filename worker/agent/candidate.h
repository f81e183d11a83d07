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

#include "common/json.h"
#include "sandbox/overlay.h"
#include "worker/agent/agent.h"
#include "worker/agent/exec.h"

struct candidate {
	char *dir; /* below the worker's /tmp, ours */
	struct overlay overlay;
	struct sandbox_spec spec;
	struct exec x;
	bool started;
};

/* changes: [{path, old, new, line?}]. ERR_SANDBOX: no copy can be made;
 * anything else: this candidate can't be. */
int candidate_start(struct agent *a, struct candidate *c, const json_t *changes,
    const char *check, uint64_t timeout_ms, struct err *e);
void candidate_clear(struct candidate *c);

#endif
