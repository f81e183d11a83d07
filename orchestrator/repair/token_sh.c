/*
 * The shell's part of the tokenizer. A word is cut into pieces (`-f1` is `-f`
 * and 1), expansions are read inside double quotes too, arithmetic and awk
 * programs are read as C.
 */
#include "common/compat.h"

#include "orchestrator/repair/token.h"
#include "orchestrator/repair/word.h"

#define DEPTH_MAX 6

static const char sh_keywords[] =
    "if then else elif fi for while until do done case esac in function "
    "return break continue exit local export readonly declare shift set "
    "unset eval exec";

static char
at(const struct lexer *lx, size_t pos)
{
	return pos < lx->end ? lx->s->text[pos] : '\0';
}

static void
add(struct lexer *lx, enum tok_kind kind, size_t len, unsigned flags)
{
	lex_add(lx, kind, lx->pos, lx->pos + len, flags);
	lex_move(lx, lx->pos + len);
}

static size_t
name_len(const struct lexer *lx, size_t from)
{
	size_t p = from;

	while (p < lx->end && word_is_char(at(lx, p)))
		p++;
	return p - from;
}

/* The tokens of a range that holds C or something like it. */
static void
lex_inner(struct lexer *lx, size_t end, unsigned flags)
{
	size_t outer = lx->end, first = lx->s->n_tok;
	int paren = lx->paren;

	lx->s->dialect = DIALECT_C;
	lx->end = end;
	lx->depth++;
	while (lx->pos < lx->end && !lx->full) {
		if (at(lx, lx->pos) == '$')
			add(lx, TOK_OP, 1, 0);
		else if (at(lx, lx->pos) == '#')
			lex_move(lx, lx->pos + 1);
		else
			lex_token(lx);
	}
	lx->depth--;
	lx->end = outer;
	lx->paren = paren;
	lx->s->dialect = DIALECT_SH;
	for (size_t i = first; i < lx->s->n_tok; i++) {
		lx->s->tok[i].flags |= (uint8_t)(flags | TF_ARITH);
		if (lx->s->tok[i].kind != TOK_IDENT)
			lx->s->tok[i].flags &= (uint8_t)~TF_VAR;
	}
}

/* `((` stands at pos: the whole arithmetic up to `))`. */
static void
lex_arith(struct lexer *lx)
{
	size_t p = lx->pos + 2;
	int level = 0;

	add(lx, TOK_OP, 1, 0);
	add(lx, TOK_OP, 1, 0);
	for (; p < lx->end && at(lx, p) != '\n'; p++) {
		level += at(lx, p) == '(';
		if (at(lx, p) == ')' && level-- == 0)
			break;
	}
	lex_inner(lx, p, TF_VAR);
}

/* `$` stands at pos. False: it is only a character. */
static bool
lex_expansion(struct lexer *lx)
{
	char c = at(lx, lx->pos + 1);

	if (c == '(' && at(lx, lx->pos + 2) == '(') {
		add(lx, TOK_OP, 1, 0);
		lex_arith(lx);
	} else if (c == '(') {
		add(lx, TOK_OP, 1, 0);
		add(lx, TOK_OP, 1, 0);
	} else if (c == '{') {
		add(lx, TOK_OP, 1, 0);
		add(lx, TOK_OP, 1, 0);
		if (at(lx, lx->pos) == '#' && at(lx, lx->pos + 1) != '}')
			add(lx, TOK_OP, 1, 0);
		if (name_len(lx, lx->pos) > 0)
			add(lx, at(lx, lx->pos) <= '9' ? TOK_NUMBER : TOK_IDENT,
			    name_len(lx, lx->pos), TF_VAR);
		for (int n = 2; n > 0; n--) { /* `:-` and the like */
			static const char two[] = ":- := :+ :? %% ## //";

			if (n == 2 &&
			    word_find(two, lx->s->text + lx->pos,
				lx->end - lx->pos > 2 ? 2 : 0) < 0)
				continue;
			if (n == 1 &&
			    (at(lx, lx->pos) == '\0' ||
				!strchr("%#/:-+=?@*", at(lx, lx->pos))))
				break;
			add(lx, TOK_OP, (size_t)n, 0);
			break;
		}
	} else if (c >= '0' && c <= '9') {
		add(lx, TOK_OP, 1, 0);
		add(lx, TOK_NUMBER, 1, 0);
	} else if (word_is_char(c)) {
		add(lx, TOK_OP, 1, 0);
		add(lx, TOK_IDENT, name_len(lx, lx->pos), TF_VAR);
	} else if (c != '\0' && strchr("@*#?$!", c) != NULL) {
		add(lx, TOK_OP, 2, 0);
	} else {
		return false;
	}
	return true;
}

