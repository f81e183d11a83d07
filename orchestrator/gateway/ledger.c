#include "common/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "orchestrator/gateway/ledger.h"

enum room {
	ROOM,
	ROOM_LATER,
	ROOM_NONE
};

static enum room
room(uint64_t max, uint64_t spent, uint64_t reserved, uint64_t want)
{
	if (max == 0)
		return ROOM;
	if (spent >= max)
		return ROOM_NONE;
	if (want <= max - spent && reserved <= max - spent - want)
		return ROOM;
	return reserved > 0 ? ROOM_LATER : ROOM;
}

static int
refuse(struct ledger *l, enum room room, struct err *e, const char *limit)
{
	if (room == ROOM_LATER)
		return err_set(e, -EAGAIN, "waits for other requests");
	l->out = true;
	return err_set(e, ERR_BUDGET, "the budget of %s is spent", limit);
}

static int
check(struct ledger *l, const struct amount *a, struct err *e)
{
	char limit[64];
	enum room r;

	r = room(l->max_calls, l->spent.calls, l->reserved_calls, 1);
	if (r != ROOM) {
		(void)snprintf(limit, sizeof limit, "%" PRIu64 " model calls",
		    l->max_calls);
		return refuse(l, r, e, limit);
	}
	r = room(l->max_tokens, l->spent.in_tokens + l->spent.out_tokens,
	    l->reserved.in_tokens + l->reserved.out_tokens,
	    a->in_tokens + a->out_tokens);
	if (r != ROOM) {
		(void)snprintf(
		    limit, sizeof limit, "%" PRIu64 " tokens", l->max_tokens);
		return refuse(l, r, e, limit);
	}
	r = room(l->max_micro, l->spent.micro, l->reserved.micro, a->micro);
	if (r != ROOM) {
		(void)snprintf(
		    limit, sizeof limit, "$%.2f", (double)l->max_micro / 1e6);
		return refuse(l, r, e, limit);
	}
	return 0;
}

int
ledger_reserve(struct ledger *l, const struct amount *a, struct err *e)
{
	struct ledger *at;
	int r;

	for (at = l; at != NULL; at = at->parent)
		if ((r = check(at, a, e)) < 0)
			return r;
	for (at = l; at != NULL; at = at->parent) {
		at->reserved_calls++;
		at->reserved.in_tokens += a->in_tokens;
		at->reserved.out_tokens += a->out_tokens;
		at->reserved.micro += a->micro;
	}
	return 0;
}

void
ledger_release(struct ledger *l, const struct amount *a)
{
	for (; l != NULL; l = l->parent) {
		l->reserved_calls--;
		l->reserved.in_tokens -= a->in_tokens;
		l->reserved.out_tokens -= a->out_tokens;
		l->reserved.micro -= a->micro;
	}
}

void
spend_add(struct spend *to, const struct spend *s)
{
	to->calls += s->calls;
	to->in_tokens += s->in_tokens;
	to->out_tokens += s->out_tokens;
	to->cached_tokens += s->cached_tokens;
	to->cache_write_tokens += s->cache_write_tokens;
	to->reasoning_tokens += s->reasoning_tokens;
	to->micro += s->micro;
}

static bool
is_spent(const struct ledger *l)
{
	const struct spend *s = &l->spent;

	return (l->max_calls != 0 && s->calls >= l->max_calls) ||
	    (l->max_tokens != 0 &&
		s->in_tokens + s->out_tokens >= l->max_tokens) ||
	    (l->max_micro != 0 && s->micro >= l->max_micro);
}

bool
ledger_is_limited(const struct ledger *l)
{
	while (l != NULL && l->max_tokens == 0 && l->max_micro == 0)
		l = l->parent;
	return l != NULL;
}

bool
ledger_charge(struct ledger *l, const struct spend *s)
{
	bool spent = false;

	for (; l != NULL; l = l->parent) {
		spend_add(&l->spent, s);
		if (is_spent(l))
			spent = l->out = true;
	}
	return spent;
}

void
ledger_settle(struct ledger *l, const struct amount *a, const struct spend *s)
{
	ledger_release(l, a);
	for (; l != NULL; l = l->parent)
		spend_add(&l->spent, s);
}

json_t *
spend_json(const struct spend *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f}", "calls",
	    (json_int_t)s->calls, "in_tokens", (json_int_t)s->in_tokens,
	    "out_tokens", (json_int_t)s->out_tokens, "cached_tokens",
	    (json_int_t)s->cached_tokens, "reasoning_tokens",
	    (json_int_t)s->reasoning_tokens, "cost_usd",
	    (double)s->micro / 1e6);
}
