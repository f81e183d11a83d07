#include "common/compat.h"

#include <sys/queue.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/act.h"
#include "orchestrator/run/approve_priv.h"
#include "orchestrator/run/fetch.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/policy.h"
#include "orchestrator/run/terminal.h"
#include "orchestrator/run/watch.h"

#define WAIT_MS 300000
#define REASON_MAX 1024 /* VERDICT */

int
approve_option(struct run_opts *o, const char *arg, struct err *e)
{
	static const char *const words[] = { "", "prompt", "deny", "allow" };
	enum ask_how h;

	if (text_starts(arg, "prompt:")) {
		o->ask = ASK_PROMPT;
		return num_duration_ms(arg + 7, "--ask", &o->ask_ms, e);
	}
	for (h = ASK_PROMPT; h <= ASK_ALLOW; h++)
		if (strcmp(arg, words[h]) == 0) {
			o->ask = h;
			return 0;
		}
	return err_set(e, ERR_USAGE,
	    "--ask is prompt, prompt:TIME, deny or allow, not \"%.40s\"", arg);
}

static void
unlink_asked(struct approvals *a, struct asked *q)
{
	TAILQ_REMOVE(&a->list, q, entry);
	a->n--;
}

static void
asked_free(struct asked *q)
{
	free(q->worker);
	free(q->act);
	free(q->subject);
	free(q->detail);
	free(q->reason);
	msg_free(q->summary);
	free(q);
}

static bool
is_granted(const struct approvals *a, const char *act, const char *subject,
    const char *detail)
{
	char *key = approve_key(act, subject, detail);
	bool yes = strv_has(&a->granted, key) ||
	    (a->once != NULL && strcmp(a->once, key) == 0);

	free(key);
	return yes;
}

/* --- answers -------------------------------------------------------------- */

/* What the record says besides what the worker said of it. */
static char *
detail_with(const char *detail, const char *reason, const char *by)
{
	json_t *j = json_object(), *more = NULL;
	char *text;

	if (detail != NULL && *detail != '\0' &&
	    json_parse(detail, strlen(detail), 1 << 16, &more, NULL) == 0)
		(void)json_object_set_new(j, "of", more);
	(void)json_object_set_new(
	    j, "reason", json_str_lossy(reason, strlen(reason)));
	(void)json_object_set_new(j, "by", json_string(by));
	text = json_text(j);
	json_decref(j);
	return text;
}

/* What a worker says of its act must not look like what was decided about it.
 * NULL: it doesn't. */
static char *
detail_alone(const char *detail)
{
	json_t *j = NULL;
	char *text = NULL;

	if (detail == NULL || *detail == '\0' ||
	    json_parse(detail, strlen(detail), 1 << 16, &j, NULL) < 0)
		return NULL;
	if (json_object_get(j, "by") != NULL ||
	    json_object_get(j, "reason") != NULL) {
		j = json_pack("{s:o}", "of", j);
		text = json_text(j);
	}
	json_decref(j);
	return text;
}

/* reason: NULL when nothing is against it. by: who decided. */
void
approve_tell(struct run *r, struct worker *w, uint64_t seq, const char *act,
    const char *subject, const char *detail, bool allow, const char *reason,
    const char *by)
{
	struct msg out = { .type = MSG_VERDICT };
	char text[REASON_MAX], *full, *kept = approve_kept(act, detail);
	struct err e = { 0 };

	full =
	    reason != NULL ? detail_with(kept, reason, by) : detail_alone(kept);
	if (reason != NULL)
		run_event(r, "permission",
		    json_pack("{s:s, s:s, s:o, s:s, s:o, s:s}", "worker",
			w->name, "act", act, "subject",
			json_str_lossy(subject, strlen(subject)), "verdict",
			allow ? "allow" : "deny", "reason",
			json_str_lossy(reason, strlen(reason)), "by", by));
	if (audit_write(r->audit, run_now(r), w->name, act, subject,
		full != NULL ? full : kept, allow ? "allow" : "deny", &e) < 0) {
		allow = false;
		reason = "the audit record can't be written";
		log_error("audit: %s", e.text);
	}
	free(full);
	free(kept);
	(void)text_escape_to(text, sizeof text, reason != NULL ? reason : "",
	    reason != NULL ? strlen(reason) : 0);
	out.u.verdict.seq = w->audit_seq = seq;
	w->audit_allowed = allow;
	out.u.verdict.verdict = allow ? "allow" : "deny";
	if (!allow)
		out.u.verdict.reason = text;
	handle_send(r, w, &out);
}

