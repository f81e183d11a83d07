/* syntax.h - does a changed file still parse? */
#ifndef WORKER_AGENT_SYNTAX_H
#define WORKER_AGENT_SYNTAX_H

#include "worker/agent/agent.h"

/* rel: below the root. True when it parses, when nobody can tell (no checker,
 * an unknown kind of file), and when the base's own text does not parse with
 * the same checker. why: one line. */
bool syntax_check(struct agent *a, const char *rel, char *why, size_t size);

#endif
