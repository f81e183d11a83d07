/* judge_evaluated.c - text that the shell runs though no command says so: what
 * a variable holds where it is arithmetic, a name, a prompt or a list of words;
 * see judge.h. Source: the reference manual of bash 5. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

static bool
is_one_of(const char *s, size_t len, const char *const *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strlen(list[i]) == len && strncmp(list[i], s, len) == 0)
			return true;
	return false;
}

static bool
has_command(const char *s)
{
	return strstr(s, "$(") != NULL || strchr(s, '`') != NULL;
}

/* Behind the substitution that begins at s. */
static const char *
behind(const char *s, const char *end)
{
	size_t depth = 0;
	char quote;

	if (*s == '`') {
		for (s++; s < end && *s != '`'; s++)
			s += *s == '\\' && s + 1 < end;
		return s < end ? s + 1 : end;
	}
	for (s++; s < end; s++) {
		if (*s == '\\' && s + 1 < end) {
			s++;
		} else if (*s == '\'' || *s == '"') {
			quote = *s;
			for (s++; s < end && *s != quote; s++)
				s += *s == '\\' && quote == '"' && s + 1 < end;
		} else if (*s == '(') {
			depth++;
		} else if (*s == ')' && --depth == 0) {
			return s + 1;
		}
	}
	return end;
}

/* Is there a substitution that quotes keep from being one? As it is written. */
static bool
is_kept(const char *s, size_t len)
{
	const char *end = s + len, *close;
	bool quoted = false;

	while (s < end) {
		if (*s == '\\' && s + 1 < end) {
			if (s[1] == '`' ||
			    (s[1] == '$' && s + 2 < end && s[2] == '('))
				return true;
			s += 2;
		} else if (*s == '\'' && !quoted) {
			close = memchr(s + 1, '\'', (size_t)(end - s - 1));
			close = close != NULL ? close : end;
			if (memmem(s, (size_t)(close - s), "$(", 2) != NULL ||
			    memchr(s, '`', (size_t)(close - s)) != NULL)
				return true;
			s = close < end ? close + 1 : end;
		} else if (*s == '`' ||
		    (*s == '$' && s + 1 < end && s[1] == '(')) {
			s = behind(s, end);
		} else {
			quoted ^= *s == '"';
			s++;
		}
	}
	return false;
}

/* A command, and what is_kept() says of it, once it was asked. */
struct asked {
	struct judge *j;
	const struct sh_cmd *cmd;
	bool known, kept;
};

/* Does it hold the text of a command? */
static bool
holds(struct asked *a, const struct sh_word *w)
{
	const struct sh_cmd *c = a->cmd;

	if (!has_command(w->text))
		return false;
	if ((w->flags & SH_COMPUTED) == 0)
		return true;
	if (!a->known)
		a->kept = !judge_spend(a->j, c->src_len) ||
		    is_kept(c->src, c->src_len);
	a->known = true;
	return a->kept;
}

static bool
is_declaration(const struct sh_cmd *c)
{
	static const char *const names[] = { "declare", "typeset", "local",
		"export", "readonly" };
	const char *s;

	if (c->n_words == 0)
		return false;
	s = c->words[judge_first(c)].text;
	return is_one_of(s, strlen(s), names, nitems(names));
}

static bool
has_option(const struct sh_cmd *c, const char *letters)
{
	size_t i;

	for (i = judge_first(c) + 1; i < c->n_words; i++)
		if (strchr("-+", c->words[i].text[0]) != NULL &&
		    strpbrk(c->words[i].text, letters) != NULL)
			return true;
	return false;
}

/* A command that takes names, or what they hold, as arithmetic. */
static bool
evaluates(const struct sh_cmd *c)
{
	static const struct {
		const char *name, *options; /* NULL: any */
	} rows[] = { { "[", "v" }, { "[[", "v" }, { "getopts", NULL },
		{ "let", NULL }, { "printf", "v" }, { "test", "v" },
		{ "wait", "p" } };
	static const char *const takers[] = { "read", "mapfile", "readarray",
		"unset" };
	size_t i;

	if (c->n_words == 0)
		return false;
	if (is_declaration(c) && has_option(c, "inaA"))
		return true;
	for (i = 0; i < nitems(rows); i++)
		if (judge_calls(c, rows[i].name))
			return rows[i].options == NULL ||
			    has_option(c, rows[i].options);
	for (i = 0; i < nitems(takers); i++)
		if (judge_calls(c, takers[i]))
			break;
	for (; i < nitems(takers) && c->n_words > 1; i = nitems(takers))
		for (size_t k = 1; k < c->n_words; k++)
			if (strchr(c->words[k].text, '[') != NULL)
				return true;
	return false;
}

