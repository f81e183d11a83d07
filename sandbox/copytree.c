/* copytree.c - copy_tree of copyfile.h. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/copyfile.h"
#include "sandbox/walk.h"

struct dir_stat {
	char *path;
	struct stat st;
};

struct copytree {
	uid_t uid;
	const char *link_below;
	struct copier copier;
	struct cursor dst;
	struct dir_stat *dirs; /* get their mode and mtime at the end */
	size_t n, size;
	bool told; /* e is filled */
	struct err *e;
};

static int
failed(struct copytree *t, const char *path, int r)
{
	t->told = true;
	return err_set(t->e, r, "copy %s: %s", path, strerror(-r));
}

static int
copy_link(const struct walk_ent *w, int at)
{
	char target[4096];
	ssize_t n;

	n = readlinkat(w->dirfd, w->name, target, sizeof target - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	return symlinkat(target, at, w->name) < 0 ? -errno : 0;
}

static int
copy_regular(struct copytree *t, const struct walk_ent *w, int at)
{
	struct stat st;
	int src, dst, r;

	src = copy_open(w->dirfd, w->name, &st);
	if (src < 0)
		return src;
	dst = openat(at, w->name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = dst < 0 ? -errno : copy_data(&t->copier, src, &st, dst, NULL);
	fd_close(&src);
	fd_close(&dst);
	return r;
}

static bool
is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

static int
copy_entry(const struct walk_ent *w, void *ctx)
{
	struct copytree *t = ctx;
	struct dir_stat *d;
	const char *name;
	int at, r;

	at = cursor_parent(&t->dst, w->path, &name);
	if (at < 0)
		return failed(t, w->path, at);
	switch (w->st->st_mode & S_IFMT) {
	case S_IFDIR:
		if (mkdirat(at, name, 0700) < 0)
			return failed(t, w->path, -errno);
		if (t->n == t->size) {
			t->size = t->size * 2 + 64;
			t->dirs =
			    xreallocarray(t->dirs, t->size, sizeof *t->dirs);
		}
		d = &t->dirs[t->n++];
		d->path = xstrdup(w->path);
		d->st = *w->st;
		return 0;
	case S_IFLNK:
		r = copy_link(w, at);
		break;
	case S_IFREG:
		if (t->link_below && is_below(w->path, t->link_below) &&
		    linkat(w->dirfd, w->name, at, name, 0) == 0)
			return 0;
		r = copy_regular(t, w, at);
		break;
	default:
		return 0;
	}
	if (r == 0)
		r = copy_finish(at, name, t->uid, w->st);
	return r < 0 ? failed(t, w->path, r) : 0;
}

static int
copy_error(const char *path, int error, void *ctx)
{
	return failed(ctx, path, -error);
}

static int
finish_dirs(struct copytree *t)
{
	struct dir_stat *d;
	const char *name;
	int at, r;

	while (t->n > 0) {
		d = &t->dirs[t->n - 1];
		at = cursor_parent(&t->dst, d->path, &name);
		r = at < 0 ? at : copy_finish(at, name, t->uid, &d->st);
		if (r < 0)
			return failed(t, d->path, r);
		free(d->path);
		t->n--;
	}
	return 0;
}

int
copy_tree(int src, int dst, uid_t uid, const char *link_below, struct err *e)
{
	static const struct walk_ops ops = { copy_entry, copy_error };
	struct copytree t = { .uid = uid, .link_below = link_below, .e = e };
	int r;

	copier_init(&t.copier);
	cursor_init(&t.dst, dst);
	r = walk_tree(src, &ops, &t);
	if (r == 0)
		r = finish_dirs(&t);
	else if (!t.told)
		failed(&t, "the tree", r);
	while (t.n > 0)
		free(t.dirs[--t.n].path);
	free(t.dirs);
	cursor_clear(&t.dst);
	copier_clear(&t.copier);
	return r;
}
