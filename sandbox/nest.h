/*
 * nest.h - a part of our work in a child that never outlives us and shares as
 * little with our caller as can be.
 *
 * The child is pid 1 of a pid namespace, so that a SIGKILL of ours ends all
 * below it: bwrap ties its own processes to it too late for that, in its first
 * milliseconds. Where no namespace can be made it is an ordinary child.
 */
#ifndef SANDBOX_NEST_H
#define SANDBOX_NEST_H

#include "common/err.h"

/* body(ctx) in the child; what it returns (0 to 255) is returned. There may be
 * no threads, and nobody else may reap children meanwhile.
 *
 * nest() passes the signals on that we get. With tty the child leads a process
 * group of its own, which we put in the foreground: "kill 0" would else reach
 * our caller's pipeline. nest_plain() does nothing with signals: one that ends
 * us ends the child. */
int nest(int (*body)(void *ctx), void *ctx, bool tty, struct err *e);
int nest_plain(int (*body)(void *ctx), void *ctx, struct err *e);
/* In the child: what it started was stopped by the terminal (SIGCHLD with
 * CLD_STOPPED). We stop as well, and all goes on when we do. */
void nest_stopped(void);

#endif
