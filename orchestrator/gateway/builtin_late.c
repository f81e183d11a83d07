/*
 * builtin_late.c - trials that time out.
 *
 * They refute nothing: the machine may have become slower than it was when the
 * tests' time was taken. When most of the last ones time out it is taken again,
 * on the tree as it is; where that takes longer, too, limits are widened and
 * what timed out is tried once more. It keeps its place in the queue, since
 * nothing was learned of it. Otherwise such edits hang, and are left; where
 * they are few, they are tried once more at the end: something else may have
 * taken the time for a moment.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/num.h"
#include "orchestrator/gateway/builtin_priv.h"

#define RECENT 16
#define ENOUGH 8 /* of them, before the time is taken again */
#define LONGER 8 /* times the limit, for the tree as it is */
#define MOST_MS (10 * 60 * 1000)
/* Of what was tried, at most this part is tried again at the end: more are
 * edits that hang, since the time that was taken then did not say otherwise. */
#define FEW 8

void
builtin_ended(struct builtin *b, bool late)
{
	b->recent = (b->recent << 1 | late) & ((1U << RECENT) - 1);
	if (b->n_recent < RECENT)
		b->n_recent++;
}

static void
forget_recent(struct builtin *b)
{
	b->recent = 0;
	b->n_recent = 0;
}

/* Who counted it as tried does so no more. */
static bool
put_back(struct builtin *b, size_t cand)
{
	const struct cand *c = queue_cand(b->q, cand);
	struct worker *w;

	if (!queue_again(b->q, cand))
		return false;
	if (c->holder >= 1 && c->holder <= b->n_w) {
		w = &b->w[c->holder - 1];
		w->tried[c->hypo] -= w->tried[c->hypo] > 0;
		w->late[c->hypo] -= w->late[c->hypo] > 0;
	}
	return true;
}

size_t
builtin_second(struct builtin *b)
{
	size_t late = queue_n_late(b->q), tried = 0, n = 0;

	for (size_t h = 0; h < queue_n_hypo(b->q); h++)
		tried += queue_hypo(b->q, h)->tried;
	for (size_t i = 0; late * FEW <= tried && i < queue_n_cand(b->q); i++)
		n += put_back(b, i);
	return n;
}

void
builtin_late(struct builtin *b, struct worker *w, size_t cand, bool full,
    const json_t *args)
{
	json_int_t had = json_integer_value(json_object_get(args, "timeout_s"));
	const char *check = dialog_str(args, "check");
	bool narrower = false;

	queue_late(b->q, cand, w->id);
	for (size_t i = 0; i < b->ladder.n; i++) {
		const struct step *s = &b->ladder.v[i];

		/* The limit was widened while it ran. */
		narrower |= strcmp(s->command, check) == 0 && had > 0 &&
		    (uint64_t)had < s->limit_ms / 1000;
	}
	if (!narrower)
		builtin_ended(b, true);
	if (narrower || full)
		(void)put_back(b, cand);
}

json_t *
builtin_measure(
    struct builtin *b, struct worker *w, const json_t *conv, bool over)
{
	const struct step *check = ladder_first(&b->ladder);
	uint64_t left = builtin_left_s(b), limit = check->limit_ms * LONGER;
	size_t late = (size_t)__builtin_popcount(b->recent);
	json_t *reply;

	if (b->measurer != 0 || left == 0 ||
	    b->n_recent < (over ? 1 : ENOUGH) || late * 2 < b->n_recent)
		return NULL;
	if (limit > MOST_MS)
		limit = MOST_MS;
	if (left != UINT64_MAX && limit > left * 1000 / 2)
		limit = left * 1000 / 2;
	b->measurer = w->id;
	reply = dialog_reply("%zu of the last %zu edits timed out. How long do "
			     "the tests take now, without any edit?",
	    late, b->n_recent);
	ladder_ask_now(&b->ladder, reply, conv, limit);
	return reply;
}

void
builtin_measured(struct builtin *b, struct worker *w, const struct facts *f,
    const json_t *args, const char *text)
{
	const struct step *check = ladder_first(&b->ladder);
	uint64_t left = builtin_left_s(b);
	char limit[32];
	size_t n = 0;

	if (b->measurer == w->id)
		b->measurer = 0;
	forget_recent(b);
	/* Some edits, not one, are to find time in what is left. */
	if (!ladder_now(&b->ladder, f, dialog_str(args, "check"), text,
		left == UINT64_MAX ? MOST_MS : left * 1000 / 4))
		return;
	for (size_t i = 0; i < queue_n_cand(b->q); i++)
		n += put_back(b, i);
	free(w->news);
	w->news = xasprintf("The tests take longer than before: the limit of a "
			    "run is %s now, and %zu edits that timed out are "
			    "tried again. ",
	    num_fmt_ms(check->limit_ms, limit, sizeof limit), n);
}
