/*
 * limits.h - a profile's limits, handed to the hosts with ASSIGN and to workers
 * with TASK. What is left out, or 0, is the host's default.
 */
#ifndef ORCHESTRATOR_RUN_LIMITS_H
#define ORCHESTRATOR_RUN_LIMITS_H

#include "proto/msg.h"
#include "sandbox/profile_def.h"

/* Into ASSIGN, whose wall_ms is set before. */
void limits_assign(const struct profile_def *d, struct msg_assign *a);
/* ASSIGN's memory_mib; 0: the host's own limit. */
uint64_t limits_memory_mib(const struct profile_def *d);
/* TASK's call_ms; tests: of one that runs them with nothing to compare to. */
uint64_t limits_call_ms(const struct profile_def *d, bool tests);

#endif
