/* hooks_worker.c - HOOK and ANSWER, and what a pass is good for; see hooks.h.
 */
#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/hooks_priv.h"

#define INPUT_MAX ((size_t)1 << 20) /* HOOK.input */

bool
hooks_of_kind(enum kind k)
{
	return k == KIND_PLAN || k == KIND_EXPLORE || k == KIND_REPRODUCE ||
	    k == KIND_REVIEW;
}

struct hook_side *
hook_side(struct worker *w)
{
	if (w->hook == NULL)
		w->hook = xcalloc(1, sizeof *w->hook);
	return w->hook;
}

/* --- TASK ---------------------------------------------------------------- */

static bool
watches(const struct run *r, const char *tool)
{
	return hook_conf_has(r->hooks->conf, HOOK_PRE_TOOL, tool);
}

/* Of a write we can't tell by which of the two tools it is. */
static bool
watches_writes(const struct run *r)
{
	return watches(r, "edit_file") || watches(r, "apply_patch");
}

void
hooks_task(const struct run *r, const struct subtask *t, struct strv *ret)
{
	static const char *const both[] = { "PreToolUse:edit_file",
		"PreToolUse:apply_patch" };
	size_t i;

	if (r->hooks == NULL || !hooks_of_kind(t->kind))
		return;
	hook_conf_wanted(r->hooks->conf, ret);
	for (i = 0; i < nitems(both) && watches_writes(r); i++)
		if (!strv_has(ret, both[i]))
			strv_add(ret, both[i]);
}

/* --- ANSWER -------------------------------------------------------------- */

static void
answer_clear(struct hook_reply *p)
{
	free(p->reason);
	free(p->input);
	free(p->context);
	free(p->command);
	free(p->feed);
	*p = (struct hook_reply){ 0 };
}

static void
send_reply(struct run *r, struct worker *w)
{
	const struct hook_side *s = w->hook;
	const struct hook_reply *p = &s->reply;
	struct msg out = { .type = MSG_ANSWER };

	out.u.answer.seq = s->seq;
	out.u.answer.verdict = p->verdict;
	out.u.answer.reason = p->reason;
	out.u.answer.input = p->input;
	out.u.answer.context = p->context;
	out.u.answer.command = p->command;
	out.u.answer.feed = p->feed;
	out.u.answer.timeout_ms = p->timeout_ms;
	handle_send(r, w, &out);
}

static void
reply(struct run *r, struct worker *w, const char *verdict, const char *reason)
{
	struct hook_side *s = w->hook;

	answer_clear(&s->reply);
	s->reply.verdict = verdict;
	s->reply.reason = reason != NULL ? xstrdup(reason) : NULL;
	send_reply(r, w);
}

/* --- what was passed ----------------------------------------------------- */

static void
pass_clear(struct hook_side *s)
{
	free(s->tool);
	s->tool = NULL;
	json_decref(s->passed);
	s->passed = NULL;
	s->used = 0;
}

static const char *
passed_str(const struct hook_side *s, const char *key, const char *def)
{
	const char *v = json_string_value(json_object_get(s->passed, key));

	return v != NULL ? v : def;
}

/* A path as a model writes it, below the root. Yours. */
static char *
below_root(const struct run *r, const char *path)
{
	char *base, *whole, *clean, *rel;

	base = path_join(r->root, r->workdir);
	whole = *path == '/' ? xstrdup(path) : path_join(base, path);
	clean = path_normal(whole);
	rel = xstrdup(msg_str(path_rel(clean, r->root)));
	free(base);
	free(whole);
	free(clean);
	return rel;
}

/* As git writes a name with unusual bytes. Yours. */
static char *
quoted(const char *name)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	for (; *name != '\0'; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == '"' || c == '\\')
			(void)buf_printf(&b, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			(void)buf_printf(&b, "\\%03o", c);
		else
			(void)buf_addc(&b, (char)c);
	}
	return buf_detach(&b, NULL);
}

static bool
passed_path(const struct run *r, const struct hook_side *s, const char *rel)
{
	const char *in, *patch;
	char *own;
	bool same;

	if (strcmp(s->tool, "edit_file") == 0) {
		own = below_root(r, passed_str(s, "path", ""));
		same = strcmp(own, rel) == 0;
		free(own);
		return same;
	}
	if (strcmp(s->tool, "apply_patch") != 0)
		return false;
	in = path_rel(rel, r->workdir);
	if (*r->workdir == '\0' || in == NULL)
		in = rel;
	patch = passed_str(s, "patch", "");
	own = quoted(in);
	same = *in != '\0' &&
	    (strstr(patch, in) != NULL || strstr(patch, own) != NULL);
	free(own);
	return same;
}

