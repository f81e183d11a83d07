/*
 * The tokenizer of the C-like and Python-like dialects, and what all share.
 * It knows no grammar: where it guesses wrong, a candidate edit is useless
 * and its test run shows that.
 */
#include "common/compat.h"

#include "common/log.h"
#include "orchestrator/repair/token.h"
#include "orchestrator/repair/word.h"

/* One list for all dialects, so without what programs of another language often
 * name their functions (range, map, match, where, end ...). */
static const char control_words[] =
    "if else elif for while do switch case default break continue "
    "return goto def class import from as with try except finally "
    "raise pass lambda yield global nonlocal del assert async await "
    "function var let const new delete typeof instanceof of throw "
    "catch extends export struct union enum typedef static extern "
    "inline sizeof public private protected package func fn impl "
    "trait pub use mod mut interface namespace using elsif unless "
    "abstract throws implements virtual override in is not and or "
    "volatile restrict void";
static const char value_words[] =
    "True False None true false null nullptr undefined this super NaN "
    "nil";
static const char type_words[] =
    "int char long short unsigned signed float double bool void size_t "
    "ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t "
    "uint64_t boolean byte struct union enum const static let var auto "
    "unsigned";

static const char ops4[] = ">>>=";
static const char ops3[] = "=== !== **= //= <<= >>= ... &&= ||= ?\?= >>> ..=";
static const char ops2[] =
    "== != <= >= && || ++ -- += -= *= /= %= &= |= ^= << >> -> => :: ** // "
    "?. ?? := ..";

bool
lex_add(struct lexer *lx, enum tok_kind kind, size_t from, size_t to,
    unsigned flags)
{
	struct source *s = lx->s;

	if (to > lx->end)
		to = lx->end;
	if (to <= from)
		return false;
	if (s->n_tok >= SOURCE_MAX_TOKENS) {
		lx->full = true;
		return false;
	}
	if (s->n_tok == lx->size) {
		lx->size = lx->size == 0 ? 256 : lx->size * 2;
		s->tok = xreallocarray(s->tok, lx->size, sizeof *s->tok);
	}
	s->tok[s->n_tok++] = (struct token){ .off = (uint32_t)from,
		.len = (uint32_t)(to - from),
		.line = lx->line,
		.match = -1,
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags };
	return true;
}

static char
at(const struct lexer *lx, size_t pos)
{
	return pos < lx->end ? lx->s->text[pos] : '\0';
}

/* Move pos on, counting lines. */
void
lex_move(struct lexer *lx, size_t pos)
{
	if (pos > lx->end)
		pos = lx->end;
	for (; lx->pos < pos; lx->pos++)
		lx->line += lx->s->text[lx->pos] == '\n';
}

static bool
last_is_operand(const struct lexer *lx)
{
	const struct source *s = lx->s;
	const struct token *t;

	if (s->n_tok == 0)
		return false;
	t = &s->tok[s->n_tok - 1];
	if (t->kind == TOK_OP)
		return t->len == 1 && strchr(")]}", s->text[t->off]) != NULL;
	return t->kind == TOK_IDENT || t->kind == TOK_NUMBER ||
	    t->kind == TOK_STRING || (t->flags & TF_VALUE);
}

/* End of a quoted string that starts at from with a quote of width 1 or 3. */
static size_t
string_end(const struct lexer *lx, size_t from, size_t width, bool raw)
{
	char q = at(lx, from);
	size_t p = from + width;

	for (; p < lx->end; p++) {
		char c = lx->s->text[p];

		if (c == '\\' && !raw)
			p++;
		else if (c == '\n' && width == 1 && q != '`')
			return p;
		else if (c == q &&
		    (width == 1 || (at(lx, p + 1) == q && at(lx, p + 2) == q)))
			return p + width;
	}
	return lx->end;
}

/*
 * A template: text and code by turns. The code between `{` (or `${`) and `}`
 * is read as tokens. close is the quote that ends it, of the given width.
 */
static void
lex_template(struct lexer *lx, size_t from, size_t body, size_t width, bool js)
{
	char q = at(lx, body - 1), c;
	size_t p = body, start = from;
	int level, paren = lx->paren;

	lx->depth++;
	for (; p < lx->end && !lx->full; p++) {
		c = lx->s->text[p];
		if (c == '\\') {
			p++;
			continue;
		}
		if (c == '\n' && !js && width == 1)
			break;
		if (c == q &&
		    (width == 1 ||
			(at(lx, p + 1) == q && at(lx, p + 2) == q))) {
			p += width;
			break;
		}
		if (js ? (c != '$' || at(lx, p + 1) != '{') : c != '{')
			continue;
		p += js ? 2 : 1;
		if (!js && at(lx, p) == '{')
			continue;
		lex_add(lx, TOK_STRING, start, p, TF_CHUNK);
		lex_move(lx, p);
		level = 0;
		while (lx->pos < lx->end && !lx->full) {
			c = at(lx, lx->pos);
			if ((c == '}' || (c == ':' && !js)) && level == 0)
				break;
			if (c == q || (c == '\n' && !js))
				break;
			level += c == '{' || c == '[' || c == '(';
			level -= c == '}' || c == ']' || c == ')';
			lex_token(lx);
		}
		start = lx->pos;
		p = start > 0 && at(lx, start) == q ? start - 1 : start;
	}
	lx->depth--;
	lx->paren = paren;
	lex_add(lx, TOK_STRING, start, p < lx->end ? p : lx->end, TF_CHUNK);
	lex_move(lx, p);
}

