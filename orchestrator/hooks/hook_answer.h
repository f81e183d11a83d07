/*
 * hook_answer.h - what a hook's exit and output mean. Pure.
 *
 *	struct hook_run r = { .status = 2, .out = ..., .err = ... };
 *	struct hook_answer sum = { 0 }, one;
 *	hook_answer_read(hook, &r, &one);
 *	hook_answer_join(&sum, &one);       takes what is in one
 *	hook_answer_clear(&sum);
 *
 *	exit 0	stdout that begins with "{" is read as JSON, below. Other stdout
 *		is context for the model at SessionStart and UserPromptSubmit,
 *and else of no meaning. exit 2	blocks; stderr is the reason. Where the
 *event can't be blocked it is a warning. else	the hook failed: a warning, with
 *failClosed a block. So are a time limit, too much output, and JSON that can't
 *be read.
 *
 *	{"continue": false, "stopReason": T}     ends the run
 *	{"systemMessage": T}                     shown to the person
 *	{"decision": "block", "reason": T}       blocks ("approve": no opinion)
 *	{"hookSpecificOutput": {"hookEventName": E,
 *	    "permissionDecision": "allow" | "deny" | "ask" | "defer",
 *	    "permissionDecisionReason": T,
 *	    "decision": {"behavior": "allow" | "deny", "message": T},
 *	    "updatedInput": {...},               PreToolUse
 *	    "additionalContext": T}}
 *
 * Other members are not looked at; a known one of a wrong type, and an E that
 *is another event, make the hook one that failed. "allow" and "defer" are no
 *more than "no objection": a hook narrows what the rules allow and never widens
 *it.
 *
 * Several hooks: deny before ask before the rest, the reason of the first that
 * said so; the last updatedInput; all contexts. Texts are clean and have at
 *most HOOK_TEXT_MAX characters.
 */
#ifndef ORCHESTRATOR_HOOKS_HOOK_ANSWER_H
#define ORCHESTRATOR_HOOKS_HOOK_ANSWER_H

#include "orchestrator/hooks/hook_conf.h"

#define HOOK_OUTPUT_MAX ((size_t)64 << 10) /* bytes read of each stream */
#define HOOK_TEXT_MAX 10000

/* How a hook ended. */
struct hook_run {
	const char *failure; /* it did not run to its end: why */
	int status;          /* exit status, or 128 + signal */
	const char *out, *err;
	size_t out_len, err_len;
	bool cut; /* of out there was more */
};

enum hook_verdict {
	HOOK_NONE, /* no objection */
	HOOK_ASK,
	HOOK_DENY
};

struct hook_answer {
	enum hook_verdict verdict;
	char *reason; /* of the verdict */
	json_t *updated;
	char *context;
	bool stop; /* the run is to end; the verdict is HOOK_DENY, too */
	char *message, *warning; /* for the person */
};

const char *hook_verdict_str(enum hook_verdict v); /* "none", "ask", "deny" */

void hook_answer_read(
    const struct hook *h, const struct hook_run *r, struct hook_answer *ret);
/* message and warning stay in one. */
void hook_answer_join(struct hook_answer *sum, struct hook_answer *one);
void hook_answer_clear(struct hook_answer *a);

/* Clean text of at most HOOK_TEXT_MAX characters. Yours. */
char *hook_text(const char *s, size_t len);

#endif
