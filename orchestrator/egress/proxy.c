/*
 * proxy.c - the proxy's loop: events, time, and the talk with its parent.
 *
 * One epoll descriptor, level-triggered; nothing in here waits, but for names,
 * which threads look up. Notes to the parent go out in order; only so many
 * unanswered ones at once, so that neither side's socket can fill up.
 */
#include "common/compat.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/fdpass.h"
#include "common/log.h"
#include "common/loop.h"
#include "orchestrator/egress/proxy_int.h"

#define EVENTS 128
#define ASKED_MAX 64
#define ENDING_MS 1000

/* --- what is watched ----------------------------------------------------- */

void
watch_set(struct proxy *p, struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };
	int op = w->events == 0 ? EPOLL_CTL_ADD
	    : events == 0       ? EPOLL_CTL_DEL
				: EPOLL_CTL_MOD;

	if (w->fd < 0 || w->events == events)
		return;
	if (epoll_ctl(p->epoll, op, w->fd, &ev) < 0)
		fatal("epoll: %s", strerror(errno));
	w->events = events;
}

void
watch_close(struct proxy *p, struct watch *w)
{
	watch_set(p, w, 0);
	fd_close(&w->fd);
}

/* --- notes --------------------------------------------------------------- */

void
proxy_note(struct proxy *p, struct conn *c)
{
	c->waiting = true;
	TAILQ_INSERT_TAIL(&p->notes, c, note_entry);
}

void
proxy_unnote(struct proxy *p, struct conn *c)
{
	if (c->waiting)
		TAILQ_REMOVE(&p->notes, c, note_entry);
	c->waiting = false;
}

static void
send_notes(struct proxy *p)
{
	struct conn *c, *next;
	struct note n;
	ssize_t done;

	TAILQ_FOREACH_SAFE (c, &p->notes, note_entry, next) {
		if (c->state != CONN_END && p->n_asked >= ASKED_MAX)
			continue;
		conn_note(c, &n);
		done = send(
		    p->control_fd, &n, sizeof n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
			watch_set(p, &p->control, EPOLLIN | EPOLLOUT);
			return;
		}
		if (done < 0) {
			p->ending = true; /* there is no parent */
			return;
		}
		proxy_unnote(p, c);
		if (n.kind == NOTE_END) {
			conn_free(c);
		} else {
			c->asked = true;
			p->n_asked++;
		}
	}
	watch_set(p, &p->control, EPOLLIN);
}

static struct conn *
find(struct proxy *p, uint64_t id)
{
	struct conn *c;

	TAILQ_FOREACH (c, &p->conns, entry)
		if (c->id == id)
			return c;
	return NULL;
}

static void
take_order(struct proxy *p)
{
	struct order o;
	struct conn *c;
	int fds[2] = { -1, -1 };
	size_t n = 0;
	ssize_t got = fd_take(p->control_fd, &o, sizeof o, fds, 2, &n);

	if (got == -EAGAIN || got == -EMSGSIZE)
		return; /* the latter: no descriptors are left for one */
	if (got != (ssize_t)sizeof o) {
		p->ending = true;
		return;
	}
	o.worker[sizeof o.worker - 1] = '\0';
	if (o.kind == ORDER_LISTEN && n >= 1) {
		listener_add(p, o.worker, fds[0], fds[1]);
		return;
	}
	if (o.kind != ORDER_ANSWER)
		return;
	if (p->n_asked > 0)
		p->n_asked--;
	c = find(p, o.id);
	if (c == NULL || !c->asked)
		return;
	c->asked = false;
	conn_answer(c, o.ok != 0, o.denied != 0);
}

/* --- names --------------------------------------------------------------- */

static void
take_answers(struct proxy *p)
{
	struct answer a;
	struct conn *c, *next;
	bool some = false;

	while (resolver_next(p->resolver, &a)) {
		some = true;
		c = find(p, a.id);
		if (c != NULL)
			conn_resolved(c, &a);
	}
	if (!some)
		return;
	TAILQ_FOREACH_SAFE (c, &p->conns, entry, next)
		conn_look_up(c);
}

/* --- the loop ------------------------------------------------------------ */

static void
dispatch(struct proxy *p, struct watch *w, uint32_t events)
{
	if (w->fd < 0)
		return; /* closed by an event before this one */
	switch (w->kind) {
	case WATCH_CONTROL:
		if (events & ~(uint32_t)EPOLLOUT)
			take_order(p);
		break;
	case WATCH_RESOLVER:
		take_answers(p);
		break;
	case WATCH_LISTENER:
	case WATCH_LIFELINE:
		listener_event(p, w->owner, w);
		break;
	case WATCH_CLIENT:
	case WATCH_SERVER:
		conn_event(w->owner, w, events);
		break;
	}
}

