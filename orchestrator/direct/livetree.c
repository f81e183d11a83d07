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
#include "common/text.h"
#include "orchestrator/direct/livetree.h"
#include "orchestrator/direct/refuse.h"
#include "sandbox/snapshot.h"

#define MAX_REPOS 500
/* Deeper than that is nobody's repository, and paths have an end. */
#define MAX_DEPTH 128
#define MAX_ASKED 20000 /* files: some 20 ms */

void
livetree_clear(struct livetree *t)
{
	free(t->dir);
	free(t->root);
	strv_clear(&t->guarded);
	strv_clear(&t->pinned);
	strv_clear(&t->shown);
	free(t->foreign);
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
	if (r == 0)
		r = refuse_tree(t.root, e);
	if (r < 0)
		livetree_clear(&t);
	else
		*ret = t;
	return r;
}

void
livetree_pin(struct livetree *t, const char *rel)
{
	char *dir = path_dir(rel), *path;

	if (strcmp(dir, ".") != 0) {
		livetree_pin(t, dir);
		path = path_join(t->root, dir);
		if (!strv_has(&t->pinned, path))
			strv_add(&t->pinned, path);
		free(path);
	}
	free(dir);
}

static int
guard(struct livetree *t, const char *rel, struct err *e)
{
	if (strv_has(&t->guarded, rel))
		return 0;
	if (t->guarded.n >= MAX_REPOS)
		return err_set(e, ERR_LIMIT,
		    "%s holds more than %d repositories: name one of them "
		    "with -C, or use --copy",
		    t->root, MAX_REPOS);
	strv_add(&t->guarded, rel);
	livetree_pin(t, rel);
	return 0;
}

static int
no_link(const char *path, struct err *e)
{
	return err_set(e, ERR_USAGE,
	    "%s is a symbolic link, which can't be made read-only: use --copy",
	    path);
}

/* Parts of a git directory that lie elsewhere in the tree would stay writable.
 */
static int
check_parts(const struct livetree *t, const char *git, struct err *e)
{
	static const char *const parts[] = { "HEAD", "config", "hooks", "info",
		"index", "modules", "objects", "packed-refs", "refs",
		"worktrees" };
	struct stat st;
	char *path, *real;
	int r = 0;

	for (size_t i = 0; i < nitems(parts) && r == 0; i++) {
		path = path_join(git, parts[i]);
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) {
			real = realpath(path, NULL);
			if (real == NULL || path_is_below(real, t->root))
				r = no_link(path, e);
			free(real);
		}
		free(path);
	}
	return r;
}

/* The directory that a file names, after prefix, seen from dir; when it lies in
 * the tree it is guarded. */
static int
follow(struct livetree *t, const char *file, const char *prefix,
    const char *dir, char **ret, struct err *e)
{
	struct buf b;
	char *name, *path;
	int r = 0;

	*ret = NULL;
	buf_init(&b, 16384);
	if (file_read(file, true, &b, NULL) == 0 &&
	    text_starts(buf_str(&b), prefix)) {
		name = xstrndup(buf_str(&b) + strlen(prefix),
		    strcspn(buf_str(&b) + strlen(prefix), "\r\n"));
		path = name[0] == '/' ? xstrdup(name) : path_join(dir, name);
		*ret = realpath(path, NULL);
		free(name);
		free(path);
	}
	buf_clear(&b);
	if (*ret != NULL && path_is_below(*ret, t->root)) {
		if (strcmp(*ret, t->root) == 0)
			r = err_set(e, ERR_USAGE,
			    "%s names the tree itself: use --copy", file);
		else if ((r = guard(t, path_rel(*ret, t->root), e)) == 0)
			r = check_parts(t, *ret, e);
	}
	return r;
}

/* A .git, of a repository, a worktree or a submodule. */
static int
found(struct livetree *t, const char *rel, struct err *e)
{
	char *path = path_join(t->root, rel), *dir = path_dir(path);
	char *git = NULL, *common = NULL, *file;
	struct stat st;
	int r = 0;

	if (lstat(path, &st) < 0)
		goto out;
	if (S_ISLNK(st.st_mode)) {
		r = no_link(path, e);
		goto out;
	}
	/* That at the top is guarded by the profile. */
	if (strcmp(rel, ".git") != 0 && (r = guard(t, rel, e)) < 0)
		goto out;
	if (S_ISDIR(st.st_mode)) {
		r = check_parts(t, path, e);
	} else if ((r = follow(t, path, "gitdir: ", dir, &git, e)) == 0 &&
	    git != NULL) {
		file = path_join(git, "commondir");
		r = follow(t, file, "", git, &common, e);
		free(file);
	}
out:
	free(path);
	free(dir);
	free(git);
	free(common);
	return r;
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

/* What can't be looked at could be made readable inside, and then be changed.
 */
static int
cant_look(const struct livetree *t, const char *rel, struct err *e)
{
	return err_set(e, ERR_USAGE,
	    "%s/%s can't be searched for repositories: %s; hide it with "
	    "--hide %s/%s, make it readable, remove it, or use --copy",
	    t->root, rel, strerror(errno), t->root, rel);
}

struct walk {
	const struct strv *hidden;
	uid_t owner;
	unsigned asked; /* owners of so many more files are looked at */
};

/* Files of others become nobody's inside (stage.h). */
static void
look_at_owner(struct livetree *t, struct walk *w, const struct dirent *d,
    int dirfd, const char *rel)
{
	struct stat st;

	if (w->asked == 0 || t->foreign != NULL || d->d_type == DT_LNK)
		return;
	w->asked--;
	if (fstatat(dirfd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_uid != w->owner)
		t->foreign = path_join(t->root, rel);
}

/* It will be covered, so nothing in it can be reached. */
static bool
is_hidden(const struct livetree *t, const char *rel, const struct strv *hidden)
{
	const char *at;

	for (size_t i = 0; i < hidden->n; i++) {
		at = path_rel(hidden->v[i], t->root);
		if (at != NULL && strcmp(at, rel) == 0)
			return true;
	}
	return false;
}

/* Takes fd. */
static int
look(struct livetree *t, struct walk *w, int fd, const char *rel,
    unsigned depth, struct err *e)
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
			r = found(t, sub, e);
			free(sub);
			continue;
		}
		look_at_owner(t, w, d, dirfd(dp), sub);
		if (is_dir(d, dirfd(dp)) && !is_hidden(t, sub, w->hidden)) {
			errno = ELOOP;
			fd = depth >= MAX_DEPTH
			    ? -1
			    : openat(dirfd(dp), d->d_name,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
				      O_CLOEXEC);
			if (fd >= 0)
				r = look(t, w, fd, sub, depth + 1, e);
			else if (errno != ENOENT && errno != ENOTDIR)
				r = cant_look(t, sub, e);
		}
		free(sub);
	}
	(void)closedir(dp);
	return r;
}

int
livetree_look(struct livetree *t, const struct strv *hidden, struct err *e)
{
	struct walk w = { .hidden = hidden };
	char *outside = snapshot_outside(t->root);
	int fd = open(t->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (outside != NULL)
		strv_take(&t->shown, &outside);
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", t->root, strerror(errno));
	if (geteuid() == 0 && fstat(fd, &st) == 0) {
		w.owner = st.st_uid;
		w.asked = MAX_ASKED;
	}
	return look(t, &w, fd, "", 0, e);
}
