/*
 * wire.c - the bytes of a worker, checked before libzmq sees them.
 */
#include "common/compat.h"

#include "worker/host/wire.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/spawn.h"
#include "proto/zmtp.h"

#define CONNECTIONS 4 /* one is used; a few for those that went wrong */
#define BUFFER 65536
#define FD_DIR "/proc/self/fd/"

/* --- connections --------------------------------------------------------- */

/* One direction. */
struct flow {
	size_t at, len; /* what is still to be written */
	bool ended;     /* nothing more will be read */
	unsigned char bytes[BUFFER];
};

struct line {
	int worker, host; /* -1: free */
	struct zmtp_walk parse;
	struct flow up, down;
};

struct wire {
	int listen_fd;
	int report;
	struct sockaddr_un backend;
	struct line lines[CONNECTIONS];
};

static void
close_line(struct line *l)
{
	fd_close(&l->worker);
	fd_close(&l->host);
}

static void report(const struct wire *w, enum zmtp_verdict v) noreturn_fn;

static void
report(const struct wire *w, enum zmtp_verdict v)
{
	const char *text = v == ZMTP_ENDLESS
	    ? "it sends a message of endless parts"
	    : v == ZMTP_TOO_LARGE ? "it sends a message that is too large"
				  : "it sends frames that are none";

	/* A host that is gone needs no report. */
	(void)fd_write_all(w->report, text, strlen(text));
	_exit(1);
}

static void
accept_one(struct wire *w)
{
	struct line *l = NULL;
	int fd, i;

	fd = accept4(w->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	for (i = 0; i < CONNECTIONS && l == NULL; i++) {
		if (w->lines[i].worker < 0)
			l = &w->lines[i];
	}
	if (l == NULL) {
		fd_close(&fd);
		return;
	}
	/* Not the buffers: untouched they cost nothing. */
	memset(&l->parse, 0, sizeof l->parse);
	l->up.at = l->up.len = l->down.at = l->down.len = 0;
	l->up.ended = l->down.ended = false;
	l->worker = fd;
	l->host = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->host < 0 ||
	    connect(l->host, (const struct sockaddr *)&w->backend,
		sizeof w->backend) < 0 ||
	    fd_nonblock(l->host, true) < 0)
		close_line(l);
}

static void
read_flow(struct flow *f, int fd)
{
	ssize_t n = recv(fd, f->bytes, sizeof f->bytes, 0);

	f->at = 0;
	f->len = n > 0 ? (size_t)n : 0;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		f->ended = true;
}

static void
write_flow(struct flow *f, int fd)
{
	ssize_t n = send(fd, f->bytes + f->at, f->len, MSG_NOSIGNAL);

	if (n > 0) {
		f->at += (size_t)n;
		f->len -= (size_t)n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		f->len = 0;
		f->ended = true;
	}
}

/* What a descriptor is watched for: the flow that it fills, when that is
 * empty, and the flow that it drains, when that is not. */
static short
wanted(const struct flow *fills, const struct flow *drains)
{
	short events = 0;

	if (!fills->ended && fills->len == 0)
		events |= POLLIN;
	if (drains->len > 0)
		events |= POLLOUT;
	return events;
}

static void
move(struct wire *w, struct line *l, short worker, short host)
{
	enum zmtp_verdict v;

	if (worker & (POLLIN | POLLHUP | POLLERR) && !l->up.ended &&
	    l->up.len == 0) {
		read_flow(&l->up, l->worker);
		v = zmtp_check(&l->parse, l->up.bytes, l->up.len);
		if (v != ZMTP_GOOD && l->parse.greeting < ZMTP_GREETING) {
			close_line(l); /* it never was a peer */
			return;
		}
		if (v != ZMTP_GOOD)
			report(w, v);
	}
	if (host & (POLLIN | POLLHUP | POLLERR) && !l->down.ended &&
	    l->down.len == 0)
		read_flow(&l->down, l->host);
	if (l->up.len > 0)
		write_flow(&l->up, l->host);
	if (l->down.len > 0)
		write_flow(&l->down, l->worker);
	if ((l->up.ended && l->up.len == 0) ||
	    (l->down.ended && l->down.len == 0))
		close_line(l);
}

static void run(struct wire *w) noreturn_fn;

