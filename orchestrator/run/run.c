/*
 * run.c - a run's beginning and end.
 *
 * Order: the store, the snapshot, the host, the baseline; then the loop turns
 * until run_end(). Everything that lives is below foray-host, and that dies
 * with us however we end.
 */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/direct/refuse.h"
#include "orchestrator/run/approve.h"
#include "orchestrator/run/confine.h"
#include "orchestrator/run/deliver.h"
#include "orchestrator/run/detect.h"
#include "orchestrator/run/hooks.h"
#include "orchestrator/run/meter.h"
#include "orchestrator/run/network.h"
#include "orchestrator/run/protected.h"
#include "orchestrator/run/resume.h"
#include "orchestrator/run/staff.h"
#include "orchestrator/run/wall.h"
#include "orchestrator/run/watch.h"
#include "orchestrator/verify/apply.h"
#include "sandbox/policy/guard.h"
#include "sandbox/profile_view.h"

#define TICK_MS 1000

void
run_end(
    struct run *r, int exit_status, const char *status, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	if (r->phase == PHASE_END)
		return;
	r->phase = PHASE_END;
	r->exit = exit_status;
	r->status = status;
	buf_init(&b, 8192);
	va_start(ap, fmt);
	(void)buf_vprintf(&b, fmt, ap);
	va_end(ap);
	r->why = buf_detach(&b, NULL);
	if (r->loop != NULL)
		loop_stop(r->loop, 0);
}

static void
on_signal(int signo unused_arg, void *ctx)
{
	struct run *r = ctx;

	r->interrupts++;
	run_end(r, EXIT_INTERRUPTED, "interrupted", "interrupted");
}

/* Before the loop turns signals are only pending. */
static int
on_snapshot(uint64_t files, uint64_t bytes, void *ctx)
{
	struct run *r = ctx;
	sigset_t pending;

	if (r->plain != NULL)
		plain_snapshot(r->plain, run_now(r), files, bytes);
	return sigpending(&pending) == 0 &&
	    (sigismember(&pending, SIGINT) == 1 ||
		sigismember(&pending, SIGTERM) == 1);
}

static int
find_tree(struct run *r, struct err *e)
{
	char *dir = realpath(r->o.repo, NULL), *top = NULL;
	const char *rel;
	struct stat st;
	int rc;

	if (dir == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: %s", r->o.repo, strerror(errno));
	if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode)) {
		free(dir);
		return err_set(e, ERR_USAGE, "%s: not a directory", r->o.repo);
	}
	if ((rc = snapshot_toplevel(dir, &top, e)) < 0) {
		free(dir);
		return rc;
	}
	r->root = top != NULL ? top : xstrdup(dir);
	rel = path_rel(dir, r->root);
	r->workdir = xstrdup(rel != NULL ? rel : "");
	free(dir);
	if (!text_is_utf8(r->root, strlen(r->root)) ||
	    !text_is_utf8(r->workdir, strlen(r->workdir)))
		return err_set(e, ERR_USAGE,
		    "the path of the tree is not UTF-8: move or link it");
	return refuse_tree(r->root, e);
}

static int
take_snapshot(struct run *r, const char *cache, struct err *e)
{
	char *store = path_join(cache, "snapshots");
	struct snapshot_opts o = {
		.store = store,
		.progress = on_snapshot,
		.ctx = r,
	};
	struct strv hidden = { 0 };
	uint64_t start = loop_now_ms();
	char *home = NULL, *left;
	size_t i;
	int rc = 1;

	(void)path_home(&home, NULL);
	profile_view_hidden(&r->profile, home, &hidden);
	free(home);
	o.hide = &hidden;
	if (r->saved != NULL)
		rc = resume_snapshot(r, store, e);
	if (rc == 1)
		rc = snapshot_create(r->root, &o, &r->snap, e);
	if (rc == 0 && r->saved != NULL)
		rc = resume_check_snapshot(r, e);
	free(store);
	strv_clear(&hidden);
	if (rc < 0)
		return rc;
	left = snapshot_left_out(&r->snap);
	run_event(r, "snapshot",
	    json_pack("{s:s, s:I, s:I, s:b, s:I, s:s*, s:I}", "id", r->snap.id,
		"files", (json_int_t)r->snap.files.n, "bytes",
		(json_int_t)r->snap.bytes, "reused", r->snap.reused, "skipped",
		(json_int_t)r->snap.skipped.n, "left_out", left, "ms",
		(json_int_t)(loop_now_ms() - start)));
	free(left);
	for (i = 0; i < r->snap.skipped.n; i++)
		log_debug("left out: %s", r->snap.skipped.v[i]);
	return 0;
}

