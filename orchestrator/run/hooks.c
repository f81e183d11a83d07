/*
 * hooks.c - the hooks of one event, one after the other; see hooks.h.
 *
 * A call walks through its hooks: record, run, read the answer, record, next.
 * Those that find no place among the 8 wait in a list.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/hooks_priv.h"
#include "orchestrator/run/settings.h"
#include "orchestrator/store/transcript.h"

#define WARNED_MAX 100

/* --- what is told of it -------------------------------------------------- */

static json_t *
lossy(const char *s)
{
	return s != NULL ? json_str_lossy(s, strlen(s)) : NULL;
}

/* The line of the audit; false: it could not be written. */
static bool
record(const struct hook_call *c, const char *verdict, json_t *detail)
{
	const struct hook *h = c->v[c->i];
	struct err e = { 0 };
	char *text;
	int rc;

	(void)json_object_set_new(
	    detail, "event", json_string(hook_event_str(c->event)));
	if (c->tool != NULL)
		(void)json_object_set_new(detail, "tool", lossy(c->tool));
	if (c->id != NULL)
		(void)json_object_set_new(detail, "call", lossy(c->id));
	if (h->workspace)
		(void)json_object_set_new(
		    detail, "where", json_string("workspace"));
	text = json_text(detail);
	json_decref(detail);
	rc = audit_write(c->r->audit, run_now(c->r),
	    c->worker != NULL ? c->worker : "", "hook", h->command, text,
	    verdict, &e);
	free(text);
	if (rc < 0)
		log_error("audit: %s", e.text);
	return rc >= 0;
}

/* state: started or finished. Takes more. */
static void
tell(const struct hook_call *c, const char *state, json_t *more)
{
	json_t *j = json_pack("{s:s*, s:s, s:s, s:o*, s:o}", "worker",
	    c->worker, "on", hook_event_str(c->event), "state", state, "tool",
	    lossy(c->tool), "command", lossy(c->v[c->i]->command));

	(void)json_object_update(j, more);
	json_decref(more);
	run_event(c->r, "hook", j);
}

static void
block(struct hook_call *c, const char *why)
{
	struct hook_answer a = { .verdict = HOOK_DENY, .reason = xstrdup(why) };

	hook_answer_join(&c->sum, &a);
	hook_answer_clear(&a);
}

/* --- what it gets -------------------------------------------------------- */

/* The arguments, and the file's absolute name under the name that hooks written
 * for other tools expect. */
static json_t *
shown_input(const struct hook_call *c, const char *cwd)
{
	json_t *j = json_copy(c->input);
	const char *name = json_string_value(json_object_get(j, "path"));
	char *path;

	if (name == NULL || json_object_get(j, "file_path") != NULL)
		return j;
	path = *name == '/' ? xstrdup(name) : path_join(cwd, name);
	(void)json_object_set_new(j, "file_path", lossy(path));
	free(path);
	return j;
}

static char *
feed(const struct hook_call *c)
{
	const struct run *r = c->r;
	char *path = c->worker != NULL
	    ? transcript_path(r->store, c->worker)
	    : path_join(store_dir(r->store), "sessions");
	char *cwd = *r->workdir != '\0' ? path_join(r->root, r->workdir)
					: xstrdup(r->root);
	json_t *j = json_pack("{s:s, s:o, s:s, s:s, s:s, s:s*, s:s*, s:o*}",
	    "session_id", store_id(r->store), "transcript_path", lossy(path),
	    "cwd", cwd, "permission_mode", "default", "hook_event_name",
	    hook_event_str(c->event), "agent_id", c->worker, "agent_type",
	    c->kind, "tool_name", lossy(c->tool));
	char *text;

	if (c->input != NULL)
		(void)json_object_set_new(j, "tool_input", shown_input(c, cwd));
	if (c->id != NULL)
		(void)json_object_set_new(j, "tool_use_id", lossy(c->id));
	if (c->more != NULL)
		(void)json_object_update(j, c->more);
	text = json_text(j);
	json_decref(j);
	free(path);
	free(cwd);
	return text;
}