static void
run(struct wire *w)
{
	struct pollfd fds[2 + 2 * CONNECTIONS];
	struct line *l;
	int i;

	for (;;) {
		fds[0] =
		    (struct pollfd){ .fd = w->listen_fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = w->report };
		for (i = 0; i < CONNECTIONS; i++) {
			l = &w->lines[i];
			fds[2 + 2 * i] = (struct pollfd){ .fd = l->worker,
				.events = wanted(&l->up, &l->down) };
			fds[3 + 2 * i] = (struct pollfd){ .fd = l->host,
				.events = wanted(&l->down, &l->up) };
		}
		if (poll(fds, nitems(fds), -1) < 0)
			continue;
		if (fds[1].revents != 0)
			_exit(0); /* nobody listens to us any more */
		for (i = 0; i < CONNECTIONS; i++) {
			if ((fds[2 + 2 * i].revents | fds[3 + 2 * i].revents) !=
			    0)
				move(w, &w->lines[i], fds[2 + 2 * i].revents,
				    fds[3 + 2 * i].revents);
		}
		if (fds[0].revents != 0)
			accept_one(w);
	}
}

/* In a child. fds: of the worker's socket, the directory, the report. */
static void begin(const int fds[3], const char *backend) noreturn_fn;

static void
begin(const int fds[3], const char *backend)
{
	struct wire *w = xcalloc(1, sizeof *w);
	int i;

	w->listen_fd = fds[0];
	w->report = fds[2];
	w->backend.sun_family = AF_UNIX;
	(void)snprintf(
	    w->backend.sun_path, sizeof w->backend.sun_path, "%s", backend);
	for (i = 0; i < CONNECTIONS; i++)
		w->lines[i].worker = w->lines[i].host = -1;
	spawn_child_clean(fds, 3);
	(void)prctl(PR_SET_NAME, "foray-wire", 0, 0, 0);
	/* Where no namespace ends us: also when we were stopped. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	run(w);
}

/* --- the process that they come from -------------------------------------- */

/* What goes over its socket, with the descriptors: the path of the host's own
 * socket, which may name the directory by its number there. */
struct order {
	char backend[108];
};

static bool
receive(int sock, struct order *o, int fds[3])
{
	char control[CMSG_SPACE(3 * sizeof(int))];
	struct iovec iov = { .iov_base = o, .iov_len = sizeof *o };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == (ssize_t)sizeof *o ? CMSG_FIRSTHDR(&m) : NULL;
	if (c == NULL || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(3 * sizeof(int)))
		return false; /* the host is gone */
	memcpy(fds, CMSG_DATA(c), 3 * sizeof(int));
	return true;
}

static void serve(int sock) noreturn_fn;

static void
serve(int sock)
{
	struct order o;
	int fds[3], i;
	char *at;

	spawn_child_clean(&sock, 1);
	(void)prctl(PR_SET_NAME, "foray-wires", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
	while (receive(sock, &o, fds)) {
		if (fork() == 0) {
			o.backend[sizeof o.backend - 1] = '\0';
			at = strrchr(o.backend, '/');
			/* Here the directory has another number. */
			if (strncmp(o.backend, FD_DIR, strlen(FD_DIR)) == 0 &&
			    at != NULL) {
				char *base = xstrdup(at);

				(void)snprintf(o.backend, sizeof o.backend,
				    FD_DIR "%d%s", fds[1], base);
			}
			begin(fds, o.backend);
		}
		/* Without a child the report hangs up: the host sees it. */
		for (i = 0; i < 3; i++)
			fd_close(&fds[i]);
	}
	_exit(0);
}

int
wire_server(struct err *e)
{
	int socks[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return err_set(e, -errno, "socketpair: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		serve(socks[1]);
	fd_close(&socks[1]);
	if (pid < 0) {
		fd_close(&socks[0]);
		return err_set(e, -errno, "fork: %s", strerror(errno));
	}
	return socks[0];
}

static bool
send_order(int sock, const char *backend, const int fds[3])
{
	char control[CMSG_SPACE(3 * sizeof(int))];
	struct order o;
	struct iovec iov = { .iov_base = &o, .iov_len = sizeof o };
	struct msghdr m = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control };
	struct cmsghdr *c;

	memset(&o, 0, sizeof o);
	memset(control, 0, sizeof control);
	(void)snprintf(o.backend, sizeof o.backend, "%s", backend);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(3 * sizeof(int));
	memcpy(CMSG_DATA(c), fds, 3 * sizeof(int));
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)sizeof o;
}

int
wire_start(int server, int listen_fd, const char *backend, int dir_fd,
    int *ret_report, struct err *e)
{
	int fds[2], give[3], r;
	pid_t pid;

	r = fd_pipe(fds);
	if (r < 0)
		return err_set(e, r, "pipe: %s", err_str(r));
	give[0] = listen_fd;
	give[1] = dir_fd;
	give[2] = fds[1];
	if (server < 0 || !send_order(server, backend, give)) {
		pid = fork();
		if (pid == 0)
			begin(give, backend);
		if (pid < 0)
			r = err_set(e, -errno, "fork: %s", strerror(errno));
	}
	fd_close(&fds[1]);
	if (r < 0)
		fd_close(&fds[0]);
	else
		*ret_report = fds[0];
	return r;
}
