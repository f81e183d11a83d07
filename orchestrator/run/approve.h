/*
 * approve.h - each act of a worker is judged before it happens: AUDIT and
 * FETCH. What the rules (policy.h) allow or deny is answered at once; what they
 * ask for is answered as --ask says, or by the person on the terminal while
 * everything else goes on. The answer is in the audit before it is sent.
 *
 *	approvals_create(r, &a, &e);     loads the rules
 *	approvals_audit(r, w, m);        VERDICT is sent now or later
 *	approvals_worker_gone(a, name);
 *	approvals_free(a);
 *
 * A person's "for this run" is of that act alone, word by word, and kept in
 * memory only.
 */
#ifndef ORCHESTRATOR_RUN_APPROVE_H
#define ORCHESTRATOR_RUN_APPROVE_H

#include "orchestrator/run/state.h"

struct approvals;
struct permission;

/* The text of --ask: prompt, prompt:TIME, deny, allow; into opts. */
int approve_option(struct run_opts *o, const char *arg, struct err *e);

/* r->root and r->audit are there. ERR_SYNTAX: rules that can't be read. What
 * the repository's settings want in vain is said and recorded. */
int approvals_create(struct run *r, struct approvals **ret, struct err *e);
void approvals_free(struct approvals *a);

void approvals_audit(
    struct run *r, struct worker *w, const struct msg_audit *m);
/* True: fetches_start() may go on; false: it is answered, or will be. */
bool approvals_fetch(
    struct run *r, struct worker *w, const struct msg_fetch *m);
/* A request, also after a redirect: ERR_DENIED with the reason. */
int approvals_url(struct run *r, const char *url, struct err *e);
/* A request of a fetch as the monitor sees it (watch.h), before it is on
 * record; first: not a redirect. 0: go on; 1: the person is asked,
 * fetches_start() comes again or the worker is answered; ERR_DENIED. */
int approvals_request(struct run *r, const char *worker, uint64_t seq,
    const char *url, bool first, bool allow, struct err *e);
/* True: take the summary. False: it is kept until the person has answered, or
 * the worker is ended. */
bool approvals_summary(
    struct run *r, struct worker *w, const struct msg_summary *m);
/* A candidate's patch before it is verified: what a program wrote is seen here.
 * false: a rule denies it; it is on record, and *ret_why (yours) says why. */
bool approvals_patch(struct run *r, const struct subtask *t, char **ret_why);
void approvals_worker_gone(struct approvals *a, const char *worker);

/* The PermissionRequest hooks have spoken; denied: why one denies it, or NULL.
 * VERDICT or FETCH_RESULT is sent now or later. */
void approvals_hooked(struct run *r, struct worker *w,
    const struct permission *p, const char *denied);
/* A PreToolUse hook asks: hooks_answered() is called, now or later. */
void approvals_hook(struct run *r, struct worker *w, uint64_t seq,
    const char *tool, const char *input, const char *reason);

/* Tools that are to be asked about before each call. */
void approvals_judged(const struct approvals *a, struct strv *ret);

#endif
