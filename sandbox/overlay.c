#include "common/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/overlay.h"
#include "sandbox/userns.h"

void
overlay_clear(struct overlay *o)
{
	strv_clear(&o->lowers);
	free(o->dir);
	*o = (struct overlay){ 0 };
}

int
overlay_namespaces(struct err *e)
{
	int r = userns_unshare(CLONE_NEWNS, e);

	if (r < 0)
		return r;
	if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) < 0)
		return err_set(e, ERR_SANDBOX,
		    "the mount namespace can't be made a slave: %s",
		    strerror(errno));
	return 0;
}

static int
make_dir(const char *path, mode_t mode, struct err *e)
{
	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return err_set(
		    e, ERR_SANDBOX, "mkdir %s: %s", path, strerror(errno));
	return 0;
}

static int
mount_tmpfs(const struct overlay *o, struct err *e)
{
	char options[64] = "mode=700";

	if (o->tmpfs_bytes > 0)
		(void)snprintf(options, sizeof options, "mode=700,size=%llu",
		    (unsigned long long)o->tmpfs_bytes);
	if (mount("foray", o->dir, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return err_set(
		    e, ERR_SANDBOX, "tmpfs on %s: %s", o->dir, strerror(errno));
	return 0;
}

/* In the option string ',' separates options and ':' lower directories. */
static void
add_escaped(struct buf *b, const char *path, bool colons)
{
	for (; *path != '\0'; path++) {
		if (*path == '\\' || *path == ',' || (colons && *path == ':'))
			(void)buf_addc(b, '\\');
		(void)buf_addc(b, *path);
	}
}

static void
add_options(
    struct buf *b, const struct overlay *o, const char *up, const char *wk)
{
	(void)buf_adds(b, "userxattr,lowerdir=");
	for (size_t i = 0; i < o->lowers.n; i++) {
		if (i > 0)
			(void)buf_addc(b, ':');
		add_escaped(b, o->lowers.v[i], true);
	}
	(void)buf_adds(b, ",upperdir=");
	add_escaped(b, up, false);
	(void)buf_adds(b, ",workdir=");
	add_escaped(b, wk, false);
}

/* The root of the merged tree has the mode of the upper directory. */
static mode_t
top_mode(const struct overlay *o)
{
	struct stat st;

	if (stat(o->lowers.v[0], &st) < 0)
		return 0755;
	return (st.st_mode & 07777) | 0700;
}

static int
mount_overlay(const struct overlay *o, const char *up, const char *wk,
    const char *m, struct err *e)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV;
	struct buf b;
	size_t len;
	int r = 0;

	buf_init(&b, (size_t)sysconf(_SC_PAGESIZE) - 1);
	add_options(&b, o, up, wk);
	len = b.len;
	/* Nobody needs this tree after a power cut: fsync costs nothing. */
	if (buf_adds(&b, ",volatile") < 0) {
		r = err_set(e, ERR_SANDBOX,
		    "overlay: the paths of its directories are too long");
		goto out;
	}
	if (mount("overlay", m, "overlay", flags, b.data) == 0)
		goto out;
	if (errno == EINVAL) {
		b.data[len] = '\0';
		if (mount("overlay", m, "overlay", flags, b.data) == 0)
			goto out;
	}
	r = err_set(e, ERR_SANDBOX, "overlay on %s: %s", m, strerror(errno));
out:
	buf_clear(&b);
	return r;
}

/* The work directory of an earlier mount can't be used again: "volatile" left
 * a mark in it. */
static int
fresh_work(const char *wk, struct err *e)
{
	char *used = path_join(wk, "work");
	bool is_used = access(used, F_OK) == 0;

	free(used);
	/* One that was never mounted is left as it is: on ext4 an inode that
	 * was freed a moment ago makes the next allocations slow. */
	if (is_used && path_rmtree(wk, e) < 0)
		return ERR_SANDBOX;
	return make_dir(wk, 0700, e);
}

int
overlay_enter(const struct overlay *o, struct err *e)
{
	char *up = path_join(o->dir, "up"), *wk = path_join(o->dir, "wk");
	char *m = path_join(o->dir, "m");
	mode_t old = umask(0);
	int r;

	if ((r = overlay_namespaces(e)) < 0)
		goto out;
	if (o->on_tmpfs && (r = mount_tmpfs(o, e)) < 0)
		goto out;
	if ((r = make_dir(up, top_mode(o), e)) < 0 ||
	    (r = fresh_work(wk, e)) < 0 || (r = make_dir(m, 0700, e)) < 0)
		goto out;
	r = mount_overlay(o, up, wk, m, e);
out:
	(void)umask(old);
	free(up);
	free(wk);
	free(m);
	return r;
}
