/* hook_conf.c - see hook_conf.h. */
#include "common/compat.h"

#include <regex.h>

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/hooks/hook_conf.h"
#include "sandbox/policy/rules.h"

#define MATCHER_MAX 1000
#define TIMEOUT_DEFAULT_S 60
#define TIMEOUT_MAX_S 600
#define SHOWN 64 /* bytes of their text in an error */

struct hook_match {
	bool all;
	bool is_regex;
	struct strv names; /* here, aliases resolved */
	regex_t regex;
};

struct hook_conf {
	struct hook v[HOOKS_MAX];
	size_t n;
	struct hook_match **matches;
	size_t n_matches;
};

/* --- events -------------------------------------------------------------- */

enum has {
	HAS_NOTHING,
	HAS_NAME,
	HAS_TOOL
};

static const struct {
	const char *name;
	enum has has;
	bool blocks, of_worker;
} events[HOOK_EVENTS] = {
	[HOOK_SESSION_START] = { "SessionStart", HAS_NAME, false, false },
	[HOOK_SESSION_END] = { "SessionEnd", HAS_NAME, false, false },
	[HOOK_PROMPT] = { "UserPromptSubmit", HAS_NOTHING, true, false },
	[HOOK_PRE_TOOL] = { "PreToolUse", HAS_TOOL, true, true },
	[HOOK_PERMISSION] = { "PermissionRequest", HAS_TOOL, true, false },
	[HOOK_POST_TOOL] = { "PostToolUse", HAS_TOOL, true, true },
	[HOOK_POST_FAILURE] = { "PostToolUseFailure", HAS_TOOL, true, true },
	[HOOK_SUBAGENT_START] = { "SubagentStart", HAS_NAME, false, true },
	[HOOK_SUBAGENT_STOP] = { "SubagentStop", HAS_NAME, true, true },
	[HOOK_PRE_COMPACT] = { "PreCompact", HAS_NAME, true, true },
	[HOOK_STOP] = { "Stop", HAS_NOTHING, true, false },
};

const char *
hook_event_str(enum hook_event ev)
{
	return events[ev].name;
}

bool
hook_event_of(const char *name, enum hook_event *ret)
{
	int i;

	for (i = 0; i < HOOK_EVENTS; i++)
		if (strcmp(events[i].name, name) == 0) {
			*ret = (enum hook_event)i;
			return true;
		}
	return false;
}

bool
hook_event_blocks(enum hook_event ev)
{
	return events[ev].blocks;
}

bool
hook_event_of_worker(enum hook_event ev)
{
	return events[ev].of_worker;
}

bool
hook_event_has_tool(enum hook_event ev)
{
	return events[ev].has == HAS_TOOL;
}

/* --- matchers ------------------------------------------------------------ */

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

static bool
matches(const struct hook_match *m, const char *name, bool tool)
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

static int
set_matcher(struct hook_match *m, const char *s, enum has has,
    const char *where, struct err *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-|";

	if (s == NULL || *s == '\0' || strcmp(s, "*") == 0) {
		m->all = true;
		return 0;
	}
	if (has == HAS_NOTHING)
		return err_set(e, ERR_SYNTAX,
		    "%s: this event has nothing that a matcher could match: "
		    "leave \"matcher\" out",
		    where);
	if (strlen(s) > MATCHER_MAX)
		return err_set(e, ERR_SYNTAX,
		    "%s: a matcher has at most %d bytes", where, MATCHER_MAX);
	if (s[strspn(s, plain)] != '\0')
		return compile(m, s, where, e);
	split_names(m, s, has == HAS_TOOL);
	if (m->names.n == 0)
		return err_set(e, ERR_SYNTAX,
		    "%s: the matcher \"%.*s\" names nothing", where, SHOWN, s);
	return 0;
}

static void
match_free(struct hook_match *m)
{
	if (m->is_regex)
		regfree(&m->regex);
	strv_clear(&m->names);
	free(m);
}

/* --- reading ------------------------------------------------------------- */

