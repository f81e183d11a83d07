#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "common/spawn.h"
#include "sandbox/backend.h"
#include "sandbox/child.h"
#include "sandbox/netns.h"
#include "sandbox/seccomp.h"
#include "sandbox/start.h"

/* bwrap has made its namespaces long before; a machine may be slow. */
#define BIRTH_MS 30000
/* Our own part of the child takes milliseconds. We have threads (those of
 * ZeroMQ), and a child of fork() may find a lock that one of them held: glibc
 * sees to its own, a sanitizer's allocator does not. Such a child is given up.
 */
#define CHILD_MS 15000
#define CHILD_TRIES 3
/* For a killed tree to be gone. */
#define GONE_MS 500

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(path, X_OK) == 0;
}

/* Could a sandboxed program have put it there? */
static bool
is_writable_inside(const struct sandbox_spec *s, const char *path)
{
	char *real = realpath(path, NULL);
	bool yes = real == NULL;

	for (size_t i = 0; !yes && i < s->n_mounts; i++) {
		if (s->mounts[i].kind == MOUNT_RW)
			yes = path_is_below(real, s->mounts[i].dst) ||
			    path_is_below(real, s->mounts[i].src) ||
			    path_is_below(path, s->mounts[i].dst);
	}
	free(real);
	return yes;
}

/* May nobody but root put another in its place? dir: of a program that root is
 * to run. In a sticky directory only the owner of an entry may. */
