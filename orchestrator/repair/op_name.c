/*
 * op_name.c - operators that put another name, literal or expression of the
 * file in a place: nearest first.
 */
#include "common/compat.h"

#include <ctype.h>
#include <strings.h>

#include "orchestrator/repair/gen.h"
#include "orchestrator/repair/word.h"

#define NAMES_MAX 14 /* at least as many as any caller wants */

/* What kind of name stands at token j: a name may only stand for its like. */
enum name_kind {
	NAME_NONE,
	NAME_PLAIN,
	NAME_CALLED,
	NAME_ATTR,
	NAME_METHOD
};

static enum name_kind
name_kind(const struct source *s, size_t j)
{
	bool called, attr;

	if (!tok_kind(s, j, TOK_IDENT))
		return NAME_NONE;
	if (s->dialect == DIALECT_SH)
		return tok_flag(s, j, TF_VAR) ? NAME_PLAIN : NAME_NONE;
	attr = j > 0 && tok_in(s, j - 1, ". -> ?.");
	called = tok_is(s, j + 1, "(");
	if (attr)
		return called ? NAME_METHOD : NAME_ATTR;
	if (tok_kind(s, j + 1, TOK_IDENT) || tok_is(s, j + 1, "::"))
		return NAME_NONE; /* a type */
	if (j > 0 &&
	    tok_in(s, j - 1,
		"struct enum union class new def "
		"function func fn import"))
		return NAME_NONE;
	return called ? NAME_CALLED : NAME_PLAIN;
}

/* Distinct names like the one at i in block, nearest first. */
static size_t
near_names(struct gen *g, size_t i, struct span block, enum name_kind kind,
    uint32_t *ret, size_t max)
{
	const struct source *s = g->s;
	size_t lo = i, hi = i, n = 0;

	while (g->budget > 0 && max > 0) {
		bool more = false;

		for (int side = 0; side < 2; side++) {
			size_t j, k;

			if (side == 0 ? lo <= block.a : hi >= block.b)
				continue;
			more = true;
			g->budget--;
			j = side == 0 ? --lo : ++hi;
			if (name_kind(s, j) != kind || tok_same(s, i, j) ||
			    tok_in(s, j, "self cls"))
				continue;
			for (k = 0; k < n && !tok_same(s, ret[k], j); k++)
				;
			if (k < n)
				continue;
			ret[n++] = (uint32_t)j;
			if (n == max)
				return n;
		}
		if (!more)
			break;
	}
	return n;
}

size_t
gen_names(struct gen *g, size_t i, uint32_t *ret, size_t max)
{
	const struct source *s = g->s;
	int region = g->n_idle > 0 ? source_region(s, s->tok[i].line) : -1;
	size_t n = 0, m, k;

	/* Those that wait to be read come first. */
	for (k = 0; k < g->n_idle && region >= 0 && n < 2 && n < max; k++)
		if (g->idle[k].region == region && g->idle[k].tok < i &&
		    !tok_same(s, g->idle[k].tok, i))
			ret[n++] = g->idle[k].tok;
	if (n == 0)
		return near_names(g, i, gen_block(s, i), NAME_PLAIN, ret, max);
	m = near_names(g, i, gen_block(s, i), NAME_PLAIN, ret + n, max - n);
	for (k = n; m > 0; k++, m--) {
		if (!tok_same(s, ret[k], ret[0]) &&
		    !tok_same(s, ret[k], ret[n > 1 ? 1 : 0]))
			continue;
		memmove(ret + k, ret + k + 1, (m - 1) * sizeof *ret);
		k--;
	}
	return k;
}

size_t
gen_all_names(struct gen *g, size_t i, uint32_t *ret, size_t max)
{
	size_t n = 0;

	if (max > 0 && name_kind(g->s, i) == NAME_PLAIN)
		ret[n++] = (uint32_t)i;
	return n + gen_names(g, i, ret + n, max - n);
}

bool
gen_is_name(const struct source *s, size_t i)
{
	return name_kind(s, i) == NAME_PLAIN;
}

static struct span
whole_file(const struct source *s, size_t i)
{
	return (struct span){ i > 3000 ? (uint32_t)i - 3000 : 0,
		(uint32_t)(i + 3000 < s->n_tok ? i + 3000 : s->n_tok - 1) };
}

/* `name=` of a call, a label, a key: not a value. */
static bool
is_key(const struct source *s, size_t i)
{
	size_t open;

	if (tok_is(s, i + 1, ":") && s->dialect != DIALECT_PY)
		return true;
	if (!tok_is(s, i + 1, "="))
		return false;
	open = expr_enclosing(s, i);
	return open != EXPR_NONE && expr_is_call(s, open);
}

