/*
 * Remove a tree that its inhabitants may have built to hurt us.
 *
 * A stack holds one frame a level, down from the top of the tree. Only the
 * KEEP deepest frames have their directory open; a shallower one is opened
 * again by ".." on the way up and must be the very directory (device and inode)
 * that we came down through. It is then read from its start: what was removed
 * is gone, so this costs nothing but for what could not be removed; hence the
 * rule that a frame whose child failed is given up when its place was lost.
 *
 * Symbolic links are never followed: every step is one component, opened with
 * O_NOFOLLOW. Mount points are refused by statx(2), bind mounts of the same
 * device included.
 */
#include "common/compat.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"

#define KEEP 32          /* open directories at most */
#define RETRIES_MAX 1000 /* for a directory that others fill as we empty it */

struct frame {
	char *name; /* in the directory above */
	dev_t dev;
	ino_t ino;
	DIR *dir;    /* NULL: closed, to be opened again by ".." */
	bool failed; /* something below stays */
};

struct rmtree {
	struct frame *frames;
	size_t n;
	size_t size;
	int parent;       /* the directory that holds the top */
	unsigned retries; /* left */
	int first_error;
	char first_name[256];
};

static void
failed(struct rmtree *t, int code, const char *name)
{
	if (t->n > 0)
		t->frames[t->n - 1].failed = true;
	if (t->first_error != 0)
		return;
	t->first_error = code;
	snprintf(t->first_name, sizeof t->first_name, "%s", name);
}

static int
parent_fd(const struct rmtree *t)
{
	return t->n > 0 ? dirfd(t->frames[t->n - 1].dir) : t->parent;
}

/* Who fd is; -EXDEV when another file system is mounted there. */
static int
identify(const struct rmtree *t, int fd, struct frame *f, mode_t *ret_mode)
{
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MODE | STATX_INO,
		&sx) < 0)
		return -errno;
	if (sx.stx_attributes & sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return -EXDEV;
	f->dev = makedev(sx.stx_dev_major, sx.stx_dev_minor);
	f->ino = sx.stx_ino;
	if (t->n > 0 && f->dev != t->frames[t->n - 1].dev)
		return -EXDEV;
	*ret_mode = sx.stx_mode;
	return 0;
}

/*
 * Open the directory at/name. One that can't be read is first made ours to
 * read, through a descriptor: fchmodat() would follow a symbolic link put
 * there in between.
 */
static int
open_dir(struct rmtree *t, const char *name, struct frame *f)
{
	const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int at = parent_fd(t), fd, path_fd, r;
	char proc[64];
	mode_t mode = 0;

	fd = openat(at, name, O_RDONLY | flags);
	if (fd < 0 && errno == EACCES) {
		path_fd = openat(at, name, O_PATH | flags);
		if (path_fd < 0)
			return -errno;
		r = identify(t, path_fd, f, &mode);
		if (r == 0) {
			snprintf(
			    proc, sizeof proc, "/proc/self/fd/%d", path_fd);
			r = chmod(proc, 0700) < 0 ? -EACCES : 0;
		}
		if (r == 0) {
			fd = openat(path_fd, ".", O_RDONLY | flags);
			r = fd < 0 ? -errno : 0;
		}
		fd_close(&path_fd);
		if (r < 0)
			return r;
	}
	if (fd < 0)
		return -errno;
	if ((r = identify(t, fd, f, &mode)) < 0)
		goto fail;
	if ((mode & 0700) != 0700)
		(void)fchmod(fd, 0700); /* else the removals tell why */
	f->dir = fdopendir(fd);
	if (f->dir == NULL) {
		r = -errno;
		goto fail;
	}
	return 0;
fail:
	fd_close(&fd);
	return r;
}

/* Go into at/name. */
static int
push(struct rmtree *t, const char *name)
{
	struct frame f = { 0 }, *old;
	int r;

	if ((r = open_dir(t, name, &f)) < 0)
		return r;
	if (t->n == t->size) {
		t->size = t->size > 0 ? t->size * 2 : 64;
		t->frames =
		    xreallocarray(t->frames, t->size, sizeof *t->frames);
	}
	f.name = xstrdup(name);
	t->frames[t->n++] = f;
	if (t->n > KEEP) {
		old = &t->frames[t->n - 1 - KEEP];
		if (old->dir != NULL)
			closedir(old->dir);
		old->dir = NULL;
	}
	return 0;
}

