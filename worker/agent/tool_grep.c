/* tool_grep.c - grep, by ripgrep in an inner sandbox. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"
#include "worker/agent/agent.h"
#include "worker/agent/exec.h"
#include "worker/agent/output.h"
#include "worker/agent/tool.h"

#define MATCHES_PER_FILE "100"
#define WINDOW 400 /* bytes of a long line that are shown */

/* One line of ripgrep's: PATH\0LINE:COLUMN:TEXT, or a message. */
static void
add_match(struct buf *ret, const char *s, size_t len)
{
	const char *p = memchr(s, '\0', len), *end = s + len, *at;
	uint64_t line = 0, col = 0;
	size_t from, n;

	if (p == NULL) {
		(void)buf_add(ret, s, len);
		(void)buf_addc(ret, '\n');
		return;
	}
	(void)buf_add(ret, s, (size_t)(p - s));
	for (p++; p < end && *p >= '0' && *p <= '9'; p++)
		line = line * 10 + (uint64_t)(*p - '0');
	if (p < end)
		p++;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		col = col * 10 + (uint64_t)(*p - '0');
	if (p < end)
		p++;
	(void)buf_printf(ret, ":%llu:", (unsigned long long)line);
	n = (size_t)(end - p);
	if (n <= WINDOW) {
		(void)buf_add(ret, p, n);
	} else {
		/* The match stays in sight. */
		from = col > WINDOW / 4 ? (size_t)col - WINDOW / 4 : 0;
		if (from > n)
			from = n;
		from = text_cut(p, n, from);
		at = p + from;
		n = text_cut(at, (size_t)(end - at), WINDOW);
		(void)buf_adds(ret, from > 0 ? "[...]" : "");
		(void)buf_add(ret, at, n);
		(void)buf_printf(
		    ret, "[... a line of %zu bytes]", (size_t)(end - p));
	}
	(void)buf_addc(ret, '\n');
}

static void
add_matches(struct buf *ret, const struct buf *raw)
{
	const char *p = buf_str(raw), *end = p + raw->len, *nl;

	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			nl = end;
		add_match(ret, p, (size_t)(nl - p));
	}
}

static void
show(const struct exec *x, struct tool_result *r)
{
	struct buf all, raw;

	buf_init(&raw, BUF_NOMAX);
	buf_init(&all, BUF_NOMAX);
	(void)exec_text(x, &all);
	add_matches(&raw, &all);
	buf_clear(&all);
	if (x->status == 127 || x->status == 126)
		tool_fail(r,
		    "ripgrep (rg) is not installed here: use "
		    "run_command with grep -rn");
	else if (x->timed_out)
		tool_fail(r, "the search took too long: give a path or a glob");
	else if (x->status == 1 && raw.len == 0)
		tool_printf(r, "no matches");
	else if (x->status > 1 && memmem(buf_str(&raw), raw.len, "regex", 5))
		tool_fail(r, "%.1500s(or set fixed: true)", buf_str(&raw));
	else if (x->status > 1 && raw.len < 2000)
		tool_fail(r, "%s", buf_str(&raw));
	else
		(void)output_add(&r->text, buf_str(&raw), raw.len, OUTPUT_MAX);
	buf_clear(&raw);
}

static void
grep(struct agent *a, const json_t *args, struct tool_result *r)
{
	const char *pattern = arg_str(args, "pattern", "");
	const char *path = arg_str(args, "path", "."), *glob;
	struct treefs_name name = { 0 };
	struct sandbox_spec spec;
	struct exec x = { .timeout_ms = 30000, .keep = 4 << 20 };
	struct err e;

	if (*pattern == '\0') {
		tool_fail(r, "`pattern` is empty");
		return;
	}
	/* Only to refuse what lies outside; the sandbox is the wall. */
	if (treefs_name(&a->fs, path, &name, &e) < 0) {
		tool_fail_err(r, &e);
		return;
	}
	treefs_name_clear(&name);
	spec_copy(&spec, &a->cfg.inner);
	spec.egress = false; /* rg has no use for it */
	spec_set_cwd(&spec, a->cfg.workdir);
	strv_clear(&spec.argv);
	/* By the shell, so that a missing rg is status 127. */
	strv_addl(&spec.argv, "/bin/sh", "-c", "exec rg \"$@\"", "sh",
	    "--no-config", "--line-number", "--no-heading", "--with-filename",
	    "--color=never", "--hidden", "--glob=!.git", "--sort=path",
	    "--column", "--null", "--max-count=" MATCHES_PER_FILE,
	    (char *)NULL);
	if (arg_bool(args, "ignore_case"))
		strv_add(&spec.argv, "--ignore-case");
	if (arg_bool(args, "fixed"))
		strv_add(&spec.argv, "--fixed-strings");
	if ((glob = arg_str(args, "glob", NULL)) != NULL && *glob != '\0')
		strv_addf(&spec.argv, "--glob=%s", glob);
	strv_addf(&spec.argv, "--regexp=%s", pattern);
	strv_addl(&spec.argv, "--", path, (char *)NULL);
	x.spec = &spec;
	if (exec_run(&x, &e) < 0)
		tool_fail_err(r, &e);
	else
		show(&x, r);
	exec_clear(&x);
	spec_clear(&spec);
}

const struct tool tool_grep = {
	"grep",
	"Search file contents with a regular expression (ripgrep's syntax; with "
	"fixed: the literal text). The result is PATH:LINE:TEXT, sorted by "
	"path; files ignored by git are left out.",
	"{\"type\":\"object\",\"properties\":{"
	"\"pattern\":{\"type\":\"string\"},"
	"\"path\":{\"type\":\"string\",\"description\":\"file or directory; "
	"default: the working directory\"},"
	"\"glob\":{\"type\":\"string\",\"description\":\"only files that match, "
	"for example *.py\"},"
	"\"ignore_case\":{\"type\":\"boolean\"},"
	"\"fixed\":{\"type\":\"boolean\"}},"
	"\"required\":[\"pattern\"]}",
	grep,
};
