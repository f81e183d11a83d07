/*
 * supply.h - the run's snapshot, for hosts that lack it.
 *
 * A host asks (NEED), each NEED is answered by one SNAPSHOT of bytes that are
 * read from the store then; nothing is remembered of what a host has. Nothing
 * but the run's own snapshot can be asked for.
 *
 * What is under way to a host is bounded by tickets: each SNAPSHOT carries a
 * random number, and when SNAPSHOT_WINDOW of them have not come back in a NEED,
 * nothing more is sent. So a host that asks and does not read costs a megabyte,
 * and its other messages never wait behind more.
 */
#ifndef ORCHESTRATOR_RUN_SUPPLY_H
#define ORCHESTRATOR_RUN_SUPPLY_H

#include "common/err.h"
#include "orchestrator/run/hosts.h"

struct supply;

/* Holds the snapshot id of the store in cache against a sweep from now on.
 * ERR_NOTFOUND when it is not there. Reads nothing until somebody asks. */
int supply_create(
    const char *cache, const char *id, struct supply **ret, struct err *e);
void supply_free(struct supply *s); /* NULL is allowed */
void supply_answer(struct supply *s, struct host *h, const struct msg_need *m);
/* The host is gone. */
void supply_forget(struct supply *s, const struct host *h);

#endif
