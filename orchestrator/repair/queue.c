#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/hypo.h"
#include "orchestrator/repair/queue.h"

/* How much more likely an edit elsewhere must be to draw a worker away. */
#define OWN 2.0

/* As likely as another: it scores this part of it at least. */
#define BAND 0.75f

#define WORKERS_MAX 4096

struct queue {
	struct cands c;
	struct source *const *sources;
	struct hypo hypo[QUEUE_MAX_HYPO];
	size_t n_hypo;
	size_t left; /* candidates that may be dealt */
	size_t n_late;
	bool stopped;
	/* Which hypothesis worker i is at: index + 1; 0: none. */
	uint8_t *at;
	size_t n_at;
	uint32_t *table; /* by key: index + 1 */
	size_t n_table;
};

static void
make_table(struct queue *q)
{
	q->n_table = 1024;
	while (q->n_table < q->c.n * 2)
		q->n_table *= 2;
	q->table = xcalloc(q->n_table, sizeof *q->table);
	for (size_t i = 0; i < q->c.n; i++) {
		struct cand *c = &q->c.v[i];
		const struct source *s = q->sources[c->source];
		char *old = cand_old(c, s);
		size_t k;

		c->key = cand_key(s->path, c->line, old, c->new_text);
		free(old);
		k = c->key & (q->n_table - 1);
		while (q->table[k] != 0)
			k = (k + 1) & (q->n_table - 1);
		q->table[k] = (uint32_t)i + 1;
	}
}

struct queue *
queue_create(struct cands *c, struct source *const *sources, size_t n_sources,
    size_t max, uint64_t seed)
{
	struct queue *q = xcalloc(1, sizeof *q);

	cands_sort(c, seed);
	cands_keep(c, max);
	q->c = *c;
	q->c.hints = NULL;
	*c = (struct cands){ 0 };
	q->sources = sources;
	q->left = q->c.n;
	if (q->c.n > 0 && n_sources > 0)
		q->n_hypo = hypo_group(&q->c, sources, q->hypo);
	make_table(q);
	return q;
}

void
queue_free(struct queue *q)
{
	if (q == NULL)
		return;
	for (size_t i = 0; i < q->n_hypo; i++)
		free(q->hypo[i].list);
	cands_clear(&q->c);
	free(q->table);
	free(q->at);
	free(q);
}

size_t
queue_n_hypo(const struct queue *q)
{
	return q->n_hypo;
}

const struct hypo *
queue_hypo(const struct queue *q, size_t i)
{
	return i < q->n_hypo ? &q->hypo[i] : NULL;
}

size_t
queue_hypo_find(const struct queue *q, const char *name)
{
	for (size_t i = 0; i < q->n_hypo && name != NULL; i++) {
		if (strcmp(q->hypo[i].name, name) == 0)
			return i;
	}
	return QUEUE_NONE;
}

size_t
queue_n_cand(const struct queue *q)
{
	return q->c.n;
}

size_t
queue_left(const struct queue *q)
{
	return q->left;
}

const struct cand *
queue_cand(const struct queue *q, size_t i)
{
	return i < q->c.n ? &q->c.v[i] : NULL;
}

const struct source *
queue_source(const struct queue *q, size_t i)
{
	return i < q->c.n ? q->sources[q->c.v[i].source] : NULL;
}

static void
set_at(struct queue *q, uint32_t worker, size_t hypo)
{
	if (worker >= WORKERS_MAX)
		return;
	if (worker >= q->n_at) {
		size_t n = worker + 16;

		q->at = xreallocarray(q->at, n, sizeof *q->at);
		memset(q->at + q->n_at, 0, n - q->n_at);
		q->n_at = n;
	}
	if (q->at[worker] != 0)
		q->hypo[q->at[worker] - 1].holders--;
	q->at[worker] = hypo == QUEUE_NONE ? 0 : (uint8_t)(hypo + 1);
	if (hypo != QUEUE_NONE)
		q->hypo[hypo].holders++;
}

/* The score of the next one that a hypothesis can deal; 0 when none is left. */
static double
next_score(struct queue *q, struct hypo *h)
{
	if (h->left == 0)
		return 0;
	while (q->c.v[h->list[h->next]].state != CAND_NEW)
		h->next++;
	return (double)q->c.v[h->list[h->next]].score;
}

/* The best that is left, where a worker's own hypothesis counts OWN times: it
 * stays with its own, but not for edits far less likely than those elsewhere.
 */
static size_t
pick(struct queue *q, size_t own)
{
	size_t best = QUEUE_NONE;
	double top = 0, s;

	for (size_t i = 0; i < q->n_hypo; i++) {
		s = next_score(q, &q->hypo[i]);
		if (i == own)
			s *= OWN;
		if (s > top) {
			top = s;
			best = i;
		}
	}
	return best;
}

static void
take(struct queue *q, size_t i, uint32_t worker)
{
	struct cand *c = &q->c.v[i];

	c->state = CAND_DEALT;
	c->holder = worker;
	q->hypo[c->hypo].left--;
	q->left--;
}