static void
settle_fetch(struct approvals *a, struct asked *q, struct worker *w, bool allow,
    const char *by)
{
	struct msg out = { .type = MSG_FETCH_RESULT };
	struct msg_fetch m = { .seq = q->seq, .url = q->subject };
	char text[REASON_MAX], *before = a->once;
	bool watched = a->once_watched;

	run_event(a->run, "permission",
	    json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "worker", w->name,
		"act", "fetch", "subject", q->subject, "verdict",
		allow ? "allow" : "deny", "reason", q->reason, "by", by));
	if (allow) {
		a->once = approve_key("fetch", q->subject, NULL);
		a->once_watched = q->rule != NULL;
		fetches_start(a->run->fetches, w, &m);
		free(a->once);
		a->once = before;
		a->once_watched = watched;
		return;
	}
	(void)text_escape_to(text, sizeof text, q->reason, strlen(q->reason));
	out.u.fetch_result.seq = q->seq;
	out.u.fetch_result.error = text;
	handle_send(a->run, w, &out);
}

static void
tell_hook(struct approvals *a, struct worker *w, uint64_t seq,
    const char *subject, bool allow, const char *reason, const char *by)
{
	run_event(a->run, "permission",
	    json_pack("{s:s, s:s, s:o, s:s, s:o, s:s}", "worker", w->name,
		"act", "hook", "subject",
		json_str_lossy(subject, strlen(subject)), "verdict",
		allow ? "allow" : "deny", "reason",
		json_str_lossy(reason, strlen(reason)), "by", by));
	hooks_answered(a->run, w, seq, allow, by);
}

/* q is out of the list: what follows may ask anew. */
static void
settle(struct approvals *a, struct asked *q, bool allow, const char *by)
{
	struct worker *w = sched_worker(a->run, q->worker);
	struct msg_audit m = { .seq = q->seq,
		.act = q->act,
		.subject = q->subject,
		.detail = q->detail };

	if (w != NULL && q->rule != NULL) {
		w->pause = NULL;
		w->held = false;
	}
	allow = allow && (w == NULL || !w->ended);
	if (q->summary != NULL)
		approve_summary(a, q, allow, by);
	else if (w != NULL && q->as == ASKED_FETCH)
		settle_fetch(a, q, w, allow, by);
	else if (w != NULL && q->as == ASKED_HOOK)
		tell_hook(a, w, q->seq, q->subject, allow, q->reason, by);
	else if (w != NULL && q->rule != NULL)
		approve_tell(a->run, w, q->seq, q->act, q->subject, q->detail,
		    allow, q->reason, by);
	else if (w != NULL)
		approve_decide(a, w, &m, allow, q->reason, by);
	asked_free(q);
}

static void
answered(void *ctx, enum terminal_answer answer)
{
	static const char *const by[] = { "person", "person", "person, run",
		"timeout" };
	struct approvals *a = ctx;
	struct asked *q = TAILQ_FIRST(&a->list);
	bool allow = answer == TERMINAL_ONCE || answer == TERMINAL_RUN;

	if (q == NULL)
		return;
	if (answer == TERMINAL_RUN)
		approve_grant(a, q);
	unlink_asked(a, q);
	settle(a, q, allow, by[answer]);
	approve_next(a);
}

