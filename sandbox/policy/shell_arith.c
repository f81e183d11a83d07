/*
 * shell_arith.c - arithmetic and subscripts.
 *
 * Shells expand such text as if it stood in double quotes, so that '$(x)' runs
 * x; yet where it ends is looked for with quotes that count. Quotes are taken
 * only around what means nothing to either.
 */
#include "common/compat.h"

#include "sandbox/policy/shell_priv.h"

/* 'TEXT', at the quote. */
static void
single(struct sh_parser *p, struct sh_math *m)
{
	const char *start = p->s + p->at + 1;
	const char *end = memchr(start, '\'', p->len - p->at - 1);

	if (end == NULL) {
		sh_fail(p, "a single quote is not closed");
		return;
	}
	for (; start < end; start++)
		m->odd |= strchr("$`\\\"()[]{};|&<>#\n", *start) != NULL;
	p->at = (size_t)(end + 1 - p->s);
}

void
sh_arith_step(struct sh_parser *p, struct sh_math *m)
{
	struct sh_draft d = { 0 };
	int c = sh_ahead(p, 0), next = sh_ahead(p, 1);

	m->names |= sh_is_name_start(c) || c == '$';
	if (m->quoted && strchr("'()[]{}", c) != NULL) {
		m->odd = true;
		p->at++;
	} else if (c == '\\') {
		m->odd |= next != '\n';
		p->at += next >= 0 ? 2 : 1;
	} else if (c == '\'') {
		single(p, m);
	} else if (c == '"') {
		m->quoted = !m->quoted;
		p->at++;
	} else if (c == '$' && next == '\'') {
		sh_fail(p, "$'...' in arithmetic");
	} else if (c == '$') {
		sh_dollar(p, &d, true);
	} else if (c == '`') {
		sh_backquote(p, &d, true);
	} else {
		m->brace |= c == '}';
		m->blank |= sh_is_blank(c);
		m->meta |= strchr(";|&<>\n", c) != NULL;
		p->at++;
	}
	sh_draft_clear(&d);
}

void
sh_arith_end(struct sh_parser *p, const struct sh_math *m)
{
	if (m->odd || m->quoted)
		sh_fail(p, "quotes in arithmetic");
}

/* Parentheses match for one who counts them and knows nothing but quotes: bash
 * does so in the end, and takes the text for commands when they don't. */
static bool
balanced(const char *s, size_t len)
{
	size_t depth = 0;
	bool brace = false;
	char quote = 0;

	for (size_t i = 0; i < len; i++) {
		if (quote != 0 && strchr("()`", s[i]) != NULL)
			return false;
		if (s[i] == '\\' && quote != '\'') {
			if (++i < len && strchr("()", s[i]) != NULL)
				return false;
		} else if (s[i] == quote) {
			if (brace)
				return false;
			quote = 0;
		} else if (quote == 0 && (s[i] == '\'' || s[i] == '"')) {
			quote = s[i];
		} else if (quote == '"' && (s[i] == '{' || s[i] == '}')) {
			brace = s[i] == '{';
		} else if (s[i] == '(') {
			depth++;
		} else if (s[i] == ')' && depth-- == 0) {
			return false;
		}
	}
	return depth == 0 && quote == 0;
}

/* It evaluates what variables hold, and that may hold a[$(...)]. */
bool
sh_arith(struct sh_parser *p, bool *ret_plain)
{
	const size_t start = p->at;
	struct sh_math m = { 0 };
	size_t depth = 0, back;
	int c;

	if (!sh_step(p, 0))
		return false;
	while (!p->failed && (c = sh_ahead(p, 0)) >= 0) {
		if (c == ')' && depth == 0 && !m.quoted)
			break;
		if ((c == '(' || c == ')') && !m.quoted) {
			depth += c == '(' ? 1 : (size_t)-1;
			p->at++;
		} else {
			sh_arith_step(p, &m);
		}
	}
	if (ret_plain != NULL)
		*ret_plain = !m.odd && !m.quoted;
	/* What can't be read now may hide where it ends: no other way. */
	if (p->failed)
		return false;
	if (sh_ahead(p, 0) == ')' && sh_joined(p, 1)) {
		sh_fail(p, "a line ends within \"))\"");
		return false;
	}
	if (sh_ahead(p, 0) == ')' && sh_ahead(p, 1) == ')') {
		if (sh_step(p, (p->at - start) / 16) &&
		    !balanced(p->s + start, p->at - start))
			sh_fail(p, "arithmetic, or commands");
		p->at += 2;
		p->out->evaluates |= m.names;
		sh_arith_end(p, &m);
		return true;
	}
	back = p->at - start;
	p->at = start;
	(void)sh_step(p, back);
	return false;
}

/* A subscript or $[...], from behind the bracket to behind the other. */
struct sh_math
sh_brackets(struct sh_parser *p)
{
	struct sh_math m = { 0 };
	size_t depth = 0;
	int c;

	while (!p->failed) {
		c = sh_ahead(p, 0);
		if (c < 0) {
			sh_fail(p, "a bracket is not closed");
		} else if (c == ']' && depth == 0 && !m.quoted) {
			p->at++;
			break;
		} else if ((c == '[' || c == ']') && !m.quoted) {
			depth += c == '[' ? 1 : (size_t)-1;
			p->at++;
		} else if ((c == '<' || c == '>') && sh_ahead(p, 1) == '(') {
			m.meta = true;
			sh_skim(p, false);
		} else {
			p->out->evaluates |= sh_is_name_start(c);
			sh_arith_step(p, &m);
		}
	}
	sh_arith_end(p, &m);
	return m;
}
