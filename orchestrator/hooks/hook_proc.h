/*
 * hook_proc.h - a hook as a process on the loop: the person's program, outside
 * every sandbox, so what it is given is chosen here.
 *
 *	struct hook_proc_opts o = { .loop = l, .command = "...", ... };
 *	hook_proc_start(&o, done, ctx, &p, &e);      done() comes later, once
 *	hook_proc_kill(p);                           instead of done()
 *
 * It is sh -c command with the given bytes at stdin (a file in memory, so that
 * nobody waits for a program that does not read it), a pipe each at stdout and
 * stderr, no other descriptor, and the environment of hook_env() alone.
 *
 * It runs in a process group of its own under a keeper, which ends the group
 * when we die, however we die. Its group is killed whole when it has ended
 *(what it left in the background goes with it), at its time limit, when it
 *wrote over 16 MiB, and by hook_proc_kill(). Of each stream HOOK_OUTPUT_MAX
 *bytes are kept. A descendant that holds the pipes after its end is waited for
 *500 ms before the kill. A program that leaves the group (setsid) is its own.
 */
#ifndef ORCHESTRATOR_HOOKS_HOOK_PROC_H
#define ORCHESTRATOR_HOOKS_HOOK_PROC_H

#include "common/loop.h"
#include "orchestrator/hooks/hook_answer.h"

struct hook_proc;

struct hook_proc_opts {
	struct loop *loop;
	const char *command;
	const char *cwd;
	const struct strv *env; /* the whole of it */
	const void *input;
	size_t input_len;
	uint64_t timeout_ms;
};

/* r is valid during the call; the process is gone and p is freed after it. */
typedef void (*hook_proc_cb)(void *ctx, const struct hook_run *r, uint64_t ms);

int hook_proc_start(const struct hook_proc_opts *o, hook_proc_cb cb, void *ctx,
    struct hook_proc **ret, struct err *e);
void hook_proc_kill(struct hook_proc *p);

/* What a hook may know of our environment: PATH, HOME, language, user, terminal
 * and temporary directory. No key has one of these names. Appends. */
void hook_env(struct strv *ret);

#endif
