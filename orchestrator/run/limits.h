/*
 * limits.h - how much workers and their commands may take: "limits" of the
 * settings, handed to the hosts with ASSIGN and TASK.
 *
 *	{"memory_mib": 4096, "pids": 1024, "cpu_milli": 2000, "disk_mib": 8192,
 *	 "data_mib": N, "file_mib": N, "procs": N, "cpu_s": N, "output_mib": N,
 *	 "call_s": 120, "subtask_s": 3600}
 *
 * The first four are of a worker and all that it runs, the last two are wall
 * time of a command and of a subtask, the others are of a command. What is left
 * out, or 0, is the host's default.
 */
#ifndef ORCHESTRATOR_RUN_LIMITS_H
#define ORCHESTRATOR_RUN_LIMITS_H

#include "common/err.h"
#include "common/json.h"
#include "proto/msg.h"

struct run_limits {
	uint64_t memory_mib, pids, cpu_milli, disk_mib;
	uint64_t data_mib, file_mib, procs, cpu_s, output_mib;
	uint64_t call_s, subtask_s;
};

/* j: the object, or NULL. ERR_SYNTAX names what is wrong. */
int limits_parse(const json_t *j, struct run_limits *ret, struct err *e);

/* Into ASSIGN, whose wall_ms is set before. */
void limits_assign(const struct run_limits *l, struct msg_assign *a);
/* Into TASK, whose call_ms is set before. */
void limits_task(const struct run_limits *l, struct msg_task *t);

#endif
