/* fdio.h - descriptors: all close-on-exec from birth. */
#ifndef COMMON_FDIO_H
#define COMMON_FDIO_H

#include "common/buf.h"
#include "common/err.h"

/* Close when open (>= 0) and set to -1. errno is kept. */
void fd_close(int *fd);
int fd_nonblock(int fd, bool on);
int fd_cloexec(int fd, bool on);
int fd_pipe(int ret_fds[2]); /* O_CLOEXEC */

/* Whole reads and writes over EINTR and short counts. */
int fd_write_all(int fd, const void *p, size_t len);
/* Everything until the end into b; -ENOBUFS when it passes b->max. */
int fd_read_all(int fd, struct buf *b);

/* A whole regular file; opened with O_NOFOLLOW at the last component when
 * nofollow is set, refused when it is not a regular file. */
int file_read(const char *path, bool nofollow, struct buf *b, struct err *e);
int file_read_at(
    int dirfd, const char *path, bool nofollow, struct buf *b, struct err *e);
/* Atomic: a temporary file in the same directory, fsync, rename. */
int file_write(
    const char *path, const void *p, size_t len, mode_t mode, struct err *e);

/* An anonymous file with these bytes, positioned at 0; for bwrap's --args and
 * --seccomp. Close-on-exec; the child clears it. Negative errno. */
int fd_memfile(const char *name, const void *p, size_t len);

/* The pid behind a pidfd, as the /proc open at procfd counts (-1: "/proc"); 0
 * when there is none to be had or it is reaped. */
pid_t fd_pid(int procfd, int pidfd);

#endif
