/*
 * A group is (file, function, wave): what a sentence can say. The wave is the
 * band of the score, so that all workers are through with the best candidates
 * of every place before any of them turns to the unlikely ones. Too many groups
 * are merged from the tail: first into one for the rest of their file, then
 * into one for the rest of all.
 */
#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/repair/hypo.h"

#define NO_GROUP UINT32_MAX
#define WAVE_1 125 /* candidates of the first wave, at most */
#define WAVE_2 400
#define SMALL 6 /* candidates of a group that is not worth a worker */

struct group {
	uint32_t source;
	int32_t region; /* -1 outside of functions, -2 several places */
	uint8_t wave;   /* 0: both */
	uint32_t n;
	uint32_t first, last; /* lines */
	uint32_t into;        /* merged into this group, NO_GROUP: it stands */
};

struct groups {
	struct group *v;
	size_t n, size;
};

static size_t
clamp(size_t n, size_t min, size_t max)
{
	return n < min ? min : n > max ? max : n;
}

/* 1, 2 or 3 for the candidate of this rank among n. */
static uint8_t
wave_of(const struct cand *c, size_t rank, size_t n)
{
	if (rank < clamp(n / 8, 60, WAVE_1) && repair_ops[c->op].wave == 1)
		return 1;
	return rank < clamp(n / 3, 300, WAVE_2) ? 2 : 3;
}

static uint32_t
group_of(struct groups *g, const struct cand *c, uint8_t wave)
{
	uint32_t last = c->line + c->n_lines - 1;

	for (size_t i = 0; i < g->n; i++) {
		struct group *p = &g->v[i];

		if (p->source != c->source || p->region != c->region ||
		    p->wave != wave)
			continue;
		p->n++;
		if (c->line < p->first)
			p->first = c->line;
		if (last > p->last)
			p->last = last;
		return (uint32_t)i;
	}
	if (g->n == g->size) {
		g->size = g->size == 0 ? 64 : g->size * 2;
		g->v = xreallocarray(g->v, g->size, sizeof *g->v);
	}
	g->v[g->n] = (struct group){ .source = c->source,
		.region = c->region,
		.wave = wave,
		.n = 1,
		.first = c->line,
		.last = last,
		.into = NO_GROUP };
	return (uint32_t)g->n++;
}

static void
merge(struct group *to, struct group *from, uint32_t to_index)
{
	from->into = to_index;
	to->n += from->n;
	if (to->region != from->region || to->source != from->source)
		to->region = -2;
	if (to->wave != from->wave)
		to->wave = 0;
	if (from->first < to->first)
		to->first = from->first;
	if (from->last > to->last)
		to->last = from->last;
}

/* Merge from the tail (the least suspicious) until max are left. */
static void
merge_groups(struct groups *g, size_t max)
{
	size_t left = g->n;

	for (size_t i = g->n; i-- > 1;) {
		struct group *p = &g->v[i];
		size_t j = i;

		if (p->into != NO_GROUP || (p->n >= SMALL && left <= max))
			continue;
		/* The nearest better group of the file, else of any. */
		while (j-- > 0) {
			if (g->v[j].into == NO_GROUP &&
			    g->v[j].source == p->source &&
			    (g->v[j].region == -2 || j >= max / 2 ||
				p->n < SMALL))
				break;
		}
		if (j >= i) {
			if (p->n < SMALL && left <= max)
				continue;
			for (j = i; j-- > 0;) {
				if (g->v[j].into == NO_GROUP && j >= max / 2)
					break;
			}
		}
		if (j >= i)
			j = i - 1;
		while (g->v[j].into != NO_GROUP)
			j = g->v[j].into;
		if (j == i)
			continue;
		merge(&g->v[j], p, (uint32_t)j);
		left--;
	}
}

static uint32_t
root(const struct groups *g, uint32_t i)
{
	while (g->v[i].into != NO_GROUP)
		i = g->v[i].into;
	return i;
}

static void
add_noun(char *dst, size_t size, const char *noun, bool last, int n)
{
	size_t len = strlen(dst);

	snprintf(dst + len, size - len, "%s%s",
	    n == 0     ? ""
		: last ? ", or "
		       : ", ",
	    noun);
}

