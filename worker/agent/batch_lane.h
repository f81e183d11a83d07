/*
 * batch_lane.h - one sandbox in which many candidates run, one after the other,
 * each in a fork of a Python interpreter that has imported the test runner:
 * batch.py is the other end, and says what it does.
 *
 *	lane_start(a, &l, &cmd, &modules, e);
 *	lane_send(a, &l, &job, e);
 *	exec_wait() gives &l.c.x:  lane_hear(&l, &answer)
 *	lane_clear(&l);
 *
 * The job's texts lie in a directory of ours that the sandbox sees read-only;
 * only its name goes through the pipe, so that no write can block. What comes
 * back was written by a process that candidates can do anything to: it is read
 * with bounds, and is believed only when it says that a candidate failed.
 */
#ifndef WORKER_AGENT_BATCH_LANE_H
#define WORKER_AGENT_BATCH_LANE_H

#include "worker/agent/batch_cmd.h"
#include "worker/agent/candidate.h"

/* Of a job's output, and of its modules. */
#define LANE_KEEP_MAX ((size_t)1 << 18)
#define LANE_HEAD_MAX ((size_t)160)

struct lane_job {
	const struct edits *es; /* with no files: the tree as it is */
	uint64_t limit_ms;
	size_t keep; /* bytes of the output's end */
	/* What it imports from outside the tree is imported beforehand from
	 * then on, and the bytecode that it makes stays. */
	bool first;
};

enum lane_how {
	LANE_ENDED,
	LANE_TIMED_OUT,
	LANE_TOO_MUCH,
	LANE_REFUSED /* it can't be run there */
};

struct lane_answer {
	enum lane_how how;
	int status; /* exit status, or 128 + signal */
	uint64_t total, ms;
	bool dirty; /* something is left: clear the lane */
	uint64_t oom;
	struct buf out, modules;
};

struct lane {
	struct candidate c;
	char *spool; /* the directory of jobs */
	int jobs_fd;
	unsigned seq;
	bool busy, broken, whole;
	uint64_t oom_before, sent_ms;
	struct buf in;
	bool started;
};

/* modules: of an earlier answer; empty: none yet. */
int lane_start(struct agent *a, struct lane *l, const struct batch_cmd *cmd,
    const struct buf *modules, struct err *e);
int lane_send(struct lane *l, const struct lane_job *job, struct err *e);
/* False: it is broken, or gone. Clear ret in any case. */
bool lane_hear(struct lane *l, struct lane_answer *ret);
/* It waits for a job. */
bool lane_is_idle(struct lane *l);
void lane_clear(struct lane *l);
void lane_answer_clear(struct lane_answer *ans);

/* Of the answer to job number seq: 1: read whole; 0: there is more to come;
 * negative: nonsense. ret as lane_hear()'s. Pure. */
int lane_parse(
    const char *s, size_t len, unsigned seq, struct lane_answer *ret);

#endif
