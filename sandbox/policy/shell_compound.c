/* shell_compound.c - if, for, case and the like. */
#include "common/compat.h"

#include "sandbox/policy/shell_priv.h"

/* --- compound commands -----------------------------------------------------
 */

static void
do_done(struct sh_parser *p)
{
	static const char *const done[] = { "done", NULL };
	static const char *const brace[] = { "}", NULL };

	sh_newlines(p);
	if (sh_take_keyword(p, "{")) {
		sh_list(p, brace);
		sh_expect(p, "}");
	} else {
		sh_expect(p, "do");
		sh_list(p, done);
		sh_expect(p, "done");
	}
}

static void
if_command(struct sh_parser *p)
{
	static const char *const then[] = { "then", NULL };
	static const char *const parts[] = { "elif", "else", "fi", NULL };
	static const char *const fi[] = { "fi", NULL };

	do {
		sh_list(p, then);
		sh_expect(p, "then");
		sh_list(p, parts);
		sh_newlines(p);
	} while (!p->failed && sh_take_keyword(p, "elif"));
	if (sh_take_keyword(p, "else"))
		sh_list(p, fi);
	sh_expect(p, "fi");
}

static void
while_command(struct sh_parser *p)
{
	static const char *const stop[] = { "do", NULL };

	sh_list(p, stop);
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
	if (sh_ahead(p, 0) == '(' && sh_ahead(p, 1) == '(' && !p->plain) {
		p->at += 2;
		if (!sh_arith(p, NULL))
			sh_fail(p, "for (( is not closed");
	} else {
		sh_one_word(p, &name);
		sh_newlines(p);
		if (sh_take_keyword(p, "in"))
			words_of(p, &words, &n);
	}
	sh_blanks(p);
	if (sh_ahead(p, 0) == ';')
		p->at++;
	do_done(p);
}

static void
case_item(struct sh_parser *p)
{
	static const char *const esac[] = { "esac", NULL };
	struct sh_word w;

	if (sh_ahead(p, 0) == '(')
		p->at++;
	for (;;) {
		sh_blanks(p);
		sh_one_word(p, &w);
		sh_blanks(p);
		if (p->failed || sh_ahead(p, 0) != '|')
			break;
		p->at++;
	}
	if (sh_ahead(p, 0) != ')')
		sh_refuse(p, "a pattern of case is not closed");
	p->at++;
	sh_list(p, esac);
	sh_newlines(p);
	if (sh_ahead(p, 0) == ';' &&
	    (sh_ahead(p, 1) == ';' || (sh_ahead(p, 1) == '&' && !p->plain)))
		p->at += sh_ahead(p, 1) == ';' && sh_ahead(p, 2) == '&' ? 3 : 2;
	else if (!p->failed && !sh_at_keyword(p, esac))
		sh_refuse(p, "';;' is missing");
}

static void
case_command(struct sh_parser *p)
{
	struct sh_word w;

	sh_blanks(p);
	sh_one_word(p, &w);
	sh_expect(p, "in");
	for (;;) {
		sh_newlines(p);
		if (p->failed || sh_take_keyword(p, "esac"))
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
	sh_add_function(p, name.text);
	sh_blanks(p);
	if (sh_ahead(p, 0) == '(' && sh_ahead(p, 1) != '(') {
		size_t start = p->at;

		p->at++;
		sh_blanks(p);
		/* else it is the body, a subshell */
		if (sh_ahead(p, 0) == ')')
			p->at++;
		else
			p->at = start;
	}
	sh_function_body(p);
}

static void
brace_command(struct sh_parser *p)
{
	static const char *const stop[] = { "}", NULL };

	sh_list(p, stop);
	sh_expect(p, "}");
}

/* A name stands before it only when a compound command follows. */
static void
coproc_command(struct sh_parser *p)
{
	static const char *const starts[] = { "{", "if", "while", "until",
		"for", "case", "select", "[[", NULL };
	const bool piped = p->piped;
	char word[64];
	size_t end, start;

	sh_blanks(p);
	start = p->at;
	/* The name of an array is no name: it may go on over blanks. */
	if (sh_plain_word(p, word, sizeof word, &end) &&
	    strchr(word, '[') == NULL && !sh_is_one_of(word, starts)) {
		p->at = end;
		sh_blanks(p);
		if (sh_ahead(p, 0) != '(' && !sh_at_keyword(p, starts))
			p->at = start;
	}
	p->piped = true;
	sh_command(p);
	p->piped = piped;
	/* Behind what may be the name, NAME[ goes on over blanks. */
	if (memchr(p->s + start, '[',
		(p->at < p->len ? p->at : p->len) - start) != NULL)
		sh_fail(p, "a bracket behind coproc");
}

static const struct {
	const char *word;
	void (*read)(struct sh_parser *p);
	bool redirections; /* of it as a whole may follow */
	bool bash;         /* a plain sh has none */
} keywords[] = {
	{ "{", brace_command, true, false },
	{ "if", if_command, true, false },
	{ "while", while_command, true, false },
	{ "until", while_command, true, false },
	{ "for", for_command, true, false },
	{ "select", for_command, true, true },
	{ "case", case_command, true, false },
	{ "[[", sh_conditional, true, true },
	{ "function", function_command, true, true },
	{ "coproc", coproc_command, false, true },
};

/* Words that only end something. */
static const char *const closing[] = { "then", "elif", "else", "fi", "do",
	"done", "esac", "}", "in", NULL };

static void
parenthesis(struct sh_parser *p)
{
	unsigned sub;

	if (sh_ahead(p, 1) == '(' && sh_bash(p)) {
		p->at += 2;
		if (sh_arith(p, NULL)) {
			sh_compound_redirections(p);
			return;
		}
		p->at -= 2;
	}
	p->at++;
	if (!p->plain && sh_joined(p, 0) && sh_peek(p) == '(')
		sh_fail(p, "a line ends within \"((\"");
	sub = sh_enter(p);
	sh_list_until(p, ')');
	p->sub = sub;
	sh_compound_redirections(p);
}

void
sh_command(struct sh_parser *p)
{
	char word[16];
	size_t end;

	if (++p->depth > SH_MAX_DEPTH) {
		sh_fail(p, "nested more than %d deep", SH_MAX_DEPTH);
		p->depth--;
		return;
	}
	sh_blanks(p);
	if (sh_ahead(p, 0) == '(') {
		parenthesis(p);
		goto out;
	}
	if (sh_plain_word(p, word, sizeof word, &end)) {
		for (size_t i = 0; i < nitems(keywords); i++) {
			if (strcmp(word, keywords[i].word) != 0 ||
			    (keywords[i].bash && !sh_bash(p)))
				continue;
			p->at = end;
			keywords[i].read(p);
			if (keywords[i].redirections && !p->failed)
				sh_compound_redirections(p);
			goto out;
		}
		if (sh_is_one_of(word, closing) && strcmp(word, "in") != 0) {
			sh_refuse(p, "a reserved word stands where it can't");
			goto out;
		}
	}
	sh_simple(p);
out:
	p->depth--;
}
