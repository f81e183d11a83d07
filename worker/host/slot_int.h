/* slot_int.h - what the slot_*.c files share; for nobody else. */
#ifndef WORKER_HOST_SLOT_INT_H
#define WORKER_HOST_SLOT_INT_H

#include <sys/queue.h>
#include <sys/tree.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/log.h"
#include "proto/ipc.h"
#include "proto/peer.h"
#include "sandbox/start.h"
#include "sandbox/workspace.h"
#include "worker/host/disk.h"
#include "worker/host/quota.h"
#include "worker/host/relay.h"
#include "worker/host/slot.h"

#define TOKEN_BYTES 32
#define TAIL_MAX 4096 /* of a worker's stderr */

enum slot_state {
	SLOT_STARTING,
	SLOT_UP,
	SLOT_ENDING
};

struct slot {
	TAILQ_ENTRY(slot) entry;
	RB_ENTRY(slot) node; /* by name; not of a spare */
	struct slots *all;
	enum slot_state state;
	uint64_t id;      /* its own among all that this host ever had */
	bool spare;       /* has no name and no task yet: pool.h */
	bool warm;        /* was one */
	uint64_t born_ms; /* of a spare; later: since when it has a task */
	unsigned char key[HASH_LEN]; /* of a spare: what it can be taken for */
	bool frozen;
	char name[PEER_WORKER_MAX + 1];
	char subtask[LOG_ID_MAX + 1]; /* for the log */
	uint64_t attempt;
	char token[2 * TOKEN_BYTES + 1];

	struct workspace ws;
	char *base;  /* the tree that it was made from */
	char *link;  /* directory of socket and worker.json */
	char *tmp;   /* backend container: the worker's /tmp; else NULL */
	int hold_fd; /* of its snapshot: snapshot_cache.h */
	int dir_fd;  /* of the workspace's directory: a short way to sockets */
	int listen_fd; /* the socket in the sandbox */
	struct ipc_file listener;
	int report_fd; /* wire.h; -1: at its end */
	struct loop_watch *report_watch;

	struct slot_net *net; /* slot_net.c; NULL: no network */

	struct peer *peer;     /* the worker's socket */
	struct peer_addr addr; /* the connection that showed the token */
	struct relay_share share;
	enum msg_type open; /* what it asked last, without an answer yet */
	struct buf asked;   /* its bytes; READY has none */
	uint64_t credit;    /* bytes that it may send now */
	uint64_t credit_ms; /* when that was right */
	bool warned;        /* of a second connection */

	struct sandbox_proc proc; /* pid 0: none */
	struct loop_watch *child;
	int wait_status;
	int err_fd; /* its stderr, -1 at the end */
	struct loop_watch *err_watch;
	struct buf tail;

	struct loop_watch *deadline; /* READY, the exit, or the end of output */
	struct loop_watch *wall;
	uint64_t wall_at;   /* when it is over */
	uint64_t wall_left; /* of it, while frozen */

	struct cgroup *group;         /* NULL: only rlimits */
	struct sandbox_limits limits; /* of all that it is */
	struct sandbox_limits inner_limits;
	uint64_t disk_bytes; /* as it was measured last */
	uint64_t disk_base;  /* what a copy began with */
	bool disk_seen;

	const char *reason; /* NULL: it ends by itself */
	char why[512];      /* a sentence; "" */
};

struct pool;

struct slots {
	struct slots_conf conf;
	TAILQ_HEAD(slot_list, slot) list;
	RB_HEAD(slot_tree, slot) by_name;
	size_t n;
	uint64_t seq; /* of the last id */
	struct pool *pool;
	struct disk *disk;
};

/* slot_start.c: could it be done at all? Needs no snapshot. */
int slot_check(const struct msg_assign *a, struct err *e);
/* slot_start.c: everything up to the running process and its socket. On
 * failure the parts that exist stay for slot_free(). */
int slot_make(struct slot *s, const struct msg_assign *a, struct err *e);

/* slot_net.c: the networks of its commands, on their way to the orchestrator's
 * proxy. Nothing without --network; the socket in the sandbox is link/n. */
int slot_net_start(struct slot *s, struct err *e);
void slot_net_free(struct slot *s);
/* slot_quota.c: its limits and its group, before anything is made. */
int slot_limit(struct slot *s, const struct msg_assign *a, struct err *e);
/* The size of a workspace in memory. */
uint64_t slot_tmpfs_bytes(const struct slot *s);
/* Was it, or what it ran, killed for want of memory? A reason and a sentence,
 * or NULL. */
const char *slot_memory_reason(const struct slot *s, char *why, size_t size);
extern const struct disk_ops slot_disk_ops; /* ctx: struct slots */

/* slot_msg.c: from the worker's socket. */
extern const struct peer_ops slot_peer_ops; /* ctx: struct slot */

/* slot_again.c: what it has asked, and that it was answered. */
void slot_remember(
    struct slot *s, enum msg_type type, const void *raw, size_t len);
void slot_answered(struct slot *s, enum msg_type type);

/* slot_exit.c */
void slot_send_exit(struct slots *all, const char *name, const char *reason,
    uint64_t status, const char *detail);
/* Once the process is reaped; closes proc.status_fd. */
void slot_report_exit(struct slot *s);

/* slot.c: lines that follow are about it; the ids before go to *old, for
 * log_ids_set(). */
void slot_ids(const struct slot *s, struct log_ids *old);
/* slot.c: start one; after a failure nothing is left of it. */
int slot_begin(struct slots *all, const char *name, const struct msg_assign *a,
    bool spare, struct slot **ret, struct err *e);
/* slot_msg.c: READY for the orchestrator. */
void slot_say_ready(struct slot *s);
/* slot.c: begin the end; the first reason stays. */
void slot_end(struct slot *s, const char *reason, const char *fmt, ...)
    printflike(3, 4);
/* The time limit from now on; 0: none. */
void slot_arm_wall(struct slot *s, uint64_t ms);
/* The worker is up: the limit for READY does not count any more. */
void slot_is_up(struct slot *s);

#endif
