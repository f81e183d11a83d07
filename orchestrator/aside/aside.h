/*
 * aside.h - a process of foray's own beside it, for what strangers speak to:
 * foray once more, with a hidden command, few variables and as few rights.
 */
#ifndef ORCHESTRATOR_ASIDE_ASIDE_H
#define ORCHESTRATOR_ASIDE_ASIDE_H

#include <sys/types.h>

#include "common/strv.h"

#define ASIDE_FD 3 /* the first of the descriptors that it is given */

/* Starts it with these arguments: descriptors 0 and 1 are /dev/null, 2 is log,
 * fds[0] is ASIDE_FD, fds[1] the next one (4 at most); all others are closed.
 * It dies with the thread that made it. Its pid, or -errno. */
pid_t aside_start(const struct strv *argv, int log, const int fds[], size_t n);
/* In the new program, as root: to the sandboxes' uid. 0, or -errno. */
int aside_drop_root(void);

#endif
