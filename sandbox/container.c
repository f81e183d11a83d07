/*
 * container.c - see container.h.
 *
 * DESIGN
 *
 * The child that start.c forks is the monitor; the command is its child. The
 * monitor stands outside of the command's Landlock domain, so the command can
 * neither signal nor trace it (signals: ABI 6). It is told to end by SIGTERM,
 * since after a SIGKILL nobody would be left to end the rest; its own death
 * signal is SIGTERM, too. Above it the caller is a subreaper, and above that
 * foray-host's launcher: what loses its monitor falls to them.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "common/text.h"
#include "sandbox/backend.h"
#include "sandbox/container.h"
#include "sandbox/killtree.h"
#include "sandbox/landlock.h"
#include "sandbox/limits.h"
#include "sandbox/notify.h"
#include "sandbox/seccomp.h"
#include "sandbox/stage.h"

/* For a killed tree to be gone; processes in the kernel's hands take longer. */
#define GONE_MS 5000

struct monitor {
	const struct child *c;
	const struct sandbox_spec *spec;
	int status_fd, report_fd;
	pid_t pid; /* the monitor's own */
	struct sandbox_limits limits;
	char *program;
	int signals; /* a signalfd */
	int hand[2]; /* the command's listener comes over it */
	struct notify notify;
};

/* --- the domain ------------------------------------------------------------
 */

/* Files that need no protection from anybody. */
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty" };

static void
leave_out(struct strv *but, const char *path)
{
	char *real = realpath(path, NULL);

	strv_add(but, path);
	/* What a link leads to inside the tree is left out, too. */
	if (real != NULL && strcmp(real, path) != 0)
		strv_add(but, real);
	free(real);
}

/* What lies below the m-th mount and has a rule of its own: read-only in a
 * writable tree, or hidden ("/dev/null" over it). */
static void
carved(const struct sandbox_spec *s, size_t m, struct strv *but)
{
	const struct sandbox_mount *in = &s->mounts[m], *o;

	for (size_t i = 0; i < s->n_mounts; i++) {
		o = &s->mounts[i];
		if (i == m || o->kind != MOUNT_RO ||
		    !path_is_below(o->dst, in->src))
			continue;
		if (in->kind == MOUNT_RW || strcmp(o->src, "/dev/null") == 0)
			leave_out(but, o->dst);
	}
}

static int
allow_mount(
    struct landlock *l, const struct sandbox_spec *s, size_t i, struct err *e)
{
	const struct sandbox_mount *m = &s->mounts[i];
	struct strv but = { 0 };
	int r = 0;

	switch (m->kind) {
	case MOUNT_RO:
	case MOUNT_RW:
		if (text_starts(m->src, "@"))
			return err_set(e, ERR_SANDBOX,
			    "an overlay is wanted where no mount can be made");
		if (strcmp(m->src, "/dev/null") == 0)
			break;
		if (!m->optional && access(m->src, F_OK) < 0)
			return err_set(
			    e, ERR_SANDBOX, "%s: %s", m->src, strerror(errno));
		carved(s, i, &but);
		r = landlock_allow(l, m->src,
		    m->kind == MOUNT_RO ? LANDLOCK_READ : LANDLOCK_WRITE, &but,
		    e);
		break;
	case MOUNT_PROC:
		r = landlock_allow(l, "/proc", LANDLOCK_LOOK, NULL, e);
		break;
	case MOUNT_DEV:
		for (size_t k = 0; r == 0 && k < nitems(devices); k++)
			r = landlock_allow(
			    l, devices[k], LANDLOCK_USE, NULL, e);
		break;
	case MOUNT_TMPFS:
	case MOUNT_DIR:
	case MOUNT_SYMLINK:
	case MOUNT_REMOUNT_RO:
	case MOUNT_DATA:
		break;
	}
	strv_clear(&but);
	return r;
}

static int
enter_domain(const struct sandbox_spec *s, struct err *e)
{
	struct landlock l;
	int r;

	r = landlock_open(&l, e);
	for (size_t i = 0; r == 0 && i < s->n_mounts; i++)
		r = allow_mount(&l, s, i, e);
	if (r == 0)
		r = landlock_enter(&l, e);
	landlock_close(&l);
	return r;
}

static int
load_filter(const void *bytes, size_t len, unsigned flags, struct err *e)
{
	struct sock_fprog prog = {
		.len = (unsigned short)(len / sizeof(struct sock_filter)),
		/* It is not written to. */
		.filter = (struct sock_filter *)(uintptr_t)bytes,
	};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog) != 0)
		return err_set(e, ERR_SANDBOX,
		    "the system call filter can't be loaded: %s",
		    strerror(errno));
	return 0;
}