static bool
is_roots_own(const char *dir)
{
	char *at = realpath(dir, NULL), *up;
	struct stat st;
	bool good = at != NULL, last = true;

	while (good) {
		good = stat(at, &st) == 0 && st.st_uid == 0 &&
		    ((st.st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
			(!last && (st.st_mode & S_ISVTX) != 0));
		last = false;
		if (strcmp(at, "/") == 0)
			break;
		up = path_dir(at);
		free(at);
		at = up;
	}
	free(at);
	return good;
}

/* The first in PATH that may be trusted: never one out of the tree, whose
 * virtual environment may stand in PATH. */
static char *
in_path(const struct sandbox_spec *s)
{
	const char *path = getenv("PATH");
	char *dir, *name;
	size_t n;

	for (; path != NULL && *path != '\0'; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (*path != '/')
			continue;
		dir = xstrndup(path, n);
		name = path_join(dir, "bwrap");
		if (is_program(name) && !is_writable_inside(s, name) &&
		    (geteuid() != 0 || is_roots_own(dir))) {
			free(dir);
			return name;
		}
		free(dir);
		free(name);
	}
	return NULL;
}

/* In PATH (a home on a cluster), else where systems have it. */
static int
find_bwrap(const struct sandbox_spec *s, char **ret, struct err *e)
{
	static const char *const places[] = {
		"/usr/bin/bwrap",
		"/bin/bwrap",
		"/usr/local/bin/bwrap",
		"/run/current-system/sw/bin/bwrap",
	};

	if ((*ret = in_path(s)) != NULL)
		return 0;
	for (size_t i = 0; i < nitems(places); i++) {
		if (is_program(places[i])) {
			*ret = xstrdup(places[i]);
			return 0;
		}
	}
	return err_set(e, ERR_SANDBOX,
	    "bubblewrap (bwrap) is not installed: sudo apt-get install bubblewrap");
}

static int
check(const struct sandbox_start *s, struct err *e)
{
	if (geteuid() == 0 && !s->stage)
		return err_set(e, ERR_SANDBOX,
		    "refused: a sandbox started as root is no wall");
	if (s->spec->argv.n == 0)
		return err_set(e, ERR_SANDBOX, "no command to run");
	if (s->ret_listen != NULL)
		*s->ret_listen = -1;
	if (s->ret_listen != NULL && s->spec->backend != BACKEND_BWRAP)
		return err_set(e, ERR_SANDBOX,
		    "allowed hosts (network.allow) need a sandbox with a "
		    "network of its own: not in container mode");
	return 0;
}

static int bwrap_ready(struct child *c, struct err *e);
static int catch_init(int status_fd, pid_t *ret_pid);
static void bwrap_kill(const struct sandbox_proc *p);

static const struct backend backend_bwrap = {
	.ready = bwrap_ready,
	.child = child_run,
	.work = true,
	.born = catch_init,
	.kill = bwrap_kill,
};

static const struct backend *const backends[] = {
	[BACKEND_BWRAP] = &backend_bwrap,
	[BACKEND_CONTAINER] = &backend_container,
};

/* May the child run in our memory until bwrap does? To copy our page tables,
 * and then each page that one of us touches, is a tenth of a start. This thread
 * waits meanwhile, the others go on: what the child allocates,
 * child_work_free() frees.
 *
 * Not one that stages: a new uid is for all threads that glibc knows of. And
 * not ours when it is not dumpable: userns.c changes that, and it is the
 * memory's. */
static bool
may_share(const struct child *c)
{
	return backends[c->start->spec->backend]->work &&
	    !(c->start->stage && geteuid() == 0) &&
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
}

static pid_t
fork_child(const struct child *c)
{
	const struct backend *backend = backends[c->start->spec->backend];
	const bool share = may_share(c);
	sigset_t all, old;
	pid_t pid;

	/* No handler of ours may run in the child. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = share ? vfork() : fork();
	if (pid == 0)
		backend->child(c);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return pid;
}

/* Until bwrap runs (the pipe closes) or the child says why not. -ETIMEDOUT: it
 * does neither. */
static int
hear(int fd, bool *ret_readonly, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = loop_now_ms() + CHILD_MS, now;
	struct child_report rep;
	ssize_t n;

	for (;;) {
		if ((now = loop_now_ms()) >= end)
			return err_set(e, -ETIMEDOUT,
			    "a sandbox's child did not come to run bwrap");
		if (poll(&p, 1, (int)(end - now)) <= 0)
			continue;
		n = read(fd, &rep, sizeof rep);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return 0;
		if (n != (ssize_t)sizeof rep)
			return err_set(
			    e, ERR_SANDBOX, "lost the sandbox's child");
		if (rep.kind == REPORT_FAILED)
			return err_set(e, ERR_SANDBOX, "%s", rep.e.text);
		*ret_readonly = true;
	}
}

/* The number after "key": in bwrap's status lines; false as long as it may go
 * on. */
static bool
find_number(const char *text, const char *key, long *ret)
{
	const char *at = strstr(text, key);
	char *end;

	if (at == NULL || (at = strchr(at, ':')) == NULL)
		return false;
	*ret = strtol(at + 1, &end, 10);
	return end != at + 1 && *end != '\0';
}

/* The number that the first status line begins with. bwrap writes that line in
 * eight pieces, and each would wake us: the rest may come later. What follows
 * the line is for sandbox_finished(), so it looks first and takes nothing of
 * that. */
static bool
read_number(int fd, const char *key, long *ret)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = loop_now_ms() + BIRTH_MS, now;
	char line[512] = "", *nl = NULL;
	size_t len = 0, take;
	bool found = false;
	ssize_t n;

	while (!found && nl == NULL && len + 1 < sizeof line &&
	    (now = loop_now_ms()) < end) {
		if (poll(&p, 1, (int)(end - now)) < 0 && errno != EINTR)
			break;
		if (p.revents == 0)
			continue;
		n = recv(fd, line + len, sizeof line - 1 - len, MSG_PEEK);
		if (n <= 0)
			break;
		nl = memchr(line + len, '\n', (size_t)n);
		take = nl != NULL ? (size_t)(nl - line) + 1 - len : (size_t)n;
		if (recv(fd, line + len, take, 0) != (ssize_t)take)
			break;
		len += take;
		line[len] = '\0';
		found = find_number(line, key, ret);
	}
	return found;
}

/* The tree's pid 1. From its birth until it has set a death signal of its own
 * the end of the monitor would not end it, so we hold it by ourselves. bwrap
 * names it before it lets it go on, and can't have reaped it yet. */
static int
catch_init(int status_fd, pid_t *ret_pid)
{
	long pid;

	if (!read_number(status_fd, "\"child-pid\"", &pid) || pid <= 1)
		return -1; /* bwrap failed: sandbox_finished() will say so */
	*ret_pid = (pid_t)pid;
	return pidfd_open((pid_t)pid, 0);
}

static void
reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/* The command waits behind hold_fd until its way to the proxy is there. */
static int
listen_inside(const struct sandbox_start *s, const struct sandbox_proc *p,
    pid_t init, int hold_fd, struct err *e)
{
	int r;

	if (p->init_fd < 0)
		return 0; /* as above */
	if ((r = netns_listen(p->init_fd, init, NETNS_PORT, s->ret_listen, e)) <
	    0)
		return r;
	(void)fd_write_all(hold_fd, "", 1); /* gone: so is the command */
	return 0;
}

static int
start_once(struct child *c, struct sandbox_proc *ret, struct err *e)
{
	const struct backend *backend = backends[c->start->spec->backend];
	struct sandbox_proc p = { .backend = c->start->spec->backend,
		.pid = -1,
		.status_fd = -1,
		.init_fd = -1 };
	int status[2] = { -1, -1 }, reports[2] = { -1, -1 };
	int hold[2] = { -1, -1 }, r;
	pid_t init = -1;

	/* A socket, since one can look into it: read_line(). */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, status) < 0) {
		r = err_set(e, ERR_SANDBOX, "socketpair: %s", strerror(errno));
		goto out;
	}
	if ((r = fd_pipe(reports)) < 0) {
		r = err_set(e, ERR_SANDBOX, "pipe: %s", strerror(-r));
		goto out;
	}
	if (c->start->ret_listen != NULL && (r = fd_pipe(hold)) < 0) {
		r = err_set(e, ERR_SANDBOX, "pipe: %s", strerror(-r));
		goto out;
	}
	c->hold_fd = hold[0];
	c->status_fd = status[1];
	c->report_fd = reports[1];
	if (backend->work)
		c->work = child_work_new(c);
	p.pid = fork_child(c);
	child_work_free(c->work);
	c->work = NULL;
	if (p.pid < 0) {
		r = err_set(e, ERR_SANDBOX, "fork: %s", strerror(errno));
		goto out;
	}
	fd_close(&status[1]);
	fd_close(&reports[1]);
	if ((r = hear(reports[0], &p.live_readonly, e)) < 0) {
		(void)kill(p.pid, SIGKILL);
		reap(p.pid);
		goto out;
	}
	p.init_fd = backend->born(status[0], &init);
	if (c->start->ret_listen != NULL &&
	    (r = listen_inside(c->start, &p, init, hold[1], e)) < 0) {
		sandbox_kill(&p);
		reap(p.pid);
		fd_close(&p.init_fd);
		goto out;
	}
	(void)fd_nonblock(status[0], true);
	p.status_fd = status[0];
	status[0] = -1;
	*ret = p;
