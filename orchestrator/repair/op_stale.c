/*
 * op_stale.c - what is asked for but never changes: a collection that is made
 * empty and that nothing is put into, a variable that keeps its first value.
 * The statement that changes it is missing.
 */
#include "common/compat.h"

#include "orchestrator/repair/place.h"

#define REACH 1500 /* tokens back to where it is made */
#define NAMES_MAX 6
#define STALE_MAX 3 /* such names a place */

/* The call that adds to the empty collection which the initializer at j makes;
 * NULL: it makes none, or one that is not empty. */
static const char *
adder(const struct source *s, size_t j)
{
	size_t open = j;
	const char *call = NULL;

	if (tok_is(s, j, "[")) {
		call = s->dialect == DIALECT_JS ? "push" : "append";
	} else if (tok_is(s, j, "new")) {
		if (tok_is(s, j + 1, "Set") && s->dialect == DIALECT_JS)
			call = "add";
		else if (s->dialect == DIALECT_C &&
		    tok_in(s, j + 1,
			"ArrayList LinkedList HashSet LinkedHashSet TreeSet "
			"ArrayDeque PriorityQueue Stack Vector"))
			call = "add";
		while (call != NULL && open < j + 12 && !tok_is(s, open, "("))
			open++;
	} else if (s->dialect == DIALECT_PY && tok_is(s, j + 1, "(")) {
		open = j + 1;
		call = tok_is(s, j, "set")       ? "add"
		    : tok_in(s, j, "list deque") ? "append"
						 : NULL;
	}
	return call != NULL && open + 1 < s->n_tok &&
		s->tok[open].match == (int32_t)open + 1
	    ? call
	    : NULL;
}

/* A value that says no more than that there is none yet. */
static bool
is_first_value(const struct source *s, size_t j)
{
	size_t k = tok_is(s, j, "-") ? j + 1 : j;

	return (tok_kind(s, k, TOK_NUMBER) || tok_flag(s, k, TF_VALUE) ||
		   (tok_kind(s, k, TOK_STRING) && !tok_flag(s, k, TF_CHUNK))) &&
	    k == s->stmt[s->tok[j].stmt].last;
}

/* The last token of the function in which token j stands. */
static size_t
scope_end(const struct source *s, size_t j)
{
	int r = source_region(s, s->tok[j].line);
	size_t end = j + REACH;

	if (r >= 0 && s->region[r].last_tok > j)
		end = s->region[r].last_tok;
	return end < s->n_tok ? end : s->n_tok - 1;
}

/* May what stands at k change what the name refers to, or what that holds? */
static bool
changes(const struct source *s, size_t k)
{
	size_t close;

	if (tok_in(
		s, k + 1, "= += -= *= /= //= %= |= &= ^= <<= >>= ++ -- := ,") ||
	    tok_in(s, k - 1, "++ -- & * , for nonlocal global"))
		return true;
	if (tok_is(s, k + 1, "."))
		return tok_in(s, k + 2,
		    "append add extend insert push unshift appendleft update "
		    "put addAll splice addLast addFirst offer push_back fill");
	if (tok_is(s, k + 1, "[") && s->tok[k + 1].match > 0) {
		close = (size_t)s->tok[k + 1].match;
		return tok_in(s, close + 1, "= += -=");
	}
	/* Who is given it may fill it. */
	return tok_is(s, k - 1, "(") && tok_is(s, k + 1, ")") &&
	    expr_is_call(s, k - 1) &&
	    !tok_in(s, k - 2, "len str list tuple set sorted print join sum");
}

/* Is what is made at j used up to its function's end, and never changed? */
static bool
is_stale(struct gen *g, size_t j)
{
	const struct source *s = g->s;
	size_t end = scope_end(s, j);
	bool used = false;

	for (size_t k = j + 1; k <= end; k++) {
		g->budget--;
		if (!tok_same(s, j, k) || tok_in(s, k - 1, ". -> ?."))
			continue;
		if (changes(s, k))
			return false;
		used = true;
	}
	return used;
}

