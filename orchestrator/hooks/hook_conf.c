/* hook_conf.c - see hook_conf.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "orchestrator/hooks/hook_match.h"
#include "sandbox/policy/rules.h"

#define TIMEOUT_DEFAULT_S 60
#define TIMEOUT_MAX_S 600
#define SHOWN 64 /* bytes of their text in an error */

struct hook_conf {
	struct hook v[HOOKS_MAX];
	size_t n;
	struct hook_match **matches;
	size_t n_matches;
	struct strv *notes; /* while it is read */
};

/* --- events -------------------------------------------------------------- */

static const char *const starts[] = { "startup", "resume", NULL };
static const char *const kinds[] = { "explore", "plan", "reproduce", "review",
	NULL };
static const char *const triggers[] = { "auto", NULL };

static const struct {
	const char *name;
	enum hook_match_by by;
	bool blocks, of_worker;
	const char *const *names; /* that a matcher can match; NULL: many */
} events[HOOK_EVENTS] = {
	[HOOK_SESSION_START] = { "SessionStart", HOOK_MATCH_NAME, false, false,
	    starts },
	[HOOK_SESSION_END] = { "SessionEnd", HOOK_MATCH_NAME, false, false,
	    NULL },
	[HOOK_PROMPT] = { "UserPromptSubmit", HOOK_MATCH_NOTHING, true, false,
	    NULL },
	[HOOK_PRE_TOOL] = { "PreToolUse", HOOK_MATCH_TOOL, true, true, NULL },
	[HOOK_PERMISSION] = { "PermissionRequest", HOOK_MATCH_TOOL, true, false,
	    NULL },
	[HOOK_POST_TOOL] = { "PostToolUse", HOOK_MATCH_TOOL, true, true, NULL },
	[HOOK_POST_FAILURE] = { "PostToolUseFailure", HOOK_MATCH_TOOL, true,
	    true, NULL },
	[HOOK_SUBAGENT_START] = { "SubagentStart", HOOK_MATCH_NAME, false, true,
	    kinds },
	[HOOK_SUBAGENT_STOP] = { "SubagentStop", HOOK_MATCH_NAME, true, true,
	    kinds },
	[HOOK_PRE_COMPACT] = { "PreCompact", HOOK_MATCH_NAME, true, true,
	    triggers },
	[HOOK_STOP] = { "Stop", HOOK_MATCH_NOTHING, true, false, NULL },
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
	return events[ev].by == HOOK_MATCH_TOOL;
}

/* --- reading ------------------------------------------------------------- */

/* Members of other tools' hooks that change nothing of what a hook may do. */
static const char *const elsewhere[] = { "statusMessage", "once", "async",
	"description", "name", "$schema" };

/* Events of other tools that are none here. */
static const char *const other_events[] = { "ConfigChange", "CwdChanged",
	"Elicitation", "ElicitationResult", "FileChanged", "InstructionsLoaded",
	"Notification", "PermissionDenied", "PostCompact", "PostToolBatch",
	"Setup", "StopFailure", "TaskCompleted", "TaskCreated", "TeammateIdle",
	"UserPromptExpansion", "WorktreeCreate", "WorktreeRemove" };

static void
note(struct strv *notes, const char *where, const char *what, const char *name)
{
	if (notes != NULL && notes->n < HOOKS_MAX)
		strv_addf(notes, "%s: %s \"%s\" means nothing here", where,
		    what, name);
}

static int
only_keys(const json_t *j, const char *const *keys, size_t n, const char *where,
    struct strv *notes, struct err *e)
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
		if (text_is_one_of(key, elsewhere, nitems(elsewhere))) {
			note(notes, where, "the member", key);
			continue;
		}
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
	const json_t *timeout = json_object_get(j, "timeout");
	json_int_t s = json_integer_value(timeout);

	if (timeout == NULL)
		s = TIMEOUT_DEFAULT_S;
	if (s < 1 || s > TIMEOUT_MAX_S)
		return err_set(e, ERR_SYNTAX,
		    "%s: \"timeout\" is a whole number of seconds, 1 to %d",
		    where, TIMEOUT_MAX_S);
	if (json_get_bool(j, "failClosed", false, &h->fail_closed, e) < 0 ||
	    json_get_str(j, "where", false, &place, e) < 0)
		return wrong(where, e);
	h->timeout_ms = (uint64_t)s * 1000;
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
	if ((rc = only_keys(j, keys, nitems(keys), where, c->notes, e)) < 0)
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
	if ((rc = only_keys(j, keys, nitems(keys), where, c->notes, e)) < 0)
		return rc;
	if (json_get_str(j, "matcher", false, &matcher, e) < 0)
		return wrong(where, e);
	if ((rc = hook_match_set(m, matcher, events[ev].by, where, e)) < 0 ||
	    (rc = hook_match_check(
		 m, events[ev].by, events[ev].names, where, e)) < 0)
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

	if (!hook_event_of(name, &ev) &&
	    text_is_one_of(name, other_events, nitems(other_events))) {
		note(c->notes, file, "hooks: the event", name);
		return 0;
	}
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
hook_conf_parse(const json_t *j, const char *file, struct hook_conf **ret,
    struct strv *notes, struct err *e)
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
	c->notes = notes;
	json_object_foreach ((json_t *)(uintptr_t)j, name, list)
		if ((rc = add_event(c, name, list, file, e)) < 0)
			break;
	if (rc < 0 || c->n == 0)
		hook_conf_free(c);
	else
		*ret = c;
	if (*ret != NULL)
		c->notes = NULL;
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
		hook_match_free(c->matches[i]);
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
		    hook_match_is(c->v[i].match, name, hook_event_has_tool(ev)))
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
