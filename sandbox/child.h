/*
 * child.h - the child's half of sandbox_start(), from fork to bwrap. Only
 * start.c uses it.
 */
#ifndef SANDBOX_CHILD_H
#define SANDBOX_CHILD_H

#include "sandbox/start.h"

enum report_kind {
	REPORT_LIVE_READONLY, /* more may follow */
	REPORT_FAILED         /* the last one: e says why */
};

/* What the child writes to report_fd. Nothing comes any more, and the end of
 * the file, once bwrap runs. Smaller than PIPE_BUF, so whole or not at all. */
struct child_report {
	enum report_kind kind;
	struct err e;
};

struct work;

struct child {
	const struct sandbox_start *start;
	char *bwrap;        /* path of the program; backend bwrap only */
	const void *filter; /* of seccomp_program() */
	size_t filter_len;
	int status_fd; /* bwrap writes its status lines here */
	int report_fd; /* the parent holds the other end, nobody else does */
	int hold_fd;   /* bwrap runs the command when a byte comes; -1: none */
	struct work *work; /* child_run() only */
};

/* What child_run() needs for one try. Made before the fork and freed after it,
 * by the parent: in the memory of a vfork() it is the same one. */
struct work *child_work_new(const struct child *c);
void child_work_free(struct work *w);
/* After fork, or after vfork when nothing is to be staged. */
void child_run(const struct child *c) noreturn_fn;

/* For the other backends. The three descriptors of the sandbox are 0, 1 and 2
 * afterwards, every other but these two (new numbers, close-on-exec) closed,
 * signals at their defaults. ret_report is set first, for child_fail(). */
int child_fds(
    const struct child *c, int *ret_status, int *ret_report, struct err *e);
/* The last word to the parent. */
void child_fail(int report_fd, const struct err *e) noreturn_fn;
void child_live_readonly(int report_fd);

#endif
