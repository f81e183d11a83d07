/* shell_parse.c - the grammar: lists, pipelines, compound commands. */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/shell_priv.h"

void
sh_fail(struct sh_parser *p, const char *fmt, ...)
{
	va_list ap;

	if (p->failed)
		return;
	p->failed = true;
	/* The first reason stays, whatever was read on. */
	if (p->out->error[0] != '\0')
		return;
	va_start(ap, fmt);
	(void)vsnprintf(p->out->error, sizeof p->out->error, fmt, ap);
	va_end(ap);
}

void
sh_refuse(struct sh_parser *p, const char *what)
{
	p->out->refused |= !p->failed && p->out->error[0] == '\0';
	sh_fail(p, "%s", what);
}

bool
sh_bash(const struct sh_parser *p)
{
	p->out->bash_only = true;
	return !p->plain;
}

void
sh_blanks(struct sh_parser *p)
{
	while (sh_is_blank(sh_peek(p)))
		p->at++;
	if (sh_peek(p) == '#') {
		while (p->at < p->len && p->s[p->at] != '\n')
			p->at++;
	}
}

/* --- commands --------------------------------------------------------------
 */

/* What is not closed ends with the text. */
static const char *
here(const struct sh_parser *p)
{
	return p->s + (p->at < p->len ? p->at : p->len);
}

static size_t
new_command(struct sh_parser *p)
{
	struct sh_script *s = p->out;

	if (s->n >= SH_MAX_COMMANDS) {
		sh_fail(p, "more than %d commands", SH_MAX_COMMANDS);
		return s->n - 1;
	}
	s->cmds = sh_grow(s, s->cmds, s->n, sizeof *s->cmds);
	s->cmds[s->n] =
	    (struct sh_cmd){ .src = here(p), .sub = p->sub, .piped = p->piped };
	return s->n++;
}

static void
end_command(struct sh_parser *p, size_t i)
{
	struct sh_cmd *c = &p->out->cmds[i];
	const char *end = here(p);

	while (end > c->src && (sh_is_blank(end[-1]) || end[-1] == '\n'))
		end--;
	c->src_len = end > c->src ? (size_t)(end - c->src) : 0;
}

/* What a compound command redirects is an act of its own. */
void
sh_compound_redirections(struct sh_parser *p)
{
	size_t i = 0, n;
	bool any = false;

	for (;;) {
		sh_blanks(p);
		n = sh_redirection_at(p);
		if (p->failed || n == SIZE_MAX)
			break;
		if (!any)
			i = new_command(p);
		any = true;
		sh_redirection(p, i, n);
	}
	if (any)
		end_command(p, i);
}

/* An unquoted word of ordinary letters, where a reserved one may be; *ret_end
 * is behind it. */
