/*
 * landlock.h - which files a process may reach, where no mounts can be made.
 *
 *	landlock_open(&l, e);
 *	landlock_allow(&l, "/usr", LANDLOCK_READ, NULL, e); ...
 *	landlock_enter(&l, e);		for good, also for all children
 *
 * Rules add up along the way from a file to the root, and no rule takes away:
 * see landlock_allow() for what is left out of a directory. Domains nest; what
 * an inner one allows and the outer does not is refused.
 *
 * What Landlock does not see at all, whatever the kernel: stat(2), access(2),
 * chdir(2), chmod(2), chown(2), utimes(2), setxattr(2), and connect(2) to a
 * socket with a path: see notify.h and seccomp.h for what stands there. The
 * numbers of its interface ("ABI") bring more:
 *	1  files (Linux 5.13)		4  TCP by port (6.7)
 *	2  rename between directories	5  ioctl on devices (6.10)
 *	3  truncate(2) (6.2)		6  signals, abstract sockets (6.12)
 * We use what is there; with none at all landlock_open() fails.
 */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include "common/err.h"
#include "common/strv.h"

/* The first interface that keeps signals in. */
#define LANDLOCK_ABI_SCOPES 6

enum landlock_may {
	LANDLOCK_READ,  /* read, list, execute */
	LANDLOCK_LOOK,  /* read and list */
	LANDLOCK_WRITE, /* everything */
	LANDLOCK_USE    /* read and write a device, no more */
};

struct landlock {
	int fd; /* the ruleset; -1: none */
	int abi;
	uint64_t files; /* the rights that the ruleset handles */
};

/* What this kernel has: 0 for nothing (too old, left out, or a filter). */
int landlock_abi(void);

/* A new ruleset that allows nothing. ERR_SANDBOX without Landlock. */
int landlock_open(struct landlock *l, struct err *e);
/* For tests: as a kernel with abi at most would be. */
int landlock_open_abi(struct landlock *l, int abi, struct err *e);
void landlock_close(struct landlock *l);

/* path and all that is below it. A missing path is no error: nothing is there
 * to be allowed. but: absolute clean paths below it that are left out, or NULL.
 * A directory on the way to one of them can only be listed; what is in it is
 * allowed entry by entry, as it is now, so nothing new can be made there. */
int landlock_allow(struct landlock *l, const char *path, enum landlock_may may,
    const struct strv *but, struct err *e);

/* Takes effect for the calling thread and what it makes from now on; sets no
 * new privileges; closes the ruleset. */
int landlock_enter(struct landlock *l, struct err *e);

#endif