static void
sweep(struct proxy *p)
{
	struct conn *c;

	while ((c = TAILQ_FIRST(&p->dead)) != NULL) {
		TAILQ_REMOVE(&p->dead, c, entry);
		head_clear(&c->head);
		strv_clear(&c->missing);
		free(c);
	}
	listeners_sweep(p);
}

static void
tick(struct proxy *p)
{
	struct conn *c, *next;

	TAILQ_FOREACH_SAFE (c, &p->conns, entry, next) {
		conn_tick(c);
		conn_look_up(c);
	}
	listeners_tick(p);
}

/* The last notes go out, for a second. */
static void
end(struct proxy *p)
{
	struct pollfd pfd = { .fd = p->control_fd, .events = POLLOUT };
	uint64_t until = loop_now_ms() + ENDING_MS;
	struct listener *l;
	struct conn *c, *next;

	while ((l = TAILQ_FIRST(&p->listeners)) != NULL)
		listener_close(p, l, "foray ends");
	TAILQ_FOREACH_SAFE (c, &p->conns, entry, next)
		conn_finish(c, "foray ends");
	p->ending = false;
	while (!TAILQ_EMPTY(&p->notes) && !p->ending && loop_now_ms() < until) {
		send_notes(p);
		(void)poll(&pfd, 1, 10);
	}
	sweep(p);
}

/* Two descriptors for a connection, two for a socket that listens. */
static void
set_bounds(struct proxy *p)
{
	struct rlimit rl = { .rlim_cur = 1024 };

	(void)getrlimit(RLIMIT_NOFILE, &rl);
	p->max_conns = PROXY_CONNS;
	p->max_listeners = PROXY_LISTENERS;
	if (rl.rlim_cur < 2 * (PROXY_CONNS + PROXY_LISTENERS) + 64) {
		p->max_conns = (unsigned)(rl.rlim_cur / 4);
		p->max_listeners = (unsigned)(rl.rlim_cur / 6);
	}
}

static void
on_alarm(int signo unused_arg)
{
}

static int
start(struct proxy *p, struct err *e)
{
	/* Without SA_RESTART: accept.c wants to be interrupted. */
	const struct sigaction alarm = { .sa_handler = on_alarm };
	int r;

	TAILQ_INIT(&p->tenants);
	TAILQ_INIT(&p->listeners);
	TAILQ_INIT(&p->dead_listeners);
	TAILQ_INIT(&p->conns);
	TAILQ_INIT(&p->notes);
	TAILQ_INIT(&p->dead);
	set_bounds(p);
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0 || sigaction(SIGALRM, &alarm, NULL) < 0)
		return err_set(e, -errno, "epoll: %s", strerror(errno));
	if ((r = resolver_create(&p->resolver, e)) < 0)
		return r;
	(void)fd_nonblock(p->control_fd, true);
	p->control = (struct watch){ WATCH_CONTROL, p, 0, p->control_fd };
	p->resolving =
	    (struct watch){ WATCH_RESOLVER, p, 0, resolver_fd(p->resolver) };
	watch_set(p, &p->control, EPOLLIN);
	watch_set(p, &p->resolving, EPOLLIN);
	return 0;
}

int
proxy_run(int control_fd, const struct net_rules *rules)
{
	struct proxy p = { .control_fd = control_fd, .rules = rules };
	struct epoll_event ev[EVENTS];
	uint64_t ticked = 0;
	struct err e;
	bool busy;
	int n, i;

	if (start(&p, &e) < 0) {
		log_error("%s", e.text);
		return EXIT_FAILURE;
	}
	while (!p.ending) {
		busy = !TAILQ_EMPTY(&p.conns) || !TAILQ_EMPTY(&p.listeners);
		n = epoll_wait(p.epoll, ev, EVENTS, busy ? TICK_MS : -1);
		p.now = loop_now_ms();
		for (i = 0; i < n; i++)
			dispatch(&p, ev[i].data.ptr, ev[i].events);
		if (p.now - ticked >= TICK_MS) {
			ticked = p.now;
			tick(&p);
		}
		send_notes(&p);
		sweep(&p);
	}
	end(&p);
	return 0;
}
