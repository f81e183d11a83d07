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
#include "common/path.h"
#include "orchestrator/cmd.h"
#include "orchestrator/egress/single.h"
#include "orchestrator/run/run.h"
#include "sandbox/profile.h"
#include "sandbox/snapshot.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

static int cmd_sandbox_main(int argc, char **argv);

const struct cmd cmd_sandbox = {
	.name = "sandbox",
	.synopsis = "[-C DIR] [--copy] [--allow-net HOST]... -- CMD [ARG]...",
	.purpose = "Run a command in the worker's command sandbox",
	.help =
	    "  -C, --repo DIR   the tree (.); writable, its .git read-only\n"
	    "      --copy       on a copy that is thrown away\n"
	    "      --allow-net HOST[:PORT]\n"
	    "                   reach this host by a proxy (more: again; "
	    "settings: network.allow)\n\n"
	    "No network but that, no home directory, no other processes. The command's "
	    "exit status is\npassed on; 125 is a failure of the sandbox "
	    "itself.\n",
	.run = cmd_sandbox_main,
};

struct tree {
	char *dir, *root;
	struct snapshot snap;   /* --copy */
	struct overlay overlay; /* --copy */
	bool copy;
	struct strv allow; /* --allow-net */
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
	strv_clear(&t->allow);
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
wait_for(struct sandbox_proc *p, int sigfd, struct single *net)
{
	struct pollfd pfd[2] = { { .fd = sigfd, .events = POLLIN },
		{ .events = POLLIN } };
	struct signalfd_siginfo si;
	int status;

	for (;;) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			return status;
		pfd[1].fd = single_fd(net);
		if (poll(pfd, nitems(pfd), -1) <= 0)
			continue;
		if (pfd[1].revents != 0)
			single_turn(net);
		if (pfd[0].revents == 0 ||
		    read(sigfd, &si, sizeof si) != sizeof si)
			continue;
		if (si.ssi_signo != SIGCHLD)
			sandbox_kill(p);
	}
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
	struct single *net = NULL;
	struct err no_net;
	struct sandbox_proc p;
	char *home = NULL;
	sigset_t set;
	int sigfd, r, status, listener = -1;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if ((sigfd = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
		return err_set(e, -errno, "signalfd: %s", strerror(errno));
	if ((r = single_start(&t->allow, &net, e)) < 0) {
		fd_close(&sigfd);
		return r;
	}
	prof.egress = net != NULL;
	if (net != NULL)
		s.ret_listen = &listener;
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
	r = sandbox_start(&s, &p, e);
	if (r == 0 && listener >= 0 &&
	    single_listen(net, &listener, &no_net) < 0)
		log_error("%s", no_net.text);
	if (r == 0 && p.live_readonly)
		log_warn("the tree is read-only here: its files can't be "
			 "mapped to an unprivileged owner on this file system "
			 "(--copy gives a writable copy)");
	if (r == 0) {
		int ws = wait_for(&p, sigfd, net);

		if (!sandbox_finished(&p, ws, &status))
			r = err_set(e, ERR_SANDBOX,
			    "bwrap could not set the sandbox up (foray doctor "
			    "says what is missing)");
		else
			r = status;
	}
	single_stop(net);
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
		{ "allow-net", required_argument, NULL, 'n' },
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
		} else if (opt == 'n') {
			strv_add(&t.allow, optarg);
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
