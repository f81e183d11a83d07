/*
 * loop_round.c - a round: wait, then call who has something; see loop_priv.h.
 */
#include "common/compat.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "common/log.h"
#include "common/loop_priv.h"

#define SIGNALS_A_ROUND 16

/* --- the set -------------------------------------------------------------- */

/* w: NULL for many. */
static void
add_item(struct loop *l, struct loop_watch *w, int fd, unsigned events)
{
	struct pollfd *item;

	if (l->n_items == l->size) {
		l->size = l->size > 0 ? l->size * 2 : 16;
		l->items = xreallocarray(l->items, l->size, sizeof *l->items);
		/* An array of pointers. */
		l->polled = xreallocarray(
		    l->polled, l->size, sizeof(struct loop_watch *));
	}
	item = &l->items[l->n_items];
	*item = (struct pollfd){ .fd = fd };
	if (events & LOOP_IN)
		item->events |= POLLIN;
	if (events & LOOP_OUT)
		item->events |= POLLOUT;
	l->polled[l->n_items++] = w;
}

static void
build_set(struct loop *l)
{
	struct loop_watch *w;

	l->n_items = 0;
	TAILQ_FOREACH (w, &l->watches, entry)
		if (w->events != 0)
			add_item(l, w, w->fd, w->events);
	if (!TAILQ_EMPTY(&l->many))
		add_item(l, NULL, l->epfd, LOOP_IN);
}

