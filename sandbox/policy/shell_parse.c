/* shell_parse.c - the grammar: lists, pipelines, compound commands. */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/shell_priv.h"

static void list(struct sh_parser *p, const char *const *stops);
static void command(struct sh_parser *p);

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

static int
ahead(const struct sh_parser *p, size_t n)
{
	return p->at + n < p->len ? (unsigned char)p->s[p->at + n] : -1;
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t';
}

static bool
is_meta(int c)
{
	return c < 0 || is_blank(c) || c == '\n' || c == ';' || c == '&' ||
	    c == '|' || c == '<' || c == '>' || c == '(' || c == ')';
}

void
sh_blanks(struct sh_parser *p)
{
	while (is_blank(sh_peek(p)))
		p->at++;
	if (sh_peek(p) == '#') {
		while (p->at < p->len && p->s[p->at] != '\n')
			p->at++;
	}
}

/* --- here-documents --------------------------------------------------------
 */

/* The end of the line at p->at, its newline not included. A backslash at its
 * end joins the next one unless all is literal. */
static size_t
line_end(const struct sh_parser *p, bool literal)
{
	size_t end = p->at, slashes;

	for (;;) {
		while (end < p->len && p->s[end] != '\n')
			end++;
		slashes = 0;
		while (end - slashes > p->at && p->s[end - slashes - 1] == '\\')
			slashes++;
		if (literal || slashes % 2 == 0 || end == p->len)
			return end;
		end++;
	}
}

static bool
is_delimiter(const struct sh_pending *h, const char *line, size_t len)
{
	while (h->tabs && len > 0 && *line == '\t') {
		line++;
		len--;
	}
	return len == h->delim_len && memcmp(line, h->delim, len) == 0;
}

static void
take_body(struct sh_parser *p, const struct sh_pending *h)
{
	size_t start = p->at, end = p->at, stop;
	struct sh_word w = { 0 };

	while (p->at < p->len) {
		end = p->at;
		stop = line_end(p, h->literal);
		p->at = stop < p->len ? stop + 1 : stop;
		if (is_delimiter(h, p->s + end, stop - end))
			break;
		end = p->at;
	}
	if (h->literal)
		w = (struct sh_word){
			.text = sh_dup(p->out, p->s + start, end - start),
			.len = end - start,
			.flags = SH_QUOTED,
		};
	else
		sh_body(p, p->s + start, end - start, &w);
	p->out->cmds[h->cmd].redirs[h->redir].target = w;
}

/* At a newline: it is consumed, and the bodies that were waiting for it. */
static void
newline(struct sh_parser *p)
{
	const size_t n = p->n_pending;

	p->at++;
	if (p->base_pending > 0) {
		sh_fail(p, "a here-document whose line ends in a substitution");
		return;
	}
	for (size_t i = 0; i < n && !p->failed; i++)
		take_body(p, &p->pending[i]);
	p->n_pending = 0;
}

void
sh_newlines(struct sh_parser *p)
{
	for (;;) {
		sh_blanks(p);
		if (p->failed || ahead(p, 0) != '\n')
			return;
		newline(p);
	}
}