static int
find_tests(struct run *r, struct err *e)
{
	struct strv files = { 0 };
	const char *why = NULL;
	struct buf all;
	char *dir;
	size_t i;
	int rc = 0;

	if (r->tests.n == 0) /* else they come from the run that goes on */
		strv_copy(&r->tests, &r->o.tests);
	if (r->tests.n == 0 && r->o.tool == NULL) {
		protected_below(&r->snap.files, r->workdir, &files);
		dir = path_join(r->snap.tree, r->workdir);
		rc = detect_tests(dir, r->o.repo, &files, &r->tests, &why, e);
		free(dir);
		strv_clear(&files);
	}
	if (rc < 0)
		return rc;
	rc = protected_find(r, e);
	if (why != NULL)
		log_info("tests: %s (from %s; -t chooses another)",
		    r->tests.v[0], why);
	buf_init(&all, BUF_NOMAX);
	for (i = 0; i < r->tests.n; i++)
		(void)buf_printf(
		    &all, "%s%s", i > 0 ? "; " : "", r->tests.v[i]);
	if (rc == 0)
		rc = store_set(r->store, "tests", buf_str(&all), e);
	buf_clear(&all);
	return rc;
}

static void
on_max_time(void *ctx)
{
	struct run *r = ctx;
	char limit[32];

	r->ledger.out = true;
	if (r->winner != NULL)
		run_end(r, EXIT_FIXED, "fixed", "%s", r->winner->fix);
	run_end(r, EXIT_BUDGET, "budget", "the time limit of %s is reached",
	    num_fmt_ms(r->o.max_time_ms, limit, sizeof limit));
}

static void
on_tick(void *ctx)
{
	struct run *r = ctx;

	plain_tick(r->plain, run_now(r));
}

static int
set_facts(struct run *r, struct err *e)
{
	char started[32];
	time_t now = time(NULL);
	struct tm tm;
	int rc;

	(void)localtime_r(&now, &tm);
	(void)strftime(started, sizeof started, "%Y-%m-%d %H:%M:%S", &tm);
	(void)((rc = store_set(r->store, "started_at", started, e)) < 0 ||
	    (rc = store_set(r->store, "repo", r->root, e)) < 0 ||
	    (rc = store_set(r->store, "workdir", r->workdir, e)) < 0 ||
	    (rc = store_set(r->store, "kind",
		 r->o.tool != NULL ? "tool" : "run", e)) < 0 ||
	    (rc = store_set(r->store, "model", r->model, e)) < 0 ||
	    (rc = store_set(r->store, "task",
		 r->o.task != NULL ? r->o.task : "", e)) < 0 ||
	    (rc = store_set(r->store, "status", "running", e)) < 0);
	return rc;
}

static json_t *
started_event(const struct run *r)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:s, s:b, s:s*}", "repo",
	    r->root, "sandbox", backend_str(r->o.backend), "model", r->model,
	    "workers", (int)r->o.workers, "dir", store_dir(r->store), "resumed",
	    r->o.resume != NULL, "replay_of",
	    r->old != NULL ? store_id(r->old) : NULL);
}

static int
first_subtasks(struct run *r, struct err *e)
{
	int rc;

	r->phase = PHASE_BASELINE;
	if (r->o.tool != NULL) {
		(void)sched_add(r, KIND_TOOL, "tool", NULL, NULL, NULL, 0);
		return 0;
	}
	if (r->o.resume != NULL)
		return resume_load(r, e);
	if ((rc = resume_save(r, e)) < 0)
		return rc;
	(void)sched_add(r, KIND_BASELINE, "baseline", NULL, NULL, NULL, 0);
	return 0;
}

