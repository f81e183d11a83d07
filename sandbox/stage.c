#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/stage.h"

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* <linux/mount.h> and <sys/mount.h> of glibc 2.36 exclude each other, and older
 * ones have none of it. */
#define TREE_CLONE 1
#define MOVE_FROM_EMPTY_PATH 4
#define ATTR_RDONLY 0x1
#define ATTR_IDMAP 0x100000

struct attr {
	uint64_t attr_set;
	uint64_t attr_clr;
	uint64_t propagation;
	uint64_t userns_fd;
};

uid_t
stage_uid(void)
{
	uid_t uid = geteuid();

	return uid == 0 ? SANDBOX_UID : uid;
}

int
stage_open(struct stage *st, struct err *e)
{
	int r;

	*st = (struct stage){ 0 };
	if (geteuid() != 0)
		return 0;
	if ((r = path_mkdirs(STAGE_DIR, 0755, e)) < 0)
		return r;
	if (unshare(CLONE_NEWNS) < 0)
		return err_set(e, ERR_SANDBOX,
		    "a mount namespace can't be made (root without CAP_SYS_ADMIN?): %s",
		    strerror(errno));
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(e, ERR_SANDBOX,
		    "the mount namespace can't be made private: %s",
		    strerror(errno));
	if (mount("foray", STAGE_DIR, "tmpfs", MS_NOSUID | MS_NODEV,
		"mode=755,size=1m") < 0)
		return err_set(e, ERR_SANDBOX, "tmpfs on " STAGE_DIR ": %s",
		    strerror(errno));
	st->active = true;
	return 0;
}

void
stage_clear(struct stage *st)
{
	strv_clear(&st->from);
	st->active = false;
}

/* May everybody walk to path? (Whether its contents can be read is the
 * owner's affair.) */
static bool
is_open_way(const char *path)
{
	char *dir = path_dir(path), *up;
	struct stat st;
	bool open = true;

	while (open && strcmp(dir, "/") != 0) {
		open = stat(dir, &st) == 0 && (st.st_mode & S_IXOTH) != 0;
		up = path_dir(dir);
		free(dir);
		dir = up;
	}
	free(dir);
	return open;
}

static bool
is_system(const char *path)
{
	static const char *const dirs[] = { "/usr", "/etc", "/bin", "/sbin",
		"/opt", "/proc", "/dev", "/sys" };

	/* /lib, /lib64, /libx32 ... */
	if (text_starts(path, "/lib"))
		return is_open_way(path);
	for (size_t i = 0; i < nitems(dirs); i++) {
		if (path_is_below(path, dirs[i]))
			return is_open_way(path);
	}
	return false;
}

/* The number of the staged path that path is or lies below; -1. */
static ssize_t
find(const struct stage *st, const char *path)
{
	for (size_t i = 0; i < st->from.n; i++) {
		if (path_is_below(path, st->from.v[i]))
			return (ssize_t)i;
	}
	return -1;
}

/* A mount point of the right kind for path, with the next number. */
static int
make_target(const struct stage *st, const char *path, char **ret,
    struct stat *ret_sb, struct err *e)
{
	char *target = path_joinf(STAGE_DIR, "%zu", st->from.n);
	int fd, r = 0;

