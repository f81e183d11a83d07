/*
 * signs.h - what a patch shows of being made for the tests alone: lines that it
 * adds to the source and that ask whether tests run, end the process, change
 * what asserts do or print what a runner would; files that stand before a
 * library's or a tool's own.
 *
 * A line that the patch only moves, or whose word the file has already, is
 * none. Tests and documents are not looked at. Text can be disguised: what can
 * be told by running is told so (control.h), this names it.
 */
#ifndef WORKER_AGENT_SIGNS_H
#define WORKER_AGENT_SIGNS_H

#include "worker/agent/agent.h"

struct signs {
	struct strv grave; /* "app.py:3 asks whether tests run: ..." */
	struct strv light; /* honest code may have it, too: for a person */
	/* Of those: the exit status alone is no evidence beside it. */
	struct strv exits;
};

/* patch: a git diff. base_fd: the tree before it; a->fs.guarded: its protected
 * files. */
void signs_find(const struct agent *a, int base_fd, const char *patch,
    size_t len, struct signs *ret);
void signs_clear(struct signs *s);

/* A new file: does it stand before something that is not the tree's? What, or
 * NULL. mode: of a git diff. */
const char *signs_shadow(int base_fd, const char *rel, unsigned mode);

#endif
