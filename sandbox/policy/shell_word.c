/*
 * shell_word.c - words and what they are made of.
 *
 * A word is built byte by byte, with a mark for each byte that stood there
 * unquoted, since only those can be braces, wildcards or a tilde.
 */
#include "common/compat.h"

#include "sandbox/policy/shell_priv.h"

/* --- words -----------------------------------------------------------------
 */

static bool
is_plain_name(const struct sh_draft *d)
{
	if (d->n == 0 || !sh_is_name_start((unsigned char)d->text[0]))
		return false;
	for (size_t i = 0; i < d->n; i++) {
		if (!d->plain[i] || !sh_is_name((unsigned char)d->text[i]))
			return false;
	}
	return true;
}

/* NAME[...] where an assignment may stand, at the bracket. bash takes all up to
 * the other one for a part of the word, but not before declare's arguments;
 * another shell never does. What they read alike is read. */
static bool
subscript(struct sh_parser *p, struct sh_draft *d, enum sh_place place)
{
	const size_t start = p->at;
	const bool evaluates = p->out->evaluates;
	struct sh_math m;
	bool assigns;
	int c;

	p->at++;
	m = sh_brackets(p);
	c = sh_ahead(p, 0);
	assigns = c == '=' || (c == '+' && sh_ahead(p, 1) == '=');
	if (m.meta || (m.blank && (!assigns || place != SH_PREFIX)))
		sh_fail(p, "a subscript of several words");
	if (sh_joined(p, 0) || (c == '+' && sh_joined(p, 1)))
		sh_fail(p, "a line ends behind a subscript");
	if (p->failed)
		return true;
	if (!assigns || place == SH_ELEMENT) {
		size_t back = p->at - start;

		p->at = start;
		p->out->evaluates = evaluates;
		(void)sh_step(p, back);
		return false;
	}
	sh_put_source(p, d, start);
	if (c == '+') {
		sh_put(d, '+', true);
		p->at++;
	}
	sh_put(d, '=', true);
	p->at++;
	d->assign = true;
	return true;
}

/* NAME=( ... ), at the parenthesis. */
static void
array(struct sh_parser *p, struct sh_draft *d)
{
	struct sh_word *words = NULL;
	size_t n = 0, start = p->at;

	p->at++;
	for (;;) {
		sh_newlines(p);
		if (p->failed || !sh_at_word(p))
			break;
		sh_word(p, SH_ELEMENT, &words, &n);
	}
	if (!p->failed && sh_ahead(p, 0) != ')')
		sh_fail(p, "an array is not closed");
	p->at++;
	d->flags |= SH_COMPUTED;
	if (!p->failed)
		sh_put_source(p, d, start);
}

/* ?(a|b) and its like, at the parenthesis, or one of a regular expression.
 * Without the option it is a mistake of syntax, and nothing runs. */
static void
extended_glob(struct sh_parser *p, struct sh_draft *d)
{
	size_t start = p->at, depth = 0;

	d->flags |= SH_GLOB | SH_COMPUTED;
	p->at++;
	while (!p->failed && (sh_ahead(p, 0) != ')' || depth > 0)) {
		if (sh_ahead(p, 0) < 0) {
			sh_fail(p, "a parenthesis is not closed");
		} else if (sh_ahead(p, 0) == '(' || sh_ahead(p, 0) == ')') {
			depth += sh_ahead(p, 0) == '(' ? 1 : (size_t)-1;
			p->at++;
		} else if ((sh_ahead(p, 0) == '<' || sh_ahead(p, 0) == '>') &&
		    sh_ahead(p, 1) == '(') {
			/* Not read as a command to find the end. */
			sh_fail(p, "a substitution in a pattern");
		} else {
			sh_skim(p, false);
		}
	}
	p->at++;
	if (!p->failed)
		sh_put_source(p, d, start);
}

static bool
ends_plain(const struct sh_draft *d, const char *chars)
{
	return d->n > 0 && d->plain[d->n - 1] &&
	    strchr(chars, d->text[d->n - 1]) != NULL;
}

static void
plain_char(struct sh_parser *p, struct sh_draft *d, int c, enum sh_place place)
{
	if (c == '=' && !d->assign &&
	    (place == SH_PREFIX || place == SH_DECLARE)) {
		bool plus = ends_plain(d, "+");

		d->n -= plus;
		d->assign = is_plain_name(d);
		d->n += plus;
	}
	sh_put(d, c, true);
	p->at++;
}

static bool
may_have_subscript(
    const struct sh_parser *p, const struct sh_draft *d, enum sh_place place)
{
	if (p->plain)
		return false;
	if (place == SH_ELEMENT)
		return d->n == 0;
	return (place == SH_PREFIX || place == SH_DECLARE) && is_plain_name(d);
}

