#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/repair/callgraph.h"
#include "orchestrator/repair/suspect.h"
#include "orchestrator/repair/word.h"

#define UNITS_MAX 600
#define NAMES_MAX 60  /* failing names that are looked at */
#define WORDS_MAX 400 /* of failing tests, looked for in the others */

#define W_BASE 0.12f  /* a function that no failing test reaches */
#define W_REACH 4.0f  /* reached by failing tests only */
#define W_FRAME 1.0f  /* in a traceback */
#define W_LAST 3.0f   /* its last frame in a source */
#define W_NAME 1.0f   /* named by a failing test's name */
#define W_OUTPUT 0.6f /* named in the output */
#define LINE_FACTOR 2.5f
#define STEP_FACTOR 0.92f /* one call further from the test */
/* Executed by failing tests only. Ochiai is cubed: measured on mutants, it
 * ranks lines well, but is too flat beside the yields of the operators. */
#define W_RUN 16.0f
#define UNRUN_FACTOR 0.05f

struct unit { /* one test: lines of a test file */
	uint32_t file;
	uint32_t first, last;
	bool failing;
	bool row; /* a statement among others: what came before counts */
};

struct work {
	const struct suspect_facts *f;
	struct source *const *files;
	size_t n_src, n;
	struct graph g;
	struct unit unit[UNITS_MAX];
	size_t n_unit;
	float *evidence;    /* a node */
	float *reach;       /* a node: by the call graph */
	float *line_weight; /* of the source in hand */
};

bool
suspect_is_test(const char *path)
{
	const char *base = path_base(path);
	const char *dot = strchr(base, '.');
	char stem[64];

	if (text_starts(path, "test/") || text_starts(path, "tests/") ||
	    strstr(path, "/test/") != NULL || strstr(path, "/tests/") != NULL ||
	    strstr(path, "__tests__/") != NULL || text_starts(path, "spec/") ||
	    strstr(path, "/spec/") != NULL || text_starts(path, "testing/") ||
	    text_starts(path, "t/"))
		return true;
	if (strstr(base, ".test.") != NULL || strstr(base, ".spec.") != NULL)
		return true;
	snprintf(stem, sizeof stem, "%.*s",
	    (int)(dot != NULL && dot - base < 60 ? dot - base : 60), base);
	return text_starts(base, "test_") || text_ends(stem, "_test") ||
	    text_ends(stem, "_tests") || text_starts(base, "test-") ||
	    text_ends(stem, "Test") || text_ends(stem, "Tests") ||
	    strcmp(stem, "test") == 0 || strcmp(stem, "tests") == 0 ||
	    strcmp(stem, "conftest") == 0;
}

static void
unit_add(struct work *w, size_t file, uint32_t first, uint32_t last)
{
	if (w->n_unit < UNITS_MAX && last >= first)
		w->unit[w->n_unit++] = (struct unit){
			.file = (uint32_t)file, .first = first, .last = last
		};
}

static bool
is_test_name(const char *name)
{
	return strncasecmp(name, "test", 4) == 0 || text_ends(name, "_test") ||
	    text_ends(name, "Test");
}

/*
 * Tests written as a row of statements, OK(x == 1, "title"): each is a test
 * of its own, with what stands between it and the one before. callee is the
 * first token of one of them.
 */
static bool
cut_row(struct work *w, size_t file, size_t callee)
{
	const struct source *s = w->files[file];
	uint32_t from = 1;
	size_t n = 0;

	for (size_t k = 0; k < s->n_stmt; k++)
		n += tok_same(s, s->stmt[k].first, callee);
	if (n < 3)
		return false;
	for (size_t k = 0; k < s->n_stmt; k++) {
		const struct stmt *st = &s->stmt[k];
		uint32_t last = source_line(s, s->tok[st->last].off);
		int r = source_region(s, last);

		if (!tok_same(s, st->first, callee))
			continue;
		/* What stands before the function is not part of it. */
		if (r >= 0 && s->region[r].first_line > from)
			from = s->region[r].first_line;
		if (from + 12 < last)
			from = last - 12;
		unit_add(w, file, from, last);
		if (w->n_unit > 0)
			w->unit[w->n_unit - 1].row = true;
		from = last + 1;
	}
	return true;
}

/* Tests of a file: functions, and calls such as test("title", () => ...); or
 * the statements that have one of the failing names as their title. */