size_t
queue_next(struct queue *q, uint32_t worker, const char *name, size_t max,
    uint32_t *ret)
{
	size_t own = queue_hypo_find(q, name), n = 0, h;

	if (q->stopped)
		return 0;
	for (; n < max && (h = pick(q, own)) != QUEUE_NONE; n++) {
		struct hypo *hy = &q->hypo[h];

		if (n == 0)
			set_at(q, worker, h);
		ret[n] = hy->list[hy->next++];
		take(q, ret[n], worker);
	}
	return n;
}

size_t
queue_band(
    struct queue *q, uint32_t worker, size_t i, size_t max, uint32_t *ret)
{
	size_t n = 0;

	if (i >= q->c.n || q->stopped)
		return 0;
	for (size_t k = 0; k < q->c.n && n < max; k++) {
		if (q->c.v[k].score < BAND * q->c.v[i].score)
			break; /* they are sorted */
		if (q->c.v[k].state != CAND_NEW)
			continue;
		take(q, k, worker);
		ret[n++] = (uint32_t)k;
	}
	return n;
}

static bool
is_better(const struct cand *a, const struct cand *b)
{
	unsigned a_weak = repair_ops[a->op].where & OP_WEAK;
	unsigned b_weak = repair_ops[b->op].where & OP_WEAK;

	if (a_weak != b_weak)
		return b_weak != 0;
	if (a->changed != b->changed)
		return a->changed < b->changed;
	return a->score > b->score;
}

size_t
queue_best(const struct queue *q)
{
	size_t best = QUEUE_NONE;
	float least = 0;

	for (size_t i = 0; i < q->c.n; i++) {
		const struct cand *c = &q->c.v[i];

		if (c->state != CAND_PASSED)
			continue;
		if (c->score < least)
			break; /* they are sorted */
		if (best == QUEUE_NONE)
			least = BAND * c->score;
		if (best == QUEUE_NONE || is_better(c, &q->c.v[best]))
			best = i;
	}
	return best;
}

void
queue_offer(struct queue *q, size_t i, uint32_t worker)
{
	if (i >= q->c.n)
		return;
	queue_settle(q, i, true);
	q->c.v[i].state = CAND_OFFERED;
	q->c.v[i].holder = worker;
}

/* A new or dealt one. */
static void
count_tried(struct queue *q, const struct cand *c)
{
	if (c->state == CAND_NEW) {
		q->left--;
		q->hypo[c->hypo].left--;
	}
	q->hypo[c->hypo].tried++;
}

void
queue_settle(struct queue *q, size_t i, bool passed)
{
	struct cand *c;

	if (i >= q->c.n)
		return;
	c = &q->c.v[i];
	if (c->state == CAND_OFFERED)
		return;
	if (c->state == CAND_TRIED || c->state == CAND_PASSED) {
		if (passed)
			c->state = CAND_PASSED;
		return;
	}
	if (c->state == CAND_LATE)
		q->n_late--;
	else
		count_tried(q, c);
	c->state = passed ? CAND_PASSED : CAND_TRIED;
}

void
queue_late(struct queue *q, size_t i, uint32_t worker)
{
	struct cand *c;

	if (i >= q->c.n)
		return;
	c = &q->c.v[i];
	if (c->state != CAND_NEW && c->state != CAND_DEALT)
		return;
	count_tried(q, c);
	c->state = CAND_LATE;
	c->holder = worker;
	q->n_late++;
}

bool
queue_again(struct queue *q, size_t i)
{
	struct cand *c;

	if (i >= q->c.n)
		return false;
	c = &q->c.v[i];
	if (c->state != CAND_LATE || c->again)
		return false;
	c->again = true;
	q->n_late--;
	q->hypo[c->hypo].tried--;
	c->state = CAND_DEALT;
	queue_undeal(q, i);
	return true;
}

size_t
queue_n_late(const struct queue *q)
{
	return q->n_late;
}

void
queue_undeal(struct queue *q, size_t i)
{
	struct hypo *h;

	if (i >= q->c.n || q->c.v[i].state != CAND_DEALT)
		return;
	h = &q->hypo[q->c.v[i].hypo];
	q->c.v[i].state = CAND_NEW;
	h->left++;
	q->left++;
	h->next = 0; /* look from the start again */
}

void
queue_return(struct queue *q, uint32_t worker)
{
	for (size_t i = 0; i < q->c.n; i++) {
		if (q->c.v[i].holder != worker)
			continue;
		if (q->c.v[i].state == CAND_DEALT)
			queue_undeal(q, i);
		else if (q->c.v[i].state == CAND_OFFERED)
			q->c.v[i].state = CAND_PASSED;
	}
	if (worker < q->n_at)
		set_at(q, worker, QUEUE_NONE);
}

void
queue_stop(struct queue *q, bool stop)
{
	q->stopped = stop;
}

size_t
queue_find(const struct queue *q, const char *path, uint32_t line,
    const char *old, const char *new_text)
{
	uint64_t key = cand_key(path, line, old, new_text);

	for (size_t k = key & (q->n_table - 1); q->table[k] != 0;
	     k = (k + 1) & (q->n_table - 1)) {
		if (q->c.v[q->table[k] - 1].key == key)
			return q->table[k] - 1;
	}
	return QUEUE_NONE;
}
