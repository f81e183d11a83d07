/* walk.c - see walk.h. */
#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/walk.h"

void
cursor_init(struct cursor *c, int rootfd)
{
	memset(c, 0, sizeof *c);
	c->root = rootfd;
	c->tip = -1;
}

void
cursor_clear(struct cursor *c)
{
	while (c->n > 0)
		fd_close(&c->lv[--c->n].fd);
	fd_close(&c->tip);
	free(c->path);
	c->path = NULL;
	c->len = c->size = 0;
}

/* Length of the longest common leading directory. */
static size_t
common_dir(const struct cursor *c, const char *dir, size_t len)
{
	size_t i, end = 0;

	for (i = 0; i < c->len && i < len && c->path[i] == dir[i]; i++) {
		if (dir[i] == '/')
			end = i;
	}
	if (i == c->len && (i == len || dir[i] == '/'))
		return i;
	if (i == len && c->path[i] == '/')
		return i;
	return end;
}

static int
cursor_fd(const struct cursor *c)
{
	if (c->tip >= 0)
		return c->tip;
	return c->n > 0 ? c->lv[c->n - 1].fd : c->root;
}

static int
open_dir(int at, const char *name, bool make)
{
	int fd, flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

	fd = openat(at, name, flags);
	if (fd < 0 && errno == ENOENT && make) {
		if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
			return -errno;
		fd = openat(at, name, flags);
	}
	return fd < 0 ? -errno : fd;
}

int
cursor_dir(struct cursor *c, const char *dir, size_t len)
{
	char name[256];
	size_t keep, end, start;
	int fd;

	keep = common_dir(c, dir, len);
	if (keep < c->len) {
		fd_close(&c->tip);
		while (c->n > 0 && c->lv[c->n - 1].end > keep)
			fd_close(&c->lv[--c->n].fd);
		c->len = c->n > 0 ? c->lv[c->n - 1].end : 0;
	}
	if (c->size < len + 1) {
		c->size = len + 256;
		c->path = xreallocarray(c->path, c->size, 1);
	}
	while (c->len < len) {
		start = c->len > 0 ? c->len + 1 : 0;
		for (end = start; end < len && dir[end] != '/'; end++)
			;
		if (end - start >= sizeof name || end == start)
			return -ENAMETOOLONG;
		memcpy(name, dir + start, end - start);
		name[end - start] = '\0';
		fd = open_dir(cursor_fd(c), name, c->make);
		if (fd < 0)
			return fd;
		if (c->tip < 0 && c->n < CURSOR_KEEP) {
			c->lv[c->n].fd = fd;
			c->lv[c->n++].end = end;
		} else {
			fd_close(&c->tip);
			c->tip = fd;
		}
		memcpy(c->path, dir, end);
		c->len = end;
	}
	return cursor_fd(c);
}

int
cursor_parent(struct cursor *c, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');

	*ret_name = slash ? slash + 1 : path;
	return cursor_dir(c, path, slash ? (size_t)(slash - path) : 0);
}

/* --- the walk --------------------------------------------------------------
 */

struct frame {
	char *blob; /* names, each with its NUL */
	char **name;
	size_t n, i;
	size_t path_len; /* of the directory's path */
};

struct walk {
	const struct walk_ops *ops;
	void *ctx;
	struct cursor cur;
	struct frame *frame;
	size_t n, size;
	char path[WALK_PATH_MAX + 1];
};

static int
name_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names of a directory, sorted. Takes dir. */
static int
read_names(DIR *dir, struct frame *f)
{
	struct dirent *d;
	size_t len = 0, size = 0, l, i;

	for (;;) {
		errno = 0;
		d = readdir(dir);
		if (!d)
			break;
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		l = strlen(d->d_name) + 1;
		if (len + l > size) {
			size = size * 2 + 4096;
			f->blob = xreallocarray(f->blob, size, 1);
		}
		memcpy(f->blob + len, d->d_name, l);
		len += l;
		f->n++;
	}
	i = (size_t)errno;
	closedir(dir);
	if (i != 0)
		return -(int)i;
	f->name = xcalloc(f->n + 1, sizeof *f->name);
	for (i = 0, l = 0; i < f->n; i++) {
		f->name[i] = f->blob + l;
		l += strlen(f->blob + l) + 1;
	}
	if (f->n > 1)
		qsort(f->name, f->n, sizeof *f->name, name_cmp);
	return 0;
}

static void
frame_clear(struct frame *f)
{
	free(f->blob);
	free(f->name);
	memset(f, 0, sizeof *f);
}

static int
report(struct walk *w, int error)
{
	if (w->path[0] == '\0')
		return -error;
	if (error == ENOENT || !w->ops->error)
		return 0;
	return w->ops->error(w->path, error, w->ctx);
}

/* Enter the directory that w->path names. */
static int
push(struct walk *w, size_t path_len)
{
	struct frame f = { 0 };
	DIR *dir;
	int at, fd, r;

	f.path_len = path_len;
	at = cursor_dir(&w->cur, w->path, path_len);
	if (at < 0)
		return report(w, -at);
	fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return report(w, errno);
	dir = fdopendir(fd);
	if (!dir) {
		r = errno;
		close(fd);
		return report(w, r);
	}
	r = read_names(dir, &f);
	if (r < 0) {
		frame_clear(&f);
		return report(w, -r);
	}
	if (w->n == w->size) {
		w->size = w->size * 2 + 16;
		w->frame = xreallocarray(w->frame, w->size, sizeof *w->frame);
	}
	w->frame[w->n++] = f;
	return 0;
}

/* One name of the topmost frame. */
static int
step(struct walk *w)
{
	struct frame *f = &w->frame[w->n - 1];
	const char *name = f->name[f->i++];
	size_t at = f->path_len, len = strlen(name);
	struct walk_ent ent;
	struct stat st;
	int r;

	w->path[at] = '\0';
	if (at + 1 + len > WALK_PATH_MAX)
		return report(w, ENAMETOOLONG);
	if (at > 0)
		w->path[at++] = '/';
	memcpy(w->path + at, name, len + 1);
	ent.dirfd = cursor_dir(&w->cur, w->path, f->path_len);
	if (ent.dirfd < 0)
		return report(w, -ent.dirfd);
	if (fstatat(ent.dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return report(w, errno);
	ent.path = w->path;
	ent.name = w->path + at;
	ent.st = &st;
	r = w->ops->entry(&ent, w->ctx);
	if (r != 0 || !S_ISDIR(st.st_mode))
		return r < 0 ? r : 0;
	return push(w, at + len);
}

int
walk_tree(int rootfd, const struct walk_ops *ops, void *ctx)
{
	struct walk *w = xcalloc(1, sizeof *w);
	int r;

	w->ops = ops;
	w->ctx = ctx;
	cursor_init(&w->cur, rootfd);
	r = push(w, 0);
	while (r == 0 && w->n > 0) {
		if (w->frame[w->n - 1].i < w->frame[w->n - 1].n)
			r = step(w);
		else
			frame_clear(&w->frame[--w->n]);
	}
	while (w->n > 0)
		frame_clear(&w->frame[--w->n]);
	free(w->frame);
	cursor_clear(&w->cur);
	free(w);
	return r;
}

int
walk_cmp(const char *a, const char *b)
{
	unsigned char x, y;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* A slash sorts before every other byte, the end before that. */
	x = *a == '/' ? 1 : (unsigned char)*a;
	y = *b == '/' ? 1 : (unsigned char)*b;
	if (x == y) /* a real \001 against a slash */
		return *a == '/' ? -1 : *b == '/' ? 1 : 0;
	return x < y ? -1 : 1;
}