/* Open the frame above the last again, from the last one. */
static int
reopen_parent(struct rmtree *t)
{
	struct frame *f = &t->frames[t->n - 2];
	int fd, r = 0;
	struct stat st;

	fd = openat(parent_fd(t), "..",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (st.st_dev != f->dev || st.st_ino != f->ino)
		r = -ESTALE; /* somebody moved it */
	else if ((f->dir = fdopendir(fd)) == NULL)
		r = -errno;
	if (r < 0)
		fd_close(&fd);
	return r;
}

static void
drop(struct rmtree *t)
{
	struct frame *f = &t->frames[--t->n];

	if (f->dir != NULL)
		closedir(f->dir);
	free(f->name);
}

/* A name that is a directory, or was one a moment ago. */
static void
remove_dir(struct rmtree *t, const char *name)
{
	int at = parent_fd(t), r;

	r = push(t, name);
	if (r == 0 || r == -ENOENT)
		return;
	/* An empty one goes without being read; and it may be a file now. */
	if (r != -EXDEV &&
	    (unlinkat(at, name, AT_REMOVEDIR) == 0 ||
		unlinkat(at, name, 0) == 0 || errno == ENOENT))
		return;
	failed(t, r, name);
}

static void
remove_entry(struct rmtree *t, const char *name, unsigned char type)
{
	int saved;

	if (type == DT_DIR) {
		remove_dir(t, name);
		return;
	}
	if (unlinkat(parent_fd(t), name, 0) == 0 || errno == ENOENT)
		return;
	saved = errno;
	/* Linux says EISDIR, POSIX EPERM. */
	if (saved == EISDIR || (saved == EPERM && type == DT_UNKNOWN))
		remove_dir(t, name);
	else
		failed(t, -saved, name);
}

/* The last frame is read to its end: remove its directory. */
static int
leave(struct rmtree *t)
{
	struct frame *f = &t->frames[t->n - 1];
	bool lost = t->n > 1 && t->frames[t->n - 2].dir == NULL;
	bool child_failed = f->failed, again = false;
	int at, r;

	if (lost && (r = reopen_parent(t)) < 0)
		return r;
	assert(t->n < 2 || t->frames[t->n - 2].dir != NULL);
	at = t->n > 1 ? dirfd(t->frames[t->n - 2].dir) : t->parent;
	if (!child_failed && unlinkat(at, f->name, AT_REMOVEDIR) < 0 &&
	    errno != ENOENT) {
		r = -errno;
		/* Filled or replaced by others meanwhile: once more. */
		again = (r == -ENOTEMPTY || r == -EEXIST || r == -ENOTDIR) &&
		    t->retries > 0;
		if (!again) {
			child_failed = true;
			failed(t, r, f->name);
		}
	}
	if (again) {
		char *name = f->name;

		f->name = NULL;
		t->retries--;
		drop(t);
		remove_entry(t, name, DT_UNKNOWN);
		free(name);
		return 0;
	}
	drop(t);
	if (child_failed && t->n > 0) {
		f = &t->frames[t->n - 1];
		f->failed = true;
		/* To its end, or it would meet the same child again. */
		while (lost && readdir(f->dir) != NULL)
			;
	}
	return 0;
}

static int
walk(struct rmtree *t)
{
	struct dirent *d;
	int r;

	while (t->n > 0) {
		errno = 0;
		d = readdir(t->frames[t->n - 1].dir);
		if (d == NULL) {
			if (errno != 0)
				failed(t, -errno, t->frames[t->n - 1].name);
			if ((r = leave(t)) < 0)
				return r;
			continue;
		}
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			remove_entry(t, d->d_name, d->d_type);
	}
	return 0;
}

static int
remove_top(struct rmtree *t, const char *base, const char *path, struct err *e)
{
	int r;

	do {
		while (t->n > 0)
			drop(t);
		t->first_error = 0;
		remove_entry(t, base, DT_UNKNOWN);
		r = walk(t);
		/* Moved or removed under us: what is there starts anew. */
	} while ((r == -ESTALE || r == -ENOENT) && t->retries-- > 0);
	if (r < 0)
		return err_set(e, r, "remove %s: %s", path, strerror(-r));
	if (t->first_error != 0)
		return err_set(e, t->first_error, "remove %s: %s: %s", path,
		    t->first_name, strerror(-t->first_error));
	return 0;
}

int
path_rmtree(const char *path, struct err *e)
{
	struct rmtree t = { .parent = -1, .retries = RETRIES_MAX };
	char *whole = xstrdup(path), *dir = NULL;
	size_t len = strlen(whole);
	const char *base;
	int r;

	while (len > 1 && whole[len - 1] == '/')
		whole[--len] = '\0';
	base = path_base(whole);
	if (base[0] == '\0' || strcmp(base, ".") == 0 ||
	    strcmp(base, "..") == 0) {
		r = err_set(e, -EINVAL, "remove \"%s\": refused", path);
		goto out;
	}
	dir = path_dir(whole);
	t.parent = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (t.parent < 0) {
		r = errno == ENOENT
		    ? 0
		    : err_set(e, -errno, "open %s: %s", dir, strerror(errno));
		goto out;
	}
	r = remove_top(&t, base, path, e);
out:
	while (t.n > 0)
		drop(&t);
	free(t.frames);
	fd_close(&t.parent);
	free(dir);
	free(whole);
	return r;
}
