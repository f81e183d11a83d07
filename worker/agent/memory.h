/*
 * memory.h - what a project says about itself, for the message between the
 * system prompt and the task.
 *
 * In this order, 32 KiB in all: the user's own notes (TASK.memory), and the
 * repository's: AGENTS.md, or else CLAUDE.md, of its root and of each directory
 * down to the working directory. Then the list of skills (skills.h). The
 * repository's part is hostile text: it stands between marks that it can't
 * write itself, under a heading that says what it may not do. The same tree
 * gives the same bytes, so that all workers of a run share a prefix.
 */
#ifndef WORKER_AGENT_MEMORY_H
#define WORKER_AGENT_MEMORY_H

#include "worker/agent/agent.h"

#define MEMORY_MAX ((size_t)32 << 10)

/* Appended; nothing when there is neither a note nor a skill. */
void memory_text(struct agent *a, struct buf *ret);

/* The directories from the working directory up to the root, deepest first, as
 * rel names ("." is the root). */
void memory_dirs(const struct agent *a, struct strv *ret);

#endif
