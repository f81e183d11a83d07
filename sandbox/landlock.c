/* landlock.c - see landlock.h. By numbers: the header may be older than the
 * kernel, and libc has no wrappers. */
#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/landlock.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define VERSION_FLAG 1u
#define PATH_BENEATH 1

/* struct landlock_ruleset_attr; a shorter size is what an older kernel takes.
 */
struct ruleset {
	uint64_t files; /* ABI 1 */
	uint64_t net;   /* ABI 4 */
	uint64_t scope; /* ABI 6 */
};

/* struct landlock_path_beneath_attr */
struct beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* Bits of files, and the ABI that brought each. */
#define EXECUTE (1u << 0)
#define WRITE_FILE (1u << 1)
#define READ_FILE (1u << 2)
#define READ_DIR (1u << 3)
#define REFER (1u << 13)
#define TRUNCATE (1u << 14)
#define IOCTL_DEV (1u << 15)
#define ALL_ABI1 ((1u << 13) - 1)

/* What a rule for something that is no directory may hold. */
#define FOR_A_FILE (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)

#define NET_ALL 3u   /* bind and connect, TCP */
#define SCOPE_ALL 3u /* abstract sockets, signals */

/* More entries beside a protected file than a ruleset should have. */
#define MAX_ENTRIES 20000

int
landlock_abi(void)
{
	long abi =
	    syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG);

	return abi > 0 ? (int)abi : 0;
}

static uint64_t
rights(enum landlock_may may)
{
	switch (may) {
	case LANDLOCK_READ:
		return EXECUTE | READ_FILE | READ_DIR;
	case LANDLOCK_LOOK:
		return READ_FILE | READ_DIR;
	case LANDLOCK_WRITE:
		return ALL_ABI1 | REFER | TRUNCATE;
	case LANDLOCK_USE:
		return READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV;
	}
	return 0;
}

int
landlock_open_abi(struct landlock *l, int abi, struct err *e)
{
	struct ruleset r = { .files = ALL_ABI1 };
	size_t size = sizeof r.files;

	*l = (struct landlock){ .fd = -1, .abi = abi };
	if (abi < 1)
		return err_set(e, ERR_SANDBOX,
		    "this kernel has no Landlock, so nothing would confine a "
		    "program inside the container. Remedy: Linux 5.13 or later "
		    "with CONFIG_SECURITY_LANDLOCK, \"landlock\" in the kernel's "
		    "lsm= list, and a container runtime whose seccomp profile "
		    "permits landlock_create_ruleset (docker 23, podman 4)");
	if (abi >= 2)
		r.files |= REFER;
	if (abi >= 3)
		r.files |= TRUNCATE;
	if (abi >= 4) {
		r.net = NET_ALL;
		size = offsetof(struct ruleset, scope);
	}
	if (abi >= 5)
		r.files |= IOCTL_DEV;
	if (abi >= LANDLOCK_ABI_SCOPES) {
		r.scope = SCOPE_ALL;
		size = sizeof r;
	}
	l->files = r.files;
	l->fd = (int)syscall(SYS_landlock_create_ruleset, &r, size, 0u);
	if (l->fd < 0)
		return err_set(
		    e, ERR_SANDBOX, "Landlock: a ruleset: %s", strerror(errno));
	return 0; /* close-on-exec by itself */
}

int
landlock_open(struct landlock *l, struct err *e)
{
	return landlock_open_abi(l, landlock_abi(), e);
}

void
landlock_close(struct landlock *l)
{
	fd_close(&l->fd);
}

/* --- rules -----------------------------------------------------------------
 */

static int
add_fd(struct landlock *l, int fd, const char *path, uint64_t allowed,
    struct err *e)
{
	struct beneath b = { .allowed = allowed & l->files, .fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(
		    e, ERR_SANDBOX, "look at %s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		b.allowed &= FOR_A_FILE;
	if (b.allowed == 0)
		return 0;
	if (syscall(SYS_landlock_add_rule, l->fd, PATH_BENEATH, &b, 0u) < 0)
		return err_set(e, ERR_SANDBOX, "Landlock: a rule for %s: %s",
		    path, strerror(errno));
	return 0;
}

/* The path itself; a link is no place that a rule could be for. */
static int
add(struct landlock *l, const char *path, bool follow, uint64_t allowed,
    struct err *e)
{
	int fd, r;

	fd = open(path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	if (fd < 0) {
		/* What can't be reached by us can't be by the program. */
		if (errno == ENOENT || errno == ENOTDIR || errno == EACCES)
			return 0;
		return err_set(
		    e, ERR_SANDBOX, "open %s: %s", path, strerror(errno));
	}
	r = add_fd(l, fd, path, allowed, e);
	fd_close(&fd);
	return r;
}

static bool
any_below(const struct strv *but, const char *path)
{
	for (size_t i = 0; but != NULL && i < but->n; i++) {
		if (path_is_below(but->v[i], path))
			return true;
	}
	return false;
}

static int allow_entries(struct landlock *l, const char *path, uint64_t allowed,
    const struct strv *but, size_t *entries, struct err *e);

static int
allow(struct landlock *l, const char *path, bool follow, uint64_t allowed,
    const struct strv *but, size_t *entries, struct err *e)
{
	if (!any_below(but, path))
		return add(l, path, follow, allowed, e);
	if (strv_has(but, path))
		return 0;
	return allow_entries(l, path, allowed, but, entries, e);
}

static int
allow_entries(struct landlock *l, const char *path, uint64_t allowed,
    const struct strv *but, size_t *entries, struct err *e)
{
	struct dirent *d;
	struct stat st;
	char *child;
	DIR *dir;
	int r;

	if ((r = add(l, path, true, READ_DIR, e)) < 0)
		return r;
	if ((dir = opendir(path)) == NULL)
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR
		    ? 0
		    : err_set(
			  e, ERR_SANDBOX, "list %s: %s", path, strerror(errno));
	while (r == 0 && (d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (++*entries > MAX_ENTRIES) {
			r = err_set(e, ERR_SANDBOX,
			    "%s: more than %d entries stand beside what is "
			    "protected",
			    path, MAX_ENTRIES);
			break;
		}
		child = path_join(path, d->d_name);
		if (lstat(child, &st) == 0 && !S_ISLNK(st.st_mode))
			r = allow(l, child, false, allowed, but, entries, e);
		free(child);
	}
	(void)closedir(dir);
	return r;
}

int
landlock_allow(struct landlock *l, const char *path, enum landlock_may may,
    const struct strv *but, struct err *e)
{
	size_t entries = 0;

	return allow(l, path, true, rights(may), but, &entries, e);
}

int
landlock_enter(struct landlock *l, struct err *e)
{
	int r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = err_set(
		    e, ERR_SANDBOX, "no new privileges: %s", strerror(errno));
	else if (syscall(SYS_landlock_restrict_self, l->fd, 0u) < 0)
		r = err_set(e, ERR_SANDBOX, "Landlock: enter a domain: %s",
		    strerror(errno));
	landlock_close(l);
	return r;
}
