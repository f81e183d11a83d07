/*
 * control.h - can the tests still fail?
 *
 * After all tests have passed with a patch, they run once more with tests added
 * that must fail, under names that nobody could know. Where the patch keeps
 * those from failing (early exits, asserts that do nothing, results that are
 * printed or rewritten) although they fail on the tree before it, nothing that
 * passed is evidence. What fails now though it passed a moment ago is said,
 * too. Python, node's, mocha's, jest's and vitest's tests, and Go's; where none
 * can be added, nothing is claimed.
 */
#ifndef WORKER_AGENT_CONTROL_H
#define WORKER_AGENT_CONTROL_H

#include <sys/stat.h>

#include "worker/agent/testrun.h"

struct control {
	struct strv files;  /* that tests were added to, below root */
	struct strv tokens; /* a word in the name of each */
};

/* Add them, to the files of the protected ones that these names of tests speak
 * of, or to the first ones. false: there is none to add to. */
bool control_plant(struct agent *a, int base_fd, struct control *ret);
/* How many of them are reported as failing? */
size_t control_failing(const struct control *c, const struct test_run *t);
/* Of the run's failing names one that is not theirs, did not fail before and is
 * none of these; NULL: none. */
const char *control_other(const struct control *c, const struct test_run *t,
    const struct test_run *before, const struct msg_strs *flaky);
/* Text with each "@" replaced, appended. A word: letters only. */
#define CONTROL_TOKEN_LEN 10
void control_put(struct buf *b, const char *text, const char *token);
void control_token(char token[CONTROL_TOKEN_LEN + 1]);
/* In place of what is there, later than that. base: the file's of the base. */
int control_write(struct agent *a, const char *rel, const struct stat *base,
    const struct buf *text);
void control_clear(struct control *c);

#endif