static void
lex_string(struct lexer *lx, size_t quote)
{
	enum token_dialect d = lx->s->dialect;
	size_t from = lx->pos, width = 1, to;
	char q = at(lx, quote);
	bool raw = false, tmpl = false;

	for (size_t i = from; i < quote; i++) {
		raw |= (at(lx, i) | 32) == 'r';
		tmpl |= (at(lx, i) | 32) == 'f' && d == DIALECT_PY;
	}
	if (d == DIALECT_PY && at(lx, quote + 1) == q && at(lx, quote + 2) == q)
		width = 3;
	if (q == '`' && d == DIALECT_JS)
		tmpl = true;
	if (tmpl && lx->depth < 4) {
		lex_template(lx, from, quote + width, width, d == DIALECT_JS);
		return;
	}
	to = string_end(lx, quote, width, raw || (q == '`' && d == DIALECT_C));
	if (q == '\'' && d == DIALECT_C && to - from > 8)
		to = from + 1; /* a lifetime of Rust, not a character */
	if (to > from + 1)
		lex_add(lx, TOK_STRING, from, to,
		    to < quote + 2 * width || at(lx, to - 1) != q ? TF_CHUNK
								  : 0);
	lex_move(lx, to);
}

static void
lex_number(struct lexer *lx)
{
	size_t p = lx->pos;
	bool hex = at(lx, p) == '0' && (at(lx, p + 1) | 32) == 'x';

	while (p < lx->end) {
		char c = at(lx, p);

		if (c == '.' && at(lx, p + 1) == '.')
			break;
		if ((c == '+' || c == '-') && !hex && p > lx->pos &&
		    (at(lx, p - 1) | 32) == 'e')
			p++;
		else if (word_is_char(c) || c == '.')
			p++;
		else
			break;
	}
	lex_add(lx, TOK_NUMBER, lx->pos, p, 0);
	lex_move(lx, p);
}

static void
lex_word(struct lexer *lx)
{
	static const char prefixes[] = "r b f u rb br fr rf R B F U L u8";
	const char *t = lx->s->text + lx->pos;
	size_t p = lx->pos, len;
	enum tok_kind kind = TOK_IDENT;
	unsigned flags = 0;
	char q;

	while (p < lx->end && (word_is_char(at(lx, p)) || at(lx, p) == '$'))
		p++;
	len = p - lx->pos;
	q = at(lx, p);
	if ((q == '"' || q == '\'') && word_find(prefixes, t, len) >= 0 &&
	    lx->s->dialect != DIALECT_JS) {
		lex_string(lx, p);
		return;
	}
	if (word_find(value_words, t, len) >= 0) {
		kind = TOK_KEYWORD;
		flags = TF_VALUE;
	} else if (word_find(type_words, t, len) >= 0 &&
	    lx->s->dialect != DIALECT_PY) {
		kind = TOK_KEYWORD;
		flags = TF_TYPE;
	} else if (word_find("and or not in is instanceof", t, len) >= 0 &&
	    (lx->s->dialect == DIALECT_PY || len > 3)) {
		kind = TOK_OP;
	} else if (word_find(control_words, t, len) >= 0) {
		kind = TOK_KEYWORD;
	}
	/* A member may have any name. */
	if (lx->s->n_tok > 0 && p > len && at(lx, lx->pos - 1) == '.' &&
	    kind != TOK_IDENT) {
		kind = TOK_IDENT;
		flags = 0;
	}
	if (!lex_add(lx, kind, lx->pos, p, flags))
		lx->full = true;
	lex_move(lx, p);
}

/* `/x/` in JavaScript where no operand stands before it. */
static bool
lex_regex(struct lexer *lx)
{
	bool set = false;
	size_t p = lx->pos + 1;

	if (lx->s->dialect != DIALECT_JS || last_is_operand(lx))
		return false;
	for (; p < lx->end && at(lx, p) != '\n'; p++) {
		char c = at(lx, p);

		if (c == '\\')
			p++;
		else if (c == '[')
			set = true;
		else if (c == ']')
			set = false;
		else if (c == '/' && !set)
			break;
	}
	if (at(lx, p) != '/')
		return false;
	p++;
	while (word_is_char(at(lx, p)) && p < lx->end)
		p++;
	lex_add(lx, TOK_STRING, lx->pos, p, TF_CHUNK);
	lex_move(lx, p);
	return true;
}

