/*
 * reads.h - does the program read its tests while they run?
 *
 * A program that takes the answers from the tests' own text fixes nothing. The
 * tests run once more with a watch in each Python and node: an audit hook
 * (Python 3.8 or later), wrapped functions of fs (node). It tells a test that
 * is opened, or named to another process, by code of the program: some frame of
 * the call is in the tree, and neither protected nor installed. What only shows
 * lines of a test (traceback, warnings, logging) does not count. Other
 * languages, and readers that go past these libraries, are not seen.
 */
#ifndef WORKER_AGENT_READS_H
#define WORKER_AGENT_READS_H

#include "worker/agent/testrun.h"

/* Does the patch add a line that may read a file in Python or node? Generous:
 * it says whether a run is worth its time. */
bool reads_may(const char *patch, size_t len);
/* Run the tests under the watch: the test that was read, below the root; NULL:
 * none, or nothing can be known (no test is Python or JavaScript, no mounts).
 * Yours. */
char *reads_run(struct agent *a, int base_fd, uint64_t limit_ms);

#endif
