/*
 * testrun.h - run all test commands once and say which tests passed.
 *
 * A command whose output no parser understands counts as one test with its own
 * text as the name. So does one that fails although no failing test is named.
 */
#ifndef WORKER_AGENT_TESTRUN_H
#define WORKER_AGENT_TESTRUN_H

#include "common/tests_parse.h"
#include "worker/agent/agent.h"

struct test_command {
	int status;
	bool timed_out;
	bool stalled; /* it was ended in a loop */
	bool parsed;  /* by a parser; else the command is the test */
	bool all_names, exact;
	struct strv failed; /* sorted */
	struct strv passed; /* sorted; perhaps not all */
	uint64_t n_passed, n_failed, n_skipped;
	uint64_t ms, slowest_ms;
	struct buf output; /* as it came, head and tail */
};

struct test_run {
	struct test_command
	    *v; /* as many as TASK.tests, or fewer when stopped */
	size_t n;
	bool per_test; /* every command was parsed */
	uint64_t n_passed, n_failed, n_skipped;
	uint64_t longest_ms, slowest_ms;
};

/* Each command is audited before it runs. timeout_ms: of one command; stall_ms:
 * as in exec.h. Negative when a command could not be run at all: no sandbox, or
 * not allowed. */
int test_run(struct agent *a, uint64_t timeout_ms, uint64_t stall_ms,
    struct test_run *ret, struct err *e);
void test_run_clear(struct test_run *t);

/* Is the name among the failing ones of any command? */
bool test_run_failed(const struct test_run *t, const char *name);
bool test_run_passed(const struct test_run *t, const char *name);

/* What helps where a shell may not execute a file (status 126). A link may lead
 * to what the sandbox's user can't reach: a venv's python below /root. */
#define TESTRUN_NO_EXEC \
	"chmod +x it, or run it by its interpreter; a link, such as the " \
	"python of a venv, may lead where the sandbox can't go"

/* A sentence on why the command could not run its tests at all, for a person;
 * NULL: it did. Yours. */
char *test_command_trouble(const char *command, const struct test_command *c);

/* A command as the name of a test: one line, at most 256 bytes. Yours. */
char *test_command_name(const char *command);

#endif
