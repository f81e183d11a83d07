/*
 * Watches sit in one list; the set for zmq_poll() is made anew each round, so
 * nothing in it can be stale. A deleted watch is only marked while callbacks
 * run, and freed between rounds: nobody holds a pointer to it then.
 */
#include "common/compat.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <sys/signalfd.h>
#include <sys/tree.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/loop.h"

#define SIGNALS_A_ROUND 16
#define MANY_A_ROUND 64

enum watch_type {
	WATCH_FD,
	WATCH_ZMQ,
	WATCH_TIMER,
	WATCH_SIGNAL,
	WATCH_CHILD
};

struct loop_watch {
	TAILQ_ENTRY(loop_watch) entry; /* loop.watches, many or dead */
	RB_ENTRY(loop_watch) node;     /* WATCH_TIMER */
	enum watch_type type;
	bool dead;
	bool packed; /* is in loop.many */
	bool armed;  /* WATCH_TIMER: is in the tree */
	void *ctx;
	union {
		loop_fd_cb fd;
		loop_zmq_cb zmq;
		loop_cb timer;
		loop_signal_cb sig;
		loop_child_cb child;
	} cb;
	int fd; /* ours for WATCH_SIGNAL and WATCH_CHILD */
	unsigned events;
	void *sock;
	pid_t pid;
	uint64_t when_ms;
	uint64_t repeat_ms;
	uint64_t seq; /* of arming: order among equal times */
};

TAILQ_HEAD(watches, loop_watch);
RB_HEAD(timers, loop_watch);

struct deferred {
	STAILQ_ENTRY(deferred) entry;
	loop_cb cb;
	void *ctx;
};

STAILQ_HEAD(deferred_list, deferred);

struct loop {
	struct watches watches; /* all but timers and many */
	struct watches many;    /* behind one descriptor of the set */
	struct watches dead;
	int epfd;
	struct timers timers;
	struct deferred_list deferred;
	uint64_t seq;
	bool in_round;
	bool stopped;
	int value;
	uint64_t busy_max_us;
	/* The set of this round; polled[i] belongs to items[i]. */
	zmq_pollitem_t *items;
	struct loop_watch **polled;
	size_t n_items;
	size_t size;
};

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

static uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t
loop_now_ms(void)
{
	return now_us() / 1000;
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
	TAILQ_INIT(&l->dead);
	l->epfd = -1;
	RB_INIT(&l->timers);
	STAILQ_INIT(&l->deferred);
	return l;
}

/* Free what loop_del() marked. */
static void
bury(struct loop *l)
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
	bury(l);
	fd_close(&l->epfd);
	while ((d = STAILQ_FIRST(&l->deferred)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->deferred, entry);
		free(d);
	}
	free(l->items);
	free(l->polled);
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

void
loop_many(struct loop *l, struct loop_watch *w)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = w };

	assert((w->type == WATCH_FD || w->type == WATCH_CHILD) &&
	    w->events == LOOP_IN && !w->packed);
	if (l->epfd < 0)
		l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, w->fd, &ev) < 0)
		return; /* it is a file */
	w->packed = true;
	TAILQ_REMOVE(&l->watches, w, entry);
	TAILQ_INSERT_TAIL(&l->many, w, entry);
}

struct loop_watch *
loop_zmq_add(struct loop *l, void *sock, loop_zmq_cb cb, void *ctx)
{
	struct loop_watch *w = watch_add(l, WATCH_ZMQ, ctx);

	w->cb.zmq = cb;
	w->sock = sock;
	w->events = LOOP_IN;
	return w;
}

static void
timer_arm(struct loop *l, struct loop_watch *w, uint64_t when_ms)
{
	w->when_ms = when_ms;
	w->seq = l->seq++;
	w->armed = true;
	RB_INSERT(timers, &l->timers, w);
}

