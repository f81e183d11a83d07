/*
 * hook_proc.c - see hook_proc.h.
 *
 * The keeper is the leader of the group and our child: it starts the program,
 * passes its status on, and gets SIGTERM from the kernel when we are gone. It
 * stays a zombie until the group was killed, so that the group's number is ours
 * for as long as we use it.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/num.h"
#include "common/spawn.h"
#include "orchestrator/hooks/hook_proc.h"

#define WRITTEN_MAX ((uint64_t)16 << 20) /* of both streams, then it ends */
#define LINGER_MS 500
#define BITE 65536

struct hook_proc {
	struct loop *loop;
	hook_proc_cb cb;
	void *ctx;
	pid_t pid;
	int pidfd, fd[2];
	struct loop_watch *w_pid, *w_fd[2], *w_time;
	struct buf text[2];
	uint64_t written;
	uint64_t timeout_ms, start_ms;
	bool exited, cut;
	char failure[96];
};

/* --- in the child: async-signal-safe calls only -------------------------- */

struct start {
	pid_t parent;
	int in, out, err;
	const char *cwd;
	char *const *argv, *const *env;
};

static void keeper(const struct start *s) noreturn_fn;
static void program(const struct start *s) noreturn_fn;

static void
program(const struct start *s)
{
	static const char why[] = "hook: the directory or /bin/sh is gone\n";

	spawn_child_clean(NULL, 0);
	if (chdir(s->cwd) == 0)
		(void)execve("/bin/sh", s->argv, s->env);
	if (write(STDERR_FILENO, why, sizeof why - 1) < 0)
		_exit(126);
	_exit(127);
}

/* The three descriptors may be 0, 1 or 2 themselves. */
static bool
set_stdio(const struct start *s)
{
	int fd[3] = { s->in, s->out, s->err };
	int i;

	for (i = 0; i < 3; i++)
		if ((fd[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 3)) < 0)
			return false;
	for (i = 0; i < 3; i++)
		if (dup2(fd[i], i) < 0)
			return false;
	return true;
}

static void
keeper(const struct start *s)
{
	int status = 0, sig, i;
	sigset_t wanted;
	pid_t pid;

	(void)setpgid(0, 0);
	if (!set_stdio(s))
		_exit(126);
	spawn_child_clean(NULL, 0);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	(void)sigprocmask(SIG_SETMASK, &wanted, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != s->parent)
		_exit(126);
	if ((pid = _Fork()) == 0)
		program(s);
	for (i = 0; i < 3; i++)
		(void)close(i);
	if (pid < 0)
		_exit(126);
	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			_exit(spawn_status(status));
		if (sigwait(&wanted, &sig) == 0 && sig == SIGTERM)
			(void)kill(0, SIGKILL);
	}
}

/* --- the end ------------------------------------------------------------- */

/* Nothing of it is left; p's buffers still are. */
static int
bury(struct hook_proc *p)
{
	int status = 0, i;

	(void)kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	loop_del(p->loop, p->w_pid);
	loop_del(p->loop, p->w_time);
	fd_close(&p->pidfd);
	for (i = 0; i < 2; i++) {
		loop_del(p->loop, p->w_fd[i]);
		fd_close(&p->fd[i]);
	}
	return spawn_status(status);
}

static void
proc_free(struct hook_proc *p)
{
	buf_clear(&p->text[0]);
	buf_clear(&p->text[1]);
	free(p);
}

void
hook_proc_kill(struct hook_proc *p)
{
	if (p == NULL)
		return;
	(void)bury(p);
	proc_free(p);
}

static void
finish(struct hook_proc *p)
{
	struct hook_run r = { .status = bury(p), .cut = p->cut };

	if (p->failure[0] != '\0')
		r.failure = p->failure;
	r.out = buf_str(&p->text[0]);
	r.out_len = p->text[0].len;
	r.err = buf_str(&p->text[1]);
	r.err_len = p->text[1].len;
	p->cb(p->ctx, &r, loop_now_ms() - p->start_ms);
	proc_free(p);
}

static void
on_time(void *ctx)
{
	struct hook_proc *p = ctx;
	char limit[32];

	p->w_time = NULL; /* the loop frees it */
	if (!p->exited)
		(void)snprintf(p->failure, sizeof p->failure,
		    "it was ended at its time limit of %s",
		    num_fmt_ms(p->timeout_ms, limit, sizeof limit));
	finish(p);
}

