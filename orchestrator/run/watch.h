/*
 * watch.h - the monitor (monitor/monitor.h) of a run: it is fed what workers
 * do, and what its rules say is done here. Each hit is in the audit (act
 * "monitor", subject the rule's name) and an event before it has an effect.
 *
 *	watch_create(r, &r->watch, &e);      rules: supplied, and the settings'
 *	watch_begin(r, &e);                  the tests are known; a run that
 *	                                     goes on has its chain read
 *	watch_act(r, w, act, subject, detail, "allow", &said);
 *	... before the verdict is sent; said.how is yours to follow
 *	watch_worker_gone(r->watch, name);
 *	watch_free(r->watch);
 *
 * flag and steer are done when watch_act() returns. A pause that can't begin
 * with the act (it was denied, or is told of afterwards) begins with the
 * worker's next one: w->pause.
 */
#ifndef ORCHESTRATOR_RUN_WATCH_H
#define ORCHESTRATOR_RUN_WATCH_H

#include "orchestrator/monitor/monitor.h"
#include "orchestrator/run/state.h"

struct watch;

enum watch_how {
	WATCH_GO,
	WATCH_PAUSE, /* the person is to be asked, of said->rule */
	WATCH_KILL   /* deny, then watch_kill() */
};

struct watch_said {
	enum watch_how how;
	const struct monitor_rule *rule; /* of PAUSE and KILL */
	char reason[600];                /* for the person and the model */
};

/* The supplied rules, as the person's settings change them; to clear, after an
 * error, too. ERR_SYNTAX naming the settings' file, the rule and the key. */
int watch_rules(
    const json_t *settings, struct monitor_rules *ret, struct err *e);
int watch_create(struct run *r, struct watch **ret, struct err *e);
int watch_begin(struct run *r, struct err *e);
void watch_free(struct watch *w);

/* verdict: what was decided, allow or deny. A worker that is ended, or for
 * whom an answer is waited for, gets PAUSE or KILL for what was allowed. */
void watch_act(struct run *r, struct worker *w, const char *act,
    const char *subject, const char *detail, const char *verdict,
    struct watch_said *said);

/* What a command asks the proxy for: it can't wait, so a pause refuses it. 0,
 * or ERR_DENIED with *ret_detail, the audit's detail with the reason; yours. */
int watch_network(struct run *r, const char *worker, const char *subject,
    const char *detail, const char *verdict, char **ret_detail);
/* A tool call that needs no verdict, told of when it was made. */
void watch_progress(
    struct run *r, struct worker *w, const struct msg_progress *m);
/* A summary of a worker with a model, before it is taken; it is in the audit
 * when this returns. Of the others nothing is said. */
void watch_summary(struct run *r, struct worker *w, const struct msg_summary *m,
    struct watch_said *said);

/* End the worker; its subtask ends with that reason. w lives until its exit is
 * told. */
void watch_kill(struct run *r, struct worker *w, const char *reason);
void watch_worker_gone(struct run *r, const char *worker);

#endif
