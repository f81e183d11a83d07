/*
 * hooks_priv.h - one event and its hooks, for the files hooks*.c.
 *
 *	c = hook_call_create(r, HOOK_PRE_TOOL, w, "run_command");
 *	c->input = ...; c->more = ...;  what the hooks are told
 *	c->done = ...; c->ctx = ...;
 *	hook_call_begin(c);             done(c) comes once, perhaps at once
 *	hook_call_free(c);              also while one runs: it is ended
 */
#ifndef ORCHESTRATOR_RUN_HOOKS_PRIV_H
#define ORCHESTRATOR_RUN_HOOKS_PRIV_H

#include "orchestrator/hooks/hook_answer.h"
#include "orchestrator/hooks/hook_proc.h"
#include "orchestrator/run/hooks.h"

#define HOOKS_AT_ONCE 8
#define HOOK_FEED_MAX ((size_t)4 << 20) /* ANSWER.feed */

struct hook_call {
	TAILQ_ENTRY(hook_call) entry; /* of those that wait for a place */
	struct run *r;
	enum hook_event event;
	char *worker;     /* NULL: an event of the run */
	const char *kind; /* of its subtask */
	char *tool, *id;  /* may be NULL */
	json_t *input;    /* tool_input, or NULL */
	json_t *more;     /* further members of stdin, or NULL */
	const struct hook *v[HOOKS_MAX];
	size_t n, i;
	struct hook_answer sum;
	struct hook_proc *proc;
	bool waits;        /* for a place */
	bool in_workspace; /* the worker is running v[i] */
	/* Give v[i] to the worker; feed is its stdin. */
	void (*workspace)(
	    struct hook_call *c, const struct hook *h, const char *feed);
	void (*done)(struct hook_call *c);
	void *ctx;
};

TAILQ_HEAD(hook_call_list, hook_call);

struct hooks {
	struct hook_conf *conf;
	struct strv env;
	char *cwd;
	struct hook_call_list waiting;
	unsigned running;
	bool begun; /* SessionStart */
	char *context;
	struct strv warned; /* what was said on stderr, once each */
};

/* Of a worker: struct worker's hook. */
struct hook_reply {
	const char *verdict;
	char *reason, *input, *context, *command, *feed;
	uint64_t timeout_ms;
};

struct hook_side {
	uint64_t seq;            /* of the last HOOK that was taken */
	struct hook_reply reply; /* to it; verdict NULL: it is not there yet */
	struct hook_call *call;
	/* What PreToolUse has passed last. */
	char *tool;
	json_t *passed;
	uint64_t used; /* AUDIT.seq of the one command that it was for */
	/* PermissionRequest */
	struct hook_call *permission;
	struct permission p;
};

/* name: what matchers see. NULL: no hook is for it. */
struct hook_call *hook_call_create(struct run *r, enum hook_event ev,
    const struct worker *w, const char *name);
void hook_call_begin(struct hook_call *c);
/* What the worker says its command came to. */
void hook_call_result(struct hook_call *c, const struct hook_run *run);
void hook_call_free(struct hook_call *c);

/* w's, made when it is missing. */
struct hook_side *hook_side(struct worker *w);
void permission_clear(struct permission *p);

/* Is it a kind of worker that has hooks? */
bool hooks_of_kind(enum kind k);

#endif
