/* judge_ahead.c - what in a text changes what its other commands mean:
 * functions, aliases, variables; see judge.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "sandbox/policy/judge_priv.h"

/* Does anything in it run in another shell, or perhaps not at all? Quoted
 * characters count too: then a place is one of several. */
static bool
is_linear(const char *s, size_t len)
{
	static const char *const words[] = { "if", "while", "until", "for",
		"case", "select" };
	size_t i, k, n;

	for (i = 0; i < len; i++) {
		if (s[i] == '(' || s[i] == '`')
			return false;
		if (s[i] == '|' && i + 1 < len && s[i + 1] == '|')
			return false;
		if (s[i] == '&' && i + 1 < len && s[i + 1] == '&') {
			i++;
			continue;
		}
		if (s[i] == '&' && (i == 0 || s[i - 1] != '>') &&
		    (i + 1 >= len || s[i + 1] != '>'))
			return false;
		for (k = 0; k < nitems(words); k++) {
			n = strlen(words[k]);
			if (len - i > n && strncmp(s + i, words[k], n) == 0 &&
			    (i == 0 || strchr(" \t\n;", s[i - 1]) != NULL) &&
			    strchr(" \t\n", s[i + n]) != NULL)
				return false;
		}
	}
	return true;
}

/* Behind "command", "builtin" and their options. */
size_t
judge_first(const struct sh_cmd *c)
{
	size_t i = 0;

	while (i + 1 < c->n_words &&
	    (strcmp(c->words[i].text, "command") == 0 ||
		strcmp(c->words[i].text, "builtin") == 0 ||
		(i > 0 && c->words[i].text[0] == '-')))
		i++;
	return i;
}

bool
judge_calls(const struct sh_cmd *c, const char *name)
{
	return c->n_words > 0 &&
	    strcmp(c->words[judge_first(c)].text, name) == 0;
}

/* Does a group end in a way that makes it a process of its own: "} &", "} |"?
 */
static bool
leaves_group(const char *text, size_t len)
{
	size_t i, k;

	for (i = 1; i < len; i++) {
		if (text[i] != '}' || strchr(" \t\n;}", text[i - 1]) == NULL)
			continue;
		for (k = i + 1; k < len && strchr(";\n}", text[k]) == NULL;
		     k++) {
			if (text[k] == '|')
				return true;
			if (text[k] != '&' || strchr("<>", text[k - 1]) != NULL)
				continue;
			if (k + 1 >= len || strchr("&>", text[k + 1]) == NULL)
				return true;
			k++;
		}
	}
	return false;
}

/* A call of a function is one only where the definition has been run: not in a
 * subshell or another function, under no condition, and nothing has taken it
 * back. */
static bool
functions_hold(const struct sh_script *s, const char *text, size_t len)
{
	size_t i, last = 0, n = 0, depth = 0;
	bool hold;
	char *plain;

	for (i = 0; i < s->n; i++)
		if (judge_calls(&s->cmds[i], "unset") ||
		    judge_calls(&s->cmds[i], "alias"))
			return false;
	for (i = 0; i + 1 < len; i++) {
		bool begins = (text[i] == '(' && text[i + 1] == ')') ||
		    (len - i > 9 && strncmp(text + i, "function ", 9) == 0);

		if (text[i] == '{')
			depth++;
		if (text[i] == '}' && depth > 0)
			depth--;
		if (begins && depth > 0)
			return false;
		if (begins)
			last = i;
	}
	plain = xmalloc(last + 1);
	for (i = 0; i < last; i++) {
		if (text[i] == '(' && text[i + 1] == ')')
			i++;
		else
			plain[n++] = text[i];
	}
	hold = is_linear(plain, n) && memchr(plain, '|', n) == NULL &&
	    memmem(plain, n, "&&", 2) == NULL && !leaves_group(text, len);
	free(plain);
	return hold;
}

