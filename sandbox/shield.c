#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/shield.h"

/* The writable mount that m's source lies in: what is there was written by
 * sandboxed programs. NULL when m is of another kind. */
static const struct sandbox_mount *
tree_around(const struct sandbox_spec *s, const struct sandbox_mount *m)
{
	if ((m->kind != MOUNT_RO && m->kind != MOUNT_RW) || !m->optional)
		return NULL;
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (&s->mounts[i] != m && s->mounts[i].kind == MOUNT_RW &&
		    !s->mounts[i].optional &&
		    path_is_below(m->src, s->mounts[i].src))
			return &s->mounts[i];
	}
	return NULL;
}

size_t
shield_count(const struct sandbox_spec *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_mounts; i++)
		n += tree_around(s, &s->mounts[i]) != NULL;
	return n;
}

/* A descriptor below dir with no symbolic link on the way, or a negative errno.
 */
static int
open_below(const char *dir, const char *rel)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	int dirfd, fd;

	dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dirfd, rel, &how, sizeof how);
	if (fd < 0)
		fd = -errno;
	fd_close(&dirfd);
	return fd;
}

/* What a mount has must stay: a flag that came from outside is locked. */
static unsigned long
flags_of(const char *path)
{
	static const struct {
		unsigned long st, ms;
	} table[] = {
		{ ST_NOSUID, MS_NOSUID },
		{ ST_NODEV, MS_NODEV },
		{ ST_NOEXEC, MS_NOEXEC },
		{ ST_NOATIME, MS_NOATIME },
		{ ST_NODIRATIME, MS_NODIRATIME },
		{ ST_RELATIME, MS_RELATIME },
	};
	unsigned long flags = 0;
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return 0;
	for (size_t i = 0; i < nitems(table); i++) {
		if ((st.f_flag & table[i].st) != 0)
			flags |= table[i].ms;
	}
	return flags;
}

/* By name, which somebody may be changing: where the other way is closed. */
static int
mount_by_name(const char *path, bool readonly, struct err *e)
{
	const unsigned long ro = MS_REMOUNT | MS_BIND | MS_RDONLY;

	if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0 ||
	    (readonly &&
		mount(NULL, path, NULL, ro | flags_of(path), NULL) < 0))
		return err_set(e, ERR_SANDBOX, "make %s %s: %s", path,
		    readonly ? "read-only" : "a mount", strerror(errno));
	return 0;
}

/* Over itself, by the descriptor that was looked at: whatever its name leads to
 * meanwhile. Numbers as in Linux's mount.h, which glibc 2.36 does not have. */
static int
mount_over_itself(int fd, const char *path, bool readonly, struct err *e)
{
	struct {
		uint64_t set, clr, propagation, userns;
	} attr = { .set = 1 /* MOUNT_ATTR_RDONLY */ };
	const unsigned clone = 1 /* OPEN_TREE_CLONE */ | O_CLOEXEC;
	const unsigned both = 0x04 | 0x40; /* MOVE_MOUNT_[FT]_EMPTY_PATH */
	int tree, r;

	tree = (int)syscall(
	    SYS_open_tree, fd, "", clone | AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0 && (errno == ENOSYS || errno == EPERM))
		return mount_by_name(path, readonly, e);
	if (tree >= 0 && readonly &&
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
		&attr, sizeof attr) < 0 &&
	    errno == ENOSYS) {
		fd_close(&tree);
		return mount_by_name(path, readonly, e);
	}
	r = tree < 0 || syscall(SYS_move_mount, tree, "", fd, "", both) < 0;
	if (r != 0)
		r = err_set(e, ERR_SANDBOX, "make %s %s: %s", path,
		    readonly ? "read-only" : "a mount", strerror(errno));
	fd_close(&tree);
	return r;
}

static bool
is_readonly(const char *path)
{
	struct statvfs st;

	return statvfs(path, &st) == 0 && (st.f_flag & ST_RDONLY) != 0;
}

/* One of them. *ret_keep: bwrap has to mount it. */
static int
shield(const struct sandbox_mount *m, const struct sandbox_mount *tree,
    bool in_namespace, bool *ret_keep, struct err *e)
{
	const char *rel = path_rel(m->src, tree->src);
	const char *at = path_rel(m->dst, tree->dst);
	int fd, r = 0;

	*ret_keep = false;
	fd = open_below(tree->src, *rel != '\0' ? rel : ".");
	if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EXDEV)
		return 0;
	/* Another's, and on a mount that nobody in there can write to. */
	if (fd == -EACCES && is_readonly(tree->src))
		return 0;
	if (fd < 0)
		return err_set(
		    e, ERR_SANDBOX, "look at %s: %s", m->src, strerror(-fd));
	if (in_namespace && at != NULL && strcmp(rel, at) == 0)
		r = mount_over_itself(fd, m->src, m->kind == MOUNT_RO, e);
	else
		*ret_keep = true;
	fd_close(&fd);
	return r;
}

int
shield_apply(struct sandbox_spec *s, bool in_namespace, struct err *e)
{
	const struct sandbox_mount *tree;
	struct sandbox_mount *kept;
	size_t n = 0;
	bool keep;
	int r;

	/* Not in place: the search for a tree goes over all of them. */
	kept = xcalloc(s->n_mounts + 1, sizeof *kept);
	for (size_t i = 0; i < s->n_mounts; i++) {
		keep = true;
		tree = tree_around(s, &s->mounts[i]);
		if (tree != NULL) {
			r = shield(&s->mounts[i], tree, in_namespace, &keep, e);
			if (r < 0) {
				free(kept);
				return r;
			}
		}
		if (keep) {
			kept[n++] = s->mounts[i];
		} else {
			free(s->mounts[i].src);
			free(s->mounts[i].dst);
			/* the others still look over it */
			s->mounts[i] = (struct sandbox_mount){
				.kind = MOUNT_DIR,
			};
		}
	}
	free(s->mounts);
	s->mounts = kept;
	s->n_mounts = n;
	return 0;
}
