/*
 * launch.h - the host becomes pid 1 of a pid namespace of its own.
 *
 * Whatever ends the host then ends all that it started, also in the middle of a
 * start, where --die-with-parent has a race. An ordinary user needs a user
 * namespace around it (identity mapped).
 *
 *	launch(lifeline_fd, backend, &lines);	only pid 1 comes back from this
 *	... become another uid
 *	lifelines_arm(&lines);
 *	lifelines_watch(&lines, loop);
 *
 * The process that was started ("launcher") stays outside, waits, passes
 * SIGTERM, SIGINT and SIGHUP on as SIGTERM (and SIGKILL two seconds later), and
 * exits with the host's status.
 *
 * With the container backend there are no namespaces. Then the launcher is a
 * subreaper: when the host ends, or foray does, it looks up all that is below
 * it and ends that (killtree.h). It is itself told of foray's end by SIGTERM,
 * not by SIGKILL, since somebody has to be left to do so.
 */
#ifndef WORKER_HOST_LAUNCH_H
#define WORKER_HOST_LAUNCH_H

#include "common/loop.h"
#include "sandbox/spec.h"

/* Exit statuses of the program. */
enum {
	EXIT_CONFIG = 2,  /* usage, configuration */
	EXIT_SANDBOX = 4, /* no sandbox can be made here */
	EXIT_REFUSED = 5  /* the orchestrator does not want this host */
};

/* Read ends of pipes that nobody writes to: a hang-up means that the other
 * side is gone. -1: none. */
struct lifelines {
	int foray;
	int launcher;
};

/* Single-threaded. Every descriptor above 2 but lifeline_fd (-1: none) is
 * closed. SIGTERM, SIGINT, SIGHUP and SIGCHLD are blocked afterwards, for the
 * loop. Ends the program with EXIT_SANDBOX and a message when there are no
 * namespaces to be had. */
void launch(
    int lifeline_fd, enum sandbox_backend backend, struct lifelines *ret);

/* Death signal, then the check that nobody died before it was set; ends the
 * process if one did. A change of uid clears the signal: call it again. */
void lifelines_arm(const struct lifelines *l);
void lifelines_watch(struct lifelines *l, struct loop *loop);

#endif
