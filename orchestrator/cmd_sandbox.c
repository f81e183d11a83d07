/*
 * cmd_sandbox.c - one command in the command sandbox of a worker: the real tree
 * with .git read-only, or a throw-away copy.
 */
#include "common/compat.h"

#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
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
#include "orchestrator/run/run.h"
#include "sandbox/profile.h"
#include "sandbox/snapshot.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

/* As a worker's commands have them. */
#define LIMIT_DATA ((uint64_t)4096 << 20)
#define LIMIT_FILE ((uint64_t)4096 << 20)
#define LIMIT_PROCS 512

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

/* A link could be replaced by a command, since nothing can be mounted on it. */
static int
check_git_link(const char *root, struct err *e)
{
	char *git = path_join(root, ".git");
	struct stat st;
	int r = 0;

	if (lstat(git, &st) == 0 && S_ISLNK(st.st_mode))
		r = err_set(e, ERR_USAGE,
		    "%s is a symbolic link, which can't be made read-only: use "
		    "--copy",
		    git);
	free(git);
	return r;
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
	return t->copy ? make_copy(t, e) : check_git_link(t->root, e);
}

/* --- standard input --------------------------------------------------------
 *
 * /proc/self/fd opens a descriptor's file anew, for writing, too, and what a
 * directory holds and what is above it: nothing but a stream goes inside.
 */

static int
check_stdio(struct err *e)
{
	struct stat st;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &st) < 0 || (fcntl(fd, F_GETFL) & O_PATH) != 0)
			return err_set(e, ERR_USAGE,
			    "descriptor %d is not open for reading or writing",
			    fd);
		if (S_ISDIR(st.st_mode))
			return err_set(
			    e, ERR_USAGE, "descriptor %d is a directory", fd);
	}
	return 0;
}

static void feed(int to) noreturn_fn;

static void
feed(int to)
{
	static char bite[65536];
	ssize_t n;

	(void)signal(SIGPIPE, SIG_IGN);
	while ((n = read(STDIN_FILENO, bite, sizeof bite)) > 0) {
		if (fd_write_all(to, bite, (size_t)n) < 0)
			break;
	}
	_exit(0);
}

/* A file comes through a pipe. *ret_pid: who fills it, or -1; *ret_fd is
 * STDIN_FILENO then. */
static int
open_stdin(int *ret_fd, pid_t *ret_pid, struct err *e)
{
	struct stat st;
	int fds[2], r;

	*ret_fd = STDIN_FILENO;
	*ret_pid = -1;
	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if ((r = fd_pipe(fds)) < 0)
		return err_set(e, r, "pipe: %s", strerror(-r));
	if ((*ret_pid = fork()) < 0) {
		r = err_set(e, -errno, "fork: %s", strerror(errno));
		fd_close(&fds[0]);
		fd_close(&fds[1]);
		return r;
	}
	if (*ret_pid == 0) {
		fd_close(&fds[0]);
		feed(fds[1]);
	}
	fd_close(&fds[1]);
	*ret_fd = fds[0];
	return 0;
}

static void
close_stdin(int fd, pid_t feeder)
{
	if (feeder < 0)
		return;
	fd_close(&fd);
	(void)kill(feeder, SIGKILL);
	while (waitpid(feeder, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* Signals that reach us go to the command; when we die it dies. */
static int
wait_for(struct sandbox_proc *p, int sigfd)
{
	struct pollfd pfd = { .fd = sigfd, .events = POLLIN };
	struct signalfd_siginfo si;
	int status;

	for (;;) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			return status;
		if (poll(&pfd, 1, -1) <= 0 ||
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
	struct sandbox_proc p;
	char *home = NULL;
	pid_t feeder = -1;
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
	spec.limits = (struct sandbox_limits){
		.data_bytes = LIMIT_DATA,
		.file_bytes = LIMIT_FILE,
		.procs = LIMIT_PROCS,
	};
	/* By a shell, so that a command that is not there is 127 and no failure
	 * of the sandbox. */
	strv_addl(&spec.argv, "/bin/sh", "-c", "exec \"$@\"", "sandbox",
	    (char *)NULL);
	for (; *argv != NULL; argv++)
		strv_add(&spec.argv, *argv);
	if ((r = open_stdin(&s.fds[0], &feeder, e)) == 0)
		r = sandbox_start(&s, &p, e);
	if (r == 0 && p.live_readonly)
		log_warn("the tree is read-only here: its files can't be "
			 "mapped to an unprivileged owner on this file system "
			 "(--copy gives a writable copy)");
	if (r == 0) {
		int ws = wait_for(&p, sigfd);

		if (!sandbox_finished(&p, ws, &status))
			r = err_set(e, ERR_SANDBOX,
			    "bwrap could not set the sandbox up (foray doctor "
			    "says what is missing)");
		else
			r = status;
	}
	close_stdin(s.fds[0], feeder);
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
	if ((r = check_stdio(&e)) == 0)
		r = find_tree(&t, repo, &e);
	if (r == 0)
		r = run(&t, argv + optind, isatty(STDIN_FILENO) == 1, &e);
	tree_clear(&t);
	if (r < 0) {
		log_error("%s", e.text);
		return EXIT_OWN;
	}
	return r;
}
