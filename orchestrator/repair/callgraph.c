#include "common/compat.h"

#include "common/log.h"
#include "common/path.h"
#include "orchestrator/repair/callgraph.h"
#include "orchestrator/repair/word.h"

#define NAME_SLOTS 32768 /* more than twice what can be entered */
#define SAME_NAME_MAX 8  /* functions that one name leads to */
#define EDGE_MAX 400000

static void
name_add(
    struct graph *g, const char *name, size_t len, uint32_t node, bool prop)
{
	uint64_t h = word_hash(WORD_HASH_START, name, len);
	size_t i = h % NAME_SLOTS;

	if (len == 0 || g->n_name >= NAME_SLOTS / 2)
		return;
	while (g->name[i] != 0)
		i = (i + 1) % NAME_SLOTS;
	g->name[i] = node + 1;
	g->hash[i] = h;
	g->prop[i] = prop;
	g->n_name++;
}

static void
edge_add(struct graph *g, uint32_t node)
{
	if (g->n_edge >= EDGE_MAX)
		return;
	if (g->n_edge == g->size_edge) {
		g->size_edge = g->size_edge == 0 ? 1024 : g->size_edge * 2;
		g->edge = xreallocarray(g->edge, g->size_edge, sizeof *g->edge);
	}
	g->edge[g->n_edge++] = node;
}

enum use {
	USE_NONE,
	USE_CALL,
	USE_MEMBER,
	USE_VALUE
};

static enum use
use_of(const struct source *s, size_t i)
{
	bool member = i > 0 && tok_in(s, i - 1, ". -> ?.");

	if (s->tok[i].kind != TOK_IDENT)
		return USE_NONE;
	if (s->dialect == DIALECT_SH)
		return tok_flag(s, i, TF_VAR | TF_ARITH) ? USE_NONE : USE_CALL;
	if (tok_is(s, i + 1, "("))
		return USE_CALL;
	if (member)
		return USE_MEMBER;
	if (tok_is(s, i + 1, "=") ||
	    (i > 0 && tok_in(s, i - 1, "const let var")))
		return USE_NONE;
	return USE_VALUE;
}

/* Edges for the name at token i of source s. */
static void
edges_of_token(struct graph *g, const struct source *s, size_t i, uint32_t self)
{
	enum use use = use_of(s, i);
	uint64_t h;
	int n = 0;

	if (use == USE_NONE || (use == USE_VALUE && s->tok[i].len < 5))
		return;
	h = word_hash(WORD_HASH_START, s->text + s->tok[i].off, s->tok[i].len);
	for (size_t k = h % NAME_SLOTS; g->name[k] != 0 && n < SAME_NAME_MAX;
	     k = (k + 1) % NAME_SLOTS) {
		if (g->hash[k] != h)
			continue;
		n++;
		if (g->name[k] - 1 != self && (use != USE_MEMBER || g->prop[k]))
			edge_add(g, g->name[k] - 1);
	}
}

/* `@property` above it, or `get name()`. */
static bool
is_property(const struct source *s, const struct region *r)
{
	size_t i = r->first_tok;

	while (i > 0 && s->tok[i].line >= r->first_line)
		i--;
	for (size_t k = i + 1; k-- > 0 && k + 4 > i;) {
		if (tok_in(s, k, "property cached_property getter"))
			return true;
	}
	return tok_is(s, i + 1, "get");
}

/* Names that lead to a function: its own; for a constructor or an operator
 * that of its class, which is the last one before it. */
static void
enter_names(struct graph *g, const struct source *s, uint32_t first)
{
	size_t r = 0;
	size_t class_tok = s->n_tok;

	for (size_t k = 0; k < s->n_stmt && r < s->n_region; k++) {
		size_t i = s->stmt[k].first;

		while (r < s->n_region && s->region[r].first_tok <= i) {
			const char *name = s->region[r].name;

			name_add(g, name, strlen(name), first + (uint32_t)r,
			    is_property(s, &s->region[r]));
			if (class_tok < s->n_tok &&
			    (strncmp(name, "__", 2) == 0 ||
				strcmp(name, "constructor") == 0))
				name_add(g, s->text + s->tok[class_tok].off,
				    s->tok[class_tok].len, first + (uint32_t)r,
				    false);
			r++;
		}
		if (tok_in(s, i, "export default"))
			i++;
		if (tok_is(s, i, "class") && tok_kind(s, i + 1, TOK_IDENT))
			class_tok = i + 1;
	}
	for (; r < s->n_region; r++)
		name_add(g, s->region[r].name, strlen(s->region[r].name),
		    first + (uint32_t)r, is_property(s, &s->region[r]));
}

static int
innermost(const struct source *s, size_t tok)
{
	return source_region(s, s->tok[tok].line);
}

