/* premount.c - see premount.h. */
#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/premount.h"

/* As in Linux's mount.h, which glibc 2.36 does not have. */
#define TREE_CLONE 0x1
#define MOVE_FROM_EMPTY_PATH 0x4
#define MOVE_TO_EMPTY_PATH 0x40
#define ATTR_RDONLY 0x1
#define ATTR_NOSUID 0x2
#define ATTR_NODEV 0x4
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define DATA_NAME ".data" /* while it gets its place */

enum fate {
	OPEN, /* not looked at yet */
	DONE,
	LEFT /* to bwrap */
};

struct ground {
	const struct sandbox_spec *s;
	const char *at; /* the root, by name and descriptor */
	int fd;
	enum fate *fate; /* of each mount */
};

static bool
are_related(const char *a, const char *b)
{
	return path_is_below(a, b) || path_is_below(b, a);
}

/* What holds its place. */
enum place {
	PLACE_OWN,   /* our own empty directories */
	PLACE_MOUNT, /* a read-only mount, where it must be there already */
	PLACE_NONE   /* not to be had here */
};

/* What is left to bwrap comes later, so what is below that or was to cover it
 * is left, too. In a writable mount a path may lead through what a sandboxed
 * program has made. */
static enum place
place_of(const struct ground *g, size_t i)
{
	const char *dst = g->s->mounts[i].dst;
	const struct sandbox_mount *m;
	enum place place = PLACE_OWN;

	if (strcmp(dst, "/") == 0)
		return PLACE_NONE;
	for (size_t k = 0; k < i; k++) {
		m = &g->s->mounts[k];
		if (g->fate[k] == LEFT && are_related(dst, m->dst))
			return PLACE_NONE;
		if (!path_is_below(dst, m->dst) || m->kind == MOUNT_DIR)
			continue;
		if (m->kind == MOUNT_TMPFS)
			place = PLACE_OWN;
		else if (m->kind == MOUNT_RO || m->kind == MOUNT_DATA)
			place = PLACE_MOUNT;
		else
			return PLACE_NONE;
	}
	return place;
}

/* --- making one ----------------------------------------------------------- */

/* rel with all directories above it. */
static int
make_dirs(int root, const char *rel)
{
	char *up;
	int r;

	if (*rel == '\0' || mkdirat(root, rel, 0755) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT || strchr(rel, '/') == NULL)
		return -errno;
	up = path_dir(rel);
	r = make_dirs(root, up);
	free(up);
	if (r == 0 && mkdirat(root, rel, 0755) < 0)
		r = -errno;
	return r;
}

static int
make_above(int root, const char *rel)
{
	char *up;
	int r;

	if (strchr(rel, '/') == NULL)
		return 0;
	up = path_dir(rel);
	r = make_dirs(root, up);
	free(up);
	return r;
}

static int
make_file(int root, const char *rel)
{
	int r = make_above(root, rel), fd;

	if (r < 0)
		return r;
	fd = openat(root, rel, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0)
		return -errno;
	fd_close(&fd);
	return 0;
}

static int
make_tmpfs(const struct ground *g, const struct sandbox_mount *m)
{
	char options[64] = "mode=0755", *path;
	int r = make_dirs(g->fd, m->dst + 1);

	if (r < 0)
		return r;
	if (m->size > 0)
		(void)snprintf(options, sizeof options,
		    "mode=0755,size=%" PRIu64, m->size);
	path = xasprintf("%s%s", g->at, m->dst);
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		r = -errno;
	free(path);
	return r;
}

/* A descriptor of what a mount is to cover, with no link on the way. */
static int
open_target(const struct ground *g, const char *rel)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, g->fd, rel, &how, sizeof how);

	return fd < 0 ? -errno : fd;
}

static int
make_target(const struct ground *g, int tree, enum place place, const char *rel)
{
	struct stat st;
	int r = 0;

	if (place == PLACE_OWN && fstat(tree, &st) < 0)
		r = -errno;
	else if (place == PLACE_OWN)
		r = S_ISDIR(st.st_mode) ? make_dirs(g->fd, rel)
					: make_file(g->fd, rel);
	return r < 0 ? r : open_target(g, rel);
}