/*
 * Put the names that are used as the one at i is before the others: where two
 * of their uses follow the same two tokens (`f(x` and `f(y`, `this.x`).
 */
static void
alike_first(
    struct gen *g, size_t i, struct span block, uint32_t *names, size_t n)
{
	const struct source *s = g->s;
	uint32_t mine[16], sorted[NAMES_MAX];
	size_t n_mine = 0, at = 0;
	bool like[NAMES_MAX] = { false };

	for (size_t j = block.a; j <= block.b && n_mine < nitems(mine); j++) {
		g->budget--;
		if (j >= 2 && tok_same(s, i, j))
			mine[n_mine++] = (uint32_t)j;
	}
	for (size_t j = block.a; j <= block.b && g->budget > 0; j++) {
		size_t k;

		g->budget--;
		if (j < 2 || !tok_kind(s, j, TOK_IDENT) || tok_same(s, i, j))
			continue;
		for (k = 0; k < n && !tok_same(s, names[k], j); k++)
			;
		for (size_t m = 0; k < n && m < n_mine && !like[k]; m++)
			like[k] = tok_same(s, j - 1, mine[m] - 1) &&
			    tok_same(s, j - 2, mine[m] - 2);
	}
	for (int pass = 1; pass >= 0; pass--) {
		for (size_t k = 0; k < n; k++) {
			if (like[k] == (pass == 1))
				sorted[at++] = names[k];
		}
	}
	memcpy(names, sorted, n * sizeof *names);
}

void
op_attr(struct gen *g, size_t i)
{
	uint32_t names[8];
	enum name_kind kind = name_kind(g->s, i);
	struct span file = whole_file(g->s, i);
	size_t n;

	if (kind != NAME_ATTR && kind != NAME_METHOD)
		return;
	n = near_names(g, i, file, kind, names, 8);
	alike_first(g, i, file, names, n);
	for (size_t k = 0; k < n; k++)
		gen_put(g, i, i, (int)k, "%.*s", TOK(g->s, names[k]));
	for (size_t k = 0; k < g->n_property && kind == NAME_ATTR; k++)
		gen_put(g, i, i, 1 + (int)k, "%.*s", TOK(g->s, g->property[k]));
}

void
op_ident(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	uint32_t names[NAMES_MAX];
	enum name_kind kind = name_kind(s, i);
	struct span block = gen_block(s, i);
	int rank = 0;
	bool self;
	size_t n;

	if ((kind != NAME_PLAIN && kind != NAME_CALLED) || is_key(s, i))
		return;
	if (i == gen_stmt(g, i)->first && tok_is(s, i + 1, "="))
		rank = 3; /* what is assigned to */
	if (kind == NAME_CALLED)
		block = whole_file(s, i);
	n = near_names(
	    g, i, block, kind, names, kind == NAME_CALLED ? 6 : NAMES_MAX);
	alike_first(g, i, block, names, n);
	self = tok_in(s, i, "self this cls") && tok_is(s, i + 1, ".");
	for (size_t k = 0; k < n && !self; k++)
		gen_put(g, i, i, rank + (int)k, "%.*s", TOK(s, names[k]));
	if (kind != NAME_PLAIN || s->dialect == DIALECT_SH)
		return;
	/* x in place of self.x; then the other way round. */
	if (self && tok_kind(s, i + 2, TOK_IDENT) &&
	    !tok_in(s, i + 3, "( = .")) {
		for (size_t k = 0; k < n; k++)
			gen_put(
			    g, i, i + 2, 1 + (int)k, "%.*s", TOK(s, names[k]));
	}
	if (s->dialect & (DIALECT_PY | DIALECT_JS)) {
		uint32_t attrs[4];

		n = near_names(g, i, block, NAME_ATTR, attrs, 4);
		for (size_t k = 0; k < n; k++) {
			size_t a = expr_primary_start(s, attrs[k]);

			if (a != EXPR_NONE && attrs[k] - a <= 4 &&
			    !tok_is(s, i + 1, "."))
				gen_put(g, i, i, 6 + (int)k, "%.*s",
				    SPAN(s, a, attrs[k]));
		}
	}
}

void
op_ident_swap(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	enum name_kind kind = name_kind(s, i);
	int rank = 0;

	if (kind == NAME_NONE)
		return;
	for (size_t j = i + 1;
	     j < s->n_tok && s->tok[j].stmt == s->tok[i].stmt && rank < 5;
	     j++) {
		if (name_kind(s, j) != kind || tok_same(s, i, j))
			continue;
		gen_swap(g, (struct span){ (uint32_t)i, (uint32_t)i },
		    (struct span){ (uint32_t)j, (uint32_t)j }, rank++);
	}
}

