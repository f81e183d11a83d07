/*
 * hosts.h - the hosts of a run: the one of this machine, which we start, and
 * later those of other machines. Keeps their slots; knows nothing of subtasks.
 */
#ifndef ORCHESTRATOR_RUN_HOSTS_H
#define ORCHESTRATOR_RUN_HOSTS_H

#include "common/loop.h"
#include "proto/peer.h"
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
	/* It lacks a snapshot. */
	void (*need)(struct host *h, const struct msg_need *m, void *ctx);
};

struct hosts_opts {
	const char *run;     /* its name */
	const char *log;     /* file for the local host's stderr */
	const char *cache;   /* path_cache_dir() */
	const char *scratch; /* parent of scratch directories */
	unsigned slots;
	const char *profile; /* file: the sandbox of their commands */
	/* Of our own host. One of another machine with a weaker one than this
	 * is refused. */
	enum sandbox_backend backend;
	/* Commands have a network: listen at hosts_network() before the start
	 * of the local host. */
	bool network;
	const char *own_hosts; /* not by it (network_own()); or NULL */
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

/* A host with a free slot, or NULL. */
struct host *hosts_free_slot(struct hosts *hs);
/* Takes a slot; hosts_release() gives it back when the worker is gone. */
int hosts_assign(struct host *h, const char *worker, const struct msg *assign,
    struct err *e);
void hosts_release(struct host *h);
int hosts_send(
    struct host *h, const char *worker, const struct msg *m, struct err *e);
const char *host_name(const struct host *h);
unsigned host_cpus(const struct host *h);
/* As it says itself. */
enum sandbox_backend host_backend(const struct host *h);

#endif