void
approve_next(struct approvals *a)
{
	struct asked *q, *next;
	struct buf b;

	/* Granted meanwhile: asked once is enough. What follows from it may
	 * change the list, so each time it is looked at anew. */
	TAILQ_FOREACH_SAFE (q, &a->list, entry, next) {
		if (terminal_busy(a->terminal) || !approve_granted(a, q))
			break;
		unlink_asked(a, q);
		settle(a, q, true, "person, run");
		approve_next(a);
		return;
	}
	if (a->run->plain != NULL)
		plain_hold(a->run->plain, q != NULL);
	if (q == NULL || terminal_busy(a->terminal))
		return;
	buf_init(&b, BUF_NOMAX);
	approve_words(q, &b);
	terminal_ask(a->terminal, buf_str(&b), a->wait_ms);
	buf_clear(&b);
}

/* Asked again while it waits? */
static bool
is_waiting(const struct approvals *a, const char *worker, uint64_t seq,
    enum asked_as as)
{
	const struct asked *q;

	TAILQ_FOREACH (q, &a->list, entry)
		if (strcmp(q->worker, worker) == 0 && q->as == as &&
		    q->seq == seq)
			return true;
	return false;
}

struct asked *
approve_question(struct approvals *a, const char *worker, uint64_t seq,
    const char *act, const char *subject, const char *detail,
    const char *reason, enum asked_as as)
{
	struct asked *q = xcalloc(1, sizeof *q);

	q->worker = xstrdup(worker);
	q->seq = seq;
	q->act = xstrdup(act);
	q->subject = xstrdup(subject);
	q->detail = detail != NULL ? xstrdup(detail) : NULL;
	q->reason = xstrdup(reason);
	q->as = as;
	TAILQ_INSERT_TAIL(&a->list, q, entry);
	a->n++;
	return q;
}

static void
put_question(struct approvals *a, const char *worker, uint64_t seq,
    const char *act, const char *subject, const char *detail,
    const char *reason, enum asked_as as)
{
	if (is_waiting(a, worker, seq, as))
		return;
	(void)approve_question(
	    a, worker, seq, act, subject, detail, reason, as);
	approve_next(a);
}

/* --- acts ---------------------------------------------------------------- */

static bool
asks_person(const struct approvals *a)
{
	return a->how == ASK_PROMPT && a->n < WAITING_MAX;
}

void
approvals_hooked(struct run *r, struct worker *w, const struct permission *p,
    const char *denied)
{
	struct approvals *a = r->approvals;
	struct asked q = { .subject = p->subject, .seq = p->seq };
	struct msg_fetch f = { .seq = p->seq, .url = p->subject };
	struct msg_audit m = { .seq = p->seq,
		.act = p->act,
		.subject = p->subject,
		.detail = p->detail };

	q.reason = denied != NULL ? (char *)(uintptr_t)denied : p->reason;
	if (denied != NULL && p->fetch)
		settle_fetch(a, &q, w, false, "hook");
	else if (denied != NULL)
		approve_decide(a, w, &m, false, denied, "hook");
	else if (asks_person(a))
		put_question(a, w->name, p->seq, p->act, p->subject, p->detail,
		    p->reason, p->fetch ? ASKED_FETCH : ASKED_AUDIT);
	else if (p->fetch)
		fetches_start(r->fetches, w, &f);
	else
		approve_decide(
		    a, w, &m, a->how == ASK_ALLOW, p->reason, "--ask");
}

void
approvals_hook(struct run *r, struct worker *w, uint64_t seq, const char *tool,
    const char *input, const char *reason)
{
	struct approvals *a = r->approvals;
	char *subject = xasprintf("%s %s", tool, input);
	bool granted = is_granted(a, "hook", subject, NULL);
	const char *by = granted ? "person, run" : "--ask";

	if (!granted && asks_person(a))
		put_question(
		    a, w->name, seq, "hook", subject, NULL, reason, ASKED_HOOK);
	else
		tell_hook(a, w, seq, subject, granted || a->how == ASK_ALLOW,
		    reason, by);
	free(subject);
}

