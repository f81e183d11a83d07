/* treefs.c - see treefs.h. */
#include "common/compat.h"

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/treefs.h"

#define REFUSED_MAX 16

static int
open_beneath(int dirfd, const char *rel, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	do
		fd = syscall(SYS_openat2, dirfd, *rel != '\0' ? rel : ".", &how,
		    sizeof how);
	while (fd < 0 && errno == EAGAIN);
	return fd < 0 ? -errno : (int)fd;
}

/* The path of a descriptor as the kernel names it; yours, NULL: unknown. */
static char *
fd_path(int fd)
{
	char link[64], *dst;
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	dst = xmalloc(16384);
	n = readlink(link, dst, 16383);
	if (n < 0) {
		free(dst);
		return NULL;
	}
	dst[n] = '\0';
	return dst;
}

int
treefs_open(struct treefs *fs, const char *root, const char *workdir,
    const char *tmp, const char *tmp_name, struct err *e)
{
	const char *rel;
	char *clean, *clean_wd;

	*fs = (struct treefs){ .root_fd = -1, .tmp_fd = -1 };
	fs->tmp = xstrdup(tmp_name);
	clean = path_normal(root);
	clean_wd =
	    path_normal(workdir != NULL && *workdir != '\0' ? workdir : root);
	fs->root = clean;
	if ((rel = path_rel(clean_wd, clean)) == NULL) {
		free(clean_wd);
		return err_set(e, ERR_USAGE,
		    "the working directory %s is not below %s", workdir, root);
	}
	fs->prefix = xstrdup(rel);
	free(clean_wd);
	fs->root_fd = open(clean, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fs->root_fd < 0)
		return err_set(
		    e, -errno, "open %s: %s", clean, strerror(errno));
	fs->real_root = fd_path(fs->root_fd);
	if (fs->real_root == NULL)
		fs->real_root = xstrdup(clean);
	if (tmp != NULL)
		fs->tmp_fd = open(tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

void
treefs_close(struct treefs *fs)
{
	fd_close(&fs->root_fd);
	fd_close(&fs->tmp_fd);
	free(fs->root);
	free(fs->real_root);
	free(fs->prefix);
	free(fs->tmp);
	strv_clear(&fs->guarded);
	*fs = (struct treefs){ .root_fd = -1, .tmp_fd = -1 };
}

void
treefs_guard(struct treefs *fs, const char *const *v, size_t n)
{
	size_t i;

	strv_clear(&fs->guarded);
	for (i = 0; i < n; i++)
		strv_add(&fs->guarded, v[i]);
	strv_sort(&fs->guarded);
}

static int
cmp_str(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool
treefs_is_guarded(const struct treefs *fs, const char *rel)
{
	if (fs->guarded.n == 0)
		return false;
	return bsearch(&rel, fs->guarded.v, fs->guarded.n, sizeof(char *),
		   cmp_str) != NULL;
}

/* Resolve "." and ".." by their text. NULL: it climbs out of the top. */
static char *
clean_rel(const char *s)
{
	struct strv parts = { 0 };
	struct buf b;
	size_t i, n;
	char *out = NULL;

	buf_init(&b, BUF_NOMAX);
	while (*s != '\0') {
		n = strcspn(s, "/");
		if (n == 2 && memcmp(s, "..", 2) == 0) {
			if (parts.n == 0)
				goto out;
			free(parts.v[--parts.n]);
			parts.v[parts.n] = NULL;
		} else if (n > 0 && !(n == 1 && *s == '.')) {
			strv_addn(&parts, s, n);
		}
		s += n;
		s += strspn(s, "/");
	}
	for (i = 0; i < parts.n; i++) {
		if (i > 0)
			(void)buf_addc(&b, '/');
		(void)buf_adds(&b, parts.v[i]);
	}
	out = xstrdup(b.len > 0 ? buf_str(&b) : ".");
out:
	strv_clear(&parts);
	buf_clear(&b);
	return out;
}

int
treefs_name(const struct treefs *fs, const char *path, struct treefs_name *ret,
    struct err *e)
{
	char *clean, *joined;
	const char *rel;

	if (path == NULL || *path == '\0')
		return err_set(e, ERR_USAGE, "the path is empty");
	if (strlen(path) > 4000)
		return err_set(e, ERR_LIMIT, "the path is too long");
	*ret = (struct treefs_name){ 0 };
	if (*path != '/') {
		joined = xasprintf("%s/%s", fs->prefix, path);
		ret->rel = clean_rel(joined);
		free(joined);
	} else {
		clean = path_normal(path);
		if ((rel = path_rel(clean, fs->root)) != NULL) {
			ret->rel = clean_rel(rel);
		} else if ((rel = path_rel(clean, fs->tmp)) != NULL ||
		    (rel = path_rel(clean, "/tmp")) != NULL) {
			ret->tmp = true;
			ret->rel = clean_rel(rel);
		}
		free(clean);
	}
	if (ret->rel == NULL)
		return err_set(e, ERR_DENIED,
		    "%.200s lies outside the workspace %s", path, fs->root);
	return 0;
}

void
treefs_name_clear(struct treefs_name *n)
{
	free(n->rel);
	n->rel = NULL;
}

static int
open_error(int r, const char *rel, struct err *e)
{
	if (r == -EXDEV || r == -ELOOP)
		return err_set(e, ERR_DENIED,
		    "%.200s leads outside the workspace by a symbolic link",
		    rel);
	if (r == -ENOENT || r == -ENOTDIR)
		return err_set(e, -ENOENT, "%.200s does not exist", rel);
	return err_set(e, r, "%.200s: %s", rel, strerror(-r));
}

int
treefs_fd(const struct treefs *fs, const struct treefs_name *n, int flags,
    struct err *e)
{
	int base, fd;

	base = n->tmp ? fs->tmp_fd : fs->root_fd;
	if (base < 0)
		return err_set(
		    e, -ENOENT, "%s/%.200s does not exist", fs->tmp, n->rel);
	/* O_NONBLOCK: a fifo must not hold us. */
	fd = open_beneath(base, n->rel, O_RDONLY | O_NONBLOCK | flags);
	if (fd == -ENOTDIR && (flags & O_DIRECTORY))
		return err_set(
		    e, -ENOTDIR, "%.200s is not a directory", n->rel);
	return fd < 0 ? open_error(fd, n->rel, e) : fd;
}

int
treefs_read(const struct treefs *fs, const struct treefs_name *n,
    struct buf *ret, struct stat *st, struct err *e)
{
	struct stat own;
	int fd, r;

	if (st == NULL)
		st = &own;
	fd = treefs_fd(fs, n, 0, e);
	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		r = err_set(e, -errno, "%.200s: %s", n->rel, strerror(errno));
	else if (S_ISDIR(st->st_mode))
		r = err_set(
		    e, -EISDIR, "%.200s is a directory (use list_dir)", n->rel);
	else if (!S_ISREG(st->st_mode))
		r = err_set(
		    e, ERR_USAGE, "%.200s is not a regular file", n->rel);
	else if (st->st_size > (off_t)TREEFS_MAX_FILE)
		r = err_set(e, ERR_LIMIT,
		    "%.200s is %lld bytes large, more than can be handled "
		    "here: use run_command with sed, head or tail",
		    n->rel, (long long)st->st_size);
	else if ((r = fd_read_all(fd, ret)) < 0)
		r = err_set(e, r, "read %.200s: %s", n->rel, err_str(r));
	else
		r = 0;
	fd_close(&fd);
	return r;
}

/* The real path below root of rel's directory (which exists, at least up to
 * some component) plus what is left. Yours. */
static int
real_rel(const struct treefs *fs, const char *rel, char **ret, struct err *e)
{
	char *dir, *rest, *p, *real, *slash;
	const char *below;
	int fd, r = 0;

	dir = path_dir(rel);
	rest = xstrdup(path_base(rel));
	for (;;) {
		fd = open_beneath(fs->root_fd, dir, O_PATH | O_DIRECTORY);
		if (fd != -ENOENT || strcmp(dir, ".") == 0)
			break;
		p = xasprintf("%s/%s", path_base(dir), rest);
		free(rest);
		rest = p;
		slash = strrchr(dir, '/');
		if (slash == NULL) {
			free(dir);
			dir = xstrdup(".");
		} else {
			*slash = '\0';
		}
	}
	if (fd < 0) {
		r = open_error(fd, rel, e);
		goto out;
	}
	real = fd_path(fd);
	below = real == NULL ? NULL : path_rel(real, fs->real_root);
	if (below == NULL)
		r = err_set(
		    e, ERR_DENIED, "%.200s leads outside the workspace", rel);
	else
		*ret = *below == '\0' ? xstrdup(rest)
				      : xasprintf("%s/%s", below, rest);
	free(real);
	fd_close(&fd);
out:
	free(dir);
	free(rest);
	return r;
}

static bool
has_git_component(const char *rel)
{
	size_t n;

	while (*rel != '\0') {
		n = strcspn(rel, "/");
		if (n == 4 && strncasecmp(rel, ".git", 4) == 0)
			return true;
		rel += n;
		rel += strspn(rel, "/");
	}
	return false;
}

static int
refuse_link(
    const struct treefs *fs, const char *rel, const char *real, struct err *e)
{
	int fd = open_beneath(fs->root_fd, real, O_PATH);
	bool out = fd == -EXDEV || fd == -ELOOP;

	fd_close(&fd);
	if (out)
		return err_set(e, ERR_DENIED,
		    "refused: %.200s is a symbolic link that leads outside the "
		    "workspace",
		    rel);
	return err_set(e, ERR_DENIED,
	    "refused: %.200s is a symbolic link; edit the file that it names, "
	    "which lies inside the workspace",
	    rel);
}

int
treefs_may_write(
    const struct treefs *fs, const char *rel, bool *ret_exists, struct err *e)
{
	struct stat st;
	char *real = NULL;
	int fd, r;

	if (strcmp(rel, ".") == 0)
		return err_set(e, -EISDIR, "that is a directory");
	if ((r = real_rel(fs, rel, &real, e)) < 0)
		return r;
	if (has_git_component(rel) || has_git_component(real)) {
		r = err_set(e, ERR_DENIED,
		    "%.200s is protected: .git can't be changed", rel);
		goto out;
	}
	if (treefs_is_guarded(fs, rel) || treefs_is_guarded(fs, real)) {
		if (fs->refused != NULL && fs->refused->n < REFUSED_MAX &&
		    !strv_has(fs->refused, rel))
			strv_add(fs->refused, rel);
		r = err_set(e, ERR_DENIED,
		    "%.200s is protected: tests, what runs them and what the "
		    "person names can't be changed",
		    rel);
		goto out;
	}
	fd = open_beneath(fs->root_fd, real, O_PATH | O_NOFOLLOW);
	if (fd == -ENOENT) {
		*ret_exists = false;
		goto out;
	}
	if (fd < 0) {
		r = open_error(fd, rel, e);
		goto out;
	}
	if (fstat(fd, &st) < 0)
		r = err_set(e, -errno, "%.200s: %s", rel, strerror(errno));
	else if (S_ISLNK(st.st_mode))
		r = refuse_link(fs, rel, real, e);
	else if (S_ISDIR(st.st_mode))
		r = err_set(e, -EISDIR, "%.200s is a directory", rel);
	else if (!S_ISREG(st.st_mode))
		r = err_set(e, ERR_USAGE, "%.200s is not a regular file", rel);
	else
		*ret_exists = true;
	fd_close(&fd);
out:
	free(real);
	return r;
}

/* Open the directory of rel below dirfd, making what is missing. */
static int
open_parent(int dirfd, const char *rel)
{
	char *dir, *p;
	int fd, r;

	dir = path_dir(rel);
	fd = open_beneath(dirfd, dir, O_PATH | O_DIRECTORY);
	if (fd != -ENOENT)
		goto out;
	for (p = dir; p != NULL;) {
		p = strchr(p + 1, '/');
		if (p != NULL)
			*p = '\0';
		fd = open_beneath(dirfd, dir, O_PATH | O_DIRECTORY);
		if (fd == -ENOENT) {
			char *up = path_dir(dir);
			int upfd =
			    open_beneath(dirfd, up, O_PATH | O_DIRECTORY);

			free(up);
			if (upfd < 0) {
				fd = upfd;
				goto out;
			}
			r = mkdirat(upfd, path_base(dir), 0755) < 0 &&
			    errno != EEXIST;
			if (r)
				fd = -errno;
			fd_close(&upfd);
			if (r)
				goto out;
			fd = open_beneath(dirfd, dir, O_PATH | O_DIRECTORY);
		}
		if (fd < 0)
			goto out;
		if (p != NULL) {
			*p = '/';
			fd_close(&fd);
		}
	}
out:
	free(dir);
	return fd;
}

int
treefs_put(int dirfd, const char *rel, const void *p, size_t len, mode_t mode,
    int64_t mtime_floor, struct err *e)
{
	struct timespec ts[2];
	char tmp[64], rnd[17];
	int dfd, fd = -1, r;

	dfd = open_parent(dirfd, rel);
	if (dfd < 0)
		return open_error(dfd, rel, e);
	hash_random_hex(rnd, 8);
	snprintf(tmp, sizeof tmp, ".foray-%s.tmp", rnd);
	fd = openat(dfd, tmp,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		r = -errno;
		fd_close(&dfd);
		return err_set(e, r, "write %.200s: %s", rel, strerror(-r));
	}
	if ((r = fd_write_all(fd, p, len)) < 0)
		goto fail;
	if (fchmod(fd, mode & 07777) < 0) {
		r = -errno;
		goto fail;
	}
	clock_gettime(CLOCK_REALTIME, &ts[0]);
	if (mtime_floor > 0 && ts[0].tv_sec < mtime_floor + 1) {
		ts[0].tv_sec = mtime_floor + 1;
		ts[0].tv_nsec = 0;
	}
	ts[1] = ts[0];
	if (futimens(fd, ts) < 0 ||
	    renameat(dfd, tmp, dfd, path_base(rel)) < 0) {
		r = -errno;
		goto fail;
	}
	fd_close(&fd);
	fd_close(&dfd);
	return 0;
fail:
	(void)unlinkat(dfd, tmp, 0);
	fd_close(&fd);
	fd_close(&dfd);
	return err_set(e, r, "write %.200s: %s", rel, strerror(-r));
}

int
treefs_write(const struct treefs *fs, const char *rel, const void *p,
    size_t len, mode_t mode, struct err *e)
{
	struct stat st = { 0 };
	bool exists = false;
	int fd, r;

	if ((r = treefs_may_write(fs, rel, &exists, e)) < 0)
		return r;
	if (exists) {
		fd = open_beneath(fs->root_fd, rel, O_PATH);
		if (fd < 0)
			return open_error(fd, rel, e);
		if (fstat(fd, &st) < 0)
			memset(&st, 0, sizeof st);
		fd_close(&fd);
	}
	if (mode == 0)
		mode = exists ? st.st_mode & 0777 : 0644;
	return treefs_put(
	    fs->root_fd, rel, p, len, mode, (int64_t)st.st_mtime, e);
}

int
treefs_remove(const struct treefs *fs, const char *rel, struct err *e)
{
	bool exists = false;
	char *dir;
	int dfd, r;

	if ((r = treefs_may_write(fs, rel, &exists, e)) < 0)
		return r;
	if (!exists)
		return err_set(e, -ENOENT, "%.200s does not exist", rel);
	dir = path_dir(rel);
	dfd = open_beneath(fs->root_fd, dir, O_PATH | O_DIRECTORY);
	free(dir);
	if (dfd < 0)
		return open_error(dfd, rel, e);
	if (unlinkat(dfd, path_base(rel), 0) < 0)
		r = err_set(
		    e, -errno, "remove %.200s: %s", rel, strerror(errno));
	fd_close(&dfd);
	return r;
}
