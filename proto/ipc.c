/*
 * ipc.c - the listening unix socket of an ipc server.
 */
#include "common/compat.h"

#include "proto/ipc.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"

static int
ipc_addr(const char *path, struct sockaddr_un *ret, struct err *e)
{
	size_t len = strlen(path);

	/* '@' and '*' mean something else to libzmq. */
	if (path[0] != '/')
		return err_set(
		    e, -EINVAL, "ipc path '%s' is not absolute", path);
	if (len >= sizeof ret->sun_path)
		return err_set(e, -ENAMETOOLONG,
		    "ipc path has %zu bytes, a socket's may have %zu: %s", len,
		    sizeof ret->sun_path - 1, path);
	memset(ret, 0, sizeof *ret);
	ret->sun_family = AF_UNIX;
	memcpy(ret->sun_path, path, len);
	return 0;
}

int
ipc_check(const char *path, struct err *e)
{
	struct sockaddr_un sun;

	return ipc_addr(path, &sun, e);
}

/* Remove what a server that is no more has left. */
static int
ipc_remove_stale(const struct sockaddr_un *sun, struct err *e)
{
	const char *path = sun->sun_path;
	struct stat st;
	int fd, r;

	if (lstat(path, &st) < 0) {
		if (errno == ENOENT)
			return 0;
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	}
	if (!S_ISSOCK(st.st_mode))
		return err_set(
		    e, -EEXIST, "%s: exists and is not a socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(e, -errno, "socket: %s", strerror(errno));
	r = connect(fd, (const struct sockaddr *)sun, sizeof *sun);
	if (r < 0)
		r = -errno;
	fd_close(&fd);
	if (r == 0 || r == -EAGAIN)
		return err_set(
		    e, -EADDRINUSE, "%s: another process listens", path);
	if (r != -ECONNREFUSED && r != -ENOENT)
		return err_set(e, r, "connect %s: %s", path, strerror(-r));
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(
		    e, -errno, "unlink %s: %s", path, strerror(errno));
	return 0;
}

int
ipc_listen(const char *path, mode_t mode, struct ipc_file *ret, struct err *e)
{
	struct sockaddr_un sun;
	struct stat st;
	int fd = -1, r;

	r = ipc_addr(path, &sun, e);
	if (r == 0)
		r = ipc_remove_stale(&sun, e);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The file gets the mode of the descriptor less the umask: never more
	 * than was asked for, then exactly that. */
	if (fd < 0 || fchmod(fd, mode) < 0 ||
	    bind(fd, (const struct sockaddr *)&sun, sizeof sun) < 0) {
		r = err_set(e, -errno, "bind %s: %s", path, strerror(errno));
		fd_close(&fd);
		return r;
	}
	if (chmod(path, mode) < 0 || lstat(path, &st) < 0 ||
	    listen(fd, IPC_BACKLOG) < 0) {
		r = err_set(e, -errno, "listen on %s: %s", sun.sun_path,
		    strerror(errno));
		fd_close(&fd);
		(void)unlink(path); /* the first error is the one to tell */
		return r;
	}
	ret->path = xstrdup(path);
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return fd;
}

void
ipc_unlink(struct ipc_file *f)
{
	struct stat st;

	if (f->path == NULL)
		return;
	/* Another server may have come to the path meanwhile. */
	if (lstat(f->path, &st) == 0 && st.st_dev == f->dev &&
	    st.st_ino == f->ino)
		(void)unlink(f->path);
	free(f->path);
	f->path = NULL;
}