static void
add_file(struct graph *g, size_t file, uint32_t top, const int32_t *of_line)
{
	const struct source *s = g->files[file];

	/* One pass a node would be quadratic: sort tokens by node first. */
	uint32_t *count = xcalloc(s->n_region + 2, sizeof *count);
	uint32_t *order = xcalloc(s->n_tok + 1, sizeof *order);
	uint32_t at = 0;

	for (size_t i = 0; i < s->n_tok; i++)
		count[of_line[s->tok[i].line] + 1]++;
	for (size_t k = 0; k <= s->n_region; k++) {
		uint32_t c = count[k];

		count[k] = at;
		at += c;
	}
	for (size_t i = 0; i < s->n_tok; i++)
		order[count[of_line[s->tok[i].line] + 1]++] = (uint32_t)i;
	at = 0;
	for (size_t k = 0; k <= s->n_region; k++) {
		uint32_t self = top + (uint32_t)k;
		struct node *n = &g->node[self];

		n->edge = (uint32_t)g->n_edge;
		for (; at < count[k]; at++)
			edges_of_token(g, s, order[at], self);
		n->n_edge = (uint32_t)g->n_edge - n->edge;
	}
	free(count);
	free(order);
}

void
graph_build(struct graph *g, struct source *const *files, size_t n)
{
	uint32_t *top = xcalloc(n + 1, sizeof *top);

	*g = (struct graph){ .files = files, .top = top };
	g->name = xcalloc(NAME_SLOTS, sizeof *g->name);
	g->hash = xcalloc(NAME_SLOTS, sizeof *g->hash);
	g->prop = xcalloc(NAME_SLOTS, sizeof *g->prop);
	g->node = xcalloc(GRAPH_MAX_NODES, sizeof *g->node);
	for (size_t f = 0; f < n; f++) {
		const struct source *s = files[f];
		const char *base = path_base(s->path);

		if (g->n_node + s->n_region + 1 > GRAPH_MAX_NODES)
			break;
		top[f] = (uint32_t)g->n_node;
		for (size_t k = 0; k <= s->n_region; k++)
			g->node[g->n_node++] =
			    (struct node){ .file = (uint32_t)f,
				    .region = (int32_t)k - 1 };
		if (s->dialect == DIALECT_SH) /* ./conf.sh runs it */
			name_add(g, base, strcspn(base, "."), top[f], false);
		enter_names(g, s, top[f] + 1);
		g->n_files++;
	}
	for (size_t f = 0; f < g->n_files; f++) {
		const struct source *s = files[f];
		int32_t *of_line = xcalloc(s->n_line + 2, sizeof *of_line);
		size_t last = 0;

		for (size_t i = 0; i < s->n_tok; i++) {
			if (s->tok[i].line == last)
				continue;
			last = s->tok[i].line;
			of_line[last] = innermost(s, i);
		}
		add_file(g, f, top[f], of_line);
		free(of_line);
	}
}

void
graph_clear(struct graph *g)
{
	free(g->top);
	free(g->node);
	free(g->edge);
	free(g->name);
	free(g->hash);
	free(g->prop);
	*g = (struct graph){ 0 };
}

/* Breadth first from what ret already holds at distance 0. What a file holds
 * outside of its functions is reached with them, and leads no further. */
static void
spread(const struct graph *g, uint8_t *ret)
{
	bool more = true;

	for (uint8_t d = 0; d < 12 && more; d++) {
		more = false;
		for (size_t k = 0; k < g->n_node; k++) {
			const struct node *n = &g->node[k];

			if (ret[k] != d)
				continue;
			for (uint32_t e = n->edge; e < n->edge + n->n_edge;
			     e++) {
				if (ret[g->edge[e]] <= d + 1)
					continue;
				ret[g->edge[e]] = (uint8_t)(d + 1);
				more = true;
			}
		}
	}
	for (size_t k = 0; k < g->n_node; k++) {
		uint32_t top = g->top[g->node[k].file];

		if (ret[k] < GRAPH_FAR && ret[top] > ret[k] + 1)
			ret[top] = (uint8_t)(ret[k] + 1);
	}
}

void
graph_reach(const struct graph *g, size_t start, uint8_t *ret)
{
	memset(ret, GRAPH_FAR, g->n_node);
	if (start >= g->n_node)
		return;
	ret[start] = 0;
	spread(g, ret);
}

void
graph_reach_lines(const struct graph *g, size_t file, uint32_t first,
    uint32_t last, uint8_t *ret)
{
	struct graph tmp = *g;
	const struct source *s = g->files[file];

	memset(ret, GRAPH_FAR, g->n_node);
	tmp.edge = NULL;
	tmp.n_edge = tmp.size_edge = 0;
	for (size_t i = 0; i < s->n_tok; i++) {
		if (s->tok[i].line >= first && s->tok[i].line <= last)
			edges_of_token(&tmp, s, i, UINT32_MAX);
	}
	for (size_t e = 0; e < tmp.n_edge; e++)
		ret[tmp.edge[e]] = 0;
	free(tmp.edge);
	spread(g, ret);
}

size_t
graph_node(const struct graph *g, size_t file, uint32_t line)
{
	if (file >= g->n_files)
		return g->n_node;
	return g->top[file] + (size_t)(source_region(g->files[file], line) + 1);
}
