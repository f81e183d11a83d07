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
	if (m->kind != MOUNT_RO || !m->optional)
		return NULL;
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (s->mounts[i].kind == MOUNT_RW &&
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

/* Open below dir with no symbolic link on the way: 0, or a negative errno. */
static int
check_below(const char *dir, const char *rel)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	int dirfd, fd, r = 0;

	dirfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dirfd, rel, &how, sizeof how);
	if (fd < 0)
		r = -errno;
	fd_close(&fd);
	fd_close(&dirfd);
	return r;
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

static int
mount_over_itself(const char *path, struct err *e)
{
	const unsigned long ro = MS_REMOUNT | MS_BIND | MS_RDONLY;

	if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0 ||
	    mount(NULL, path, NULL, ro | flags_of(path), NULL) < 0)
		return err_set(e, ERR_SANDBOX, "make %s read-only: %s", path,
		    strerror(errno));
	return 0;
}

/* One of them. *ret_keep: bwrap has to mount it. */
static int
shield(const struct sandbox_mount *m, const struct sandbox_mount *tree,
    bool in_namespace, bool *ret_keep, struct err *e)
{
	const char *rel = path_rel(m->src, tree->src);
	const char *at = path_rel(m->dst, tree->dst);
	int r;

	*ret_keep = false;
	r = check_below(tree->src, *rel != '\0' ? rel : ".");
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EXDEV ||
	    r == -EACCES)
		return 0;
	if (r < 0)
		return err_set(
		    e, ERR_SANDBOX, "look at %s: %s", m->src, strerror(-r));
	if (in_namespace && at != NULL && strcmp(rel, at) == 0)
		return mount_over_itself(m->src, e);
	*ret_keep = true;
	return 0;
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
