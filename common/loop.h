/*
 * loop.h - one event loop a program: ZeroMQ sockets, descriptors, timers,
 * signals and children in one place, level-triggered.
 *
 *	struct loop *l = loop_create();
 *	loop_zmq_add(l, sock, on_message, ctx);
 *	loop_timer_add(l, 1000, 0, on_tick, ctx);
 *	r = loop_run(l);           until loop_stop(l, r)
 *	loop_free(l);
 *
 * A callback must not block. It may delete any handle, its own too, and may
 * add new ones. It takes a bounded bite and returns. Handles are owned by the
 * loop and die with it. Order in a round: timers, sockets, descriptors (signals
 * and children with them), deferred calls. Times are CLOCK_MONOTONIC
 * milliseconds.
 */
#ifndef COMMON_LOOP_H
#define COMMON_LOOP_H

#include "common/compat.h"

struct loop;
struct loop_watch; /* a descriptor, a socket, a timer, a signal or a child */

enum loop_events {
	LOOP_IN = 1,
	LOOP_OUT = 2,
	LOOP_HUP = 4
};

typedef void (*loop_fd_cb)(int fd, unsigned events, void *ctx);
typedef void (*loop_zmq_cb)(void *sock, void *ctx);
typedef void (*loop_cb)(void *ctx);
typedef void (*loop_signal_cb)(int signo, void *ctx);
/* status as from waitpid(2); the child is already reaped. */
typedef void (*loop_child_cb)(pid_t pid, int status, void *ctx);

struct loop *loop_create(void);
void loop_free(struct loop *l);
int loop_run(struct loop *l); /* the value given to loop_stop() */
void loop_stop(struct loop *l, int value);
/* One round, waiting at most timeout_ms (-1: until something comes). */
int loop_once(struct loop *l, int timeout_ms);
uint64_t loop_now_ms(void);
/* The longest time that a round's callbacks took since the last call, in us. */
uint64_t loop_busy_max_us(struct loop *l);

struct loop_watch *loop_fd_add(
    struct loop *l, int fd, unsigned events, loop_fd_cb cb, void *ctx);
void loop_fd_events(struct loop_watch *w, unsigned events); /* 0: pause */
/* It is one of hundreds: a round does not look at each of these. For a child,
 * or a descriptor that is watched for LOOP_IN alone, stays so, and is open
 * until after loop_del(), which the process that called this calls. */
void loop_many(struct loop *l, struct loop_watch *w);
/* Called while a message can be received (ZMQ_POLLIN). A thousand sockets cost
 * a round no more than those of them that have news. loop_del() comes before
 * zmq_close(). */
struct loop_watch *loop_zmq_add(
    struct loop *l, void *sock, loop_zmq_cb cb, void *ctx);
/* To be called after the socket was used outside of its own callback: sent on,
 * received from, bound, connected or asked for ZMQ_EVENTS. libzmq may have
 * taken in the news of a message then, and the socket would be called for it
 * only when another one comes. NULL is allowed. */
void loop_zmq_used(struct loop *l, struct loop_watch *w);
/* After delay_ms, then every repeat_ms (0: once, and the watch is freed by the
 * loop after the call: do not keep it). */
struct loop_watch *loop_timer_add(struct loop *l, uint64_t delay_ms,
    uint64_t repeat_ms, loop_cb cb, void *ctx);
/* Blocks the signal in this thread and reads it by signalfd. Call it before
 * threads (zmq_ctx_new and its sockets) are made. */
struct loop_watch *loop_signal_add(
    struct loop *l, int signo, loop_signal_cb cb, void *ctx);
/* By pidfd: pid reuse can't hit. The watch frees itself after the call. */
struct loop_watch *loop_child_add(
    struct loop *l, pid_t pid, loop_child_cb cb, void *ctx);
/* Run cb at the end of this round. */
void loop_defer(struct loop *l, loop_cb cb, void *ctx);
/* Remove and free; NULL is allowed. Safe inside any callback. */
void loop_del(struct loop *l, struct loop_watch *w);

#endif
