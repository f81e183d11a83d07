/*
 * judge_posix.c - commands run by /bin/sh, which is bash on one machine and a
 * plain sh on another. Some texts hold other commands for the latter:
 *
 *	ls &>f rm x     ls in the background, then "rm x" with its output in f
 *	((rm x))        two subshells
 *	[[ a && rm x ]] a command named [[, then rm
 *	$'\' ; rm x #'  the string ends at the second quote
 *
 * So the text is judged again as it is read there, and the stricter verdict
 * counts. What can't be parsed is no reason to ask then: it does not run.
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
	{ "((", "( (" },
	{ "))", ") )" },
	{ "[[", "\\[\\[" },
	{ "$'", "\\$'" },
};

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
