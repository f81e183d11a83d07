/*
 * op_share.c - what bears the same name in two places belongs together: a
 * variable and a member, a variable and a parameter of what is called.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/gen.h"

#define NAMES_MAX 10
#define OBJECTS_MAX 4
#define PARAMS_MAX 10
#define TEXT_MAX 240

/* Is a member called as token i is? */
static bool
is_member(struct gen *g, size_t i)
{
	const struct source *s = g->s;

	for (size_t j = 1; j < s->n_tok; j++) {
		g->budget--;
		if (tok_same(s, j, i) && tok_in(s, j - 1, ". -> ?."))
			return true;
	}
	return false;
}

/* Plain names before a dot around i, nearest first. */
static size_t
near_objects(struct gen *g, size_t i, uint32_t *ret, size_t max)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	size_t n = 0, k;

	for (size_t d = 0; d < 400 && n < max && g->budget > 0; d++) {
		for (int side = 0; side < (d > 0 ? 2 : 1) && n < max; side++) {
			size_t j = side == 0 ? i + d : i - d;

			g->budget--;
			if ((side == 1 && d > i) || j < block.a ||
			    j > block.b ||
			    !(tok_kind(s, j, TOK_IDENT) ||
				tok_is(s, j, "this")) ||
			    !tok_in(s, j + 1, ". ->") ||
			    (j > 0 && tok_in(s, j - 1, ". -> ?.")))
				continue;
			for (k = 0; k < n && !tok_same(s, ret[k], j); k++)
				;
			if (k == n)
				ret[n++] = (uint32_t)j;
		}
	}
	return n;
}

/* `o.name != name` as one more clause. */
void
op_share_clause(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const char *eq = s->dialect == DIALECT_JS ? "===" : "==";
	const char *ne = s->dialect == DIALECT_JS ? "!==" : "!=";
	uint32_t names[NAMES_MAX], obj[OBJECTS_MAX];
	char text[TEXT_MAX];
	struct span p;
	size_t n, m;
	int rank, len, at = 0;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	n = gen_names(g, i, names, nitems(names));
	m = near_objects(g, i, obj, nitems(obj));
	for (size_t k = 0; k < n && m > 0; k++) {
		if (!is_member(g, names[k]))
			continue;
		for (size_t o = 0; o < m; o++, at++) {
			const char *dot =
			    tok_is(s, obj[o] + 1, "->") ? "->" : ".";

			if (tok_same(s, obj[o], names[k]))
				continue;
			for (int no = 1; no >= 0; no--) {
				len = snprintf(text, sizeof text,
				    "%.*s%s%.*s %s %.*s", TOK(s, obj[o]), dot,
				    TOK(s, names[k]), no ? ne : eq,
				    TOK(s, names[k]));
				if (len >= (int)sizeof text)
					continue;
				gen_clause(g, p, no ? gen_and(s) : gen_or(s),
				    false, rank + at, len, text);
				gen_clause(g, p, no ? gen_or(s) : gen_and(s),
				    false, rank + at + 3, len, text);
			}
		}
	}
}

/* What is asked in the place, then what the statement before it is about. */
static size_t
asked_for(struct gen *g, size_t i, struct span p, uint32_t *ret, size_t max)
{
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	size_t n = 0, k;

	for (size_t j = p.a; j <= p.b && n < max; j++) {
		if (!gen_is_name(s, j) || tok_in(s, j + 1, "( . -> ["))
			continue;
		for (k = 0; k < n && !tok_same(s, ret[k], j); k++)
			;
		if (k == n)
			ret[n++] = (uint32_t)j;
	}
	if (st > s->stmt && n < max)
		for (size_t j = st[-1].first; j <= st[-1].last; j++)
			if (gen_is_name(s, j) && tok_is(s, j + 1, "=")) {
				ret[n++] = (uint32_t)j;
				break;
			}
	return n;
}

