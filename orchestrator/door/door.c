/*
 * door.c - the door, as the orchestrator sees it.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "common/path.h"
#include "common/strv.h"
#include "orchestrator/aside/aside.h"
#include "orchestrator/door/door.h"
#include "orchestrator/door/note.h"

#define NOTES_A_TURN 16
#define MAX_RESTARTS 5
#define ODD_MAX 10 /* files of the allow-list that are told of */
#define END_MS 1500

struct door {
	struct loop *loop;
	struct door_ops ops;
	void *ctx;
	struct tcp_end at;
	int listen_fd;
	int control;
	pid_t pid;
	struct loop_watch *watch;
	char *keys, *dir, *log;
	unsigned restarts;
};

static void control_cb(int fd, unsigned events, void *ctx);

static int
start(struct door *d, struct err *e)
{
	struct strv argv = { 0 };
	int pair[2] = { -1, -1 }, fds[2], log, r = 0;

	log = open(d->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0)
		return err_set(e, -errno, "%s: %s", d->log, strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		r = err_set(e, -errno, "socketpair: %s", strerror(errno));
		goto out;
	}
	strv_addl(&argv, "foray", "door", d->dir, d->keys, (char *)NULL);
	fds[0] = pair[1];
	fds[1] = d->listen_fd;
	d->pid = aside_start(&argv, log, fds, nitems(fds));
	if (d->pid < 0) {
		r = err_set(e, (int)d->pid, "fork: %s", err_str((int)d->pid));
		d->pid = 0;
		goto out;
	}
	(void)fd_nonblock(pair[0], true);
	d->control = pair[0];
	pair[0] = -1;
	d->watch = loop_fd_add(d->loop, d->control, LOOP_IN, control_cb, d);
out:
	fd_close(&pair[0]);
	fd_close(&pair[1]);
	fd_close(&log);
	strv_clear(&argv);
	return r;
}

static void
end_process(struct door *d)
{
	loop_del(d->loop, d->watch);
	d->watch = NULL;
	fd_close(&d->control);
	if (d->pid == 0)
		return;
	(void)kill(d->pid, SIGKILL); /* and its guests with it */
	while (waitpid(d->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	d->pid = 0;
}

static void
take_note(struct door *d, struct door_note *n, int fd)
{
	n->address[sizeof n->address - 1] = '\0';
	n->name[sizeof n->name - 1] = '\0';
	n->why[sizeof n->why - 1] = '\0';
	if (n->kind == NOTE_UP && fd >= 0) {
		d->ops.up(fd, n->address, n->name, d->ctx);
		return;
	}
	fd_close(&fd);
	if (n->kind == NOTE_REFUSED)
		d->ops.refused(n->address, n->name, n->why, d->ctx);
}

static void
control_cb(int fd unused_arg, unsigned events unused_arg, void *ctx)
{
	struct door *d = ctx;
	struct door_note n;
	struct err e = { 0 };
	int got_fd, i;
	size_t k;
	ssize_t got;

	for (i = 0; i < NOTES_A_TURN; i++) {
		got_fd = -1;
		k = 0;
		got = fd_take(d->control, &n, sizeof n, &got_fd, 1, &k);
		if (got == -EAGAIN || got == -EINTR)
			return;
		if (got != (ssize_t)sizeof n) {
			fd_close(&got_fd);
			break;
		}
		take_note(d, &n, k == 1 ? got_fd : -1);
	}
	if (i == NOTES_A_TURN)
		return;
	end_process(d);
	if (++d->restarts > MAX_RESTARTS)
		d->ops.lost("the process that accepts hosts ends again and "
			    "again (host.log of the run says more)",
		    d->ctx);
	else if (start(d, &e) < 0)
		d->ops.lost(e.text, d->ctx);
}

static void
odd_cb(const char *text, void *ctx)
{
	unsigned *n = ctx;

	if ((*n)++ < ODD_MAX)
		log_warn("%s: it lets nobody in", text);
}

/* What the process will need is there: better said now, by us. */
static int
check_keys(const char *keys, struct err *e)
{
	struct curve_pair pair;
	char *allowed;
	unsigned odd = 0;
	int r = curve_read_server(keys, &pair, e);

	curve_forget(&pair);
	if (r < 0) {
		(void)err_prefix(e, "--listen needs keys");
		if (access(keys, F_OK) < 0)
			return err_set(e, ERR_USAGE,
			    "--listen needs keys, and there are none in %s: "
			    "foray keys new NAME makes them",
			    keys);
		return r;
	}
	allowed = path_join(keys, "allowed");
	if (access(allowed, R_OK | X_OK) < 0)
		r = err_set(e, ERR_USAGE,
		    "%s: %s: no host could come in. foray keys new NAME lets "
		    "one in",
		    allowed, strerror(errno));
	free(allowed);
	if (r == 0)
		r = curve_check_list(keys, odd_cb, &odd, e);
	if (odd > ODD_MAX)
		log_warn("%u more files there let nobody in (foray keys)",
		    odd - ODD_MAX);
	return r;
}

int
door_open(struct loop *l, const struct door_opts *o, const struct door_ops *ops,
    void *ctx, struct door **ret, struct err *e)
{
	struct door *d;
	int fd, r;

	if (o->keys != NULL && (r = check_keys(o->keys, e)) < 0)
		return r;
	if (o->keys == NULL && (r = tcp_check_loopback(o->at, e)) < 0)
		return r;
	d = xcalloc(1, sizeof *d);
	d->loop = l;
	d->ops = *ops;
	d->ctx = ctx;
	d->control = d->listen_fd = -1;
	d->keys = o->keys != NULL ? xstrdup(o->keys) : NULL;
	d->dir = xstrdup(o->dir);
	d->log = xstrdup(o->log);
	r = fd = d->listen_fd = tcp_listen(o->at, &d->at, e);
	if (fd >= 0)
		r = start(d, e);
	if (r < 0) {
		door_close(d);
		return r;
	}
	*ret = d;
	return 0;
}

const struct tcp_end *
door_at(const struct door *d)
{
	return &d->at;
}

/* The guests still say what they were given. */
static void
end_quietly(struct door *d)
{
	struct pollfd p = { .fd = d->control };

	if (d->control < 0)
		return;
	(void)shutdown(d->control, SHUT_WR);
	(void)poll(&p, 1, END_MS); /* until it hangs up */
}

void
door_close(struct door *d)
{
	if (d == NULL)
		return;
	end_quietly(d);
	end_process(d);
	fd_close(&d->listen_fd);
	free(d->keys);
	free(d->dir);
	free(d->log);
	free(d);
}
