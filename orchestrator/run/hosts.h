/*
 * hosts.h - the hosts of a run: the one of this machine, which we start, and
 * those of other machines, which come in by the door (door/door.h). Keeps their
 * slots; knows nothing of subtasks.
 *
 * A host of another machine that loses its connection has three seconds to come
 * back by a new one, and one that says nothing at all ten; it is known by a
 * random number that it made at its start.
 */
#ifndef ORCHESTRATOR_RUN_HOSTS_H
#define ORCHESTRATOR_RUN_HOSTS_H

#include "common/loop.h"
#include "orchestrator/run/placing.h"
#include "proto/peer.h"
#include "proto/tcp.h"
#include "sandbox/spec.h"

struct hosts;
struct host;

struct hosts_ops {
	void (*up)(struct host *h, void *ctx);
	/* The host is lost with all its workers; why is for a person.
	 * fatal_code is an exit status when a new start would fail as well (4),
	 * else 0. */
	void (*down)(
	    struct host *h, const char *why, int fatal_code, void *ctx);
	/* A message about or from one of its workers. */
	void (*msg)(
	    struct host *h, const char *worker, const struct msg *m, void *ctx);
	/* It was cut off, and is here again with these workers. */
	void (*back)(struct host *h, const struct msg_strs *workers, void *ctx);
	/* Somebody wanted to be one, and was sent away. key: its name in the
	 * allow-list, or "". */
	void (*refused)(
	    const char *address, const char *key, const char *why, void *ctx);
	/* So many attempts have failed there that it gets nothing for ms. */
	void (*aside)(struct host *h, uint64_t ms, const char *why, void *ctx);
	/* No more hosts of other machines can come in, for good. */
	void (*door_lost)(const char *why, void *ctx);
	/* It may have room again. */
	void (*room)(void *ctx);
	/* It lacks a snapshot. */
	void (*need)(struct host *h, const struct msg_need *m, void *ctx);
};

struct hosts_opts {
	const char *run;     /* its name */
	const char *log;     /* file for the local host's stderr */
	const char *cache;   /* path_cache_dir() */
	const char *scratch; /* parent of scratch directories */
	unsigned slots;
	unsigned judging;    /* of them, see placing.h */
	const char *profile; /* file: the sandbox of their commands */
	/* Of our own host. One of another machine with a weaker one than this
	 * is refused. */
	enum sandbox_backend backend;
	/* Commands have a network: listen at hosts_network() before the start
	 * of the local host. */
	bool network;
	const char *own_hosts;        /* not by it (network_own()); or NULL */
	struct placing_want want;     /* of every subtask; borrowed */
	const struct tcp_end *listen; /* for other machines; NULL: don't */
	const char *keys;             /* directory; NULL: without keys */
	const char *profile_hash;     /* what others' profile must be */
};

/* Binds the socket in a private directory. */
int hosts_create(struct loop *l, const struct hosts_opts *o,
    const struct hosts_ops *ops, void *ctx, struct hosts **ret, struct err *e);
/* Path of the unix socket for networks (run/network.h), in the directory that
 * only hosts reach. Yours. */
char *hosts_network(const struct hosts *hs);
/* Start foray-host for this machine. */
int hosts_start_local(struct hosts *hs, struct err *e);
/* Ask all to go, wait up to a second on the loop, then kill what we started. */
void hosts_stop(struct hosts *hs);
void hosts_free(struct hosts *hs);

/* Where it listens for other machines; NULL: it does not. */
const struct tcp_end *hosts_at(const struct hosts *hs);
/* Ours does no wrong; another machine's is ended, with all its workers, and not
 * let in again. Inside of ops->msg(), for the host of the message. */
void hosts_drop(struct host *h, const char *why);
/* It speaks of a worker that was given up: it is told to end it. */
void hosts_stray(struct host *h, const char *worker);
/* It brings a worker that was given up: that one is told to end, and has a slot
 * until hosts_ghost_gone(). */
void hosts_ghost(struct host *h, const char *worker);
const struct strv *hosts_ghosts(const struct host *h);
bool hosts_is_ghost(const struct host *h, const char *worker);
/* A worker's end is told; false: it was no such one. */
bool hosts_ghost_gone(struct host *h, const char *worker);
/* It refused a worker for want of a slot: it gets none until ops->room(). One
 * that does so again and again is set aside. */
void hosts_full(struct host *h);

/* Which machine, and who answers for it. Zeroed: this one. */
struct host_mark {
	char key[64], instance[33];
	char name[64]; /* for a person, cut */
};
void host_mark(const struct host *h, struct host_mark *ret);

/* The best host for a subtask (placing.h), or NULL when none can take one: not
 * one of another machine that has said nothing for three seconds, or since its
 * HELLO; ops->room() when it speaks. A
 * subtask that judges (of: whose work, zeroed: nobody's yet) goes to the host
 * whose word is worth most, free or not: this machine, one with another key
 * than that whose work it is, another one, and itself only where it is alone.
 */
struct host *hosts_free_slot(struct hosts *hs);
struct host *hosts_free_judge(struct hosts *hs, const struct host_mark *of);
/* Takes a slot; hosts_release() gives it back when the worker is gone. Until
 * hosts_began(), when the worker is up, it counts as one that is being started,
 * of which a host has few at once: its messages wait behind them. */
int hosts_assign(struct host *h, const char *worker, const struct msg *assign,
    struct err *e);
void hosts_began(struct host *h);
/* began: hosts_began() was called for it. */
void hosts_release(struct host *h, bool began);
/* An attempt came to nothing there: for a minute it gets work only when there
 * is no other host for it. Is there one? A host of another machine is set aside
 * (ops->aside) after three in a row, or at once where it is sure that nothing
 * runs there. */
bool hosts_fault(struct host *h, bool sure, const char *why);
/* One came to its end there. */
void hosts_good(struct host *h);
/* It gets nothing now. */
bool host_is_aside(const struct host *h);
/* It does not take what it was given, because it is about to go. */
void hosts_drains(struct host *h);
int hosts_send(
    struct host *h, const char *worker, const struct msg *m, struct err *e);
/* Does it have the labels that the run wants? */
bool host_fits(const struct host *h);
struct hosts_figures {
	uint64_t ready, draining; /* hosts */
	uint64_t slots, busy;     /* of both */
	uint64_t soon;            /* free ones, placing_soon() */
	uint64_t bad;             /* messages that were none, so far */
};
/* hs may be NULL: all are 0. */
void hosts_figures(const struct hosts *hs, struct hosts_figures *ret);
const char *host_name(const struct host *h);
unsigned host_slots(const struct host *h);
/* Of another machine: where it connects from and its key's name, else NULL. */
const char *host_address(const struct host *h);
bool host_is_draining(const struct host *h);
const char *host_key(const struct host *h);
unsigned hosts_cpus(const struct hosts *hs); /* of all together */
bool hosts_any(const struct hosts *hs);
bool hosts_own_runs(const struct hosts *hs); /* ours, or it is started */
/* Is there one that fits and is not set aside? */
bool hosts_any_fits(const struct hosts *hs);
/* As it says itself. */
enum sandbox_backend host_backend(const struct host *h);

#endif
