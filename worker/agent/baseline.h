/* baseline.h - the tests twice, as they are: of baseline.c, for confirm.c. */
#ifndef WORKER_AGENT_BASELINE_H
#define WORKER_AGENT_BASELINE_H

#include "worker/agent/testrun.h"

/* Run all of TASK's tests two times and put into the summary what fails in
 * both, what is flaky, the counts, times and output; the verdict is the
 * caller's. False: they can't be run, then it is decided: `verdict` with the
 * reason, or error when there is no sandbox. Clear both in any case. */
bool baseline_twice(struct agent *a, const char *verdict, struct test_run *one,
    struct test_run *two);

/* Of these commands, how many tests passed whatever happens: without the flaky
 * names that passed now. first: the first command to count. */
uint64_t baseline_steady(const struct test_run *t, size_t first,
    const char *const *flaky, size_t n_flaky);

#endif
