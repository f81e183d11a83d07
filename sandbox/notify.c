/* notify.c - see notify.h. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/notify.h"
#include "sandbox/seccomp.h"
#include "sandbox/why.h"

/* The structures grow with kernels. */
#define SLACK 256

enum deed {
	SET_MODE,
	SET_OWNER,
	SET_UTIME,    /* struct utimbuf */
	SET_UTIMES,   /* struct timeval [2] */
	SET_UTIMENSAT /* struct timespec [2] */
};

#define NO (-1)

/* Where the arguments of each call are; NO: it has none of the kind. */
static const struct call {
	long nr;
	enum deed deed;
	int dirfd, path, value, flags;
	bool link; /* never follows the last link */
} calls[] = {
#ifdef SYS_chmod
	{ SYS_chmod, SET_MODE, NO, 0, 1, NO, false },
	{ SYS_chown, SET_OWNER, NO, 0, 1, NO, false },
	{ SYS_lchown, SET_OWNER, NO, 0, 1, NO, true },
	{ SYS_utime, SET_UTIME, NO, 0, 1, NO, false },
	{ SYS_utimes, SET_UTIMES, NO, 0, 1, NO, false },
	{ SYS_futimesat, SET_UTIMES, 0, 1, 2, NO, false },
#endif
	{ SYS_fchmod, SET_MODE, 0, NO, 1, NO, false },
	{ SYS_fchmodat, SET_MODE, 0, 1, 2, NO, false },
	{ 452, SET_MODE, 0, 1, 2, 3, false }, /* fchmodat2 */
	{ SYS_fchown, SET_OWNER, 0, NO, 1, NO, false },
	{ SYS_fchownat, SET_OWNER, 0, 1, 2, 4, false },
	{ SYS_utimensat, SET_UTIMENSAT, 0, 1, 2, 3, false },
};

/* The same for the calls that rename. */
static const struct rename_call {
	long nr;
	int old_dir, old, new_dir, new, flags;
} renames[] = {
#ifdef SYS_rename
	{ SYS_rename, NO, 0, NO, 1, NO },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, 0, 1, 2, 3, NO },
#endif
	{ SYS_renameat2, 0, 1, 2, 3, 4 },
};

bool
notify_works(void)
{
	const uint32_t action = SECCOMP_RET_USER_NOTIF;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) ==
	    0 &&
	    why_sysctl("/proc/sys/kernel/yama/ptrace_scope") < 2;
}

int
notify_load(bool with_renames, struct err *e)
{
	long nrs[nitems(calls) + nitems(renames)];
	size_t n = 0;

	for (size_t i = 0; i < nitems(calls); i++)
		nrs[n++] = calls[i].nr;
	for (size_t i = 0; with_renames && i < nitems(renames); i++)
		nrs[n++] = renames[i].nr;
	return seccomp_listen(nrs, n, e);
}

void
notify_init(struct notify *n, int fd)
{
	*n = (struct notify){ .fd = fd };
	n->request = xcalloc(1, sizeof(struct seccomp_notif) + SLACK);
	n->answer = xcalloc(1, sizeof(struct seccomp_notif_resp) + SLACK);
}

void
notify_clear(struct notify *n)
{
	fd_close(&n->fd);
	strv_clear(&n->may);
	strv_clear(&n->except);
	strv_clear(&n->fixed);
	free(n->request);
	free(n->answer);
	n->request = n->answer = NULL;
}

/* --- the caller's memory and files -----------------------------------------
 */

static int
peek(uint32_t pid, uint64_t at, void *dst, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%u/mem", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return -EPERM;
	n = pread(fd, dst, size, (off_t)at);
	fd_close(&fd);
	return n == (ssize_t)size ? 0 : -EFAULT;
}

/* Up to its NUL; a page at a time, since the next may not be there. */
static int
peek_path(uint32_t pid, uint64_t at, char dst[PATH_MAX])
{
	size_t have = 0, part;
	int r;

	while (have < PATH_MAX) {
		part = 4096 - (size_t)((at + have) % 4096);
		if (part > PATH_MAX - have)
			part = PATH_MAX - have;
		if ((r = peek(pid, at + have, dst + have, part)) < 0)
			return r;
		if (memchr(dst + have, '\0', part) != NULL)
			return 0;
		have += part;
	}
	return -ENAMETOOLONG;
}

static int
open_at(uint32_t pid, int dirfd, int flags)
{
	char path[64];
	int fd;

	if (dirfd == AT_FDCWD)
		(void)snprintf(path, sizeof path, "/proc/%u/cwd", pid);
	else
		(void)snprintf(path, sizeof path, "/proc/%u/fd/%d", pid, dirfd);
	fd = open(path, O_PATH | O_CLOEXEC | flags);
	if (fd < 0)
		return errno == ENOENT ? -EBADF : -errno;
	return fd;
}

