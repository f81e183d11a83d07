/*
 * agent.h - one worker: what it knows, and the acts of all its parts.
 *
 * main.c fills it from worker.json and TASK; a kind of task (turn.c for
 * explore, plan, reproduce and tool; baseline.c; confirm.c; verify.c) fills the
 * summary; summary.c sends it.
 */
#ifndef WORKER_AGENT_AGENT_H
#define WORKER_AGENT_AGENT_H

#include "common/buf.h"
#include "common/strv.h"
#include "proto/msg.h"
#include "worker/agent/config.h"
#include "worker/agent/flight.h"
#include "worker/agent/link.h"
#include "worker/agent/treefs.h"

#define AGENT_COMMAND_MAX 8192 /* bytes of a command: AUDIT's subject */

/* The summary in the making; cut to the limits when it is sent. */
struct outcome {
	const char *verdict; /* static; NULL: not decided */
	char *hypothesis;
	struct strv findings;
	struct strv evidence;
	char *reason;
	struct buf output; /* raw or clean */
	struct buf patch;
	struct strv failing;
	struct strv flaky;
	uint64_t tests_passed, tests_failed, test_ms, slowest_ms;
	bool per_test;
};

struct batches;
struct restore;

struct agent {
	struct config cfg;
	struct link *link;
	struct msg *task_msg;
	const struct msg_task *task; /* in task_msg */
	struct treefs fs;
	struct outcome out;
	struct strv written;    /* paths below root that edits touched */
	struct strv reproducer; /* files of TASK.base_patch, below root */
	struct strv refused;    /* protected files that tools were to edit */
	struct strv todos;
	struct restore *restore; /* NULL: protected files are mounted so */
	uint64_t started_ms;
	uint64_t audit_seq, hook_seq;
	bool audit_denied; /* the last AUDIT was: it is on record */
	const char *call;  /* the model's id of the call being made, or NULL */
	uint64_t calls, tools, tried;
	unsigned outputs;        /* files /tmp/out-N.txt written */
	unsigned dirs;           /* directories for candidates made */
	bool no_overlay;         /* candidates must be copied */
	struct flight flight;    /* of candidates */
	struct batches *batches; /* batch.h */
	bool finished;           /* finish was accepted */
	bool hook_ran; /* one in the workspace, since finish was accepted */
};

/* An act is about to happen: 0, or ERR_DENIED with the reason. act: command,
 * write, try, test. */
int agent_audit(struct agent *a, const char *act, const char *subject,
    const char *detail, struct err *e);
/* text: one line, may be NULL; escaped and cut here. */
void agent_progress(struct agent *a, const char *what, const char *tool,
    const char *verdict, const char *text, uint64_t ms);
void agent_progress_n(
    struct agent *a, const char *what, uint64_t done, uint64_t total);
/* End with this verdict and reason, unless one is set. */
void agent_end(struct agent *a, const char *verdict, const char *fmt, ...)
    printflike(3, 4);
/* The time limit of a command in ms: want (0: the default) within TASK's. */
uint64_t agent_limit_ms(const struct agent *a, uint64_t want);
/* The same from a model's seconds, any number; still in ms. */
uint64_t agent_limit_s(const struct agent *a, uint64_t want_s);

/* Kinds of task. */
void baseline_run(struct agent *a);
void confirm_run(struct agent *a);
void verify_run(struct agent *a);
void turn_run(struct agent *a);

/* summary.c: the patch of what was changed into out.patch (empty: nothing);
 * negative when it can't be made. */
int summary_patch(struct agent *a, struct err *e);
/* Send SUMMARY until it is acknowledged. */
int summary_send(struct agent *a, struct err *e);
void outcome_clear(struct outcome *o);
/* Cut to the limits of SUMMARY in place; for tests apart from sending. */
void summary_fit(struct outcome *o, bool plan);

#endif
