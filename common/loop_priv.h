/*
 * loop_priv.h - what loop.c and loop_round.c share.
 *
 * Plain watches sit in one list; the set for poll(2) is made anew each round,
 * so nothing in it can be stale. What there are hundreds of (loop_many() and
 * the ZeroMQ sockets) sits behind one epoll descriptor of that set: a round
 * costs what has happened, not what is watched.
 *
 * A ZeroMQ socket tells of news by ZMQ_FD, once: whatever uses the socket then
 * takes them in, messages stay behind, and the descriptor is quiet again. (It
 * stays readable until somebody does, so level-triggered epoll loses nothing
 * before.) Messages are told of anew only after ZMQ_EVENTS, or a receive, has
 * said that there are none. So each socket that was told of, was used, or had a
 * message when last looked at is in the list look; each round asks for the
 * ZMQ_EVENTS of those, before it waits, and lets go who has no message. Who is
 * not in that list has none, and its descriptor will tell of the next.
 *
 * A deleted watch is only marked while callbacks run, and freed between rounds:
 * nobody holds a pointer to it then.
 */
#ifndef COMMON_LOOP_PRIV_H
#define COMMON_LOOP_PRIV_H

#include "common/loop.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/tree.h>

enum watch_type {
	WATCH_FD,
	WATCH_ZMQ,
	WATCH_TIMER,
	WATCH_SIGNAL,
	WATCH_CHILD
};

struct loop_watch {
	TAILQ_ENTRY(loop_watch) entry; /* loop.watches, many or dead */
	TAILQ_ENTRY(loop_watch) again; /* loop.look */
	RB_ENTRY(loop_watch) node;     /* WATCH_TIMER */
	enum watch_type type;
	bool dead;
	bool packed; /* is in loop.many */
	bool armed;  /* WATCH_TIMER: is in the tree */
	bool looked; /* WATCH_ZMQ: is in loop.look */
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
	struct watches look;    /* sockets to be asked, see above */
	struct watches dead;
	int epfd;
	size_t n_many;
	struct timers timers;
	struct deferred_list deferred;
	uint64_t seq;
	bool in_round;
	bool stopped;
	int value;
	uint64_t busy_max_us;
	/* The set of this round; polled[i] belongs to items[i]. */
	struct pollfd *items;
	struct loop_watch **polled; /* NULL: for many */
	size_t n_items;
	size_t size;
	/* What came of many, of the watches that are not sockets. */
	struct epoll_event *came;
	size_t n_came;
	size_t came_size;
};

uint64_t loop_now_us(void);
void loop_bury(struct loop *l); /* free what loop_del() marked */
void loop_zmq_done(struct loop *l, struct loop_watch *w); /* not in look */
struct loop_watch *loop_first_timer(struct loop *l);
void loop_arm(struct loop *l, struct loop_watch *w, uint64_t when_ms);
void loop_disarm(struct loop *l, struct loop_watch *w);

#endif