/* Once for one act; asked again it is the same act. */
static bool
use_once(struct hook_side *s, uint64_t seq)
{
	if (s->used != 0 && s->used != seq)
		return false;
	s->used = seq;
	return true;
}

static bool
passed(const struct run *r, struct hook_side *s, const struct msg_audit *m)
{
	const char *act = m->act;

	if (s == NULL || s->tool == NULL)
		return false;
	if (strcmp(act, "command") == 0 || strcmp(act, "test") == 0)
		return strcmp(s->tool, "run_command") == 0 &&
		    strcmp(passed_str(s, "command", ""), m->subject) == 0 &&
		    use_once(s, m->seq);
	if (strcmp(act, "try") == 0)
		return strcmp(s->tool, "try_edits") == 0 &&
		    strcmp(passed_str(s, "check", ""), m->subject) == 0 &&
		    use_once(s, m->seq);
	if (strcmp(act, "write") == 0)
		return passed_path(r, s, m->subject);
	return strcmp(s->tool, act) == 0 &&
	    strcmp(passed_str(s, "path", "."), m->subject) == 0;
}

bool
hooks_passed(struct run *r, struct worker *w, const struct msg_audit *m,
    const char **ret_why)
{
	const char *act = m->act;
	bool watched;

	if (r->hooks == NULL || !hooks_of_kind(w->subtask->kind))
		return true;
	if (strcmp(act, "command") == 0)
		watched = watches(r, "run_command");
	else if (strcmp(act, "test") == 0)
		watched = watches(r, "run_command") &&
		    !strv_has(&r->tests, m->subject) &&
		    !strv_has(&r->o.checks, m->subject);
	else if (strcmp(act, "try") == 0)
		watched = watches(r, "try_edits");
	else if (strcmp(act, "write") == 0)
		watched = watches_writes(r);
	else
		watched = watches(r, act);
	*ret_why = "a PreToolUse hook is for this, and it has not passed it";
	return !watched || passed(r, w->hook, m);
}

bool
hooks_fetch_passed(struct run *r, struct worker *w, const char *url)
{
	const struct hook_side *s = w->hook;

	if (r->hooks == NULL || !hooks_of_kind(w->subtask->kind) ||
	    !watches(r, "fetch_url"))
		return true;
	return s != NULL && s->tool != NULL &&
	    strcmp(s->tool, "fetch_url") == 0 &&
	    strcmp(passed_str(s, "url", ""), url) == 0;
}

/* --- HOOK ---------------------------------------------------------------- */

/* The hooks have spoken, and the person where one asked. */
static void
settle(struct run *r, struct worker *w, bool allow, const char *reason)
{
	struct hook_side *s = w->hook;
	struct hook_call *c = s->call;
	struct hook_reply *p = &s->reply;

	answer_clear(p);
	p->verdict = allow ? "none" : "deny";
	if (!allow)
		p->reason = xstrdup(msg_str(reason));
	if (c->sum.context != NULL)
		p->context = xstrdup(c->sum.context);
	if (c->event == HOOK_PRE_TOOL && allow) {
		s->tool = xstrdup(msg_str(c->tool));
		s->passed = json_incref(c->input);
		if (c->sum.updated != NULL)
			p->input = json_text(c->sum.updated);
	}
	s->call = NULL;
	hook_call_free(c);
	send_reply(r, w);
}

static void
on_done(struct hook_call *c)
{
	struct run *r = c->r;
	struct worker *w = sched_worker(r, c->worker);
	char *input;

	if (w == NULL)
		return; /* it is freed with the worker */
	if (c->sum.verdict != HOOK_ASK) {
		settle(r, w, c->sum.verdict == HOOK_NONE, c->sum.reason);
		return;
	}
	input = json_text(c->input);
	approvals_hook(r, w, w->hook->seq, c->tool, input, c->sum.reason);
	free(input);
}

void
hooks_answered(
    struct run *r, struct worker *w, uint64_t seq, bool allow, const char *by)
{
	struct hook_side *s = w->hook;
	char *why;

	if (s == NULL || s->call == NULL || s->seq != seq ||
	    s->call->sum.verdict != HOOK_ASK)
		return;
	why = xasprintf("%s (%s)", s->call->sum.reason, by);
	settle(r, w, allow, why);
	free(why);
}

