/* hook.c - see hook.h. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/notes.h"
#include "common/text.h"
#include "worker/agent/command.h"
#include "worker/agent/exec.h"
#include "worker/agent/hook.h"

#define ASK_AGAIN_MS 30000
#define INPUT_MAX ((size_t)1 << 20)     /* HOOK.input, ANSWER.input */
#define RESPONSE_MAX ((size_t)60 << 10) /* HOOK.response */
#define OUTPUT_KEPT ((size_t)64 << 10)  /* HOOK.out, .err */
#define CALL_MAX 200

static bool
wanted(const struct agent *a, const char *event, const char *tool)
{
	const struct msg_strs *v;
	size_t i, n = strlen(event);

	if (a->task == NULL)
		return false;
	v = &a->task->hooks;
	for (i = 0; i < v->n; i++) {
		if (!text_starts(v->v[i], event))
			continue;
		if (v->v[i][n] == '\0' ||
		    (v->v[i][n] == ':' &&
			(strcmp(v->v[i] + n + 1, "*") == 0 ||
			    (tool != NULL &&
				strcmp(v->v[i] + n + 1, tool) == 0))))
			return true;
	}
	return false;
}

/* --- in the workspace ---------------------------------------------------- */

/* A file for stderr that has no name any more. */
static int
nameless(const struct agent *a, struct err *e)
{
	static const char name[] = ".foray-hook";
	int fd;

	if (a->fs.tmp_fd < 0)
		return fd_memfile("stderr", "", 0);
	(void)unlinkat(a->fs.tmp_fd, name, 0);
	fd = openat(a->fs.tmp_fd, name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(
		    e, -errno, "a file in /tmp: %s", strerror(errno));
	(void)unlinkat(a->fs.tmp_fd, name, 0);
	return fd;
}

static void
read_head(int fd, struct buf *b)
{
	ssize_t n;

	while (b->len < OUTPUT_KEPT) {
		(void)buf_reserve(b, OUTPUT_KEPT - b->len);
		n = pread(
		    fd, b->data + b->len, OUTPUT_KEPT - b->len, (off_t)b->len);
		if (n <= 0)
			break;
		buf_fill(b, (size_t)n);
	}
}

/* A command, and what it came to. */
struct here {
	struct sandbox_spec spec;
	struct exec x;
	struct buf err;
	char failure[500];
};

/* h: zeroed; *ret borrows from it. */
static void
run_here(struct agent *a, const struct msg_answer *m, struct here *h,
    struct msg_hook *ret)
{
	struct exec *x = &h->x;
	struct err e = { 0 };
	int rc;

	buf_init(&h->err, OUTPUT_KEPT + 1);
	command_spec(a, &a->cfg.inner, msg_str(m->command), &h->spec);
	x->spec = &h->spec;
	x->input = msg_str(m->feed);
	x->input_len = strlen(msg_str(m->feed));
	x->timeout_ms = m->timeout_ms;
	x->keep = OUTPUT_KEPT;
	x->err_fd = nameless(a, &e);
	rc = x->err_fd < 0 ? x->err_fd : exec_run(x, &e);
	if (rc < 0)
		(void)snprintf(h->failure, sizeof h->failure, "%.400s", e.text);
	else if (x->timed_out || x->too_much)
		exec_status_str(x, h->failure, sizeof h->failure);
	if (x->err_fd > 0)
		read_head(x->err_fd, &h->err);
	fd_close(&x->err_fd);
	a->hook_ran = true;
	ret->result = true;
	ret->status = (uint64_t)(x->status & 255);
	ret->failure = h->failure[0] != '\0' ? h->failure : NULL;
	ret->out = x->head.len > 0 ? x->head.data : NULL;
	ret->out_len = x->head.len;
	ret->err = h->err.len > 0 ? h->err.data : NULL;
	ret->err_len = h->err.len;
	ret->cut = x->tail_total > 0;
}

static void
here_clear(struct here *h)
{
	exec_clear(&h->x);
	spec_clear(&h->spec);
	buf_clear(&h->err);
}

/* --- asking -------------------------------------------------------------- */

static bool
is_answer_for(const struct msg *m, const void *ctx)
{
	return m->u.answer.seq == *(const uint64_t *)ctx;
}

static int
ask_once(
    struct agent *a, const struct msg_hook *in, struct msg **ret, struct err *e)
{
	struct msg m = { .type = MSG_HOOK };
	uint64_t seq = ++a->hook_seq;

	m.u.hook = *in;
	m.u.hook.seq = seq;
	return link_call(a->link, &m, MSG_ANSWER, is_answer_for, &seq,
	    ASK_AGAIN_MS, 0, ret, e);
}

/* Until the orchestrator wants nothing run any more. *ret is yours. */
static int
ask(struct agent *a, const struct msg_hook *in, struct msg **ret, struct err *e)
{
	struct msg *m;
	int r = ask_once(a, in, &m, e);

	while (r >= 0 && strcmp(m->u.answer.verdict, "run") == 0) {
		struct msg_hook done = { .event = in->event };
		struct here h = { .x = { .err_fd = -1 } };

		run_here(a, &m->u.answer, &h, &done);
		msg_free(m);
		r = ask_once(a, &done, &m, e);
		here_clear(&h);
	}
	if (r >= 0)
		*ret = m;
	return r;
}

static bool
is_denied(const struct msg *m)
{
	return strcmp(m->u.answer.verdict, "none") != 0;
}

/* --- tools --------------------------------------------------------------- */

/* A hook's own arguments are judged like the model's. */
static bool
take_input(const struct tool *t, json_t **args, const char *text,
    struct tool_result *r)
{
	json_t *j = NULL;
	struct err e;

	if (text == NULL)
		return true;
	if (json_parse(text, strlen(text), INPUT_MAX, &j, &e) < 0 ||
	    tool_check(t, j, &e) < 0) {
		json_decref(j);
		tool_fail(r,
		    "denied: a hook of the person changed the arguments, and "
		    "they can't be taken: %s",
		    e.text);
		r->denied = true;
		return false;
	}
	json_decref(*args);
	*args = j;
	return true;
}

bool
hook_before(struct agent *a, const struct tool *t, json_t **args,
    struct buf *context, struct tool_result *r)
{
	struct msg_hook in = { .event = "PreToolUse", .tool = t->name };
	char *text, call[CALL_MAX + 1];
	struct msg *m = NULL;
	struct err e;
	bool go_on = false;

	if (!wanted(a, in.event, t->name))
		return true;
	text = json_text(*args);
	snprintf(call, sizeof call, "%s", msg_str(a->call));
	in.call = call;
	in.input = text;
	if (strlen(text) > INPUT_MAX) {
		tool_fail(r,
		    "denied: the arguments are over 1 MiB, more than a hook of "
		    "the person can be shown: make a shorter call");
		r->denied = true;
	} else if (ask(a, &in, &m, &e) < 0) {
		tool_fail_err(r, &e);
	} else if (is_denied(m)) {
		tool_fail(r, "denied by a hook of the person: %s",
		    msg_str(m->u.answer.reason));
		r->denied = true;
	} else {
		go_on = take_input(t, args, m->u.answer.input, r);
	}
	if (m != NULL && m->u.answer.context != NULL)
		(void)buf_adds(context, m->u.answer.context);
	msg_free(m);
	free(text);
	return go_on;
}

static void
add(struct tool_result *r, const char *head, const char *text)
{
	if (text != NULL && *text != '\0')
		tool_printf(r, "\n\n[%s]\n%s", head, text);
}

void
hook_after(struct agent *a, const struct tool *t, const json_t *args,
    struct tool_result *r)
{
	struct msg_hook in = { .tool = t->name };
	char *input, call[CALL_MAX + 1];
	struct buf clean, text;
	struct msg *m = NULL;
	struct err e;

	in.event = r->error ? "PostToolUseFailure" : "PostToolUse";
	if (r->denied || !wanted(a, in.event, t->name))
		return;
	buf_init(&clean, BUF_NOMAX);
	buf_init(&text, BUF_NOMAX);
	(void)text_clean(&clean, buf_str(&r->text), r->text.len, 0);
	(void)text_head_tail(&text, buf_str(&clean), clean.len, RESPONSE_MAX);
	input = json_text(args);
	snprintf(call, sizeof call, "%s", msg_str(a->call));
	in.call = call;
	in.input = strlen(input) <= INPUT_MAX ? input : NULL;
	in.response = buf_str(&text);
	if (ask(a, &in, &m, &e) < 0) {
		add(r, NOTE_UNHOOKED, e.text);
	} else {
		if (is_denied(m))
			add(r, NOTE_OBJECTION, m->u.answer.reason);
		add(r, NOTE_CONTEXT, m->u.answer.context);
	}
	msg_free(m);
	free(input);
	buf_clear(&clean);
	buf_clear(&text);
}

/* --- other events -------------------------------------------------------- */

bool
hook_event(struct agent *a, const char *event, const char *text, bool active,
    char **ret)
{
	struct msg_hook in = {
		.event = event, .response = text, .active = active
	};
	const char *say;
	struct msg *m = NULL;
	struct err e;
	bool go_on;

	*ret = NULL;
	if (!wanted(a, event, NULL))
		return true;
	if (ask(a, &in, &m, &e) < 0) {
		*ret = xstrdup(e.text);
		return false;
	}
	go_on = !is_denied(m);
	say = go_on ? m->u.answer.context : m->u.answer.reason;
	if (say != NULL && *say != '\0')
		*ret = xstrdup(say);
	msg_free(m);
	return go_on;
}
