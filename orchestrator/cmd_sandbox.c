/*
 * cmd_sandbox.c - one command in the command sandbox of a worker: the real tree
 * with .git read-only, or a throw-away copy.
 */
#include "common/compat.h"

#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/run/run.h"
#include "sandbox/cgroup.h"
#include "sandbox/limits.h"
#include "sandbox/profile.h"
#include "sandbox/snapshot.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

static int cmd_sandbox_main(int argc, char **argv);

const struct cmd cmd_sandbox = {
	.name = "sandbox",
	.synopsis = "[-C DIR] [--copy] -- CMD [ARG]...",
	.purpose = "Run a command in the worker's command sandbox",
	.help =
	    "  -C, --repo DIR   the tree (.); writable, its .git read-only\n"
	    "      --copy       on a copy that is thrown away\n\n"
	    "No network, no home directory, no other processes. The command's "
	    "exit status is\npassed on; 125 is a failure of the sandbox "
	    "itself.\n",
	.run = cmd_sandbox_main,
};

#define POLL_MS 250 /* with a time limit */

struct tree {
	char *dir, *root;
	struct snapshot snap;   /* --copy */
	struct overlay overlay; /* --copy */
	bool copy;
};

static void
tree_clear(struct tree *t)
{
	if (t->overlay.dir != NULL)
		(void)rmdir(t->overlay.dir);
	overlay_clear(&t->overlay);
	snapshot_clear(&t->snap);
	free(t->dir);
	free(t->root);
}

static int
make_copy(struct tree *t, struct err *e)
{
	char mount[] = "/tmp/foray-copy-XXXXXX", *cache = NULL, *store;
	struct snapshot_opts o = { 0 };
	uid_t uid = stage_uid();
	int r;

	if ((r = path_cache_dir(&cache, e)) < 0)
		return r;
	store = path_join(cache, "snapshots");
	o.store = store;
	r = snapshot_create(t->root, &o, &t->snap, e);
	free(store);
	free(cache);
	if (r < 0)
		return r;
	if (mkdtemp(mount) == NULL)
		return err_set(e, -errno, "%s: %s", mount, strerror(errno));
	t->overlay.dir = xstrdup(mount);
	t->overlay.on_tmpfs = true;
	strv_add(&t->overlay.lowers, t->snap.tree);
	if (uid != geteuid() && chown(mount, uid, uid) < 0)
		return err_set(
		    e, -errno, "chown %s: %s", mount, strerror(errno));
	return 0;
}

static int
find_tree(struct tree *t, const char *repo, struct err *e)
{
	int r;

	if ((t->dir = realpath(repo, NULL)) == NULL)
		return err_set(e, ERR_USAGE, "%s: %s", repo, strerror(errno));
	if ((r = snapshot_toplevel(t->dir, &t->root, e)) < 0)
		return r;
	if (t->root == NULL)
		t->root = xstrdup(t->dir);
	if (strcmp(t->root, "/") == 0)
		return err_set(e, ERR_USAGE,
		    "the tree is the whole file system: name a directory "
		    "with -C");
	return t->copy ? make_copy(t, e) : 0;
}

/* Signals that reach us go to the command; when we die it dies. */
static int
wait_for(struct sandbox_proc *p, int sigfd, uint64_t wall_ms)
{
	uint64_t end = loop_now_ms() + wall_ms, now;
	struct pollfd pfd = { .fd = sigfd, .events = POLLIN };
	struct signalfd_siginfo si;
	int status;

	for (;;) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			return status;
		now = loop_now_ms();
		if (wall_ms > 0 && now >= end) {
			log_warn("killed: time limit of %ju s",
			    (uintmax_t)wall_ms / 1000);
			sandbox_kill(p);
			wall_ms = 0;
		}
		if (poll(&pfd, 1, wall_ms > 0 ? POLL_MS : -1) <= 0 ||
		    read(sigfd, &si, sizeof si) != sizeof si)
			continue;
		if (si.ssi_signo != SIGCHLD)
			sandbox_kill(p);
	}
}

/* The groups of one command; NULL where there are none. */
struct groups {
	struct cgroup *top, *own;
};

#define SANDBOX_PIDS 4096

/* What the profile says; else what stops a bomb and leaves the machine a
 * tenth of its memory. */