static int
only_keys(const json_t *j, const char *const *keys, size_t n, const char *where,
    struct err *e)
{
	const char *key;
	char shown[SHOWN];
	json_t *v;
	size_t i;

	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX, "%s: not an object", where);
	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		for (i = 0; i < n && strcmp(key, keys[i]) != 0; i++)
			;
		if (i < n)
			continue;
		text_escape_to(shown, sizeof shown, key, strlen(key));
		return err_set(
		    e, ERR_SYNTAX, "%s: unknown member \"%s\"", where, shown);
	}
	return 0;
}

/* A member of a wrong type: e says which. */
static int
wrong(const char *where, struct err *e)
{
	(void)err_prefix(e, "%s", where);
	return ERR_SYNTAX;
}

static int
get_command(const json_t *j, struct hook *h, const char *where, struct err *e)
{
	const char *type = NULL, *command = NULL;

	if (json_get_str(j, "type", true, &type, e) < 0 ||
	    json_get_str(j, "command", true, &command, e) < 0)
		return wrong(where, e);
	if (strcmp(type, "command") != 0)
		return err_set(e, ERR_SYNTAX,
		    "%s: the only \"type\" is \"command\"", where);
	if (*command == '\0' || strlen(command) > HOOK_COMMAND_MAX)
		return err_set(e, ERR_SYNTAX,
		    "%s: \"command\" has 1 to %d bytes: put more into a script",
		    where, HOOK_COMMAND_MAX);
	h->command = xstrdup(command);
	return 0;
}

static int
get_rest(const json_t *j, struct hook *h, const char *where, struct err *e)
{
	const char *place = NULL;
	uint64_t s = 0;

	if (json_get_u64(
		j, "timeout", TIMEOUT_DEFAULT_S, TIMEOUT_MAX_S, &s, e) < 0 ||
	    json_get_bool(j, "failClosed", false, &h->fail_closed, e) < 0 ||
	    json_get_str(j, "where", false, &place, e) < 0)
		return wrong(where, e);
	if (s == 0)
		return err_set(e, ERR_SYNTAX,
		    "%s: \"timeout\" is 1 to %d seconds", where, TIMEOUT_MAX_S);
	h->timeout_ms = s * 1000;
	if (h->fail_closed && !hook_event_blocks(h->event))
		return err_set(e, ERR_SYNTAX,
		    "%s: %s can't be blocked: leave \"failClosed\" out", where,
		    hook_event_str(h->event));
	if (place == NULL)
		return 0;
	if (strcmp(place, "workspace") != 0)
		return err_set(e, ERR_SYNTAX,
		    "%s: the only \"where\" is \"workspace\"; without it a "
		    "hook runs on this machine",
		    where);
	if (!hook_event_of_worker(h->event))
		return err_set(e, ERR_SYNTAX,
		    "%s: %s is in no workspace: leave \"where\" out", where,
		    hook_event_str(h->event));
	h->workspace = true;
	return 0;
}

static int
add_hook(struct hook_conf *c, const json_t *j, enum hook_event ev,
    const struct hook_match *m, const char *where, struct err *e)
{
	static const char *const keys[] = { "type", "command", "timeout",
		"failClosed", "where" };
	struct hook *h = &c->v[c->n];
	int rc;

	if (c->n == HOOKS_MAX)
		return err_set(
		    e, ERR_SYNTAX, "%s: at most %d hooks", where, HOOKS_MAX);
	*h = (struct hook){ .event = ev, .match = m };
	if ((rc = only_keys(j, keys, nitems(keys), where, e)) < 0)
		return rc;
	rc = get_command(j, h, where, e);
	c->n += h->command != NULL;
	return rc < 0 ? rc : get_rest(j, h, where, e);
}

