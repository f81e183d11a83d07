/*
 * verify.c - is this patch a fix? Cheapest first: does it apply, do the changed
 * files parse, do the checks pass, do the tests (verify_tests.c).
 *
 * Protected files are put back to the base after the patch, and tests that the
 * patch adds are taken away: they are no evidence. Then the reproducer's files
 * come, as they were confirmed.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/changes.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/agent.h"
#include "worker/agent/command.h"
#include "worker/agent/exec.h"
#include "worker/agent/output.h"
#include "worker/agent/restore.h"
#include "worker/agent/syntax.h"
#include "worker/agent/verify.h"

/* One protected file as the snapshot has it. */
static int
restore(struct verify *v, const char *rel, struct err *e)
{
	struct stat st, now;
	int64_t floor;
	struct buf b;
	char target[4097];
	ssize_t n;
	int r;

	if (fstatat(v->base_fd, rel, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR
		    ? 0
		    : err_set(e, -errno, "%.200s: %s", rel, strerror(errno));
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(v->base_fd, rel, target, sizeof target - 1);
		if (n < 0)
			return err_set(
			    e, -errno, "%.200s: %s", rel, strerror(errno));
		target[n] = '\0';
		/* By way of a file: it makes the directories. */
		r = treefs_put(v->a->fs.root_fd, rel, "", 0, 0644, 0, e);
		if (r < 0)
			return r;
		if (unlinkat(v->a->fs.root_fd, rel, 0) < 0 ||
		    symlinkat(target, v->a->fs.root_fd, rel) < 0)
			return err_set(
			    e, -errno, "%.200s: %s", rel, strerror(errno));
		return 0;
	}
	/* Later than what is replaced, too: by that alone (and the size) Python
	 * tells its bytecode from that of the other text. */
	floor = (int64_t)st.st_mtime;
	if (fstatat(v->a->fs.root_fd, rel, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_mtime > floor)
		floor = (int64_t)now.st_mtime;
	buf_init(&b, (size_t)256 << 20);
	r = file_read_at(v->base_fd, rel, true, &b, e);
	if (r >= 0)
		r = treefs_put(v->a->fs.root_fd, rel, buf_str(&b), b.len,
		    st.st_mode & 0777, floor, e);
	buf_clear(&b);
	return r < 0 ? r : 0;
}

static bool
exists_in_base(const struct verify *v, const char *rel)
{
	struct stat st;

	return fstatat(v->base_fd, rel, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int
take_away(struct verify *v, const char *rel, struct err *e)
{
	if (unlinkat(v->a->fs.root_fd, rel, 0) < 0 && errno != ENOENT &&
	    errno != ENOTDIR)
		return err_set(e, -errno, "%.200s: %s", rel, strerror(errno));
	return 0;
}

int
verify_undo(struct verify *v, const char *rel, struct err *e)
{
	return exists_in_base(v, rel) ? restore(v, rel, e)
				      : take_away(v, rel, e);
}

/* After applying: what may not count is undone. */
static int
protect(struct verify *v, struct err *e)
{
	struct agent *a = v->a;
	size_t i;
	int r;

	for (i = 0; i < v->paths.n; i++) {
		const char *p = v->paths.v[i];

		if (strv_has(&a->reproducer, p)) {
			if ((r = take_away(v, p, e)) < 0)
				return r;
			strv_addf(&a->out.findings,
			    "the patch changes %.400s, which is the "
			    "reproducer's: that part does not count",
			    p);
		} else if (treefs_is_guarded(&a->fs, p)) {
			if ((r = restore(v, p, e)) < 0)
				return r;
			strv_addf(&a->out.findings,
			    "the patch changes %.400s, which is protected: that "
			    "part does not count",
			    p);
		} else if (guard_is_installed(p)) {
			if ((r = verify_undo(v, p, e)) < 0)
				return r;
			strv_addf(&a->out.findings,
			    "the patch changes %.400s, which is installed or "
			    "made: that part does not count",
			    p);
		} else if (guard_is_builtin(p) && !exists_in_base(v, p)) {
			if ((r = take_away(v, p, e)) < 0)
				return r;
			strv_addf(&a->out.findings,
			    "the patch adds %.400s: not part of the evidence",
			    p);
		} else {
			strv_add(&v->left, p);
		}
	}
	return 0;
}

/* What stands in their way now is the candidate's. */
static int
add_reproducer(struct verify *v)
{
	struct agent *a = v->a;
	const struct msg_task *t = a->task;
	struct err e;

	if (t->base_patch_len == 0 ||
	    patch_apply(
		a->cfg.root, t->base_patch, t->base_patch_len, false, &e) == 0)
		return 0;
	agent_end(a, "refuted",
	    "the reproducer does not fit beside the patch: %s", e.text);
	return -1;
}

static int
apply(struct verify *v)
{
	struct agent *a = v->a;
	const char *patch = a->task->patch;
	size_t len = a->task->patch_len;
	struct err e;
	int r;

	if (len == 0) {
		agent_end(a, "refuted", "the patch is empty");
		return -1;
	}
	if (patch_paths(patch, len, &v->paths, &e) < 0 ||
	    patch_apply(a->cfg.root, patch, len, false, &e) < 0) {
		agent_end(a, "refuted", "the patch does not apply: %s", e.text);
		return -1;
	}
	signs_find(a, v->base_fd, patch, len, &v->signs);
	if ((r = protect(v, &e)) < 0) {
		agent_end(a, "error", "%s", e.text);
	} else if (v->signs.grave.n > 0) {
		agent_end(a, "refuted", "made for the tests: %.600s",
		    v->signs.grave.v[0]);
		r = -1;
	}
	strv_extend(&a->out.findings, &v->signs.grave);
	strv_extend(&a->out.findings, &v->signs.light);
	if (r < 0)
		return r;
	if (v->left.n == 0) {
		agent_end(a, "refuted",
		    "the patch changes nothing but tests and protected files "
		    "(%.300s)",
		    v->paths.n > 0 ? v->paths.v[0] : "");
		r = -1;
	}
	return r;
}

static int
parses(struct verify *v)
{
	struct agent *a = v->a;
	char why[400];
	size_t i;

	for (i = 0; i < v->left.n; i++) {
		if (syntax_check(a, v->left.v[i], why, sizeof why))
			continue;
		agent_end(a, "refuted", "%.200s does not parse: %s",
		    v->left.v[i], why);
		return -1;
	}
	return 0;
}

static int
checks(struct verify *v)
{
	struct agent *a = v->a;
	struct err e;
	size_t i;
	int r = 0;

	for (i = 0; i < a->task->checks.n && r == 0; i++) {
		const char *cmd = a->task->checks.v[i];
		struct exec x = { .timeout_ms = agent_limit_ms(a, 0) };
		struct sandbox_spec spec;
		char status[160], last[300];
		struct buf raw;

		if (agent_audit(a, "test", cmd, NULL, &e) < 0) {
			agent_end(
			    a, "error", "check `%.200s`: %s", cmd, e.text);
			return -1;
		}
		command_spec(a, &a->cfg.inner, cmd, &spec);
		x.spec = &spec;
		buf_init(&raw, BUF_NOMAX);
		if (exec_run(&x, &e) < 0) {
			agent_end(a, "error", "%s", e.text);
			r = -1;
		} else if (x.timed_out || x.status != 0) {
			(void)exec_text(&x, &raw);
			(void)output_add(
			    &a->out.output, buf_str(&raw), raw.len, OUTPUT_MAX);
			exec_status_str(&x, status, sizeof status);
			output_last_line(
			    buf_str(&raw), raw.len, last, sizeof last);
			agent_end(a, "refuted",
			    "the check `%.200s` fails: %s: %s", cmd, status,
			    last);
			r = -1;
		}
		agent_progress(
		    a, "verify", NULL, r == 0 ? "ok" : "error", cmd, x.ms);
		buf_clear(&raw);
		exec_clear(&x);
		spec_clear(&spec);
	}
	return r;
}

/* A refutation names what was left out: that is often why. */
static void
explain(struct agent *a)
{
	char *longer;

	if (a->out.verdict == NULL || strcmp(a->out.verdict, "refuted") != 0 ||
	    a->out.findings.n == 0 || a->out.reason == NULL)
		return;
	longer = xasprintf("%s (%s%s)", a->out.reason, a->out.findings.v[0],
	    a->out.findings.n > 1 ? ", and more" : "");
	free(a->out.reason);
	a->out.reason = longer;
}

void
verify_run(struct agent *a)
{
	struct verify v = { .a = a };

	v.base_fd = open(a->cfg.base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (v.base_fd < 0) {
		agent_end(
		    a, "error", "open %s: %s", a->cfg.base, strerror(errno));
		return;
	}
	if (apply(&v) == 0 && add_reproducer(&v) == 0) {
		restore_renew(a);
		if (parses(&v) == 0 && checks(&v) == 0)
			verify_tests(&v);
	}
	explain(a);
	strv_clear(&v.paths);
	strv_clear(&v.left);
	signs_clear(&v.signs);
	fd_close(&v.base_fd);
}
