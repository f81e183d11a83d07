/*
 * hooks_run.c - the events of the run itself: a session's begin and end, the
 * task, the last word on a patch, and what the rules ask; see hooks.h.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/hooks_priv.h"

/* --- one that is waited for ---------------------------------------------- */

static void
on_done(struct hook_call *c)
{
	*(bool *)c->ctx = true;
}

/* Its hooks, to their end or until the person interrupts; takes more. */
static void
run_through(struct run *r, enum hook_event ev, const char *name, json_t *more,
    struct hook_answer *ret)
{
	struct hook_call *c = hook_call_create(r, ev, NULL, name);
	int interrupts = r->interrupts;
	bool done = false;

	*ret = (struct hook_answer){ 0 };
	if (c == NULL) {
		json_decref(more);
		return;
	}
	c->more = more;
	c->done = on_done;
	c->ctx = &done;
	hook_call_begin(c);
	while (!done && r->interrupts == interrupts)
		(void)loop_once(r->loop, -1);
	if (!done)
		log_warn("the %s hooks were interrupted", hook_event_str(ev));
	*ret = c->sum;
	c->sum = (struct hook_answer){ 0 };
	hook_call_free(c);
}

static void
add_context(struct hooks *h, struct hook_answer *a)
{
	struct hook_answer sum = { .context = h->context };

	a->verdict = HOOK_NONE;
	hook_answer_join(&sum, a);
	h->context = sum.context;
}

/* --- begin and end ------------------------------------------------------- */

static void
set_env(struct run *r)
{
	struct hooks *h = r->hooks;

	hook_env(&h->env);
	strv_setenv(&h->env, "FORAY_RUN", store_id(r->store));
	strv_setenv(&h->env, "FORAY_RUN_DIR", store_dir(r->store));
	strv_setenv(&h->env, "FORAY_PROJECT_DIR", r->root);
	/* The name that hooks written for other tools expect. */
	strv_setenv(&h->env, "CLAUDE_PROJECT_DIR", r->root);
	h->cwd = xstrdup(r->root);
}

int
hooks_begin(struct run *r, struct err *e)
{
	struct hooks *h = r->hooks;
	struct hook_answer a;
	const char *source = r->o.resume != NULL ? "resume" : "startup";
	const char *prompt = r->o.resume != NULL ? r->o.hint : r->o.task;

	if (h == NULL)
		return 0;
	set_env(r);
	h->begun = true;
	if (r->o.resume != NULL)
		h->context = store_get(r->store, "hook_context");
	run_through(r, HOOK_SESSION_START, source,
	    json_pack("{s:s, s:s}", "source", source, "model", r->model), &a);
	add_context(h, &a);
	hook_answer_clear(&a);
	if (prompt != NULL && r->phase != PHASE_END) {
		run_through(r, HOOK_PROMPT, NULL,
		    json_pack("{s:o}", "prompt",
			json_str_lossy(prompt, strlen(prompt))),
		    &a);
		if (a.verdict == HOOK_DENY)
			run_end(r, EXIT_USAGE, "error",
			    "a hook refuses the task: %s", a.reason);
		add_context(h, &a);
		hook_answer_clear(&a);
	}
	if (h->context == NULL || r->phase == PHASE_END)
		return 0;
	return store_set(r->store, "hook_context", h->context, e);
}

const char *
hooks_context(const struct run *r)
{
	return r->hooks != NULL ? r->hooks->context : NULL;
}

bool
hooks_may_deliver(struct run *r, const char *patch, char **ret_why)
{
	struct hook_answer a;
	bool may;

	if (r->hooks == NULL || !r->hooks->begun ||
	    r->exit == EXIT_INTERRUPTED || strcmp(r->status, "error") == 0)
		return true;
	run_through(r, HOOK_STOP, NULL,
	    json_pack("{s:s, s:s, s:b, s:s*}", "status", r->status, "reason",
		r->why, "stop_hook_active", false, "patch_path", patch),
	    &a);
	may = a.verdict != HOOK_DENY;
	if (!may)
		*ret_why = xstrdup(a.reason);
	hook_answer_clear(&a);
	return may;
}

void
hooks_end(struct run *r)
{
	struct hook_answer a;

	if (r->hooks == NULL || !r->hooks->begun)
		return;
	run_through(r, HOOK_SESSION_END, r->status,
	    json_pack("{s:s, s:s}", "reason", r->status, "message", r->why),
	    &a);
	hook_answer_clear(&a);
}

/* --- PermissionRequest --------------------------------------------------- */

/* The tool that an act is of, and its arguments as far as the act tells. */
static const struct {
	const char *act, *tool, *key;
} acts[] = {
	{ "command", "run_command", "command" },
	{ "test", "run_command", "command" },
	{ "write", "edit_file", "path" },
	{ "try", "try_edits", "check" },
	{ "fetch", "fetch_url", "url" },
};

void
permission_clear(struct permission *p)
{
	free(p->worker);
	free(p->act);
	free(p->subject);
	free(p->detail);
	free(p->reason);
	*p = (struct permission){ 0 };
}

static void
on_permission(struct hook_call *c)
{
	struct run *r = c->r;
	struct worker *w = sched_worker(r, c->worker);
	struct permission p;
	char *why = NULL;

	if (w == NULL)
		return; /* it is freed with the worker */
	p = w->hook->p;
	w->hook->p = (struct permission){ 0 };
	w->hook->permission = NULL;
	if (c->sum.verdict == HOOK_DENY)
		why = xstrdup(c->sum.reason);
	hook_call_free(c);
	approvals_hooked(r, w, &p, why);
	permission_clear(&p);
	free(why);
}

static json_t *
input_of(const struct permission *p, const char *key)
{
	json_t *j = json_object(), *more = NULL;

	(void)json_object_set_new(
	    j, key, json_str_lossy(p->subject, strlen(p->subject)));
	if (p->detail != NULL &&
	    json_parse(p->detail, strlen(p->detail), 1 << 16, &more, NULL) == 0)
		(void)json_object_set_new(j, "detail", more);
	return j;
}

bool
hooks_permission(struct run *r, const struct permission *p)
{
	struct worker *w = sched_worker(r, p->worker);
	const char *tool = p->act, *key = "path";
	struct hook_side *s;
	struct hook_call *c;
	size_t i;

	if (r->hooks == NULL || w == NULL || !hooks_of_kind(w->subtask->kind))
		return false;
	s = hook_side(w);
	if (s->permission != NULL && s->p.seq == p->seq &&
	    s->p.fetch == p->fetch)
		return true; /* asked again while it waits */
	for (i = 0; i < nitems(acts); i++)
		if (strcmp(acts[i].act, p->act) == 0) {
			tool = acts[i].tool;
			key = acts[i].key;
		}
	c = hook_call_create(r, HOOK_PERMISSION, w, tool);
	if (c == NULL)
		return false;
	hook_call_free(s->permission); /* of an act that was given up */
	permission_clear(&s->p);
	s->permission = c;
	s->p = (struct permission){
		.worker = xstrdup(p->worker),
		.act = xstrdup(p->act),
		.subject = xstrdup(p->subject),
		.detail = p->detail != NULL ? xstrdup(p->detail) : NULL,
		.reason = xstrdup(p->reason),
		.seq = p->seq,
		.fetch = p->fetch,
	};
	c->input = input_of(p, key);
	c->more = json_pack("{s:o}", "rule_reason",
	    json_str_lossy(p->reason, strlen(p->reason)));
	c->done = on_permission;
	hook_call_begin(c);
	return true;
}
