/*
 * slot_exit.c - WORKER_EXIT: why a worker is gone, and its last words.
 */
#include "common/compat.h"

#include <signal.h>
#include <sys/wait.h>

#include "common/log.h"
#include "common/text.h"
#include "worker/host/slot_int.h"

#define DETAIL_MAX 4096 /* of WORKER_EXIT */

/* The last max bytes of s, from the start of a character on. */
static const char *
last_bytes(const char *s, size_t len, size_t max)
{
	const char *from = len > max ? s + len - max : s;

	while ((*from & 0xc0) == 0x80)
		from++;
	return from;
}

/* What a person gets to read: the sentence, then the end of stderr. */
static void
detail_text(const struct slot *s, struct buf *ret)
{
	struct buf tail;
	size_t room;

	buf_init(&tail, 16 * TAIL_MAX);
	if (text_clean(&tail, buf_str(&s->tail), s->tail.len, 1024) < 0)
		buf_reset(&tail);
	while (tail.len > 0 && tail.data[tail.len - 1] == '\n')
		tail.data[--tail.len] = '\0';
	(void)text_clean(ret, s->why, strlen(s->why), 0);
	if (ret->len > 0 && tail.len > 0)
		(void)buf_addc(ret, '\n');
	room = DETAIL_MAX - ret->len;
	(void)buf_adds(ret, last_bytes(buf_str(&tail), tail.len, room));
	buf_clear(&tail);
}

void
slot_send_exit(struct slots *all, const char *name, const char *reason,
    uint64_t status, const char *detail)
{
	struct msg m = { .type = MSG_WORKER_EXIT };
	struct err e;

	m.u.worker_exit.reason = reason;
	m.u.worker_exit.status = status & 0xff;
	m.u.worker_exit.detail = detail;
	if (relay_msg(all->conf.up, name, &m, NULL, &e) < 0)
		log_error("worker %s: WORKER_EXIT: %s", name, e.text);
}

void
slot_report_exit(struct slot *s)
{
	const char *reason = s->reason;
	bool ran, killed = WIFSIGNALED(s->wait_status);
	int status = 0;
	struct buf b;

	ran = sandbox_finished(&s->proc, s->wait_status, &status);
	if (killed)
		status = 128 + WTERMSIG(s->wait_status);
	if (reason == NULL && status == 128 + SIGKILL)
		reason = slot_memory_reason(s, s->why, sizeof s->why);
	if (reason == NULL && !killed && !ran)
		reason = "sandbox";
	if (reason == NULL)
		reason = killed || status > 128 ? "killed" : "exited";
	buf_init(&b, DETAIL_MAX);
	detail_text(s, &b);
	log_debug("worker %s: %s, status %d", s->spare ? "(spare)" : s->name,
	    reason, status);
	if (!s->spare) /* nobody has heard of it */
		slot_send_exit(
		    s->all, s->name, reason, (uint64_t)status, buf_str(&b));
	buf_clear(&b);
}
