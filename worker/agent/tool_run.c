/* tool_run.c - run_command. */
#include "common/compat.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/command.h"
#include "worker/agent/egress.h"
#include "worker/agent/exec.h"
#include "worker/agent/output.h"
#include "worker/agent/tool.h"

/* As much as read_file takes. */
#define FULL_MAX ((uint64_t)TREEFS_MAX_FILE)

/* Kept by name until it is known whether the result was cut. A command may
 * have left a link there: made anew, never followed. */
static int
open_full(struct agent *a, char *name, size_t size)
{
	int fd;

	name[0] = '\0';
	if (a->fs.tmp_fd < 0)
		return -1;
	snprintf(name, size, "out-%u.txt", a->outputs + 1);
	(void)unlinkat(a->fs.tmp_fd, name, 0);
	fd = openat(a->fs.tmp_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		name[0] = '\0';
	return fd;
}

static void
run_command(struct agent *a, const json_t *args, struct tool_result *r)
{
	const char *command = arg_str(args, "command", "");
	struct exec x = { 0 };
	struct sandbox_spec spec;
	char status[160], full[32] = "";
	struct buf raw;
	struct err e;
	bool cut;

	if (*command == '\0') {
		tool_fail(r, "`command` is empty");
		return;
	}
	if (strlen(command) > AGENT_COMMAND_MAX) {
		tool_fail(r,
		    "the command is over %d bytes: write a script to a file "
		    "first",
		    AGENT_COMMAND_MAX);
		return;
	}
	if (agent_audit(a, "command", command, NULL, &e) < 0) {
		tool_fail_err(r, &e);
		return;
	}
	command_spec(a, &a->cfg.inner, command, &spec);
	x.spec = &spec;
	x.timeout_ms = agent_limit_s(a, arg_u64(args, "timeout_s", 0));
	x.full_fd = open_full(a, full, sizeof full);
	x.full_max = FULL_MAX;
	buf_init(&raw, BUF_NOMAX);
	if (exec_run(&x, &e) < 0) {
		tool_fail_err(r, &e);
		cut = false;
	} else {
		exec_status_str(&x, status, sizeof status);
		tool_printf(r, "%s\n", status);
		(void)exec_text(&x, &raw);
		cut = output_add(&r->text, buf_str(&raw), raw.len, OUTPUT_MAX);
	}
	fd_close(&x.full_fd);
	if (cut && *full != '\0') {
		a->outputs++;
		tool_printf(r,
		    "\n[%llu bytes in all; the full output is in %s/%s]",
		    (unsigned long long)x.total, a->fs.tmp, full);
	} else if (*full != '\0') {
		(void)unlinkat(a->fs.tmp_fd, full, 0);
	}
	egress_say(&x.refused, &r->text);
	exec_clear(&x);
	spec_clear(&spec);
	buf_clear(&raw);
}

const struct tool tool_run_command = {
	"run_command",
	"Run a shell command (sh -c) in the working directory, in a sandbox "
	"without network but to hosts that the person has allowed. The result is its exit status, then stdout and stderr "
	"together, the middle cut out when it is long. Processes left in the "
	"background end with the command. /tmp keeps its files.",
	"{\"type\":\"object\",\"properties\":{"
	"\"command\":{\"type\":\"string\"},"
	"\"timeout_s\":{\"type\":\"integer\"}},"
	"\"required\":[\"command\"]}",
	run_command,
};
