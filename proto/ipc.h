/*
 * ipc.h - the listening unix socket of an ipc server, given to libzmq by
 * ZMQ_USE_FD.
 *
 * libzmq's own way unlinks whatever is at the path before it binds (a second
 * server takes the first one's place silently) and unlinks it again from its
 * I/O thread some time after zmq_close() (which hits the next server there).
 */
#ifndef PROTO_IPC_H
#define PROTO_IPC_H

#include "common/err.h"

#define IPC_BACKLOG 4096 /* thousands of clients come at once */

/* The socket file, as long as it is ours. A zeroed one is none. */
struct ipc_file {
	char *path;
	dev_t dev;
	ino_t ino;
};

/* Absolute, and not too long for a socket: 0, -EINVAL, -ENAMETOOLONG. */
int ipc_check(const char *path, struct err *e);
/* A listening descriptor; the file has this mode from its birth on. Stale
 * socket files are replaced, live ones are -EADDRINUSE. */
int ipc_listen(
    const char *path, mode_t mode, struct ipc_file *ret, struct err *e);
/* Removes the file if it is still this one. */
void ipc_unlink(struct ipc_file *f);

#endif