/* NAME[... $(...) ...] */
static bool
is_indexed(const struct sh_word *w)
{
	const char *s = w->text, *last = strrchr(s, '`'), *p;

	if ((w->flags & SH_COMPUTED) != 0)
		return false;
	for (p = s; (p = strstr(p, "$(")) != NULL; p++)
		last = last == NULL || p > last ? p : last;
	for (; last != NULL && (s = strchr(s, '[')) != NULL && s < last; s++)
		if (s > w->text &&
		    (s[-1] == '_' || (s[-1] >= '0' && s[-1] <= '9') ||
			(s[-1] >= 'A' && s[-1] <= 'Z') ||
			(s[-1] >= 'a' && s[-1] <= 'z')))
			return true;
	return false;
}

/* Of a command in a text that evaluates something. */
static void
literals(struct judge *j, const struct sh_cmd *c)
{
	size_t i;

	for (i = 0; i < c->n_words; i++)
		if (is_indexed(&c->words[i]))
			break;
	if (i < c->n_words) {
		judge_vague(j, c->src, c->src_len,
		    "arithmetic may run the command in an index");
		return;
	}
	for (i = 0; i < c->n_redirs; i++)
		if ((c->redirs[i].op == SH_HEREDOC ||
			c->redirs[i].op == SH_HERESTRING) &&
		    is_indexed(&c->redirs[i].target)) {
			judge_vague(j, c->src, c->src_len,
			    "arithmetic may run the command in its input");
			return;
		}
}

/* An assignment, of whatever command. */
static void
assigned(struct asked *a, const struct sh_word *w)
{
	static const char *const numbers[] = { "RANDOM", "SRANDOM", "OPTIND",
		"HISTCMD", "SECONDS", "LINENO", "EPOCHSECONDS", "BASHPID",
		"BASH_ARGV0", "HISTSIZE", "HISTFILESIZE", "TMOUT" };
	static const char *const prompts[] = { "PS0", "PS1", "PS2", "PS3",
		"PS4", "PROMPT_COMMAND", "ENV", "BASH_ENV", "MAILPATH" };
	const struct sh_cmd *c = a->cmd;
	struct judge *j = a->j;
	const char *s = w->text;
	size_t n = strcspn(s, "=+[");

	if (strchr(s, '=') == NULL || !holds(a, w))
		return;
	if (is_one_of(s, n, prompts, nitems(prompts)) ||
	    is_one_of(s, n, numbers, nitems(numbers)))
		judge_vague(j, c->src, c->src_len,
		    "the shell may run what the variable holds");
	else if (is_declaration(c) && strstr(s, "=(") != NULL)
		judge_vague(j, c->src, c->src_len,
		    "the shell runs what the list holds");
}

static bool
is_assigning(const struct sh_cmd *c, const struct sh_word *w)
{
	return (w->flags & SH_ASSIGN) != 0 ||
	    (is_declaration(c) && strchr(w->text, '=') != NULL);
}

static const struct sh_word *
word_of(const struct sh_cmd *c, size_t k)
{
	return k < c->n_assigns ? &c->assigns[k] : &c->words[k - c->n_assigns];
}

/* A variable that holds a command, and what runs it, in whichever order and in
 * whichever of the texts. */
static void
both(struct judge *j, const struct sh_cmd *c, bool arithmetic)
{
	static const char why[] =
	    "the variable holds a command that arithmetic "
	    "elsewhere in the text may run";

	if (arithmetic)
		judge_part(j, c->src, c->src_len, RULING_ASK, NULL,
		    LAYER_BUILTIN, why);
	else
		judge_vague(j, c->src, c->src_len, why);
}

