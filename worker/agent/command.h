/* command.h - the specs that this worker's commands run in. */
#ifndef WORKER_AGENT_COMMAND_H
#define WORKER_AGENT_COMMAND_H

#include "sandbox/spec.h"
#include "worker/agent/agent.h"

/* A copy of base that runs `sh -c command` in the working directory. Where
 * protected files could not be made read-only they are put right here. */
void command_spec(struct agent *a, const struct sandbox_spec *base,
    const char *command, struct sandbox_spec *ret);

/* Make the protected files read-only in both inner specs, the reproducer's
 * first. Only so many: each mount costs bwrap a walk over all of them. The rest
 * is caught when the patch is made and when it is verified. Without mounts none
 * is: restore.h. */
void command_guard(struct agent *a);

#endif
