#include "common/compat.h"

#include "orchestrator/gateway/limiter.h"

#define BACKOFF_BASE_MS 500
#define PAUSE_MIN_MS 100
#define PAUSE_MAX_MS 1000

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t
next(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void
limiter_init(struct limiter *l, unsigned max, uint64_t seed)
{
	if (max == 0)
		max = 1;
	*l = (struct limiter){ .width = max, .max = max, .seed = seed };
}

uint64_t
limiter_enter(struct limiter *l, uint64_t now_ms)
{
	if (now_ms < l->closed_until_ms)
		return l->closed_until_ms - now_ms;
	if (l->in_flight >= (unsigned)l->width)
		return UINT64_MAX;
	if (now_ms < l->next_ms)
		return l->next_ms - now_ms;
	l->in_flight++;
	if (l->pause_ms > 0)
		l->next_ms = now_ms + l->pause_ms * 3 / 4 +
		    next(&l->seed) % (l->pause_ms / 2 + 1);
	return 0;
}

void
limiter_leave(struct limiter *l, bool ok)
{
	if (l->in_flight > 0)
		l->in_flight--;
	if (!ok)
		return;
	l->strikes = 0;
	l->width += 1 / l->width;
	if (l->width > l->max)
		l->width = l->max;
	l->pause_ms -= l->pause_ms / 8;
	if (l->pause_ms < PAUSE_MIN_MS / 2)
		l->pause_ms = l->next_ms = 0;
}

void
limiter_refused(struct limiter *l, uint64_t now_ms, uint64_t wait_ms)
{
	uint64_t until =
	    wait_ms < UINT64_MAX - now_ms ? now_ms + wait_ms : UINT64_MAX;

	/* The rest of a burst that one refusal ended says nothing new. */
	if (now_ms >= l->closed_until_ms) {
		l->strikes++;
		l->width = l->width / 2 > 1 ? l->width / 2 : 1;
		l->pause_ms *= 2;
		if (l->pause_ms < PAUSE_MIN_MS)
			l->pause_ms = PAUSE_MIN_MS;
		if (l->pause_ms > PAUSE_MAX_MS)
			l->pause_ms = PAUSE_MAX_MS;
	}
	if (until > l->closed_until_ms)
		l->closed_until_ms = until;
}

uint64_t
backoff_ms(unsigned n, uint64_t cap_ms, bool has_retry_after,
    uint64_t retry_after_ms, uint64_t *seed)
{
	uint64_t whole = BACKOFF_BASE_MS, half;

	for (unsigned i = 1; i < n && whole < cap_ms; i++)
		whole *= 2;
	if (whole > cap_ms)
		whole = cap_ms;
	half = whole / 2;
	whole = half + next(seed) % (whole - half + 1);
	return has_retry_after && retry_after_ms > whole ? retry_after_ms
							 : whole;
}
