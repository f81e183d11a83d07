/*
 * pool.h - a worker that waits: started before it is needed.
 *
 * A start takes tens of milliseconds, and a busy machine's many times that. So
 * after an ASSIGN the host keeps a spare that is like the last one (snapshot,
 * root, workdir, limits), up to READY. The next ASSIGN that it fits takes it:
 * it gets its name then, and what goes up for it is as if it had been started
 * now. A worker is never used twice.
 *
 * A spare is started when nothing else has happened for a moment, in a slot
 * that is free, and only while there is memory; it is no worker for the
 * orchestrator, which never hears of one that was not taken. It ends when
 * another is wanted instead, when its slot is needed, when memory is short,
 * when nobody took it for ten minutes, at DRAIN, and with the host.
 */
#ifndef WORKER_HOST_POOL_H
#define WORKER_HOST_POOL_H

#include "worker/host/slot_int.h"

struct pool;

/* max: spares at once; 0: none ever. */
struct pool *pool_create(struct slots *all, size_t max);
void pool_free(struct pool *p);

/* A spare that fits this ASSIGN, or NULL. It has no name yet, and is no spare
 * any more. limits: quota_worker()'s. */
struct slot *pool_take(struct pool *p, const struct msg_assign *a,
    const struct sandbox_limits *outer, const struct sandbox_limits *inner);
/* Spares to come are to be like this one. */
void pool_like(struct pool *p, const struct msg_assign *a,
    const struct sandbox_limits *outer, const struct sandbox_limits *inner);
/* A slot is needed: end a spare if there is one. */
void pool_make_room(struct pool *p);
/* Something has happened: see later whether a spare is wanted. */
void pool_poke(struct pool *p);
/* No spares any more, until pool_like(). */
void pool_end(struct pool *p, const char *why);

#endif
