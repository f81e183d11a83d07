/*
 * hook_conf.h - which programs a person wants run at which events: "hooks" of
 * their own settings.json. A repository's are never taken (policy.h).
 *
 *	{"hooks": {EVENT: [{"matcher": M, "hooks": [
 *	    {"type": "command", "command": "...", "timeout": 60,
 *	     "failClosed": true, "where": "workspace"}]}]}}
 *
 *	struct hook_conf *c;
 *	hook_conf_parse(object, "settings.json", &c, &e);
 *	n = hook_conf_find(c, HOOK_PRE_TOOL, "run_command", v, HOOKS_MAX);
 *	hook_conf_free(c);
 *
 * M: names joined by "|", or, when it has other characters than those of names,
 * an extended regular expression that must match the whole name; absent, "" and
 * "*" match all. Tools have their names here and those that people have from
 * elsewhere: Bash (run_command), Read (read_file, list_dir, grep), Grep, Edit
 * and Write (edit_file, apply_patch, try_edits), WebFetch (fetch_url), and the
 * rest of rules.h. What M is matched with beside tools: SessionStart: startup
 *or resume; SessionEnd: the run's status; PreCompact: auto; SubagentStart and
 * SubagentStop: the kind of the subtask. Other events have nothing to match.
 *
 * "timeout" is in seconds, 1 to 600. "failClosed": a hook that fails counts as
 * one that blocks; refused where an event can't block. "where": "workspace"
 *runs it in a worker's command sandbox; only for events of workers.
 *
 * Members and events that other tools have (statusMessage, once, Notification)
 * are noted and left out. Other unknown ones and wrong types are ERR_SYNTAX,
 *naming file and place. Reads no file. Limits: 256 hooks, 8,192 bytes a
 *command, 1,000 a matcher; "{" is no part of a matcher, since counts in it
 *would cost memory without bound.
 */
#ifndef ORCHESTRATOR_HOOKS_HOOK_CONF_H
#define ORCHESTRATOR_HOOKS_HOOK_CONF_H

#include "common/err.h"
#include "common/json.h"

#define HOOKS_MAX 256
#define HOOK_COMMAND_MAX 8192
#define HOOK_NAME_MAX 64 /* bytes of a name that is matched */

enum hook_event {
	HOOK_SESSION_START,
	HOOK_SESSION_END,
	HOOK_PROMPT,
	HOOK_PRE_TOOL,
	HOOK_PERMISSION,
	HOOK_POST_TOOL,
	HOOK_POST_FAILURE,
	HOOK_SUBAGENT_START,
	HOOK_SUBAGENT_STOP,
	HOOK_PRE_COMPACT,
	HOOK_STOP,
	HOOK_EVENTS
};

struct hook {
	enum hook_event event;
	char *command; /* sh -c */
	uint64_t timeout_ms;
	bool fail_closed;
	bool workspace;
	const struct hook_match *match; /* of the settings' group */
};

struct hook_conf;

const char *hook_event_str(enum hook_event ev); /* "PreToolUse" */
bool hook_event_of(const char *name, enum hook_event *ret);
/* Can a hook keep it from happening, or object? */
bool hook_event_blocks(enum hook_event ev);
/* A worker says that it happens; the others are the orchestrator's own. */
bool hook_event_of_worker(enum hook_event ev);
bool hook_event_has_tool(enum hook_event ev);

/* *ret: NULL when j is NULL or holds no hook. notes (may be NULL): what other
 * tools know and has no meaning here is added, a sentence each. */
int hook_conf_parse(const json_t *j, const char *file, struct hook_conf **ret,
    struct strv *notes, struct err *e);
void hook_conf_free(struct hook_conf *c);

/* The hooks of the event for this name (NULL: it has none), in the order of the
 * settings; v has room for max. */
size_t hook_conf_find(const struct hook_conf *c, enum hook_event ev,
    const char *name, const struct hook **v, size_t max);
/* Is there one? */
bool hook_conf_has(
    const struct hook_conf *c, enum hook_event ev, const char *name);
/* Events of workers that there are hooks for, for TASK: "PreToolUse:TOOL",
 * "PreToolUse:*", "PreCompact". Nothing is left out; more than that may be in
 * it. */
void hook_conf_wanted(const struct hook_conf *c, struct strv *ret);

#endif
