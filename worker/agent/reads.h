/*
 * reads.h - does the program read its tests while they run?
 *
 * A program that takes the answers from the tests' own text fixes nothing. The
 * tests run once more with a watch in each Python and node: an audit hook
 * (Python 3.8 or later), wrapped functions of fs (node). It tells a test that
 * is opened, or named to another process, by code of the program: some frame of
 * the call is in the tree, and neither protected nor installed. What only shows
 * lines of a test (traceback, warnings, logging) does not count.
 *
 * What else opens a test (a process that the program starts, a library of C) is
 * known by number alone: how often it was opened (opens.h), without what the
 * watches have seen. Node's own loader is among that, so it says something only
 * beside the number of the tree before, and only when no more Pythons and nodes
 * were started than there ("node a.js && node b.js" ends early there). Tests in
 * other languages are not watched.
 */
#ifndef WORKER_AGENT_READS_H
#define WORKER_AGENT_READS_H

#include "worker/agent/testrun.h"

struct reads {
	char *seen;        /* the test that the program read; NULL: none */
	struct strv tests; /* that were watched */
	size_t processes;  /* that had a watch in them */
	unsigned *unseen;  /* of each: how often something else opened it */
};

/* Does the patch add a line that may read a file in Python or node? Generous:
 * it says whether a run is worth its time. */
bool reads_may(const char *patch, size_t len);
/* Run the tests under the watch. All is empty where nothing can be known (no
 * test is Python or JavaScript, no mounts). */
void reads_run(
    struct agent *a, int base_fd, uint64_t limit_ms, struct reads *ret);
void reads_clear(struct reads *r);
/* Has something unseen opened a test? */
bool reads_unseen(const struct reads *r);
/* A test that was opened so more often than before; NULL: none. */
const char *reads_more(const struct reads *r, const struct reads *before);

#endif