static void
read_word(struct sh_parser *p, enum sh_place place, struct sh_draft *d)
{
	const bool piped = p->piped;
	size_t start;
	int c;

	while (!p->failed && (c = sh_peek(p)) >= 0) {
		if (c == '\\') {
			d->flags |= SH_QUOTED;
			sh_put(d, sh_ahead(p, 1) >= 0 ? sh_ahead(p, 1) : '\\',
			    false);
			p->at += sh_ahead(p, 1) >= 0 ? 2 : 1;
		} else if (c == '\'') {
			sh_single_quote(p, d);
		} else if (c == '"') {
			sh_double_quote(p, d);
		} else if (c == '$') {
			sh_dollar(p, d, false);
		} else if (c == '`') {
			sh_backquote(p, d, false);
		} else if ((c == '<' || c == '>') && sh_ahead(p, 1) == '(' &&
		    !p->plain) {
			start = p->at;
			sh_computed(p, d, NULL, 0);
			p->at += 2;
			p->piped |= c == '>'; /* what is written to it */
			sh_substitution(p);
			p->piped = piped;
			if (!p->failed)
				sh_put_source(p, d, start);
		} else if (c == '(' && d->assign && ends_plain(d, "=") &&
		    !p->plain) {
			array(p, d);
		} else if (c == '(' && ends_plain(d, "?*+@!") && !p->plain) {
			extended_glob(p, d);
		} else if (c == '(' && place == SH_REGEX) {
			extended_glob(p, d);
		} else if (c == '|' && place == SH_REGEX) {
			plain_char(p, d, c, place);
		} else if (sh_is_meta(c)) {
			break;
		} else if (c == '[' && may_have_subscript(p, d, place) &&
		    subscript(p, d, place)) {
			continue;
		} else {
			plain_char(p, d, c, place);
		}
	}
}

bool
sh_is_assignment(const struct sh_word *w)
{
	return (w->flags & SH_ASSIGN) != 0;
}

void
sh_word(
    struct sh_parser *p, enum sh_place place, struct sh_word **words, size_t *n)
{
	struct sh_draft d = { 0 };

	read_word(p, place, &d);
	/* {a[...]}>f: what is in the brackets is arithmetic. */
	if ((sh_ahead(p, 0) == '<' || sh_ahead(p, 0) == '>') && d.n > 2 &&
	    d.text[0] == '{' && d.text[d.n - 1] == '}' &&
	    memchr(d.text, '[', d.n) != NULL && !p->plain)
		sh_fail(p, "an array holds the descriptor");
	sh_expand_braces(p, &d, words, n);
	sh_draft_clear(&d);
}

void
sh_one_word(struct sh_parser *p, struct sh_word *ret)
{
	struct sh_word *words = NULL;
	size_t n = 0;

	if (!sh_at_word(p)) {
		sh_refuse(p, "a word is missing");
		return;
	}
	sh_word(p, SH_ARGUMENT, &words, &n);
	if (n != 1)
		sh_fail(p, "one word is wanted, and braces make several");
	else
		*ret = words[0];
}

/* --- [[ ]] -----------------------------------------------------------------
 */

static bool
is_word(const struct sh_word *w, const char *text)
{
	return (w->flags & (SH_QUOTED | SH_COMPUTED)) == 0 &&
	    strcmp(w->text, text) == 0;
}

void
sh_conditional(struct sh_parser *p)
{
	static const char *const arithmetic[] = { "-eq", "-ne", "-lt", "-le",
		"-gt", "-ge", "-v" };
	struct sh_word *words = NULL;
	size_t n = 0;
	bool regex = false;
	int c;

	while (!p->failed) {
		while (sh_is_blank(sh_peek(p)))
			p->at++;
		c = sh_ahead(p, 0);
		if (c == '\n') {
			sh_newline(p);
		} else if (c == '#') {
			sh_fail(p, "a comment in [[, or none");
		} else if (c < 0 || c == ';' ||
		    (c == '&' && sh_ahead(p, 1) != '&')) {
			sh_fail(p, "[[ is not closed");
		} else if (sh_at_word(p) || (regex && c == '(')) {
			n = 0;
			words = NULL;
			sh_word(p, regex ? SH_REGEX : SH_ARGUMENT, &words, &n);
			if (n == 1 && is_word(&words[0], "]]"))
				return;
			regex = n == 1 && is_word(&words[0], "=~");
			for (size_t i = 0; n == 1 && i < nitems(arithmetic);
			     i++)
				p->out->evaluates |=
				    is_word(&words[0], arithmetic[i]);
		} else {
			p->at += c == '&' ? 2 : 1;
		}
	}
}
