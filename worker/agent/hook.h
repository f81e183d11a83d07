/*
 * hook.h - the person's own programs, as a worker meets them: at the events
 * that TASK.hooks names the orchestrator is asked (HOOK) and answers (ANSWER).
 * It runs the programs; one that is to run in the workspace is run here, in the
 * sandbox of commands, and what it came to is sent back to be judged there.
 *
 * With no name in TASK.hooks nothing is sent.
 */
#ifndef WORKER_AGENT_HOOK_H
#define WORKER_AGENT_HOOK_H

#include "common/json.h"
#include "worker/agent/agent.h"
#include "worker/agent/tool.h"

/* Before a call: true when it may go on, with *args put in the place of the
 * model's where a hook narrowed them; false: r says why not. context (appended)
 * is for the end of the result. */
bool hook_before(struct agent *a, const struct tool *t, json_t **args,
    struct buf *context, struct tool_result *r);
/* After a call that was made: what hooks say of it goes to the end of r. */
void hook_after(struct agent *a, const struct tool *t, const json_t *args,
    struct tool_result *r);

/* SubagentStart, SubagentStop, PreCompact. text: the verdict, or NULL. True:
 * go on; false: *ret (may be NULL) says why not. On true *ret is context for
 * the model, or NULL. Yours. */
bool hook_event(struct agent *a, const char *event, const char *text,
    bool active, char **ret);

#endif