/* Its quotes go, nothing in it is expanded. */
static void
delimiter(struct sh_parser *p, struct sh_pending *h)
{
	size_t start = p->at, n = 0;
	char *text;
	int c, quote = 0;

	while ((c = ahead(p, 0)) >= 0 && (quote != 0 || !is_meta(c))) {
		if (c == '$' || c == '`')
			sh_fail(p, "an odd end of a here-document");
		if (c == '\\' && quote != '\'' && ahead(p, 1) >= 0)
			p->at++;
		p->at++;
		if (quote == 0 && (c == '\'' || c == '"'))
			quote = c;
		else if (c == quote)
			quote = 0;
		if (c == '\'' || c == '"' || c == '\\')
			h->literal = true;
	}
	if (quote != 0)
		sh_fail(p, "a quote is not closed");
	if (p->at == start)
		sh_fail(p, "a here-document has no name");
	text = sh_dup(p->out, p->s + start, p->at - start);
	quote = 0;
	for (size_t i = 0; i < p->at - start; i++) {
		c = text[i];
		if (quote == 0 && (c == '\'' || c == '"'))
			quote = c;
		else if (c == quote)
			quote = 0;
		else if (c == '\\' && quote != '\'' && i + 1 < p->at - start &&
		    (quote == 0 || strchr("\\\"", text[i + 1]) != NULL))
			text[n++] = text[++i];
		else
			text[n++] = (char)c;
	}
	text[n] = '\0';
	if (memchr(text, '\n', n) != NULL)
		sh_fail(p, "a here-document with a name of several lines");
	h->delim = text;
	h->delim_len = n;
}

/* --- redirections ----------------------------------------------------------
 */

/* How long the descriptor before an operator is; SIZE_MAX: none starts here. */
static size_t
redirection_at(const struct sh_parser *p)
{
	size_t n = 0;

	if (ahead(p, 0) == '&' && ahead(p, 1) == '>')
		return 0;
	if (ahead(p, 0) == '{') {
		for (n = 1; ahead(p, n) == '_' ||
		     (ahead(p, n) >= '0' && ahead(p, n) <= '9') ||
		     ((ahead(p, n) | 32) >= 'a' && (ahead(p, n) | 32) <= 'z');
		     n++)
			continue;
		if (n == 1 || ahead(p, n++) != '}')
			return SIZE_MAX;
	} else {
		while (ahead(p, n) >= '0' && ahead(p, n) <= '9')
			n++;
	}
	if (ahead(p, n) != '<' && ahead(p, n) != '>')
		return SIZE_MAX;
	/* "<(" is a word, as is what stands before it. */
	if (ahead(p, n + 1) == '(')
		return SIZE_MAX;
	return n;
}

static const struct {
	const char *text;
	enum sh_op op;
} operators[] = {
	{ "&>>", SH_BOTH },
	{ "&>", SH_BOTH },
	{ "<<<", SH_HERESTRING },
	{ "<<-", SH_HEREDOC },
	{ "<<", SH_HEREDOC },
	{ "<&", SH_DUP },
	{ "<>", SH_RDWR },
	{ "<", SH_IN },
	{ ">>", SH_APPEND },
	{ ">&", SH_DUP },
	{ ">|", SH_OUT },
	{ ">", SH_OUT },
};

static size_t
operator_at(struct sh_parser *p)
{
	size_t len;

	for (size_t i = 0; i < nitems(operators); i++) {
		len = strlen(operators[i].text);
		if (p->len - p->at >= len &&
		    memcmp(p->s + p->at, operators[i].text, len) == 0) {
			p->at += len;
			return i;
		}
	}
	return nitems(operators);
}

/* ">&2", ">&-": a descriptor, or with a name both streams to a file. */
static bool
is_descriptor(const struct sh_word *w)
{
	size_t n = strspn(w->text, "0123456789");

	return (w->flags & SH_COMPUTED) == 0 && w->len > 0 &&
	    (n == w->len || (n + 1 == w->len && w->text[n] == '-'));
}

