/*
 * judge_posix.c - commands run by /bin/sh, which is bash on one machine and a
 * plain sh on another. Some texts hold other commands for the latter:
 *
 *	ls &>f rm x     ls in the background, then "rm x" with its output in f
 *	((rm x))        two subshells
 *	[[ a && rm x ]] a command named [[, then rm
 *	$'\' ; rm x #'  the string ends at the second quote
 *	time -v rm x    a program of that name
 *
 * So the text is judged again as it is read there, and the stricter verdict
 * counts. What can't be parsed is no reason to ask then: it does not run. Nor
 * is what is computed, but for a variable of known text: else each "[[ -n $a &&
 * $a != x ]]" would be one, in which bash runs nothing.
 */
#include "common/compat.h"

#include "common/log.h"
#include "sandbox/policy/judge_priv.h"

/* Texts within texts double each time. */
#define POSIX_MAX 32

static const struct {
	const char *bash, *posix;
} rows[] = {
	{ "&>", "& >" },
	{ "((", "( ( " },
	{ "))", ") ) " },
	{ "[[", "\\[\\[" },
	{ "$'", "\\$'" },
};

/* "time" with an option. */
static bool
is_time(const char *text, size_t len, size_t i)
{
	static const char word[] = "time";
	size_t n = strlen(word);

	if (len - i <= n + 1 || strncmp(text + i, word, n) != 0 ||
	    (i > 0 && strchr(" \t\n;&|(){!", text[i - 1]) == NULL))
		return false;
	for (i += n; i < len && (text[i] == ' ' || text[i] == '\t'); i++)
		n++;
	return n > strlen(word) && i < len && text[i] == '-';
}

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
	return w->text[0] == '-' || (p->off == 0 && is_arithmetic(p));
}

/* The same with its operators spelled as a plain sh takes them; NULL: nothing
 * in it is another. In a quoted string the change is one of its characters. */
static char *
respell(const char *text, size_t len)
{
	bool other = false;
	size_t i = 0, k;
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	while (i < len) {
		if (is_time(text, len, i)) {
			(void)buf_addc(&b, '\\');
			(void)buf_addc(&b, text[i++]);
			other = true;
			continue;
		}
		for (k = 0; k < nitems(rows); k++)
			if (len - i >= 2 &&
			    strncmp(text + i, rows[k].bash, 2) == 0)
				break;
		/* "$((" is arithmetic everywhere. */
		if (text[i] == '(' && i > 0 && text[i - 1] == '$')
			k = nitems(rows);
		if (k == nitems(rows)) {
			(void)buf_addc(&b, text[i++]);
			continue;
		}
		/* A closing pair alone is nothing new. */
		other |= text[i] != ')';
		(void)buf_adds(&b, rows[k].posix);
		i += 2;
	}
	if (!other) {
		buf_clear(&b);
		return NULL;
	}
	return buf_detach(&b, NULL);
}

void
judge_posix(struct judge *j, const char *text, size_t len)
{
	struct verdict *out = j->out, again = { 0 };
	bool posix = j->posix;
	char *plain;
	size_t i;

	if (posix || (plain = respell(text, len)) == NULL)
		return;
	if (j->n_posix++ >= POSIX_MAX) {
		free(plain);
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN,
		    "texts in texts, too many to follow");
		return;
	}
	j->out = &again;
	j->posix = true;
	judge_text(j, plain, strlen(plain));
	j->posix = posix;
	j->out = out;
	for (i = 0; i < again.n; i++) {
		const struct part *p = &again.parts[i];

		if (p->ruling > RULING_ALLOW && p->ruling == again.ruling &&
		    p->ruling > out->ruling)
			judge_part(j, p->command, strlen(p->command), p->ruling,
			    p->rule, p->layer, p->why);
	}
	verdict_clear(&again);
	free(plain);
}