/* Where the command is in the text, which was read from a copy; NULL: in none
 * of its own. A command like the first may stand before that in a comment: then
 * the place is too early. */
static const char *
place_of(const struct judge *j, const char *src, size_t len)
{
	const struct sh_cmd *first = &j->script->cmds[0];
	const size_t n = strlen(j->text);
	const char *begin;
	uintptr_t at;

	begin = memmem(j->text, n, first->src, first->src_len);
	if (begin == NULL)
		return NULL;
	at = (uintptr_t)src - (uintptr_t)first->src +
	    (uintptr_t)(begin - j->text);
	if (at > n || len > n - at || memcmp(j->text + at, src, len) != 0)
		return NULL;
	return j->text + at;
}

/* Only behind its definition, too. */
bool
judge_defined(
    struct judge *j, const char *name, const char *src, size_t src_len)
{
	const size_t len = strlen(name);
	const char *p = j->text, *at;

	if (!j->functions_hold || p == NULL || !judge_spend(j, strlen(p)) ||
	    (at = place_of(j, src, src_len)) == NULL)
		return false;
	for (; (p = strstr(p, name)) != NULL && p < at; p += len) {
		const char *s = p + len + strspn(p + len, " \t");

		if (p > j->text && strchr(" \t\n;{}", p[-1]) == NULL)
			continue;
		if (*s == '(' ||
		    (p - j->text >= 9 && strncmp(p - 9, "function ", 9) == 0))
			return true;
	}
	return false;
}

/* Variables that "~" and "cd" go by; bash may index an array with them. */
void
judge_set(struct judge *j, const char *name, size_t len)
{
	j->home_unknown |= len == 4 && strncmp(name, "HOME", len) == 0;
	j->pwd_unknown |= len == 3 && strncmp(name, "PWD", len) == 0;
	j->cd_unknown |= len == 6 && strncmp(name, "CDPATH", len) == 0;
}

static void
taint_by_name(struct judge *j, const char *name, size_t len)
{
	judge_set(j, name, len);
	if (len > 0 && name_is_dangerous(name, len))
		j->tainted = judge_keep(j, xstrndup(name, len));
}

/* "for NAME", "select NAME", "${NAME:=...}": set without an assignment. */
static void
look_for_names(struct judge *j, const char *text, size_t len)
{
	static const char *const before[] = { "for ", "select ", "${" };
	const char *p, *end = text + len;
	size_t i, n;

	for (i = 0; i < nitems(before); i++)
		for (p = text; (p = memmem(p, (size_t)(end - p), before[i],
				    strlen(before[i]))) != NULL;) {
			p += strlen(before[i]);
			for (n = 0; p + n < end &&
			     (p[n] == '_' || (p[n] >= 'A' && p[n] <= 'Z'));)
				n++;
			if (i < 2 ||
			    ((size_t)(end - p) > n + 1 &&
				(p[n] == '=' ||
				    (p[n] == ':' && p[n + 1] == '='))))
				taint_by_name(j, p, n);
		}
}

/* exec, perhaps behind "command" or "builtin". */
static bool
is_exec(const struct sh_cmd *c)
{
	size_t i;

	for (i = 0; i < c->n_words && i < 4; i++)
		if (strcmp(c->words[i].text, "exec") == 0)
			return true;
	return false;
}