/* Is the name at w looked for in the collection that j names? */
static bool
is_asked(struct gen *g, size_t j, size_t w)
{
	const struct source *s = g->s;
	size_t end = scope_end(s, j);

	for (size_t k = j + 1; k < end; k++) {
		g->budget--;
		if (!tok_same(s, j, k))
			continue;
		if ((tok_in(s, k - 1, "in") || tok_is(s, k - 1, "not in")) &&
		    tok_same(s, k - 2, w))
			return true;
		if (tok_is(s, k + 1, ".") &&
		    tok_in(s, k + 2, "has includes contains") &&
		    tok_same(s, k + 4, w))
			return true;
	}
	return false;
}

static bool
in_loop(const struct source *s, size_t i, size_t from)
{
	for (size_t k = s->tok[i].stmt; k > s->tok[from].stmt; k--)
		if (tok_in(s, s->stmt[k].first, "for while do"))
			return true;
	return false;
}

/* The names before i that are made empty, or with a first value, and that
 * nothing changes. */
static size_t
find_stale(struct gen *g, size_t i, bool collection, uint32_t *ret)
{
	const struct source *s = g->s;
	size_t n = 0;

	for (size_t j = i; j-- > 0 && i - j < REACH && n < STALE_MAX;) {
		g->budget--;
		if (g->budget <= 0)
			break;
		if (!tok_is(s, j + 1, "=") || !gen_is_name(s, j) ||
		    source_region(s, s->tok[j].line) < 0 ||
		    expr_enclosing(s, j) != EXPR_NONE || scope_end(s, j) < i ||
		    (collection ? adder(s, j + 2) == NULL
				: !is_first_value(s, j + 2)) ||
		    !is_stale(g, j))
			continue;
		ret[n++] = (uint32_t)j;
	}
	return n;
}

/* v.add(w) */
void
op_unfed(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	uint32_t v[STALE_MAX], names[NAMES_MAX];
	size_t n, n_names;
	struct places ps;
	char text[200];
	int len;

	if (!places_find(g, i, &ps) || (n = find_stale(g, i, true, v)) == 0)
		return;
	n_names = gen_all_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		for (size_t m = 0; m < n_names; m++) {
			int rank = (int)(k + m) + 1;

			if (tok_same(s, v[k], names[m]))
				continue;
			if (is_asked(g, v[k], names[m]))
				rank = 0;
			len = snprintf(text, sizeof text, "%.*s.%s(%.*s)",
			    TOK(s, v[k]), adder(s, v[k] + 2), TOK(s, names[m]));
			if (len < (int)sizeof text)
				places_put(g, &ps, rank, len, text, 0, NULL);
		}
	}
}

/* v = w, v += 1 */
void
op_stale(struct gen *g, size_t i)
{
	static const char *const steps[] = { " += 1", " -= 1" };
	const struct source *s = g->s;
	uint32_t v[STALE_MAX], names[NAMES_MAX];
	size_t n, n_names;
	struct places ps;
	char text[200];
	int len;

	if (!places_find(g, i, &ps) || (n = find_stale(g, i, false, v)) == 0)
		return;
	n_names = gen_all_names(g, i, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		if (!in_loop(s, i, v[k]))
			continue;
		for (size_t m = 0;
		     m < nitems(steps) && tok_kind(s, v[k] + 2, TOK_NUMBER);
		     m++) {
			len = snprintf(text, sizeof text, "%.*s%s",
			    TOK(s, v[k]), steps[m]);
			if (len < (int)sizeof text)
				places_put(g, &ps, (int)(k + 2 * m), len, text,
				    0, NULL);
		}
		for (size_t m = 0; m < n_names; m++) {
			if (tok_same(s, v[k], names[m]))
				continue;
			len = snprintf(text, sizeof text, "%.*s = %.*s",
			    TOK(s, v[k]), TOK(s, names[m]));
			if (len < (int)sizeof text)
				places_put(g, &ps, (int)(k + m) + 1, len, text,
				    0, NULL);
		}
	}
}
