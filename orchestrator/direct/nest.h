/*
 * nest.h - a part of a command's work in a child that never outlives us and
 * shares as little with our caller as can be.
 *
 * The child is pid 1 of a pid namespace, so that a SIGKILL of ours ends all
 * below it: bwrap ties its own processes to it too late for that, in its first
 * milliseconds. At a terminal it leads a process group of its own, which we
 * put in the foreground: "kill 0" would else reach our caller's pipeline.
 * Where no namespace can be made it is an ordinary child.
 *
 * Signals that we get are passed on to it.
 */
#ifndef ORCHESTRATOR_DIRECT_NEST_H
#define ORCHESTRATOR_DIRECT_NEST_H

#include "common/err.h"

/* body(ctx) in the child; what it returns (0 to 255) is returned. Before it
 * there may be no threads, and SIGCHLD may not be waited for. */
int nest(int (*body)(void *ctx), void *ctx, bool tty, struct err *e);
/* In the child: what it started was stopped by the terminal (SIGCHLD with
 * CLD_STOPPED). We stop as well, and all goes on when we do. */
void nest_stopped(void);
/* Is there a /usr/bin/env that knows --default-signal (GNU's)? */
bool nest_env_resets_signals(void);

/* What descriptors 0 to 2 may be for a sandbox: /proc/self/fd opens a file
 * anew, for writing, too, and of a directory all that is in and above it. So
 * directories are refused, and a file on standard input comes through a pipe:
 * *ret_pid fills it, or is -1; *ret_fd is 0 then. */
int nest_stdin(int *ret_fd, pid_t *ret_pid, struct err *e);
void nest_stdin_close(int fd, pid_t pid);

#endif
