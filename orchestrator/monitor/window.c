#include "common/compat.h"

#include <stdlib.h>

#include "common/log.h"
#include "orchestrator/monitor/window.h"

struct mark {
	uint64_t t_ms, n, what;
	unsigned weight;
};

struct ring {
	struct mark *v; /* oldest first; room for the step's count */
	size_t n;
	bool reached;
	struct mark
	    start; /* reached: where the sequence that came here began */
};

struct window {
	const struct monitor_rule *rule;
	uint64_t last_ms;
	struct ring rings[MONITOR_STEPS_MAX];
	struct mark marks[];
};

struct window *
window_create(const struct monitor_rule *rule)
{
	size_t i, total = 0;
	struct window *w;

	for (i = 0; i < rule->n_steps; i++)
		total += rule->steps[i].count;
	w = xcalloc(1, sizeof *w + total * sizeof w->marks[0]);
	w->rule = rule;
	for (i = 0, total = 0; i < rule->n_steps; i++) {
		w->rings[i].v = w->marks + total;
		total += rule->steps[i].count;
	}
	return w;
}

void
window_free(struct window *w)
{
	free(w);
}

size_t
window_held(const struct window *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->rule->n_steps; i++)
		n += w->rings[i].n;
	return n;
}

uint64_t
window_last_ms(const struct window *w)
{
	return w->last_ms;
}

static bool
is_over(
    const struct monitor_rule *r, const struct mark *m, const struct seen *s)
{
	return (r->within_ms > 0 && s->t_ms - m->t_ms > r->within_ms) ||
	    (r->events > 0 && s->n - m->n >= r->events);
}

static void
drop(struct ring *k, size_t i)
{
	memmove(k->v + i, k->v + i + 1, (k->n - i - 1) * sizeof *k->v);
	k->n--;
}

/* Put it into the step's ring; true: there are enough. */
static bool
count(struct window *w, size_t i, const struct seen *s)
{
	const struct monitor_step *st = &w->rule->steps[i];
	struct ring *k = &w->rings[i];
	struct mark m = { s->t_ms, s->n, 0, s->weight };
	unsigned sum = 0;
	size_t j;

	m.what = st->distinct == DISTINCT_SUBJECT ? s->subject : s->worker;
	while (k->n > 0 && is_over(w->rule, &k->v[0], s))
		drop(k, 0);
	for (j = 0; st->distinct != DISTINCT_NONE && j < k->n; j++)
		if (k->v[j].what == m.what) {
			if (k->v[j].weight > m.weight)
				m.weight = k->v[j].weight;
			drop(k, j);
			break;
		}
	if (k->n == st->count)
		drop(k, 0);
	k->v[k->n++] = m;
	for (j = 0; j < k->n; j++)
		sum += k->v[j].weight;
	return sum >= st->count;
}

static void
start_anew(struct window *w)
{
	size_t i;

	for (i = 0; i < w->rule->n_steps; i++) {
		w->rings[i].n = 0;
		w->rings[i].reached = false;
	}
}

bool
window_take(struct window *w, const struct seen *s)
{
	const struct monitor_rule *r = w->rule;
	struct ring *k, *before;
	size_t i;

	w->last_ms = s->t_ms;
	/* The last one first: one act is one step. */
	for (i = MONITOR_STEPS_MAX; i-- > 0;) {
		if (i >= r->n_steps || (s->steps & 1u << i) == 0)
			continue;
		k = &w->rings[i];
		before = i > 0 ? &w->rings[i - 1] : NULL;
		if (before != NULL &&
		    (!before->reached || is_over(r, &before->start, s)))
			continue;
		if (!count(w, i, s))
			continue;
		if (i + 1 == r->n_steps) {
			start_anew(w);
			return true;
		}
		k->start = before != NULL ? before->start : k->v[0];
		k->reached = true;
	}
	return false;
}