static void
find_units(struct work *w, size_t file)
{
	const struct source *s = w->files[file];
	size_t before = w->n_unit;

	for (size_t i = 0; i + 2 < s->n_tok; i++) {
		if (tok_kind(s, i, TOK_IDENT) && tok_is(s, i + 1, "(") &&
		    tok_kind(s, i + 2, TOK_STRING) &&
		    s->tok[i + 1].match > (int32_t)i + 3 &&
		    tok_in(s, i, "test it specify Test check scenario"))
			unit_add(w, file, s->tok[i].line,
			    s->tok[s->tok[i + 1].match].line);
	}
	for (size_t r = 0; r < s->n_region; r++) {
		if (is_test_name(s->region[r].name))
			unit_add(w, file, s->region[r].first_line,
			    s->region[r].last_line);
	}
	if (w->n_unit > before)
		return;
	for (size_t k = 0; k < w->f->failing->n && k < NAMES_MAX; k++) {
		const char *name = w->f->failing->v[k], *hit;
		size_t at;

		hit = strlen(name) > 2
		    ? memmem(s->text, s->len, name, strlen(name))
		    : NULL;
		if (hit == NULL)
			continue;
		at = (size_t)(hit - s->text);
		for (size_t i = 0; i < s->n_tok; i++) {
			if (s->tok[i].off + s->tok[i].len <= at)
				continue;
			if (cut_row(w, file, s->stmt[s->tok[i].stmt].first))
				return;
			break;
		}
	}
	for (size_t r = 0; r < s->n_region; r++)
		unit_add(
		    w, file, s->region[r].first_line, s->region[r].last_line);
}

/* The last word-like part of a test's name: a::b::c, a.b.c, "a > b > c". */
static const char *
last_part(const char *name, size_t *ret_len)
{
	const char *p = name, *start = name, *end = name + strlen(name);

	if (end > name && end[-1] == ']' && strchr(name, '[') > name)
		end = strrchr(name, '[');
	for (; p < end; p++) {
		if (p[0] == ':' && p[1] == ':')
			start = p + 2;
		else if (p[0] == '>' && p[1] == ' ')
			start = p + 2;
		else if (p[0] == '.' && p > name && word_is_char(p[-1]) &&
		    word_is_char(p[1]) && strchr(name, ' ') == NULL)
			start = p + 1;
		else if (p[0] == ' ' && p[1] == '(' && p > start)
			end = p; /* unittest: test_x (module.Class) */
	}
	*ret_len = (size_t)(end - start);
	return start;
}

static void
mark_line(struct work *w, size_t file, uint32_t line)
{
	struct unit *best = NULL;

	for (size_t u = 0; u < w->n_unit; u++) {
		struct unit *t = &w->unit[u];

		if (t->file != file || line < t->first || line > t->last)
			continue;
		if (best == NULL || t->first >= best->first)
			best = t;
	}
	if (best != NULL) {
		/* Its values may come from the test before it. */
		if (best->row && !best->failing && best > w->unit &&
		    best[-1].file == file)
			best->first = best[-1].first;
		best->failing = true;
		return;
	}
	unit_add(w, file, line > 4 ? line - 4 : 1, line + 8);
	if (w->n_unit > 0)
		w->unit[w->n_unit - 1].failing = true;
}

/* Which units does a failing name mean? */
static void
mark_name(struct work *w, const char *name)
{
	size_t len;
	const char *part = last_part(name, &len);

	if (len < 3)
		return;
	for (size_t k = w->n_src; k < w->n; k++) {
		const struct source *s = w->files[k];
		const char *hit;
		bool found = false;

		for (size_t r = 0; r < s->n_region; r++) {
			if (strlen(s->region[r].name) == len &&
			    memcmp(s->region[r].name, part, len) == 0) {
				mark_line(w, k, s->region[r].first_line);
				found = true;
			}
		}
		if (found)
			continue;
		hit = memmem(s->text, s->len, part, len);
		if (hit == NULL)
			continue;
		mark_line(w, k, source_line(s, (size_t)(hit - s->text)));
	}
}

/* Lines that the output names, in a form such as path:12 or path", line 12.
 * Calls back in order of appearance, for the files of one side. */
static void
each_mention(struct work *w, size_t file,
    void (*fn)(struct work *, size_t, uint32_t, bool last))
{
	const struct source *s = w->files[file];
	const char *base = path_base(s->path), *out = w->f->output, *p = out;
	uint32_t last = 0;

	for (int n = 0; n < 200 && (p = strstr(p, base)) != NULL; n++) {
		const char *q = p + strlen(base);
		unsigned long line = 0;

		if (p > out && (word_is_char(p[-1]) || p[-1] == '-')) {
			p = q;
			continue;
		}
		p = q;
		if (*q == ':')
			line = strtoul(q + 1, NULL, 10);
		else if (strncmp(q, "\", line ", 8) == 0)
			line = strtoul(q + 8, NULL, 10);
		else if (strncmp(q, ", line ", 7) == 0 ||
		    strncmp(q, ": line ", 7) == 0)
			line = strtoul(q + 7, NULL, 10);
		else if (*q == '(')
			line = strtoul(q + 1, NULL, 10);
		if (line == 0 || line > s->n_line)
			continue;
		last = (uint32_t)line;
		fn(w, file, last, false);
	}
	if (last != 0)
		fn(w, file, last, true);
}