static void
on_workspace(struct hook_call *c, const struct hook *h, const char *text)
{
	struct worker *w = sched_worker(c->r, c->worker);
	struct hook_reply *p;

	if (w == NULL)
		return;
	p = &w->hook->reply;
	answer_clear(p);
	p->verdict = "run";
	p->command = xstrdup(h->command);
	p->feed = xstrdup(text);
	p->timeout_ms = h->timeout_ms;
	send_reply(c->r, w);
}

/* What stdin holds beside the common members. */
static json_t *
more_of(const struct msg_hook *m, enum hook_event ev)
{
	const char *text = msg_str(m->response);

	switch (ev) {
	case HOOK_POST_TOOL:
		return json_pack("{s:s}", "tool_response", text);
	case HOOK_POST_FAILURE:
		return json_pack(
		    "{s:s, s:s}", "tool_response", text, "error", text);
	case HOOK_SUBAGENT_STOP:
		return json_pack("{s:s, s:b}", "verdict", text,
		    "stop_hook_active", m->active);
	case HOOK_PRE_COMPACT:
		return json_pack(
		    "{s:s, s:s}", "trigger", "auto", "custom_instructions", "");
	default:
		return NULL;
	}
}

/* What a matcher of the event is matched with. */
static const char *
name_for(enum hook_event ev, const struct worker *w, const struct msg_hook *m)
{
	if (hook_event_has_tool(ev))
		return msg_str(m->tool);
	return ev == HOOK_PRE_COMPACT ? "auto" : kind_str(w->subtask->kind);
}

static void
begin(struct run *r, struct worker *w, const struct msg_hook *m,
    enum hook_event ev)
{
	struct hook_side *s = w->hook;
	json_t *input = NULL;
	struct hook_call *c;

	if (ev == HOOK_PRE_TOOL)
		pass_clear(s);
	if (hook_event_has_tool(ev) && m->input != NULL &&
	    (json_parse(m->input, strlen(m->input), INPUT_MAX, &input, NULL) <
		    0 ||
		!json_is_object(input))) {
		json_decref(input);
		reply(r, w, "deny", "the arguments are no JSON object");
		return;
	}
	c = hook_call_create(r, ev, w, name_for(ev, w, m));
	if (c == NULL) {
		if (ev == HOOK_PRE_TOOL) {
			s->tool = xstrdup(msg_str(m->tool));
			s->passed = input != NULL ? json_incref(input) : NULL;
		}
		json_decref(input);
		reply(r, w, "none", NULL);
		return;
	}
	c->input = input;
	if (c->input == NULL && hook_event_has_tool(ev))
		c->input = json_object();
	c->id = m->call != NULL ? xstrdup(m->call) : NULL;
	c->more = more_of(m, ev);
	c->done = on_done;
	c->workspace = on_workspace;
	s->call = c;
	hook_call_begin(c);
}

static void
take_result(struct run *r, struct worker *w, const struct msg_hook *m)
{
	struct hook_call *c = w->hook->call;
	struct hook_run run = {
		.failure = m->failure,
		.status = (int)m->status,
		.out = m->out_len > 0 ? m->out : "",
		.out_len = m->out_len,
		.err = m->err_len > 0 ? m->err : "",
		.err_len = m->err_len,
		.cut = m->cut,
	};

	if (c == NULL || !c->in_workspace)
		reply(r, w, "deny", "no such result is waited for");
	else
		hook_call_result(c, &run);
}

void
hooks_message(struct run *r, struct worker *w, const struct msg_hook *m)
{
	struct hook_side *s = hook_side(w);
	enum hook_event ev;

	if (m->seq <= s->seq) {
		/* Sent again: the answer was lost, or is still to come. */
		if (m->seq == s->seq && s->reply.verdict != NULL)
			send_reply(r, w);
		return;
	}
	s->seq = m->seq;
	answer_clear(&s->reply);
	if (m->result) {
		take_result(r, w, m);
		return;
	}
	/* It does one thing at a time: that one is given up. */
	hook_call_free(s->call);
	s->call = NULL;
	if (r->hooks == NULL || !hooks_of_kind(w->subtask->kind) ||
	    !hook_event_of(m->event, &ev) || !hook_event_of_worker(ev))
		reply(r, w, "none", NULL);
	else
		begin(r, w, m, ev);
}

void
hooks_worker_gone(struct run *r unused_arg, struct worker *w)
{
	struct hook_side *s = w->hook;

	if (s == NULL)
		return;
	hook_call_free(s->call);
	hook_call_free(s->permission);
	permission_clear(&s->p);
	answer_clear(&s->reply);
	pass_clear(s);
	free(s);
	w->hook = NULL;
}