/* The record's own words (monitor, hook, ...) would stand in it as ours: a
 * worker has these acts and the tools. */
static bool
is_workers(const char *act)
{
	static const char *const list[] = { "command", "write", "try", "test",
		"refused" };
	size_t i;

	for (i = 0; i < nitems(list); i++)
		if (strcmp(act, list[i]) == 0)
			return true;
	return rules_tool(act, NULL) != NULL &&
	    strcmp(act, rules_tool(act, NULL)) == 0;
}

void
approvals_audit(struct run *r, struct worker *w, const struct msg_audit *m)
{
	struct approvals *a = r->approvals;
	struct msg out = { .type = MSG_VERDICT };
	struct permission p;
	const char *why;
	struct verdict v;

	if (is_waiting(a, w->name, m->seq, ASKED_AUDIT))
		return;
	if (m->seq == w->audit_seq) {
		/* Asked again, the answer was lost: one act, one line. */
		out.u.verdict.seq = m->seq;
		out.u.verdict.verdict = w->audit_allowed ? "allow" : "deny";
		if (!w->audit_allowed)
			out.u.verdict.reason = "denied before";
		handle_send(r, w, &out);
		return;
	}
	if (!is_workers(m->act)) {
		approve_tell(r, w, m->seq, "forged", m->act, NULL, false,
		    "that is no act of a worker", "rules");
		return;
	}
	if (!hooks_passed(r, w, m, &why)) {
		approve_decide(a, w, m, false, why, "hook");
		return;
	}
	act_judge(r, a->rules, &a->where, &a->files, m, &v);
	p = (struct permission){ .worker = w->name,
		.act = (char *)(uintptr_t)m->act,
		.subject = (char *)(uintptr_t)m->subject,
		.detail = (char *)(uintptr_t)m->detail,
		.reason = v.reason,
		.seq = m->seq };
	if (v.ruling == RULING_ALLOW)
		approve_decide(a, w, m, true, NULL, "");
	else if (v.ruling == RULING_DENY)
		approve_decide(a, w, m, false, v.reason,
		    strcmp(m->act, "refused") == 0 ? "worker" : "rules");
	else if (is_granted(a, m->act, m->subject, m->detail))
		approve_decide(a, w, m, true, v.reason, "person, run");
	else if (!hooks_permission(r, &p))
		approvals_hooked(r, w, &p, NULL);
	verdict_clear(&v);
}

int
approvals_url(struct run *r, const char *url, struct err *e)
{
	struct approvals *a = r->approvals;
	struct verdict v;
	int rc = 0;

	judge_tool(a->rules, "fetch_url", url, &a->where, &v);
	if (v.ruling == RULING_DENY ||
	    (v.ruling == RULING_ASK && a->how != ASK_ALLOW &&
		!is_granted(a, "fetch", url, NULL)))
		rc = err_set(e, ERR_DENIED, "%s", v.reason);
	verdict_clear(&v);
	return rc;
}

bool
approvals_fetch(struct run *r, struct worker *w, const struct msg_fetch *m)
{
	struct approvals *a = r->approvals;
	struct permission p = { .worker = w->name,
		.act = (char *)(uintptr_t) "fetch",
		.subject = (char *)(uintptr_t)m->url,
		.seq = m->seq,
		.fetch = true };
	struct verdict v;
	bool now;

	if (is_waiting(a, w->name, m->seq, ASKED_FETCH))
		return false;
	judge_tool(a->rules, "fetch_url", m->url, &a->where, &v);
	now = v.ruling != RULING_ASK || is_granted(a, "fetch", m->url, NULL);
	p.reason = v.reason;
	if (!now && !hooks_permission(r, &p))
		approvals_hooked(r, w, &p, NULL);
	verdict_clear(&v);
	return now;
}

