#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/path.h"
#include "common/spawn.h"

#define LINGER_MS 1000
#define READ_SIZE (64 * 1024)

int
spawn_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

static void
close_span(unsigned first, unsigned last)
{
	struct rlimit rl = { .rlim_cur = 65536 };

	if (first > last || close_range(first, last, 0) == 0)
		return;
	/* An old kernel or a filter. */
	(void)getrlimit(RLIMIT_NOFILE, &rl);
	for (unsigned fd = first; fd <= last && fd < rl.rlim_cur; fd++)
		(void)close((int)fd);
}

/* Only async-signal-safe calls: other threads may have held locks. */
void
spawn_child_clean(const int *keep, size_t n)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	unsigned from = 3, next;
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &sa, NULL); /* KILL and STOP refuse */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);

	for (;;) {
		next = UINT_MAX;
		for (size_t i = 0; i < n; i++) {
			if (keep[i] >= 0 && (unsigned)keep[i] >= from &&
			    (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		}
		if (next == UINT_MAX)
			break;
		close_span(from, next - 1);
		(void)fd_cloexec((int)next, false);
		from = next + 1;
	}
	close_span(from, UINT_MAX);
}

/* A run: what the parent holds. */
struct run {
	const struct spawn *s;
	struct spawn_result *ret;
	pid_t pid;
	int pidfd;
	int exec_fds[2]; /* the child writes errno here when it can't start */
	int out_fds[2];
	int err_fds[2];
	int in_fd;
	int null_fd;
	bool exited;
};

/* Descriptors 0, 1 and 2, wherever the sources are. */
static int
child_stdio(const struct run *r)
{
	int src[3], fd;

	src[0] = r->in_fd >= 0 ? r->in_fd : r->null_fd;
	src[1] = r->out_fds[1] >= 0 ? r->out_fds[1] : r->null_fd;
	src[2] = r->err_fds[1] >= 0 ? r->err_fds[1] : r->null_fd;
	if (r->s->err != NULL && r->s->err == r->s->out)
		src[2] = src[1];
	/* A source may itself be 0, 1 or 2. */
	for (int i = 0; i < 3; i++) {
		if ((src[i] = fcntl(src[i], F_DUPFD_CLOEXEC, 3)) < 0)
			return -errno;
	}
	for (int i = 0; i < 3; i++) {
		fd = dup2(src[i], i); /* clears close-on-exec */
		if (fd < 0)
			return -errno;
	}
	return 0;
}

static void child(
    const struct run *r, const char *path, char *const *env) noreturn_fn;

static void
child(const struct run *r, const char *path, char *const *env)
{
	int report = r->exec_fds[1], code = 0;
	ssize_t n;

	(void)setpgid(0, 0);
	if ((report = fcntl(report, F_DUPFD_CLOEXEC, 3)) < 0)
		_exit(127);
	code = child_stdio(r);
	if (code == 0) {
		spawn_child_clean(&report, 1);
		(void)fd_cloexec(report, true);
		if (r->s->cwd != NULL && chdir(r->s->cwd) < 0) {
			code = -errno;
		} else {
			execve(path, strv_argv(r->s->argv), env);
			code = -errno;
		}
	}
	n = write(report, &code, sizeof code);
	_exit(n == (ssize_t)sizeof code ? 127 : 126);
}

static int
open_all(struct run *r)
{
	const struct spawn *s = r->s;
	int code;

	if ((code = fd_pipe(r->exec_fds)) < 0)
		return code;
	r->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (r->null_fd < 0)
		return -errno;
	/* A file, not a pipe: no deadlock, and no SIGPIPE for us when the
	 * program doesn't read it. */
	if (s->input != NULL) {
		r->in_fd = fd_memfile("stdin", s->input, s->input_len);
		if (r->in_fd < 0)
			return r->in_fd;
	}
	if (s->out != NULL &&
	    ((code = fd_pipe(r->out_fds)) < 0 ||
		(code = fd_nonblock(r->out_fds[0], true)) < 0))
		return code;
	if (s->err != NULL && s->err != s->out &&
	    ((code = fd_pipe(r->err_fds)) < 0 ||
		(code = fd_nonblock(r->err_fds[0], true)) < 0))
		return code;
	return 0;
}

static void
close_all(struct run *r)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&r->exec_fds[i]);
		fd_close(&r->out_fds[i]);
		fd_close(&r->err_fds[i]);
	}
	fd_close(&r->in_fd);
	fd_close(&r->null_fd);
	fd_close(&r->pidfd);
}

/* The child started: 0, or what kept it from starting. */
static int
started(struct run *r)
{
	int code = 0;
	ssize_t n;

	fd_close(&r->exec_fds[1]);
	do
		n = read(r->exec_fds[0], &code, sizeof code);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0; /* closed by execve */
	return n == (ssize_t)sizeof code ? code : -EIO;
}

/* The child runs in our memory, of which it changes nothing, until the program
 * does: to copy the page tables of a large process takes longer than most
 * programs that it starts. */