/* One more clause: two values of the function are the same, or are not. */
void
op_compared(struct gen *g, size_t i)
{
	static const char *const ops[] = { "==", "!=", "<", ">" };
	static const char *const js[] = { "===", "!==", "<", ">" };
	const struct source *s = g->s;
	uint32_t v[3], w[6];
	char text[TEXT_MAX];
	struct span p;
	size_t n, m;
	int rank, len, at = 0;

	if (s->dialect == DIALECT_SH || !gen_boolean(g, i, &p, &rank))
		return;
	n = asked_for(g, i, p, v, nitems(v));
	m = gen_names(g, i, w, nitems(w));
	for (size_t k = 0; k < n; k++) {
		for (size_t x = 0; x < m; x++, at++) {
			size_t e = w[x];

			if (tok_same(s, v[k], e))
				continue;
			while (tok_in(s, e + 1, ". ->") &&
			    tok_kind(s, e + 2, TOK_IDENT) &&
			    !tok_is(s, e + 3, "("))
				e += 2;
			for (size_t o = 0; o < nitems(ops); o++) {
				len = snprintf(text, sizeof text,
				    "%.*s %s %.*s", TOK(s, v[k]),
				    s->dialect == DIALECT_JS ? js[o] : ops[o],
				    SPAN(s, w[x], e));
				if (len >= (int)sizeof text)
					continue;
				if (o != 0)
					gen_clause(g, p, gen_and(s), true,
					    rank + at, len, text);
				if (o != 1)
					gen_clause(g, p, gen_or(s), false,
					    rank + at, len, text);
			}
		}
	}
}

/* `x` -> `x or o.x`, `o.x` -> `p.x or o.x`, `x` -> `x or ''`. */
void
op_fallback(struct gen *g, size_t i)
{
	static const char *const empty[] = { "''", "[]", "{}" };
	const struct source *s = g->s;
	const struct stmt *st = gen_stmt(g, i);
	const char * or = gen_or(s);
	uint32_t obj[OBJECTS_MAX];
	size_t e, n;
	int rank = 0;
	bool self;

	if (i == st->first || expr_is_bound(s, i) ||
	    !(tok_kind(s, i, TOK_IDENT) || tok_in(s, i, "this")) ||
	    !tok_in(s, i - 1, "( , = return [ in of + ...") ||
	    (e = expr_primary_end(s, i)) == EXPR_NONE || tok_is(s, e, ")") ||
	    (e < st->last && !tok_in(s, e + 1, ") , ] ; : or ||")))
		return;
	n = near_objects(g, i, obj, nitems(obj));
	self = e > i && tok_in(s, e - 1, ".");
	for (size_t k = 0; k < n && (self || e == i); k++) {
		if (tok_same(s, obj[k], i) || (!self && !is_member(g, i)))
			continue;
		if (self)
			gen_put(g, i, e, rank++, "%.*s.%.*s %s %.*s",
			    TOK(s, obj[k]), TOK(s, e), or, SPAN(s, i, e));
		else
			gen_put(g, i, e, rank++, "%.*s %s %.*s.%.*s", TOK(s, i),
			    or, TOK(s, obj[k]), TOK(s, i));
	}
	for (size_t k = 0; k < nitems(empty); k++)
		gen_put(g, i, e, 3 + (int)k, "%.*s %s %s", SPAN(s, i, e), or,
		    empty[k]);
}

/* The bracket of the parameters of the function that token i calls, in any
 * source; EXPR_NONE. */
static size_t
find_params(struct gen *g, size_t i, const struct source **ret)
{
	const struct source *s = g->s, *o;
	size_t len = s->tok[i].len, j;
	const char *name = s->text + s->tok[i].off;

	for (size_t f = 0; f <= g->n_all; f++) {
		bool inside = false;

		o = f == 0 ? s : g->all[f - 1];
		if (o->dialect != s->dialect || (f > 0 && o == s))
			continue;
		for (size_t k = 0; k < o->n_stmt && g->budget > 0; k++) {
			j = o->stmt[k].first;
			g->budget--;
			if (o->stmt[k].kind != STMT_DEF)
				continue;
			while (tok_in(o, j,
			    "async export default static "
			    "function"))
				j++;
			if (tok_is(o, j, "class"))
				inside = o->tok[j + 1].len == len &&
				    memcmp(o->text + o->tok[j + 1].off, name,
					len) == 0;
			j += tok_is(o, j, "def");
			if (!tok_is(o, j + 1, "("))
				continue;
			if ((inside && tok_in(o, j, "__init__ constructor")) ||
			    (o->tok[j].len == len &&
				memcmp(o->text + o->tok[j].off, name, len) ==
				    0)) {
				*ret = o;
				return j + 1;
			}
		}
	}
	return EXPR_NONE;
}

