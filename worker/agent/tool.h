/*
 * tool.h - the tools that a model can call: a table, and how a call becomes a
 * result.
 *
 * A call never fails: whatever is wrong with it, its result is a text that
 * begins with "error: " and says what to do. Arguments are checked against the
 * tool's schema before its function sees them.
 */
#ifndef WORKER_AGENT_TOOL_H
#define WORKER_AGENT_TOOL_H

#include "common/buf.h"
#include "common/err.h"
#include "common/json.h"

struct agent;

struct tool_result {
	struct buf text;
	bool error;
	bool denied; /* by policy */
};

typedef void (*tool_fn)(
    struct agent *a, const json_t *args, struct tool_result *r);

struct tool {
	const char *name;
	const char *description;
	const char *schema; /* JSON schema of the arguments, an object */
	tool_fn fn;
};

/* For messages[0]: {"role":"tools","tools":[...]}. A new reference. */
json_t *tool_list(void);
/* By its name, letter case ignored; NULL: there is none. */
const struct tool *tool_find(const char *name);

/* Make the call. args: as the model wrote them, any JSON value or NULL; text is
 * parsed. r is initialised here; clear it with tool_result_clear(). */
void tool_call(struct agent *a, const char *name, const json_t *args,
    struct tool_result *r);
void tool_result_clear(struct tool_result *r);

/* Arguments as an object: a new reference, or negative with a reason. */
int tool_args(const json_t *args, json_t **ret, struct err *e);
/* Do they fit the schema? */
int tool_check(const struct tool *t, const json_t *args, struct err *e);

/* For the tools: what the result says. */
void tool_printf(struct tool_result *r, const char *fmt, ...) printflike(2, 3);
void tool_fail(struct tool_result *r, const char *fmt, ...) printflike(2, 3);
void tool_fail_err(struct tool_result *r, const struct err *e);

/* Checked before, so these can't fail: absent is def. */
const char *arg_str(const json_t *args, const char *key, const char *def);
uint64_t arg_u64(const json_t *args, const char *key, uint64_t def);
bool arg_bool(const json_t *args, const char *key);

/* One row each, in its own file. */
extern const struct tool tool_read_file, tool_list_dir, tool_grep,
    tool_edit_file, tool_apply_patch, tool_run_command, tool_try_edits,
    tool_fetch_url, tool_update_todos, tool_read_skill, tool_finish;

#endif
