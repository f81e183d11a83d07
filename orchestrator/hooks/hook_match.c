/* hook_match.c - see hook_match.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/hooks/hook_match.h"
#include "sandbox/policy/rules.h"

#define MATCHER_MAX 1000
#define SHOWN 64 /* bytes of their text in an error */

/* What a name from elsewhere covers beyond rules_tool(). */
static const struct {
	const char *alias, *tool;
} more[] = {
	{ "Read", "list_dir" },
	{ "Read", "grep" },
	{ "Edit", "apply_patch" },
	{ "Edit", "try_edits" },
	{ "Write", "apply_patch" },
	{ "Write", "try_edits" },
	{ "MultiEdit", "apply_patch" },
	{ "MultiEdit", "try_edits" },
};

/* Names from elsewhere that a regular expression may mean. */
static const char *const aliases[] = { "Bash", "Shell", "Read", "LS", "Glob",
	"Grep", "Edit", "Write", "MultiEdit", "NotebookEdit", "WebFetch",
	"TodoWrite", "Skill", "Task", "Agent" };

static bool
covers(const char *alias, const char *tool)
{
	const char *own = rules_tool(alias, NULL);
	size_t i;

	if (own != NULL && strcmp(own, tool) == 0)
		return true;
	for (i = 0; i < nitems(more); i++)
		if (strcmp(more[i].alias, alias) == 0 &&
		    strcmp(more[i].tool, tool) == 0)
			return true;
	return false;
}

static void
add_name(struct hook_match *m, const char *name, bool tool)
{
	const char *own = tool ? rules_tool(name, NULL) : NULL;
	size_t i;

	strv_add(&m->names, own != NULL ? own : name);
	for (i = 0; tool && i < nitems(more); i++)
		if (strcmp(more[i].alias, name) == 0)
			strv_add(&m->names, more[i].tool);
}

/* Leftmost and longest: a match of the whole is found when there is one. */
static bool
matches_whole(const regex_t *re, const char *name)
{
	regmatch_t at;

	return regexec(re, name, 1, &at, 0) == 0 && at.rm_so == 0 &&
	    (size_t)at.rm_eo == strlen(name);
}

bool
hook_match_is(const struct hook_match *m, const char *name, bool tool)
{
	size_t i;

	if (m->all)
		return true;
	if (name == NULL || strlen(name) > HOOK_NAME_MAX)
		return false;
	if (!m->is_regex)
		return strv_has(&m->names, name);
	if (matches_whole(&m->regex, name))
		return true;
	for (i = 0; tool && i < nitems(aliases); i++)
		if (covers(aliases[i], name) &&
		    matches_whole(&m->regex, aliases[i]))
			return true;
	return false;
}

static void
split_names(struct hook_match *m, const char *s, bool tool)
{
	size_t n;
	char *name;

	for (; *s != '\0'; s += n + (s[n] == '|')) {
		n = strcspn(s, "|");
		if (n == 0)
			continue;
		name = xstrndup(s, n);
		add_name(m, name, tool);
		free(name);
	}
}

static int
compile(struct hook_match *m, const char *s, const char *where, struct err *e)
{
	char shown[SHOWN], why[128];
	int rc;

	text_escape_to(shown, sizeof shown, s, strlen(s));
	/* Counts cost memory, references back cost time, without bound. */
	if (strchr(s, '{') != NULL || strchr(s, '\\') != NULL)
		return err_set(e, ERR_SYNTAX,
		    "%s: the matcher \"%s\" has a \"{\" or a backslash: use "
		    "names joined by |, or . * + ? ( ) [ ]",
		    where, shown);
	rc = regcomp(&m->regex, s, REG_EXTENDED);
	if (rc != 0) {
		(void)regerror(rc, &m->regex, why, sizeof why);
		return err_set(e, ERR_SYNTAX,
		    "%s: the matcher \"%s\" is no regular expression: %s",
		    where, shown, why);
	}
	m->is_regex = true;
	return 0;
}

/* An alternative that is empty: "Edit|", "(|a)". */
static bool
has_empty(const char *s)
{
	size_t i;

	for (i = 0; s[i] != '\0'; i++)
		if (s[i] == '|' &&
		    (i == 0 || strchr("(|", s[i - 1]) != NULL ||
			strchr("|)", s[i + 1]) != NULL))
			return true;
	return false;
}

int
hook_match_set(struct hook_match *m, const char *s, enum hook_match_by by,
    const char *where, struct err *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-|";

	if (s == NULL || *s == '\0' || strcmp(s, "*") == 0) {
		m->all = true;
		return 0;
	}
	if (by == HOOK_MATCH_NOTHING)
		return err_set(e, ERR_SYNTAX,
		    "%s: this event has nothing that a matcher could match: "
		    "leave \"matcher\" out",
		    where);
	if (strlen(s) > MATCHER_MAX)
		return err_set(e, ERR_SYNTAX,
		    "%s: a matcher has at most %d bytes", where, MATCHER_MAX);
	if (has_empty(s))
		return err_set(e, ERR_SYNTAX,
		    "%s: the matcher \"%.*s\" names nothing before or behind a "
		    "\"|\"",
		    where, SHOWN, s);
	if (s[strspn(s, plain)] != '\0')
		return compile(m, s, where, e);
	split_names(m, s, by == HOOK_MATCH_TOOL);
	return 0;
}

/* A guard that guards nothing is worse than none. */
static int
check_tools(const struct hook_match *m, const char *where, struct err *e)
{
	const char *name;
	char shown[SHOWN];
	size_t i;

	for (i = 0; i < m->names.n; i++) {
		name = m->names.v[i];
		if (rules_tool(name, NULL) != NULL ||
		    text_starts(name, "mcp__"))
			continue;
		text_escape_to(shown, sizeof shown, name, strlen(name));
		return err_set(e, ERR_SYNTAX,
		    "%s: there is no tool \"%s\" (Bash, Read, Edit, Write, "
		    "Grep, WebFetch, or run_command, edit_file, ... as in "
		    "foray(1); upper and lower case differ)",
		    where, shown);
	}
	for (i = 0; (name = rules_tool_name(i)) != NULL; i++)
		if (hook_match_is(m, name, true) ||
		    (m->is_regex && matches_whole(&m->regex, name)))
			return 0;
	return m->names.n > 0 || hook_match_is(m, "mcp__a__b", true)
	    ? 0
	    : err_set(e, ERR_SYNTAX,
		  "%s: the matcher matches the whole name of "
		  "no tool",
		  where);
}

int
hook_match_check(const struct hook_match *m, enum hook_match_by by,
    const char *const *names, const char *where, struct err *e)
{
	char list[128] = "";
	size_t i;

	if (m->all || by == HOOK_MATCH_NOTHING)
		return 0;
	if (by == HOOK_MATCH_TOOL)
		return check_tools(m, where, e);
	for (i = 0; names != NULL && names[i] != NULL; i++) {
		if (hook_match_is(m, names[i], false))
			return 0;
		(void)strlcat(list, i > 0 ? ", " : "", sizeof list);
		(void)strlcat(list, names[i], sizeof list);
	}
	return names == NULL ? 0
			     : err_set(e, ERR_SYNTAX,
				   "%s: the matcher matches nothing that this "
				   "event has (%s)",
				   where, list);
}

void
hook_match_free(struct hook_match *m)
{
	if (m->is_regex)
		regfree(&m->regex);
	strv_clear(&m->names);
	free(m);
}