static void
mention_test(struct work *w, size_t file, uint32_t line, bool last)
{
	if (!last)
		mark_line(w, file, line);
}

static void
mention_source(struct work *w, size_t file, uint32_t line, bool last)
{
	size_t node = graph_node(&w->g, file, line);

	if (node < w->g.n_node && w->evidence[node] < (last ? W_LAST : W_FRAME))
		w->evidence[node] = last ? W_LAST : W_FRAME;
}

static float
root(float x)
{
	float r = x > 1 ? x : 1;

	for (int i = 0; i < 20; i++)
		r = (r + x / r) / 2;
	return r;
}

/* Ochiai: failed(f) / sqrt(all failing * (failed(f) + passed(f))). */
static void
add_reach(struct work *w)
{
	struct graph *g = &w->g;
	uint8_t *reach = xmalloc(g->n_node + 1), *best;
	float *failed = xcalloc(g->n_node + 1, sizeof *failed);
	float *passed = xcalloc(g->n_node + 1, sizeof *passed);
	size_t n_failing = 0;

	best = xmalloc(g->n_node + 1);
	memset(best, GRAPH_FAR, g->n_node + 1);
	for (size_t u = 0; u < w->n_unit; u++) {
		const struct unit *t = &w->unit[u];

		if (t->file >= g->n_files)
			continue;
		n_failing += t->failing;
		graph_reach_lines(g, t->file, t->first, t->last, reach);
		for (size_t k = 0; k < g->n_node; k++) {
			if (reach[k] == GRAPH_FAR)
				continue;
			if (t->failing)
				failed[k]++;
			else
				passed[k]++;
			if (t->failing && reach[k] < best[k])
				best[k] = reach[k];
		}
	}
	for (size_t k = 0; k < g->n_node && n_failing > 0; k++) {
		float near = 1;

		for (uint8_t d = 0; d < best[k] && d < 20; d++)
			near *= STEP_FACTOR;
		if (failed[k] > 0)
			w->reach[k] = W_REACH * near * failed[k] /
			    root((float)n_failing * (failed[k] + passed[k]));
	}
	if (n_failing == 0) {
		for (size_t k = 0; k < g->n_node; k++)
			w->reach[k] = 1;
	}
	free(reach);
	free(best);
	free(failed);
	free(passed);
}

/* Is the function's name part of a failing test's name? */
static bool
name_in_test(const char *test, const char *name)
{
	size_t len = strlen(name);
	const char *p = test;

	while (len > 2 && (p = strcasestr(p, name)) != NULL) {
		if ((p == test || !word_is_char(p[-1]) || p[-1] == '_') &&
		    (!word_is_char(p[len]) || p[len] == '_'))
			return true;
		p++;
	}
	return false;
}

static void
add_names(struct work *w)
{
	struct graph *g = &w->g;

	for (size_t k = 0; k < g->n_node; k++) {
		const struct node *n = &g->node[k];
		const struct source *s = w->files[n->file];
		const char *name;

		if (n->file >= w->n_src || n->region < 0)
			continue;
		name = s->region[n->region].name;
		if (strlen(name) < 3)
			continue;
		if (word_in_text(w->f->output, name, strlen(name)))
			w->evidence[k] += W_OUTPUT;
		for (size_t i = 0; i < w->f->failing->n && i < NAMES_MAX; i++) {
			size_t len;
			const char *part = last_part(w->f->failing->v[i], &len);

			if (name_in_test(part, name)) {
				w->evidence[k] += W_NAME;
				break;
			}
		}
	}
}

static void
mention_line(struct work *w, size_t file, uint32_t line, bool last)
{
	(void)file;
	if (last)
		w->line_weight[line - 1] *= LINE_FACTOR;
}

/* What a line of this node weighs, but for mentions of the line itself. */
static float
weigh(const struct work *w, size_t node, const struct spectrum_line *l)
{
	float other = 0, reach = 0;

	if (node < w->g.n_node) {
		other = w->evidence[node];
		reach = w->reach[node];
	}
	switch (l->kind) {
	case SPECTRUM_RUN:
		return W_BASE + other +
		    W_RUN * l->ochiai * l->ochiai * l->ochiai;
	case SPECTRUM_UNRUN:
		return UNRUN_FACTOR * (W_BASE + other);
	default: /* a constant, a table: of use to what uses it */
		return W_BASE + other + reach;
	}
}

