/*
 * notify.h - changes of mode, owner and times of files, and renames, made for a
 * program by its monitor.
 *
 * Landlock does not see chmod(2) and its like, so a program could change those
 * of every file of its user. A filter sends these calls to a listener instead
 * (SECCOMP_RET_USER_NOTIF). The monitor looks the file up, holds it by a
 * descriptor, and when it lies in a tree that the program may write makes the
 * change itself, on that descriptor: nothing can be exchanged in between. Else
 * the program gets EPERM. Renames are made so, too, where some files are to
 *keep their names: else a directory of tests could be put aside for a while.
 *
 *	in the program to be:	fd = notify_load(renames, e); hand it to the
 *monitor in the monitor:		notify_init(&n, fd); strv_add(&n.may,
 *...); while (poll says so) notify_serve(&n);
 *
 * One call costs about 50 microseconds more.
 */
#ifndef SANDBOX_NOTIFY_H
#define SANDBOX_NOTIFY_H

#include "common/err.h"
#include "common/strv.h"

struct notify {
	int fd;             /* the listener; -1: none */
	struct strv may;    /* real paths of trees that may be changed */
	struct strv except; /* in them, but not these */
	struct strv fixed;  /* real paths that keep their names */
	void *request, *answer;
};

/* Can a monitor hear of them here? Not before Linux 5.0, nor where Yama lets
 * nobody look into the memory of its own children (ptrace_scope 2, 3). */
bool notify_works(void);

/* The listener's descriptor, close-on-exec. -EBUSY: a monitor further out has
 * one, and it hears of us, too. Others: this kernel can't. Needs
 * no_new_privs. After it those calls wait until somebody serves. renames: these
 * as well. */
int notify_load(bool renames, struct err *e);

/* Takes fd. */
void notify_init(struct notify *n, int fd);
/* One request. False: nobody is left to send any. */
bool notify_serve(struct notify *n);
void notify_clear(struct notify *n);

#endif
