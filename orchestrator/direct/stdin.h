/*
 * stdin.h - what descriptors 0 to 2 may be for a sandbox.
 */
#ifndef ORCHESTRATOR_DIRECT_STDIN_H
#define ORCHESTRATOR_DIRECT_STDIN_H

#include <sys/types.h>

#include "common/err.h"

/* /proc/self/fd opens a file anew, for writing, too, and of a directory all
 * that is in and above it. So directories are refused, and a file on standard
 * input comes through a pipe: *ret_pid fills it, or is -1; *ret_fd is 0
 * then. Pipes without a name get the owner that commands have. */
int stdin_open(int *ret_fd, pid_t *ret_pid, struct err *e);
void stdin_close(int fd, pid_t pid);

#endif