int
container_seal_sockets(struct err *e)
{
	const void *bytes;
	size_t len;
	int r;

	if ((r = seccomp_sockets(&bytes, &len, e)) < 0)
		return r;
	return load_filter(bytes, len, SECCOMP_FILTER_FLAG_TSYNC, e);
}

/* --- the command -----------------------------------------------------------
 */

static int
tie(pid_t parent, struct err *e)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_set(
		    e, ERR_SANDBOX, "death signal: %s", strerror(errno));
	if (getppid() != parent)
		return err_set(e, ERR_SANDBOX, "the monitor is gone");
	return 0;
}

static int
go_to(const char *dir, struct err *e)
{
	if (chdir(dir) == 0)
		return 0;
	if (errno == EACCES && geteuid() == SANDBOX_UID)
		return err_set(e, ERR_SANDBOX,
		    "uid %d, which programs run as when root starts them, "
		    "can't reach %s: use --copy, or run foray as an ordinary "
		    "user",
		    SANDBOX_UID, dir);
	return err_set(
	    e, ERR_SANDBOX, "go to directory %s: %s", dir, strerror(errno));
}

/* Calls that Landlock does not see go to the monitor; where the kernel has no
 * listeners to nobody. Not those of a worker, which copies whole trees: each of
 * its commands has a monitor of its own, with narrower bounds. */
static int
hand_over(struct monitor *m, struct err *e)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	int fd, r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(
		    e, ERR_SANDBOX, "no new privileges: %s", strerror(errno));
	fd = m->spec->layer == LAYER_INNER && notify_works()
	    ? notify_load(m->spec->fixed.n > 0, NULL)
	    : -1;
	if (fd >= 0) {
		msg.msg_control = control.space;
		msg.msg_controllen = sizeof control.space;
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	if (sendmsg(m->hand[1], &msg, MSG_NOSIGNAL) != 1)
		r = err_set(
		    e, ERR_SANDBOX, "to the monitor: %s", strerror(errno));
	fd_close(&fd);
	return r;
}

/* Under the limits nothing may be allocated any more. */
static int
run_command(struct monitor *m, struct err *e)
{
	char *const *argv = strv_argv(&m->spec->argv);
	char *const *env = strv_argv(&m->spec->env);
	sigset_t none;
	int r;

	if ((r = tie(m->pid, e)) < 0 ||
	    (r = go_to(m->spec->cwd != NULL ? m->spec->cwd : "/", e)) < 0 ||
	    (r = enter_domain(m->spec, e)) < 0 || (r = hand_over(m, e)) < 0 ||
	    (r = limits_apply(&m->limits, e)) < 0 ||
	    (r = load_filter(m->c->filter, m->c->filter_len, 0, e)) < 0)
		return r;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve(m->program, argv, env);
	return err_set(
	    e, ERR_SANDBOX, "run %s: %s", m->program, strerror(errno));
}

/* --- the monitor -----------------------------------------------------------
 */

/* Its parent's end is told by SIGTERM. One that came before is seen by the
 * pipe. */
static int
watch_parent(const struct monitor *m, struct err *e)
{
	struct pollfd p = { .fd = m->report_fd, .events = POLLOUT };

	if (prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_set(e, ERR_SANDBOX, "monitor: %s", strerror(errno));
	if (poll(&p, 1, 0) == 1 && (p.revents & POLLERR) != 0)
		return err_set(e, ERR_SANDBOX, "the parent is gone");
	return 0;
}

/* NPROC counts all that a uid runs, and here that is more than this tree. */
static void
adjust_limits(struct monitor *m)
{
	m->limits = m->spec->limits;
	if (m->limits.procs > 0)
		m->limits.procs += killtree_threads(getuid());
}

static int
find_program(struct monitor *m, struct err *e)
{
	const char *name = m->spec->argv.v[0];

	if (path_search(name, strv_getenv(&m->spec->env, "PATH"), &m->program) <
	    0)
		return err_set(e, ERR_SANDBOX, "there is no program %s", name);
	return 0;
}

static int
prepare(struct monitor *m, struct err *e)
{
	const struct sandbox_start *s = m->c->start;
	bool readonly = false;
	sigset_t set;
	int r;

	if (!m->spec->keep_tty)
		(void)setsid();
	if (s->stage && (r = container_drop(e)) < 0)
		return r;
	killtree_signals(&set);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if ((r = watch_parent(m, e)) < 0 || (r = find_program(m, e)) < 0)
		return r;
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (m->signals < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, m->hand) < 0)
		return err_set(e, ERR_SANDBOX, "monitor: %s", strerror(errno));
	adjust_limits(m);
	for (size_t i = 0; s->live != NULL && i < s->live->n; i++)
		readonly |= access(s->live->v[i], W_OK) < 0;
	if (readonly)
		child_live_readonly(m->report_fd);
	m->pid = getpid();
	return 0;
}

