/* workspace.c - see workspace.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/copyfile.h"
#include "sandbox/lockdir.h"
#include "sandbox/stage.h"
#include "sandbox/workspace.h"

/* A directory of the worker's uid. */
static int
own_dir(const char *path, mode_t mode, struct err *e)
{
	uid_t uid = stage_uid();
	int r = 0;

	if (mkdir(path, 0700) < 0 ||
	    (geteuid() == 0 && lchown(path, uid, uid) < 0) ||
	    chmod(path, mode) < 0)
		r = err_set(
		    e, -errno, "make directory %s: %s", path, strerror(errno));
	return r;
}

static int
own_subdir(const char *dir, const char *name, mode_t mode, struct err *e)
{
	char *path = path_join(dir, name);
	int r;

	r = own_dir(path, mode, e);
	free(path);
	return r;
}

/* The top of the merged tree has the owner and mode of the upper's. */
static int
make_overlay(
    struct workspace *w, const char *base, const struct stat *st, struct err *e)
{
	struct overlay *o = &w->overlay;
	int r;

	o->dir = path_join(w->dir, "ws");
	o->on_tmpfs = w->layout == LAYOUT_TMPFS;
	strv_add(&o->lowers, base);
	r = own_dir(o->dir, 0700, e);
	if (r == 0 && !o->on_tmpfs) {
		r = own_subdir(o->dir, "up", (st->st_mode & 01777) | 0700, e);
		if (r == 0)
			r = own_subdir(o->dir, "wk", 0700, e);
		if (r == 0)
			r = own_subdir(o->dir, "m", 0755, e);
	}
	w->tree_src = xstrdup("@merged");
	w->up_src = path_join(o->dir, "up");
	return r;
}

static int
make_copy(
    struct workspace *w, const char *base, const struct stat *st, struct err *e)
{
	int src = -1, dst = -1, r;

	w->tree_src = path_join(w->dir, "m");
	r = own_dir(w->tree_src, 0700, e);
	if (r < 0)
		return r;
	src = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (src >= 0)
		dst = open(w->tree_src, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dst < 0)
		r = err_set(e, -errno, "open %s: %s",
		    src < 0 ? base : w->tree_src, strerror(errno));
	else
		r = copy_tree(src, dst, stage_uid(), NULL, e);
	fd_close(&src);
	fd_close(&dst);
	if (r < 0)
		return r;
	r = copy_finish(AT_FDCWD, w->tree_src, stage_uid(), st);
	if (r < 0)
		err_set(e, r, "finish %s: %s", w->tree_src, strerror(-r));
	return r;
}

int
workspace_create(const char *dir, const char *base, enum layout layout,
    struct workspace *ret, struct err *e)
{
	struct workspace w = { .layout = layout };
	struct stat st;
	int r;

	if (lstat(base, &st) < 0)
		return err_set(e, -errno, "%s: %s", base, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, -ENOTDIR, "%s is not a directory", base);
	r = own_dir(dir, 0700, e);
	if (r < 0)
		return r;
	w.dir = xstrdup(dir);
	r = own_subdir(dir, "link", 0700, e);
	if (r == 0 && layout == LAYOUT_COPY)
		r = make_copy(&w, base, &st, e);
	else if (r == 0)
		r = make_overlay(&w, base, &st, e);
	if (r < 0)
		workspace_remove(&w);
	else
		*ret = w;
	return r;
}

void
workspace_remove(struct workspace *w)
{
	/* What stays behind goes with the scratch directory. */
	if (w->dir != NULL)
		(void)path_rmtree(w->dir, NULL);
	overlay_clear(&w->overlay);
	free(w->dir);
	free(w->tree_src);
	free(w->up_src);
	memset(w, 0, sizeof *w);
}

int
workspace_scratch(
    const char *parent, char **ret_dir, int *ret_lock_fd, struct err *e)
{
	int r;

	r = path_mkdirs(parent, 0700, e);
	if (r < 0)
		return r;
	r = lockdir_create(parent, "", ret_dir, ret_lock_fd, e);
	/* Workers reach what is below by its name. */
	if (r == 0 && geteuid() == 0)
		(void)chmod(*ret_dir, 0711);
	return r;
}

void
workspace_sweep(const char *parent)
{
	lockdir_sweep(parent, "");
}
