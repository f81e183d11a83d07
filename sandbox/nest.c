#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/nest.h"
#include "sandbox/userns.h"

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1,
	SIGUSR2, SIGCONT, SIGWINCH, SIGALRM };

/* The child tells: ready, no namespaces, stopped. */
enum {
	READY = 'r',
	FAILED = 'f',
	STOPPED = 's'
};

struct nest {
	int up[2], down[2]; /* child to parent; parent to child, held open */
	pid_t pid;
	bool front; /* the terminal is ours to give */
};

static int up_fd = -1; /* in the child */

/* --- child -----------------------------------------------------------------
 */

/* /proc has to show the numbers that we use. */
static int
set_up(int flags, uid_t uid, gid_t gid)
{
	int r;

	if ((flags & CLONE_NEWUSER) != 0 &&
	    (r = userns_map_self(uid, gid, NULL)) < 0)
		return r;
	if (flags != 0 &&
	    (unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
		mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		    NULL) < 0))
		return -errno;
	return 0;
}

static void child(struct nest *n, int flags, uid_t uid, gid_t gid,
    int (*body)(void *ctx), void *ctx) noreturn_fn;

static void
child(struct nest *n, int flags, uid_t uid, gid_t gid, int (*body)(void *ctx),
    void *ctx)
{
	char c = set_up(flags, uid, gid) < 0 ? FAILED : READY;

	/* A new user namespace is a change of credentials: after it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	fd_close(&n->up[0]);
	fd_close(&n->down[1]);
	up_fd = n->up[1];
	if (fd_write_all(up_fd, &c, 1) < 0 || c == FAILED)
		_exit(1);
	/* The end of the file: our parent is gone already. */
	if (read(n->down[0], &c, 1) != 1)
		_exit(1);
	_exit(body(ctx));
}

void
nest_stopped(void)
{
	const char c = STOPPED;

	if (up_fd >= 0)
		(void)fd_write_all(up_fd, &c, 1);
}

/* --- parent ----------------------------------------------------------------
 */

static void
close_pipes(struct nest *n)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&n->up[i]);
		fd_close(&n->down[i]);
	}
}

static void
reap(pid_t pid, int *ret)
{
	while (waitpid(pid, ret, 0) < 0 && errno == EINTR)
		continue;
}

/* 0, or negative: not with these flags. */
static int
start(struct nest *n, int flags, int (*body)(void *ctx), void *ctx)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;
	char c;

	*n = (struct nest){ .up = { -1, -1 }, .down = { -1, -1 } };
	if ((r = fd_pipe(n->up)) < 0 || (r = fd_pipe(n->down)) < 0)
		goto fail;
	/* As fork(), but with the namespaces from birth. */
	n->pid = flags != 0
	    ? (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0)
	    : fork();
	if (n->pid < 0) {
		r = -errno;
		goto fail;
	}
	if (n->pid == 0)
		child(n, flags, uid, gid, body, ctx);
	fd_close(&n->up[1]);
	fd_close(&n->down[0]);
	if (read(n->up[0], &c, 1) == 1 && c == READY)
		return 0;
	(void)kill(n->pid, SIGKILL);
	reap(n->pid, NULL);
	r = -EPERM;
fail:
	close_pipes(n);
	return r;
}

/* From the background, which may not take it, so that we are asked to stop. */
static void
give_terminal(const struct nest *n, pid_t group)
{
	sigset_t ttou, old;

	if (!n->front)
		return;
	(void)sigemptyset(&ttou);
	(void)sigaddset(&ttou, SIGTTOU);
	(void)sigprocmask(SIG_BLOCK, &ttou, &old);
	(void)tcsetpgrp(STDIN_FILENO, group);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

/* As a shell's job: our caller's shell stops us and lets us go on. */
static void
stop(struct nest *n)
{
	give_terminal(n, getpgrp());
	(void)kill(0, SIGTSTP);
	n->front = tcgetpgrp(STDIN_FILENO) == getpgrp();
	give_terminal(n, n->pid);
	(void)kill(-n->pid, SIGCONT);
}

static int
attend(struct nest *n, int sigfd)
{
	struct pollfd p[] = { { .fd = sigfd, .events = POLLIN },
		{ .fd = n->up[0], .events = POLLIN } };
	struct signalfd_siginfo si;
	int status;
	char c;

	while (waitpid(n->pid, &status, WNOHANG) != n->pid) {
		if (poll(p, nitems(p), -1) <= 0)
			continue;
		if (p[0].revents != 0 && read(sigfd, &si, sizeof si) > 0 &&
		    si.ssi_signo != SIGCHLD)
			(void)kill(n->pid, (int)si.ssi_signo);
		if (p[1].revents == 0)
			continue;
		if (read(n->up[0], &c, 1) != 1)
			p[1].fd = -1;
		else if (c == STOPPED)
			stop(n);
	}
	return spawn_status(status);
}

/* One of them may hold a lock of the allocator, which nobody gives back in a
 * child. */
static bool
has_threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) == 0 && st.st_nlink > 3;
}

/* With namespaces, or as an ordinary child. */
static int
start_any(struct nest *n, int (*body)(void *ctx), void *ctx, struct err *e)
{
	int flags = CLONE_NEWPID | (geteuid() != 0 ? CLONE_NEWUSER : 0), r;

	if (has_threads())
		return err_set(e, ERR_SANDBOX,
		    "a nest is made by a process with one thread");
	if ((r = start(n, flags, body, ctx)) < 0 &&
	    (r = start(n, 0, body, ctx)) < 0)
		return err_set(e, r, "a child can't be made: %s", strerror(-r));
	return 0;
}

static void
let_go(const struct nest *n)
{
	/* It is alive, or will be reaped. */
	(void)fd_write_all(n->down[1], "g", 1);
}

int
nest_plain(int (*body)(void *ctx), void *ctx, struct err *e)
{
	struct nest n;
	int r, status;

	if ((r = start_any(&n, body, ctx, e)) < 0)
		return r;
	let_go(&n);
	reap(n.pid, &status);
	close_pipes(&n);
	return spawn_status(status);
}

int
nest(int (*body)(void *ctx), void *ctx, bool tty, struct err *e)
{
	struct nest n;
	sigset_t set, old;
	int sigfd, r;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < nitems(passed_on); i++)
		(void)sigaddset(&set, passed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &set, &old);
	if ((sigfd = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
		return err_set(e, -errno, "signalfd: %s", strerror(errno));
	if ((r = start_any(&n, body, ctx, e)) < 0)
		goto out;
	if (tty) {
		(void)setpgid(n.pid, n.pid);
		n.front = tcgetpgrp(STDIN_FILENO) == getpgrp();
		give_terminal(&n, n.pid);
	}
	let_go(&n);
	r = attend(&n, sigfd);
	give_terminal(&n, getpgrp());
	close_pipes(&n);
out:
	fd_close(&sigfd);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return r;
}
