/* changes.c - the list of changes.h. */
#include "common/compat.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/changes.h"
#include "sandbox/copyfile.h"
#include "sandbox/patch.h"
#include "sandbox/walk.h"

#define BLOCK 65536

struct listing {
	int basefd;
	struct cursor base, other; /* other: the upper layer, or the copy */
	bool trust_mtime;          /* same size and mtime: the same content */
	const char *below; /* of a walk that starts inside the tree, or NULL */
	struct changes c;
	size_t size, max;
	unsigned char *block[2];
};

static int
add(struct listing *l, enum change_kind kind, const char *path)
{
	struct change *ch;

	if (l->c.n == l->max)
		return ERR_LIMIT;
	if (l->c.n == l->size) {
		l->size = l->size * 2 + 64;
		l->c.v = xreallocarray(l->c.v, l->size, sizeof *l->c.v);
	}
	ch = &l->c.v[l->c.n++];
	ch->kind = kind;
	ch->path = xstrdup(path);
	return 0;
}

static bool
is_dotgit(const struct walk_ent *w)
{
	return patch_is_dotgit(w->name, strlen(w->name));
}

/* Its lstat(2), or st_mode 0 when there is nothing. */
static void
look(struct cursor *c, const char *path, struct stat *ret)
{
	const char *name;
	int at = cursor_parent(c, path, &name);

	if (at < 0 || fstatat(at, name, ret, AT_SYMLINK_NOFOLLOW) < 0)
		memset(ret, 0, sizeof *ret);
}

static bool
is_file(mode_t mode)
{
	return S_ISREG(mode) || S_ISLNK(mode);
}

/* --- the same?
 * ------------------------------------------------------------------ */

static bool
same_target(int at_a, const char *a, int at_b, const char *b)
{
	char x[4096], y[4096];
	ssize_t n, m;

	n = readlinkat(at_a, a, x, sizeof x);
	m = readlinkat(at_b, b, y, sizeof y);
	return n >= 0 && n == m && memcmp(x, y, (size_t)n) == 0;
}