static void
redirection(struct sh_parser *p, size_t cmd, size_t fd_len)
{
	struct sh_cmd *c;
	struct sh_redir r = { .fd = -1 };
	struct sh_pending h = { .cmd = cmd };
	size_t i;
	bool out;

	if (fd_len > 0 && p->s[p->at] != '{' && fd_len < 6)
		r.fd = (int)strtol(p->s + p->at, NULL, 10);
	p->at += fd_len;
	i = operator_at(p);
	if (i == nitems(operators)) {
		sh_fail(p, "an operator can't be read");
		return;
	}
	r.op = operators[i].op;
	out = operators[i].text[0] == '>';
	sh_blanks(p);
	if (r.op == SH_HEREDOC) {
		h.tabs = operators[i].text[2] == '-';
		delimiter(p, &h);
		r.target.text = sh_dup(p->out, "", 0); /* until it comes */
	} else {
		sh_one_word(p, &r.target);
	}
	if (p->failed)
		return;
	if (r.op == SH_DUP && !is_descriptor(&r.target))
		r.op = out ? SH_BOTH : SH_IN;
	c = &p->out->cmds[cmd];
	c->redirs = sh_grow(p->out, c->redirs, c->n_redirs, sizeof r);
	h.redir = c->n_redirs;
	c->redirs[c->n_redirs++] = r;
	if (r.op != SH_HEREDOC)
		return;
	if (p->n_pending == nitems(p->pending))
		sh_fail(p, "too many here-documents on a line");
	else
		p->pending[p->n_pending++] = h;
}

/* --- commands --------------------------------------------------------------
 */

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
	    (struct sh_cmd){ .src = p->s + p->at, .piped = p->piped };
	return s->n++;
}

static void
end_command(struct sh_parser *p, size_t i)
{
	struct sh_cmd *c = &p->out->cmds[i];
	/* What is not closed ends with the text. */
	const char *end = p->s + (p->at < p->len ? p->at : p->len);

	while (end > c->src && (is_blank(end[-1]) || end[-1] == '\n'))
		end--;
	c->src_len = (size_t)(end - c->src);
}

/* What a compound command redirects is an act of its own. */
static void
compound_redirections(struct sh_parser *p)
{
	size_t i = 0, n;
	bool any = false;

	for (;;) {
		sh_blanks(p);
		n = redirection_at(p);
		if (p->failed || n == SIZE_MAX)
			break;
		if (!any)
			i = new_command(p);
		any = true;
		redirection(p, i, n);
	}
	if (any)
		end_command(p, i);
}

/* An unquoted word of ordinary letters, where a reserved one may be; *ret_end
 * is behind it. */
