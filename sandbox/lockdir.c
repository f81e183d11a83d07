/* lockdir.c - see lockdir.h. */
#include "common/compat.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/lockdir.h"

#define TRIES 8
#define NO_LOCK_S 60 /* a directory this old without a lock is left over */

/* Is the file of this name still the one that is open? */
static bool
is_same(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Make dir with its lock held; -EAGAIN when a sweeper took it for left over
 * in the moment before the lock. */
static int
make(const char *dir, int *ret_fd)
{
	char *lock = path_join(dir, "lock");
	int fd = -1, r = 0;

	if (mkdir(dir, 0700) < 0) {
		r = errno == EEXIST ? -EAGAIN : -errno;
		goto out;
	}
	fd = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		r = errno == ENOENT ? -EAGAIN : -errno;
		if (r != -EAGAIN)
			(void)rmdir(dir);
		goto out;
	}
	if (flock(fd, LOCK_EX) < 0)
		r = -errno;
	else if (!is_same(fd, lock))
		r = -EAGAIN;
out:
	if (r < 0)
		fd_close(&fd);
	*ret_fd = fd;
	free(lock);
	return r;
}

int
lockdir_create(const char *parent, const char *prefix, char **ret_dir,
    int *ret_fd, struct err *e)
{
	char rnd[13], *dir = NULL;
	int i, fd = -1, r = -EAGAIN;

	for (i = 0; i < TRIES && r == -EAGAIN; i++) {
		free(dir);
		hash_random_hex(rnd, 6);
		dir =
		    path_joinf(parent, "%s%ld-%s", prefix, (long)getpid(), rnd);
		r = make(dir, &fd);
	}
	if (r < 0) {
		err_set(e, r, "make directory %s: %s", dir, strerror(-r));
		free(dir);
		return r;
	}
	*ret_dir = dir;
	*ret_fd = fd;
	return 0;
}

static bool
is_left_over(const char *dir, const char *lock, int fd)
{
	struct stat st;

	if (fd >= 0)
		return flock(fd, LOCK_EX | LOCK_NB) == 0 && is_same(fd, lock);
	return errno == ENOENT && stat(dir, &st) == 0 &&
	    st.st_mtime + NO_LOCK_S < time(NULL);
}

/* "pid-random", as made above. */
static bool
is_ours(const char *rest)
{
	size_t n = strspn(rest, "0123456789");

	return n > 0 && rest[n] == '-' &&
	    strspn(rest + n + 1, "0123456789abcdef") == 12 &&
	    rest[n + 13] == '\0';
}

void
lockdir_sweep(const char *parent, const char *prefix)
{
	char *dir, *lock;
	struct dirent *d;
	int fd;
	DIR *p;

	p = opendir(parent);
	if (p == NULL)
		return;
	while ((d = readdir(p)) != NULL) {
		if (!text_starts(d->d_name, prefix) ||
		    !is_ours(d->d_name + strlen(prefix)))
			continue;
		dir = path_join(parent, d->d_name);
		lock = path_join(dir, "lock");
		fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (is_left_over(dir, lock, fd))
			(void)path_rmtree(dir, NULL); /* the next one tries */
		fd_close(&fd);
		free(lock);
		free(dir);
	}
	closedir(p);
}
