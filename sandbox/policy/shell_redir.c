/* shell_redir.c - redirections and here-documents. */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/shell_priv.h"

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

/* Does bash end the body in a way that other shells don't? At a line that is
 * the delimiter once its parts are joined; within "$(", at one that begins with
 * it and has the closing parenthesis somewhere behind. */
static bool
ends_oddly(const struct sh_parser *p, const struct sh_pending *h,
    const char *line, size_t len)
{
	size_t n = 0;
	char *joined = xmalloc(len + 1), *at = joined;
	bool odd;

	for (size_t i = 0; i < len; i++) {
		if (!h->literal && line[i] == '\\' && i + 1 < len) {
			if (line[++i] == '\n')
				continue;
			joined[n++] = '\\';
		}
		joined[n++] = line[i];
	}
	odd = n < len && is_delimiter(h, joined, n);
	while (h->tabs && n > 0 && *at == '\t') {
		at++;
		n--;
	}
	odd |= p->substituted && n > h->delim_len &&
	    memcmp(at, h->delim, h->delim_len) == 0 &&
	    memchr(at + h->delim_len, ')', n - h->delim_len) != NULL;
	free(joined);
	return odd;
}

void
sh_take_body(struct sh_parser *p, const struct sh_pending *h)
{
	size_t start = p->at, end = p->at, stop;
	const unsigned sub = p->sub;
	struct sh_word w = { 0 };

	p->sub = h->sub;

	while (p->at < p->len) {
		end = p->at;
		stop = line_end(p, h->literal);
		p->at = stop < p->len ? stop + 1 : stop;
		if (is_delimiter(h, p->s + end, stop - end))
			break;
		if (ends_oddly(p, h, p->s + end, stop - end))
			sh_fail(p, "a here-document that may end early");
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
	p->sub = sub;
}

/* At a newline: it is consumed, and the bodies that were waiting for it. */
void
sh_newline(struct sh_parser *p)
{
	const size_t n = p->n_pending;

	p->at++;
	if (p->base_pending > 0) {
		sh_fail(p, "a here-document whose line ends in a substitution");
		return;
	}
	for (size_t i = 0; i < n && !p->failed; i++)
		sh_take_body(p, &p->pending[i]);
	p->n_pending = 0;
}

void
sh_newlines(struct sh_parser *p)
{
	for (;;) {
		sh_blanks(p);
		if (p->failed || sh_ahead(p, 0) != '\n')
			return;
		sh_newline(p);
	}
}

/* Its quotes go, nothing in it is expanded. */
static void
delimiter(struct sh_parser *p, struct sh_pending *h)
{
	size_t start = p->at, n = 0;
	char *text;
	int c, quote = 0;

	while ((c = sh_ahead(p, 0)) >= 0 && (quote != 0 || !sh_is_meta(c))) {
		if (c == '$' || c == '`')
			sh_fail(p, "an odd end of a here-document");
		if (c == '\\' && quote != '\'' && sh_ahead(p, 1) >= 0)
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
size_t
sh_redirection_at(const struct sh_parser *p)
{
	size_t n = 0;

	if (sh_ahead(p, 0) == '&' && sh_ahead(p, 1) == '>' && sh_bash(p))
		return 0;
	if (sh_ahead(p, 0) == '{' && !p->plain) {
		for (n = 1; sh_ahead(p, n) == '_' ||
		     (sh_ahead(p, n) >= '0' && sh_ahead(p, n) <= '9') ||
		     ((sh_ahead(p, n) | 32) >= 'a' &&
			 (sh_ahead(p, n) | 32) <= 'z');
		     n++)
			continue;
		if (n == 1 || sh_ahead(p, n++) != '}')
			return SIZE_MAX;
	} else {
		while (sh_ahead(p, n) >= '0' && sh_ahead(p, n) <= '9')
			n++;
		/* More digits are a word. */
		if (n > 1 && p->plain)
			return SIZE_MAX;
	}
	if (sh_ahead(p, n) != '<' && sh_ahead(p, n) != '>')
		return SIZE_MAX;
	/* "<(" is a word, as is what stands before it. */
	if (sh_ahead(p, n + 1) == '(' && !p->plain)
		return SIZE_MAX;
	p->out->bash_only |= n > 1;
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

/* A name where a plain sh takes a descriptor alone. */
static bool
no_descriptor(const struct sh_redir *r)
{
	return r->op == SH_DUP && r->target.text != NULL &&
	    (r->target.flags & SH_COMPUTED) == 0 &&
	    strcmp(r->target.text, "-") != 0 && !is_descriptor(&r->target);
}

void
sh_redirection(struct sh_parser *p, size_t cmd, size_t fd_len)
{
	struct sh_cmd *c;
	struct sh_redir r = { .fd = -1 };
	struct sh_pending h = { .cmd = cmd, .sub = p->sub };
	size_t i;
	bool out;

	if (fd_len > 9 && p->s[p->at] != '{')
		sh_fail(p, "a descriptor of %zu digits", fd_len);
	else if (fd_len > 0)
		r.fd = p->s[p->at] == '{' ? SH_FD_NAMED
					  : (int)strtol(p->s + p->at, NULL, 10);
	p->at += fd_len;
	i = operator_at(p);
	if (i == nitems(operators)) {
		sh_fail(p, "an operator can't be read");
		return;
	}
	r.op = operators[i].op;
	if (r.op == SH_HEREDOC && sh_joined(p, 0)) /* a '-' may follow */
		sh_fail(p, "a line ends within an operator");
	out = operators[i].text[0] == '>';
	if (r.op == SH_DUP && !out && r.fd < 0)
		r.fd = 0;
	sh_blanks(p);
	if (r.op == SH_HEREDOC) {
		h.tabs = operators[i].text[2] == '-';
		delimiter(p, &h);
		r.target.text = sh_dup(p->out, "", 0); /* until it comes */
	} else {
		sh_one_word(p, &r.target);
	}
	if (p->plain && (r.op == SH_HERESTRING || no_descriptor(&r)))
		sh_refuse(p, "a redirection that a plain sh has not");
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