static void
add_real(struct strv *to, const char *path)
{
	char *real = realpath(path, NULL);

	if (real != NULL)
		strv_take(to, &real);
}

static void
take_listener(struct monitor *m)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof control.space };
	struct cmsghdr *c;
	int fd = -1;

	/* Its other end is closed by a command that fails before. */
	fd_close(&m->hand[1]);
	if (recvmsg(m->hand[0], &msg, MSG_CMSG_CLOEXEC) == 1 &&
	    (c = CMSG_FIRSTHDR(&msg)) != NULL && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	fd_close(&m->hand[0]);
	notify_init(&m->notify, fd);
	for (size_t i = 0; fd >= 0 && i < m->spec->fixed.n; i++)
		add_real(&m->notify.fixed, m->spec->fixed.v[i]);
	for (size_t i = 0; fd >= 0 && i < m->spec->n_mounts; i++) {
		if (m->spec->mounts[i].kind != MOUNT_RW)
			continue;
		add_real(&m->notify.may, m->spec->mounts[i].src);
		carved(m->spec, i, &m->notify.except);
	}
}

/* The output ends when the command's tree does. */
static void
let_go(struct monitor *m)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; null >= 0 && i < 3; i++)
		(void)dup2(null, i);
	fd_close(&null);
	fd_close(&m->report_fd);
}

/* The command's status; a command that we were told to end: 128 + SIGKILL. */
static int
attend(struct monitor *m, pid_t command)
{
	struct pollfd p[] = {
		{ .fd = m->signals, .events = POLLIN },
		{ .fd = m->notify.fd, .events = POLLIN },
	};
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == command)
				return spawn_status(status);
		}
		if (poll(p, nitems(p), -1) < 0)
			continue;
		if ((p[1].revents & POLLIN) != 0 && !notify_serve(&m->notify))
			p[1].fd = -1;
		else if ((p[1].revents & (POLLHUP | POLLERR)) != 0)
			p[1].fd = -1; /* nobody is left to send any */
		/* The others are a terminal's, for the command itself. */
		while (read(m->signals, &si, sizeof si) == sizeof si) {
			if (si.ssi_signo == SIGTERM)
				return 128 + SIGKILL;
		}
	}
}

static void container_child(const struct child *c) noreturn_fn;

static void
container_child(const struct child *c)
{
	struct monitor m = { .c = c,
		.spec = c->start->spec,
		.status_fd = -1,
		.report_fd = -1,
		.signals = -1,
		.hand = { -1, -1 } };
	char line[64];
	struct err e;
	pid_t pid;
	int code, n;

	if (child_fds(c, &m.status_fd, &m.report_fd, &e) < 0 ||
	    prepare(&m, &e) < 0)
		child_fail(m.report_fd, &e);
	if ((pid = fork()) < 0) {
		(void)err_set(&e, ERR_SANDBOX, "fork: %s", strerror(errno));
		child_fail(m.report_fd, &e);
	}
	if (pid == 0) {
		(void)run_command(&m, &e);
		child_fail(m.report_fd, &e);
	}
	let_go(&m);
	take_listener(&m);
	code = attend(&m, pid);
	(void)killtree(true, GONE_MS);
	n = snprintf(line, sizeof line, "{ \"exit-code\": %d }\n", code);
	(void)fd_write_all(m.status_fd, line, (size_t)n);
	_exit(code);
}

/* --- the caller's half -----------------------------------------------------
 */

static int
container_ready(struct child *c, struct err *e)
{
	const struct seccomp_want want = {
		.layer = c->start->spec->layer,
		.ptrace = c->start->spec->ptrace,
		.no_inet = true,
		.bare = true,
	};

	if (landlock_abi() == 0) {
		struct landlock l;

		return landlock_open(&l, e); /* it has the words */
	}
	if (c->start->overlay != NULL)
		return err_set(e, ERR_SANDBOX,
		    "an overlay is wanted where no mount can be made");
	/* What loses its monitor comes to us. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_set(
		    e, ERR_SANDBOX, "subreaper: %s", strerror(errno));
	return seccomp_program(&want, &c->filter, &c->filter_len, e);
}

static int
container_born(int status_fd unused_arg, pid_t *ret_init unused_arg)
{
	return -1;
}

static void
container_kill(const struct sandbox_proc *p)
{
	if (p->pid > 0)
		(void)kill(p->pid, SIGTERM);
}

const struct backend backend_container = {
	.ready = container_ready,
	.child = container_child,
	.born = container_born,
	.kill = container_kill,
};
