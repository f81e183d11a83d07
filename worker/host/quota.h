/*
 * quota.h - how much a host lets its workers have: limits of all of them
 * together, and of each as ASSIGN says or by default.
 *
 * Where there are control groups, memory and processes of a worker are limited
 * as a whole (its commands, tmpfs and page cache included); elsewhere each
 * process is, by rlimits. Defaults are far above what honest builds take: half
 * of the machine's memory for a worker (at least 4 GiB where there is so much),
 * 1024 processes or 512 for each command at once, 8 GiB of disk, 1 GiB of
 * output for a command, all the processors.
 */
#ifndef WORKER_HOST_QUOTA_H
#define WORKER_HOST_QUOTA_H

#include "common/err.h"
#include "proto/msg.h"
#include "sandbox/spec.h"

struct cgroup;

struct quota {
	uint64_t memory;             /* bytes that there are for us */
	struct sandbox_limits total; /* of all workers together */
	struct cgroup *group;        /* for them; NULL: only rlimits */
};

/* memory and total; before launch(). slots: how many workers at once. */
void quota_init(struct quota *q, size_t slots);

/* A worker's: outer, of all that it is, and inner, of each of its commands.
 * ERR_LIMIT for what no worker could start with. */
int quota_worker(const struct quota *q, const struct msg_assign *a,
    struct sandbox_limits *ret_outer, struct sandbox_limits *ret_inner,
    struct err *e);

#endif
