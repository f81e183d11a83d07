/*
 * collect.h - tests that were never run because their modules can't be
 * imported.
 *
 * Where Python does not find a module that the tests themselves ask for, no
 * edit of a source file helps: either it is there and not on the path, or it is
 * not installed. A bug in a source file that is imported looks different: its
 * line stands in the traceback.
 */
#ifndef WORKER_AGENT_COLLECT_H
#define WORKER_AGENT_COLLECT_H

#include "worker/agent/testrun.h"

/* root, workdir: of the tree as the command sees it, absolute; wanted: a module
 * that is missing may be what is to be written. A sentence for a person when no
 * test could be collected for that reason, with what to do; NULL: there is
 * another reason, or tests ran. Yours. */
char *collect_trouble(const char *command, const struct test_command *c,
    const char *root, const char *workdir, bool wanted);

/* A sentence more for why, which is taken, when the command's python has no
 * pytest but one is in path_env (may be NULL). Yours. */
char *collect_offer(char *why, const char *command,
    const struct test_command *c, const char *path_env);

#endif
