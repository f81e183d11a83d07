#include "common/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "orchestrator/direct/livetree.h"
#include "sandbox/snapshot.h"

#define MAX_REPOS 500
/* Deeper than that is nobody's repository, and paths have an end. */
#define MAX_DEPTH 128

void
livetree_clear(struct livetree *t)
{
	free(t->dir);
	free(t->root);
	strv_clear(&t->guarded);
	strv_clear(&t->pinned);
	strv_clear(&t->shown);
	*t = (struct livetree){ 0 };
}

int
livetree_find(const char *repo, struct livetree *ret, struct err *e)
{
	struct livetree t = { 0 };
	int r = 0;

	if ((t.dir = realpath(repo, NULL)) == NULL)
		return err_set(e, ERR_USAGE, "%s: %s", repo, strerror(errno));
	r = snapshot_toplevel(t.dir, &t.root, e);
	if (r == 0 && t.root == NULL)
		t.root = xstrdup(t.dir);
	if (r == 0 && strcmp(t.root, "/") == 0)
		r = err_set(e, ERR_USAGE,
		    "the tree is the whole file system: name a directory "
		    "with -C");
	if (r < 0)
		livetree_clear(&t);
	else
		*ret = t;
	return r;
}

static void
pin(struct livetree *t, const char *rel)
{
	char *dir = path_dir(rel), *path;

	if (strcmp(dir, ".") != 0) {
		pin(t, dir);
		path = path_join(t->root, dir);
		if (!strv_has(&t->pinned, path))
			strv_add(&t->pinned, path);
		free(path);
	}
	free(dir);
}

static int
found(struct livetree *t, const char *rel, struct err *e)
{
	if (t->guarded.n >= MAX_REPOS)
		return err_set(e, ERR_LIMIT,
		    "%s holds more than %d repositories: name one of them "
		    "with -C, or use --copy",
		    t->root, MAX_REPOS);
	strv_add(&t->guarded, rel);
	pin(t, rel);
	return 0;
}

static bool
is_dir(const struct dirent *d, int dirfd)
{
	struct stat st;

	if (d->d_type != DT_UNKNOWN)
		return d->d_type == DT_DIR;
	return fstatat(dirfd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISDIR(st.st_mode);
}

/* Takes fd. What can't be read can't be changed inside either. */
static int
look(struct livetree *t, int fd, const char *rel, unsigned depth, struct err *e)
{
	struct dirent *d;
	char *sub;
	int r = 0;
	DIR *dp = fdopendir(fd);

	if (dp == NULL) {
		fd_close(&fd);
		return 0;
	}
	while (r == 0 && (d = readdir(dp)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		sub = *rel != '\0' ? path_join(rel, d->d_name)
				   : xstrdup(d->d_name);
		if (strcasecmp(d->d_name, ".git") == 0) {
			if (*rel != '\0')
				r = found(t, sub, e);
		} else if (depth < MAX_DEPTH && is_dir(d, dirfd(dp))) {
			fd = openat(dirfd(dp), d->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (fd >= 0)
				r = look(t, fd, sub, depth + 1, e);
		}
		free(sub);
	}
	(void)closedir(dp);
	return r;
}

/* A link could be replaced by a command, since nothing can be mounted on it. */
static int
check_git_link(const char *root, struct err *e)
{
	char *git = path_join(root, ".git");
	struct stat st;
	int r = 0;

	if (lstat(git, &st) == 0 && S_ISLNK(st.st_mode))
		r = err_set(e, ERR_USAGE,
		    "%s is a symbolic link, which can't be made read-only: use "
		    "--copy",
		    git);
	free(git);
	return r;
}

int
livetree_look(struct livetree *t, struct err *e)
{
	char *outside;
	int fd, r;

	if ((r = check_git_link(t->root, e)) < 0)
		return r;
	outside = snapshot_outside(t->root);
	fd = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outside != NULL)
		strv_take(&t->shown, &outside);
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", t->root, strerror(errno));
	return look(t, fd, "", 0, e);
}
