/*
 * bwrap_args.h - from a spec to bwrap's arguments. Pure.
 *
 * The arguments before "--" go through --args FD, so that paths do not show in
 * /proc/1/cmdline inside; the environment is passed by execve, never by
 * --setenv (spike facts: bwrap's own environ is visible as /proc/1/environ).
 */
#ifndef SANDBOX_BWRAP_ARGS_H
#define SANDBOX_BWRAP_ARGS_H

#include "sandbox/spec.h"

/* The src of a MOUNT_DATA is the number of a descriptor already (child.c).
 * seccomp_fd, status_fd: numbers as the child will have them; -1: left out.
 * ret gets the arguments without "bwrap" and without the command. */
void bwrap_args(const struct sandbox_spec *s, int seccomp_fd, int status_fd,
    struct strv *ret);

#endif
