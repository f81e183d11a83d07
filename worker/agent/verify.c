/*
 * verify.c - is this patch a fix? Cheapest first: does it apply, do the changed
 * files parse, do the checks pass, do the tests.
 *
 * Protected files are put back to the base after the patch, and tests that the
 * patch adds are taken away: they are no evidence.
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
#include "worker/agent/syntax.h"
#include "worker/agent/testrun.h"

#define LEAST_LIMIT_MS 10000
#define TIMES 10
#define NAMES_MAX 1000

struct verify {
	struct agent *a;
	struct strv paths; /* that the patch touches */
	struct strv left;  /* those of them that still count */
	int base_fd;
};

/* One protected file as the snapshot has it. */
static int
restore(struct verify *v, const char *rel, struct err *e)
{
	struct stat st;
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
	buf_init(&b, (size_t)256 << 20);
	r = file_read_at(v->base_fd, rel, true, &b, e);
	if (r >= 0)
		r = treefs_put(v->a->fs.root_fd, rel, buf_str(&b), b.len,
		    st.st_mode & 0777, (int64_t)st.st_mtime, e);
	buf_clear(&b);
	return r < 0 ? r : 0;
}

static bool
exists_in_base(const struct verify *v, const char *rel)
{
	struct stat st;

	return fstatat(v->base_fd, rel, &st, AT_SYMLINK_NOFOLLOW) == 0;
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

		if (treefs_is_guarded(&a->fs, p)) {
			if ((r = restore(v, p, e)) < 0)
				return r;
			strv_addf(&a->out.findings,
			    "the patch changes %.400s, which is protected: that "
			    "part does not count",
			    p);
		} else if (guard_is_builtin(p) && !exists_in_base(v, p)) {
			if (unlinkat(a->fs.root_fd, p, 0) < 0 &&
			    errno != ENOENT && errno != ENOTDIR)
				return err_set(e, -errno, "%.200s: %s", p,
				    strerror(errno));
			strv_addf(&a->out.findings,
			    "the patch adds %.400s: not part of the evidence",
			    p);
		} else {
			strv_add(&v->left, p);
		}
	}
	return 0;
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
	if ((r = protect(v, &e)) < 0)
		agent_end(a, "error", "%s", e.text);
	else if (v->left.n == 0) {
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

static bool
in_list(const struct msg_strs *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strcmp(list->v[i], name) == 0)
			return true;
	}
	return false;
}

/* Names that the baseline could not all hold are no measure of what is new. */
static bool
is_full(const struct msg_strs *list)
{
	return list->n >= 200;
}

/* The first command must come to pass; names that fail in another one must
 * have failed before. Returns the name that is against it, or NULL. */
static const char *
against(const struct agent *a, const struct test_run *t)
{
	const struct msg_task *task = a->task;
	size_t i, k;

	for (i = 0; i < t->n; i++) {
		for (k = 0; k < t->v[i].failed.n; k++) {
			const char *s = t->v[i].failed.v[k];

			if (in_list(&task->flaky, s))
				continue;
			if (i > 0 &&
			    (in_list(&task->failing, s) ||
				is_full(&task->failing)))
				continue;
			return s;
		}
	}
	return NULL;
}

/* Tests that no longer run, for they were deleted or are skipped: how many. */
static uint64_t
missing(const struct agent *a, const struct test_run *t, const char **ret_name)
{
	const struct msg_task *task = a->task;
	uint64_t want = task->tests_passed, have = t->n_passed, shy = 0;
	bool exact = true, all_names = true;
	size_t i;

	*ret_name = NULL;
	for (i = 0; i < t->n; i++) {
		exact = exact && (t->v[i].exact || !t->v[i].parsed);
		all_names = all_names && t->v[i].all_names;
	}
	for (i = 0; i < task->flaky.n; i++)
		shy += !test_run_failed(t, task->flaky.v[i]);
	have = have > shy ? have - shy : 0;
	for (i = 0; i < task->failing.n && task->per_test; i++) {
		const char *s = task->failing.v[i];

		if (test_run_failed(t, s) || test_run_passed(t, s))
			continue;
		/* "tests/x.py" and commands stand for what did not load. */
		if (all_names && strstr(s, "::") != NULL) {
			*ret_name = s;
			return 1;
		}
	}
	/* Each that failed and no longer does must have passed. */
	for (i = 0; i < task->failing.n && exact && task->per_test; i++)
		want += !test_run_failed(t, task->failing.v[i]);
	if (want > task->tests_passed && t->n_skipped == 0)
		want = task->tests_passed;
	return have < want ? want - have : 0;
}

static void
tests(struct verify *v)
{
	struct agent *a = v->a;
	const struct msg_task *task = a->task;
	struct test_run t = { 0 };
	uint64_t limit = task->test_ms * TIMES, gone;
	const char *name;
	struct err e;
	size_t i;

	if (limit < LEAST_LIMIT_MS)
		limit = LEAST_LIMIT_MS;
	if (task->call_ms > 0 && limit > task->call_ms)
		limit = task->call_ms;
	if (test_run(a, limit, &t, &e) < 0) {
		agent_end(a, "error", "%s", e.text);
		goto out;
	}
	for (i = 0; i < t.n; i++) {
		size_t k;

		for (k = 0; k < t.v[i].failed.n; k++) {
			if (a->out.failing.n < NAMES_MAX &&
			    !strv_has(&a->out.failing, t.v[i].failed.v[k]))
				strv_add(&a->out.failing, t.v[i].failed.v[k]);
		}
		if (t.v[i].failed.n > 0 && a->out.output.len == 0)
			(void)output_add(&a->out.output,
			    buf_str(&t.v[i].output), t.v[i].output.len,
			    OUTPUT_MAX);
	}
	a->out.tests_passed = t.n_passed;
	a->out.tests_failed = t.n_failed;
	a->out.per_test = t.per_test;
	a->out.test_ms = t.longest_ms;
	a->out.slowest_ms = t.slowest_ms;
	for (i = 0; i < t.n; i++) {
		if (t.v[i].timed_out) {
			agent_end(a, "refuted",
			    "the test command `%.200s` timed out after %llu s",
			    task->tests.v[i],
			    (unsigned long long)(limit / 1000));
			goto out;
		}
	}
	if ((name = against(a, &t)) != NULL)
		agent_end(a, "refuted", "%s: %.300s",
		    in_list(&task->failing, name) ? "it still fails"
						  : "a test fails now",
		    name);
	else if (t.n > 0 && t.v[0].status != 0 && t.v[0].failed.n == 0)
		agent_end(a, "refuted", "the test command exits with %d",
		    t.v[0].status);
	else if ((gone = missing(a, &t, &name)) > 0 && name != NULL)
		agent_end(a, "refuted",
		    "a test that failed no longer runs (deleted or skipped): "
		    "%.300s",
		    name);
	else if (gone > 0)
		agent_end(a, "refuted",
		    "%llu tests that ran before are skipped or gone (%llu "
		    "passed before, %llu now, %llu skipped)",
		    (unsigned long long)gone,
		    (unsigned long long)task->tests_passed,
		    (unsigned long long)t.n_passed,
		    (unsigned long long)t.n_skipped);
	else
		agent_end(a, "fixed", "%llu tests pass",
		    (unsigned long long)t.n_passed);
out:
	test_run_clear(&t);
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
	if (apply(&v) == 0 && parses(&v) == 0 && checks(&v) == 0)
		tests(&v);
	explain(a);
	strv_clear(&v.paths);
	strv_clear(&v.left);
	fd_close(&v.base_fd);
}
