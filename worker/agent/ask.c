/*
 * ask.c - a request to the model, with room made for it before; see turn.h.
 */
#include "common/compat.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "worker/agent/turn.h"

#define TURNS_SHOWN 10 /* so few left are told */
#define SAVED_MAX ((size_t)8 << 20)

/* --- room in the window -------------------------------------------------- */

static void
save_dropped(void *ctx, const char *text, size_t len, char *dst, size_t size)
{
	struct turns *t = ctx;
	char name[48];
	int fd;

	dst[0] = '\0';
	if (t->a->fs.tmp_fd < 0 || t->saved_bytes + len > SAVED_MAX)
		return;
	snprintf(name, sizeof name, "dropped-%u.txt", t->saved + 1);
	(void)unlinkat(t->a->fs.tmp_fd, name, 0);
	fd = openat(t->a->fs.tmp_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (fd_write_all(fd, text, len) == 0) {
		snprintf(dst, size, "%s/%s", t->a->fs.tmp, name);
		t->saved++;
		t->saved_bytes += len;
	} else {
		(void)unlinkat(t->a->fs.tmp_fd, name, 0);
	}
	fd_close(&fd);
}

void
turns_make_room(struct turns *t, bool force)
{
	enum context_need need = CONTEXT_COMPACT;
	struct err e;

	while (t->a->out.verdict == NULL && need == CONTEXT_COMPACT) {
		if (context_retreat(&t->ctx, &t->conv, force, save_dropped, t,
			&need, &e) < 0) {
			agent_end(t->a, "error", "%s", e.text);
			return;
		}
		if (need == CONTEXT_COMPACT)
			compact(t);
		/* Once is enough when it helped. */
		if (t->ctx.barren == 0)
			force = false;
	}
}

/* --- asking -------------------------------------------------------------- */

/* What changes from turn to turn. */
void
turns_late(const struct turns *t, struct buf *ret)
{
	uint64_t max = t->a->task->max_turns;
	struct buf b;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	for (i = 0; i < t->steered.n; i++)
		(void)buf_printf(&b, "From foray: %s\n", t->steered.v[i]);
	if (t->a->todos.n > 0)
		(void)buf_adds(&b, "Your todos:\n");
	for (i = 0; i < t->a->todos.n; i++)
		(void)buf_printf(&b, "%s\n", t->a->todos.v[i]);
	if (max > 0 && max - t->turn <= TURNS_SHOWN)
		(void)buf_printf(ret, "Turns left, this one included: %llu\n",
		    (unsigned long long)(max - t->turn));
	(void)text_clean(ret, buf_str(&b), b.len, 0);
	buf_clear(&b);
	if (ret->len > CONV_LATE_MAX) {
		ret->len = text_cut(ret->data, ret->len, CONV_LATE_MAX);
		ret->data[ret->len] = '\0';
	}
}

void
turns_ask(struct turns *t, const char *late, struct msg **ret)
{
	struct agent *a = t->a;
	struct msg *answer = NULL;
	const struct msg_model_result *m;
	struct err e;

	t->turn++;
	if (conv_ask(&t->conv, a->link, t->turn, late, &answer, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		return;
	}
	m = &answer->u.model_result;
	if (strcmp(m->status, "ok") == 0) {
		a->calls++;
		context_measure(&t->ctx, &t->conv,
		    late != NULL ? strlen(late) : 0, m->in_tokens);
	} else if (strcmp(m->status, "budget") == 0) {
		agent_end(a, "budget", "%s",
		    m->error != NULL ? m->error : "the budget is spent");
	} else if (strcmp(m->status, "overflow") != 0 &&
	    strcmp(m->status, "too_large") != 0) {
		agent_end(a, "error", "%s",
		    m->error != NULL ? m->error : "the model failed");
	}
	if (a->out.verdict != NULL)
		msg_free(answer);
	else
		*ret = answer;
}