static ssize_t
read_full(int fd, unsigned char *p)
{
	size_t have = 0;
	ssize_t n;

	while (have < BLOCK) {
		n = read(fd, p + have, BLOCK - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

static bool
same_content(
    struct listing *l, int at_a, const char *a, int at_b, const char *b)
{
	struct stat st;
	ssize_t n = -1, m = -1;
	int x, y;

	x = copy_open(at_a, a, &st);
	y = copy_open(at_b, b, &st);
	if (x >= 0 && y >= 0) {
		do {
			n = read_full(x, l->block[0]);
			m = read_full(y, l->block[1]);
		} while (n > 0 && n == m &&
		    memcmp(l->block[0], l->block[1], (size_t)n) == 0);
	}
	fd_close(&x);
	fd_close(&y);
	return n == 0 && m == 0;
}

/* Does git see a difference between the base's file and this one? */
static bool
is_same(struct listing *l, const struct stat *base, const struct walk_ent *w)
{
	const struct stat *st = w->st;
	const char *name;
	int at;

	if ((base->st_mode & S_IFMT) != (st->st_mode & S_IFMT) ||
	    base->st_size != st->st_size)
		return false;
	at = cursor_parent(&l->base, w->path, &name);
	if (at < 0)
		return false;
	if (S_ISLNK(st->st_mode))
		return same_target(at, name, w->dirfd, w->name);
	if ((base->st_mode & 0100) != (st->st_mode & 0100))
		return false;
	if (l->trust_mtime && base->st_mtim.tv_sec == st->st_mtim.tv_sec &&
	    base->st_mtim.tv_nsec == st->st_mtim.tv_nsec)
		return true;
	return same_content(l, at, name, w->dirfd, w->name);
}

/* --- deletions
 * ------------------------------------------------------------------ */

/* A file of the base: is it gone from where the walk of below began? */
static int
gone_entry(const struct walk_ent *w, void *ctx)
{
	struct listing *l = ctx;
	struct stat st;
	char *path;
	int r = 0;

	if (is_dotgit(w))
		return WALK_SKIP;
	if (!is_file(w->st->st_mode))
		return 0;
	path = l->below != NULL ? xasprintf("%s/%s", l->below, w->path)
				: xstrdup(w->path);
	look(&l->other, path, &st);
	if (!is_file(st.st_mode))
		r = add(l, CHANGE_DELETED, path);
	free(path);
	return r;
}

/* All of the base at or below path that other does not have. */
static int
add_gone(struct listing *l, const char *path)
{
	static const struct walk_ops ops = { gone_entry, NULL };
	const char *name;
	struct stat st;
	int at, fd, r;

	look(&l->base, path, &st);
	if (is_file(st.st_mode))
		return add(l, CHANGE_DELETED, path);
	if (!S_ISDIR(st.st_mode))
		return 0;
	at = cursor_parent(&l->base, path, &name);
	fd = at < 0
	    ? -1
	    : openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	l->below = path;
	r = walk_tree(fd, &ops, l);
	l->below = NULL;
	fd_close(&fd);
	return r;
}

/* --- the upper layer
 * -------------------------------------------------------------- */

static bool
is_opaque(const struct walk_ent *w)
{
	char value[2] = "";
	ssize_t n = -1;
	int fd;

	fd = openat(
	    w->dirfd, w->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		n = fgetxattr(fd, "user.overlay.opaque", value, sizeof value);
	fd_close(&fd);
	return n == 1 && value[0] == 'y';
}

static int
file_entry(struct listing *l, const struct walk_ent *w, const struct stat *base)
{
	int r = 0;

	if (S_ISDIR(base->st_mode))
		r = add_gone(l, w->path);
	if (r < 0)
		return r;
	if (!is_file(base->st_mode))
		return add(l, CHANGE_NEW, w->path);
	return is_same(l, base, w) ? 0 : add(l, CHANGE_MODIFIED, w->path);
}

static int
upper_entry(const struct walk_ent *w, void *ctx)
{
	struct listing *l = ctx;
	struct stat base;

	if (is_dotgit(w))
		return WALK_SKIP;
	look(&l->base, w->path, &base);
	if (is_file(w->st->st_mode))
		return file_entry(l, w, &base);
	if (!S_ISDIR(w->st->st_mode)) /* a whiteout; or a fifo in its place */
		return add_gone(l, w->path);
	if (is_file(base.st_mode))
		return add(l, CHANGE_DELETED, w->path);
	return S_ISDIR(base.st_mode) && is_opaque(w) ? add_gone(l, w->path) : 0;
}

/* --- a copy
 * ------------------------------------------------------------------------ */

static int
copy_entry(const struct walk_ent *w, void *ctx)
{
	struct listing *l = ctx;
	struct stat base;

	if (is_dotgit(w))
		return WALK_SKIP;
	if (!is_file(w->st->st_mode))
		return 0;
	look(&l->base, w->path, &base);
	if (!is_file(base.st_mode))
		return add(l, CHANGE_NEW, w->path);
	return is_same(l, &base, w) ? 0 : add(l, CHANGE_MODIFIED, w->path);
}

/* --- both
 * ---------------------------------------------------------------------------
 */

static int
change_cmp(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	return c != 0 ? c : (int)x->kind - (int)y->kind;
}

/* Sorted, one entry a path: an opaque directory in an opaque one tells twice.
 */
static void
finish(struct changes *c)
{
	size_t i, n = 0;

	if (c->n > 1)
		qsort(c->v, c->n, sizeof *c->v, change_cmp);
	for (i = 0; i < c->n; i++) {
		if (n > 0 && strcmp(c->v[n - 1].path, c->v[i].path) == 0)
			free(c->v[i].path);
		else
			c->v[n++] = c->v[i];
	}
	c->n = n;
}

static int
unreadable(
    const char *path unused_arg, int error unused_arg, void *ctx unused_arg)
{
	/* The worker's own doing: it can't be in a patch. */
	return 0;
}

static int
open_tree(const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd
		       : err_set(e, -errno, "%s: %s", path, strerror(errno));
}

int
changes_list(const char *base, const char *up, const char *merged, size_t max,
    struct changes *ret, struct err *e)
{
	static const struct walk_ops upper = { upper_entry, unreadable };
	static const struct walk_ops copy = { copy_entry, unreadable };
	static const struct walk_ops gone = { gone_entry, unreadable };
	struct listing l = { .max = max, .trust_mtime = up == NULL };
	int other, r;

	l.basefd = open_tree(base, e);
	if (l.basefd < 0)
		return l.basefd;
	other = open_tree(up != NULL ? up : merged, e);
	if (other < 0) {
		fd_close(&l.basefd);
		return other;
	}
	cursor_init(&l.base, l.basefd);
	cursor_init(&l.other, other);
	l.block[0] = xmalloc(BLOCK);
	l.block[1] = xmalloc(BLOCK);
	r = walk_tree(other, up != NULL ? &upper : &copy, &l);
	if (r == 0 && up == NULL)
		r = walk_tree(l.basefd, &gone, &l);
	if (r == ERR_LIMIT)
		err_set(e, r, "more than %zu files were changed", max);
	else if (r < 0)
		err_set(e, r, "read the changed tree: %s", strerror(-r));
	finish(&l.c);
	if (r == 0)
		*ret = l.c;
	else
		changes_clear(&l.c);
	cursor_clear(&l.base);
	cursor_clear(&l.other);
	fd_close(&l.basefd);
	fd_close(&other);
	free(l.block[0]);
	free(l.block[1]);
	return r;
}

void
changes_clear(struct changes *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->v[i].path);
	free(c->v);
	memset(c, 0, sizeof *c);
}
