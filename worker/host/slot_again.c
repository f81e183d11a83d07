/*
 * slot_again.c - after a cut: what was asked on the connection that is gone.
 *
 * A worker has one question open at a time, and asks it again by itself after a
 * while. The host asks it again at once, since it knows of the cut.
 *
 * Which question an answer is for can't be told here: after a cut two come for
 * one, and the second must not pass for the answer to the next. So the last
 * question is kept until there is another. To be asked what was answered costs
 * the orchestrator a message; only a page is not fetched twice.
 */
#include "common/compat.h"

#include "common/log.h"
#include "worker/host/slot_int.h"

void
slot_remember(struct slot *s, enum msg_type type, const void *raw, size_t len)
{
	if (!s->all->conf.remember || type == MSG_PROGRESS)
		return;
	buf_clear(&s->asked);
	buf_init(&s->asked, MSG_MAX_BYTES);
	if (len > 0 && buf_add(&s->asked, raw, len) < 0)
		log_debug("worker %s: not kept", s->name);
	s->open = type;
}

void
slot_answered(struct slot *s, enum msg_type type)
{
	if (type != MSG_FETCH_RESULT || s->open != MSG_FETCH)
		return;
	buf_clear(&s->asked);
	s->open = MSG_NONE;
}

void
slots_ask_again(struct slots *all)
{
	struct slot *s;
	struct err e;

	TAILQ_FOREACH (s, &all->list, entry) {
		if (s->state != SLOT_UP || s->open == MSG_NONE)
			continue;
		if (s->open == MSG_READY)
			slot_say_ready(s);
		else if (relay_raw(all->conf.up, s->name, s->asked.data,
			     s->asked.len, &s->share, &e) < 0)
			slot_end(s, "protocol", "%s", e.text);
	}
}

void
slots_names(const struct slots *all, struct strv *ret)
{
	const struct slot *s;

	TAILQ_FOREACH (s, &all->list, entry)
		if (!s->spare)
			strv_add(ret, s->name);
}
