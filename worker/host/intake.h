/*
 * intake.h - snapshots that this host lacks: an ASSIGN waits here until its
 * snapshot has come from the orchestrator.
 *
 * A child does the work (snapshot_import.h), since it blocks; what it asks for
 * goes up as NEED, what SNAPSHOT brings goes down to it. Questions that are not
 * answered are put again, so a lost connection costs a pause only. One snapshot
 * at a time; all ASSIGNs that want it share it. Before the first worker on a
 * snapshot of an earlier host's the child looks whether it is whole.
 *
 * Afterwards the store is swept (snapshot_cache.h) down to its limit.
 */
#ifndef WORKER_HOST_INTAKE_H
#define WORKER_HOST_INTAKE_H

#include "common/loop.h"
#include "proto/msg.h"

struct intake;
struct reaper;
struct relay;

struct intake_conf {
	struct loop *loop;
	struct relay *up;
	struct reaper *reaper;
	const char *store, *store_name; /* its name for a person */
	uint64_t cache_max; /* bytes that the store may have; 0: no limit */
	/* The orchestrator made the snapshots, in this store, and has looked
	 * whether they are whole. */
	bool shared;
};

struct intake_ops {
	/* It need not wait any more. */
	void (*ready)(const char *name, const struct msg_assign *a, void *ctx);
	void (*failed)(
	    const char *name, const char *reason, const char *why, void *ctx);
};

/* Strings of conf are borrowed. */
struct intake *intake_create(
    const struct intake_conf *conf, const struct intake_ops *ops, void *ctx);
/* Says nothing of what waits. NULL is allowed. */
void intake_free(struct intake *in);

/* 32 hex digits. */
bool intake_is_id(const char *s);
/* False: start it, its snapshot is there. True: it waits (a is copied), or
 * has failed at once. */
bool intake_take(
    struct intake *in, const char *name, const struct msg_assign *a);
size_t intake_waiting(const struct intake *in);
bool intake_has(const struct intake *in, const char *name);
/* failed() with this reason for those that wait, name NULL or "": all of them;
 * called from within. reason NULL: nobody is told. */
void intake_cancel(
    struct intake *in, const char *name, const char *reason, const char *why);
void intake_answer(struct intake *in, const struct msg_snapshot *m);
/* Every second, while the orchestrator can be expected to hear. */
void intake_tick(struct intake *in);

#endif