static float *
source_weights(struct work *w, size_t k)
{
	const struct source *s = w->files[k];
	const struct spectrum *sp = w->f->spectrum;
	float *weight = xcalloc(s->n_line + 1, sizeof *weight);
	struct spectrum_line *l = xcalloc(s->n_line + 1, sizeof *l);

	if (sp != NULL)
		spectrum_lines(sp, spectrum_find(sp, s->path), s, l);
	for (uint32_t line = 1; line <= s->n_line; line++)
		weight[line - 1] =
		    weigh(w, graph_node(&w->g, k, line), &l[line - 1]);
	free(l);
	w->line_weight = weight;
	each_mention(w, k, mention_line);
	return weight;
}

/* Does a failing test hold token i of test file k? */
static bool
in_failing(const struct work *w, size_t k, size_t i)
{
	uint32_t line = w->files[k]->tok[i].line;

	for (size_t u = 0; u < w->n_unit; u++) {
		const struct unit *t = &w->unit[u];

		if (t->failing && t->file == k && line >= t->first &&
		    line <= t->last)
			return true;
	}
	return false;
}

static bool
tok_equal(const struct source *o, size_t j, const struct source *s, size_t i)
{
	return o->tok[j].len == s->tok[i].len &&
	    memcmp(o->text + o->tok[j].off, s->text + s->tok[i].off,
		s->tok[i].len) == 0;
}

/* Does a test of the same file that does not fail hold such a token? */
static bool
in_passing(const struct work *w, size_t k, size_t i)
{
	const struct source *s = w->files[k];

	for (size_t j = 0; j < s->n_tok; j++)
		if (tok_equal(s, j, s, i) && !in_failing(w, k, j))
			return true;
	return false;
}

/* Has the program a member of this name? */
static bool
is_member(const struct work *w, const struct source *s, size_t i)
{
	for (size_t k = 0; k < w->n_src; k++) {
		const struct source *o = w->files[k];

		for (size_t j = 1; j < o->n_tok; j++)
			if (tok_equal(o, j, s, i) && !tok_is(o, j + 1, "(") &&
			    (tok_in(o, j - 1, ". ->") ||
				(o->dialect == DIALECT_C &&
				    tok_is(o, j + 1, ";"))))
				return true;
	}
	return false;
}

/* A text that is no title of a test, and short enough to be compared with. */
static bool
is_value(const struct work *w, const struct source *s, size_t i)
{
	const char *text = s->text + s->tok[i].off;
	size_t len = s->tok[i].len;

	if (!tok_kind(s, i, TOK_STRING) || len < 3 || len > 26 ||
	    memchr(text, ' ', len) != NULL)
		return false;
	for (size_t k = 0; k < w->f->failing->n && k < NAMES_MAX; k++)
		if (memmem(w->f->failing->v[k], strlen(w->f->failing->v[k]),
			text + 1, len - 2) != NULL)
			return false;
	return true;
}

/* Members and texts of failing tests that no other test of the file holds:
 * what they want and the program may have forgotten. */
static void
add_words(const struct work *w, struct hints *h)
{
	size_t looked_at = 0;

	for (size_t k = w->n_src; k < w->n; k++) {
		const struct source *s = w->files[k];

		for (size_t i = 0; i < s->n_tok && looked_at < WORDS_MAX; i++) {
			bool name = tok_kind(s, i, TOK_IDENT);
			struct strv *to = name ? &h->names : &h->literals;
			char *word;

			if (to->n >= HINT_NAMES_MAX || s->tok[i].len < 3 ||
			    !(name || is_value(w, s, i)) ||
			    !in_failing(w, k, i))
				continue;
			looked_at++;
			if (in_passing(w, k, i) ||
			    (name && !is_member(w, s, i)))
				continue;
			word = xstrndup(s->text + s->tok[i].off, s->tok[i].len);
			if (!strv_has(to, word))
				strv_add(to, word);
			free(word);
		}
	}
}

void
suspect_lines(const struct suspect_facts *f, struct source *const *files,
    size_t n_src, size_t n, float **ret)
{
	struct work w = { .f = f, .files = files, .n_src = n_src, .n = n };

	graph_build(&w.g, files, n);
	w.evidence = xcalloc(w.g.n_node + 1, sizeof *w.evidence);
	w.reach = xcalloc(w.g.n_node + 1, sizeof *w.reach);
	for (size_t k = n_src; k < n && k < w.g.n_files; k++)
		find_units(&w, k);
	for (size_t k = n_src; k < n; k++)
		each_mention(&w, k, mention_test);
	for (size_t i = 0; i < f->failing->n && i < NAMES_MAX; i++)
		mark_name(&w, f->failing->v[i]);
	for (size_t k = 0; k < n_src; k++)
		each_mention(&w, k, mention_source);
	add_reach(&w);
	add_names(&w);
	if (f->hints != NULL)
		add_words(&w, f->hints);
	for (size_t k = 0; k < n_src; k++)
		ret[k] = source_weights(&w, k);
	free(w.evidence);
	free(w.reach);
	graph_clear(&w.g);
}