/* Assignments outlast their command, wherever they stand. */
static void
assignments(struct judge *j)
{
	static const char *const declare[] = { "export", "declare", "typeset",
		"readonly", "local" };
	static const char *const setters[] = { "read", "mapfile", "readarray",
		"printf", "getopts" };
	const struct sh_script *s = j->script;
	char name[64];
	size_t i, k, m;

	for (i = 0; i < s->n; i++) {
		const struct sh_cmd *c = &s->cmds[i];
		const struct sh_word *w = c->assigns;
		size_t n = c->n_assigns;

		/* Of a group, of "exec", or of what may call a function: the
		 * commands inside have it too. */
		if (c->n_words == 0 || s->n_functions > 0 || is_exec(c)) {
			struct piece p = { .j = j, .cmd = c };

			j->fed |= piece_has_input(&p);
		}
		for (m = 0; m < nitems(setters); m++)
			if (judge_calls(c, setters[m]))
				for (k = 1; k < c->n_words; k++)
					taint_by_name(j, c->words[k].text,
					    c->words[k].len);
		for (m = 0; m < nitems(declare); m++)
			if (judge_calls(c, declare[m])) {
				w = c->words + 1;
				n = c->n_words - 1;
				break;
			}
		if (c->n_words > 0 && w == c->assigns)
			continue; /* before a command: for that alone */
		for (k = 0; k < n; k++) {
			judge_set(j, w[k].text, strcspn(w[k].text, "=+["));
			if (assign_is_dangerous(w[k].text, name, sizeof name)) {
				j->tainted = judge_keep(j, xstrdup(name));
				assign_for_all(j, c, &w[k]);
			}
		}
	}
}

/* --- names for commands --------------------------------------------------- */

void
judge_vague(struct judge *j, const char *src, size_t len, const char *why)
{
	const struct rules *r = j->rules;

	if (j->only_known)
		return;
	if (r->blocks_commands || r->blocks_edits || r->blocks_reads ||
	    r->def.ruling != RULING_ALLOW)
		judge_part(j, src, len, RULING_ASK, NULL, LAYER_BUILTIN, why);
}

static bool
ends_word(char c)
{
	return c == '\0' || strchr(" \t\n;&|()<>'\"`\\$", c) != NULL;
}

/* Is it a word anywhere in the text, other than where it is defined? A word may
 * go on behind the end of a line. */
static bool
is_used(struct judge *j, const char *text, const char *name, size_t len)
{
	char *plain, *to;
	const char *s;
	bool used = false;

	if (!judge_spend(j, strlen(text)))
		return true;
	plain = to = xstrdup(text);
	for (s = plain; *s != '\0'; s++)
		if (s[0] == '\\' && s[1] == '\n')
			s++;
		else
			*to++ = *s;
	*to = '\0';
	for (s = plain; !used && (s = strstr(s, name)) != NULL; s++)
		used = (s == plain || ends_word(s[-1])) && ends_word(s[len]);
	free(plain);
	return used;
}

void
judge_alias(struct piece *p, const struct sh_word *w)
{
	const char *eq = strchr(w->text, '=');
	char *name;
	bool used;

	if (w->text[0] == '-' || (eq == NULL && (w->flags & SH_COMPUTED) == 0))
		return;
	if (eq == NULL || (w->flags & (SH_COMPUTED | SH_GLOB)) != 0) {
		judge_vague(p->j, p->src, p->src_len,
		    "a new name for a command that is computed");
		return;
	}
	name = xstrndup(w->text, (size_t)(eq - w->text));
	used = name[0] == '\0' ||
	    is_used(p->j, p->j->text, name, strlen(name)) ||
	    is_used(p->j, p->j->whole, name, strlen(name));
	free(name);
	if (used)
		judge_vague(p->j, p->src, p->src_len,
		    "a new name for a command, which the text may use");
}

/* --- all of it ------------------------------------------------------------ */

void
judge_ahead(struct judge *j, const char *text, size_t len)
{
	const struct sh_script *s = j->script;

	j->linear = is_linear(text, len);
	/* By whichever option it is set. */
	j->cd_unknown |= memmem(text, len, "cdable", 6) != NULL ||
	    memmem(text, len, "CDPATH", 6) != NULL;
	if (memmem(text, len, "BASH_ALIASES", 12) != NULL ||
	    memmem(text, len, "BASH_CMDS", 9) != NULL)
		judge_vague(j, text, len, "new names for commands");
	look_for_names(j, text, len);
	j->functions_hold = s->n_functions > 0 && functions_hold(s, text, len);
	assignments(j);
	judge_evaluated(j, text, len);
}
