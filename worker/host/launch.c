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
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/spawn.h"
#include "sandbox/cgroup.h"
#include "sandbox/killtree.h"
#include "sandbox/probe.h"
#include "sandbox/stage.h"
#include "sandbox/userns.h"

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
new_namespaces(struct err *e)
{
	if (geteuid() != 0)
		return userns_unshare(CLONE_NEWPID, e);
	if (unshare(CLONE_NEWPID) < 0)
		return err_set(e, ERR_SANDBOX, "no namespaces can be made: %s",
		    strerror(errno));
	return 0;
}

static void no_sandbox(
    const struct err *why, struct cgroup **group) noreturn_fn;

static void
no_sandbox(const struct err *why, struct cgroup **group)
{
	struct err e;

	(void)cgroup_close(group, true);
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

/* What the launcher watches. */
struct watched {
	pid_t host;
	int host_fd;  /* hangs up when the host dies, before its namespace does
		       */
	int foray_fd; /* -1: nobody started us */
	int signal_fd;
	struct cgroup *group;
	bool subreaper; /* there is no namespace that ends all */
	uint64_t drain_ms;
};

static void end_launcher(struct watched *w, int status) noreturn_fn;

static void
end_launcher(struct watched *w, int status)
{
	if (w->subreaper)
		(void)killtree(true, GONE_MS);
	(void)cgroup_close(&w->group, true);
	_exit(spawn_status(status)); /* no fork works now */
}

/* The time until kill_at (0: none), for poll(2). */
static int
wait_ms(uint64_t kill_at, uint64_t now)
{
	if (kill_at == 0)
		return -1;
	if (kill_at <= now)
		return 0;
	return kill_at - now < INT_MAX ? (int)(kill_at - now) : INT_MAX;
}

static void wait_for(struct watched *w) noreturn_fn;

static void
wait_for(struct watched *w)
{
	struct pollfd p[] = {
		{ .fd = w->signal_fd, .events = POLLIN },
		{ .fd = w->host_fd, .events = 0 },
		{ .fd = w->foray_fd, .events = 0 },
	};
	struct signalfd_siginfo si;
	uint64_t kill_at = 0, first_ms = 0, now, limit;
	int status, signo;

	for (;;) {
		if (waitpid(w->host, &status, WNOHANG) == w->host)
			end_launcher(w, status);
		now = loop_now_ms();
		if (kill_at != 0 && now >= kill_at) {
			(void)kill(w->host, SIGKILL); /* gone is as good */
			kill_at = now + KILL_AFTER_MS;
		}
		if (poll(p, nitems(p), wait_ms(kill_at, now)) <= 0)
			continue;
		now = loop_now_ms();
		/* Its namespace can't end while a worker is frozen. */
		if (p[1].revents != 0) {
			cgroup_thaw(w->group);
			p[1].fd = -1;
		}
		if (p[2].revents != 0) {
			kill_at = now;
			p[2].fd = -1;
		}
		if (p[0].revents == 0 ||
		    read(w->signal_fd, &si, sizeof si) != sizeof si ||
		    si.ssi_signo == SIGCHLD)
			continue;
		signo = (int)si.ssi_signo;
		/* A first SIGTERM lets the workers come to their end. */
		if (signo == SIGTERM && first_ms != 0 &&
		    now - first_ms < LAUNCH_SAME_MS)
			continue;
		if (first_ms == 0)
			first_ms = now;
		limit = now + KILL_AFTER_MS;
		if (signo == SIGTERM && w->foray_fd < 0 && kill_at == 0)
			limit += w->drain_ms;
		(void)kill(w->host, signo); /* gone is as good */
		if (kill_at == 0 || limit < kill_at)
			kill_at = limit;
	}
}

static void be_launcher(struct watched *w) noreturn_fn;

static void
be_launcher(struct watched *w)
{
	sigset_t set;

	our_signals(&set);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (w->signal_fd < 0)
		fatal("signalfd: %s", strerror(errno));
	/* From here on foray's death is a signal like others, and its pipe the
	 * order to end at once: we tidy up. */
	if (w->foray_fd >= 0 && prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0)
		fatal("death signal: %s", strerror(errno));
	wait_for(w);
}

/* A leaf for the host itself: as ordinary uid it can move a worker's process
 * only within what it was given. */
static void
enter_leaf(struct cgroup **g)
{
	struct cgroup *leaf = NULL;
	struct err e;

	if (*g != NULL &&
	    (cgroup_child(*g, "host", NULL, &leaf, &e) < 0 ||
		cgroup_enter(leaf, &e) < 0)) {
		log_warn("no control groups: %s", e.text);
		cgroup_forget(g);
	}
	cgroup_forget(&leaf);
}

/* What a pid namespace does by itself: nothing below us gets away. */
static void
be_subreaper(void)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		fatal("subreaper: %s", strerror(errno));
}

void
launch(int lifeline_fd, enum sandbox_backend backend, uint64_t drain_ms,
    const struct sandbox_limits *total, struct lifelines *ret,
    struct cgroup **ret_group)
{
	const bool bare = backend == BACKEND_CONTAINER;
	struct lifelines l = { .foray = lifeline_fd, .launcher = -1 };
	struct watched w = {
		.foray_fd = lifeline_fd, .subreaper = bare, .drain_ms = drain_ms
	};
	int down[2], up[2];
	struct err e;
	sigset_t set;

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
	if (cgroup_open(total, stage_uid(), &w.group, &e) < 0)
		log_debug("no control groups: %s", e.text);
	if (bare)
		be_subreaper();
	else if (new_namespaces(&e) < 0)
		no_sandbox(&e, &w.group);
	/* A new user namespace is a change of credentials. */
	if (lifeline_fd >= 0)
		arm(&l, bare ? SIGTERM : SIGKILL);

	if (fd_pipe(down) < 0 || fd_pipe(up) < 0)
		fatal("pipe: %s", strerror(errno));
	w.host = fork();
	if (w.host < 0) {
		err_set(&e, -errno, "fork: %s", strerror(errno));
		no_sandbox(&e, &w.group);
	}
	if (w.host > 0) {
		fd_close(&down[0]);
		fd_close(&up[1]);
		w.host_fd = up[0];
		be_launcher(&w);
	}
	if (bare)
		be_subreaper();
	fd_close(&down[1]);
	fd_close(&up[0]); /* its other end closes with us */
	l.launcher = down[0];
	lifelines_arm(&l);
	enter_leaf(&w.group);
	*ret = l;
	*ret_group = w.group;
}
