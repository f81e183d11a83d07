/*
 * judge_posix.c - commands run by /bin/sh, which is bash on one machine and a
 * plain sh on another. Some texts hold other commands for the latter:
 *
 *	ls &>f rm x     ls in the background, then "rm x" with its output in f
 *	((rm x))        two subshells
 *	[[ a && rm x ]] a command named [[, then rm
 *	$'\' ; rm x #'  the string ends at the second quote
 *	$[1;rm x]       a word, then rm
 *	time -v rm x    a program of that name
 *
 * So the text is judged again as it is read there, and the stricter verdict
 * counts. A mistake of syntax is no reason to ask then: nothing runs. Nor is
 * what is computed, but for a variable of known text: else each "[[ -n $a &&
 * $a != x ]]" would be one, in which bash runs nothing.
 */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/judge_priv.h"

/* Texts within texts double each time. */
#define POSIX_MAX 64

/* A command of arithmetic, "n > 3" or "y != 4", in two subshells: no program
 * that is known is called so. */
static bool
is_arithmetic(const struct piece *p)
{
	static const char operators[] = "=!<>+*/%&|^~?:,-";
	const struct sh_script *s = p->j->script;
	const struct sh_word *w = p->w;
	size_t digits = strspn(w->text, "0123456789");

	if (p->cmd == NULL || p->cmd->sub == 0 || s->subs[p->cmd->sub] == 0 ||
	    strchr(w->text, '/') != NULL)
		return false;
	if (w->text[digits] == '\0' || strpbrk(w->text, "=!+*%?:,~^<>") != NULL)
		return true;
	if (p->n > 1)
		return w[1].text[0] != '\0' &&
		    strspn(w[1].text, operators) == w[1].len &&
		    strcmp(w[1].text, "--") != 0;
	return p->cmd->n_redirs > 0 && wrapper_find(w->text, w, 1) == NULL &&
	    program_find(w->text, NULL) == NULL;
}

/* Words of bash's grammar: there are no programs of these names. */
static bool
is_reserved(const char *name)
{
	static const char *const words[] = { "function", "select", "coproc" };

	for (size_t i = 0; i < nitems(words); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return false;
}

/* What is assigned to it in the text, when that is known, is run. */
static void
from_variable(struct piece *p)
{
	const struct sh_script *s = p->j->script;
	const char *var = p->w->var;
	size_t i, k, n;

	n = var != NULL ? strlen(var) : 0;
	for (i = 0; n > 0 && i < s->n; i++)
		for (k = 0; k < s->cmds[i].n_assigns; k++) {
			const struct sh_word *a = &s->cmds[i].assigns[k];

			if ((a->flags & SH_COMPUTED) == 0 &&
			    strncmp(a->text, var, n) == 0 && a->text[n] == '=')
				piece_named(p, a->text + n + 1, UNSPELLED);
		}
}

bool
posix_is_none(struct piece *p)
{
	const struct sh_word *w = p->w + p->off;

	if (!p->j->posix)
		return false;
	if ((w->flags & (SH_COMPUTED | SH_GLOB)) != 0) {
		if (p->off == 0)
			from_variable(p);
		return true;
	}
	/* "[[ a && -f b ]]" */
	return w->text[0] == '-' ||
	    (p->off == 0 && (is_reserved(w->text) || is_arithmetic(p)));
}

void
judge_posix(struct judge *j, const char *text, size_t len)
{
	struct verdict *out = j->out, again = { 0 };
	const bool posix = j->posix;
	size_t i;

	if (j->n_posix++ >= POSIX_MAX) {
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN,
		    "texts in texts, too many to follow");
		return;
	}
	j->out = &again;
	j->posix = j->plain = true;
	judge_text(j, text, len);
	j->posix = posix;
	j->plain = false;
	j->out = out;
	for (i = 0; i < again.n; i++) {
		const struct part *p = &again.parts[i];

		if (p->ruling > RULING_ALLOW && p->ruling == again.ruling &&
		    p->ruling > out->ruling)
			judge_part(j, p->command, strlen(p->command), p->ruling,
			    p->rule, p->layer, p->why);
	}
	verdict_clear(&again);
}