/* Code inside double quotes, up to the bracket that closes it. */
static void
lex_nested(struct lexer *lx, char close)
{
	char open = close == ')' ? '(' : '{';
	int level = 0;

	lx->depth++;
	while (lx->pos < lx->end && !lx->full) {
		char c = at(lx, lx->pos);

		if (c == close && level-- == 0)
			break;
		level += c == open;
		if (c == '"' && close == '}')
			break;
		lex_shell(lx);
	}
	if (at(lx, lx->pos) == close)
		add(lx, TOK_OP, 1, 0);
	lx->depth--;
}

static void
lex_dquote(struct lexer *lx)
{
	size_t start = lx->pos, p = start + 1;

	for (; p < lx->end && !lx->full; p++) {
		char c = at(lx, p), next = at(lx, p + 1);

		if (c == '\\') {
			p++;
			continue;
		}
		if (c == '"') {
			p++;
			break;
		}
		if (c != '$' || lx->depth >= DEPTH_MAX ||
		    !(word_is_char(next) ||
			(next != '\0' && strchr("({@*#", next) != NULL)))
			continue;
		lex_add(lx, TOK_STRING, start, p, TF_CHUNK);
		lex_move(lx, p);
		if (!lex_expansion(lx))
			lex_move(lx, p + 1);
		else if (next == '(' && at(lx, p + 2) == '(')
			add(lx, TOK_OP, at(lx, lx->pos + 1) == ')' ? 2 : 1, 0);
		else if (next == '(' || next == '{')
			lex_nested(lx, next == '(' ? ')' : '}');
		start = lx->pos;
		p = start - 1;
	}
	if (p > lx->end)
		p = lx->end;
	lex_add(lx, TOK_STRING, start, p,
	    at(lx, start) == '"' && p - start > 1 && start == lx->pos &&
		    at(lx, p - 1) == '"'
		? 0
		: TF_CHUNK);
	lex_move(lx, p);
}

/* Does this command start awk? Its program is then code. */
static bool
in_awk(const struct lexer *lx)
{
	const struct source *s = lx->s;

	for (size_t i = s->n_tok; i-- > 0 && s->n_tok - i < 24;) {
		if (s->tok[i].kind == TOK_NEWLINE || tok_in(s, i, "| ; && ||"))
			return false;
		if (tok_in(s, i, "awk gawk mawk"))
			return true;
	}
	return false;
}

static void
lex_squote(struct lexer *lx)
{
	const char *t = lx->s->text + lx->pos + 1;
	size_t left = lx->end - lx->pos - 1, len;
	const char *hit = memchr(t, '\'', left);

	len = hit != NULL ? (size_t)(hit - t) + 2 : left + 1;
	if (hit != NULL && len > 4 && lx->depth == 0 && in_awk(lx)) {
		add(lx, TOK_STRING, 1, TF_CHUNK);
		lex_inner(lx, lx->pos + len - 2, 0);
		add(lx, TOK_STRING, 1, TF_CHUNK);
		return;
	}
	add(lx, TOK_STRING, len, hit != NULL ? 0 : TF_CHUNK);
}

/* After a newline: skip a here-document. */
static void
skip_here(struct lexer *lx)
{
	const char *t = lx->s->text, *word = t + lx->here;
	size_t n = lx->here_len, p = lx->pos;

	lx->here_len = 0;
	while (p < lx->end) {
		const char *nl = memchr(t + p, '\n', lx->end - p);
		size_t end = nl != NULL ? (size_t)(nl - t) : lx->end;
		size_t q = p;

		while (q < end && t[q] == '\t')
			q++;
		p = end < lx->end ? end + 1 : end;
		if (end - q == n && memcmp(t + q, word, n) == 0)
			break;
	}
	lex_move(lx, p);
}

