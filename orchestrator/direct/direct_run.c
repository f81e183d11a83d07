/* direct_run.c - the command, from its start to its end. */
#include "common/compat.h"

#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/num.h"
#include "common/spawn.h"
#include "orchestrator/direct/direct.h"
#include "orchestrator/direct/hint.h"
#include "orchestrator/direct/stdin.h"
#include "orchestrator/run/run.h"
#include "sandbox/container.h"
#include "sandbox/limits.h"
#include "sandbox/nest.h"
#include "sandbox/probe.h"
#include "sandbox/stage.h"
#include "sandbox/start.h"

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1,
	SIGUSR2, SIGCONT, SIGWINCH, SIGALRM };

/* A terminal's own signals reach the command by themselves when it shares the
 * terminal with us. */
static void
pass_on(const struct sandbox_proc *p, const struct signalfd_siginfo *si,
    bool tty, int *ret_ended)
{
	int sig = (int)si->ssi_signo;

	if (tty && si->ssi_code == SI_KERNEL)
		return;
	if (!sandbox_signal(p, sig) &&
	    (sig == SIGINT || sig == SIGTERM || sig == SIGHUP ||
		sig == SIGQUIT))
		*ret_ended = sig;
	if (*ret_ended != 0)
		sandbox_kill(p); /* it has not begun yet, or is ending */
}

/* Returns its wait status; *ret_late: it was killed for taking too long;
 * *ret_ended: for a signal that came before there was a command to get it. */
static int
attend(struct sandbox_proc *p, int sigfd, struct single *net, uint64_t max_ms,
    bool tty, bool *ret_late, int *ret_ended)
{
	struct pollfd pfd[2] = { { .fd = sigfd, .events = POLLIN },
		{ .events = POLLIN } };
	uint64_t end = max_ms > 0 ? loop_now_ms() + max_ms : 0, now;
	struct signalfd_siginfo si;
	int status, wait = -1;

	for (;;) {
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			return status;
		if (end > 0) {
			now = loop_now_ms();
			wait = now >= end         ? 0
			    : end - now > INT_MAX ? INT_MAX
						  : (int)(end - now);
			if (wait == 0) {
				*ret_late = true;
				sandbox_kill(p);
				end = 0;
				wait = -1;
			}
		}
		pfd[1].fd = single_fd(net);
		if (poll(pfd, nitems(pfd), wait) <= 0)
			continue;
		if (pfd[1].revents != 0)
			single_turn(net);
		if (pfd[0].revents == 0 ||
		    read(sigfd, &si, sizeof si) != sizeof si)
			continue;
		if (si.ssi_signo != SIGCHLD)
			pass_on(p, &si, tty, ret_ended);
		else if (tty && si.ssi_code == CLD_STOPPED)
			nest_stopped();
	}
}

/* A command in a directory above the tree can exchange the tree for a link
 * while we look at it and bwrap mounts it by name. What is mounted in the end
 * has to be what was meant in the beginning. */
#define IN_TREE \
	"test \"$(command -p stat -c %d:%i .)\" = \"$1\" || " \
	"{ echo 'foray: the tree was exchanged for another' >&2; exit 125; }; " \
	"shift; "

/* By a shell, so that a command that is not there is 127 and no failure of the
 * sandbox. With a terminal its signals go to all in the foreground, bwrap too,
 * which has to ignore them; GNU env undoes that for the command. */
static void
set_command(struct direct *d, char **argv, bool tty)
{
	if (tty)
		strv_addl(&d->spec.argv, "/usr/bin/env",
		    "--default-signal=INT,QUIT", (char *)NULL);
	if (!d->q->copy) {
		strv_addl(&d->spec.argv, "/bin/sh", "-c", IN_TREE "exec \"$@\"",
		    "sandbox", (char *)NULL);
		strv_addf(&d->spec.argv, "%ju:%ju", (uintmax_t)d->dir.st_dev,
		    (uintmax_t)d->dir.st_ino);
	} else {
		strv_addl(&d->spec.argv, "/bin/sh", "-c", "exec \"$@\"",
		    "sandbox", (char *)NULL);
	}
	for (; *argv != NULL; argv++)
		strv_add(&d->spec.argv, *argv);
}

static int
block_signals(struct err *e)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < nitems(passed_on); i++)
		(void)sigaddset(&set, passed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if ((fd = signalfd(-1, &set, SFD_CLOEXEC)) < 0)
		return err_set(e, -errno, "signalfd: %s", strerror(errno));
	return fd;
}

/* bwrap's words went to the person's stderr: it is asked once more. */
static int
why_not(const struct direct *d, struct err *e)
{
	struct err why;

	if (d->q->backend == BACKEND_BWRAP && probe_sandbox(&why) < 0)
		*e = why; /* it has the remedy */
	else if (e->code == 0)
		(void)err_set(e, ERR_SANDBOX,
		    "bwrap could not set the sandbox up (foray doctor says "
		    "what is missing)");
	return ERR_SANDBOX;
}

/* --- control groups --------------------------------------------------------
 */

#define PIDS 4096

/* NULL where there are none. */
struct groups {
	struct cgroup *top, *own;
};

/* What the profile says; else what stops a bomb and leaves the machine a tenth
 * of its memory. */