/* A variable, or a member of the object itself, that is called as o's token j
 * is: 1, 2; 0: there is none. */
static int
known_as(struct gen *g, size_t i, const struct source *o, size_t j)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	char *name = xstrndup(o->text + o->tok[j].off, o->tok[j].len);
	int found = 0;

	for (size_t k = 0; k < s->n_tok && found != 1; k++) {
		g->budget--;
		if (s->tok[k].len != o->tok[j].len || !tok_is(s, k, name))
			continue;
		if (k > 1 && tok_is(s, k - 1, ".") &&
		    tok_in(s, k - 2, "self this"))
			found = 2;
		else if (k >= block.a && k <= block.b && gen_is_name(s, k) &&
		    !(tok_is(s, k + 1, "=") &&
			s->stmt[s->tok[k].stmt].first != k))
			found = 1;
	}
	free(name);
	return found;
}

/* f(x) -> f(x, y), where f has a parameter y and y is known here. */
void
op_pass(struct gen *g, size_t i)
{
	const struct source *s = g->s, *o = NULL;
	bool py = s->dialect == DIALECT_PY;
	struct span el[PARAMS_MAX], par[PARAMS_MAX];
	size_t n, m, open, given = 0, skip, close;
	int rank = 0;

	if (!(s->dialect & (DIALECT_PY | DIALECT_JS)) || !expr_is_call(s, i) ||
	    i == 0 || !tok_kind(s, i - 1, TOK_IDENT) || s->tok[i].match < 0 ||
	    (open = find_params(g, i - 1, &o)) == EXPR_NONE)
		return;
	close = (size_t)s->tok[i].match;
	n = expr_elements(s, i, ",", el, nitems(el));
	m = expr_elements(o, open, ",", par, nitems(par));
	if (m == 0 || (n == 0 && close != i + 1))
		return;
	skip = tok_in(o, par[0].a, "self cls");
	for (size_t k = 0; k < n; k++) {
		if (tok_in(s, el[k].a, "* ** ..."))
			return;
		given += !tok_is(s, el[k].a + 1, "=");
	}
	for (size_t k = skip + given; k < m; k++) {
		size_t p = par[k].a, x;
		int as;

		for (x = given; x < n; x++)
			if (o->tok[p].len == s->tok[el[x].a].len &&
			    memcmp(o->text + o->tok[p].off,
				s->text + s->tok[el[x].a].off,
				o->tok[p].len) == 0)
				break;
		if (x < n || !tok_kind(o, p, TOK_IDENT) || (!py && k > given) ||
		    (as = known_as(g, i, o, p)) == 0)
			continue;
		gen_before(g, close, rank++, "%s%.*s%s%s%.*s",
		    n > 0 ? ", " : "", py ? (int)o->tok[p].len : 0,
		    o->text + o->tok[p].off, py ? "=" : "",
		    as == 1  ? ""
			: py ? "self."
			     : "this.",
		    TOK(o, p));
	}
}

/* What a failing test speaks of and no other, asked of an object. */
void
op_flag(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	const struct hints *h = g->out->hints;
	uint32_t obj[OBJECTS_MAX];
	char text[TEXT_MAX];
	struct span p;
	size_t n;
	int rank, len, at = 0;

	if (h == NULL || h->names.n == 0 || s->dialect == DIALECT_SH ||
	    !gen_boolean(g, i, &p, &rank))
		return;
	n = near_objects(g, i, obj, nitems(obj));
	for (size_t k = 0; k < h->names.n; k++) {
		for (size_t o = 0; o < n; o++, at++) {
			len = snprintf(text, sizeof text, "%.*s%s",
			    SPAN(s, obj[o], obj[o] + 1), h->names.v[k]);
			if (len + 4 >= (int)sizeof text)
				continue;
			gen_clause(g, p, gen_or(s), true, rank + at, len, text);
			gen_clause(
			    g, p, gen_and(s), true, rank + at, len, text);
			memmove(
			    text + strlen(gen_not(s)), text, (size_t)len + 1);
			memcpy(text, gen_not(s), strlen(gen_not(s)));
			len += (int)strlen(gen_not(s));
			gen_clause(
			    g, p, gen_and(s), false, rank + at, len, text);
			gen_clause(
			    g, p, gen_or(s), false, rank + at + 2, len, text);
		}
	}
}
