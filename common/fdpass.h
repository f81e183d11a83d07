/*
 * fdpass.h - descriptors over a unix socket (SCM_RIGHTS), with some bytes.
 *
 * One fd_pass() is one fd_take() on a SOCK_SEQPACKET socket; on a stream too,
 * as long as nothing else is sent before it was taken.
 */
#ifndef COMMON_FDPASS_H
#define COMMON_FDPASS_H

#include "common/compat.h"

#define FDPASS_MAX 4

/* len: 1 or more. The descriptors stay the caller's. 0 or -errno; a socket
 * without a reader is -EPIPE, never a signal. Async-signal-safe. */
int fd_pass(int sock, const void *p, size_t len, const int *fds, size_t n);

/* Bytes received (0: the end), or -errno. *ret_n (max at most) descriptors are
 * yours and close-on-exec; more of them than max, or more bytes than size in a
 * packet, are refused as a whole: -EMSGSIZE. */
ssize_t fd_take(
    int sock, void *p, size_t size, int *ret_fds, size_t max, size_t *ret_n);

#endif
