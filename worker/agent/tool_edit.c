/* tool_edit.c - edit_file. */
#include "common/compat.h"

#include <errno.h>

#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/edit.h"
#include "worker/agent/tool.h"

static int
make_edit(struct agent *a, const char *path, const char *rel,
    const struct edit *ed, struct tool_result *r, struct err *e)
{
	struct treefs_name name = { .rel = xstrdup(rel) };
	struct edit_done done;
	struct buf data, fresh;
	bool exists = false;
	char *said = NULL;
	int rc;

	buf_init(&data, TREEFS_MAX_FILE);
	buf_init(&fresh, TREEFS_MAX_FILE);
	if ((rc = treefs_may_write(&a->fs, rel, &exists, e)) < 0)
		goto out;
	if (!exists && *ed->old_text != '\0') {
		rc = err_set(e, -ENOENT,
		    "%s does not exist; to create it, give an empty `old`",
		    path);
		goto out;
	}
	if (exists && (rc = treefs_read(&a->fs, &name, &data, NULL, e)) < 0)
		goto out;
	if ((rc = edit_apply(
		 path, buf_str(&data), data.len, ed, &fresh, &done, e)) < 0)
		goto out;
	said = edit_said(buf_str(&data), data.len, buf_str(&fresh), fresh.len);
	if ((rc = agent_audit(a, "write", rel, said, e)) < 0 ||
	    (rc = treefs_write(&a->fs, rel, buf_str(&fresh), fresh.len, 0, e)) <
		0)
		goto out;
	if (!strv_has(&a->written, rel))
		strv_add(&a->written, rel);
	if (!exists)
		tool_printf(r, "%s created", path);
	else if (done.n > 1)
		tool_printf(r,
		    "%s: %llu places replaced, the first at line "
		    "%llu",
		    path, (unsigned long long)done.n,
		    (unsigned long long)done.line);
	else
		tool_printf(r, "%s: replaced at line %llu", path,
		    (unsigned long long)done.line);
out:
	free(said);
	treefs_name_clear(&name);
	buf_clear(&data);
	buf_clear(&fresh);
	return rc;
}

static void
edit_file(struct agent *a, const json_t *args, struct tool_result *r)
{
	struct edit ed = {
		.old_text = arg_str(args, "old", ""),
		.new_text = arg_str(args, "new", ""),
		.line = arg_u64(args, "line", 0),
		.replace_all = arg_bool(args, "replace_all"),
	};
	const char *path = arg_str(args, "path", "");
	struct treefs_name name = { 0 };
	struct err e;

	if (treefs_name(&a->fs, path, &name, &e) < 0) {
		tool_fail_err(r, &e);
		return;
	}
	if (name.tmp)
		tool_fail(r,
		    "%s lies outside the workspace; write files in "
		    "/tmp with run_command",
		    path);
	else if (make_edit(a, path, name.rel, &ed, r, &e) < 0)
		tool_fail_err(r, &e);
	treefs_name_clear(&name);
}

const struct tool tool_edit_file = {
	"edit_file",
	"Replace a piece of a file by another. `old` must be copied exactly, "
	"blanks included, and occur once; otherwise give more of the text "
	"around it, the `line` it starts on, or `replace_all`. An empty `old` "
	"creates a new file.",
	"{\"type\":\"object\",\"properties\":{"
	"\"path\":{\"type\":\"string\"},"
	"\"old\":{\"type\":\"string\"},"
	"\"new\":{\"type\":\"string\"},"
	"\"line\":{\"type\":\"integer\",\"description\":\"1-based line on which "
	"`old` starts\"},"
	"\"replace_all\":{\"type\":\"boolean\"}},"
	"\"required\":[\"path\",\"old\",\"new\"]}",
	edit_file,
};