/* What may be wrong: the kinds that its best candidates are of. */
static void
write_nouns(const struct cands *c, const struct hypo *h, char *dst, size_t size)
{
	const char *noun[3] = { NULL };
	size_t n = 0, k;

	*dst = '\0';
	for (size_t i = 0; i < h->n_list && n < nitems(noun); i++) {
		const char *s = repair_ops[c->v[h->list[i]].op].noun;

		for (k = 0; k < n && strcmp(noun[k], s) != 0; k++)
			;
		if (k == n)
			noun[n++] = s;
	}
	for (k = 0; k < n; k++)
		add_noun(dst, size, noun[k], k + 1 == n, (int)k);
}

static void
write_texts(const struct cands *c, const struct group *g, struct hypo *h,
    const struct source *s)
{
	char nouns[160], path[100];
	const char *name = "";
	uint32_t first = g->first, last = g->last;

	if (g->region >= 0) {
		name = s->region[g->region].name;
		first = s->region[g->region].first_line;
		last = s->region[g->region].last_line;
	}
	text_escape_to(path, sizeof path, s->path, strlen(s->path));
	if (g->region >= 0)
		snprintf(h->place, sizeof h->place, "%.40s() (%s:%u-%u)", name,
		    path, first, last);
	else if (g->region == -1)
		snprintf(h->place, sizeof h->place,
		    "%s:%u-%u, outside of functions", path, first, last);
	else
		snprintf(h->place, sizeof h->place,
		    "the less suspicious parts (%s:%u and others)", path,
		    c->v[h->list[0]].line);
	write_nouns(c, h, nouns, sizeof nouns);
	snprintf(h->sentence, sizeof h->sentence, "%s%s in %s is the fault",
	    g->wave == 1       ? ""
		: g->wave == 2 ? "less likely: "
			       : "least likely: ",
	    nouns, h->place);
	if (h->sentence[0] >= 'a' && h->sentence[0] <= 'z')
		h->sentence[0] = (char)(h->sentence[0] - 32);
}

/* One group alone is cut in two, so that two workers share it. */
static void
split_only(struct groups *g, struct cands *c, uint32_t *of)
{
	size_t half = (c->n + 1) / 2;

	if (g->n != 1 || c->n < 2)
		return;
	g->v = xreallocarray(g->v, 2, sizeof *g->v);
	g->size = 2;
	g->v[1] = g->v[0];
	g->v[0].n = (uint32_t)half;
	g->v[1].n = (uint32_t)(c->n - half);
	g->n = 2;
	for (size_t i = half; i < c->n; i++)
		of[i] = 1;
}

size_t
hypo_group(struct cands *c, struct source *const *sources,
    struct hypo ret[QUEUE_MAX_HYPO])
{
	struct groups g = { 0 };
	uint32_t *of = xcalloc(c->n + 1, sizeof *of);
	uint32_t *index;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		of[i] = group_of(&g, &c->v[i], wave_of(&c->v[i], i, c->n));
	if (g.n > 2)
		merge_groups(&g, QUEUE_MAX_HYPO);
	split_only(&g, c, of);
	index = xcalloc(g.n + 1, sizeof *index);
	/* In the order of their best candidates, which is that of v. */
	for (size_t i = 0; i < g.n; i++) {
		if (g.v[i].into != NO_GROUP || n == QUEUE_MAX_HYPO)
			continue;
		index[i] = (uint32_t)n;
		memset(&ret[n], 0, sizeof ret[n]);
		ret[n].list = xcalloc(g.v[i].n + 1, sizeof *ret[n].list);
		n++;
	}
	for (size_t i = 0; i < c->n; i++) {
		struct hypo *h = &ret[index[root(&g, of[i])]];

		c->v[i].hypo = (uint16_t)(h - ret);
		h->list[h->n_list++] = (uint32_t)i;
	}
	for (size_t i = 0; i < g.n; i++) {
		struct hypo *h = &ret[index[i]];

		if (g.v[i].into != NO_GROUP)
			continue;
		snprintf(h->name, sizeof h->name, "H%u", index[i] + 1);
		h->total = h->left = h->n_list;
		write_texts(c, &g.v[i], h, sources[g.v[i].source]);
	}
	free(index);
	free(of);
	free(g.v);
	return n;
}
