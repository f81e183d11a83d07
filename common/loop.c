/*
 * loop.c - what is watched; loop_round.c says when it is looked at.
 */
#include "common/compat.h"

#include <assert.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop_priv.h"

static int
timer_cmp(const struct loop_watch *a, const struct loop_watch *b)
{
	if (a->when_ms != b->when_ms)
		return a->when_ms < b->when_ms ? -1 : 1;
	if (a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return 0;
}

/* libbsd's RB_GENERATE_STATIC needs an __unused that it doesn't define. */
RB_GENERATE_INTERNAL(timers, loop_watch, node, timer_cmp, unused_arg static)

uint64_t
loop_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t
loop_now_ms(void)
{
	return loop_now_us() / 1000;
}

uint64_t
loop_busy_max_us(struct loop *l)
{
	uint64_t max = l->busy_max_us;

	l->busy_max_us = 0;
	return max;
}

struct loop *
loop_create(void)
{
	struct loop *l = xcalloc(1, sizeof *l);

	TAILQ_INIT(&l->watches);
	TAILQ_INIT(&l->many);
	TAILQ_INIT(&l->look);
	TAILQ_INIT(&l->dead);
	l->epfd = -1;
	RB_INIT(&l->timers);
	STAILQ_INIT(&l->deferred);
	return l;
}

void
loop_bury(struct loop *l)
{
	struct loop_watch *w;

	while ((w = TAILQ_FIRST(&l->dead)) != NULL) {
		TAILQ_REMOVE(&l->dead, w, entry);
		free(w);
	}
}

void
loop_free(struct loop *l)
{
	struct loop_watch *w;
	struct deferred *d;

	if (l == NULL)
		return;
	assert(!l->in_round);
	while ((w = TAILQ_FIRST(&l->watches)) != NULL)
		loop_del(l, w);
	while ((w = TAILQ_FIRST(&l->many)) != NULL)
		loop_del(l, w);
	while ((w = RB_MIN(timers, &l->timers)) != NULL)
		loop_del(l, w);
	loop_bury(l);
	fd_close(&l->epfd);
	while ((d = STAILQ_FIRST(&l->deferred)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->deferred, entry);
		free(d);
	}
	free(l->items);
	free(l->polled);
	free(l->came);
	free(l);
}

static struct loop_watch *
watch_add(struct loop *l, enum watch_type type, void *ctx)
{
	struct loop_watch *w = xcalloc(1, sizeof *w);

	w->type = type;
	w->ctx = ctx;
	w->fd = -1;
	if (type != WATCH_TIMER)
		TAILQ_INSERT_TAIL(&l->watches, w, entry);
	return w;
}

struct loop_watch *
loop_fd_add(struct loop *l, int fd, unsigned events, loop_fd_cb cb, void *ctx)
{
	struct loop_watch *w = watch_add(l, WATCH_FD, ctx);

	w->cb.fd = cb;
	w->fd = fd;
	w->events = events;
	return w;
}

void
loop_fd_events(struct loop_watch *w, unsigned events)
{
	assert(w->type == WATCH_FD && !w->packed);
	w->events = events;
}

/* False: it can't be there, as a file can't. */
static bool
pack(struct loop *l, struct loop_watch *w)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = w };

	if (l->epfd < 0)
		l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, w->fd, &ev) < 0)
		return false;
	w->packed = true;
	TAILQ_REMOVE(&l->watches, w, entry);
	TAILQ_INSERT_TAIL(&l->many, w, entry);
	l->n_many++;
	return true;
}

void
loop_many(struct loop *l, struct loop_watch *w)
{
	assert((w->type == WATCH_FD || w->type == WATCH_CHILD) &&
	    w->events == LOOP_IN && !w->packed);
	(void)pack(l, w); /* else it stays where it is */
}

