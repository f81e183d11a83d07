/* exec.c - see exec.h. */
#include "common/compat.h"

#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"
#include "common/num.h"
#include "common/spawn.h"
#include "sandbox/cgroup.h"
#include "sandbox/profile.h"
#include "worker/agent/egress.h"
#include "worker/agent/exec.h"
#include "worker/agent/stall.h"

#define DRAIN_MS 1000
#define BITE 65536
#define MAX_JOBS 256
/* A loop is looked for often at first: most tests are short, and when it began
 * says how long the rest takes. */
#define LOOK_MS 100
#define LOOK_LATER_MS 500
#define LOOK_OFTEN_MS 3000
#define LAST_WORDS_MS 2000

static void
take(struct exec *x, const char *p, size_t len)
{
	size_t n, room;

	if (x->full_fd > 0 && x->total < x->full_max) {
		n = len;
		if (n > x->full_max - x->total)
			n = (size_t)(x->full_max - x->total);
		if (fd_write_all(x->full_fd, p, n) < 0)
			x->full_max = 0; /* a full disk: go on without */
	}
	x->total += len;
	if (x->sink != NULL) {
		x->heard |= x->sink(x->sink_arg, p, len);
		return;
	}
	room = x->keep - x->head.len;
	n = len < room ? len : room;
	(void)buf_add(&x->head, p, n); /* its maximum is keep */
	p += n;
	len -= n;
	if (len == 0)
		return;
	if (x->tail == NULL)
		x->tail = xmalloc(x->keep);
	x->tail_total += len;
	if (len > x->keep) {
		p += len - x->keep;
		len = x->keep;
	}
	n = x->keep - x->tail_at;
	if (n > len)
		n = len;
	memcpy(x->tail + x->tail_at, p, n);
	memcpy(x->tail, p + n, len - n);
	x->tail_at = (x->tail_at + len) % x->keep;
}

/* The command runs by now, and can wait for its network. */
static void
hand_out(struct exec *x, int *listen_fd)
{
	struct err e;

	if (*listen_fd >= 0 && egress_hand_out(listen_fd, &x->line_fd, &e) < 0)
		log_warn("%s", e.text);
}

uint64_t
exec_oom_count(void)
{
	uint64_t n = 0;
	struct buf b;

	buf_init(&b, 65536);
	if (file_read(IN_OOM, false, &b, NULL) == 0)
		n = cgroup_oom_count(buf_str(&b));
	buf_clear(&b);
	return n;
}

int
exec_start(struct exec *x, struct err *e)
{
	struct sandbox_start s = {
		.spec = x->spec, .overlay = x->overlay, .fds = { -1, -1, -1 }
	};
	int pfd[2], in = -1, listen_fd = -1, r;

	if (x->keep == 0)
		x->keep = EXEC_KEEP;
	x->pidfd = x->out_fd = x->line_fd = -1;
	if (x->spec->egress)
		s.ret_listen = &listen_fd;
	x->state = EXEC_IDLE;
	x->oom_before = exec_oom_count();
	buf_init(&x->head, x->keep);
	if ((r = fd_pipe(pfd)) < 0)
		return err_set(e, r, "pipe: %s", strerror(-r));
	if (x->input != NULL) {
		in = fd_memfile("input", x->input, x->input_len);
		if (in < 0) {
			r = err_set(e, in, "memfd: %s", strerror(-in));
			goto fail;
		}
	}
	s.fds[0] = x->in_fd > 0 ? x->in_fd : in;
	s.fds[1] = s.fds[2] = pfd[1];
	if (x->err_fd > 0)
		s.fds[2] = x->err_fd;
	if ((r = sandbox_start(&s, &x->proc, e)) < 0)
		goto fail;
	hand_out(x, &listen_fd);
	fd_close(&pfd[1]);
	fd_close(&in);
	x->out_fd = pfd[0];
	(void)fd_nonblock(x->out_fd, true);
	x->pidfd = pidfd_open(x->proc.pid, 0);
	x->started_ms = loop_now_ms();
	x->deadline_ms = x->timeout_ms > 0 ? x->started_ms + x->timeout_ms : 0;
	x->state = EXEC_RUNNING;
	return 0;
fail:
	fd_close(&pfd[0]);
	fd_close(&pfd[1]);
	fd_close(&in);
	return r;
}