	if (stat(path, ret_sb) < 0) {
		r = err_set(e, ERR_SANDBOX, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (S_ISDIR(ret_sb->st_mode)) {
		if (mkdir(target, 0755) < 0)
			r = -errno;
	} else {
		fd =
		    open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd < 0)
			r = -errno;
		fd_close(&fd);
	}
	if (r < 0)
		r = err_set(
		    e, ERR_SANDBOX, "make %s: %s", target, strerror(-r));
out:
	if (r == 0)
		*ret = target;
	else
		free(target);
	return r;
}

static int
bind(const char *path, const char *target, struct err *e)
{
	if (mount(path, target, NULL, MS_BIND | MS_REC, NULL) < 0)
		return err_set(
		    e, ERR_SANDBOX, "bind %s: %s", path, strerror(errno));
	return 0;
}

int
stage_add(struct stage *st, const char *path, struct err *e)
{
	char *clean, *target = NULL;
	struct stat sb;
	int r = 0;

	if (!st->active)
		return 0;
	clean = path_normal(path);
	if (is_system(clean) || find(st, clean) >= 0)
		goto out;
	if ((r = make_target(st, clean, &target, &sb, e)) < 0 ||
	    (r = bind(clean, target, e)) < 0)
		goto out;
	strv_add(&st->from, clean);
out:
	free(target);
	free(clean);
	return r;
}

/* --- another owner ---------------------------------------------------------
 *
 * An idmapped mount takes its map from a user namespace: "what belongs to the
 * first number on disk appears as the second". */

static int
write_map(pid_t pid, const char *name, unsigned on_disk, unsigned here)
{
	char path[64], line[64];
	int fd, r;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	(void)snprintf(line, sizeof line, "%u %u 1\n", on_disk, here);
	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		return -errno;
	r = fd_write_all(fd, line, strlen(line));
	fd_close(&fd);
	return r;
}

/* In the helper: a user namespace, for as long as the parent wants it. */
static void helper(int ready, int go) noreturn_fn;

static void
helper(int ready, int go)
{
	char c = 'y';

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(1);
	if (write(ready, &c, 1) == 1 && read(go, &c, 1) == 0)
		_exit(0);
	_exit(1);
}

/* A descriptor of a user namespace with that map, or a negative errno. */
static int
map_namespace(uid_t uid, gid_t gid)
{
	int ready[2] = { -1, -1 }, go[2] = { -1, -1 }, fd = -1, r;
	char path[64], c;
	pid_t pid = -1;

	if ((r = fd_pipe(ready)) < 0 || (r = fd_pipe(go)) < 0)
		goto out;
	if ((pid = fork()) < 0) {
		r = -errno;
		goto out;
	}
	if (pid == 0) {
		fd_close(&go[1]); /* else our own end would keep it open */
		helper(ready[1], go[0]);
	}
	fd_close(&ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		r = -EPERM;
		goto out;
	}
	if ((r = write_map(pid, "uid_map", uid, SANDBOX_UID)) < 0 ||
	    (r = write_map(pid, "gid_map", gid, SANDBOX_UID)) < 0)
		goto out;
	(void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : fd;
out:
	for (int i = 0; i < 2; i++) {
		fd_close(&ready[i]);
		fd_close(&go[i]);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return r;
}

/* The paths that come here are resolved: a link in one was put there since,
 * and what it leads to must not become the sandboxes' own. */
static int
open_plain(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

static int
bind_idmap(const char *path, const char *target, const struct stat *sb)
{
	struct attr a = { .attr_set = ATTR_IDMAP };
	int ns, tree, fd, r = 0;

	if ((fd = open_plain(path)) < 0)
		return fd;
	if ((ns = map_namespace(sb->st_uid, sb->st_gid)) < 0) {
		fd_close(&fd);
		return ns;
	}
	a.userns_fd = (uint64_t)ns;
	tree = (int)syscall(SYS_open_tree, fd, "",
	    TREE_CLONE | AT_EMPTY_PATH | AT_RECURSIVE | O_CLOEXEC);
	fd_close(&fd);
	if (tree < 0 ||
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
		&a, sizeof a) < 0 ||
	    syscall(SYS_move_mount, tree, "", AT_FDCWD, target,
		MOVE_FROM_EMPTY_PATH) < 0)
		r = -errno;
	fd_close(&tree);
	fd_close(&ns);
	return r;
}

static int
bind_readonly(const char *path, const char *target, struct err *e)
{
	struct attr a = { .attr_set = ATTR_RDONLY };
	int r;

	if ((r = bind(path, target, e)) < 0)
		return r;
	if (syscall(SYS_mount_setattr, AT_FDCWD, target, AT_RECURSIVE, &a,
		sizeof a) == 0 ||
	    mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) ==
		0)
		return 0;
	return err_set(
	    e, ERR_SANDBOX, "make %s read-only: %s", path, strerror(errno));
}

int
stage_add_idmap(
    struct stage *st, const char *path, bool *ret_readonly, struct err *e)
{
	char *clean, *target = NULL;
	struct stat sb;
	bool readonly = false;
	int r = 0;

	if (!st->active)
		return 0;
	clean = path_normal(path);
	if (find(st, clean) >= 0)
		goto out;
	if ((r = make_target(st, clean, &target, &sb, e)) < 0)
		goto out;
	if (sb.st_uid == SANDBOX_UID) {
		r = bind(clean, target, e);
	} else if ((r = bind_idmap(clean, target, &sb)) == -ELOOP) {
		r = err_set(e, ERR_SANDBOX,
		    "%s: a symbolic link was put on its way", clean);
	} else if (r < 0) {
		/* This file system can't, or this kernel. */
		readonly = true;
		r = bind_readonly(clean, target, e);
	}
	if (r < 0)
		goto out;
	strv_add(&st->from, clean);
	if (ret_readonly != NULL)
		*ret_readonly = readonly;
out:
	free(target);
	free(clean);
	return r;
}

char *
stage_path(const struct stage *st, const char *path)
{
	char *clean, *there;
	const char *rel;
	ssize_t i;

	if (!st->active)
		return xstrdup(path);
	clean = path_normal(path);
	if ((i = find(st, clean)) < 0) {
		free(clean);
		return xstrdup(path);
	}
	rel = path_rel(clean, st->from.v[i]);
	there =
	    path_joinf(STAGE_DIR, "%zd%s%s", i, *rel != '\0' ? "/" : "", rel);
	free(clean);
	return there;
}

void
stage_spec(const struct stage *st, struct sandbox_spec *s)
{
	struct sandbox_mount *m;
	char *there;

	for (size_t i = 0; i < s->n_mounts; i++) {
		m = &s->mounts[i];
		if ((m->kind != MOUNT_RO && m->kind != MOUNT_RW) ||
		    text_starts(m->src, "@merged"))
			continue;
		there = stage_path(st, m->src);
		free(m->src);
		m->src = there;
	}
}

static int
drop_caps(struct err *e)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { { 0 } }, now[2];

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &head, none) < 0 ||
	    syscall(SYS_capget, &head, now) < 0)
		return err_set(
		    e, ERR_SANDBOX, "capabilities: %s", strerror(errno));
	for (size_t i = 0; i < nitems(now); i++) {
		if ((now[i].effective | now[i].permitted |
			now[i].inheritable) != 0)
			return err_set(e, ERR_SANDBOX, "capabilities are left");
	}
	return 0;
}

int
stage_drop(struct stage *st, struct err *e)
{
	const uid_t id = SANDBOX_UID;
	int r;

	if (!st->active)
		return 0;
	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
	    setresuid(id, id, id) < 0)
		return err_set(
		    e, ERR_SANDBOX, "become uid %u: %s", id, strerror(errno));
	if ((r = drop_caps(e)) < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(
		    e, ERR_SANDBOX, "no new privileges: %s", strerror(errno));
	/* Else /proc/self belongs to root and uid_map can't be written. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_set(e, ERR_SANDBOX, "dumpable: %s", strerror(errno));
	if (setuid(0) == 0 || setgid(0) == 0 || geteuid() != id ||
	    getegid() != id)
		return err_set(
		    e, ERR_SANDBOX, "root could be had again after the drop");
	return 0;
}