static void
make_groups(struct sandbox_spec *spec, struct groups *g)
{
	struct sandbox_limits *l = &spec->limits;
	struct cgroup_site site;
	struct err e;

	cgroup_find(&site);
	if (l->memory_bytes == 0)
		l->memory_bytes = cgroup_memory(&site) / 10 * 9;
	if (l->pids == 0)
		l->pids = SANDBOX_PIDS;
	cgroup_site_clear(&site);
	if (cgroup_open(NULL, stage_uid(), &g->top, &e) < 0 ||
	    cgroup_child(g->top, "run", l, &g->own, &e) < 0)
		log_debug("no control group: %s", e.text);
	limits_shape(spec);
}

/* Says what it was killed for, and removes them. */
static void
end_groups(struct groups *g, const struct sandbox_limits *l)
{
	struct cgroup_events ev;

	cgroup_events(g->own, &ev);
	if (ev.oom_kills > 0)
		log_warn("%ju process(es) killed: memory limit of %ju MiB",
		    (uintmax_t)ev.oom_kills,
		    (uintmax_t)(l->memory_bytes >> 20));
	if (ev.pids_hits > 0)
		log_warn("no more processes were let: limit of %ju",
		    (uintmax_t)l->pids);
	(void)cgroup_close(&g->own, true);
	(void)cgroup_close(&g->top, true);
}

static int
run(const struct tree *t, char **argv, bool tty, struct err *e)
{
	struct toolchain tools = { 0 };
	struct sandbox_spec spec;
	struct profile prof = { .tools = &tools,
		.root = t->root,
		.workdir = t->dir,
		.tree_src = t->copy ? "@merged" : t->root };
	struct sandbox_start s = { .spec = &spec,
		.stage = true,
		.fds = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO },
		.overlay = t->copy ? &t->overlay : NULL,
		.live = t->copy ? NULL : t->root };
	struct groups groups = { 0 };
	struct sandbox_proc p;
	char *home = NULL;
	sigset_t set;
	int sigfd, r, status;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if ((sigfd = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
		return err_set(e, -errno, "signalfd: %s", strerror(errno));
	(void)path_home(&home, NULL);
	toolchain_find(getenv("PATH"), home, t->root, &tools);
	profile_direct(&prof, &spec);
	spec.keep_tty = tty;
	/* By a shell, so that a command that is not there is 127 and no failure
	 * of the sandbox. */
	strv_addl(&spec.argv, "/bin/sh", "-c", "exec \"$@\"", "sandbox",
	    (char *)NULL);
	for (; *argv != NULL; argv++)
		strv_add(&spec.argv, *argv);
	make_groups(&spec, &groups);
	s.group = groups.own;
	r = sandbox_start(&s, &p, e);
	if (r == 0 && p.live_readonly)
		log_warn("the tree is read-only here: its files can't be "
			 "mapped to an unprivileged owner on this file system "
			 "(--copy gives a writable copy)");
	if (r == 0) {
		int ws = wait_for(&p, sigfd, spec.limits.wall_ms);

		if (!sandbox_finished(&p, ws, &status))
			r = err_set(e, ERR_SANDBOX,
			    "bwrap could not set the sandbox up (foray doctor "
			    "says what is missing)");
		else
			r = status;
	}
	end_groups(&groups, &spec.limits);
	fd_close(&sigfd);
	spec_clear(&spec);
	toolchain_clear(&tools);
	free(home);
	return r;
}

static int
cmd_sandbox_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repo", required_argument, NULL, 'C' },
		{ "copy", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct tree t = { 0 };
	const char *repo = ".";
	struct err e = { 0 };
	int opt, r;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+:C:h", options, NULL)) != -1) {
		if (opt == 'h')
			return cmd_help(&cmd_sandbox);
		if (opt == 'C') {
			repo = optarg;
		} else if (opt == 'c') {
			t.copy = true;
		} else {
			(void)cmd_bad_option(&cmd_sandbox, opt, argv);
			return EXIT_OWN;
		}
	}
	if (optind == argc) {
		(void)cmd_usage(&cmd_sandbox, "give the command after --");
		return EXIT_OWN;
	}
	if ((r = find_tree(&t, repo, &e)) == 0)
		r = run(&t, argv + optind, isatty(STDIN_FILENO) == 1, &e);
	tree_clear(&t);
	if (r < 0) {
		log_error("%s", e.text);
		return EXIT_OWN;
	}
	return r;
}
