/*
 * start.h - start a sandboxed process, and end its whole tree.
 *
 * Order in the child: signals and descriptors cleaned, control group, session,
 * [stage when we are root], death signal, [overlay], no new privileges, bwrap
 * with --args FD,
 * --seccomp FD and a clean environment. A failure before bwrap runs comes back
 * as an error of sandbox_start() (ERR_SANDBOX and the reason); bwrap's own
 * failure shows in sandbox_finished().
 *
 * Killing is one SIGKILL to the outer bwrap: its pid namespace goes with it,
 * whatever forked, double-forked or called setsid. In its first milliseconds
 * that would not reach its pid 1 yet, so a pidfd of that is held, too.
 *
 * Another backend (spec.h) confines by other means and keeps the same promises:
 * see container.h.
 *
 * The death signal is tied to the thread that calls sandbox_start(): let it be
 * one that stays. It returns when bwrap has made its namespaces (2 to 6 ms).
 */
#ifndef SANDBOX_START_H
#define SANDBOX_START_H

#include "common/err.h"
#include "sandbox/overlay.h"
#include "sandbox/spec.h"

struct cgroup;
struct stage;

struct sandbox_start {
	const struct sandbox_spec *spec;
	const struct overlay *overlay; /* NULL: none. Its merged tree is what a
					  mount with src "@merged" shows, its
					  upper layer that with "@upper" (only
					  set by programs: not in the JSON) */
	int fds[3]; /* become 0, 1, 2; -1: /dev/null. Stay the caller's */
	/* Root only (foray itself, not the host, which has dropped): stage
	 * every source of the spec and drop the uid in the child; live are
	 * paths to stage with an idmapped owner, or NULL. */
	bool stage;
	const struct strv *live;
	/* With keep_tty: bwrap ignores SIGINT and SIGQUIT, which a terminal
	 * sends to it as well; the command has to set them right again. */
	bool ignore_keys;
	/* Not NULL: a socket that listens inside on 127.0.0.1, NETNS_PORT
	 * (netns.h), made before the command runs; yours. */
	int *ret_listen;
	/* The child enters it first of all, so that everything counts; NULL:
	 * none. Stays the caller's. */
	const struct cgroup *group;
};

struct sandbox_proc {
	enum sandbox_backend backend;
	pid_t pid;          /* of bwrap, our child; reap it (loop_child_add) */
	int status_fd;      /* bwrap's --json-status-fd, read end */
	int init_fd;        /* pidfd of the tree's pid 1; -1: bwrap failed */
	bool live_readonly; /* something live is read-only */
};

int sandbox_start(
    const struct sandbox_start *s, struct sandbox_proc *ret, struct err *e);
/* A signal to the command, as if it had come to it alone. False: there is none
 * (it has not begun, or it is gone). */
bool sandbox_signal(const struct sandbox_proc *p, int sig);
/* SIGKILL to the whole tree; reaping the monitor stays with the caller. */
void sandbox_kill(const struct sandbox_proc *p);
/* After it was reaped: did the command run at all? Ends what the command left
 * running and waits until nothing of the tree is left (500 ms at most); closes
 * the descriptors. *ret_status gets the command's own status (128 + signal for
 * a signal; the monitor killed: 137). False: bwrap could not set the sandbox
 * up, or not find the command; then what it wrote to its stderr says why. */
bool sandbox_finished(struct sandbox_proc *p, int wait_status, int *ret_status);

/* Run to the end with limits, blocking; out gets stdout and stderr merged (or
 * stderr apart when err is not NULL). For worker commands and probes. */
struct sandbox_run {
	struct sandbox_start start; /* fds are ignored */
	struct buf *out;
	struct buf *err;
	const void *input;
	size_t input_len;
	uint64_t timeout_ms; /* 0: none */
};

struct sandbox_result {
	int status;
	bool timed_out;
	bool truncated;   /* more output came than out->max; it was dropped */
	uint64_t dropped; /* bytes */
	uint64_t ms;
};

int sandbox_run(
    const struct sandbox_run *r, struct sandbox_result *ret, struct err *e);

#endif