bool
sh_plain_word(struct sh_parser *p, char *ret, size_t size, size_t *ret_end)
{
	size_t start = p->at, n = 0;
	int c;
	bool plain = true;

	while (!sh_is_meta(c = sh_peek(p)) && n + 1 < size) {
		if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`')
			plain = false;
		if (!plain)
			break;
		ret[n++] = (char)c;
		p->at++;
	}
	plain = plain && sh_is_meta(c);
	ret[n] = '\0';
	*ret_end = p->at;
	p->at = start;
	return plain && n > 0;
}

bool
sh_is_one_of(const char *word, const char *const *list)
{
	for (; list != NULL && *list != NULL; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

bool
sh_at_keyword(struct sh_parser *p, const char *const *stops)
{
	char word[16];
	size_t end;

	return sh_plain_word(p, word, sizeof word, &end) &&
	    sh_is_one_of(word, stops);
}

bool
sh_take_keyword(struct sh_parser *p, const char *word)
{
	const char *const one[] = { word, NULL };
	char text[16];
	size_t end;

	if (!sh_at_keyword(p, one))
		return false;
	(void)sh_plain_word(p, text, sizeof text, &end);
	p->at = end;
	return true;
}

void
sh_expect(struct sh_parser *p, const char *word)
{
	sh_newlines(p);
	if (!p->failed && !sh_take_keyword(p, word))
		sh_refuse(p, "a reserved word is missing");
}

static bool
is_declaration(const struct sh_cmd *c)
{
	static const char *const names[] = { "declare", "typeset", "local",
		"export", "readonly", "alias", NULL };

	return c->n_words > 0 && (c->words[0].flags & SH_COMPUTED) == 0 &&
	    sh_is_one_of(c->words[0].text, names);
}

static bool
is_function_name(const struct sh_cmd *c)
{
	return c->n_words == 1 && c->n_assigns == 0 && c->n_redirs == 0 &&
	    (c->words[0].flags & (SH_COMPUTED | SH_QUOTED)) == 0;
}

void
sh_add_function(struct sh_parser *p, const char *name)
{
	struct sh_script *s = p->out;

	s->functions =
	    sh_grow(s, s->functions, s->n_functions, sizeof *s->functions);
	s->functions[s->n_functions++] = sh_dup(s, name, strlen(name));
}

void
sh_function_body(struct sh_parser *p)
{
	bool piped = p->piped;

	p->piped = false; /* it depends on the call, which is looked at */
	sh_newlines(p);
	sh_command(p);
	p->piped = piped;
}

/* Behind NAME, at "(". */
static void
function_parens(struct sh_parser *p)
{
	p->at++;
	sh_blanks(p);
	if (sh_ahead(p, 0) != ')')
		sh_refuse(p, "a parenthesis stands where none can");
	else
		p->at++;
}

/* declare evaluates the index of "a[...]=1" however it is quoted, and makes
 * variables whose values are evaluated. */
static void
look_at_declared(struct sh_parser *p, const struct sh_word *w)
{
	size_t name = strcspn(w->text, "=");

	if ((w->text[0] == '-' || w->text[0] == '+' || w->text[0] == '$') &&
	    strpbrk(w->text, "in$") != NULL)
		p->out->evaluates = true;
	if ((w->flags & (SH_QUOTED | SH_ASSIGN)) == SH_QUOTED &&
	    memchr(w->text, '[', name) != NULL &&
	    strpbrk(w->text, "$`") != NULL)
		sh_fail(p, "an index that a declaration evaluates");
}

static void
take_words(struct sh_parser *p, struct sh_cmd *c)
{
	enum sh_place place = c->n_words == 0 ? SH_PREFIX
	    : is_declaration(c)               ? SH_DECLARE
					      : SH_ARGUMENT;
	struct sh_word *words = NULL;
	size_t n = 0;

	sh_word(p, place, &words, &n);
	for (size_t i = 0; i < n; i++) {
		if (place == SH_DECLARE)
			look_at_declared(p, &words[i]);
		if (c->n_words == 0 && sh_is_assignment(&words[i])) {
			c->assigns = sh_grow(p->out, c->assigns, c->n_assigns,
			    sizeof *c->assigns);
			c->assigns[c->n_assigns++] = words[i];
		} else {
			c->words = sh_grow(
			    p->out, c->words, c->n_words, sizeof *c->words);
			c->words[c->n_words++] = words[i];
		}
	}
}

void
sh_simple(struct sh_parser *p)
{
	const size_t i = new_command(p);
	struct sh_cmd c = p->out->cmds[i];
	size_t n;

	while (!p->failed) {
		sh_blanks(p);
		if ((n = sh_redirection_at(p)) != SIZE_MAX) {
			/* Its list is kept where its body will be put. */
			sh_redirection(p, i, n);
			c.redirs = p->out->cmds[i].redirs;
			c.n_redirs = p->out->cmds[i].n_redirs;
		} else if (sh_ahead(p, 0) == '(' && is_function_name(&c)) {
			function_parens(p);
			if (!p->failed)
				sh_add_function(p, c.words[0].text);
			c.n_words = 0;
			p->out->cmds[i] = c;
			end_command(p, i);
			if (!p->failed)
				sh_function_body(p);
			return;
		} else if (sh_at_word(p)) {
			take_words(p, &c);
		} else {
			break;
		}
	}
	c.redirs = p->out->cmds[i].redirs;
	c.n_redirs = p->out->cmds[i].n_redirs;
	p->out->cmds[i] = c;
	end_command(p, i);
	if (p->failed)
		return;
	if (c.n_words + c.n_assigns + c.n_redirs == 0)
		sh_refuse(p, "a command is missing");
	else if (sh_ahead(p, 0) == '(')
		sh_refuse(p, "a parenthesis stands where none can");
}

/* --- lists -----------------------------------------------------------------
 */

/* Behind it an option, or what is more than a simple command: of a plain sh it
 * is a program. */
static bool
is_time(struct sh_parser *p)
{
	const size_t start = p->at;

	if (!sh_take_keyword(p, "time"))
		return false;
	sh_blanks(p);
	if (sh_ahead(p, 0) != '-' || sh_bash(p))
		return true;
	p->at = start;
	return false;
}

static void
pipeline(struct sh_parser *p)
{
	const bool piped = p->piped;
	bool prefix = true, pattern = false;

	while (prefix && !p->failed) {
		sh_blanks(p);
		if (is_time(p)) {
			sh_blanks(p);
			(void)sh_take_keyword(p, "-p");
			sh_blanks(p);
			(void)sh_take_keyword(p, "--");
			sh_blanks(p);
			/* alone it is a command */
			if (sh_ahead(p, 0) < 0 || sh_ahead(p, 0) == '\n' ||
			    sh_ahead(p, 0) == ';')
				return;
		} else {
			prefix = sh_take_keyword(p, "!");
			pattern |=
			    prefix && sh_ahead(p, 0) == '(' && sh_bash(p);
		}
	}
	for (;;) {
		sh_command(p);
		sh_blanks(p);
		if (p->failed || sh_ahead(p, 0) != '|' || sh_ahead(p, 1) == '|')
			break;
		p->at += sh_ahead(p, 1) == '&' && !p->plain ? 2 : 1;
		p->piped = true;
		sh_newlines(p);
	}
	p->piped = piped;
	/* What is seen counts, but with extglob it is a word and may end
	 * elsewhere. */
	if (pattern)
		sh_fail(p, "\"!(\" may be a pattern");
}

static void
and_or(struct sh_parser *p)
{
	for (;;) {
		pipeline(p);
		sh_blanks(p);
		if (p->failed ||
		    !((sh_ahead(p, 0) == '&' && sh_ahead(p, 1) == '&') ||
			(sh_ahead(p, 0) == '|' && sh_ahead(p, 1) == '|')))
			return;
		p->at += 2;
		sh_newlines(p);
	}
}

/* Up to one of stops, a closing parenthesis, ";;" or the end. */
void
sh_list(struct sh_parser *p, const char *const *stops)
{
	int c;

	while (!p->failed) {
		sh_newlines(p);
		c = sh_ahead(p, 0);
		if (p->failed || c < 0 || c == ')' || c == ';' ||
		    sh_at_keyword(p, stops))
			return;
		and_or(p);
		sh_blanks(p);
		c = sh_ahead(p, 0);
		if (c == ';' && sh_ahead(p, 1) != ';' && sh_ahead(p, 1) != '&')
			p->at++;
		else if (c == '&' && sh_ahead(p, 1) != '&')
			p->at++;
		else if (c != '\n')
			return;
	}
}

void
sh_list_until(struct sh_parser *p, int end)
{
	if (++p->depth > SH_MAX_DEPTH)
		sh_fail(p, "nested more than %d deep", SH_MAX_DEPTH);
	sh_list(p, NULL);
	p->depth--;
	if (p->failed)
		return;
	if (sh_ahead(p, 0) != end) {
		if (sh_ahead(p, 0) < 0)
			sh_refuse(p, "a parenthesis is not closed");
		else
			sh_refuse(p, "an operator stands where it can't");
		return;
	}
	if (end >= 0)
		p->at++;
}

unsigned
sh_enter(struct sh_parser *p)
{
	struct sh_script *s = p->out;
	unsigned before = p->sub;

	s->subs = sh_grow(s, s->subs, s->n_subs, sizeof *s->subs);
	s->subs[s->n_subs] = before;
	p->sub = (unsigned)s->n_subs++;
	return before;
}

void
sh_nested(struct sh_parser *p, const char *text, size_t len)
{
	struct sh_parser q = { .out = p->out,
		.s = text,
		.len = len,
		.depth = p->depth + 1,
		.piped = p->piped,
		.substituted = p->substituted,
		.sub = p->sub,
		.plain = p->plain,
		.work = p->work,
		.max_work = p->max_work };

	if (q.depth > SH_MAX_DEPTH)
		sh_fail(&q, "nested more than %d deep", SH_MAX_DEPTH);
	if (!q.failed)
		sh_list_until(&q, -1);
	for (size_t i = 0; i < q.n_pending && !q.failed; i++)
		sh_take_body(&q, &q.pending[i]);
	p->failed |= q.failed;
	p->work = q.work;
}

static struct sh_script *
parse(const char *text, size_t len, bool plain)
{
	struct sh_script *s = xcalloc(1, sizeof *s);
	struct sh_parser p = {
		.out = s, .plain = plain, .max_work = SH_MAX_WORK(len)
	};

	(void)sh_enter(&p);
	if (len > SH_MAX_BYTES)
		sh_fail(&p, "longer than %zu bytes", SH_MAX_BYTES);
	else if (memchr(text, '\0', len) != NULL)
		sh_fail(&p, "a NUL byte is in it");
	else
		sh_nested(&p, sh_dup(s, text, len), len);
	s->work = p.work;
	return s;
}

struct sh_script *
sh_parse(const char *text, size_t len)
{
	return parse(text, len, false);
}

struct sh_script *
sh_parse_plain(const char *text, size_t len)
{
	return parse(text, len, true);
}
