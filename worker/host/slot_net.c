/*
 * slot_net.c - the networks of a worker's commands, on their way to the proxy.
 *
 * DESIGN
 *
 * The worker makes a listening socket in the network of each command
 * (sandbox/netns.h) and hands it out by a connection to the socket link/n. What
 * arrives here is checked (netns_check()), and goes on to the orchestrator with
 * the worker's name, together with the connection itself: the worker holds its
 * end for as long as the command runs, and its hang-up ends what the proxy does
 * for that command. Nothing is kept here, so there is nothing to clean up.
 */
#include "common/compat.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "sandbox/netns.h"
#include "worker/host/place.h"
#include "worker/host/slot_int.h"

#define WAITING 8 /* connections whose socket has not come yet */

struct waiting {
	struct slot *s;
	int fd; /* -1: free */
	struct loop_watch *watch;
};

struct slot_net {
	int listen_fd;
	struct ipc_file file;
	struct loop_watch *watch;
	struct waiting waiting[WAITING];
	unsigned next; /* whose place the next one takes */
};

static void
forget(struct waiting *w)
{
	loop_del(w->s->all->conf.loop, w->watch);
	w->watch = NULL;
	fd_close(&w->fd);
}

/* To the orchestrator, in one message. */
static int
pass_on(const struct slot *s, int net_fd, int lifeline, struct err *e)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	const char *path = s->all->conf.place->network;
	const int fds[] = { net_fd, lifeline };
	int fd, r = 0;

	if (strlcpy(sun.sun_path, path, sizeof sun.sun_path) >=
	    sizeof sun.sun_path)
		return err_set(e, -ENAMETOOLONG, "%s: too long", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)&sun, sizeof sun) < 0)
		r = err_set(e, -errno, "%s: %s", path, strerror(errno));
	else if ((r = fd_pass(
		      fd, s->name, strlen(s->name) + 1, fds, nitems(fds))) < 0)
		r = err_set(e, r, "%s: %s", path, err_str(r));
	fd_close(&fd);
	return r;
}

static void
waiting_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct waiting *w = ctx;
	struct slot *s = w->s;
	struct err e = { 0 };
	int net_fd = -1;
	ssize_t got;
	size_t n = 0;
	char byte;
	int r;

	got = fd_take(fd, &byte, sizeof byte, &net_fd, 1, &n);
	if (got == -EAGAIN)
		return;
	r = got == 1 && n == 1
	    ? netns_check(net_fd, &e)
	    : err_set(&e, ERR_PROTO, "no socket came with it");
	if (r == 0)
		r = pass_on(s, net_fd, fd, &e);
	if (r < 0)
		log_warn(
		    "worker %s: network of a command: %s", s->name, e.text);
	if (n == 1)
		fd_close(&net_fd);
	forget(w);
}

/* One that has connected and sends nothing makes room for the next. */
static void
accept_cb(int fd, unsigned events unused_arg, void *ctx)
{
	struct slot *s = ctx;
	struct waiting *w = &s->net->waiting[s->net->next++ % WAITING];
	int got = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (got < 0)
		return;
	forget(w);
	w->fd = got;
	w->watch = loop_fd_add(s->all->conf.loop, got, LOOP_IN, waiting_cb, w);
}

int
slot_net_start(struct slot *s, struct err *e)
{
	struct slot_net *net;
	char path[64];
	size_t i;

	if (s->all->conf.place->network == NULL)
		return 0;
	net = s->net = xcalloc(1, sizeof *net);
	for (i = 0; i < WAITING; i++) {
		net->waiting[i].s = s;
		net->waiting[i].fd = -1;
	}
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d/link/n", s->dir_fd);
	net->listen_fd = ipc_listen(path, 0600, &net->file, e);
	if (net->listen_fd < 0)
		return net->listen_fd;
	net->watch = loop_fd_add(
	    s->all->conf.loop, net->listen_fd, LOOP_IN, accept_cb, s);
	return 0;
}

void
slot_net_free(struct slot *s)
{
	struct slot_net *net = s->net;
	size_t i;

	if (net == NULL)
		return;
	for (i = 0; i < WAITING; i++)
		forget(&net->waiting[i]);
	loop_del(s->all->conf.loop, net->watch);
	ipc_unlink(&net->file);
	fd_close(&net->listen_fd);
	free(net);
	s->net = NULL;
}
