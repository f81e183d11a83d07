#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/monitor/items.h"
#include "orchestrator/monitor/replay.h"
#include "orchestrator/monitor/shapes.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/run/watch.h"

#define HITS_MAX 16
#define READS_MAX 256 /* of one worker that are put on record */
#define SHOWN_MAX 240

struct watch {
	struct monitor *m;
};

/* --- life ----------------------------------------------------------------- */

int
watch_rules(const json_t *settings, struct monitor_rules *ret, struct err *e)
{
	char *dir = NULL, *path;
	int rc;

	if ((rc = monitor_rules_supplied(ret, e)) < 0)
		return rc;
	if ((rc = path_config_dir(&dir, e)) == 0) {
		path = path_join(dir, "settings.json");
		rc = monitor_rules_apply(
		    ret, json_object_get(settings, "monitor"), path, e);
		free(path);
	}
	free(dir);
	return rc;
}

int
watch_create(struct run *r, struct watch **ret, struct err *e)
{
	struct monitor_rules rules = { 0 };
	struct monitor_place place = { 0 };
	json_t *settings = NULL;
	struct watch *w;
	int rc;

	if ((rc = settings_load(&settings, e)) < 0)
		return rc;
	rc = watch_rules(settings, &rules, e);
	json_decref(settings);
	if (rc < 0) {
		monitor_rules_clear(&rules);
		return rc;
	}
	place.root = xstrdup(r->root);
	place.workdir = *r->workdir != '\0' ? path_join(r->root, r->workdir)
					    : xstrdup(r->root);
	w = xcalloc(1, sizeof *w);
	w->m = monitor_create(&rules, &place);
	*ret = w;
	return 0;
}

int
watch_begin(struct run *r, struct err *e)
{
	struct monitor_place *p = monitor_place(r->watch->m);
	int rc;

	strv_copy(&p->guarded, &r->guarded);
	strv_sort(&p->guarded);
	p->guarded_known = true;
	strv_copy(&p->own, &r->tests);
	strv_extend(&p->own, &r->o.checks);
	if ((rc = replay_save_guarded(r->store, &r->guarded, e)) < 0 ||
	    r->o.resume == NULL)
		return rc;
	/* Its workers are gone; what all of them did together counts. */
	rc = replay_chain(r->store, r->watch->m, NULL, NULL, e);
	monitor_all_gone(r->watch->m);
	return rc;
}

void
watch_free(struct watch *w)
{
	if (w == NULL)
		return;
	monitor_free(w->m);
	free(w);
}

void
watch_worker_gone(struct run *r, const char *worker)
{
	if (r->watch != NULL)
		monitor_worker_gone(r->watch->m, worker);
}

/* --- hits ----------------------------------------------------------------- */

static void
steer(struct run *r, struct worker *w, const struct monitor_rule *rule)
{
	struct msg m = { .type = MSG_STEER };

	m.u.steer.text = rule->message != NULL ? rule->message : rule->why;
	handle_send(r, w, &m);
}

/* On record, then told. Negative: it could not be recorded. */
static int
tell_hit(struct run *r, const struct worker *w, const struct monitor_hit *h,
    const char *act)
{
	const char *action = monitor_action_str(h->rule->action);
	size_t len = strlen(h->subject);
	char *detail;
	struct err e;
	json_t *j;
	int rc;

	j = json_pack("{s:s, s:s, s:s, s:o}", "action", action, "why",
	    h->rule->why, "act", act, "subject",
	    json_str_lossy(h->subject, len));
	detail = json_text(j);
	rc = audit_write(r->audit, run_now(r), w->name, "monitor",
	    h->rule->name, detail,
	    h->rule->action >= MONITOR_PAUSE ? "deny" : "allow", &e);
	free(detail);
	if (rc < 0)
		log_error("audit: %s", e.text);
	(void)json_object_update_new(j,
	    json_pack("{s:s, s:s}", "worker", w->name, "rule", h->rule->name));
	run_event(r, "monitor", j);
	return rc;
}

