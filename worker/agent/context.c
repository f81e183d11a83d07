/* context.c - see context.h. */
#include "common/compat.h"

#include "common/log.h"
#include "worker/agent/context.h"

#define PER_KIB 256      /* four bytes a token */
#define PER_KIB_MIN 64   /* sixteen */
#define PER_KIB_MAX 1024 /* one */
#define KEPT_GROUPS 2    /* the last ones, not dropped without need */
#define TAIL_MESSAGES 24
#define RESULT_LEAST ((size_t)2 << 10)
#define RESULT_MOST ((size_t)256 << 10)

void
context_init(struct context *x, uint64_t window, uint64_t max_output)
{
	*x = (struct context){ .per_kib = PER_KIB };
	x->window = window != 0 ? window : CONTEXT_WINDOW;
	if (max_output > x->window / 2)
		max_output = x->window / 2;
	x->high = x->window * 8 / 10;
	if (x->high > x->window - max_output)
		x->high = x->window - max_output;
	x->low = x->window / 2;
	if (x->low > x->high * 5 / 8)
		x->low = x->high * 5 / 8;
}

static uint64_t
bytes_of(const struct conv *c, size_t from, size_t to)
{
	uint64_t n = 0;
	size_t i;

	for (i = from; i < to; i++)
		n += c->v[i].len;
	return n;
}

uint64_t
context_tokens(
    const struct context *x, const struct conv *c, size_t from, size_t to)
{
	return bytes_of(c, from, to) * x->per_kib / 1024;
}

void
context_measure(
    struct context *x, const struct conv *c, size_t extra, uint64_t in_tokens)
{
	uint64_t bytes = bytes_of(c, 0, c->n) + extra, k;

	if (in_tokens == 0 || bytes == 0)
		return;
	k = in_tokens * 1024 / bytes;
	x->per_kib = k < PER_KIB_MIN ? PER_KIB_MIN
	    : k > PER_KIB_MAX        ? PER_KIB_MAX
				     : k;
}

void
context_overflowed(struct context *x, const struct conv *c)
{
	if (context_tokens(x, c, 0, c->n) < x->window)
		context_measure(x, c, 0, x->window);
}

size_t
context_result_max(const struct context *x)
{
	uint64_t n = x->window / 8 * 1024 / x->per_kib;

	if (n < RESULT_LEAST)
		return RESULT_LEAST;
	return n > RESULT_MOST ? RESULT_MOST : (size_t)n;
}

size_t
context_summary_max(const struct context *x)
{
	return (size_t)(x->window / 5 * 1024 / x->per_kib);
}

int
context_too_small(const struct context *x, const struct conv *c, struct err *e)
{
	return err_set(e, ERR_LIMIT,
	    "context too small: of the window's %llu tokens at most %llu can "
	    "be filled (limit), and the fixed tokens, which can't go, are %llu "
	    "(tools %llu, system prompt %llu, notes and task %llu); the "
	    "conversation as a whole has %llu",
	    (unsigned long long)x->window, (unsigned long long)x->high,
	    (unsigned long long)context_tokens(x, c, 0, x->fixed),
	    (unsigned long long)context_tokens(x, c, 0, 1),
	    (unsigned long long)context_tokens(x, c, 1, 2),
	    (unsigned long long)context_tokens(x, c, 2, x->fixed),
	    (unsigned long long)context_tokens(x, c, 0, c->n));
}

/* Where the last n groups (a message of the model's and its results) begin. */
static size_t
last_groups(const struct context *x, const struct conv *c, unsigned n)
{
	size_t i = c->n;

	while (i > x->fixed && n > 0) {
		if (c->v[--i].role == CONV_ASSISTANT)
			n--;
	}
	return i;
}

/* Tokens that dropping all before `to` would leave. */
static uint64_t
left_by_drop(const struct context *x, const struct conv *c, size_t to)
{
	uint64_t bytes = bytes_of(c, 0, c->n);
	size_t i;

	for (i = x->fixed; i < to; i++) {
		if (trim_can_drop(c, i))
			bytes -= c->v[i].len - TRIM_STUB;
	}
	return bytes * x->per_kib / 1024;
}

static void
drop(const struct context *x, struct conv *c, size_t to, uint64_t goal,
    context_save save, void *ctx)
{
	size_t i;

	for (i = x->fixed; i < to; i++) {
		if (context_tokens(x, c, 0, c->n) <= goal)
			return;
		(void)trim_drop(c, i, save, ctx);
	}
}

int
context_retreat(struct context *x, struct conv *c, bool force,
    context_save save, void *ctx, enum context_need *ret, struct err *e)
{
	size_t to;

	*ret = CONTEXT_FITS;
	if (!force && context_tokens(x, c, 0, c->n) < x->high)
		return 0;
	if (context_tokens(x, c, 0, x->fixed) >= x->high || c->n <= x->fixed)
		return context_too_small(x, c, e);
	to = last_groups(x, c, KEPT_GROUPS);
	if (!force) {
		(void)trim_strip(c, x->fixed, to);
		if (context_tokens(x, c, 0, c->n) <= x->low)
			return 0;
		if (left_by_drop(x, c, to) <= x->low) {
			drop(x, c, to, x->low, save, ctx);
			return 0;
		}
	}
	/* The request for the summary must fit too. */
	if (force || context_tokens(x, c, 0, c->n) > (x->high + x->window) / 2)
		drop(x, c, c->n, x->low, save, ctx);
	*ret = CONTEXT_COMPACT;
	return 0;
}

size_t
context_tail(const struct context *x, const struct conv *c)
{
	size_t i, tail = c->n;

	for (i = c->n; i > x->fixed; i--) {
		if (c->n - (i - 1) > TAIL_MESSAGES ||
		    context_tokens(x, c, i - 1, c->n) > x->window * 15 / 100)
			break;
		if (c->v[i - 1].role == CONV_ASSISTANT)
			tail = i - 1;
	}
	/* Something must go. */
	return tail <= x->fixed ? c->n : tail;
}

int
context_barren(struct context *x, const struct conv *c, struct err *e)
{
	if (++x->barren < CONTEXT_BARREN_MAX)
		return 0;
	(void)context_too_small(x, c, e);
	return err_prefix(
	    e, "no progress by %u compactions in a row", x->barren);
}

int
context_compacted(
    struct context *x, const struct conv *c, uint64_t before, struct err *e)
{
	uint64_t now = context_tokens(x, c, 0, c->n);

	if (now < before && now <= (x->low + x->high) / 2) {
		x->barren = 0;
		return 0;
	}
	return context_barren(x, c, e);
}