static int
add_group(struct hook_conf *c, const json_t *j, enum hook_event ev,
    const char *where, struct err *e)
{
	static const char *const keys[] = { "matcher", "hooks" };
	struct hook_match *m = xcalloc(1, sizeof *m);
	const char *matcher = NULL;
	const json_t *list, *v;
	char *at;
	size_t i;
	int rc;

	c->matches =
	    xreallocarray(c->matches, c->n_matches + 1, sizeof(void *));
	c->matches[c->n_matches++] = m;
	if ((rc = only_keys(j, keys, nitems(keys), where, e)) < 0)
		return rc;
	if (json_get_str(j, "matcher", false, &matcher, e) < 0)
		return wrong(where, e);
	if ((rc = set_matcher(m, matcher, events[ev].has, where, e)) < 0)
		return rc;
	list = json_object_get(j, "hooks");
	if (!json_is_array(list))
		return err_set(e, ERR_SYNTAX,
		    "%s: \"hooks\" is missing or no list", where);
	json_array_foreach (list, i, v) {
		at = xasprintf("%s.hooks[%zu]", where, i);
		rc = add_hook(c, v, ev, m, at, e);
		free(at);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int
add_event(struct hook_conf *c, const char *name, const json_t *list,
    const char *file, struct err *e)
{
	enum hook_event ev;
	char shown[SHOWN], *at;
	const json_t *v;
	size_t i;
	int rc = 0;

	if (!hook_event_of(name, &ev)) {
		text_escape_to(shown, sizeof shown, name, strlen(name));
		return err_set(e, ERR_SYNTAX,
		    "%s: hooks: there is no event \"%s\" (foray(1) lists them)",
		    file, shown);
	}
	if (!json_is_array(list))
		return err_set(
		    e, ERR_SYNTAX, "%s: hooks.%s: not a list", file, name);
	json_array_foreach (list, i, v) {
		at = xasprintf("%s: hooks.%s[%zu]", file, name, i);
		rc = add_group(c, v, ev, at, e);
		free(at);
		if (rc < 0)
			break;
	}
	return rc;
}

int
hook_conf_parse(
    const json_t *j, const char *file, struct hook_conf **ret, struct err *e)
{
	struct hook_conf *c;
	const char *name;
	json_t *list;
	int rc = 0;

	*ret = NULL;
	if (j == NULL)
		return 0;
	if (!json_is_object(j))
		return err_set(e, ERR_SYNTAX,
		    "%s: \"hooks\" is no object of events", file);
	c = xcalloc(1, sizeof *c);
	json_object_foreach ((json_t *)(uintptr_t)j, name, list)
		if ((rc = add_event(c, name, list, file, e)) < 0)
			break;
	if (rc < 0 || c->n == 0)
		hook_conf_free(c);
	else
		*ret = c;
	return rc;
}

void
hook_conf_free(struct hook_conf *c)
{
	size_t i;

	if (c == NULL)
		return;
	for (i = 0; i < c->n; i++)
		free(c->v[i].command);
	for (i = 0; i < c->n_matches; i++)
		match_free(c->matches[i]);
	free(c->matches);
	free(c);
}

/* --- asking -------------------------------------------------------------- */

size_t
hook_conf_find(const struct hook_conf *c, enum hook_event ev, const char *name,
    const struct hook **v, size_t max)
{
	size_t i, n = 0;

	for (i = 0; c != NULL && i < c->n && n < max; i++)
		if (c->v[i].event == ev &&
		    matches(c->v[i].match, name, hook_event_has_tool(ev)))
			v[n++] = &c->v[i];
	return n;
}

bool
hook_conf_has(const struct hook_conf *c, enum hook_event ev, const char *name)
{
	const struct hook *one;

	return hook_conf_find(c, ev, name, &one, 1) > 0;
}

/* A name that is no tool here may be one of a later worker: asked always. */
static void
add_wanted(struct strv *ret, const char *event, const char *tool)
{
	char *s;

	if (rules_tool(tool, NULL) == NULL)
		tool = "*";
	s = xasprintf("%s:%s", event, tool);
	if (!strv_has(ret, s))
		strv_add(ret, s);
	free(s);
}

void
hook_conf_wanted(const struct hook_conf *c, struct strv *ret)
{
	const struct hook *h;
	const char *event;
	size_t i, k;

	for (i = 0; c != NULL && i < c->n; i++) {
		h = &c->v[i];
		event = hook_event_str(h->event);
		if (!hook_event_of_worker(h->event))
			continue;
		if (!hook_event_has_tool(h->event)) {
			if (!strv_has(ret, event))
				strv_add(ret, event);
			continue;
		}
		if (h->match->all || h->match->is_regex)
			add_wanted(ret, event, "*");
		for (k = 0; k < h->match->names.n; k++)
			add_wanted(ret, event, h->match->names.v[k]);
	}
}
