/*
 * exec.h - commands in inner sandboxes, several at once.
 *
 *	struct exec x = { .spec = &spec, .timeout_ms = 1000, .keep = ... };
 *	exec_start(&x, e);
 *	while ((done = exec_wait(jobs, n, 100)) == NULL) ...
 *	exec_text(done, &buf)      head and tail of its output
 *	exec_clear(done);
 *
 * stdout and stderr are one stream; stdin is at its end, or given bytes. A job
 * is done when it has exited and its output has ended; its pid namespace goes
 * with its first process, so nothing can hold the pipe for long.
 */
#ifndef WORKER_AGENT_EXEC_H
#define WORKER_AGENT_EXEC_H

#include "common/buf.h"
#include "common/err.h"
#include "common/strv.h"
#include "sandbox/start.h"

#define EXEC_KEEP ((size_t)1 << 20)

enum exec_state {
	EXEC_IDLE,
	EXEC_RUNNING,
	EXEC_DONE
};

struct exec {
	/* set by the caller; borrowed until it is done */
	const struct sandbox_spec *spec; /* with its argv */
	const struct overlay *overlay;
	const void *input;
	size_t input_len;
	int in_fd; /* becomes stdin instead; 0 or -1: none. Stays yours */
	/* Takes the output instead of its being kept; true: exec_wait() is to
	 * return, though the job runs on. */
	bool (*sink)(void *arg, const char *p, size_t len);
	void *sink_arg;
	uint64_t timeout_ms; /* 0: none */
	uint64_t stall_ms;   /* exec_run() ends a loop after this much processor
			      * time (stall.h); 0: never */
	size_t keep; /* bytes kept of the head, and of the tail; 0: EXEC_KEEP */
	int full_fd; /* gets all of the output up to full_max; 0 or -1: none */
	uint64_t full_max;
	int err_fd; /* gets stderr instead; 0 or -1: it goes with stdout */

	/* results */
	enum exec_state state;
	int status; /* exit status, or 128 + signal */
	bool timed_out;
	bool stalled; /* and it was in a loop; moved_ms: until when it moved */
	uint64_t moved_ms;
	bool too_much; /* killed for its output (limits.output_bytes) */
	uint64_t oom;  /* processes killed for want of memory meanwhile */
	bool ran;      /* false: the sandbox could not be set up */
	uint64_t ms;
	uint64_t cpu_ms;     /* of all its processes; 0 when it was killed */
	uint64_t rss_kib;    /* of the largest of them */
	uint64_t total;      /* bytes of output */
	struct strv refused; /* hosts that the proxy refused it (egress.h) */

	/* private */
	struct sandbox_proc proc;
	int pidfd, out_fd;
	int line_fd; /* egress.h; 0 or -1: no network */
	bool exited, heard;
	int wait_status;
	uint64_t started_ms, deadline_ms, drain_ms;
	uint64_t oom_before;
	struct buf head;
	char *tail; /* a ring of keep bytes */
	size_t tail_at;
	uint64_t tail_total;
};

int exec_start(struct exec *x, struct err *e);
/* Waits until one of the running jobs is done (or its sink says so), at most
 * wait_ms; NULL: none. jobs[i] may be NULL. */
struct exec *exec_wait(struct exec **jobs, size_t n, uint64_t wait_ms);
/* Start and wait. */
int exec_run(struct exec *x, struct err *e);
void exec_kill(struct exec *x);
/* A running job gets so many more ms from now, and its output counts afresh. */
void exec_extend(struct exec *x, uint64_t ms);
/* How many processes of this worker's group were killed for want of memory. */
uint64_t exec_oom_count(void);
/* The output as it came, with a line about what was left out. */
int exec_text(const struct exec *x, struct buf *ret);
void exec_clear(struct exec *x);

/* "exit status 1", "timed out after 10 s", "exit status 139 (signal 11:
 * Segmentation fault)", "exit status 137 (killed: memory limit of 512 MiB)":
 * whichever limit it was (spec.h) is named. */
void exec_status_str(const struct exec *x, char *dst, size_t size);

#endif