/* A descriptor of the file that a call means, or a negative errno. */
static int
open_file(const struct seccomp_notif *q, const struct call *c)
{
	const __u64 *a = q->data.args;
	int dirfd = c->dirfd == NO ? AT_FDCWD : (int)a[c->dirfd];
	int flags = c->flags == NO ? 0 : (int)a[c->flags];
	bool link = c->link || (flags & AT_SYMLINK_NOFOLLOW) != 0;
	char path[PATH_MAX];
	int dir, fd, r;

	if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
		return -EINVAL;
	/* utimensat(fd, NULL) means the descriptor, as does an empty path. */
	if (c->path == NO || a[c->path] == 0)
		return dirfd == AT_FDCWD ? -EFAULT : open_at(q->pid, dirfd, 0);
	if ((r = peek_path(q->pid, a[c->path], path)) < 0)
		return r;
	if (path[0] == '\0')
		return (flags & AT_EMPTY_PATH) != 0 ? open_at(q->pid, dirfd, 0)
						    : -ENOENT;
	if (path[0] == '/')
		dir = AT_FDCWD;
	else if ((dir = open_at(q->pid, dirfd, O_DIRECTORY)) < 0)
		return dir;
	fd = openat(dir, path, O_PATH | O_CLOEXEC | (link ? O_NOFOLLOW : 0));
	r = fd < 0 ? -errno : fd;
	if (dir != AT_FDCWD)
		fd_close(&dir);
	return r;
}

static bool
any_above(const struct strv *v, const char *path)
{
	for (size_t i = 0; i < v->n; i++) {
		if (path_is_below(path, v->v[i]))
			return true;
	}
	return false;
}

static bool
is_permitted(const struct notify *n, int fd)
{
	char link[64], path[PATH_MAX];
	struct stat st;
	ssize_t len;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof path - 1);
	if (len <= 0 || fstat(fd, &st) < 0)
		return false;
	path[len] = '\0';
	/* A pipe, a memory file: nobody else's. */
	if (path[0] != '/' ||
	    (st.st_nlink == 0 && text_starts(path, "/memfd:")))
		return true;
	return any_above(&n->may, path) && !any_above(&n->except, path);
}

/* --- deeds -----------------------------------------------------------------
 */

static int
set_mode(int fd, mode_t mode)
{
	char link[64];

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return chmod(link, mode & 07777) < 0 ? -errno : 0;
}

static int
set_times(int fd, const struct timespec ts[2])
{
	char link[64];
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode))
		return utimensat(fd, "", ts, AT_EMPTY_PATH) < 0 ? -errno : 0;
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return utimensat(AT_FDCWD, link, ts, 0) < 0 ? -errno : 0;
}

/* The three forms of times; a null pointer is now. */
static int
read_times(uint32_t pid, enum deed deed, uint64_t at, struct timespec ts[2])
{
	struct utimbuf seconds;
	struct timeval tv[2];
	int r = 0;

	ts[0] = ts[1] = (struct timespec){ .tv_nsec = UTIME_NOW };
	if (at == 0)
		return 0;
	if (deed == SET_UTIMENSAT)
		return peek(pid, at, ts, 2 * sizeof *ts);
	if (deed == SET_UTIME) {
		r = peek(pid, at, &seconds, sizeof seconds);
		ts[0] = (struct timespec){ .tv_sec = seconds.actime };
		ts[1] = (struct timespec){ .tv_sec = seconds.modtime };
		return r;
	}
	r = peek(pid, at, tv, sizeof tv);
	for (int i = 0; r == 0 && i < 2; i++) {
		if (tv[i].tv_usec < 0 || tv[i].tv_usec >= 1000000)
			r = -EINVAL;
		ts[i] = (struct timespec){ .tv_sec = tv[i].tv_sec,
			.tv_nsec = tv[i].tv_usec * 1000 };
	}
	return r;
}

static int
perform(const struct seccomp_notif *q, const struct call *c, int fd)
{
	const __u64 *a = q->data.args;
	struct timespec ts[2];
	int r;

	switch (c->deed) {
	case SET_MODE:
		return set_mode(fd, (mode_t)a[c->value]);
	case SET_OWNER:
		return fchownat(fd, "", (uid_t)a[c->value],
			   (gid_t)a[c->value + 1], AT_EMPTY_PATH) < 0
		    ? -errno
		    : 0;
	case SET_UTIME:
	case SET_UTIMES:
	case SET_UTIMENSAT:
		r = read_times(q->pid, c->deed, a[c->value], ts);
		return r < 0 ? r : set_times(fd, ts);
	}
	return -ENOSYS;
}

/* --- renames ---------------------------------------------------------------
 */

/* One side of a rename: the directory, held, and the name in it. */
struct side {
	int dir;
	char text[PATH_MAX];
	char *name;          /* in text, with the slashes behind it */
	char path[PATH_MAX]; /* the real one */
};

static int
cut_name(struct side *s)
{
	size_t len = strlen(s->text);
	char *slash;

	while (len > 0 && s->text[len - 1] == '/')
		len--;
	if (len == 0)
		return s->text[0] == '/' ? -EBUSY : -ENOENT;
	for (slash = s->text + len; slash > s->text && slash[-1] != '/';)
		slash--;
	s->name = slash;
	if ((len == (size_t)(slash - s->text) + 1 && slash[0] == '.') ||
	    (len == (size_t)(slash - s->text) + 2 && slash[0] == '.' &&
		slash[1] == '.'))
		return -EBUSY;
	return 0;
}

