/*
 * verify.h - the parts of a verification: verify.c applies and checks,
 * verify_tests.c runs the tests, verify_control.c sees whether they can fail.
 */
#ifndef WORKER_AGENT_VERIFY_H
#define WORKER_AGENT_VERIFY_H

#include "worker/agent/signs.h"
#include "worker/agent/testrun.h"

struct verify {
	struct agent *a;
	struct strv paths; /* that the patch touches */
	struct strv left;  /* those of them that still count */
	struct signs signs;
	int base_fd;
};

/* A path as the snapshot has it, also when it has none. */
int verify_undo(struct verify *v, const char *rel, struct err *e);
/* Run the tests on the workspace as it is and end with a verdict. */
void verify_tests(struct verify *v);
/* All passed in t. Why that is no evidence; yours, NULL: it is. The workspace
 * is spent afterwards. ret_can_fail: a test that had to fail did. */
char *verify_control(struct verify *v, uint64_t limit, const struct test_run *t,
    bool *ret_can_fail);

#endif
