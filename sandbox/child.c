#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "common/text.h"
#include "sandbox/bwrap_args.h"
#include "sandbox/cgroup.h"
#include "sandbox/child.h"
#include "sandbox/limits.h"
#include "sandbox/premount.h"
#include "sandbox/shield.h"
#include "sandbox/stage.h"
#include "sandbox/userns.h"

#define MERGED "@merged"
#define UPPER "@upper" /* what was written to it */

/* More read-only files in the tree than that are worth a mount namespace of
 * our own (1 ms): see shield.h. */
#define SHIELDS_FOR_BWRAP 6

/* The child's own copies, which it rewrites on the way. They outlive it where
 * the memory is its parent's too (vfork): so they are made and freed there. */
struct work {
	const struct child *c;
	struct sandbox_spec spec;
	struct overlay overlay;
	bool has_overlay;
	bool own_mounts; /* we have a mount namespace of our own */
	char *bwrap;
	int status_fd, report_fd; /* after the descriptors were sorted */
	int args_fd, filter_fd;
	int hold_fd;
	struct strv argv; /* of bwrap */
};

static void
report(int fd, enum report_kind kind, const struct err *e)
{
	struct child_report rep;
	ssize_t n;

	memset(&rep, 0, sizeof rep);
	rep.kind = kind;
	if (e != NULL)
		rep.e = *e;
	n = write(fd, &rep, sizeof rep);
	(void)n; /* nobody is left to hear it */
}

/* Out of the way of 0, 1 and 2, where a source may stand itself. */
static int
move_up(int fd, struct err *e)
{
	int moved;

	if (fd < 0)
		fd = moved = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, 10);
	if (fd < 0 || moved < 0)
		return err_set(e, ERR_SANDBOX, "descriptors of the child: %s",
		    strerror(errno));
	return moved;
}

static int
sort_fds(const struct child *c, int *ret_status, int *ret_hold, int report_fd,
    struct err *e)
{
	int fds[3], keep[3];

	for (int i = 0; i < 3; i++) {
		if ((fds[i] = move_up(c->start->fds[i], e)) < 0)
			return fds[i];
	}
	if ((*ret_status = move_up(c->status_fd, e)) < 0)
		return *ret_status;
	*ret_hold = -1;
	if (c->hold_fd >= 0 && (*ret_hold = move_up(c->hold_fd, e)) < 0)
		return *ret_hold;
	for (int i = 0; i < 3; i++) {
		if (dup2(fds[i], i) < 0)
			return err_set(e, ERR_SANDBOX, "descriptor %d: %s", i,
			    strerror(errno));
	}
	keep[0] = *ret_status;
	keep[1] = report_fd;
	keep[2] = *ret_hold;
	spawn_child_clean(keep, nitems(keep));
	(void)fd_cloexec(report_fd, true);
	return 0;
}

int
child_fds(
    const struct child *c, int *ret_status, int *ret_report, struct err *e)
{
	int hold, r;

	if ((*ret_report = move_up(c->report_fd, e)) < 0)
		return *ret_report;
	if ((r = sort_fds(c, ret_status, &hold, *ret_report, e)) == 0)
		(void)fd_cloexec(*ret_status, true);
	return r;
}

void
child_fail(int report_fd, const struct err *e)
{
	report(report_fd, REPORT_FAILED, e);
	_exit(127);
}

void
child_live_readonly(int report_fd)
{
	report(report_fd, REPORT_LIVE_READONLY, NULL);
}

/* The end of our parent's thread ends us. Lost when the uid changes, so it is
 * set after that; a parent that was gone before is seen by the pipe (getppid()
 * says nothing across pid namespaces). */
static int
tie_to_parent(const struct work *w, struct err *e)
{
	struct pollfd p = { .fd = w->report_fd, .events = POLLOUT };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_set(
		    e, ERR_SANDBOX, "death signal: %s", strerror(errno));
	if (poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0)
		return err_set(e, ERR_SANDBOX, "the parent is gone");
	return 0;
}

static bool
is_bind(const struct sandbox_mount *m)
{
	return m->kind == MOUNT_RO || m->kind == MOUNT_RW;
}

/* Staged with the overlay's directory; on a tmpfs it comes into being later. */
static bool
is_overlays(const struct work *w, const struct sandbox_mount *m)
{
	return w->has_overlay && path_is_below(m->src, w->overlay.dir);
}