static void
open_groups(struct direct *d, struct groups *g)
{
	struct sandbox_limits *l = &d->spec.limits;
	struct cgroup_site site;
	struct err e;

	cgroup_find(&site);
	if (l->memory_bytes == 0)
		l->memory_bytes = cgroup_memory(&site) / 10 * 9;
	cgroup_site_clear(&site);
	if (l->pids == 0)
		l->pids = l->procs > PIDS ? l->procs : PIDS;
	if (cgroup_open(NULL, stage_uid(), &g->top, &e) < 0 ||
	    cgroup_child(g->top, "run", l, &g->own, &e) < 0)
		log_debug("no control group: %s", e.text);
	/* Then each process is limited. */
	if (g->own == NULL && l->data_bytes == 0)
		l->data_bytes = l->memory_bytes;
	limits_shape(&d->spec);
}

/* Says what it was killed for, and removes them. */
static void
close_groups(struct groups *g, const struct sandbox_limits *l)
{
	struct cgroup_events ev;
	char size[32];

	cgroup_events(g->own, &ev);
	if (ev.oom_kills > 0)
		log_warn("%ju process(es) killed: memory limit of %s",
		    (uintmax_t)ev.oom_kills,
		    num_fmt_size(l->memory_bytes, size, sizeof size));
	if (ev.pids_hits > 0)
		log_warn("no more processes were let: limit of %ju",
		    (uintmax_t)l->pids);
	(void)cgroup_close(&g->own, true);
	(void)cgroup_close(&g->top, true);
}

/* An rlimit ends a process by a signal, and says nothing. */
static void
say_rlimit(const struct sandbox_limits *l, int status)
{
	char size[32];

	if (status == 128 + SIGXCPU && l->cpu_s > 0)
		log_warn("a process had its %ju s of processor time "
			 "(limits.cpu)",
		    (uintmax_t)l->cpu_s);
	if (status == 128 + SIGXFSZ && l->file_bytes > 0)
		log_warn("a file came to the limit of %s (limits.file)",
		    num_fmt_size(l->file_bytes, size, sizeof size));
}

/* --- all of it -------------------------------------------------------------
 */

struct nested {
	struct direct *d;
	struct cgroup *group;
	bool tty;
};

static int
start(struct direct *d, const struct sandbox_start *how, struct sandbox_proc *p,
    struct err *e)
{
	struct sandbox_start s = *how;
	int listener = -1, r = 0;
	struct err no_net;

	if (d->net != NULL) {
		s.ret_listen = &listener;
		r = single_start(d->net, e);
	}
	if (r < 0)
		return r;
	e->code = 0;
	if ((r = sandbox_start(&s, p, e)) == ERR_SANDBOX)
		return why_not(d, e);
	if (r == 0 && listener >= 0 &&
	    single_listen(d->net, &listener, &no_net) < 0)
		log_error("%s", no_net.text);
	if (r == 0 && p->live_readonly)
		log_warn("%s read-only here: its files can't be mapped to an "
			 "unprivileged owner on this file system%s",
		    d->q->copy ? "what --write names is" : "the tree is",
		    d->q->copy ? "" : " (--copy gives a writable copy)");
	return r;
}

/* Is there a /usr/bin/env that knows --default-signal (GNU's)? */
static bool
env_resets_signals(void)
{
	struct strv argv = { 0 };
	struct spawn s = { .argv = &argv, .timeout_ms = 5000 };
	struct spawn_result res;
	bool yes;

	strv_addl(&argv, "/usr/bin/env", "--default-signal=INT,QUIT", "true",
	    (char *)NULL);
	yes = spawn_run(&s, &res, NULL) == 0 && res.status == 0;
	strv_clear(&argv);
	return yes;
}

static int
run(const struct nested *n, struct err *e)
{
	struct direct *d = n->d;
	bool shield = n->tty && env_resets_signals(), late = false;
	struct sandbox_start s = { .spec = &d->spec,
		.stage = true,
		.ignore_keys = shield,
		.fds = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO },
		.overlay = d->overlay.dir != NULL ? &d->overlay : NULL,
		.live = d->live.n > 0 ? &d->live : NULL,
		.group = n->group };
	struct sandbox_proc p;
	pid_t feeder = -1;
	int sigfd, r, ws, status = -1, ended = 0;

	if ((sigfd = block_signals(e)) < 0)
		return sigfd;
	set_command(d, d->q->argv, shield);
	if ((r = stdin_open(&s.fds[0], &feeder, e)) == 0)
		r = start(d, &s, &p, e);
	if (r == 0) {
		ws = attend(
		    &p, sigfd, d->net, d->q->max_ms, n->tty, &late, &ended);
		if (!sandbox_finished(&p, ws, &status))
			r = why_not(d, e);
		else
			r = late         ? DIRECT_LATE
			    : ended != 0 ? 128 + ended
					 : status;
		if (r > 0 && r == status)
			hint_status(d, r, n->group == NULL);
	}
	if (late)
		log_warn("killed: --max-time is over");
	else if (r > 128 && ended == 0)
		say_rlimit(&d->spec.limits, r);
	single_finish(d->net);
	stdin_close(s.fds[0], feeder);
	fd_close(&sigfd);
	return r;
}

static int
run_nested(void *ctx)
{
	const struct nested *n = ctx;
	struct err e = { 0 };
	int r = run(n, &e);

	if (r >= 0)
		return r;
	log_error("%s", e.text);
	return EXIT_OWN;
}

int
direct_run(struct direct *d, bool tty, struct err *e)
{
	struct groups g = { 0 };
	struct nested n = { .d = d, .tty = tty };
	int r;

	if (d->q->backend == BACKEND_CONTAINER)
		log_warn("%s", container_warning());
	hint_start(d);
	open_groups(d, &g);
	n.group = g.own;
	r = nest(run_nested, &n, tty, e);
	close_groups(&g, &d->spec.limits);
	return r;
}
