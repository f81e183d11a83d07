/*
 * launch.c - the host becomes pid 1 of a pid namespace of its own.
 *
 * DESIGN
 *
 * Three processes: foray, launcher, host (pid 1). Each is tied to the one above
 * it by a death signal and by a pipe. The signal alone has a hole: a parent
 * that dies before the child has asked for it is not noticed, and getppid() is
 * 0 in the new namespace in any case. The pipe alone is noticed only by a
 * process that runs its loop. Together they cover both.
 *
 * Without namespaces (container backend) the launcher does what the kernel does
 * for a pid namespace: it is a subreaper, and ends what is left below it.
 */
#include "common/compat.h"

#include "worker/host/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/spawn.h"
#include "sandbox/killtree.h"
#include "sandbox/probe.h"

#define KILL_AFTER_MS 2000 /* from SIGTERM to SIGKILL */
#define GONE_MS 5000       /* for the rest of a tree, without a namespace */

/* --- lifelines ----------------------------------------------------------- */

static bool
is_hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = 0 };

	return fd >= 0 && poll(&p, 1, 0) > 0;
}

static void
arm(const struct lifelines *l, int signo)
{
	if (prctl(PR_SET_PDEATHSIG, signo, 0, 0, 0) < 0)
		fatal("death signal: %s", strerror(errno));
	if (is_hung_up(l->foray) || is_hung_up(l->launcher))
		_exit(128 + SIGKILL);
}

void
lifelines_arm(const struct lifelines *l)
{
	arm(l, SIGKILL);
}

static void
lifeline_cb(int fd, unsigned events unused_arg, void *ctx unused_arg)
{
	char c[64];
	ssize_t n = read(fd, c, sizeof c);

	if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	/* Nobody is left to work for; the namespace goes with us. */
	_exit(128 + SIGKILL);
}

void
lifelines_watch(struct lifelines *l, struct loop *loop)
{
	if (l->foray >= 0)
		loop_fd_add(loop, l->foray, LOOP_IN, lifeline_cb, NULL);
	if (l->launcher >= 0)
		loop_fd_add(loop, l->launcher, LOOP_IN, lifeline_cb, NULL);
}

/* --- namespaces ---------------------------------------------------------- */

static int
write_proc(const char *path, const char *text, struct err *e)
{
	int fd, r = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "open %s: %s", path, strerror(errno));
	if (write(fd, text, strlen(text)) < 0)
		r = err_set(e, -errno, "write %s: %s", path, strerror(errno));
	fd_close(&fd);
	return r;
}

static int
map_self(uid_t uid, gid_t gid, struct err *e)
{
	char map[64];
	int r;

	(void)snprintf(map, sizeof map, "%u %u 1\n", uid, uid);
	r = write_proc("/proc/self/setgroups", "deny", e);
	if (r == 0)
		r = write_proc("/proc/self/uid_map", map, e);
	(void)snprintf(map, sizeof map, "%u %u 1\n", gid, gid);
	if (r == 0)
		r = write_proc("/proc/self/gid_map", map, e);
	return r;
}

static int
new_namespaces(struct err *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int flags = CLONE_NEWPID;

	if (uid != 0)
		flags |= CLONE_NEWUSER;
	if (unshare(flags) < 0)
		return err_set(e, -errno, "no namespaces can be made: %s",
		    strerror(errno));
	return uid == 0 ? 0 : map_self(uid, gid, e);
}

static void no_sandbox(const struct err *why) noreturn_fn;

static void
no_sandbox(const struct err *why)
{
	struct err e;

	log_error("%s", why->text);
	/* It finds out what is missing and names the remedy. */
	if (probe_sandbox(&e) < 0)
		log_error("%s", e.text);
	exit(EXIT_SANDBOX);
}

/* --- launcher ------------------------------------------------------------ */

/* Descriptors 0 to 2 exist; nothing is ever read or printed. */
static void
null_stdio(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		fatal("open /dev/null: %s", strerror(errno));
	while (fd <= STDERR_FILENO) {
		fd = dup(fd);
		if (fd < 0)
			fatal("dup: %s", strerror(errno));
	}
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0)
		fatal("dup2: %s", strerror(errno));
	fd_close(&fd);
}

static void
our_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGHUP);
	sigaddset(ret, SIGCHLD);
}

static void wait_for(pid_t pid, bool subreaper) noreturn_fn;

static void
wait_for(pid_t pid, bool subreaper)
{
	uint64_t kill_at = 0, now;
	struct timespec ts;
	sigset_t set;
	int sig, status;

	our_signals(&set);
	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid) {
			if (subreaper)
				(void)killtree(true, GONE_MS);
			_exit(spawn_status(status)); /* no fork works now */
		}
		now = loop_now_ms();
		if (kill_at != 0 && now >= kill_at) {
			(void)kill(pid, SIGKILL); /* gone is as good */
			kill_at = now + KILL_AFTER_MS;
		}
		ts.tv_sec = 3600;
		ts.tv_nsec = 0;
		if (kill_at != 0) {
			ts.tv_sec = (time_t)((kill_at - now) / 1000);
			ts.tv_nsec = (long)((kill_at - now) % 1000) * 1000000;
		}
		sig = sigtimedwait(&set, NULL, &ts);
		if (sig == SIGTERM || sig == SIGINT || sig == SIGHUP) {
			(void)kill(pid, SIGTERM); /* gone is as good */
			if (kill_at == 0)
				kill_at = loop_now_ms() + KILL_AFTER_MS;
		}
	}
}

/* What a pid namespace does by itself: nothing below us gets away. */
static void
be_subreaper(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		fatal("subreaper: %s", strerror(errno));
}

void
launch(int lifeline_fd, enum sandbox_backend backend, struct lifelines *ret)
{
	const bool bare = backend == BACKEND_CONTAINER;
	struct lifelines l = { .foray = lifeline_fd, .launcher = -1 };
	int pipe_fds[2];
	struct err e;
	sigset_t set;
	pid_t pid;

	spawn_child_clean(&lifeline_fd, lifeline_fd >= 0 ? 1 : 0);
	if (lifeline_fd >= 0 && fd_cloexec(lifeline_fd, true) < 0)
		fatal("descriptor %d: %s", lifeline_fd, strerror(errno));
	null_stdio();
	our_signals(&set);
	/* As a monitor does: killtree.h. */
	if (bare)
		killtree_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 ||
	    signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		fatal("signals: %s", strerror(errno));

	if (lifeline_fd >= 0)
		arm(&l, bare ? SIGTERM : SIGKILL);
	if (bare)
		be_subreaper();
	else if (new_namespaces(&e) < 0)
		no_sandbox(&e);
	/* A new user namespace is a change of credentials. */
	if (lifeline_fd >= 0)
		arm(&l, bare ? SIGTERM : SIGKILL);

	if (fd_pipe(pipe_fds) < 0)
		fatal("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0) {
		err_set(&e, -errno, "fork: %s", strerror(errno));
		no_sandbox(&e);
	}
	if (pid > 0) {
		fd_close(&pipe_fds[0]);
		fd_close(&lifeline_fd);
		wait_for(pid, bare);
	}
	if (bare)
		be_subreaper();
	fd_close(&pipe_fds[1]);
	l.launcher = pipe_fds[0];
	lifelines_arm(&l);
	*ret = l;
}