static int
fork_child(struct run *r, const char *path, char *const *env)
{
	sigset_t all, old;

	/* No handler of ours may run in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	r->pid = vfork();
	if (r->pid == 0)
		child(r, path, env);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (r->pid < 0)
		return -errno;
	(void)setpgid(r->pid, r->pid); /* whoever of us two comes first */
	r->pidfd = pidfd_open(r->pid, 0);
	return r->pidfd < 0 ? -errno : 0;
}

/* One bite; what passes the maximum is dropped. Closes *fd at the end. */
static void
drain(int *fd, struct buf *b, bool *truncated)
{
	char bite[READ_SIZE];
	size_t room, take;
	ssize_t n;

	n = read(*fd, bite, sizeof bite);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		fd_close(fd);
		return;
	}
	room = b->max > b->len ? b->max - b->len : 0;
	take = (size_t)n < room ? (size_t)n : room;
	(void)buf_add(b, bite, take); /* it fits */
	if (take < (size_t)n)
		*truncated = true;
}

/* Until the program has exited and its pipes are closed, or the time is over.
 * The child stays a zombie meanwhile, so that its group's number is ours. */
static void
attend(struct run *r)
{
	const struct spawn *s = r->s;
	uint64_t now = loop_now_ms(), end = UINT64_MAX;
	uint64_t linger = s->linger_ms > 0 ? s->linger_ms : LINGER_MS;
	struct pollfd p[3];
	int timeout;

	if (s->timeout_ms > 0 && s->timeout_ms < UINT64_MAX - now)
		end = now + s->timeout_ms;
	while (!r->exited || r->out_fds[0] >= 0 || r->err_fds[0] >= 0) {
		now = loop_now_ms();
		if (now >= end) {
			(void)kill(-r->pid, SIGKILL);
			if (r->exited || r->ret->timed_out)
				return;
			r->ret->timed_out = true;
			end = now + linger;
		}
		timeout = -1;
		if (end != UINT64_MAX)
			timeout =
			    end - now < INT_MAX ? (int)(end - now) : INT_MAX;
		p[0] = (struct pollfd){ .fd = r->exited ? -1 : r->pidfd,
			.events = POLLIN };
		p[1] = (struct pollfd){ .fd = r->out_fds[0], .events = POLLIN };
		p[2] = (struct pollfd){ .fd = r->err_fds[0], .events = POLLIN };
		if (poll(p, 3, timeout) <= 0)
			continue;
		if (p[1].revents != 0)
			drain(&r->out_fds[0], s->out, &r->ret->truncated);
		if (p[2].revents != 0)
			drain(&r->err_fds[0], s->err, &r->ret->truncated);
		if (p[0].revents != 0) {
			r->exited = true;
			end = loop_now_ms() + linger;
		}
	}
}

static int
reap(const struct run *r)
{
	int status = 0;

	while (waitpid(r->pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 255; /* somebody else took it */
	}
	return spawn_status(status);
}

/* In the PATH of env, or the caller's when env has none. */
static int
find_program(const struct spawn *s, char **ret_path, struct err *e)
{
	const char *path_env = NULL;
	const char *name;

	if (s->argv->n == 0)
		return err_set(e, -EINVAL, "no program to run");
	name = s->argv->v[0];
	if (s->env != NULL)
		path_env = strv_getenv(s->env, "PATH");
	/* With a slash it may be relative to cwd: execve() finds out. */
	if (strchr(name, '/') != NULL) {
		*ret_path = xstrdup(name);
		return 0;
	}
	if (path_search(name, path_env, ret_path) < 0)
		return err_set(e, ERR_NOTFOUND, "no program %s in PATH", name);
	return 0;
}

int
spawn_run(const struct spawn *s, struct spawn_result *ret, struct err *e)
{
	struct spawn_result result = { 0 };
	struct run r = {
		.s = s,
		.ret = &result,
		.pid = -1,
		.pidfd = -1,
		.exec_fds = { -1, -1 },
		.out_fds = { -1, -1 },
		.err_fds = { -1, -1 },
		.in_fd = -1,
		.null_fd = -1,
	};
	char *const *env = s->env != NULL ? strv_argv(s->env) : environ;
	char *path = NULL;
	int code;

	if ((code = find_program(s, &path, e)) < 0)
		return code;
	code = open_all(&r);
	if (code == 0)
		code = fork_child(&r, path, env);
	if (code == 0)
		code = started(&r);
	if (code < 0) {
		if (r.pid > 0) {
			(void)kill(r.pid, SIGKILL);
			(void)reap(&r);
		}
		code = err_set(e, code == -ENOENT ? ERR_NOTFOUND : code,
		    "run %s: %s", path, strerror(-code));
		goto out;
	}
	fd_close(&r.out_fds[1]);
	fd_close(&r.err_fds[1]);
	attend(&r);
	result.status = reap(&r);
	*ret = result;
out:
	close_all(&r);
	free(path);
	return code;
}