/* Everything up to the loop, and the loop. */
static int
run_through(struct run *r, struct err *e)
{
	char *cache = NULL;
	int rc;

	if ((rc = set_facts(r, e)) < 0 ||
	    (rc = audit_open(r->store, &r->audit, e)) < 0)
		return rc;
	run_event(r, "run_started", started_event(r));
	if ((rc = meter_start(r, e)) < 0 || (rc = wall_check(r, e)) < 0 ||
	    (rc = wall_cache(r, &cache, e)) < 0)
		return rc;
	if ((r->o.branch != NULL &&
		(rc = apply_branch_check(r->root, r->o.branch, e)) < 0) ||
	    (rc = path_mkdirs(cache, 0700, e)) < 0 ||
	    (rc = confine_find(r, e)) < 0 ||
	    (rc = approvals_create(r, &r->approvals, e)) < 0 ||
	    (rc = watch_create(r, &r->watch, e)) < 0 ||
	    (rc = hooks_begin(r, e)) < 0 || r->phase == PHASE_END ||
	    (rc = take_snapshot(r, cache, e)) < 0 ||
	    (rc = find_tests(r, e)) < 0 || (rc = watch_begin(r, e)) < 0)
		goto out;
	if ((rc = models_start(r, e)) < 0)
		goto out;
	r->system = prompt_system(r);
	if (r->o.max_time_ms != 0)
		(void)loop_timer_add(
		    r->loop, r->o.max_time_ms, 0, on_max_time, r);
	if (r->plain != NULL)
		(void)loop_timer_add(r->loop, TICK_MS, TICK_MS, on_tick, r);
	if ((rc = first_subtasks(r, e)) < 0)
		goto out;
	results_check(r);
	if (r->phase != PHASE_END)
		rc = staff_run(r, cache, e);
out:
	free(cache);
	return rc;
}

static int
exit_of(int code)
{
	switch (code) {
	case ERR_SANDBOX:
		return EXIT_SANDBOX;
	case ERR_USAGE:
	case ERR_NOTFOUND:
	case ERR_SYNTAX:
		return EXIT_USAGE;
	case ERR_MODEL:
		return EXIT_FATAL;
	case -EINTR:
		return EXIT_INTERRUPTED;
	default:
		return EXIT_FATAL;
	}
}

static void
finish(struct run *r)
{
	struct err e = { 0 };
	char *patch = NULL;
	json_t *ev, *others, *wanted;

	sched_close(r);
	if (r->winner != NULL && r->exit == EXIT_FIXED)
		deliver_patch(r, &patch);
	else
		deliver_none(r);
	hooks_end(r);
	ev = json_pack("{s:s, s:s, s:i, s:o, s:f}", "status", r->status,
	    "reason", r->why, "exit", r->exit, "usage",
	    spend_json(&r->ledger.spent), "wall_s", run_now(r));
	if (patch != NULL) {
		(void)json_object_set_new(ev, "patch", json_string(patch));
		(void)json_object_set_new(ev, "evidence",
		    json_string(r->repro != NULL ? "reproducer" : "user_test"));
		(void)json_object_set_new(
		    ev, "subtask", json_string(r->winner->of->id));
		protected_freed(r, r->winner->of->patch,
		    r->winner->of->patch_len, &r->winner->findings);
		(void)json_object_set_new(
		    ev, "warnings", json_from_strv(&r->winner->findings));
		if ((others = results_others(r)) != NULL)
			(void)json_object_set_new(ev, "others", others);
	}
	if (patch == NULL && (wanted = protected_wanted(r)) != NULL)
		(void)json_object_set_new(ev, "protected", wanted);
	if (patch != NULL && r->exit == EXIT_FIXED && r->o.apply)
		(void)json_object_set_new(ev, "applied", json_true());
	if (patch != NULL && r->exit == EXIT_FIXED && r->o.branch != NULL)
		(void)json_object_set_new(
		    ev, "branch", json_string(r->o.branch));
	if (store_set(r->store, "status", r->status, &e) < 0 ||
	    store_set(r->store, "reason", r->why, &e) < 0)
		log_warn("%s", e.text);
	run_event(r, "run_finished", ev);
	meter_stop(r);
	if (patch != NULL && !r->o.json)
		(void)printf("%s\n", patch);
	free(patch);
}

