/*
 * hint.h - words to a person beside a command's own: why it may have failed.
 * Told from outside, by the spec; each is one line on stderr.
 */
#ifndef ORCHESTRATOR_DIRECT_HINT_H
#define ORCHESTRATOR_DIRECT_HINT_H

#include "orchestrator/direct/direct.h"

/* Before it starts: files of several owners; parts of the tree's repository
 * that lie where they can't be seen (they are named by the repository, so
 * showing them is the person's to say); a copy without a repository, and why.
 */
void hint_start(const struct direct *d);
/* After its end. each_limited: RLIMIT_DATA stands in for a control group. */
void hint_status(const struct direct *d, int status, bool each_limited);

#endif