static void
say(struct watch_said *said, enum watch_how how,
    const struct monitor_rule *rule)
{
	said->how = how;
	said->rule = rule;
	(void)snprintf(said->reason, sizeof said->reason,
	    "the monitor (%s): %s", rule->name, rule->why);
}

static void
feed(struct run *r, struct worker *w, const struct monitor_act *a,
    struct watch_said *said)
{
	struct monitor_hit hits[HITS_MAX];
	size_t i, n = monitor_feed(r->watch->m, a, hits, nitems(hits));

	*said = (struct watch_said){ 0 };
	for (i = 0; i < n; i++) {
		const struct monitor_rule *rule = hits[i].rule;
		/* What can't be recorded must not go on. */
		bool ok = tell_hit(r, w, &hits[i], a->act) == 0;

		if (rule->action == MONITOR_STEER)
			steer(r, w, rule);
		if (said->how == WATCH_GO && rule->action == MONITOR_KILL)
			say(said, WATCH_KILL, rule);
		else if (said->how == WATCH_GO &&
		    (rule->action == MONITOR_PAUSE || !ok))
			say(said, WATCH_PAUSE, rule);
		free(hits[i].subject);
	}
}

void
watch_act(struct run *r, struct worker *w, const char *act, const char *subject,
    const char *detail, const char *verdict, struct watch_said *said)
{
	struct monitor_act a = { run_now(r), w->name, act, subject, detail,
		verdict };
	bool allow = strcmp(verdict, "deny") != 0;

	feed(r, w, &a, said);
	if (said->how == WATCH_PAUSE && !allow) {
		/* There is nothing to hold now. */
		w->pause = said->rule;
		said->how = WATCH_GO;
	} else if (said->how == WATCH_GO && allow && w->pause != NULL) {
		say(said, WATCH_PAUSE, w->pause);
	}
}

/* --- what has no verdict of approve.c ------------------------------------- */

int
watch_network(struct run *r, const char *worker, const char *subject,
    const char *detail, const char *verdict, char **ret_detail)
{
	struct worker *w = sched_worker(r, worker);
	struct watch_said said;
	json_t *j;

	if (w == NULL)
		return 0;
	if (!w->ended)
		watch_act(r, w, "network", subject, detail, verdict, &said);
	else
		said = (struct watch_said){ .how = WATCH_PAUSE,
			.reason = "the worker is ended" };
	if (said.how == WATCH_GO || strcmp(verdict, "deny") == 0)
		return 0;
	if (said.how == WATCH_PAUSE && said.rule != NULL)
		w->pause = said.rule;
	j = json_pack("{s:s, s:s}", "reason", said.reason, "by", "monitor");
	*ret_detail = json_text(j);
	json_decref(j);
	if (said.how == WATCH_KILL)
		watch_kill(r, w, said.reason);
	return ERR_DENIED;
}

/* Is it sent as AUDIT already? */
static bool
is_judged(const struct run *r, const char *tool)
{
	struct strv v = { 0 };
	bool yes;

	approvals_judged(r->approvals, &v);
	yes = strv_has(&v, tool);
	strv_clear(&v);
	return yes;
}

/* Reading needs no verdict, so its records would be many: those are made that
 * some rule can look at. */
static bool
is_of_interest(struct run *r, const char *tool, const char *subject)
{
	struct items items;
	bool yes;

	items_of(monitor_place(r->watch->m), tool, subject, NULL, &items);
	yes = items.n > 1;
	items_clear(&items);
	return yes;
}

