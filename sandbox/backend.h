/*
 * backend.h - what start.c needs of a way to confine. One row each in start.c;
 * a virtual machine would be one more.
 *
 * The order of a start: ready() in the caller, fork, child() in the child
 * (which says over child.h's report pipe when it can't, and closes it when the
 * command is about to run), born() in the caller.
 */
#ifndef SANDBOX_BACKEND_H
#define SANDBOX_BACKEND_H

#include "sandbox/child.h"

struct backend {
	/* Fill bwrap, filter and filter_len. */
	int (*ready)(struct child *c, struct err *e);
	/* Never returns. With "work" it is child_run(). */
	void (*child)(const struct child *c);
	bool work;
	/* The descriptor for sandbox_proc's init_fd, or -1; its number. */
	int (*born)(int status_fd, pid_t *ret_init);
	/* End the whole tree; the child, our own, is left to be reaped. */
	void (*kill)(const struct sandbox_proc *p);
};

/* container.c */
extern const struct backend backend_container;

#endif