void
judge_evaluated(struct judge *j, const char *text, size_t len)
{
	const struct sh_script *s = j->script;
	const struct sh_cmd *holder = NULL;
	size_t i, k;

	/* "[[ 'a[$(x)]' -eq 1 ]]": no variable is needed. */
	if (s->evaluates &&
	    (memmem(text, len, "[$(", 3) != NULL ||
		memmem(text, len, "[`", 2) != NULL)) {
		judge_part(j, text, len, RULING_ASK, NULL, LAYER_BUILTIN,
		    "arithmetic may run the command in an index");
		return;
	}
	if (memmem(text, len, "@P}", 3) != NULL)
		judge_vague(j, text, len,
		    "the shell runs what is in a variable: ${...@P}");
	j->evaluates |= s->evaluates || memmem(text, len, "${!", 3) != NULL;
	for (i = 0; i < s->n; i++) {
		const struct sh_cmd *c = &s->cmds[i];
		struct asked a = { .j = j, .cmd = c };
		const bool before = j->evaluates;

		j->evaluates |= evaluates(c);
		if (is_declaration(c) && has_option(c, "n")) {
			j->home_unknown |= memmem(text, len, "HOME", 4) != NULL;
			j->pwd_unknown |= memmem(text, len, "PWD", 3) != NULL;
		}
		if (j->evaluates && !before && j->holds && holder == NULL)
			both(j, c, false);
		for (k = 0; k < c->n_assigns + c->n_words; k++) {
			const struct sh_word *w = word_of(c, k);

			assigned(&a, w);
			j->cd_unknown |= strcmp(w->text, "cdable_vars") == 0;
			if (holder == NULL && is_assigning(c, w) &&
			    holds(&a, w))
				holder = c;
		}
	}
	/* Also of a loop, which is no command. */
	if (j->evaluates &&
	    (memmem(text, len, "[$(", 3) != NULL ||
		memmem(text, len, "[`", 2) != NULL))
		judge_vague(
		    j, text, len, "arithmetic may run the command in an index");
	for (i = 0; j->evaluates && i < s->n; i++)
		literals(j, &s->cmds[i]);
	if (holder != NULL && j->evaluates)
		both(j, holder, s->evaluates);
	else if (j->holds && s->evaluates && s->n > 0)
		both(j, &s->cmds[0], false);
	j->holds |= holder != NULL;
}

/* --- the history ---------------------------------------------------------- */

void
judge_history(struct judge *j, const struct sh_cmd *c)
{
	static const char name[] = "HISTFILE=";
	size_t k;

	for (k = 0; k < c->n_assigns + c->n_words; k++) {
		const struct sh_word *w = word_of(c, k);

		if (!text_starts(w->text, name))
			continue;
		j->history = *w;
		j->history.text = (char *)(uintptr_t)judge_keep(
		    j, xstrdup(w->text + strlen(name)));
		j->history.len = strlen(j->history.text);
		j->history.var = NULL;
		judge_write(j, &j->history, c->src, c->src_len);
		judge_read(j, &j->history, c->src, c->src_len);
	}
}

bool
special_history(const struct call *c)
{
	struct judge *j = c->p->j;

	if (j->history.text != NULL) {
		judge_write(j, &j->history, c->p->src, c->p->src_len);
		judge_read(j, &j->history, c->p->src, c->p->src_len);
	}
	return false;
}

/* It runs what is in the history, unless it lists that. */
bool
special_fc(const struct call *c)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		if (c->w[i].text[0] == '-' && strchr(c->w[i].text, 'l') != NULL)
			return special_history(c);
	piece_found(c->p, FIND_ASK, c->p->off, "%s, which runs what it finds,",
	    c->name);
	return false;
}

/* --- words to complete ---------------------------------------------------- */

bool
special_complete(const struct call *c)
{
	size_t i;

	for (i = 1; i < c->n; i++)
		if ((c->w[i].flags & SH_COMPUTED) != 0
			? text_starts(c->w[i - 1].text, "-W") ||
			    text_starts(c->w[i].text, "-W")
			: has_command(c->w[i].text))
			piece_found(c->p, FIND_OPAQUE, call_place(c, i),
			    "words for %s that hold a command", c->name);
	return false;
}
