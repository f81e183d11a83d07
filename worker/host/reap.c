/*
 * reap.c - what workers leave behind: orphaned processes and workspaces.
 */
#include "common/compat.h"

#include "worker/host/reap.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/workspace.h"

#define REMOVERS 4
#define TRIES 20 /* of a removal: processes may still be dying in it */
#define TRY_EVERY_MS 50
#define FORK_AGAIN_MS 1000

/* A removal: of a workspace, or of all leftovers below parent. */
struct removal {
	STAILQ_ENTRY(removal) entry;
	struct workspace ws;
	char *parent;
};

struct reaper {
	struct loop *loop;
	struct loop_watch *sigchld;
	struct loop_watch *again;
	pid_t *known; /* children that are watched; in no order */
	size_t n_known;
	size_t known_size;
	STAILQ_HEAD(removal_list, removal) waiting;
	size_t n_waiting;
	size_t n_running;
	bool stopped;
};

/* --- processes ----------------------------------------------------------- */

static bool
is_known(const struct reaper *r, pid_t pid)
{
	size_t i;

	for (i = 0; i < r->n_known; i++) {
		if (r->known[i] == pid)
			return true;
	}
	return false;
}

void
reap_know(struct reaper *r, pid_t pid)
{
	if (r->n_known == r->known_size) {
		r->known_size = r->known_size > 0 ? 2 * r->known_size : 16;
		r->known =
		    xreallocarray(r->known, r->known_size, sizeof *r->known);
	}
	r->known[r->n_known++] = pid;
}

void
reap_done(struct reaper *r, pid_t pid)
{
	size_t i;

	for (i = 0; i < r->n_known; i++) {
		if (r->known[i] == pid) {
			r->known[i] = r->known[--r->n_known];
			break;
		}
	}
	/* It may have stood before others in the queue of the dead. */
	reap_orphans(r);
}

void
reap_orphans(struct reaper *r)
{
	siginfo_t si;

	for (;;) {
		si.si_pid = 0;
		/* WNOWAIT: a known child's status is for its own watch. */
		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    si.si_pid == 0)
			return;
		/* It hides those behind it until its watch has run. */
		if (is_known(r, si.si_pid))
			return;
		(void)waitpid(si.si_pid, NULL, WNOHANG); /* it is dead */
	}
}

static void
sigchld_cb(int signo unused_arg, void *ctx)
{
	reap_orphans(ctx);
}

/* --- removals ------------------------------------------------------------ */

static void start_removals(struct reaper *r);

static void
sleep_ms(long ms)
{
	struct timespec ts = { .tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&ts, NULL); /* shorter does no harm */
}

static void
remove_tree(const char *dir)
{
	struct err e;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (path_rmtree(dir, &e) == 0)
			return;
		sleep_ms(TRY_EVERY_MS);
	}
	log_warn("%s", e.text);
}

/* In a child. Its copies of the sockets' descriptors would keep connections
 * open that the parent has closed. */
static void run_removal(struct removal *rm) noreturn_fn;

static void
run_removal(struct removal *rm)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	spawn_child_clean(NULL, 0);
	if (rm->parent != NULL)
		workspace_sweep(rm->parent);
	else
		remove_tree(rm->ws.dir);
	_exit(0);
}

/* What the child removed, as memory. */
static void
removal_free(struct removal *rm)
{
	free(rm->parent);
	free(rm->ws.dir);
	free(rm->ws.tree_src);
	free(rm->ws.up_src);
	overlay_clear(&rm->ws.overlay);
	free(rm);
}

static void
remover_gone_cb(pid_t pid, int status unused_arg, void *ctx)
{
	struct reaper *r = ctx;

	r->n_running--;
	reap_done(r, pid);
	start_removals(r);
}

static void
again_cb(void *ctx)
{
	struct reaper *r = ctx;

	r->again = NULL;
	start_removals(r);
}

static void
start_removals(struct reaper *r)
{
	struct removal *rm;
	pid_t pid;

	while (!r->stopped && r->n_running < REMOVERS &&
	    (rm = STAILQ_FIRST(&r->waiting)) != NULL) {
		pid = fork();
		if (pid == 0)
			run_removal(rm);
		if (pid < 0) {
			if (r->again == NULL)
				r->again = loop_timer_add(
				    r->loop, FORK_AGAIN_MS, 0, again_cb, r);
			return;
		}
		reap_know(r, pid);
		if (loop_child_add(r->loop, pid, remover_gone_cb, r) == NULL)
			reap_done(r, pid); /* an orphan among others then */
		else
			r->n_running++;
		STAILQ_REMOVE_HEAD(&r->waiting, entry);
		r->n_waiting--;
		removal_free(rm);
	}
}

static void
add_removal(struct reaper *r, struct removal *rm)
{
	STAILQ_INSERT_TAIL(&r->waiting, rm, entry);
	r->n_waiting++;
	start_removals(r);
}

void
reap_workspace(struct reaper *r, struct workspace *w)
{
	struct removal *rm;

	if (w->dir == NULL)
		return;
	rm = xcalloc(1, sizeof *rm);
	rm->ws = *w;
	memset(w, 0, sizeof *w);
	add_removal(r, rm);
}

void
reap_leftovers(struct reaper *r, const char *parent)
{
	struct removal *rm = xcalloc(1, sizeof *rm);

	rm->parent = xstrdup(parent);
	add_removal(r, rm);
}

size_t
reap_pending(const struct reaper *r)
{
	return r->n_waiting + r->n_running;
}

void
reap_stop(struct reaper *r)
{
	r->stopped = true;
}

/* --- life ---------------------------------------------------------------- */

struct reaper *
reaper_create(struct loop *l)
{
	struct reaper *r = xcalloc(1, sizeof *r);

	r->loop = l;
	STAILQ_INIT(&r->waiting);
	r->sigchld = loop_signal_add(l, SIGCHLD, sigchld_cb, r);
	if (r->sigchld == NULL)
		fatal("SIGCHLD: %s", strerror(errno));
	return r;
}

void
reaper_free(struct reaper *r)
{
	struct removal *rm;

	if (r == NULL)
		return;
	while ((rm = STAILQ_FIRST(&r->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&r->waiting, entry);
		removal_free(rm);
	}
	loop_del(r->loop, r->sigchld);
	loop_del(r->loop, r->again);
	free(r->known);
	free(r);
}

void
reap_all(uint64_t limit_ms)
{
	uint64_t end = loop_now_ms() + limit_ms;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (pid < 0 && errno != EINTR)
			return; /* no child is left */
		if (pid == 0) {
			if (loop_now_ms() >= end)
				return;
			sleep_ms(2);
		}
	}
}

void
reap_tree(const char *path)
{
	if (fork() != 0) /* without a child the next host removes it */
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	spawn_child_clean(NULL, 0);
	remove_tree(path);
	_exit(0);
}
