/*
 * launch.h - the host becomes pid 1 of a pid namespace of its own.
 *
 * Whatever ends the host then ends all that it started, also in the middle of a
 * start, where --die-with-parent has a race. An ordinary user needs a user
 * namespace around it (identity mapped).
 *
 *	launch(lifeline_fd, backend, &total, &lines, &group); only pid 1
 *							comes back from this
 *	... become another uid
 *	lifelines_arm(&lines);
 *	lifelines_watch(&lines, loop);
 *
 * The process that was started ("launcher") stays outside, waits, passes
 * SIGTERM, SIGINT and SIGHUP on, and exits with the host's status. SIGKILL
 * follows two seconds later; where nobody started us, two seconds after what a
 * first SIGTERM allows for the workers' end. It also makes the control group of
 *the host and all its workers (cgroup.h), and removes it when they are gone,
 *whatever ended them: it outlives foray by that moment. What it can't remove,
 *since it was killed itself, foray or the next host sweeps.
 *
 * With the container backend there are no namespaces. Then the launcher is a
 * subreaper: when the host ends, or foray does, it looks up all that is below
 * it and ends that (killtree.h).
 */
#ifndef WORKER_HOST_LAUNCH_H
#define WORKER_HOST_LAUNCH_H

#include "common/loop.h"
#include "sandbox/spec.h"

struct cgroup;
struct sandbox_limits;

/* Exit statuses of the program. */
enum {
	EXIT_CONFIG = 2,  /* usage, configuration */
	EXIT_SANDBOX = 4, /* no sandbox can be made here */
	EXIT_REFUSED = 5  /* the orchestrator does not want this host */
};

/* Two SIGTERM so close are one: service managers send it to all of a service.
 */
#define LAUNCH_SAME_MS 200

/* Read ends of pipes that nobody writes to: a hang-up means that the other
 * side is gone. -1: none. */
struct lifelines {
	int foray;
	int launcher;
};

/* Single-threaded. Every descriptor above 2 but lifeline_fd (-1: none) is
 * closed. SIGTERM, SIGINT, SIGHUP and SIGCHLD are blocked afterwards, for the
 * loop. Ends the program with EXIT_SANDBOX and a message when there are no
 * namespaces to be had.
 * drain_ms: after a first SIGTERM, when lifeline_fd is -1.
 * total: limits of the group for everything. *ret_group: we are in a leaf of
 * it, and our uid to be may make others; NULL where there are no groups. */
void launch(int lifeline_fd, enum sandbox_backend backend, uint64_t drain_ms,
    const struct sandbox_limits *total, struct lifelines *ret,
    struct cgroup **ret_group);

/* Death signal, then the check that nobody died before it was set; ends the
 * process if one did. A change of uid clears the signal: call it again. */
void lifelines_arm(const struct lifelines *l);
void lifelines_watch(struct lifelines *l, struct loop *loop);

#endif