static uint64_t
ms_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000 + (uint64_t)t->tv_usec / 1000;
}

static void
reap(struct exec *x, bool block)
{
	struct rusage used = { 0 };
	pid_t pid;

	if (x->exited)
		return;
	do
		pid = wait4(
		    x->proc.pid, &x->wait_status, block ? 0 : WNOHANG, &used);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	if (pid < 0)
		x->wait_status = 255 << 8; /* taken by someone else */
	x->cpu_ms = ms_of(&used.ru_utime) + ms_of(&used.ru_stime);
	x->rss_kib = (uint64_t)used.ru_maxrss;
	x->exited = true;
	x->drain_ms = loop_now_ms() + DRAIN_MS;
	fd_close(&x->pidfd);
}

static void
finish(struct exec *x)
{
	fd_close(&x->out_fd);
	if (x->line_fd > 0)
		egress_refused(x->line_fd, &x->refused);
	fd_close(&x->line_fd);
	x->ms = loop_now_ms() - x->started_ms;
	x->ran = sandbox_finished(&x->proc, x->wait_status, &x->status);
	if (x->timed_out || x->too_much)
		x->ran = true;
	if (x->status != 0)
		x->oom = exec_oom_count() - x->oom_before;
	x->state = EXEC_DONE;
}

void
exec_kill(struct exec *x)
{
	if (x->state != EXEC_RUNNING)
		return;
	if (!x->exited) {
		sandbox_kill(&x->proc);
		reap(x, true);
	}
	finish(x);
}

