/*
 * notes.h - what the worker itself remembers of its calls, so that neither a
 * summary nor a verdict depends on what the model cared to write: attempts that
 * failed with their reasons, and the last state of the tests.
 */
#ifndef WORKER_AGENT_NOTES_H
#define WORKER_AGENT_NOTES_H

#include "common/buf.h"
#include "common/strv.h"
#include "proto/msg.h"

#define NOTES_FAILED_MAX 60

struct notes {
	struct strv failed; /* "run_command make: exit status 2: no rule" */
	char *tests;        /* "`make test`: exit status 1: 2 failed" */
	bool is_test;       /* tests is of one of TASK's commands */
};

void notes_clear(struct notes *n);
/* line: what the call is about; text: its result as it stands in the
 * conversation. tests: TASK's. */
void notes_add(struct notes *n, const struct msg_strs *tests, const char *name,
    const char *line, const char *text);
/* The last failed attempts in at most max bytes: as a list, or in one line. */
void notes_failed(
    const struct notes *n, size_t max, bool list, struct buf *ret);

#endif
