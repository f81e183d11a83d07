/*
 * disk.h - what the workspaces hold, looked at now and then.
 *
 * An ordinary user has no quotas, so a forked child adds up what lies in the
 * workspaces, and the host ends a worker that is over its limit. How often
 * follows from how long it takes: at most a fiftieth of a processor's time goes
 * into it, and a second is the least between two. What a worker can write
 * meanwhile is bounded by the limit of a file's size and by the reserve: when
 * the file system is nearly full, whoever holds most of it has to go.
 *
 * Whether the file system is full is looked at ten times a second: what a
 * worker says of tests that had no room to write is worth nothing.
 *
 * The child walks in a user namespace, where it may read what a command has
 * made unreadable, and follows no link.
 */
#ifndef WORKER_HOST_DISK_H
#define WORKER_HOST_DISK_H

#include "common/loop.h"

struct disk;

struct disk_ops {
	/* Call disk_add() for each workspace. */
	void (*list)(struct disk *d, void *ctx);
	/* Files and directories count as 4 KiB at least. deep: it has paths
	 * that are too long to be measured. */
	void (*found)(uint64_t id, uint64_t bytes, bool deep, void *ctx);
	/* After the last found() of a round: only so much is free. */
	void (*low)(uint64_t free_bytes, void *ctx);
};

/* dir: on the file system in question. ops and what ctx points to outlive it.
 */
struct disk *disk_create(
    struct loop *l, const char *dir, const struct disk_ops *ops, void *ctx);
void disk_free(struct disk *d);

/* There is something to watch; it stops by itself when list() adds nothing. */
void disk_poke(struct disk *d);
/* Was it full at any moment since then, as far as that was seen? */
bool disk_was_full(struct disk *d, uint64_t since_ms);
/* path: stays the caller's. Counting ends at max bytes. */
void disk_add(struct disk *d, uint64_t id, const char *path, uint64_t max);
/* path: of a file system that is the workspace's alone. It is found over max
 * when it is full. */
void disk_add_fs(struct disk *d, uint64_t id, const char *path, uint64_t max);

#endif