static bool
plain_word(struct sh_parser *p, char *ret, size_t size, size_t *ret_end)
{
	size_t start = p->at, n = 0;
	int c;
	bool plain = true;

	while (!is_meta(c = sh_peek(p)) && n + 1 < size) {
		if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`')
			plain = false;
		if (!plain)
			break;
		ret[n++] = (char)c;
		p->at++;
	}
	plain = plain && is_meta(c);
	ret[n] = '\0';
	*ret_end = p->at;
	p->at = start;
	return plain && n > 0;
}

static bool
is_one_of(const char *word, const char *const *list)
{
	for (; list != NULL && *list != NULL; list++) {
		if (strcmp(word, *list) == 0)
			return true;
	}
	return false;
}

static bool
at_keyword(struct sh_parser *p, const char *const *stops)
{
	char word[16];
	size_t end;

	return plain_word(p, word, sizeof word, &end) && is_one_of(word, stops);
}

static bool
take_keyword(struct sh_parser *p, const char *word)
{
	const char *const one[] = { word, NULL };
	char text[16];
	size_t end;

	if (!at_keyword(p, one))
		return false;
	(void)plain_word(p, text, sizeof text, &end);
	p->at = end;
	return true;
}

static void
expect(struct sh_parser *p, const char *word)
{
	sh_newlines(p);
	if (!p->failed && !take_keyword(p, word))
		sh_fail(p, "'%s' is missing", word);
}

static bool
is_declaration(const struct sh_cmd *c)
{
	static const char *const names[] = { "declare", "typeset", "local",
		"export", "readonly", "alias", NULL };

	return c->n_words > 0 && (c->words[0].flags & SH_COMPUTED) == 0 &&
	    is_one_of(c->words[0].text, names);
}

static bool
is_function_name(const struct sh_cmd *c)
{
	return c->n_words == 1 && c->n_assigns == 0 && c->n_redirs == 0 &&
	    (c->words[0].flags & (SH_COMPUTED | SH_QUOTED)) == 0;
}

static void
add_function(struct sh_parser *p, const char *name)
{
	struct sh_script *s = p->out;

	s->functions =
	    sh_grow(s, s->functions, s->n_functions, sizeof *s->functions);
	s->functions[s->n_functions++] = sh_dup(s, name, strlen(name));
}

static void
function_body(struct sh_parser *p)
{
	bool piped = p->piped;

	p->piped = false; /* it depends on the call, which is looked at */
	sh_newlines(p);
	command(p);
	p->piped = piped;
}

/* Behind NAME, at "(". */
static void
function_parens(struct sh_parser *p)
{
	p->at++;
	sh_blanks(p);
	if (ahead(p, 0) != ')')
		sh_fail(p, "a parenthesis stands where none can");
	else
		p->at++;
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

static void
simple(struct sh_parser *p)
{
	const size_t i = new_command(p);
	struct sh_cmd c = p->out->cmds[i];
	size_t n;

	while (!p->failed) {
		sh_blanks(p);
		if ((n = redirection_at(p)) != SIZE_MAX) {
			/* Its list is kept where its body will be put. */
			redirection(p, i, n);
			c.redirs = p->out->cmds[i].redirs;
			c.n_redirs = p->out->cmds[i].n_redirs;
		} else if (ahead(p, 0) == '(' && is_function_name(&c)) {
			function_parens(p);
			if (!p->failed)
				add_function(p, c.words[0].text);
			c.n_words = 0;
			p->out->cmds[i] = c;
			end_command(p, i);
			if (!p->failed)
				function_body(p);
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
		sh_fail(p, "a command is missing");
	else if (ahead(p, 0) == '(')
		sh_fail(p, "a parenthesis stands where none can");
}

/* --- compound commands -----------------------------------------------------
 */

static void
do_done(struct sh_parser *p)
{
	static const char *const done[] = { "done", NULL };
	static const char *const brace[] = { "}", NULL };

	sh_newlines(p);
	if (take_keyword(p, "{")) {
		list(p, brace);
		expect(p, "}");
	} else {
		expect(p, "do");
		list(p, done);
		expect(p, "done");
	}
}

static void
if_command(struct sh_parser *p)
{
	static const char *const then[] = { "then", NULL };
	static const char *const parts[] = { "elif", "else", "fi", NULL };
	static const char *const fi[] = { "fi", NULL };

	do {
		list(p, then);
		expect(p, "then");
		list(p, parts);
		sh_newlines(p);
	} while (!p->failed && take_keyword(p, "elif"));
	if (take_keyword(p, "else"))
		list(p, fi);
	expect(p, "fi");
}

static void
while_command(struct sh_parser *p)
{
	static const char *const stop[] = { "do", NULL };

	list(p, stop);
	do_done(p);
}

static void
words_of(struct sh_parser *p, struct sh_word **words, size_t *n)
{
	for (;;) {
		sh_blanks(p);
		if (p->failed || !sh_at_word(p))
			return;
		sh_word(p, SH_ARGUMENT, words, n);
	}
}

static void
for_command(struct sh_parser *p)
{
	struct sh_word name, *words = NULL;
	size_t n = 0;

	sh_blanks(p);
	if (ahead(p, 0) == '(' && ahead(p, 1) == '(') {
		p->at += 2;
		if (!sh_arith(p))
			sh_fail(p, "for (( is not closed");
	} else {
		sh_one_word(p, &name);
		sh_newlines(p);
		if (take_keyword(p, "in"))
			words_of(p, &words, &n);
	}
	sh_blanks(p);
	if (ahead(p, 0) == ';')
		p->at++;
	do_done(p);
}

static void
case_item(struct sh_parser *p)
{
	static const char *const esac[] = { "esac", NULL };
	struct sh_word w;

	if (ahead(p, 0) == '(')
		p->at++;
	for (;;) {
		sh_blanks(p);
		sh_one_word(p, &w);
		sh_blanks(p);
		if (p->failed || ahead(p, 0) != '|')
			break;
		p->at++;
	}
	if (ahead(p, 0) != ')')
		sh_fail(p, "a pattern of case is not closed");
	p->at++;
	list(p, esac);
	sh_newlines(p);
	if (ahead(p, 0) == ';' && (ahead(p, 1) == ';' || ahead(p, 1) == '&'))
		p->at += ahead(p, 1) == ';' && ahead(p, 2) == '&' ? 3 : 2;
	else if (!p->failed && !at_keyword(p, esac))
		sh_fail(p, "';;' is missing");
}

static void
case_command(struct sh_parser *p)
{
	struct sh_word w;

	sh_blanks(p);
	sh_one_word(p, &w);
	expect(p, "in");
	for (;;) {
		sh_newlines(p);
		if (p->failed || take_keyword(p, "esac"))
			return;
		case_item(p);
	}
}

static void
function_command(struct sh_parser *p)
{
	struct sh_word name = { 0 };

	sh_blanks(p);
	sh_one_word(p, &name);
	if (p->failed)
		return;
	add_function(p, name.text);
	sh_blanks(p);
	if (ahead(p, 0) == '(' && ahead(p, 1) != '(') {
		size_t start = p->at;

		p->at++;
		sh_blanks(p);
		/* else it is the body, a subshell */
		if (ahead(p, 0) == ')')
			p->at++;
		else
			p->at = start;
	}
	function_body(p);
}

static void
brace_command(struct sh_parser *p)
{
	static const char *const stop[] = { "}", NULL };

	list(p, stop);
	expect(p, "}");
}

/* A name stands before it only when a compound command follows. */
static void
coproc_command(struct sh_parser *p)
{
	static const char *const starts[] = { "{", "if", "while", "until",
		"for", "case", "select", "[[", NULL };
	char word[64];
	size_t end, start;

	sh_blanks(p);
	start = p->at;
	if (plain_word(p, word, sizeof word, &end) &&
	    !is_one_of(word, starts)) {
		p->at = end;
		sh_blanks(p);
		if (ahead(p, 0) != '(' && !at_keyword(p, starts))
			p->at = start;
	}
	command(p);
}

static const struct {
	const char *word;
	void (*read)(struct sh_parser *p);
	bool redirections; /* of it as a whole may follow */
} keywords[] = {
	{ "{", brace_command, true },
	{ "if", if_command, true },
	{ "while", while_command, true },
	{ "until", while_command, true },
	{ "for", for_command, true },
	{ "select", for_command, true },
	{ "case", case_command, true },
	{ "[[", sh_conditional, true },
	{ "function", function_command, true },
	{ "coproc", coproc_command, false },
};

/* Words that only end something. */
static const char *const closing[] = { "then", "elif", "else", "fi", "do",
	"done", "esac", "}", "in", NULL };

static void
parenthesis(struct sh_parser *p)
{
	if (ahead(p, 1) == '(') {
		p->at += 2;
		if (sh_arith(p)) {
			compound_redirections(p);
			return;
		}
		p->at -= 2;
	}
	p->at++;
	sh_list_until(p, ')');
	compound_redirections(p);
}

static void
command(struct sh_parser *p)
{
	char word[16];
	size_t end;

	if (++p->depth > SH_MAX_DEPTH) {
		sh_fail(p, "nested more than %d deep", SH_MAX_DEPTH);
		p->depth--;
		return;
	}
	sh_blanks(p);
	if (ahead(p, 0) == '(') {
		parenthesis(p);
		goto out;
	}
	if (plain_word(p, word, sizeof word, &end)) {
		for (size_t i = 0; i < nitems(keywords); i++) {
			if (strcmp(word, keywords[i].word) != 0)
				continue;
			p->at = end;
			keywords[i].read(p);
			if (keywords[i].redirections && !p->failed)
				compound_redirections(p);
			goto out;
		}
		if (is_one_of(word, closing) && strcmp(word, "in") != 0) {
			sh_fail(p, "'%s' stands where it can't", word);
			goto out;
		}
	}
	simple(p);
out:
	p->depth--;
}

/* --- lists -----------------------------------------------------------------
 */

static void
pipeline(struct sh_parser *p)
{
	const bool piped = p->piped;
	bool prefix = true;

	while (prefix && !p->failed) {
		sh_blanks(p);
		if (take_keyword(p, "time")) {
			sh_blanks(p);
			(void)take_keyword(p, "-p");
			sh_blanks(p);
			(void)take_keyword(p, "--");
			sh_blanks(p);
			/* alone it is a command */
			if (ahead(p, 0) < 0 || ahead(p, 0) == '\n' ||
			    ahead(p, 0) == ';')
				return;
		} else {
			prefix = take_keyword(p, "!");
		}
	}
	for (;;) {
		command(p);
		sh_blanks(p);
		if (p->failed || ahead(p, 0) != '|' || ahead(p, 1) == '|')
			break;
		p->at += ahead(p, 1) == '&' ? 2 : 1;
		p->piped = true;
		sh_newlines(p);
	}
	p->piped = piped;
}

static void
and_or(struct sh_parser *p)
{
	for (;;) {
		pipeline(p);
		sh_blanks(p);
		if (p->failed ||
		    !((ahead(p, 0) == '&' && ahead(p, 1) == '&') ||
			(ahead(p, 0) == '|' && ahead(p, 1) == '|')))
			return;
		p->at += 2;
		sh_newlines(p);
	}
}

/* Up to one of stops, a closing parenthesis, ";;" or the end. */
static void
list(struct sh_parser *p, const char *const *stops)
{
	int c;

	while (!p->failed) {
		sh_newlines(p);
		c = ahead(p, 0);
		if (p->failed || c < 0 || c == ')' || c == ';' ||
		    at_keyword(p, stops))
			return;
		and_or(p);
		sh_blanks(p);
		c = ahead(p, 0);
		if (c == ';' && ahead(p, 1) != ';' && ahead(p, 1) != '&')
			p->at++;
		else if (c == '&' && ahead(p, 1) != '&')
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
	list(p, NULL);
	p->depth--;
	if (p->failed)
		return;
	if (ahead(p, 0) != end) {
		if (ahead(p, 0) < 0)
			sh_fail(p, "a parenthesis is not closed");
		else
			sh_fail(p, "'%c' stands where it can't", ahead(p, 0));
		return;
	}
	if (end >= 0)
		p->at++;
}

void
sh_nested(struct sh_parser *p, const char *text, size_t len)
{
	struct sh_parser q = { .out = p->out,
		.s = text,
		.len = len,
		.depth = p->depth + 1,
		.steps = p->steps };

	if (q.depth > SH_MAX_DEPTH)
		sh_fail(&q, "nested more than %d deep", SH_MAX_DEPTH);
	if (!q.failed)
		sh_list_until(&q, -1);
	for (size_t i = 0; i < q.n_pending && !q.failed; i++)
		take_body(&q, &q.pending[i]);
	p->failed |= q.failed;
	p->steps = q.steps;
}

struct sh_script *
sh_parse(const char *text, size_t len)
{
	struct sh_script *s = xcalloc(1, sizeof *s);
	struct sh_parser p = { .out = s };

	if (len > SH_MAX_BYTES)
		sh_fail(&p, "longer than %zu bytes", SH_MAX_BYTES);
	else if (memchr(text, '\0', len) != NULL)
		sh_fail(&p, "a NUL byte is in it");
	else
		sh_nested(&p, sh_dup(s, text, len), len);
	s->steps = p.steps;
	return s;
}