struct loop_watch *
loop_zmq_add(struct loop *l, void *sock, loop_zmq_cb cb, void *ctx)
{
	struct loop_watch *w = watch_add(l, WATCH_ZMQ, ctx);
	size_t size = sizeof w->fd;

	w->cb.zmq = cb;
	w->sock = sock;
	w->events = LOOP_IN;
	/* Without a descriptor asking for its events fails, and is told. */
	if (zmq_getsockopt(sock, ZMQ_FD, &w->fd, &size) < 0)
		w->fd = -1;
	(void)pack(l, w);
	loop_zmq_used(l, w);
	return w;
}

void
loop_zmq_used(struct loop *l, struct loop_watch *w)
{
	if (w == NULL || w->dead || w->looked)
		return;
	assert(w->type == WATCH_ZMQ);
	w->looked = true;
	TAILQ_INSERT_TAIL(&l->look, w, again);
}

void
loop_zmq_done(struct loop *l, struct loop_watch *w)
{
	if (w->looked)
		TAILQ_REMOVE(&l->look, w, again);
	w->looked = false;
}

struct loop_watch *
loop_first_timer(struct loop *l)
{
	return RB_MIN(timers, &l->timers);
}

void
loop_arm(struct loop *l, struct loop_watch *w, uint64_t when_ms)
{
	w->when_ms = when_ms;
	w->seq = l->seq++;
	w->armed = true;
	RB_INSERT(timers, &l->timers, w);
}

void
loop_disarm(struct loop *l, struct loop_watch *w)
{
	if (w->armed)
		RB_REMOVE(timers, &l->timers, w);
	w->armed = false;
}

struct loop_watch *
loop_timer_add(struct loop *l, uint64_t delay_ms, uint64_t repeat_ms,
    loop_cb cb, void *ctx)
{
	struct loop_watch *w = watch_add(l, WATCH_TIMER, ctx);
	uint64_t now = loop_now_ms();

	w->cb.timer = cb;
	w->repeat_ms = repeat_ms;
	loop_arm(
	    l, w, delay_ms < UINT64_MAX - now ? now + delay_ms : UINT64_MAX);
	return w;
}

struct loop_watch *
loop_signal_add(struct loop *l, int signo, loop_signal_cb cb, void *ctx)
{
	struct loop_watch *w;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	if (sigaddset(&set, signo) < 0)
		return NULL;
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	sigprocmask(SIG_BLOCK, &set, NULL);
	w = watch_add(l, WATCH_SIGNAL, ctx);
	w->cb.sig = cb;
	w->fd = fd;
	w->events = LOOP_IN;
	return w;
}

struct loop_watch *
loop_child_add(struct loop *l, pid_t pid, loop_child_cb cb, void *ctx)
{
	struct loop_watch *w;
	int fd;

	fd = pidfd_open(pid, 0); /* close-on-exec by itself */
	if (fd < 0)
		return NULL;
	w = watch_add(l, WATCH_CHILD, ctx);
	w->cb.child = cb;
	w->fd = fd;
	w->pid = pid;
	w->events = LOOP_IN;
	return w;
}

void
loop_defer(struct loop *l, loop_cb cb, void *ctx)
{
	struct deferred *d = xcalloc(1, sizeof *d);

	d->cb = cb;
	d->ctx = ctx;
	STAILQ_INSERT_TAIL(&l->deferred, d, entry);
}

void
loop_del(struct loop *l, struct loop_watch *w)
{
	if (w == NULL || w->dead)
		return;
	w->dead = true;
	loop_zmq_done(l, w);
	if (w->type == WATCH_TIMER)
		loop_disarm(l, w);
	else
		TAILQ_REMOVE(w->packed ? &l->many : &l->watches, w, entry);
	if (w->packed) {
		(void)epoll_ctl(l->epfd, EPOLL_CTL_DEL, w->fd, NULL);
		l->n_many--;
	}
	if (w->type == WATCH_SIGNAL || w->type == WATCH_CHILD)
		fd_close(&w->fd);
	TAILQ_INSERT_TAIL(&l->dead, w, entry);
	if (!l->in_round)
		loop_bury(l);
}