void
approvals_worker_gone(struct approvals *a, const char *worker)
{
	struct asked *q, *next;

	if (a == NULL)
		return;
	/* Its summary is here: that question stands. */
	q = TAILQ_FIRST(&a->list);
	if (q != NULL && a->terminal != NULL && q->summary == NULL &&
	    strcmp(q->worker, worker) == 0)
		terminal_withdraw(a->terminal);
	TAILQ_FOREACH_SAFE (q, &a->list, entry, next)
		if (q->summary == NULL && strcmp(q->worker, worker) == 0) {
			unlink_asked(a, q);
			asked_free(q);
		}
	if (a->terminal != NULL)
		approve_next(a);
}

void
approvals_judged(const struct approvals *a, struct strv *ret)
{
	static const char *const reads[] = { "read_file", "list_dir", "grep" };
	const struct rules *r = a->rules;
	size_t i;

	for (i = 0; i < nitems(reads) && r->blocks_reads; i++)
		strv_add(ret, reads[i]);
	for (i = 0; i < r->n; i++)
		if (r->v[i].about == RULE_TOOL &&
		    r->v[i].ruling != RULING_ALLOW && ret->n < 32 &&
		    !strv_has(ret, r->v[i].tool))
			strv_add(ret, r->v[i].tool);
}

/* --- beginning and end ---------------------------------------------------- */

/* A repository that wants more than it gets is worth knowing. */
static int
tell_ignored(struct run *r, const struct rules *rules, struct err *e)
{
	size_t i;
	int rc = 0;

	if (rules->ignored.n == 0)
		return 0;
	for (i = 0; i < rules->ignored.n && i < 20; i++)
		log_warn("ignored, a repository can only tighten: %s",
		    rules->ignored.v[i]);
	run_event(r, "policy_ignored",
	    json_pack("{s:o}", "what", json_from_strv(&rules->ignored)));
	for (i = 0; i < rules->ignored.n && i < 20 && rc == 0; i++)
		rc = audit_write(r->audit, run_now(r), "", "settings",
		    rules->ignored.v[i], NULL, "deny", e);
	return rc;
}

int
approvals_create(struct run *r, struct approvals **ret, struct err *e)
{
	struct approvals *a = xcalloc(1, sizeof *a);
	int rc;

	TAILQ_INIT(&a->list);
	a->run = r;
	a->how = r->o.ask;
	a->wait_ms = r->o.ask_ms > 0 ? r->o.ask_ms : WAIT_MS;
	if ((rc = policy_load(r->root, &a->rules, e)) < 0 ||
	    (rc = tell_ignored(r, a->rules, e)) < 0) {
		approvals_free(a);
		return rc;
	}
	a->cwd = path_join(r->root, r->workdir);
	(void)path_home(&a->home, NULL);
	a->where = (struct judge_place){ a->cwd, r->root, a->home };
	/* Unasked, only where the person looks on. */
	if (a->how == ASK_UNSET && isatty(STDERR_FILENO) != 1)
		a->how = ASK_DENY;
	if (a->how == ASK_UNSET || a->how == ASK_PROMPT) {
		a->terminal = terminal_open(r->loop, answered, a);
		if (a->terminal == NULL && a->how == ASK_PROMPT)
			log_warn("--ask prompt: there is no terminal to ask "
				 "on, so it is denied");
		a->how = a->terminal != NULL ? ASK_PROMPT : ASK_DENY;
	}
	*ret = a;
	return 0;
}

void
approvals_free(struct approvals *a)
{
	struct asked *q, *next;

	if (a == NULL)
		return;
	TAILQ_FOREACH_SAFE (q, &a->list, entry, next)
		asked_free(q);
	terminal_close(a->terminal);
	rules_free(a->rules);
	strv_clear(&a->granted);
	strv_clear(&a->files);
	free(a->cwd);
	free(a->home);
	free(a);
}