void
watch_progress(struct run *r, struct worker *w, const struct msg_progress *m)
{
	const char *tool = msg_str(m->tool), *subject = msg_str(m->text);
	struct watch_said said;
	struct err e;

	if ((strcmp(tool, "read_file") != 0 && strcmp(tool, "grep") != 0 &&
		strcmp(tool, "list_dir") != 0) ||
	    strcmp(msg_str(m->verdict), "ok") != 0 || w->reads >= READS_MAX ||
	    !is_of_interest(r, tool, subject) || is_judged(r, tool))
		return;
	w->reads++;
	watch_act(r, w, tool, subject, NULL, "allow", &said);
	if (audit_write(r->audit, run_now(r), w->name, tool, subject,
		"{\"by\":\"told by the worker\"}", "allow", &e) < 0)
		log_error("audit: %s", e.text);
	if (said.how == WATCH_PAUSE)
		w->pause = said.rule;
	else if (said.how == WATCH_KILL)
		watch_kill(r, w, said.reason);
}

static const char *
shape_of_strs(const struct msg_strs *s)
{
	const char *kind = NULL;
	size_t i;

	for (i = 0; i < s->n && kind == NULL; i++)
		kind = shape_find(s->v[i], strlen(s->v[i]));
	return kind;
}

static const char *
shape_of_text(const char *s)
{
	return s != NULL ? shape_find(s, strlen(s)) : NULL;
}

/* The text of tests is theirs: a fixture is no leak. */
static const char *
summary_shape(const struct msg_summary *m)
{
	const char *kind;

	(void)((kind = m->patch_len > 0 ? shape_find(m->patch, m->patch_len)
					: NULL) != NULL ||
	    (kind = shape_of_strs(&m->findings)) != NULL ||
	    (kind = shape_of_strs(&m->evidence)) != NULL ||
	    (kind = shape_of_text(m->reason)) != NULL ||
	    (kind = shape_of_text(m->hypothesis)) != NULL);
	return kind;
}

/* Did a model act? The others run what the person gave. */
static bool
has_model(enum kind k)
{
	return k == KIND_PLAN || k == KIND_EXPLORE || k == KIND_REPRODUCE ||
	    k == KIND_REVIEW;
}

void
watch_summary(struct run *r, struct worker *w, const struct msg_summary *m,
    struct watch_said *said)
{
	const char *kind, *label = w->subtask->label;
	struct monitor_act a = { run_now(r), w->name, "summary", label, NULL,
		m->verdict };
	struct err e;
	char *detail;
	json_t *j;

	*said = (struct watch_said){ 0 };
	if (!has_model(w->subtask->kind))
		return;
	kind = summary_shape(m);
	j = json_pack("{s:s, s:I, s:[]}", "subtask", w->subtask->id,
	    "patch_bytes", (json_int_t)m->patch_len, "classes");
	if (kind != NULL) {
		(void)json_array_append_new(
		    json_object_get(j, "classes"), json_string("credential"));
		(void)json_object_set_new(j, "looks_like", json_string(kind));
	}
	detail = json_text(j);
	a.detail = detail;
	feed(r, w, &a, said);
	if (said->how == WATCH_GO && w->pause != NULL)
		say(said, WATCH_PAUSE, w->pause);
	if (audit_write(r->audit, run_now(r), w->name, "summary", label, detail,
		m->verdict, &e) < 0) {
		log_error("audit: %s", e.text);
		said->how = WATCH_KILL;
		(void)snprintf(said->reason, sizeof said->reason,
		    "the monitor: the audit record can't be written");
	}
	free(detail);
	json_decref(j);
}

/* --- the end of a worker -------------------------------------------------- */

void
watch_kill(struct run *r, struct worker *w, const char *reason)
{
	struct msg_summary m = { .subtask = w->subtask->id,
		.attempt = w->attempt,
		.verdict = "error",
		.tools = w->tools };
	struct msg cancel = { .type = MSG_CANCEL };
	bool tool = w->subtask->kind == KIND_TOOL;
	char text[700];

	if (w->ended)
		return;
	w->ended = true;
	(void)snprintf(text, sizeof text, "ended by %s", reason);
	cancel.u.cancel.reason = "the monitor";
	(void)hosts_send(w->host, w->name, &cancel, NULL);
	m.reason = text;
	if (tool)
		run_end(r, EXIT_UNFIXED, "error", "%s", text);
	else
		results_settle(r, w, &m);
}
