/*
 * wire.h - the bytes of a worker, checked before libzmq sees them.
 *
 * libzmq bounds a frame but not a message: it collects parts for as long as
 * more are announced, and a hostile worker fills the host's memory with one
 * message that never ends. So a small process stands between the socket in the
 * sandbox and the host's: it copies both ways and follows the frames (zmtp.h).
 * Being a process of its own, it goes on when the host is busy, so that
 * heartbeats are not missed.
 *
 * It ends when the report's descriptor is closed. Nobody watches its pid.
 *
 * These processes come from another one that was forked before the host had
 * grown: a child of the host itself would keep the pages that the host changes
 * later, each worker's a copy of its own (2 MiB a worker at 1,000).
 */
#ifndef WORKER_HOST_WIRE_H
#define WORKER_HOST_WIRE_H

#include "common/err.h"

/* The process that the others come from; before any thread is made. Its socket,
 * close-on-exec and yours: it ends when that is closed. */
int wire_server(struct err *e);

/* server: from wire_server(), or -1: a child of the caller then, as when it is
 * gone. listen_fd: of the socket in the sandbox. backend: path of the host's
 * own socket, which may lead through /proc/self/fd/dir_fd. Both stay the
 * caller's. *ret_report becomes readable with a sentence when the worker has
 * broken the rules, and at its end. */
int wire_start(int server, int listen_fd, const char *backend, int dir_fd,
    int *ret_report, struct err *e);

#endif
