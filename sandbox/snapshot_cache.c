/* snapshot_cache.c - see snapshot_cache.h. */
#include "common/compat.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/snapshot_cache.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/walk.h"

/* The directory of a snapshot, locked, and still the one of that name; or
 * -errno. */
static int
lock(const char *path, int how)
{
	struct stat a, b;
	int fd, r = 0;

	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((r = flock(fd, how) < 0 ? -errno : 0) == -EINTR)
		;
	/* It may have been swept before the lock was ours. */
	if (r == 0 &&
	    (fstat(fd, &a) < 0 || lstat(path, &b) < 0 || a.st_dev != b.st_dev ||
		a.st_ino != b.st_ino))
		r = -ENOENT;
	if (r < 0)
		fd_close(&fd);
	return r < 0 ? r : fd;
}

int
snap_hold(const char *store, const char *id, int *ret_fd, struct err *e)
{
	char *path = NULL;
	int fd = -ENOENT;

	if (snap_is_id(id)) {
		path = path_join(store, id);
		/* A sweep has the lock for as long as a rename takes. */
		fd = lock(path, LOCK_SH);
	}
	free(path);
	if (fd == -ENOENT)
		return err_set(e, ERR_NOTFOUND,
		    "the snapshot %.64s is not in %s", id, store);
	if (fd < 0)
		return err_set(
		    e, fd, "snapshot %s in %s: %s", id, store, strerror(-fd));
	*ret_fd = fd;
	return 0;
}

int
snapshot_hold(const char *store, const char *id, int *ret_fd, struct err *e)
{
	int r = snap_hold(store, id, ret_fd, e);

	/* When it was used last. It is only a hint: a store of another owner
	 * keeps the time of its making. */
	if (r == 0)
		(void)futimens(*ret_fd, NULL);
	return r;
}

/* --- how large, how old --------------------------------------------------- */

/* A file's share of what it takes: with all its names in the store the shares
 * come to the whole. In 1/1024 of a block of 512 bytes. */
static int
add_share(const struct walk_ent *w, void *ctx)
{
	uint64_t *sum = ctx;
	uint64_t links = w->st->st_nlink > 0 ? (uint64_t)w->st->st_nlink : 1;

	if (S_ISDIR(w->st->st_mode))
		links = 1;
	*sum += ((uint64_t)w->st->st_blocks << 10) / links;
	return 0;
}

static int
skip_unreadable(
    const char *path unused_arg, int error unused_arg, void *ctx unused_arg)
{
	return 0;
}

static const struct walk_ops share_ops = { add_share, skip_unreadable };

static uint64_t
size_of(const char *dir)
{
	uint64_t sum = 0;
	int fd;

	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* One that can't be read counts for nothing: nor can it be removed. */
	if (fd >= 0)
		(void)walk_tree(fd, &share_ops, &sum);
	fd_close(&fd);
	return (sum >> 10) * 512;
}

static uint64_t
size_all(const struct snap_store *st, const struct snap_ids *ids)
{
	uint64_t sum = 0;
	char *path;
	size_t i;

	for (i = 0; i < ids->n; i++) {
		path = path_join(st->dir, ids->v[i].id);
		sum += size_of(path);
		free(path);
	}
	return sum;
}

/* --- the sweep ------------------------------------------------------------ */

/* Nobody holds it: out of the way at once, then removed in peace. 1: somebody
 * does. */
static int
remove_one(struct snap_store *st, const char *id, struct err *e)
{
	char *path = path_join(st->dir, id), *away = NULL;
	int fd, r;

	fd = lock(path, LOCK_EX | LOCK_NB);
	if (fd == -EWOULDBLOCK || fd == -ENOENT || fd == -EACCES) {
		r = fd == -ENOENT ? 0 : 1;
		goto out;
	}
	if (fd < 0) {
		r = err_set(e, fd, "lock %s: %s", path, strerror(-fd));
		goto out;
	}
	r = snap_store_tmp(st, e);
	if (r < 0)
		goto out;
	away = path_joinf(st->tmp, "swept-%s", id);
	r = rename(path, away) < 0
	    ? err_set(e, -errno, "move %s: %s", path, strerror(errno))
	    : 0;
	fd_close(&fd);
	if (r == 0)
		r = path_rmtree(away, e);
out:
	if (fd >= 0)
		fd_close(&fd);
	free(path);
	free(away);
	return r;
}

int
snapshot_sweep(
    const char *store, uint64_t max, uint64_t *ret_bytes, struct err *e)
{
	struct snap_store st;
	struct snap_ids ids = { 0 };
	uint64_t bytes = 0;
	size_t i;
	int r;

	r = snap_store_open(&st, store, e);
	if (r < 0)
		goto out;
	snap_store_ids(&st, &ids);
	bytes = size_all(&st, &ids);
	/* Newest first; what goes takes along what is its own only. */
	for (i = ids.n; i > 0 && bytes > max && r >= 0; i--) {
		r = remove_one(&st, ids.v[i - 1].id, e);
		if (r == 0)
			bytes = size_all(&st, &ids);
	}
	if (r >= 0 && ret_bytes != NULL)
		*ret_bytes = bytes;
out:
	snap_ids_clear(&ids);
	snap_store_close(&st);
	return r < 0 ? r : 0;
}
