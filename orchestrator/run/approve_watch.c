/* approve_watch.c - what the monitor (watch.h) makes of an act that was decided
 * on, and what the rules say of a whole patch; see approve.h. */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "orchestrator/run/act.h"
#include "orchestrator/run/approve_priv.h"
#include "orchestrator/run/watch.h"

/* For this run: an act word by word, or a rule of the monitor. */
char *
approve_key_of(const struct asked *q)
{
	return q->rule != NULL ? approve_key("monitor", q->rule->name, NULL)
			       : approve_key(q->act, q->subject, q->detail);
}

bool
approve_granted(const struct approvals *a, const struct asked *q)
{
	char *key = approve_key_of(q);
	bool yes = strv_has(&a->granted, key);

	free(key);
	return yes;
}

/* A pause of the monitor: WATCH_GO, WATCH_KILL (here: deny), or WATCH_PAUSE,
 * the person is asked. *ret_by: who decided. */
static enum watch_how
pause_worker(struct approvals *a, struct worker *w, const struct msg_audit *m,
    enum asked_as as, const struct watch_said *said, const char **ret_by)
{
	struct asked *q, probe = { .rule = said->rule };

	*ret_by = "--ask";
	if (w->held)
		return WATCH_KILL; /* an answer is waited for already */
	w->pause = NULL;
	if (approve_granted(a, &probe)) {
		*ret_by = "person, run";
		return WATCH_GO;
	}
	if (a->how != ASK_PROMPT || a->n >= WAITING_MAX)
		return a->how == ASK_ALLOW ? WATCH_GO : WATCH_KILL;
	w->pause = said->rule;
	w->held = true;
	q = approve_question(a, w->name, m->seq, m->act, m->subject, m->detail,
	    said->reason, as);
	q->rule = said->rule;
	return WATCH_PAUSE;
}

/* The monitor looks at what was decided before it is told. */
void
approve_decide(struct approvals *a, struct worker *w, const struct msg_audit *m,
    bool allow, const char *reason, const char *by)
{
	enum watch_how how = WATCH_GO;
	struct watch_said said;

	watch_act(a->run, w, m->act, m->subject, m->detail,
	    allow ? "allow" : "deny", &said);
	if (said.how == WATCH_PAUSE) {
		how = pause_worker(a, w, m, ASKED_AUDIT, &said, &by);
		reason = said.reason;
		allow = how == WATCH_GO;
	} else if (said.how == WATCH_KILL) {
		allow = false;
		reason = said.reason;
		by = "monitor";
	}
	if (how == WATCH_PAUSE)
		approve_next(a);
	else
		approve_tell(a->run, w, m->seq, m->act, m->subject, m->detail,
		    allow, reason, by);
	if (said.how == WATCH_KILL)
		watch_kill(a->run, w, said.reason);
}

int
approvals_request(struct run *r, const char *worker, uint64_t seq,
    const char *url, bool first, bool allow, struct err *e)
{
	struct approvals *a = r->approvals;
	struct worker *w = sched_worker(r, worker);
	struct msg_audit m = { .seq = seq, .act = "fetch", .subject = url };
	enum watch_how how = WATCH_GO;
	struct watch_said said;
	const char *by;

	if (w == NULL || (a->once_watched && first))
		return 0;
	watch_act(r, w, "fetch", url, NULL, allow ? "allow" : "deny", &said);
	if (said.how == WATCH_KILL) {
		watch_kill(r, w, said.reason);
		how = WATCH_KILL;
	} else if (said.how == WATCH_PAUSE && first) {
		how = pause_worker(a, w, &m, ASKED_FETCH, &said, &by);
	} else if (said.how == WATCH_PAUSE) {
		/* It is under way: refused, and asked about at the next act. */
		w->pause = said.rule;
		how = WATCH_KILL;
	}
	if (how == WATCH_PAUSE)
		approve_next(a);
	return how == WATCH_GO   ? 0
	    : how == WATCH_PAUSE ? 1
				 : err_set(e, ERR_DENIED, "%s", said.reason);
}

/* The worker may go: its summary is kept here until it is answered. */
static void
hold_summary(struct approvals *a, struct worker *w, const struct msg_summary *m,
    struct asked *q)
{
	struct msg in = { .type = MSG_SUMMARY };
	struct msg ack = { .type = MSG_SUMMARY_ACK };
	struct err e;
	struct buf b;

	buf_init(&b, MSG_MAX_BYTES);
	in.u.summary = *m;
	if (msg_encode(&in, &b, &e) < 0 ||
	    msg_decode(buf_str(&b), b.len, &q->summary, &e) < 0)
		log_error("a summary can't be kept: %s", e.text);
	buf_clear(&b);
	q->of = *w;
	q->of.summary = false;
	w->summary = true;
	ack.u.summary_ack.subtask = w->subtask->id;
	handle_send(a->run, w, &ack);
}

bool
approvals_summary(struct run *r, struct worker *w, const struct msg_summary *m)
{
	struct approvals *a = r->approvals;
	struct msg_audit act = { .act = "summary",
		.subject = w->subtask->label };
	enum watch_how how;
	struct watch_said said;
	const char *by;

	watch_summary(r, w, m, &said);
	if (said.how == WATCH_GO)
		return true;
	how = said.how == WATCH_PAUSE
	    ? pause_worker(a, w, &act, ASKED_AUDIT, &said, &by)
	    : WATCH_KILL;
	if (how == WATCH_PAUSE) {
		hold_summary(a, w, m, TAILQ_LAST(&a->list, asked_list));
		approve_next(a);
	} else if (how == WATCH_KILL) {
		watch_kill(r, w, said.reason);
	}
	return how == WATCH_GO;
}

/* What was held is taken, or its worker's subtask ends without it. */
void
approve_summary(
    struct approvals *a, struct asked *q, bool allow, const char *by)
{
	struct msg_summary none = { .subtask = q->of.subtask->id,
		.attempt = q->of.attempt,
		.verdict = "error",
		.tools = q->of.tools };
	char text[700];

	run_event(a->run, "permission",
	    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "worker", q->worker,
		"act", "summary", "subject", q->subject, "verdict",
		allow ? "allow" : "deny", "reason", q->reason, "by", by));
	(void)snprintf(text, sizeof text, "ended by %s", q->reason);
	none.reason = text;
	results_settle(a->run, &q->of, allow ? &q->summary->u.summary : &none);
}

/* --- and of a whole patch ------------------------------------------------- */

bool
approvals_patch(struct run *r, const struct subtask *t, char **ret_why)
{
	struct approvals *a = r->approvals;
	struct err e = { 0 };
	char *detail;
	json_t *j;

	*ret_why =
	    act_judge_patch(r, a->rules, &a->where, t->patch, t->patch_len);
	if (*ret_why == NULL)
		return true;
	run_event(r, "permission",
	    json_pack("{s:s, s:s, s:s, s:s, s:o, s:s}", "worker", "", "act",
		"patch", "subject", t->label, "verdict", "deny", "reason",
		json_str_lossy(*ret_why, strlen(*ret_why)), "by", "rules"));
	j = json_pack("{s:o, s:s}", "reason",
	    json_str_lossy(*ret_why, strlen(*ret_why)), "by", "rules");
	detail = json_text(j);
	json_decref(j);
	if (audit_write(r->audit, run_now(r), "", "patch", t->label, detail,
		"deny", &e) < 0)
		log_error("audit: %s", e.text);
	free(detail);
	return false;
}