/* A string's inside: between its quotes. */
static bool
inside(const struct source *s, size_t i, size_t *ret_from, size_t *ret_len)
{
	const struct token *t;
	size_t a, b;
	char q;

	if (!tok_kind(s, i, TOK_STRING) || tok_flag(s, i, TF_CHUNK))
		return false;
	t = &s->tok[i];
	for (a = 0; a < t->len && a < 3; a++) {
		if (strchr("'\"`", s->text[t->off + a]) != NULL)
			break;
	}
	q = s->text[t->off + a];
	b = t->len;
	if (a + 2 > b || s->text[t->off + b - 1] != q)
		return false;
	if (b - a >= 6 && s->text[t->off + a + 1] == q) {
		a += 2;
		b -= 2;
	}
	*ret_from = t->off + a + 1;
	*ret_len = b - a - 2;
	return true;
}

static void
put_inside(struct gen *g, size_t i, size_t from, size_t len, int rank,
    const char *text, size_t n)
{
	const struct token *t = &g->s->tok[i];

	gen_put(g, i, i, rank, "%.*s%.*s%.*s", (int)(from - t->off),
	    g->s->text + t->off, (int)n, text,
	    (int)(t->off + t->len - from - len), g->s->text + from + len);
}

void
op_string(struct gen *g, size_t i)
{
	static const char left[] = "([{<", right[] = ")]}>";
	char text[80];
	size_t from, len, cut;
	bool ch;

	if (!inside(g->s, i, &from, &len))
		return;
	ch = g->s->dialect == DIALECT_C && g->s->text[from - 1] == '\'';
	memcpy(text, g->s->text + from, len < sizeof text ? len : 0);
	if (len == 0) {
		put_inside(g, i, from, 0, 0, " ", 1);
		put_inside(g, i, from, 0, 1, "0", 1);
		return;
	}
	if (!ch)
		put_inside(g, i, from, len, 0, "", 0);
	if (len >= sizeof text)
		return;
	if (len == 1 && *text == ' ' && !ch)
		put_inside(g, i, from, len, 1, "  ", 2);
	for (size_t k = 0; k < len; k++) {
		const char *p = strchr(left, text[k]);
		const char *q = strchr(right, text[k]);
		char old = text[k];

		if (p != NULL && *p != '\0')
			text[k] = right[p - left];
		else if (q != NULL && *q != '\0')
			text[k] = left[q - right];
		else if (old >= '0' && old < '9')
			text[k]++;
		else
			continue;
		put_inside(g, i, from, len, 1, text, len);
		text[k] = old;
	}
	cut = len;
	while (--cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
		;
	if (cut > 0 && !ch && text[cut - 1] != '\\')
		put_inside(g, i, from, len, 2, text, cut);
	for (cut = 1; cut < len && ((unsigned char)text[cut] & 0xc0) == 0x80;)
		cut++;
	if (cut < len && !ch && text[0] != '\\')
		put_inside(g, i, from, len, 2, text + cut, len - cut);
	for (int mode = 0; mode < 3; mode++) { /* upper, lower, Title */
		char other[sizeof text];
		bool escape = false;

		for (size_t k = 0; k < len; k++) {
			char c = text[k];
			bool up = mode == 0 || (mode == 2 && k == 0);

			if (!escape && up && c >= 'a' && c <= 'z')
				c = (char)(c - 32);
			else if (!escape && !up && c >= 'A' && c <= 'Z')
				c = (char)(c + 32);
			escape = !escape && c == '\\';
			other[k] = c;
		}
		if (memcmp(other, text, len) != 0)
			put_inside(g, i, from, len, 3, other, len);
	}
	for (size_t k = 0, e; k < len && !ch; k = e + 1) {
		bool upper = true;

		for (e = k; e < len && isalpha((unsigned char)text[e]); e++)
			upper = upper && isupper((unsigned char)text[e]);
		if (!upper || e == k || (k == 0 && e == len) ||
		    (k > 0 && text[k - 1] == '\\'))
			continue;
		for (size_t j = k; j < e; j++)
			text[j] = (char)tolower((unsigned char)text[j]);
		put_inside(g, i, from, len, 2, text, len);
		for (size_t j = k; j < e; j++)
			text[j] = (char)toupper((unsigned char)text[j]);
	}
	if (!ch && len < 4) {
		put_inside(g, i, from + len, 0, 3, " ", 1);
		put_inside(g, i, from, 0, 3, " ", 1);
	}
}

void
op_string_other(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t lo = i, hi = i, from, len;
	uint32_t got[6];
	size_t n = 0, k;

	if (!inside(s, i, &from, &len))
		return;
	while (
	    n < nitems(got) && (lo > 0 || hi + 1 < s->n_tok) && g->budget > 0) {
		for (int side = 0; side < 2 && n < nitems(got); side++) {
			size_t j;

			if (side == 0 ? lo == 0 : hi + 1 >= s->n_tok)
				continue;
			j = side == 0 ? --lo : ++hi;
			g->budget--;
			if (!inside(s, j, &from, &len) || len > 40 ||
			    tok_same(s, i, j) ||
			    s->text[s->tok[i].off] != s->text[s->tok[j].off])
				continue;
			for (k = 0; k < n && !tok_same(s, got[k], j); k++)
				;
			if (k < n)
				continue;
			got[n] = (uint32_t)j;
			gen_put(g, i, i, (int)n++, "%.*s", TOK(s, j));
		}
	}
}

/* The largest operand or operator expression that begins at i, and what may
 * stand for it. */
static size_t
compound_end(const struct source *s, size_t i)
{
	size_t b, op, r;

	if (!expr_is_start(s, i) || expr_is_prefix(s, i) ||
	    expr_is_bound(s, i) || (i > 0 && tok_in(s, i - 1, ". -> :: ?.")))
		return EXPR_NONE;
	b = expr_primary_end(s, i);
	if (b == EXPR_NONE)
		return b;
	op = b + 1;
	if (expr_prec(s, op) >= 5 && expr_left(s, op) == i) {
		r = expr_right(s, op);
		if (r != EXPR_NONE)
			b = r;
	}
	return b > i ? b : EXPR_NONE;
}

void
op_collapse(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	size_t b = compound_end(s, i), first, n;
	uint32_t names[10];

	if (s->dialect == DIALECT_SH || b == EXPR_NONE ||
	    i == gen_stmt(g, i)->first || tok_is(s, b + 1, "="))
		return;
	/* The whole sum, and its first operand. */
	first = expr_primary_end(s, i);
	n = near_names(g, i, gen_block(s, i), NAME_PLAIN, names, nitems(names));
	for (size_t k = 0; k < n; k++) {
		gen_put(g, i, b, (int)k, "%.*s", TOK(s, names[k]));
		if (first > i && first < b)
			gen_put(g, i, first, (int)k, "%.*s", TOK(s, names[k]));
	}
}

/* Another expression of the function, one with the same beginning first. */
void
op_donor(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	size_t b, n = 0;

	if (s->dialect == DIALECT_SH || i == gen_stmt(g, i)->first ||
	    !expr_is_start(s, i) || expr_is_prefix(s, i) ||
	    expr_is_bound(s, i) || (i > 0 && tok_in(s, i - 1, ". -> :: ?.")) ||
	    is_key(s, i))
		return;
	b = expr_primary_end(s, i);
	if (b == EXPR_NONE || tok_is(s, b + 1, "="))
		return;
	for (int pass = 0; pass < 2; pass++) {
		for (size_t j = block.a;
		     j <= block.b && n < 10 && g->budget > 0; j++) {
			size_t e = compound_end(s, j);

			g->budget--;
			if (e == EXPR_NONE || e - j > 12 || e > block.b ||
			    (e >= i && j <= b) || tok_is(s, e + 1, "=") ||
			    tok_same(s, i, j) == (pass != 0) ||
			    j == s->stmt[s->tok[j].stmt].first ||
			    s->stmt[s->tok[j].stmt].kind == STMT_DEF)
				continue;
			gen_put(g, i, b, (int)n++, "%.*s", SPAN(s, j, e));
		}
	}
}

/* What is assigned to: another place of the function that is assigned to, or
 * an element or member that is read there. */
void
op_target(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	struct span block = gen_block(s, i);
	size_t b, n = 0;

	if (i != gen_stmt(g, i)->first || s->dialect == DIALECT_SH)
		return;
	b = expr_primary_end(s, i);
	if (b == EXPR_NONE || !tok_in(s, b + 1, "= += -= *= |= &="))
		return;
	for (size_t d = 1; d < 400 && n < 8 && g->budget > 0; d++) {
		for (int side = 0; side < 2 && n < 8; side++) {
			size_t j = side == 0 ? i - d : i + d, e;

			g->budget--;
			if ((side == 0 && d > i) || j < block.a ||
			    j > block.b || !gen_is_name(s, j))
				continue;
			e = expr_primary_end(s, j);
			if (e == EXPR_NONE || e - j > 12 ||
			    (e >= i && j <= b) ||
			    gen_same(s,
				(struct span){ (uint32_t)i, (uint32_t)b },
				(struct span){ (uint32_t)j, (uint32_t)e }))
				continue;
			if (!tok_is(s, e, "]") && !tok_in(s, e - 1, ". ->") &&
			    !(j == s->stmt[s->tok[j].stmt].first &&
				tok_is(s, e + 1, "=")))
				continue;
			gen_put(g, i, b, (int)n++, "%.*s", SPAN(s, j, e));
		}
	}
}
