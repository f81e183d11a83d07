/* source.c - a source text with its tokens: making it and asking it. */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/language.h"
#include "orchestrator/repair/word.h"

#define NEST_MAX 512

static void
find_lines(struct source *s)
{
	size_t n = 1, i = 0;

	for (size_t p = 0; p < s->len; p++)
		n += s->text[p] == '\n';
	if (s->len > 0 && s->text[s->len - 1] == '\n')
		n--;
	s->line_off = xcalloc(n + 2, sizeof *s->line_off);
	s->n_line = n;
	for (size_t p = 0; p < s->len && i < n; p++) {
		if (s->text[p] == '\n')
			s->line_off[++i] = (uint32_t)p + 1;
	}
	s->line_off[n] = (uint32_t)s->len;
	if (s->len > 0 && s->text[s->len - 1] != '\n')
		s->line_off[n]++;
}

/* `not in` and `is not` as one token each. */
static void
join_words(struct source *s)
{
	size_t w = 0;

	for (size_t i = 0; i < s->n_tok; i++) {
		struct token *t = &s->tok[i], *u = &s->tok[i + 1];
		bool two = i + 1 < s->n_tok && t->kind == TOK_OP &&
		    u->off == t->off + t->len + 1 &&
		    ((tok_is(s, i, "not") && tok_is(s, i + 1, "in")) ||
			(tok_is(s, i, "is") && tok_is(s, i + 1, "not")));

		if (two)
			t->len = u->off + u->len - t->off;
		s->tok[w++] = *t;
		i += two;
	}
	s->n_tok = w;
}

static void
match_brackets(struct source *s)
{
	static const char pairs[] = "()[]{}";
	uint32_t stack[NEST_MAX];
	size_t depth = 0;

	for (size_t i = 0; i < s->n_tok; i++) {
		struct token *t = &s->tok[i];
		const char *c;

		if (t->kind != TOK_OP || t->len != 1)
			continue;
		c = strchr(pairs, s->text[t->off]);
		if (c == NULL || *c == '\0')
			continue;
		if ((c - pairs) % 2 == 0) {
			if (depth < NEST_MAX)
				stack[depth++] = (uint32_t)i;
			continue;
		}
		/* A stray opener is dropped when an outer one fits. */
		for (size_t d = depth; d > 0 && depth - d < 4; d--) {
			if (s->text[s->tok[stack[d - 1]].off] != c[-1])
				continue;
			t->match = (int32_t)stack[d - 1];
			s->tok[stack[d - 1]].match = (int32_t)i;
			depth = d - 1;
			break;
		}
	}
}

struct source *
source_create(const char *path, const char *text, size_t len)
{
	const struct language *l = language_of(path, text, len);
	struct lexer lx = { .line = 1 };
	struct source *s;

	if (l == NULL || len > SOURCE_MAX_BYTES ||
	    memchr(text, '\0', len) != NULL)
		return NULL;
	s = xcalloc(1, sizeof *s);
	s->path = xstrdup(path);
	s->text = xmalloc(len + 1);
	memcpy(s->text, text, len);
	s->text[len] = '\0';
	s->len = len;
	s->dialect = l->dialect;
	s->comments = l->comments;
	s->lines = l->lines;
	find_lines(s);
	lx.s = s;
	lx.end = len;
	while (lx.pos < lx.end && !lx.full) {
		if (s->dialect == DIALECT_SH)
			lex_shell(&lx);
		else
			lex_token(&lx);
	}
	join_words(s);
	match_brackets(s);
	source_statements(s);
	source_precedence(s);
	source_regions(s);
	return s;
}

void
source_free(struct source *s)
{
	if (s == NULL)
		return;
	free(s->path);
	free(s->text);
	free(s->tok);
	free(s->line_off);
	free(s->stmt);
	free(s->region);
	free(s);
}

bool
tok_is(const struct source *s, size_t i, const char *text)
{
	size_t n = strlen(text);

	return i < s->n_tok && s->tok[i].len == n &&
	    memcmp(s->text + s->tok[i].off, text, n) == 0;
}

bool
tok_same(const struct source *s, size_t i, size_t j)
{
	return i < s->n_tok && j < s->n_tok && s->tok[i].len == s->tok[j].len &&
	    memcmp(s->text + s->tok[i].off, s->text + s->tok[j].off,
		s->tok[i].len) == 0;
}

bool
tok_kind(const struct source *s, size_t i, enum tok_kind kind)
{
	return i < s->n_tok && s->tok[i].kind == kind;
}

bool
tok_flag(const struct source *s, size_t i, enum tok_flag flag)
{
	return i < s->n_tok && (s->tok[i].flags & flag);
}

bool
tok_in(const struct source *s, size_t i, const char *list)
{
	return i < s->n_tok &&
	    word_find(list, s->text + s->tok[i].off, s->tok[i].len) >= 0;
}

uint32_t
source_line(const struct source *s, size_t off)
{
	size_t lo = 0, hi = s->n_line;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (s->line_off[mid] <= off)
			lo = mid;
		else
			hi = mid;
	}
	return (uint32_t)lo + 1;
}

const char *
source_line_text(const struct source *s, uint32_t line, size_t *ret_len)
{
	if (line == 0 || line > s->n_line) {
		*ret_len = 0;
		return "";
	}
	*ret_len = s->line_off[line] - s->line_off[line - 1];
	if (*ret_len > 0)
		(*ret_len)--; /* the newline */
	return s->text + s->line_off[line - 1];
}

int
source_region(const struct source *s, uint32_t line)
{
	int best = -1;

	for (size_t i = 0; i < s->n_region; i++) {
		const struct region *r = &s->region[i];

		if (r->first_line > line || r->last_line < line)
			continue;
		if (best < 0 || r->first_line >= s->region[best].first_line)
			best = (int)i;
	}
	return best;
}