static void
clear(struct run *r)
{
	models_free(r);
	sched_free(r);
	approvals_free(r->approvals);
	watch_free(r->watch);
	hooks_free(r->hooks);
	resume_free(r);
	audit_close(r->audit);
	store_close(r->store);
	plain_free(r->plain);
	snapshot_clear(&r->snap);
	profile_def_clear(&r->profile);
	strv_clear(&r->tests);
	strv_clear(&r->guarded);
	strv_clear(&r->freed);
	strv_clear(&r->base.failing);
	strv_clear(&r->base.flaky);
	free(r->base.output);
	free(r->system);
	free(r->root);
	free(r->workdir);
	free(r->why);
	loop_free(r->loop);
}

static int
open_run(struct run *r, struct err *e)
{
	bool saved = r->o.resume != NULL || r->o.replay != NULL;
	int rc;

	if (saved && (rc = resume_open(r, e)) < 0)
		return rc;
	r->ledger.max_calls = r->o.max_calls;
	r->ledger.max_tokens = r->o.max_tokens;
	r->ledger.max_micro = r->o.max_micro;
	r->ledger.max_time_ms = r->o.max_time_ms;
	if ((rc = models_find(r, e)) < 0 ||
	    (!saved && (rc = find_tree(r, e)) < 0))
		return rc;
	if (r->store == NULL)
		return store_create(&r->store, e);
	/* Time goes on where it stopped. */
	r->t0_ms -= (uint64_t)(store_last_t(r->store) * 1000);
	return 0;
}

/* What was asked for was wrong, or there was no space, before anything was
 * done: nothing is left that a later command could take for the latest run. */
static bool
never_was(const struct run *r, int rc)
{
	return (r->exit == EXIT_USAGE ||
		   (rc == -ENOSPC && r->snap.tree == NULL)) &&
	    r->o.tool == NULL && r->o.resume == NULL && r->next_worker == 0;
}

int
run_main(const struct run_opts *opts, struct tool_result *tool)
{
	struct run r = { .o = *opts, .tool = tool, .t0_ms = loop_now_ms() };
	struct err e = { 0 };
	char *unused = NULL;
	int rc, ret;

	TAILQ_INIT(&r.subtasks);
	STAILQ_INIT(&r.found);
	TAILQ_INIT(&r.workers);
	RB_INIT(&r.by_name);
	r.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	r.loop = loop_create();
	(void)loop_signal_add(r.loop, SIGINT, on_signal, &r);
	(void)loop_signal_add(r.loop, SIGTERM, on_signal, &r);
	(void)loop_signal_add(r.loop, SIGHUP, on_signal, &r);
	if ((rc = open_run(&r, &e)) < 0) {
		log_error("%s", e.text);
		ret = exit_of(rc);
		goto out;
	}
	log_id(LOG_ID_RUN, store_id(r.store));
	if (!opts->quiet && !log_is_json())
		r.plain = plain_create(stderr);
	rc = run_through(&r, &e);
	if (rc < 0) {
		if (exit_of(rc) == EXIT_INTERRUPTED)
			run_end(
			    &r, EXIT_INTERRUPTED, "interrupted", "interrupted");
		else
			run_end(&r, exit_of(rc), "error", "%s", e.text);
	}
	finish(&r);
	ret = r.exit;
	if (r.plain == NULL && r.exit != EXIT_FIXED)
		log_error("%s", r.why);
	if (never_was(&r, rc))
		unused = xstrdup(store_dir(r.store));
out:
	clear(&r);
	if (unused != NULL && path_rmtree(unused, &e) < 0)
		log_warn("%s", e.text);
	free(unused);
	return ret;
}