static void
lex_op(struct lexer *lx)
{
	const char *t = lx->s->text + lx->pos;
	size_t left = lx->end - lx->pos, n = 1;
	/* Braces are blocks but in Python. */
	bool py = lx->s->dialect == DIALECT_PY;
	const char *open = py ? "([{" : "([", *close = py ? ")]}" : ")]";

	if (at(lx, lx->pos) == '/' && lex_regex(lx))
		return;
	if (left >= 4 && word_find(ops4, t, 4) >= 0)
		n = 4;
	else if (left >= 3 && word_find(ops3, t, 3) >= 0)
		n = 3;
	else if (left >= 2 && word_find(ops2, t, 2) >= 0)
		n = 2;
	if (lx->s->dialect == DIALECT_C && n == 2 && memcmp(t, "**", 2) == 0)
		n = 1;
	if (n == 1 && strchr(open, *t) != NULL)
		lx->paren++;
	else if (n == 1 && strchr(close, *t) != NULL && lx->paren > 0)
		lx->paren--;
	lex_add(lx, TOK_OP, lx->pos, lx->pos + n, 0);
	lex_move(lx, lx->pos + n);
}

/* Does a newline here end a statement, as far as can be told from here? */
static bool
newline_ends(const struct lexer *lx)
{
	const struct source *s = lx->s;
	const struct token *t;
	size_t p = lx->pos;

	if (s->n_tok == 0)
		return false;
	t = &s->tok[s->n_tok - 1];
	if (t->kind == TOK_NEWLINE)
		return false;
	if (s->dialect == DIALECT_PY)
		return lx->paren == 0;
	if (t->kind == TOK_DIRECTIVE)
		return true;
	if (s->lines)
		return lx->paren == 0 &&
		    (last_is_operand(lx) ||
			tok_in(s, s->n_tok - 1,
			    "++ -- return break continue fallthrough"));
	if (s->dialect == DIALECT_C || !last_is_operand(lx) ||
	    (t->kind == TOK_OP && s->text[t->off] == '}'))
		return false;
	while (p < lx->end && strchr(" \t\r\n", s->text[p]) != NULL)
		p++;
	if (lx->paren > 0)
		return false;
	return p >= lx->end ||
	    strchr(".?:&|+-*/%=<>,)]}({", s->text[p]) == NULL;
}

static bool
is_line_comment(const struct lexer *lx)
{
	const char *w;
	size_t n;

	for (int k = 0; (w = word_at(lx->s->comments, k, &n)) != NULL; k++) {
		if (lx->end - lx->pos >= n &&
		    memcmp(lx->s->text + lx->pos, w, n) == 0)
			return true;
	}
	return false;
}

static bool
lex_comment(struct lexer *lx)
{
	const char *t = lx->s->text + lx->pos, *hit;
	size_t left = lx->end - lx->pos;

	if (is_line_comment(lx)) {
		hit = memchr(t, '\n', left);
	} else if (left > 1 && t[0] == '/' && t[1] == '*' &&
	    lx->s->dialect != DIALECT_PY) {
		hit = memmem(t + 2, left - 2, "*/", 2);
		hit = hit != NULL ? hit + 2 : NULL;
	} else {
		return false;
	}
	lex_move(lx, hit != NULL ? lx->pos + (size_t)(hit - t) : lx->end);
	return true;
}

/* A line of the C preprocessor; of `#define NAME` the rest is code. */
static bool
lex_directive(struct lexer *lx)
{
	const char *t = lx->s->text;
	size_t p = lx->pos;

	if (lx->s->dialect != DIALECT_C || at(lx, p) != '#')
		return false;
	for (size_t i = p; i > 0 && t[i - 1] != '\n'; i--) {
		if (t[i - 1] != ' ' && t[i - 1] != '\t')
			return false;
	}
	if (lx->end - p > 8 && memcmp(t + p, "#define ", 8) == 0) {
		p += 8;
		while (p < lx->end && (word_is_char(t[p])))
			p++;
	} else {
		while (p < lx->end && t[p] != '\n')
			p += t[p] == '\\' ? 2 : 1;
	}
	if (p > lx->end)
		p = lx->end;
	lex_add(lx, TOK_DIRECTIVE, lx->pos, p, 0);
	lex_move(lx, p);
	return true;
}

void
lex_token(struct lexer *lx)
{
	char c = at(lx, lx->pos);
	enum token_dialect d = lx->s->dialect;

	if (c == '\n') {
		if (lx->depth == 0 && newline_ends(lx))
			lex_add(lx, TOK_NEWLINE, lx->pos, lx->pos + 1, 0);
		lex_move(lx, lx->pos + 1);
	} else if (c == '\\') {
		lex_move(lx, lx->pos + 2);
	} else if ((unsigned char)c <= ' ') {
		lex_move(lx, lx->pos + 1);
	} else if (lex_comment(lx) || lex_directive(lx)) {
		return;
	} else if (c >= '0' && c <= '9') {
		lex_number(lx);
	} else if (word_is_char(c) || (c == '$' && d != DIALECT_PY) ||
	    (c == '@' && d == DIALECT_C)) {
		if (c == '@')
			lex_move(lx, lx->pos + 1);
		else
			lex_word(lx);
	} else if (c == '"' || c == '\'' || (c == '`' && d != DIALECT_PY)) {
		lex_string(lx, lx->pos);
	} else {
		lex_op(lx);
	}
}