/* --- the walk ------------------------------------------------------------ */

static void step(struct hook_call *c);

static void
next_waiting(void *ctx)
{
	struct hooks *h = ctx;
	struct hook_call *c;

	while (h->running < HOOKS_AT_ONCE &&
	    (c = TAILQ_FIRST(&h->waiting)) != NULL) {
		TAILQ_REMOVE(&h->waiting, c, entry);
		c->waits = false;
		step(c);
	}
}

/* The answer to v[i] is there. */
static void
took(struct hook_call *c, struct hook_answer *a, int status, uint64_t ms)
{
	const char *verdict = a->verdict == HOOK_NONE && a->warning != NULL
	    ? "failed"
	    : hook_verdict_str(a->verdict);
	bool stop = a->stop;
	json_t *more;

	/* Each time is on record; for a person once is enough. The view shows
	 * it where there is one. */
	if (a->warning != NULL && c->r->plain == NULL &&
	    !strv_has(&c->r->hooks->warned, a->warning)) {
		log_warn("%s", a->warning);
		if (c->r->hooks->warned.n < WARNED_MAX)
			strv_add(&c->r->hooks->warned, a->warning);
	}
	if (a->message != NULL)
		log_info("hook: %s", a->message);
	more = json_pack("{s:s, s:I, s:I, s:o*, s:o*, s:b}", "verdict", verdict,
	    "status", (json_int_t)status, "ms", (json_int_t)ms, "reason",
	    lossy(a->reason), "warning", lossy(a->warning), "stop", stop);
	if (a->message != NULL)
		(void)json_object_set_new(more, "message", lossy(a->message));
	if (a->updated != NULL)
		(void)json_object_set(more, "updatedInput", a->updated);
	if (!record(c, verdict, json_copy(more)))
		block(c, "the audit record of a hook can't be written");
	tell(c, "finished", more);
	if (stop && c->v[c->i]->workspace)
		log_warn("a hook in a workspace can't end the run: it blocks");
	else if (stop)
		run_end(c->r, EXIT_INTERRUPTED, "interrupted",
		    "a hook ended the run: %s", a->reason);
	hook_answer_join(&c->sum, a);
	if (c->sum.updated != NULL && c->input != NULL) {
		json_decref(c->input);
		c->input = json_incref(c->sum.updated);
	}
	hook_answer_clear(a);
	c->i++;
}

static void
on_end(void *ctx, const struct hook_run *run, uint64_t ms)
{
	struct hook_call *c = ctx;
	struct hooks *h = c->r->hooks;
	struct hook_answer a;

	c->proc = NULL;
	h->running--;
	hook_answer_read(c->v[c->i], run, &a);
	took(c, &a, run->status, ms);
	step(c); /* c may be gone */
	next_waiting(h);
}

void
hook_call_result(struct hook_call *c, const struct hook_run *run)
{
	struct hook_answer a;

	c->in_workspace = false;
	hook_answer_read(c->v[c->i], run, &a);
	took(c, &a, run->status, 0);
	step(c);
}

static void
could_not(struct hook_call *c, const char *why)
{
	struct hook_run run = { .failure = why };
	struct hook_answer a;

	hook_answer_read(c->v[c->i], &run, &a);
	took(c, &a, 0, 0);
}

/* True: it runs. */
static bool
start(struct hook_call *c, const struct hook *hook)
{
	struct hooks *h = c->r->hooks;
	char *text;
	struct hook_proc_opts o = {
		.loop = c->r->loop,
		.command = hook->command,
		.cwd = h->cwd,
		.env = &h->env,
		.timeout_ms = hook->timeout_ms,
	};
	struct err e = { 0 };
	bool ok = false;

	if (!record(c, "start", json_object())) {
		block(c, "the audit record of a hook can't be written");
		c->i++;
		return false;
	}
	tell(c, "started", json_object());
	text = feed(c);
	o.input = text;
	o.input_len = strlen(text);
	if (o.input_len > HOOK_FEED_MAX) {
		could_not(c, "its input is over 4 MiB");
	} else if (hook->workspace) {
		c->in_workspace = ok = true;
		c->workspace(c, hook, text);
	} else if (hook_proc_start(&o, on_end, c, &c->proc, &e) < 0) {
		could_not(c, e.text);
	} else {
		h->running++;
		ok = true;
	}
	free(text);
	return ok;
}

