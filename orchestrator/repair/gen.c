#include "common/compat.h"

#include "orchestrator/repair/gen.h"
#include "orchestrator/repair/word.h"

#define TEXT_MAX 1024
#define PER_OP_MAX 6000 /* candidates of one operator in one source */

/* More for what reads a variable of the function that nothing reads. */
static float
takes_up(const struct gen *g, uint32_t line, const char *text, size_t len)
{
	int region = g->n_idle > 0 ? source_region(g->s, line) : -1;

	for (size_t k = 0; k < g->n_idle && region >= 0; k++) {
		const struct token *t = &g->s->tok[g->idle[k].tok];
		const char *name = g->s->text + t->off, *p;

		if (g->idle[k].region != region || len < t->len)
			continue;
		p = memmem(text, len, name, t->len);
		if (p != NULL && (p == text || !word_is_char(p[-1])) &&
		    (p + t->len == text + len || !word_is_char(p[t->len])))
			return g->idle[k].param ? 2 : 8;
	}
	return 1;
}

static void
emit(struct gen *g, size_t from, size_t to, int rank, const char *text,
    size_t len)
{
	static const int bounds[] = { 1, 3, 8 };
	uint32_t line = source_line(g->s, from);
	int k = 0;
	float score, weight = g->weight != NULL ? g->weight[line - 1] : 1;

	if (g->weight != NULL && g->also != 0) {
		line = g->s->tok[g->also].line;
		if (g->weight[line - 1] > weight)
			weight = g->weight[line - 1];
	}

	if (g->made >= PER_OP_MAX)
		return;
	while (k < 3 && rank >= bounds[k])
		k++;
	score = g->op->yield[k] * weight * takes_up(g, line, text, len);
	if (score <= g->out->floor)
		return;
	g->made++;
	cands_add(g->out, g->s, g->idx, g->op_no, score, from, to, text, len);
}

static void emit_fmt(struct gen *g, size_t from, size_t to, int rank,
    const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

static void
emit_fmt(struct gen *g, size_t from, size_t to, int rank, const char *fmt,
    va_list ap)
{
	char text[TEXT_MAX];
	/* clang-tidy 14 forgets va_start after the first file it looks at. */
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
	int n = vsnprintf(text, sizeof text, fmt, ap);

	if (n >= 0 && n < TEXT_MAX)
		emit(g, from, to, rank, text, (size_t)n);
}

void
gen_put(struct gen *g, size_t a, size_t b, int rank, const char *fmt, ...)
{
	const struct source *s = g->s;
	va_list ap;

	if (a > b || b >= s->n_tok)
		return;
	va_start(ap, fmt);
	emit_fmt(
	    g, s->tok[a].off, s->tok[b].off + s->tok[b].len, rank, fmt, ap);
	va_end(ap);
}

void
gen_after(struct gen *g, size_t i, int rank, const char *fmt, ...)
{
	size_t at;
	va_list ap;

	if (i >= g->s->n_tok)
		return;
	at = g->s->tok[i].off + g->s->tok[i].len;
	va_start(ap, fmt);
	emit_fmt(g, at, at, rank, fmt, ap);
	va_end(ap);
}

void
gen_before(struct gen *g, size_t i, int rank, const char *fmt, ...)
{
	size_t at;
	va_list ap;

	if (i >= g->s->n_tok)
		return;
	at = g->s->tok[i].off;
	va_start(ap, fmt);
	emit_fmt(g, at, at, rank, fmt, ap);
	va_end(ap);
}

void
gen_delete(struct gen *g, size_t a, size_t b, int rank)
{
	const struct source *s = g->s;
	size_t from, to;

	if (a > b || b >= s->n_tok)
		return;
	from = s->tok[a].off;
	to = s->tok[b].off + s->tok[b].len;
	/* The blanks behind it go along, unless it is glued to what is before.
	 */
	while (s->text[to] == ' ' &&
	    (from == 0 || strchr(" \t\n([{", s->text[from - 1]) != NULL))
		to++;
	if (s->text[to] == '\n' || to >= s->len ||
	    strchr(",;)]}:", s->text[to]) != NULL) {
		to = s->tok[b].off + s->tok[b].len;
		while (from > 0 && s->text[from - 1] == ' ' &&
		    s->line_off[s->tok[a].line - 1] < from)
			from--;
	}
	emit(g, from, to, rank, "", 0);
}

bool
gen_same(const struct source *s, struct span x, struct span y)
{
	if (y.b - y.a != x.b - x.a)
		return false;
	for (size_t i = 0; i <= x.b - x.a; i++) {
		if (!tok_same(s, x.a + i, y.a + i))
			return false;
	}
	return true;
}

void
gen_swap(struct gen *g, struct span x, struct span y, int rank)
{
	const struct source *s = g->s;
	size_t mid, mid_end;

	if (x.b >= y.a || y.b >= s->n_tok || gen_same(s, x, y))
		return;
	mid = s->tok[x.b].off + s->tok[x.b].len;
	mid_end = s->tok[y.a].off;
	gen_put(g, x.a, y.b, rank, "%.*s%.*s%.*s", SPAN(s, y.a, y.b),
	    (int)(mid_end - mid), s->text + mid, SPAN(s, x.a, x.b));
}

int
gen_replaced(const struct source *s, struct span c, size_t k, int len,
    const char *text, char *dst, size_t size)
{
	size_t a = s->tok[c.a].off, b = s->tok[c.b].off + s->tok[c.b].len;
	size_t from = s->tok[k].off, to = from + s->tok[k].len;
	int n = snprintf(dst, size, "%.*s%.*s%.*s", (int)(from - a),
	    s->text + a, len, text, (int)(b - to), s->text + to);

	return n >= 0 && (size_t)n < size ? n : -1;
}

struct span
gen_block(const struct source *s, size_t i)
{
	int r = source_region(s, s->tok[i].line);
	struct span b;

	if (r >= 0) {
		const struct region *reg = &s->region[r];
		size_t head = reg->first_tok;

		while (head > 0 && s->tok[head].line >= reg->first_line &&
		    reg->first_tok - head < 60)
			head--;
		b = (struct span){ (uint32_t)head, reg->last_tok };
		if (i > b.a + 1000)
			b.a = (uint32_t)i - 1000;
		if (b.b > i + 1000)
			b.b = (uint32_t)i + 1000;
		if (i >= b.a && i <= b.b)
			return b;
	}
	b.a = i > 150 ? (uint32_t)i - 150 : 0;
	b.b = i + 150 < s->n_tok ? (uint32_t)i + 150 : (uint32_t)s->n_tok - 1;
	return b;
}

const char *
gen_and(const struct source *s)
{
	return s->dialect == DIALECT_PY ? "and" : "&&";
}

const char *
gen_or(const struct source *s)
{
	return s->dialect == DIALECT_PY ? "or" : "||";
}

const char *
gen_not(const struct source *s)
{
	return s->dialect == DIALECT_PY ? "not "
	    : s->dialect == DIALECT_SH  ? "! "
					: "!";
}
