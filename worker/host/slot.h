/*
 * slot.h - the workers of a host, from ASSIGN to WORKER_EXIT.
 *
 *	STARTING   the sandbox is being made; only READY with the token may come
 *	UP         messages are relayed both ways
 *	ENDING     killed or gone; nothing is relayed, the process is waited for
 *
 * Every ASSIGN is answered by exactly one WORKER_EXIT in the end, also when the
 * worker could not be started.
 *
 * A worker is known by its connection: the one that showed the token that was
 * written into its sandbox. A bad message ends the worker that sent it and
 * nothing else.
 */
#ifndef WORKER_HOST_SLOT_H
#define WORKER_HOST_SLOT_H

#include "common/loop.h"
#include "proto/msg.h"
#include "sandbox/probe.h"

struct intake;
struct place;
struct quota;
struct reaper;
struct relay;
struct slots;

/* As the protocol and FORAY_LAYOUT call it: overlay, tmpfs, copy. */
const char *slot_layout(enum layout l);

struct slots_conf {
	struct loop *loop;
	void *zctx;
	const struct place *place;
	const char *scratch; /* our own scratch directory */
	const char *cache;   /* what workers share as ~/.cache; NULL: nothing */
	enum layout layout;
	const struct quota *quota;
	size_t max;
	int wires;     /* wire_server() */
	size_t spares; /* of them, pool.h; 0: none */
	bool remember; /* messages can be lost on the way up: a network */
	struct relay *up;
	struct intake
	    *intake; /* ASSIGNs whose snapshot is not here wait there */
	struct reaper *reaper;
	/* A slot became free. */
	void (*on_free)(void *ctx);
	void *ctx;
};

/* Everything that conf points to must outlive the slots. */
struct slots *slots_create(const struct slots_conf *conf);
/* Kills what is left and says so to the orchestrator. NULL is allowed. */
void slots_free(struct slots *all);

/* The connection was cut and is there again: what workers had asked, again. */
void slots_ask_again(struct slots *all);
/* Of the workers that the orchestrator knows of; added to ret. */
void slots_names(const struct slots *all, struct strv *ret);
/* Workers that the orchestrator knows of. */
size_t slots_busy(const struct slots *all);
/* No more will be assigned. */
void slots_drain(struct slots *all);
/* name has been checked by the transport, not by slots. */
void slots_assign(
    struct slots *all, const char *name, const struct msg_assign *a);
/* As slots_assign(); its snapshot has come. For intake.h, with the next. */
extern const struct intake_ops slots_intake_ops; /* ctx: struct slots ** */
/* WORKER_EXIT for an ASSIGN that is not even tried. */
void slots_refuse(
    struct slots *all, const char *name, const char *reason, const char *why);
/* A message of the orchestrator for a worker; dropped when it is not up. */
void slots_deliver(struct slots *all, const char *name, enum msg_type type,
    const void *raw, size_t len);
/* name NULL or "": all of them. */
void slots_cancel(struct slots *all, const char *name, const char *why);
/* Stop a worker with all it runs, or let it go on; its time limit waits
 * meanwhile. name as above. -ENOTSUP where nothing can be frozen. */
int slots_freeze(struct slots *all, const char *name, bool on);

#endif