static int
stage_mounts(struct work *w, struct stage *st, struct err *e)
{
	const struct sandbox_mount *m;
	int r;

	for (size_t i = 0; i < w->spec.n_mounts; i++) {
		m = &w->spec.mounts[i];
		if (!is_bind(m) || text_starts(m->src, MERGED) ||
		    is_overlays(w, m))
			continue;
		if (m->optional && access(m->src, F_OK) < 0)
			continue;
		if ((r = stage_add(st, m->src, e)) < 0)
			return r;
	}
	if (!w->has_overlay)
		return 0;
	for (size_t i = 0; i < w->overlay.lowers.n; i++) {
		if ((r = stage_add(st, w->overlay.lowers.v[i], e)) < 0)
			return r;
	}
	return stage_add(st, w->overlay.dir, e);
}

static void
restage(const struct stage *st, char **path)
{
	char *there = stage_path(st, *path);

	free(*path);
	*path = there;
}

/* From root to the sandboxes' uid. */
static int
enter_stage(struct work *w, struct err *e)
{
	const struct strv *live = w->c->start->live;
	struct stage st = { 0 };
	bool readonly = false, any_readonly = false;
	int r;

	if ((r = stage_open(&st, e)) < 0)
		return r;
	/* First, since what lies below it is then there already. */
	for (size_t i = 0; live != NULL && i < live->n; i++) {
		r = stage_add_idmap(&st, live->v[i], &readonly, e);
		if (r < 0)
			return r;
		any_readonly |= readonly;
	}
	if ((r = stage_mounts(w, &st, e)) < 0 ||
	    (r = stage_add(&st, w->bwrap, e)) < 0 ||
	    (r = stage_drop(&st, e)) < 0)
		return r;
	if (any_readonly)
		report(w->report_fd, REPORT_LIVE_READONLY, NULL);
	stage_spec(&st, &w->spec);
	restage(&st, &w->bwrap);
	for (size_t i = 0; w->has_overlay && i < w->overlay.lowers.n; i++)
		restage(&st, &w->overlay.lowers.v[i]);
	if (w->has_overlay)
		restage(&st, &w->overlay.dir);
	return 0;
}

static int
enter_namespaces(struct work *w, struct err *e)
{
	if (w->has_overlay) {
		w->own_mounts = true;
		return overlay_enter(&w->overlay, e);
	}
	/* In the person's own tree somebody may be at work: nothing there is
	 * mounted by its name. */
	if (shield_count(&w->spec) >
		(w->c->start->live != NULL ? 0 : SHIELDS_FOR_BWRAP) &&
	    overlay_namespaces(NULL) == 0) {
		w->own_mounts = true;
		return 0;
	}
	/* NPROC counts what a uid runs in a user namespace and those below it:
	 * without one of our own it would count everything else, too. (One of
	 * mounts would be copied and torn down for nothing.) */
	if (w->spec.limits.procs > 0 && userns_unshare(0, NULL) < 0)
		w->spec.limits.procs = 0;
	return 0;
}

static int
place_merged(struct work *w, struct err *e)
{
	struct sandbox_mount *m;
	bool merged;
	char *src;

	for (size_t i = 0; i < w->spec.n_mounts; i++) {
		m = &w->spec.mounts[i];
		if (!is_bind(m))
			continue;
		merged = text_starts(m->src, MERGED);
		if (!merged && strcmp(m->src, UPPER) != 0)
			continue;
		if (!w->has_overlay)
			return err_set(e, ERR_SANDBOX,
			    "the spec wants an overlay and there is none");
		src = xasprintf("%s/%s%s", w->overlay.dir, merged ? "m" : "up",
		    merged ? m->src + strlen(MERGED) : "");
		free(m->src);
		m->src = src;
	}
	return 0;
}

/* On the overlay's work directory: the kernel holds it by itself. */
static void
lay_ground(struct work *w)
{
	char *at;

	if (!w->has_overlay)
		return;
	at = path_join(w->overlay.dir, "wk");
	premount(&w->spec, at);
	free(at);
}

/* The command's variables are none of bwrap's, which starts outside: LD_PRELOAD
 * would load a library of the tree's into it. */
static void
env_args(const struct strv *env, struct strv *args)
{
	const char *eq;

	for (size_t i = 0; i < env->n; i++) {
		eq = strchr(env->v[i], '=');
		strv_add(args, "--setenv");
		strv_addn(args, env->v[i], (size_t)(eq - env->v[i]));
		strv_add(args, eq + 1);
	}
}

/* A file that bwrap reads; its number, or negative. */
static int
make_file(const char *name, const void *data, size_t len, struct err *e)
{
	int fd = fd_memfile(name, data, len);

	if (fd < 0)
		return err_set(
		    e, ERR_SANDBOX, "%s file: %s", name, strerror(-fd));
	(void)fd_cloexec(fd, false);
	return fd;
}

/* Texts become descriptors. */
static int
make_texts(struct sandbox_spec *s, struct err *e)
{
	struct sandbox_mount *m;
	int fd;

	for (size_t i = 0; i < s->n_mounts; i++) {
		m = &s->mounts[i];
		if (m->kind != MOUNT_DATA)
			continue;
		if ((fd = make_file("data", m->src, strlen(m->src), e)) < 0)
			return fd;
		free(m->src);
		m->src = xasprintf("%d", fd);
	}
	return 0;
}