out:
	for (int i = 0; i < 2; i++) {
		fd_close(&status[i]);
		fd_close(&reports[i]);
		fd_close(&hold[i]);
	}
	return r;
}

static int
bwrap_ready(struct child *c, struct err *e)
{
	const struct seccomp_want filter = {
		.layer = c->start->spec->layer,
		.ptrace = c->start->spec->ptrace,
	};
	int r;

	if ((r = find_bwrap(c->start->spec, &c->bwrap, e)) < 0)
		return r;
	return seccomp_program(&filter, &c->filter, &c->filter_len, e);
}

int
sandbox_start(
    const struct sandbox_start *s, struct sandbox_proc *ret, struct err *e)
{
	struct child c = { .start = s, .hold_fd = -1 };
	int r;

	if ((r = check(s, e)) < 0 ||
	    (r = backends[s->spec->backend]->ready(&c, e)) < 0)
		goto out;
	for (int i = 0; i < CHILD_TRIES; i++) {
		if ((r = start_once(&c, ret, e)) != -ETIMEDOUT)
			break;
		log_warn(
		    "%s: once more", e != NULL ? e->text : "a child hangs");
	}
	if (r == -ETIMEDOUT)
		r = e != NULL ? (e->code = ERR_SANDBOX) : ERR_SANDBOX;
out:
	free(c.bwrap);
	return r;
}

