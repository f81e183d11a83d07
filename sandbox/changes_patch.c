/* changes_patch.c - the patch of changes.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/changes.h"
#include "sandbox/copyfile.h"
#include "sandbox/gitrun.h"
#include "sandbox/walk.h"

#define BYTES_MAX (512ULL << 20) /* of all files, before and after */

/* One side of the diff: files from a tree into TMP/a or TMP/b. */
struct side {
	struct cursor from, to;
	int fromfd, tofd;
};

struct making {
	struct side old, new;
	struct copier copier;
	uint64_t bytes;
	struct err *e;
};

static int
side_open(struct side *s, const char *tree, const char *tmp, const char *name,
    struct err *e)
{
	char *dir = path_join(tmp, name);
	int r = 0;

	s->fromfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fromfd < 0)
		r = err_set(e, -errno, "%s: %s", tree, strerror(errno));
	else if (mkdir(dir, 0700) < 0 ||
	    (s->tofd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		r = err_set(e, -errno, "%s: %s", dir, strerror(errno));
	cursor_init(&s->from, s->fromfd);
	cursor_init(&s->to, s->tofd);
	s->to.make = true;
	free(dir);
	return r;
}

static void
side_close(struct side *s)
{
	cursor_clear(&s->from);
	cursor_clear(&s->to);
	fd_close(&s->fromfd);
	fd_close(&s->tofd);
}

static int
put_regular(
    struct making *m, int from, const char *name, int to, const char *to_name)
{
	struct stat st;
	int src, dst = -1, r;

	src = copy_open(from, name, &st);
	if (src < 0)
		return src;
	m->bytes += (uint64_t)st.st_size;
	if (m->bytes > BYTES_MAX)
		r = ERR_LIMIT;
	else if ((dst = openat(to, to_name,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      st.st_mode & 0100 ? 0700 : 0600)) < 0)
		r = -errno;
	else
		r = copy_data(&m->copier, src, &st, dst, NULL);
	/* Whatever the umask: git tells the mode by this bit. */
	if (r == 0 && fchmod(dst, st.st_mode & 0100 ? 0700 : 0600) < 0)
		r = -errno;
	fd_close(&src);
	fd_close(&dst);
	return r;
}

static int
put(struct making *m, struct side *s, const char *path)
{
	const char *name, *to_name;
	char target[4096];
	struct stat st;
	int from, to, r;
	ssize_t n;

	from = cursor_parent(&s->from, path, &name);
	to = from < 0 ? from : cursor_parent(&s->to, path, &to_name);
	if (to < 0)
		r = to;
	else if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	else if (S_ISREG(st.st_mode))
		r = put_regular(m, from, name, to, to_name);
	else if (!S_ISLNK(st.st_mode))
		r = -EINVAL;
	else if ((n = readlinkat(from, name, target, sizeof target - 1)) < 0)
		r = -errno;
	else {
		target[n] = '\0';
		r = symlinkat(target, to, to_name) < 0 ? -errno : 0;
	}
	if (r == ERR_LIMIT)
		return err_set(m->e, r,
		    "the changed files are larger than %llu MiB together",
		    BYTES_MAX >> 20);
	/* Unreadable, or gone since it was listed: not in the patch. */
	if (r == -EACCES || r == -ENOENT || r == -ELOOP || r == -EINVAL ||
	    r == -ENOTDIR)
		return 0;
	return r < 0 ? err_set(m->e, r, "%s: %s", path, strerror(-r)) : 0;
}

static int
put_all(struct making *m, const struct changes *c,
    bool (*want)(const char *path, enum change_kind kind, void *ctx), void *ctx)
{
	const struct change *ch;
	size_t i;
	int r = 0;

	for (i = 0; i < c->n && r == 0; i++) {
		ch = &c->v[i];
		if (want != NULL && !want(ch->path, ch->kind, ctx))
			continue;
		if (ch->kind != CHANGE_NEW)
			r = put(m, &m->old, ch->path);
		if (r == 0 && ch->kind != CHANGE_DELETED)
			r = put(m, &m->new, ch->path);
	}
	return r;
}

/*
 * "diff --git b/x b/x" of a new file (git names it twice after the side it is
 * on) becomes "a/x b/x". No other line of a diff starts so: content has a sign
 * in front, binary data hold no blank.
 */
static void
fix_line(char *s, size_t len)
{
	size_t half = len / 2, at;

	if (len % 2 == 0 || s[half] != ' ' ||
	    memcmp(s, s + half + 1, half) != 0)
		return;
	at = s[0] == '"';
	s[at] = 'a';
	s[half + 1 + at] = 'b';
}

static void
fix_names(struct buf *b)
{
	static const char start[] = "diff --git ";
	char *s = b->data, *end = b->data + b->len, *nl;
	size_t n = sizeof start - 1;

	for (; s != NULL && s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (nl == NULL)
			return;
		if ((size_t)(nl - s) > n && memcmp(s, start, n) == 0)
			fix_line(s + n, (size_t)(nl - s) - n);
	}
}

static int
run_diff(const char *tmp, struct buf *ret, struct err *e)
{
	struct gitrun g = { .cwd = tmp };
	struct buf out;
	int r;

	buf_init(&out, ret->max > ret->len ? ret->max - ret->len : 0);
	strv_addl(&g.args, "-c", "core.quotePath=true", "diff", "--no-index",
	    "--binary", "--no-color", "--no-ext-diff", "--no-textconv",
	    "--no-renames", "--no-prefix", "--no-relative", "--unified=3", "--",
	    "a", "b", (char *)NULL);
	g.out = &out;
	r = gitrun(&g, e);
	if (r == 0 || r == 1) { /* 1: they differ */
		fix_names(&out);
		r = buf_add(ret, buf_str(&out), out.len);
		if (r < 0)
			err_set(e, r, "the patch is too large");
	} else if (r > 1) {
		r = gitrun_failed(&g, r, e);
	}
	gitrun_clear(&g);
	buf_clear(&out);
	return r;
}

int
changes_patch(const struct changes *c, const char *base, const char *merged,
    const char *tmp,
    bool (*want)(const char *path, enum change_kind kind, void *ctx), void *ctx,
    struct buf *ret, struct err *e)
{
	struct making m = { .e = e };
	char *dir;
	int r;

	if (c->n == 0)
		return 0;
	r = path_mkdirs(tmp, 0700, e);
	if (r < 0)
		return r;
	dir = path_join(tmp, "patch-XXXXXX");
	if (mkdtemp(dir) == NULL) {
		r = err_set(e, -errno, "make %s: %s", dir, strerror(errno));
		free(dir);
		return r;
	}
	copier_init(&m.copier);
	m.old.fromfd = m.old.tofd = m.new.fromfd = m.new.tofd = -1;
	r = side_open(&m.old, base, dir, "a", e);
	if (r == 0)
		r = side_open(&m.new, merged, dir, "b", e);
	if (r == 0)
		r = put_all(&m, c, want, ctx);
	if (r == 0)
		r = run_diff(dir, ret, e);
	side_close(&m.old);
	side_close(&m.new);
	copier_clear(&m.copier);
	(void)path_rmtree(dir, NULL); /* tmp goes with its owner */
	free(dir);
	return r;
}
