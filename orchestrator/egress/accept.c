/*
 * accept.c - the sockets that listen inside sandboxes, and whose they are.
 *
 * A worker that is not what it should be keeps a copy of its socket. It can
 * take connections away between epoll's word and our accept(), and make the
 * socket block, since that is a flag of the socket and not of the descriptor.
 * Then a timer ends the call, and its owner has no network any more.
 */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "orchestrator/egress/proxy_int.h"
#include "sandbox/netns.h"

#define AT_A_TIME 16
#define ACCEPT_US 100000
/* Requests of one worker: so many at once, and a second. */
#define CREDIT_MAX ((uint64_t)512 * 1000)
#define CREDIT_PER_MS 64

static struct tenant *
tenant_of(struct proxy *p, const char *name)
{
	struct tenant *t;

	TAILQ_FOREACH (t, &p->tenants, entry)
		if (strcmp(t->name, name) == 0)
			return t;
	t = xcalloc(1, sizeof *t);
	(void)strlcpy(t->name, name, sizeof t->name);
	t->credit = CREDIT_MAX;
	t->credit_ms = p->now;
	TAILQ_INSERT_TAIL(&p->tenants, t, entry);
	return t;
}

void
listener_add(struct proxy *p, const char *worker, int listen_fd, int lifeline)
{
	struct tenant *t = tenant_of(p, worker);
	struct listener *l;
	struct err e;
	int r = netns_check(listen_fd, &e);

	/* As with connections, there are always some left for others. */
	if (r < 0 || t->hostile ||
	    t->listeners >= p->max_listeners - p->n_listeners ||
	    fd_nonblock(listen_fd, true) < 0) {
		log_warn("network of %s: a socket is refused: %s", worker,
		    r < 0 ? e.text : "too many, or after bad ones");
		fd_close(&listen_fd);
		fd_close(&lifeline);
		return;
	}
	l = xcalloc(1, sizeof *l);
	l->tenant = t;
	t->listeners++;
	p->n_listeners++;
	l->listen = (struct watch){ WATCH_LISTENER, l, 0, listen_fd };
	l->lifeline = (struct watch){ WATCH_LIFELINE, l, 0, lifeline };
	TAILQ_INSERT_TAIL(&p->listeners, l, entry);
	watch_set(p, &l->listen, EPOLLIN);
	if (lifeline >= 0)
		watch_set(p, &l->lifeline, EPOLLIN | EPOLLRDHUP);
}

void
listener_close(struct proxy *p, struct listener *l, const char *how)
{
	struct conn *c, *next;

	watch_close(p, &l->listen);
	watch_close(p, &l->lifeline);
	TAILQ_REMOVE(&p->listeners, l, entry);
	TAILQ_INSERT_TAIL(&p->dead_listeners, l, entry);
	l->tenant->listeners--;
	p->n_listeners--;
	TAILQ_FOREACH_SAFE (c, &p->conns, entry, next)
		if (c->l == l)
			conn_finish(c, how);
}

/* Nothing waits for it: who does not read is not told. */
void
listener_tell(struct listener *l, const struct target *t)
{
	char line[TARGET_TEXT + 1];

	target_text(t, line);
	if (l->lifeline.fd < 0 || l->told.n >= LISTENER_TOLD ||
	    strv_has(&l->told, line))
		return;
	strv_add(&l->told, line);
	(void)strlcat(line, "\n", sizeof line);
	(void)send(
	    l->lifeline.fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
drop_hostile(struct proxy *p, struct tenant *t)
{
	struct listener *l, *next;

	log_warn(
	    "network of %s: its sockets are tampered with: closed", t->name);
	t->hostile = true;
	TAILQ_FOREACH_SAFE (l, &p->listeners, entry, next)
		if (l->tenant == t)
			listener_close(p, l, "refused");
}

/* Room for one more connection of it? There is always some left for others. */
static bool
has_room(struct proxy *p, struct tenant *t)
{
	uint64_t ms = p->now - t->credit_ms;

	t->credit_ms = p->now;
	t->credit += ms < CREDIT_MAX ? ms * CREDIT_PER_MS : CREDIT_MAX;
	if (t->credit > CREDIT_MAX)
		t->credit = CREDIT_MAX;
	return t->credit >= 1000 && t->conns < PROXY_SHARE &&
	    p->n_conns < p->max_conns && t->conns < p->max_conns - p->n_conns;
}

static int
accept_in_time(int fd)
{
	const struct itimerval on = { .it_value = { 0, ACCEPT_US } },
			       off = { 0 };
	int flags = fcntl(fd, F_GETFL), got, saved;

	if (flags < 0 || (flags & O_NONBLOCK) == 0) {
		errno = EINTR;
		return -1;
	}
	(void)setitimer(ITIMER_REAL, &on, NULL);
	got = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	saved = errno;
	(void)setitimer(ITIMER_REAL, &off, NULL);
	errno = saved;
	return got;
}

static void
pause_it(struct proxy *p, struct listener *l)
{
	l->paused = true;
	watch_set(p, &l->listen, 0);
}

static void
take_some(struct proxy *p, struct listener *l)
{
	int i, fd, one = 1;

	for (i = 0; i < AT_A_TIME; i++) {
		if (!has_room(p, l->tenant)) {
			pause_it(p, l);
			return;
		}
		fd = accept_in_time(l->listen.fd);
		if (fd < 0)
			break;
		l->tenant->credit -= 1000;
		(void)setsockopt(
		    fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		conn_create(p, l, fd);
	}
	if (i == AT_A_TIME || errno == EAGAIN || errno == ECONNABORTED)
		return;
	if (errno == EINTR)
		drop_hostile(p, l->tenant);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
	    errno == ENOBUFS)
		pause_it(p, l);
	else
		listener_close(p, l, "refused");
}

void
listener_event(struct proxy *p, struct listener *l, const struct watch *w)
{
	if (w->fd < 0)
		return;
	if (w->kind == WATCH_LIFELINE)
		listener_close(p, l, "its sandbox is gone");
	else
		take_some(p, l);
}

void
listeners_tick(struct proxy *p)
{
	struct listener *l;

	TAILQ_FOREACH (l, &p->listeners, entry) {
		if (!l->paused || !has_room(p, l->tenant))
			continue;
		l->paused = false;
		watch_set(p, &l->listen, EPOLLIN);
	}
}

void
listeners_sweep(struct proxy *p)
{
	struct tenant *t, *next;
	struct listener *l;

	while ((l = TAILQ_FIRST(&p->dead_listeners)) != NULL) {
		TAILQ_REMOVE(&p->dead_listeners, l, entry);
		strv_clear(&l->told);
		free(l);
	}
	/* A hostile one is remembered. */
	TAILQ_FOREACH_SAFE (t, &p->tenants, entry, next) {
		if (t->listeners > 0 || t->conns > 0 || t->hostile)
			continue;
		TAILQ_REMOVE(&p->tenants, t, entry);
		free(t);
	}
}