static void
step(struct hook_call *c)
{
	struct hooks *h = c->r->hooks;

	while (c->i < c->n) {
		if (!c->v[c->i]->workspace && h->running >= HOOKS_AT_ONCE) {
			c->waits = true;
			TAILQ_INSERT_TAIL(&h->waiting, c, entry);
			return;
		}
		if (start(c, c->v[c->i]))
			return;
	}
	c->done(c);
}

struct hook_call *
hook_call_create(
    struct run *r, enum hook_event ev, const struct worker *w, const char *name)
{
	struct hook_call *c = xcalloc(1, sizeof *c);

	c->n = hook_conf_find(r->hooks->conf, ev, name, c->v, HOOKS_MAX);
	if (c->n == 0) {
		free(c);
		return NULL;
	}
	c->r = r;
	c->event = ev;
	if (w != NULL) {
		c->worker = xstrdup(w->name);
		c->kind = kind_str(w->subtask->kind);
	}
	if (hook_event_has_tool(ev) && name != NULL)
		c->tool = xstrdup(name);
	return c;
}

void
hook_call_begin(struct hook_call *c)
{
	step(c);
}

/* Before its time: nobody waits for it any more. */
static void
ended(const struct hook_call *c)
{
	(void)record(c, "ended", json_object());
	tell(c, "finished", json_pack("{s:s}", "verdict", "ended"));
}

void
hook_call_free(struct hook_call *c)
{
	struct hooks *h;

	if (c == NULL)
		return;
	h = c->r->hooks;
	if (c->proc != NULL || c->in_workspace)
		ended(c);
	if (c->proc != NULL) {
		hook_proc_kill(c->proc);
		h->running--;
		loop_defer(c->r->loop, next_waiting, h);
	}
	if (c->waits)
		TAILQ_REMOVE(&h->waiting, c, entry);
	hook_answer_clear(&c->sum);
	json_decref(c->input);
	json_decref(c->more);
	free(c->worker);
	free(c->tool);
	free(c->id);
	free(c);
}

/* --- beginning and end --------------------------------------------------- */

int
hooks_conf(const json_t *settings, struct hook_conf **ret, struct err *e)
{
	const json_t *j = json_object_get(settings, "hooks");
	struct strv notes = { 0 };
	char *dir = NULL, *path;
	int rc;

	*ret = NULL;
	if (j == NULL)
		return 0;
	if ((rc = path_config_dir(&dir, e)) < 0)
		return rc;
	path = path_join(dir, "settings.json");
	rc = hook_conf_parse(j, path, ret, &notes, e);
	for (size_t i = 0; rc == 0 && i < notes.n; i++)
		settings_note(notes.v[i]);
	strv_clear(&notes);
	free(path);
	free(dir);
	return rc;
}

int
hooks_create(
    struct run *r, const json_t *settings, struct hooks **ret, struct err *e)
{
	struct hook_conf *conf;
	int rc;

	*ret = NULL;
	rc = hooks_conf(settings, &conf, e);
	if (rc < 0 || conf == NULL)
		return rc;
	if (r->o.tool != NULL) {
		hook_conf_free(conf);
		return 0;
	}
	*ret = xcalloc(1, sizeof **ret);
	(*ret)->conf = conf;
	TAILQ_INIT(&(*ret)->waiting);
	return 0;
}

void
hooks_free(struct hooks *h)
{
	if (h == NULL)
		return;
	hook_conf_free(h->conf);
	strv_clear(&h->env);
	strv_clear(&h->warned);
	free(h->cwd);
	free(h->context);
	free(h);
}