static int
real_path(struct side *s)
{
	size_t n = strcspn(s->name, "/");
	char link[64];
	ssize_t len;

	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", s->dir);
	len = readlink(link, s->path, sizeof s->path - 1);
	if (len <= 0 || (size_t)len + n + 2 > sizeof s->path)
		return -ENAMETOOLONG;
	if (len > 1)
		s->path[len++] = '/';
	memcpy(s->path + len, s->name, n);
	s->path[(size_t)len + n] = '\0';
	return 0;
}

static int
open_side(
    const struct seccomp_notif *q, int dir_arg, int path_arg, struct side *s)
{
	const __u64 *a = q->data.args;
	int base = AT_FDCWD, r;
	char kept;

	s->dir = -1;
	if ((r = peek_path(q->pid, a[path_arg], s->text)) < 0 ||
	    (r = cut_name(s)) < 0)
		return r;
	if (s->text[0] != '/') {
		base = open_at(q->pid,
		    dir_arg == NO ? AT_FDCWD : (int)a[dir_arg], O_DIRECTORY);
		if (base < 0)
			return base;
	}
	kept = *s->name;
	*s->name = '\0'; /* what is before it, for a moment */
	s->dir = openat(base, s->text[0] != '\0' ? s->text : ".",
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = s->dir < 0 ? -errno : 0;
	*s->name = kept;
	if (base != AT_FDCWD)
		fd_close(&base);
	return r < 0 ? r : real_path(s);
}

/* Would that move a file which keeps its name, or one left out of the tree? */
static bool
is_held(const struct strv *v, const char *path)
{
	for (size_t i = 0; i < v->n; i++) {
		if (path_is_below(v->v[i], path))
			return true;
	}
	return false;
}

static int
check_side(const struct notify *n, const struct side *s)
{
	if (!any_above(&n->may, s->path) || any_above(&n->except, s->path))
		return -EPERM;
	return is_held(&n->fixed, s->path) || is_held(&n->except, s->path)
	    ? -EBUSY
	    : 0;
}

static int
judge_rename(const struct notify *n, const struct seccomp_notif *q,
    const struct rename_call *c)
{
	const __u64 *a = q->data.args;
	struct side from = { .dir = -1 }, to = { .dir = -1 };
	int r;

	if ((r = open_side(q, c->old_dir, c->old, &from)) < 0 ||
	    (r = open_side(q, c->new_dir, c->new, &to)) < 0)
		goto out;
	if (ioctl(n->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &q->id) < 0)
		r = -ESRCH;
	else if ((r = check_side(n, &from)) == 0 &&
	    (r = check_side(n, &to)) == 0 &&
	    syscall(SYS_renameat2, from.dir, from.name, to.dir, to.name,
		c->flags == NO ? 0 : (unsigned)a[c->flags]) < 0)
		r = -errno;
out:
	fd_close(&from.dir);
	fd_close(&to.dir);
	return r;
}

static const struct rename_call *
find_rename(long nr)
{
	for (size_t i = 0; i < nitems(renames); i++) {
		if (renames[i].nr == nr)
			return &renames[i];
	}
	return NULL;
}

/* --- requests --------------------------------------------------------------
 */

static const struct call *
find(long nr)
{
	for (size_t i = 0; i < nitems(calls); i++) {
		if (calls[i].nr == nr)
			return &calls[i];
	}
	return NULL;
}

static int
judge(const struct notify *n, const struct seccomp_notif *q)
{
	const struct rename_call *rename = find_rename(q->data.nr);
	const struct call *c = find(q->data.nr);
	int fd, r;

	if (rename != NULL)
		return judge_rename(n, q, rename);
	if (c == NULL)
		return -ENOSYS;
	if ((fd = open_file(q, c)) < 0)
		return fd;
	/* Was it that process's, all the time? Its number may have come to
	 * another meanwhile. */
	if (ioctl(n->fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &q->id) < 0)
		r = -ESRCH;
	else if (!is_permitted(n, fd))
		r = -EPERM;
	else
		r = perform(q, c, fd);
	fd_close(&fd);
	return r;
}

bool
notify_serve(struct notify *n)
{
	struct seccomp_notif_resp *answer = n->answer;
	struct seccomp_notif *q = n->request;

	memset(q, 0, sizeof *q + SLACK);
	if (ioctl(n->fd, SECCOMP_IOCTL_NOTIF_RECV, q) < 0)
		return errno == EINTR || errno == ENOENT || errno == EAGAIN;
	memset(answer, 0, sizeof *answer + SLACK);
	answer->id = q->id;
	answer->error = judge(n, q);
	/* It may have been killed meanwhile. */
	(void)ioctl(n->fd, SECCOMP_IOCTL_NOTIF_SEND, answer);
	return true;
}
