/* host_int.h - what the host*.c files share; for nobody else. */
#ifndef WORKER_HOST_HOST_INT_H
#define WORKER_HOST_HOST_INT_H

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
	char run[65]; /* of the last WELCOME; "" before it */
	bool draining;
	bool at_once; /* told to go */
	uint64_t heard_ms;
	uint64_t hello_ms;
	uint64_t idle_ms; /* since when no worker runs */
};

/* host_dispatch.c: from the orchestrator. */
extern const struct peer_ops host_peer_ops; /* ctx: struct host */

/* host.c: stop when nothing is left to do after DRAIN. */
void host_check_drained(struct host *h);

#endif