/* Its attributes are set before it has a place: there is no moment in which it
 * could be written to. */
static int
make_bind(const struct ground *g, int from, const char *src, bool readonly,
    const char *rel, enum place place)
{
	struct {
		uint64_t set, clr, propagation, userns;
	} attr = { .set = ATTR_NOSUID | ATTR_NODEV };
	int tree, target = -1, r = 0;

	if (readonly)
		attr.set |= ATTR_RDONLY;
	tree = (int)syscall(
	    SYS_open_tree, from, src, TREE_CLONE | O_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return -errno;
	if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
		&attr, sizeof attr) < 0)
		r = -errno;
	else if ((target = make_target(g, tree, place, rel)) < 0)
		r = target;
	else if (syscall(SYS_move_mount, tree, "", target, "",
		     MOVE_FROM_EMPTY_PATH | MOVE_TO_EMPTY_PATH) < 0)
		r = -errno;
	fd_close(&target);
	fd_close(&tree);
	return r;
}

static int
make_data(
    const struct ground *g, const struct sandbox_mount *m, enum place place)
{
	int r,
	    fd = openat(g->fd, DATA_NAME,
		O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (fd < 0)
		return -errno;
	r = fd_write_all(fd, m->src, strlen(m->src));
	fd_close(&fd);
	if (r == 0)
		r = make_bind(g, g->fd, DATA_NAME, true, m->dst + 1, place);
	(void)unlinkat(g->fd, DATA_NAME, 0);
	return r;
}

static int
make_link(const struct ground *g, const struct sandbox_mount *m)
{
	int r = make_above(g->fd, m->dst + 1);

	if (r == 0 && symlinkat(m->src, g->fd, m->dst + 1) < 0)
		r = -errno;
	return r;
}

static int
make_one(
    const struct ground *g, const struct sandbox_mount *m, enum place place)
{
	const bool own = place == PLACE_OWN;
	int r = -ENOTSUP;

	switch (m->kind) {
	case MOUNT_RO:
	case MOUNT_RW:
		r = make_bind(g, AT_FDCWD, m->src, m->kind == MOUNT_RO,
		    m->dst + 1, place);
		break;
	case MOUNT_DATA:
		r = make_data(g, m, place);
		break;
	case MOUNT_TMPFS:
		if (own)
			r = make_tmpfs(g, m);
		break;
	case MOUNT_DIR:
		if (own)
			r = make_dirs(g->fd, m->dst + 1);
		break;
	case MOUNT_SYMLINK:
		if (own)
			r = make_link(g, m);
		break;
	case MOUNT_PROC:
	case MOUNT_DEV:
	case MOUNT_REMOUNT_RO:
		break;
	}
	return r;
}

/* --- all ------------------------------------------------------------------ */

static void
take_out(struct sandbox_spec *s, const enum fate *fate, const char *at)
{
	struct sandbox_mount *kept = xcalloc(s->n_mounts + 1, sizeof *kept);
	size_t n = 1;

	kept[0] = (struct sandbox_mount){
		.kind = MOUNT_RW, .src = xstrdup(at), .dst = xstrdup("/")
	};
	for (size_t i = 0; i < s->n_mounts; i++) {
		if (fate[i] != DONE) {
			kept[n++] = s->mounts[i];
			continue;
		}
		free(s->mounts[i].src);
		free(s->mounts[i].dst);
	}
	free(s->mounts);
	s->mounts = kept;
	s->n_mounts = n;
}

static enum fate
make_place(const struct ground *g, size_t i)
{
	const enum place place = place_of(g, i);

	return place != PLACE_NONE && make_one(g, &g->s->mounts[i], place) == 0
	    ? DONE
	    : LEFT;
}

void
premount(struct sandbox_spec *s, const char *at)
{
	struct ground g = { .s = s, .at = at };
	mode_t old;

	if (mount("foray", at, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
		return;
	if ((g.fd = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0)
		return;
	g.fate = xcalloc(s->n_mounts + 1, sizeof *g.fate);
	old = umask(0);
	for (size_t i = 0; i < s->n_mounts; i++)
		g.fate[i] = make_place(&g, i);
	(void)umask(old);
	fd_close(&g.fd);
	take_out(s, g.fate, at);
	free(g.fate);
}
