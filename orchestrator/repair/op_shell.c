/* op_shell.c - what only the shell has. */
#include "common/compat.h"

#include "orchestrator/repair/gen.h"
#include "orchestrator/repair/word.h"

/* Words that may stand for each other. */
static void
twins(struct gen *g, size_t i, const char *const *groups, size_t n)
{
	const struct source *s = g->s;
	const char *w;
	size_t len;

	for (size_t k = 0; k < n; k++) {
		int at = word_find(
		    groups[k], s->text + s->tok[i].off, s->tok[i].len);
		int rank = 0;

		if (at < 0)
			continue;
		for (int m = 0; (w = word_at(groups[k], m, &len)) != NULL;
		     m++) {
			if (m != at)
				gen_put(g, i, i, rank++, "%.*s", (int)len, w);
		}
	}
}

/* Tests of files and strings. */
void
op_sh_test(struct gen *g, size_t i)
{
	static const char *const groups[] = { "-f -d -e -s -r -x -w -L",
		"-z -n" };

	if (tok_kind(g->s, i, TOK_OP) &&
	    tok_in(g->s, gen_stmt(g, i)->first,
		"[ [[ if while until elif test ! {"))
		twins(g, i, groups, nitems(groups));
}

/* Expansions, redirections, statuses. */
void
op_sh_expand(struct gen *g, size_t i)
{
	static const char *const groups[] = { "% %% # ##", "$@ $* $#", "> >>",
		":- - :+ :=", "head tail", "true false" };
	static const char uniq[] = "sort -u"; /* it sees neighbours only */
	const struct source *s = g->s;

	if (tok_kind(s, i, TOK_OP) || tok_kind(s, i, TOK_IDENT))
		twins(g, i, groups, nitems(groups));
	if (tok_is(s, i, "uniq") && tok_is(s, i - 1, "|") &&
	    !tok_flag(s, i, TF_VAR))
		gen_put(g, i, i, 0, "%s", uniq);
	/* $x without its quotes, "$x" with them. */
	if (tok_is(s, i, "$") && tok_flag(s, i + 1, TF_VAR) &&
	    tok_kind(s, i + 1, TOK_IDENT)) {
		bool before = tok_kind(s, i - 1, TOK_STRING) &&
		    tok_flag(s, i - 1, TF_CHUNK);

		if (before && tok_is(s, i - 1, "\"") && tok_is(s, i + 2, "\""))
			gen_put(g, i - 1, i + 2, 3, "%.*s", SPAN(s, i, i + 1));
		else if (!before && !tok_flag(s, i, TF_ARITH))
			gen_put(g, i, i + 1, 2, "\"%.*s\"", SPAN(s, i, i + 1));
	}
	/* $x and $1 may be meant for each other. */
	if ((tok_is(s, i, "$") ||
		(tok_is(s, i, "{") && tok_is(s, i - 1, "$"))) &&
	    tok_flag(s, i + 1, TF_VAR)) {
		for (int k = 1; k <= 3 && !tok_is(s, i + 2, "="); k++)
			gen_put(g, i + 1, i + 1, k, "%d", k);
	} else if (tok_is(s, i, "$") && tok_kind(s, i + 1, TOK_NUMBER)) {
		struct span b = gen_block(s, i);
		int n = 0;

		for (size_t j = b.a; j <= b.b && n < 6; j++) {
			if (tok_flag(s, j, TF_VAR) && tok_kind(s, j, TOK_IDENT))
				gen_put(g, i + 1, i + 1, 2 + n++, "%.*s",
				    TOK(s, j));
		}
	}
	if (tok_is(s, i, "return") && !tok_kind(s, i + 1, TOK_NUMBER)) {
		gen_after(g, i, 0, " 1");
		gen_after(g, i, 0, " 0");
	}
}

/* Options added to and changed on well known commands. */
void
op_sh_word(struct gen *g, size_t i)
{
	static const struct {
		const char *command, *options;
	} known[] = { { "sort", "-n -r -u -rn" },
		{ "grep", "-v -F -x -q -i -E -c" }, { "uniq", "-c -d" },
		{ "cut", "-s" }, { "read", "-r" }, { "wc", "-l -c" },
		{ "sed", "-n -E" }, { "cp", "-p -r" }, { "mkdir", "-p" },
		{ "rm", "-f -r" }, { "ls", "-a -1 -t -r" }, { "tr", "-d -s" },
		{ "echo", "-n" }, { "find", "-L" } };
	const struct source *s = g->s;

	if (!tok_kind(s, i, TOK_IDENT) || tok_flag(s, i, TF_VAR) ||
	    (i > 0 && s->tok[i].line == s->tok[i - 1].line &&
		!tok_in(s, i - 1, "| && || ( ! ; then do if while {")))
		return;
	for (size_t k = 0; k < nitems(known); k++) {
		const char *w;
		size_t len;

		if (!tok_is(s, i, known[k].command))
			continue;
		for (int m = 0;
		     (w = word_at(known[k].options, m, &len)) != NULL; m++) {
			gen_after(g, i, m, " %.*s", (int)len, w);
			if (tok_kind(s, i + 1, TOK_OP) &&
			    s->text[s->tok[i + 1].off] == '-')
				gen_put(
				    g, i + 1, i + 1, m, "%.*s", (int)len, w);
		}
	}
}

/* A call `$(f "$x")`: is f, at i, given one word? */
static bool
takes_one(const struct source *s, size_t i)
{
	if (i < 2 || !tok_kind(s, i, TOK_IDENT) || tok_flag(s, i, TF_VAR) ||
	    !tok_is(s, i - 1, "(") || !tok_is(s, i - 2, "$") ||
	    s->tok[i - 1].match < (int32_t)i + 1)
		return false;
	return tok_is(s, i + 1, "\"") && tok_is(s, i + 2, "$") &&
	    tok_is(s, i + 4, "\"") && s->tok[i - 1].match == (int32_t)i + 5;
}

/* "$x" -> "$(f "$x")", with f of those that are called so. */
void
op_sh_wrap(struct gen *g, size_t i)
{
	const struct source *s = g->s;
	int rank = 0;

	if (!tok_is(s, i, "$") || !tok_is(s, i - 1, "\"") ||
	    !tok_is(s, i + 2, "\"") || (i > 2 && takes_one(s, i - 2)))
		return;
	for (size_t o = 0; o < g->n_all; o++) {
		const struct source *f = g->all[o];

		if (f->dialect != DIALECT_SH)
			continue;
		for (size_t j = 0; j < f->n_tok && rank < 12 && g->budget > 0;
		     j++) {
			g->budget--;
			if (!takes_one(f, j))
				continue;
			gen_put(g, i - 1, i + 2, rank, "\"$(%.*s %.*s)\"",
			    TOK(f, j), SPAN(s, i - 1, i + 2));
			rank++;
		}
	}
}
