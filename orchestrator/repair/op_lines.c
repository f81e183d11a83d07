/*
 * op_lines.c - two edits of one line at once: those that are likeliest alone,
 * where they do not overlap.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/gen.h"

#define BEST_MAX 7   /* edits of a line that are paired */
#define LINES_MAX 60 /* lines, the most suspicious */
/* Two edits are as likely as the product of both, and this much: the measured
 * yields are per 1000, and few lines hold two faults. */
#define BOTH 0.0005f

struct edit {
	size_t from, to; /* bytes of the source */
	char *text;
	float score;
};

struct line {
	uint32_t line;
	struct edit best[BEST_MAX];
	size_t n;
};

static void
edit_clear(struct edit *e)
{
	free(e->text);
	e->text = NULL;
}

/* Keep it among the best of its line, in order. */
static void
line_add(struct line *l, struct edit e)
{
	size_t at = l->n;

	while (at > 0 && l->best[at - 1].score < e.score)
		at--;
	if (at == BEST_MAX) {
		edit_clear(&e);
		return;
	}
	if (l->n == BEST_MAX)
		edit_clear(&l->best[--l->n]);
	memmove(&l->best[at + 1], &l->best[at], (l->n - at) * sizeof *l->best);
	l->best[at] = e;
	l->n++;
}

/* What a candidate changes of its line. */
static struct edit
edit_of(const struct source *s, const struct cand *c)
{
	size_t a = s->line_off[c->line - 1], len = strlen(c->new_text);
	size_t old = s->line_off[c->line] - 1 - a, pre = 0, post = 0;

	while (pre < old && pre < len && s->text[a + pre] == c->new_text[pre])
		pre++;
	while (post < old - pre && post < len - pre &&
	    s->text[a + old - 1 - post] == c->new_text[len - 1 - post])
		post++;
	return (struct edit){ .from = a + pre,
		.to = a + old - post,
		.text = xstrndup(c->new_text + pre, len - pre - post),
		.score = c->score };
}

static void
put_two(
    struct gen *g, uint32_t line, const struct edit *x, const struct edit *y)
{
	const struct source *s = g->s;
	float w = g->weight != NULL ? g->weight[line - 1] : 1;
	float score = x->score * y->score * BOTH / (w > 0 ? w : 1);
	char text[CAND_MAX_TEXT];
	int n;

	if (x->from > y->from) {
		const struct edit *swap = x;

		x = y;
		y = swap;
	}
	/* Touching edits would be one. */
	if (x->to >= y->from || score <= g->out->floor)
		return;
	n = snprintf(text, sizeof text, "%s%.*s%s", x->text,
	    (int)(y->from - x->to), s->text + x->to, y->text);
	if (n >= 0 && n < (int)sizeof text)
		cands_add(g->out, s, g->idx, g->op_no, score, x->from, y->to,
		    text, (size_t)n);
}

static struct line *
line_at(struct line *v, size_t *n, uint32_t line)
{
	for (size_t k = *n; k-- > 0;) {
		if (v[k].line == line)
			return &v[k];
	}
	if (*n == LINES_MAX)
		return NULL;
	v[*n] = (struct line){ .line = line };
	return &v[(*n)++];
}

void
op_two_edits(struct gen *g)
{
	struct line *v = xcalloc(LINES_MAX, sizeof *v);
	size_t n = 0;

	cands_sort(g->out, 0); /* the likeliest lines come first */
	for (size_t k = 0; k < g->out->n; k++) {
		const struct cand *c = &g->out->v[k];
		struct line *l;

		if (c->source != g->idx || c->n_lines != 1 ||
		    repair_ops[c->op].wave != 1 ||
		    strchr(c->new_text, '\n') != NULL ||
		    (l = line_at(v, &n, c->line)) == NULL)
			continue;
		line_add(l, edit_of(g->s, c));
	}
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < v[k].n; i++) {
			for (size_t j = 0; j < i; j++)
				put_two(
				    g, v[k].line, &v[k].best[j], &v[k].best[i]);
		}
	}
	for (size_t k = 0; k < n; k++) {
		while (v[k].n > 0)
			edit_clear(&v[k].best[--v[k].n]);
	}
	free(v);
}
