/*
 * link.h - messages of one host of another machine, over a unix socket.
 *
 * Between the process that speaks with the host (guest.h) and the orchestrator.
 * A frame is four bytes of length (big-endian, of what follows the fifth), one
 * byte of the worker's name's length, the name, the message. What is not read
 * stays in the kernel, so a slow reader holds up the writer, and no other link.
 */
#ifndef ORCHESTRATOR_DOOR_LINK_H
#define ORCHESTRATOR_DOOR_LINK_H

#include "common/err.h"
#include "common/loop.h"

#define LINK_QUEUE ((size_t)32 << 20) /* bytes that may wait to be written */

struct link;

struct link_ops {
	/* -EAGAIN: not now; it comes again after link_resume(). Other negative
	 * values end the link. It may not free it. */
	int (*on_frame)(struct link *l, const char *worker, const void *raw,
	    size_t len, void *ctx);
	/* Once: the other side is gone, or broke the rules. It may free it. */
	void (*on_end)(struct link *l, const char *why, void *ctx);
};

/* fd becomes the link's. */
struct link *link_create(
    struct loop *loop, int fd, const struct link_ops *ops, void *ctx);
/* What the kernel takes at once is still sent. NULL is allowed. */
void link_free(struct link *l);
/* 0; -EAGAIN when too much waits; -EPIPE after its end. */
int link_send(struct link *l, const char *worker, const void *raw, size_t len,
    struct err *e);
size_t link_queued(const struct link *l);
void link_resume(struct link *l);

#endif