static void
on_exit_fd(int fd unused_arg, unsigned ev unused_arg, void *ctx)
{
	struct hook_proc *p = ctx;

	p->exited = true;
	loop_del(p->loop, p->w_pid);
	p->w_pid = NULL;
	if (p->fd[0] < 0 && p->fd[1] < 0) {
		finish(p);
		return;
	}
	loop_del(p->loop, p->w_time);
	p->w_time = loop_timer_add(p->loop, LINGER_MS, 0, on_time, p);
}

static void
on_output(int fd, unsigned ev unused_arg, void *ctx)
{
	static char bite[BITE];
	struct hook_proc *p = ctx;
	int i = fd == p->fd[0] ? 0 : 1;
	struct buf *b = &p->text[i];
	ssize_t n = read(fd, bite, sizeof bite);
	size_t take;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		loop_del(p->loop, p->w_fd[i]);
		p->w_fd[i] = NULL;
		fd_close(&p->fd[i]);
		if (p->exited && p->fd[1 - i] < 0)
			finish(p);
		return;
	}
	take = (size_t)n;
	if (take > b->max - b->len) {
		take = b->max - b->len;
		p->cut |= i == 0;
	}
	(void)buf_add(b, bite, take);
	p->written += (uint64_t)n;
	if (p->written > WRITTEN_MAX) {
		(void)snprintf(p->failure, sizeof p->failure,
		    "it was ended after 16 MiB of output");
		finish(p);
	}
}

/* --- the beginning ------------------------------------------------------- */

static int
fork_keeper(struct hook_proc *p, const struct start *s)
{
	sigset_t all, old;

	/* No handler of ours may run in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	p->pid = fork();
	if (p->pid == 0)
		keeper(s);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (p->pid < 0)
		return -errno;
	(void)setpgid(p->pid, p->pid); /* whoever of us two comes first */
	p->pidfd = pidfd_open(p->pid, 0);
	if (p->pidfd >= 0)
		return 0;
	return -errno;
}

static void
watch(struct hook_proc *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		(void)fd_nonblock(p->fd[i], true);
		p->w_fd[i] =
		    loop_fd_add(p->loop, p->fd[i], LOOP_IN, on_output, p);
	}
	p->w_pid = loop_fd_add(p->loop, p->pidfd, LOOP_IN, on_exit_fd, p);
	p->w_time = loop_timer_add(p->loop, p->timeout_ms, 0, on_time, p);
}

int
hook_proc_start(const struct hook_proc_opts *o, hook_proc_cb cb, void *ctx,
    struct hook_proc **ret, struct err *e)
{
	struct hook_proc *p = xcalloc(1, sizeof *p);
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, in, rc;
	struct strv argv = { 0 };
	struct start s = { .parent = getpid(), .cwd = o->cwd };

	p->loop = o->loop;
	p->cb = cb;
	p->ctx = ctx;
	p->pid = p->pidfd = p->fd[0] = p->fd[1] = -1;
	p->timeout_ms = o->timeout_ms;
	p->start_ms = loop_now_ms();
	buf_init(&p->text[0], HOOK_OUTPUT_MAX);
	buf_init(&p->text[1], HOOK_OUTPUT_MAX);
	strv_addl(&argv, "sh", "-c", o->command, (char *)NULL);
	in = fd_memfile("stdin", o->input, o->input_len);
	rc = in < 0 ? in : fd_pipe(out);
	if (rc == 0)
		rc = fd_pipe(err);
	if (rc == 0) {
		s.in = in;
		s.out = out[1];
		s.err = err[1];
		s.argv = strv_argv(&argv);
		s.env = strv_argv(o->env);
		rc = fork_keeper(p, &s);
	}
	fd_close(&in);
	fd_close(&out[1]);
	fd_close(&err[1]);
	strv_clear(&argv);
	p->fd[0] = out[0];
	p->fd[1] = err[0];
	if (rc == 0) {
		watch(p);
		*ret = p;
		return 0;
	}
	if (p->pid > 0) {
		(void)bury(p);
	} else {
		fd_close(&p->fd[0]);
		fd_close(&p->fd[1]);
	}
	proc_free(p);
	return err_set(e, rc, "a hook can't be started: %s", strerror(-rc));
}

void
hook_env(struct strv *ret)
{
	static const char *const names[] = { "PATH", "HOME", "LANG", "LC_ALL",
		"LC_CTYPE", "LC_MESSAGES", "TZ", "USER", "LOGNAME", "SHELL",
		"TERM", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
		"XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR" };
	const char *v;
	size_t i;

	for (i = 0; i < nitems(names); i++)
		if ((v = getenv(names[i])) != NULL)
			strv_setenv(ret, names[i], v);
}