/* "PID (name) S PPID ..."; 0 when it is gone. */
static long
parent_of(const char *pid)
{
	char path[64], text[512];
	const char *at;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	fd_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	return at != NULL && strlen(at) > 4 ? strtol(at + 4, NULL, 10) : 0;
}

/* The command is what pid 1 of the sandbox has started; that one itself does
 * not pass anything on. */
bool
sandbox_signal(const struct sandbox_proc *p, int sig)
{
	const long init = fd_pid(-1, p->init_fd);
	bool any = false;
	struct dirent *d;
	DIR *dp;
	int fd;

	if (init <= 0 || (dp = opendir("/proc")) == NULL)
		return false;
	while ((d = readdir(dp)) != NULL) {
		if (d->d_name[strspn(d->d_name, "0123456789")] != '\0' ||
		    parent_of(d->d_name) != init)
			continue;
		fd = pidfd_open((pid_t)strtol(d->d_name, NULL, 10), 0);
		/* still the same one? */
		if (fd >= 0 && parent_of(d->d_name) == init &&
		    pidfd_send_signal(fd, sig, NULL, 0) == 0)
			any = true;
		fd_close(&fd);
	}
	(void)closedir(dp);
	return any;
}

void
sandbox_kill(const struct sandbox_proc *p)
{
	backends[p->backend]->kill(p);
}

/* The monitor first: it would report the end of pid 1 as a failure. */
static void
bwrap_kill(const struct sandbox_proc *p)
{
	if (p->pid > 0)
		(void)kill(p->pid, SIGKILL);
	if (p->init_fd >= 0)
		(void)pidfd_send_signal(p->init_fd, SIGKILL, NULL, 0);
}

/* pid 1 becomes a zombie only after every other process of its namespace is
 * gone, so this waits for the whole tree. With the monitor dead it may have
 * become our own child (we are the host, pid 1 of a namespace): reap it. */
static void
await_tree(int init_fd)
{
	struct pollfd p = { .fd = init_fd, .events = POLLIN };
	uint64_t end = loop_now_ms() + GONE_MS, now;
	siginfo_t si;

	(void)pidfd_send_signal(init_fd, SIGKILL, NULL, 0);
	while ((now = loop_now_ms()) < end) {
		if (poll(&p, 1, (int)(end - now)) > 0)
			break;
	}
	(void)waitid(P_PIDFD, (id_t)init_fd, &si, WEXITED | WNOHANG);
}

bool
sandbox_finished(struct sandbox_proc *p, int wait_status, int *ret_status)
{
	char text[4096];
	long code = 0;
	ssize_t n = 0;
	bool ran;

	if (p->init_fd >= 0)
		await_tree(p->init_fd);
	fd_close(&p->init_fd);
	if (p->status_fd >= 0)
		n = read(p->status_fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	fd_close(&p->status_fd);
	p->pid = -1;

	ran = find_number(text, "\"exit-code\"", &code);
	if (!ran && WIFSIGNALED(wait_status)) {
		ran = true;
		code = spawn_status(wait_status);
	} else if (!ran) {
		code = spawn_status(wait_status);
	}
	*ret_status = (int)code;
	return ran;
}
