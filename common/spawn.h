/*
 * spawn.h - run a program and collect what it writes, with limits.
 *
 * spawn_run() is for short trusted helpers (git, rg) and blocks; everything
 * else goes through sandbox/start.h and the loop. A child starts with default
 * signal handling, an empty signal mask, in a process group of its own, and
 * with no descriptor but 0, 1 and 2.
 */
#ifndef COMMON_SPAWN_H
#define COMMON_SPAWN_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"

struct spawn {
	const struct strv *argv; /* argv[0] is searched in PATH */
	const struct strv *env;  /* NULL: the caller's */
	const char *cwd;         /* NULL: the caller's */
	const void *input;       /* stdin; NULL: /dev/null */
	size_t input_len;
	struct buf *out;     /* stdout; NULL: /dev/null */
	struct buf *err;     /* stderr; NULL: /dev/null; == out: merged */
	uint64_t timeout_ms; /* 0: none; then the group is killed */
	uint64_t linger_ms;  /* drain time after exit; 0: 1000 */
};

struct spawn_result {
	int status; /* exit status, or 128 + signal */
	bool timed_out;
	bool truncated; /* out or err reached its maximum, the rest was read
			   and dropped */
};

/* 0 when the program ran (whatever its status); negative when it could not be
 * started (ERR_NOTFOUND: no such program). */
int spawn_run(const struct spawn *s, struct spawn_result *ret, struct err *e);

/* In a forked child: default signals, empty mask, then close every descriptor
 * from 3 up but those in keep[0..n) (whose close-on-exec flag is cleared). */
void spawn_child_clean(const int *keep, size_t n);

/* 128 + signal or the exit status, from a waitpid(2) status. */
int spawn_status(int wait_status);

#endif
