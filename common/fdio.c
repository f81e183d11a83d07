#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/path.h"

#define READ_SIZE ((size_t)64 * 1024)

void
fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd); /* nothing to be done about a failure */
	*fd = -1;
	errno = saved;
}

int
fd_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int
fd_cloexec(int fd, bool on)
{
	return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0) < 0 ? -errno : 0;
}

int
fd_pipe(int ret_fds[2])
{
	return pipe2(ret_fds, O_CLOEXEC) < 0 ? -errno : 0;
}

/* After EAGAIN of a non-blocking descriptor. */
static void
wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	(void)poll(&p, 1, -1); /* the call that follows finds out */
}

int
fd_write_all(int fd, const void *p, size_t len)
{
	const char *s = p;
	ssize_t n;

	while (len > 0) {
		n = write(fd, s, len);
		if (n < 0) {
			if (errno == EAGAIN)
				wait_for(fd, POLLOUT);
			else if (errno != EINTR)
				return -errno;
			continue;
		}
		s += n;
		len -= (size_t)n;
	}
	return 0;
}

int
fd_read_all(int fd, struct buf *b)
{
	char extra, *at;
	size_t room;
	ssize_t n;

	for (;;) {
		room = b->max > b->len ? b->max - b->len : 0;
		if (room > READ_SIZE)
			room = READ_SIZE;
		if (room > 0) {
			(void)buf_reserve(b, room); /* it is below max */
			at = b->data + b->len;
		} else {
			at = &extra; /* is there more than max? */
		}
		n = read(fd, at, room > 0 ? room : 1);
		if (n < 0) {
			if (errno == EAGAIN)
				wait_for(fd, POLLIN);
			else if (errno != EINTR)
				return -errno;
			continue;
		}
		if (n == 0)
			return 0;
		if (room == 0)
			return -ENOBUFS;
		buf_fill(b, (size_t)n);
	}
}

int
file_read_at(
    int dirfd, const char *path, bool nofollow, struct buf *b, struct err *e)
{
	size_t start = b->len;
	struct stat st;
	int fd, r;

	/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
	fd = openat(dirfd, path,
	    O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
		(nofollow ? O_NOFOLLOW : 0));
	if (fd < 0) {
		if (errno == ELOOP && nofollow)
			return err_set(
			    e, -ELOOP, "%s is a symbolic link", path);
		return err_set(e, -errno, "open %s: %s", path, strerror(errno));
	}
	if (fstat(fd, &st) < 0) {
		r = err_set(e, -errno, "stat %s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		r = err_set(e, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
		    "%s is not a regular file", path);
		goto out;
	}
	r = fd_read_all(fd, b);
	if (r == -ENOBUFS)
		r = err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", path,
		    b->max - start);
	else if (r < 0)
		r = err_set(e, r, "read %s: %s", path, strerror(-r));
	if (r < 0 && b->data != NULL) {
		b->len = start;
		b->data[start] = '\0';
	}
out:
	fd_close(&fd);
	return r;
}

int
file_read(const char *path, bool nofollow, struct buf *b, struct err *e)
{
	return file_read_at(AT_FDCWD, path, nofollow, b, e);
}

/* So that the new name itself is on disk. Some file systems can't. */
static void
sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		(void)fsync(fd);
	fd_close(&fd);
}

int
file_write(
    const char *path, const void *p, size_t len, mode_t mode, struct err *e)
{
	char *dir = path_dir(path);
	char *tmp = path_join(dir, ".foray-XXXXXX");
	bool made = false;
	int fd, r;

	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0) {
		r = err_set(
		    e, -errno, "create a file in %s: %s", dir, strerror(errno));
		goto out;
	}
	made = true;
	r = fd_write_all(fd, p, len);
	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		r = -errno;
	if (r < 0) {
		r = err_set(e, r, "write %s: %s", path, strerror(-r));
		goto out;
	}
	if (rename(tmp, path) < 0) {
		r = err_set(
		    e, -errno, "rename to %s: %s", path, strerror(errno));
		goto out;
	}
	made = false;
	sync_dir(dir);
out:
	if (made)
		(void)unlink(tmp);
	fd_close(&fd);
	free(tmp);
	free(dir);
	return r;
}

int
fd_memfile(const char *name, const void *p, size_t len)
{
	int fd, r;

	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, p, len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0) {
		fd_close(&fd);
		return r;
	}
	return fd;
}

pid_t
fd_pid(int procfd, int pidfd)
{
	char path[64], text[1024];
	const char *at;
	ssize_t n;
	long pid;
	int fd;

	if (pidfd < 0)
		return 0;
	(void)snprintf(path, sizeof path, "%sself/fdinfo/%d",
	    procfd < 0 ? "/proc/" : "", pidfd);
	fd = openat(procfd < 0 ? AT_FDCWD : procfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	fd_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "Pid:\t");
	pid = at != NULL ? strtol(at + 5, NULL, 10) : 0;
	return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}
