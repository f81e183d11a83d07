/* verify.h - the last and dearest part of a verification: verify_tests.c. */
#ifndef WORKER_AGENT_VERIFY_H
#define WORKER_AGENT_VERIFY_H

struct agent;

/* Run the tests on the workspace as it is and end with a verdict. */
void verify_tests(struct agent *a);

#endif
