/*
 * hooks.h - the person's own programs at the events of a run. What they are:
 * hook_conf.h; what their answers mean: hook_answer.h; how they run:
 * hook_proc.h.
 *
 *	hooks_create(r, settings, &r->hooks, e);   NULL: there are none
 *	hooks_begin(r, e);                      SessionStart, UserPromptSubmit
 *	hooks_task(r, t, &names);                  TASK.hooks
 *	hooks_message(r, w, m);                    HOOK, answered now or later
 *	hooks_passed(r, w, m, &why);               before an AUDIT is judged
 *	hooks_permission(r, &p);                   before the person is asked
 *	hooks_may_deliver(r);                      Stop
 *	hooks_end(r);                              SessionEnd
 *	hooks_free(r->hooks);
 *
 * The hooks of one event run one after the other, in the order of the settings,
 * each with the input as those before it left it; all of them run. Over all
 * workers 8 run at once, the rest waits. Everything else goes on meanwhile.
 *Each start is in the audit before it, each result before its effect; both are
 * events. Where the audit can't be written the hook does not run and its event
 * is blocked.
 *
 * A hook narrows: "allow" is never passed on. "ask" is answered as --ask says;
 * an updated input is judged by rules and gate like one of the model's own.
 *
 * The worker may be hostile. So an act (AUDIT, FETCH) that belongs to a tool
 * with a PreToolUse hook is refused unless the worker has said HOOK before it
 * and the hooks passed the same input: an equal command, URL or check; for a
 * write an equal path, or a patch that names the path. One HOOK is good for one
 * command. What a hook in a workspace says comes from the worker, so it guards
 * against the model, not against a worker that was taken over.
 *
 * Only workers that a model drives (plan, explore, reproduce, review) have
 * hooks; baseline, verification and confirmation have none, so that the
 *evidence is of the tests alone. `foray tool` and a replay run none.
 *
 * A HOOK that is sent again while its hooks run is dropped, and after that gets
 * the answer that was lost; nothing runs twice.
 */
#ifndef ORCHESTRATOR_RUN_HOOKS_H
#define ORCHESTRATOR_RUN_HOOKS_H

#include "orchestrator/hooks/hook_conf.h"
#include "orchestrator/run/state.h"

struct hooks;
struct hook_side;

/* An act that the rules ask about, for PermissionRequest. Owned by whom it is
 * given to. */
struct permission {
	char *worker, *act, *subject, *detail; /* detail may be NULL */
	char *reason;                          /* the rules' */
	uint64_t seq;
	bool fetch;
};

/* Those of the person's settings; *ret is NULL when there are none. ERR_SYNTAX
 * names file and place. */
int hooks_conf(const json_t *settings, struct hook_conf **ret, struct err *e);
int hooks_create(
    struct run *r, const json_t *settings, struct hooks **ret, struct err *e);
/* Ends what still runs; then it can be freed. */
void hooks_free(struct hooks *h);

/* r->store and r->audit are there. Blocks until they are done; a hook that
 * refuses the task ends the run (run_end). Negative: an error. */
int hooks_begin(struct run *r, struct err *e);
/* The Stop hooks, for a run that came to a result; patch: its file, or NULL.
 * false: one wants that the patch is not put in place; *ret_why is yours. */
bool hooks_may_deliver(struct run *r, const char *patch, char **ret_why);
/* SessionEnd, when hooks_begin() was called. */
void hooks_end(struct run *r);
/* What SessionStart and UserPromptSubmit want the models to know, or NULL. */
const char *hooks_context(const struct run *r);

void hooks_task(const struct run *r, const struct subtask *t, struct strv *ret);
void hooks_message(struct run *r, struct worker *w, const struct msg_hook *m);
/* false: the act is refused; *ret_why says why, static. */
bool hooks_passed(struct run *r, struct worker *w, const struct msg_audit *m,
    const char **ret_why);
bool hooks_fetch_passed(struct run *r, struct worker *w, const char *url);
/* True: p is taken, approvals_hooked() comes later (or it is under way
 * already); false: there is no hook. */
bool hooks_permission(struct run *r, const struct permission *p);
/* The person's answer to a hook that asks. */
void hooks_answered(
    struct run *r, struct worker *w, uint64_t seq, bool allow, const char *by);
/* Its hooks end. */
void hooks_worker_gone(struct run *r, struct worker *w);

#endif