/* 1: it has a message. 0: none, and its descriptor tells of the next. */
static int
ask(const struct loop_watch *w)
{
	int events = 0;
	size_t size = sizeof events;

	while (zmq_getsockopt(w->sock, ZMQ_EVENTS, &events, &size) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return (events & ZMQ_POLLIN) != 0;
}

/* 1: a socket of look has a message. Who has none is let go. */
static int
ask_all(struct loop *l)
{
	struct loop_watch *w, *next;
	int found = 0, r;

	for (w = TAILQ_FIRST(&l->look); w != NULL; w = next) {
		next = TAILQ_NEXT(w, again);
		r = ask(w);
		if (r < 0)
			return r;
		if (r == 0)
			loop_zmq_done(l, w);
		else
			found = 1;
	}
	return found;
}

/* How long the round may wait: -1 for ever. */
static int
wait_ms(struct loop *l, int timeout_ms)
{
	struct loop_watch *w;
	uint64_t now, left;

	if (l->stopped || !STAILQ_EMPTY(&l->deferred))
		return 0;
	w = loop_first_timer(l);
	if (w == NULL)
		return timeout_ms;
	now = loop_now_ms();
	left = w->when_ms > now ? w->when_ms - now : 0;
	if (left > INT_MAX)
		left = INT_MAX;
	if (timeout_ms >= 0 && left > (uint64_t)timeout_ms)
		return timeout_ms;
	return (int)left;
}

static int
wait_for_events(struct loop *l, int timeout_ms)
{
	int n = poll(l->items, (nfds_t)l->n_items, timeout_ms);

	if (n >= 0)
		return n;
	for (size_t i = 0; i < l->n_items; i++)
		l->items[i].revents = 0;
	return errno == EINTR ? 0 : -errno;
}

/* --- the calls ------------------------------------------------------------ */

/* Those due now; what they arm themselves is for the next round. */
static void
run_timers(struct loop *l)
{
	uint64_t now = loop_now_ms(), last = l->seq, when;
	struct loop_watch *w;

	while ((w = loop_first_timer(l)) != NULL) {
		/* What is armed meanwhile is never before what was due. */
		if (w->when_ms > now || w->seq >= last)
			break;
		loop_disarm(l, w);
		w->cb.timer(w->ctx);
		if (w->dead)
			continue;
		if (w->repeat_ms == 0) {
			loop_del(l, w);
			continue;
		}
		/* After a long stop: one call, not one for each missed. */
		when = w->when_ms + w->repeat_ms;
		loop_arm(l, w, when > now ? when : now + w->repeat_ms);
	}
}

static void
run_fd(struct loop_watch *w, unsigned revents)
{
	unsigned events = 0;

	if (revents & POLLIN)
		events |= LOOP_IN;
	if (revents & POLLOUT)
		events |= LOOP_OUT;
	if (revents & (POLLERR | POLLHUP | POLLNVAL))
		events |= LOOP_HUP | (w->events & LOOP_IN);
	if (events != 0 && w->events != 0)
		w->cb.fd(w->fd, events, w->ctx);
}

static void
run_signal(struct loop_watch *w)
{
	struct signalfd_siginfo si;

	for (int i = 0; i < SIGNALS_A_ROUND && !w->dead; i++) {
		if (read(w->fd, &si, sizeof si) != (ssize_t)sizeof si)
			break;
		w->cb.sig((int)si.ssi_signo, w->ctx);
	}
}

static void
run_child(struct loop *l, struct loop_watch *w)
{
	int status = 0;
	pid_t r;

	do
		r = waitpid(w->pid, &status, WNOHANG);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return;
	if (r < 0)
		status = W_EXITCODE(255, 0); /* reaped by somebody else */
	w->cb.child(w->pid, status, w->ctx);
	loop_del(l, w);
}

/* --- what has come -------------------------------------------------------- */

/* Sockets go into look, the others are for run_many(). All at once: the last
 * message of a child is then seen no later than its end. */
static void
collect_many(struct loop *l)
{
	struct loop_watch *w;
	int i, n;

	if (l->came_size < l->n_many) {
		l->came_size = l->n_many * 2;
		l->came = xreallocarray(l->came, l->came_size, sizeof *l->came);
	}
	n = epoll_wait(l->epfd, l->came, (int)l->came_size, 0);
	for (i = 0; i < n; i++) {
		w = l->came[i].data.ptr;
		if (w->type == WATCH_ZMQ)
			loop_zmq_used(l, w);
		else
			l->came[l->n_came++] = l->came[i];
	}
}

static void
collect(struct loop *l)
{
	struct loop_watch *w;

	l->n_came = 0;
	for (size_t i = 0; i < l->n_items; i++) {
		w = l->polled[i];
		if (l->items[i].revents == 0)
			continue;
		if (w == NULL)
			collect_many(l);
		else if (w->type == WATCH_ZMQ)
			loop_zmq_used(l, w);
	}
}

/* Each once: one that is used meanwhile is for the next round. */
static void
run_sockets(struct loop *l)
{
	struct loop_watch *w;
	size_t n = 0;
	int r;

	TAILQ_FOREACH (w, &l->look, again)
		n++;
	while (n-- > 0 && (w = TAILQ_FIRST(&l->look)) != NULL) {
		/* A callback before this one may have taken the message. */
		loop_zmq_done(l, w);
		r = ask(w);
		if (r != 0)
			loop_zmq_used(l, w); /* more may be behind it */
		if (r > 0)
			w->cb.zmq(w->sock, w->ctx);
	}
}

static void
run_plain(struct loop *l, struct loop_watch *w, unsigned revents)
{
	if (w->dead || revents == 0)
		return;
	if (w->type == WATCH_FD)
		run_fd(w, revents);
	else if (w->type == WATCH_SIGNAL)
		run_signal(w);
	else if (w->type == WATCH_CHILD)
		run_child(l, w);
}

static void
run_set(struct loop *l)
{
	for (size_t i = 0; i < l->n_items; i++)
		if (l->polled[i] != NULL)
			run_plain(
			    l, l->polled[i], (unsigned)l->items[i].revents);
}

static void
run_many(struct loop *l)
{
	unsigned in;

	for (size_t i = 0; i < l->n_came; i++) {
		/* A hang-up comes after the input. */
		in = l->came[i].events & EPOLLIN;
		run_plain(l, l->came[i].data.ptr, in != 0 ? POLLIN : POLLERR);
	}
}

/* --- the round ------------------------------------------------------------ */

/* Those that are there now; what they defer themselves is for the next. */
static void
run_deferred(struct loop *l)
{
	struct deferred_list now = STAILQ_HEAD_INITIALIZER(now);
	struct deferred *d;

	STAILQ_CONCAT(&now, &l->deferred);
	while ((d = STAILQ_FIRST(&now)) != NULL) {
		STAILQ_REMOVE_HEAD(&now, entry);
		d->cb(d->ctx);
		free(d);
	}
}

int
loop_once(struct loop *l, int timeout_ms)
{
	uint64_t start, busy;
	int r;

	assert(!l->in_round);
	l->in_round = true;
	build_set(l);
	r = ask_all(l);
	if (r >= 0)
		r = wait_for_events(l, r > 0 ? 0 : wait_ms(l, timeout_ms));
	start = loop_now_us();
	if (r >= 0) {
		run_timers(l);
		collect(l);
		run_sockets(l);
		run_set(l);
		run_many(l);
		run_deferred(l);
	}
	l->in_round = false;
	loop_bury(l);
	busy = loop_now_us() - start;
	if (busy > l->busy_max_us)
		l->busy_max_us = busy;
	return r < 0 ? r : 0;
}

int
loop_run(struct loop *l)
{
	int r;

	while (!l->stopped) {
		if ((r = loop_once(l, -1)) < 0)
			return r;
	}
	l->stopped = false;
	return l->value;
}

void
loop_stop(struct loop *l, int value)
{
	l->stopped = true;
	l->value = value;
}