static int
make_files(struct work *w, struct err *e)
{
	struct strv args = { 0 };
	struct buf b;
	int r;

	w->filter_fd = make_file("seccomp", w->c->filter, w->c->filter_len, e);
	if (w->filter_fd < 0)
		return w->filter_fd;
	if ((r = make_texts(&w->spec, e)) < 0)
		return r;
	bwrap_args(&w->spec, w->filter_fd, w->status_fd, &args);
	env_args(&w->spec.env, &args);
	buf_init(&b, BUF_NOMAX);
	for (size_t i = 0; i < args.n; i++)
		(void)buf_add(&b, args.v[i], strlen(args.v[i]) + 1);
	w->args_fd = make_file("args", b.data, b.len, e);
	buf_clear(&b);
	strv_clear(&args);
	return w->args_fd < 0 ? w->args_fd : 0;
}

/* Under the limits nothing may be allocated any more: ours may be larger than
 * what the command gets (under a sanitizer it always is). */
static int
exec_bwrap(struct work *w, struct err *e)
{
	struct strv *args = &w->argv;
	char *const none[] = { NULL };
	int r;

	strv_addl(args, "bwrap", "--args", (char *)NULL);
	strv_addf(args, "%d", w->args_fd);
	if (w->hold_fd >= 0) {
		strv_add(args, "--block-fd");
		strv_addf(args, "%d", w->hold_fd);
	}
	strv_add(args, "--");
	strv_extend(args, &w->spec.argv);
	if (w->c->start->ignore_keys) {
		(void)signal(SIGINT, SIG_IGN);
		(void)signal(SIGQUIT, SIG_IGN);
	}
	if ((r = limits_apply(&w->spec.limits, e)) < 0)
		return r;
	(void)execve(w->bwrap, strv_argv(args), none);
	return err_set(e, ERR_SANDBOX, "run %s: %s", w->bwrap, strerror(errno));
}

/* When memory is short, what a model made us run goes before the worker that
 * looks after it, and before anything else of this machine. */
static void
die_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0)
		fd_close(&fd); /* it stays as it was */
	fd_close(&fd);
}

static int
prepare(struct work *w, struct err *e)
{
	int r;

	if ((r = cgroup_enter(w->c->start->group, e)) < 0)
		return r;
	if (w->spec.layer == LAYER_INNER)
		die_first();
	/* A terminal's signals are for the person's program; a sandbox that
	 * keeps the terminal stays in its foreground. */
	if (!w->spec.keep_tty)
		(void)setsid();
	if (w->c->start->stage && geteuid() == 0 && (r = enter_stage(w, e)) < 0)
		return r;
	if ((r = tie_to_parent(w, e)) < 0 || (r = enter_namespaces(w, e)) < 0 ||
	    (r = tie_to_parent(w, e)) < 0 || (r = place_merged(w, e)) < 0 ||
	    (r = shield_apply(&w->spec, w->own_mounts, e)) < 0)
		return r;
	lay_ground(w);
	if ((r = make_files(w, e)) < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(
		    e, ERR_SANDBOX, "no new privileges: %s", strerror(errno));
	return 0;
}

struct work *
child_work_new(const struct child *c)
{
	const struct sandbox_start *s = c->start;
	struct work *w = xcalloc(1, sizeof *w);

	w->c = c;
	w->status_fd = w->report_fd = w->hold_fd = -1;
	spec_copy(&w->spec, s->spec);
	w->bwrap = xstrdup(c->bwrap);
	if (s->overlay != NULL) {
		w->has_overlay = true;
		w->overlay = *s->overlay;
		w->overlay.lowers = (struct strv){ 0 };
		strv_copy(&w->overlay.lowers, &s->overlay->lowers);
		w->overlay.dir = xstrdup(s->overlay->dir);
	}
	return w;
}

void
child_work_free(struct work *w)
{
	if (w == NULL)
		return;
	spec_clear(&w->spec);
	overlay_clear(&w->overlay);
	strv_clear(&w->argv);
	free(w->bwrap);
	free(w);
}

void
child_run(const struct child *c)
{
	struct work *w = c->work;
	struct err e;

	if ((w->report_fd = move_up(c->report_fd, &e)) < 0)
		_exit(127);
	if (sort_fds(c, &w->status_fd, &w->hold_fd, w->report_fd, &e) == 0 &&
	    prepare(w, &e) == 0)
		(void)exec_bwrap(w, &e);
	report(w->report_fd, REPORT_FAILED, &e);
	_exit(127);
}
