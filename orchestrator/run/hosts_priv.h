/* hosts_priv.h - what hosts*.c share; for nobody else. */
#ifndef ORCHESTRATOR_RUN_HOSTS_PRIV_H
#define ORCHESTRATOR_RUN_HOSTS_PRIV_H

#include <sys/queue.h>

#include "common/log.h"
#include "orchestrator/door/door.h"
#include "orchestrator/door/link.h"
#include "orchestrator/run/hosts.h"

#define INSTANCE 33 /* of a host's, and NUL */

/* A connection of another machine. */
struct remote {
	TAILQ_ENTRY(remote) entry;
	struct hosts *all;
	struct link *link;
	struct host *host; /* NULL before HELLO */
	char address[64];
	char key[64]; /* its name in the allow-list; "": without keys */
	struct log_budget lines;
	char *doomed; /* it is to be ended, and why */
};

TAILQ_HEAD(remote_list, remote);

struct host {
	TAILQ_ENTRY(host) entry;
	struct hosts *all;
	struct peer_addr addr; /* of this machine's */
	struct remote *remote; /* of others'; NULL: its connection is cut */
	bool is_remote;
	char name[256], address[64], key[64], instance[INSTANCE];
	struct placing place;
	unsigned cpus;
	struct strv ghosts; /* given up, and still in its slots */
	unsigned strays;    /* messages of workers that are nobody's */
	uint64_t strays_ms; /* counted since */
	uint64_t cut_ms;    /* when the connection ended */
	uint64_t seen_ms;
	bool spoken;       /* it has said more than HELLO */
	uint64_t poor_ms;  /* until then others are better */
	uint64_t aside_ms; /* until then it gets nothing; 0: it is not so */
	unsigned faults;   /* attempts that failed there, one after the other */
	unsigned fulls;    /* times that it was full, one after the other */
	unsigned asides;   /* how often it was set aside, lately */
	enum sandbox_backend backend;
};

TAILQ_HEAD(host_list, host);

struct hosts {
	struct loop *loop;
	void *zctx;
	struct peer *peer;
	struct hosts_opts o;
	const struct hosts_ops *ops;
	void *ctx;
	struct host_list list;
	struct loop_watch *tick;
	uint64_t tick_ms;
	char *dir; /* of the socket */
	int lock;  /* held while we live: dir is swept when we are gone */
	char *endpoint;
	pid_t pid; /* of the local foray-host, 0: none */
	struct loop_watch *child;
	int lifeline; /* write end; the host ends when it closes */
	unsigned restarts;
	uint64_t bad; /* messages that were none */
	bool stopping;
	struct door *door; /* NULL: it does not listen */
	struct remote_list remotes;
	struct strv dropped; /* instances that are not wanted any more */
	struct strv faulty;  /* instances that were set aside */
};

/* hosts.c. Where a message comes from: one of the two. */
struct origin {
	const struct peer_addr *from;
	struct remote *remote;
};
void hosts_hello(
    struct hosts *hs, const struct origin *o, const struct msg_hello *m);
/* A message that is no HELLO, of a host that said that. */
void hosts_take(struct host *h, const char *worker, const struct msg *m);
void hosts_lose(struct host *h, const char *why, int fatal_code);

/* hosts_pick.c */
/* Nothing was heard of it for a while, or since its HELLO. */
bool hosts_is_silent(const struct host *h);
/* A new one: was it set aside before? */
void hosts_was_faulty(struct host *h);
/* Now and then; true: it was set aside, and its time is over. */
bool hosts_aside_over(struct host *h);

/* hosts_remote.c */
void hosts_no_ghosts(struct host *h);
int remote_listen(struct hosts *hs, struct err *e);
int remote_send(
    struct remote *r, const char *worker, const struct msg *m, struct err *e);
/* NULL, or why this host of another machine is not wanted. */
const char *remote_refusal(
    const struct hosts *hs, const struct remote *r, const struct msg_hello *m);
/* It was here before, by another connection: this one takes its place. */
bool remote_rejoin(
    struct hosts *hs, struct remote *r, const struct msg_hello *m);
/* Tells them that nothing of this run is wanted any more. */
void remote_stop(struct hosts *hs);

#endif
