/* run.c - sandbox_run(): start, attend, collect. */
#include "common/compat.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/loop.h"
#include "sandbox/start.h"

/* Output that comes after the command's end (a background child's). */
#define DRAIN_MS 500
/* A killed monitor that does not die: the kernel is in trouble. */
#define DEATH_MS 10000
#define READ_SIZE (64 * 1024)

struct run {
	const struct sandbox_run *r;
	struct sandbox_result res;
	struct sandbox_proc proc;
	int pidfd;
	int out[2], err[2];
	int input;
};

static int
open_output(int fds[2])
{
	int r = fd_pipe(fds);

	return r < 0 ? r : fd_nonblock(fds[0], true);
}

static int
open_all(struct run *run)
{
	const struct sandbox_run *r = run->r;
	int code;

	/* A file, so that nobody has to feed it, and no SIGPIPE. */
	if (r->input != NULL) {
		run->input = fd_memfile("stdin", r->input, r->input_len);
		if (run->input < 0)
			return run->input;
	}
	if (r->out != NULL && (code = open_output(run->out)) < 0)
		return code;
	if (r->err != NULL && (code = open_output(run->err)) < 0)
		return code;
	return 0;
}

static void
close_all(struct run *run)
{
	for (int i = 0; i < 2; i++) {
		fd_close(&run->out[i]);
		fd_close(&run->err[i]);
	}
	fd_close(&run->input);
	fd_close(&run->pidfd);
}

/* One bite. Closes *fd at the end. */
static void
drain(struct run *run, int *fd, struct buf *b)
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
	if (take < (size_t)n) {
		run->res.truncated = true;
		run->res.dropped += (size_t)n - take;
	}
}

static int
until(uint64_t end)
{
	uint64_t now = loop_now_ms();

	if (end == UINT64_MAX)
		return -1;
	if (end <= now)
		return 0;
	return end - now < INT_MAX ? (int)(end - now) : INT_MAX;
}

/* Wait for something; true when the monitor has exited. */
static bool
attend(struct run *run, int timeout)
{
	struct pollfd p[] = {
		{ .fd = run->pidfd, .events = POLLIN },
		{ .fd = run->out[0], .events = POLLIN },
		{ .fd = run->err[0], .events = POLLIN },
	};

	if (poll(p, nitems(p), timeout) <= 0)
		return false;
	if (p[1].revents != 0)
		drain(run, &run->out[0], run->r->out);
	if (p[2].revents != 0)
		drain(run, &run->err[0], run->r->err);
	return p[0].revents != 0;
}

/* Until the monitor has exited. */
static int
wait_exit(struct run *run, struct err *e)
{
	uint64_t end = UINT64_MAX, now = loop_now_ms();

	if (run->r->timeout_ms > 0 && run->r->timeout_ms < UINT64_MAX - now)
		end = now + run->r->timeout_ms;
	while (!attend(run, until(end))) {
		if (end == UINT64_MAX || loop_now_ms() < end)
			continue;
		if (run->res.timed_out)
			return err_set(
			    e, ERR_SANDBOX, "a killed sandbox did not end");
		run->res.timed_out = true;
		sandbox_kill(&run->proc);
		end = loop_now_ms() + DEATH_MS;
	}
	return 0;
}

/* What is left in the pipes. They end when the last process of the tree that
 * holds them is gone, and that is killed by now. */
static void
drain_rest(struct run *run)
{
	uint64_t end = loop_now_ms() + DRAIN_MS;
	int left;

	fd_close(&run->pidfd);
	while (
	    (run->out[0] >= 0 || run->err[0] >= 0) && (left = until(end)) > 0)
		(void)attend(run, left);
}

static int
start(struct run *run, struct err *e)
{
	struct sandbox_start s = run->r->start;
	int r;

	if ((r = open_all(run)) < 0)
		return err_set(e, ERR_SANDBOX, "pipes: %s", strerror(-r));
	s.fds[0] = run->input;
	s.fds[1] = run->out[1];
	s.fds[2] = run->r->err != NULL ? run->err[1] : run->out[1];
	if ((r = sandbox_start(&s, &run->proc, e)) < 0)
		return r;
	fd_close(&run->out[1]);
	fd_close(&run->err[1]);
	fd_close(&run->input);
	return 0;
}

/* bwrap's last words, when it could not make the sandbox. */
static int
failed(const struct run *run, struct err *e)
{
	const struct buf *b = run->r->err != NULL ? run->r->err : run->r->out;
	const char *text = b != NULL ? buf_str(b) : "";

	while (*text == '\n')
		text++;
	return err_set(e, ERR_SANDBOX, "%.*s", (int)strcspn(text, "\n"),
	    *text != '\0' ? text : "bwrap failed");
}

int
sandbox_run(
    const struct sandbox_run *r, struct sandbox_result *ret, struct err *e)
{
	struct run run = {
		.r = r,
		.proc = { .pid = -1, .status_fd = -1, .init_fd = -1 },
		.pidfd = -1,
		.out = { -1, -1 },
		.err = { -1, -1 },
		.input = -1,
	};
	uint64_t began = loop_now_ms();
	int status = 0, code;

	if ((code = start(&run, e)) < 0)
		goto out;
	run.pidfd = pidfd_open(run.proc.pid, 0);
	if (run.pidfd < 0) {
		code = err_set(e, ERR_SANDBOX, "pidfd: %s", strerror(errno));
		sandbox_kill(&run.proc);
	} else {
		code = wait_exit(&run, e);
	}
	if (code == 0 || run.pidfd < 0)
		while (waitpid(run.proc.pid, &status, 0) < 0 && errno == EINTR)
			continue;
	if (!sandbox_finished(&run.proc, status, &run.res.status) && code == 0)
		code = -ECHILD; /* worded after the pipes were read */
	drain_rest(&run);
	if (code == -ECHILD)
		code = failed(&run, e);
	run.res.ms = loop_now_ms() - began;
	if (code == 0)
		*ret = run.res;
out:
	close_all(&run);
	return code;
}
