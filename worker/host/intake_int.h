/* intake_int.h - what the intake*.c files share; for nobody else. */
#ifndef WORKER_HOST_INTAKE_INT_H
#define WORKER_HOST_INTAKE_INT_H

#include "worker/host/intake.h"

/* Between host and child, both ways: a length (native uint32_t), then a
 * message. Up: NEED; PROGRESS (KiB); at the end WORKER_EXIT with reason
 * "exited" when the snapshot is there, else "start" and why. Down: SNAPSHOT. */
#define INTAKE_FRAME_MAX (SNAPSHOT_CHUNK + (64u << 10))

/* In the child. The host hangs up when nobody wants it any more. */
void intake_child(
    int sock, const struct intake_conf *conf, const char *id) noreturn_fn;
/* In a process of its own: what is over the limit already goes. */
void intake_sweep(const char *store, uint64_t cache_max);

#endif