static void
lex_here(struct lexer *lx)
{
	size_t p = lx->pos + 2;

	if (at(lx, p) == '-')
		p++;
	while (at(lx, p) != '\0' && strchr(" '\"\\", at(lx, p)) != NULL)
		p++;
	lx->here = p;
	lx->here_len = name_len(lx, p);
	p += lx->here_len;
	while (at(lx, p) == '\'' || at(lx, p) == '"')
		p++;
	add(lx, TOK_OP, p - lx->pos, 0);
}

static void
lex_sh_word(struct lexer *lx, bool start)
{
	struct source *s = lx->s;
	const char *t = s->text + lx->pos;
	size_t len = name_len(lx, lx->pos), digits = 0;
	enum tok_kind kind = TOK_IDENT;
	unsigned flags = 0;

	while (digits < len && t[digits] >= '0' && t[digits] <= '9')
		digits++;
	if (digits > 0) {
		len = digits;
		kind = TOK_NUMBER;
	} else if (start && word_find("true false", t, len) >= 0) {
		kind = TOK_KEYWORD;
		flags = TF_VALUE;
	} else if (start && word_find(sh_keywords, t, len) >= 0) {
		kind = TOK_KEYWORD;
	} else if (start &&
	    (at(lx, lx->pos + len) == '=' ||
		(at(lx, lx->pos + len) == '+' &&
		    at(lx, lx->pos + len + 1) == '='))) {
		flags = TF_VAR;
	} else if (s->n_tok > 0 && tok_in(s, s->n_tok - 1, "for local read") &&
	    start) {
		flags = TF_VAR;
	}
	add(lx, kind, len, flags);
}

static void
lex_sh_op(struct lexer *lx, bool start)
{
	static const char two[] = "&& || ;; >> == != += |& [[ ]] &>";
	const char *t = lx->s->text + lx->pos;
	size_t left = lx->end - lx->pos, n = 1;

	if (*t == '<' && at(lx, lx->pos + 1) == '<' &&
	    at(lx, lx->pos + 2) != '<') {
		lex_here(lx);
		return;
	}
	if (*t == '-' && start) { /* an option or a test */
		while (n < left && (t[n] == '-' || word_is_char(t[n])) &&
		    (t[n] < '0' || t[n] > '9'))
			n++;
	} else if (left >= 2 && word_find(two, t, 2) >= 0) {
		n = 2;
	}
	add(lx, TOK_OP, n, 0);
}

void
lex_shell(struct lexer *lx)
{
	struct source *s = lx->s;
	char c = at(lx, lx->pos);
	char before = lx->pos > 0 ? s->text[lx->pos - 1] : '\n';
	bool start = strchr(" \t\n;|&(){`!\"", before) != NULL;

	if (c == '\n') {
		if (s->n_tok > 0 && s->tok[s->n_tok - 1].kind != TOK_NEWLINE &&
		    !tok_in(s, s->n_tok - 1, "&& || |"))
			lex_add(lx, TOK_NEWLINE, lx->pos, lx->pos + 1, 0);
		lex_move(lx, lx->pos + 1);
		if (lx->here_len > 0)
			skip_here(lx);
	} else if (c == '\\') {
		lex_move(lx, lx->pos + 2);
	} else if ((unsigned char)c <= ' ') {
		lex_move(lx, lx->pos + 1);
	} else if (c == '#' && start) {
		const char *nl =
		    memchr(s->text + lx->pos, '\n', lx->end - lx->pos);

		lex_move(lx, nl != NULL ? (size_t)(nl - s->text) : lx->end);
	} else if (c == '\'') {
		lex_squote(lx);
	} else if (c == '"') {
		lex_dquote(lx);
	} else if (c == '$' && lex_expansion(lx)) {
		return;
	} else if (c == '(' && at(lx, lx->pos + 1) == '(' && start) {
		lex_arith(lx);
	} else if (word_is_char(c)) {
		lex_sh_word(lx, start);
	} else {
		lex_sh_op(lx, start);
	}
}