/* One bounded bite, so that a chatty command can't outrun its time limit. */
static void
drain(struct exec *x)
{
	static char bite[BITE];
	ssize_t n;

	do
		n = read(x->out_fd, bite, sizeof bite);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		take(x, bite, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		fd_close(&x->out_fd);
}

static bool
check(struct exec *x, uint64_t now)
{
	uint64_t most = x->spec->limits.output_bytes;

	reap(x, false);
	if (!x->exited && most > 0 && x->total > most)
		x->too_much = true;
	else if (!x->exited && x->deadline_ms > 0 && now >= x->deadline_ms)
		x->timed_out = true;
	if (!x->exited && (x->too_much || x->timed_out)) {
		sandbox_kill(&x->proc);
		reap(x, true);
	}
	if (!x->exited)
		return false;
	if (x->out_fd >= 0 && now < x->drain_ms)
		return false;
	finish(x);
	return true;
}

struct exec *
exec_wait(struct exec **jobs, size_t n, uint64_t wait_ms)
{
	struct pollfd p[2 * MAX_JOBS];
	struct exec *who[2 * MAX_JOBS];
	uint64_t end = loop_now_ms() + wait_ms, now, until;
	nfds_t np, i;
	size_t k;

	if (n > MAX_JOBS)
		n = MAX_JOBS;
	for (;;) {
		np = 0;
		now = loop_now_ms();
		until = end;
		for (k = 0; k < n; k++) {
			struct exec *x = jobs[k];

			if (x == NULL || x->state != EXEC_RUNNING)
				continue;
			if (check(x, now) || x->heard) {
				x->heard = false;
				return x;
			}
			if (x->out_fd >= 0) {
				who[np] = x;
				p[np++] =
				    (struct pollfd){ x->out_fd, POLLIN, 0 };
			}
			if (!x->exited && x->pidfd >= 0) {
				who[np] = x;
				p[np++] =
				    (struct pollfd){ x->pidfd, POLLIN, 0 };
			}
			if (!x->exited && x->deadline_ms > 0 &&
			    x->deadline_ms < until)
				until = x->deadline_ms;
			if (x->exited && x->drain_ms < until)
				until = x->drain_ms;
			if (x->pidfd < 0 && !x->exited && now + 50 < until)
				until = now + 50;
		}
		if (now >= end)
			return NULL;
		if (poll(p, np, until > now ? (int)(until - now) : 0) < 0)
			continue;
		for (i = 0; i < np; i++) {
			if (p[i].revents != 0 && p[i].fd == who[i]->out_fd)
				drain(who[i]);
		}
	}
}

/* It is in a loop: ended as from a keyboard, so that it says where. */
static void
end_loop(struct exec *x, uint64_t moved_ms)
{
	x->stalled = x->timed_out = true;
	x->moved_ms = moved_ms - x->started_ms;
	if (sandbox_signal(&x->proc, SIGINT) &&
	    exec_wait(&x, 1, LAST_WORDS_MS) != NULL)
		return;
	exec_kill(x);
}

static void
run_watched(struct exec *x)
{
	struct stall s = { 0 };
	uint64_t wait = LOOK_MS;

	while (exec_wait(&x, 1, wait) == NULL) {
		if (stall_look(&s, x->proc.pid, x->total) >= x->stall_ms) {
			end_loop(x, s.moved_ms);
			return;
		}
		if (loop_now_ms() - x->started_ms > LOOK_OFTEN_MS)
			wait = LOOK_LATER_MS;
	}
}

void
exec_extend(struct exec *x, uint64_t ms)
{
	x->deadline_ms = loop_now_ms() + ms;
	x->total = 0;
}

int
exec_run(struct exec *x, struct err *e)
{
	int r;

	if ((r = exec_start(x, e)) < 0)
		return r;
	if (x->stall_ms > 0)
		run_watched(x);
	else
		while (exec_wait(&x, 1, 60000) == NULL)
			;
	if (!x->ran) {
		r = err_set(e, ERR_SANDBOX, "the sandbox failed: %.600s",
		    buf_str(&x->head));
		return r;
	}
	return 0;
}

int
exec_text(const struct exec *x, struct buf *ret)
{
	size_t n;
	int r;

	if ((r = buf_add(ret, buf_str(&x->head), x->head.len)) < 0)
		return r;
	if (x->tail_total == 0)
		return 0;
	if (x->tail_total <= x->keep)
		return buf_add(ret, x->tail, (size_t)x->tail_total);
	if ((r = buf_printf(ret, "\n[... %llu bytes left out ...]\n",
		 (unsigned long long)(x->tail_total - x->keep))) < 0)
		return r;
	n = x->keep - x->tail_at;
	if ((r = buf_add(ret, x->tail + x->tail_at, n)) < 0)
		return r;
	return buf_add(ret, x->tail, x->tail_at);
}

void
exec_clear(struct exec *x)
{
	if (x->state == EXEC_RUNNING)
		exec_kill(x);
	buf_clear(&x->head);
	free(x->tail);
	x->tail = NULL;
	strv_clear(&x->refused);
	x->tail_at = 0;
	x->tail_total = x->total = 0;
	x->state = EXEC_IDLE;
	x->exited = x->timed_out = x->too_much = x->ran = false;
	x->stalled = false;
	x->oom = 0;
}

/* The limit that a status speaks of; "" when it is none. */
static void
limit_str(const struct exec *x, char *dst, size_t size)
{
	const struct sandbox_limits *l = &x->spec->limits;
	int sig = x->status - 128;

	dst[0] = '\0';
	if (x->oom > 0 && l->memory_bytes > 0)
		(void)snprintf(dst, size, "killed: memory limit of %llu MiB",
		    (unsigned long long)(l->memory_bytes >> 20));
	else if (x->oom > 0)
		(void)snprintf(dst, size, "killed: no memory was left");
	else if (sig == SIGXCPU && l->cpu_s > 0)
		(void)snprintf(dst, size,
		    "killed: processor time limit of %llu s",
		    (unsigned long long)l->cpu_s);
	else if (sig == SIGXFSZ && l->file_bytes > 0)
		(void)snprintf(dst, size, "killed: file size limit of %llu MiB",
		    (unsigned long long)(l->file_bytes >> 20));
}

void
exec_status_str(const struct exec *x, char *dst, size_t size)
{
	char text[96];
	int sig;

	limit_str(x, text, sizeof text);
	if (x->too_much) {
		(void)snprintf(dst, size, "killed: output limit of %llu MiB",
		    (unsigned long long)(x->spec->limits.output_bytes >> 20));
	} else if (x->timed_out) {
		snprintf(dst, size, "timed out after %s",
		    num_fmt_ms(x->timeout_ms, text, sizeof text));
	} else if (text[0] != '\0') {
		(void)snprintf(
		    dst, size, "exit status %d (%s)", x->status, text);
	} else if (x->status > 128 && x->status < 128 + 65) {
		sig = x->status - 128;
		snprintf(dst, size, "exit status %d (signal %d: %s)", x->status,
		    sig, strsignal(sig));
	} else {
		snprintf(dst, size, "exit status %d", x->status);
	}
}
