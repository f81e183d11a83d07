/* host_int.h - what the host*.c files share; for nobody else. */
#ifndef WORKER_HOST_HOST_INT_H
#define WORKER_HOST_HOST_INT_H

#include "common/log.h"
#include "proto/peer.h"
#include "sandbox/probe.h"

struct intake;
struct options;
struct place;
struct reaper;
struct relay;
struct slots;

struct host {
	const struct options *opts;
	const struct place *place;
	struct loop *loop;
	void *zctx;
	struct peer *up;
	struct relay *relay;
	struct reaper *reaper;
	struct intake *intake;
	struct slots *slots;
	const struct quota *quota;
	int wires; /* wire.h */
	size_t max;
	enum layout layout;
	char *scratch;
	char *cache; /* below it: what workers share; NULL */
	int lock_fd;
	char name[256];
	char instance[33]; /* random, of this process */
	int link;          /* enum shake that was told last; -1: none */
	unsigned cuts;     /* handshakes that were cut, in a row */
	uint64_t try_ms;   /* when that was tried first; 0: no matter */
	char run[65];      /* of the last WELCOME; "" before it */
	bool greeted;      /* WELCOME came on this connection */
	bool draining;
	bool told; /* a WELCOME came since HELLO said so: no ASSIGN follows */
	struct loop_watch *drain; /* its time limit, after SIGTERM */
	uint64_t drain_at, term_ms;
	bool at_once; /* told to go */
	bool gone;    /* the scratch directory is */
	uint64_t heard_ms;
	uint64_t cut_ms; /* when the connection that stood ended */
	uint64_t hello_ms;
	struct log_budget lines; /* of what the orchestrator sends */
	uint64_t idle_ms;        /* since when no worker runs */
};

/* host_dispatch.c: from the orchestrator. */
extern const struct peer_ops host_peer_ops; /* ctx: struct host */

/* uplink.c: the connection to another machine. */
int uplink_connect(struct host *h, struct err *e);
/* Now and then: says once that nobody answers. */
void uplink_tick(struct host *h, uint64_t now);

/* host.c */
void host_say_hello(struct host *h);
void host_say_heartbeat(struct host *h);
/* host.c: stop when nothing is left to do after DRAIN. */
void host_check_drained(struct host *h);
/* host.c: take no more, tell the orchestrator, end what is there. */
void host_drain(struct host *h, const char *why);

#endif