static void
timer_disarm(struct loop *l, struct loop_watch *w)
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
	timer_arm(
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
	if (w->type == WATCH_TIMER)
		timer_disarm(l, w);
	else
		TAILQ_REMOVE(w->packed ? &l->many : &l->watches, w, entry);
	if (w->packed)
		(void)epoll_ctl(l->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	if (w->type == WATCH_SIGNAL || w->type == WATCH_CHILD)
		fd_close(&w->fd);
	TAILQ_INSERT_TAIL(&l->dead, w, entry);
	if (!l->in_round)
		bury(l);
}

/* --- a round -------------------------------------------------------------- */

/* w: NULL for many. */
static void
add_item(
    struct loop *l, struct loop_watch *w, void *sock, int fd, unsigned events)
{
	zmq_pollitem_t *item;

	if (l->n_items == l->size) {
		l->size = l->size > 0 ? l->size * 2 : 16;
		l->items = xreallocarray(l->items, l->size, sizeof *l->items);
		/* An array of pointers. */
		l->polled = xreallocarray(
		    l->polled, l->size, sizeof(struct loop_watch *));
	}
	item = &l->items[l->n_items];
	*item = (zmq_pollitem_t){ .socket = sock, .fd = fd };
	if (events & LOOP_IN)
		item->events |= ZMQ_POLLIN;
	if (events & LOOP_OUT)
		item->events |= ZMQ_POLLOUT;
	l->polled[l->n_items++] = w;
}

static void
build_set(struct loop *l)
{
	struct loop_watch *w;

	l->n_items = 0;
	TAILQ_FOREACH (w, &l->watches, entry)
		if (w->events != 0)
			add_item(l, w, w->sock, w->fd, w->events);
	if (!TAILQ_EMPTY(&l->many))
		add_item(l, NULL, NULL, l->epfd, LOOP_IN);
}

/* How long the round may wait: -1 for ever. */
static int
wait_ms(const struct loop *l, int timeout_ms)
{
	struct loop_watch *w;
	uint64_t now, left;

	if (l->stopped || !STAILQ_EMPTY(&l->deferred))
		return 0;
	w = RB_MIN(timers, &((struct loop *)l)->timers);
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
	int n;

	/* zmq_poll() sleeps for a strange time when the set is empty. */
	if (l->n_items == 0)
		n = poll(NULL, 0, timeout_ms);
	else
		n = zmq_poll(l->items, (int)l->n_items, timeout_ms);
	if (n >= 0)
		return n;
	for (size_t i = 0; i < l->n_items; i++)
		l->items[i].revents = 0;
	return errno == EINTR ? 0 : -errno;
}

/* Those due now; what they arm themselves is for the next round. */
static void
run_timers(struct loop *l)
{
	uint64_t now = loop_now_ms(), last = l->seq, when;
	struct loop_watch *w;

	while ((w = RB_MIN(timers, &l->timers)) != NULL) {
		/* What is armed meanwhile is never before what was due. */
		if (w->when_ms > now || w->seq >= last)
			break;
		timer_disarm(l, w);
		w->cb.timer(w->ctx);
		if (w->dead)
			continue;
		if (w->repeat_ms == 0) {
			loop_del(l, w);
			continue;
		}
		/* After a long stop: one call, not one for each missed. */
		when = w->when_ms + w->repeat_ms;
		timer_arm(l, w, when > now ? when : now + w->repeat_ms);
	}
}

static void
run_fd(struct loop_watch *w, short revents)
{
	unsigned events = 0;

	if (revents & ZMQ_POLLIN)
		events |= LOOP_IN;
	if (revents & ZMQ_POLLOUT)
		events |= LOOP_OUT;
	if (revents & ZMQ_POLLERR) /* hang-up, error or not open */
		events |= LOOP_HUP | (w->events & LOOP_IN);
	if (events != 0 && w->events != 0)
		w->cb.fd(w->fd, events, w->ctx);
}

static void
run_zmq(struct loop_watch *w)
{
	size_t size = sizeof(int);
	int events = 0;

	/* A callback before this one may have taken the message. */
	if (zmq_getsockopt(w->sock, ZMQ_EVENTS, &events, &size) == 0 &&
	    (events & ZMQ_POLLIN))
		w->cb.zmq(w->sock, w->ctx);
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

static void
run_many(struct loop *l)
{
	struct epoll_event ev[MANY_A_ROUND];
	int n = epoll_wait(l->epfd, ev, MANY_A_ROUND, 0);
	struct loop_watch *w;

	for (int i = 0; i < n; i++) {
		w = ev[i].data.ptr;
		if (!w->dead && w->type == WATCH_CHILD)
			run_child(l, w);
		else if (!w->dead) /* a hang-up comes after the input */
			run_fd(w,
			    ev[i].events & EPOLLIN ? ZMQ_POLLIN : ZMQ_POLLERR);
	}
}

static void
run_events(struct loop *l)
{
	struct loop_watch *w;
	short revents;

	for (size_t i = 0; i < l->n_items; i++) {
		w = l->polled[i];
		revents = l->items[i].revents;
		if (w == NULL && revents != 0)
			run_many(l);
		if (w == NULL || w->dead || revents == 0)
			continue;
		switch (w->type) {
		case WATCH_FD:
			run_fd(w, revents);
			break;
		case WATCH_ZMQ:
			run_zmq(w);
			break;
		case WATCH_SIGNAL:
			run_signal(w);
			break;
		case WATCH_CHILD:
			run_child(l, w);
			break;
		case WATCH_TIMER: /* never in the set */
			break;
		}
	}
}

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
	r = wait_for_events(l, wait_ms(l, timeout_ms));
	start = now_us();
	if (r >= 0) {
		run_timers(l);
		run_events(l);
		run_deferred(l);
	}
	l->in_round = false;
	bury(l);
	busy = now_us() - start;
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
