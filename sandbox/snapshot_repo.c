/* snapshot_repo.c - the user's repository: where it is, what HEAD is. */
#include "common/compat.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/gitrun.h"
#include "sandbox/snapshot_priv.h"

#define TRACKED_AT_ONCE 200

/* The first line of a small file, or NULL. */
static char *
first_line(const char *dir, const char *name)
{
	char *path = path_join(dir, name), *line = NULL;
	struct buf b;

	buf_init(&b, 16384);
	if (file_read(path, false, &b, NULL) == 0 && b.len > 0 &&
	    strlen(b.data) == b.len)
		line = xstrndup(b.data, strcspn(b.data, "\r\n"));
	buf_clear(&b);
	free(path);
	return line;
}

static char *
resolve(const char *dir, const char *name)
{
	char *joined, *real;

	joined = name[0] == '/' ? xstrdup(name) : path_join(dir, name);
	real = realpath(joined, NULL);
	free(joined);
	return real;
}

static bool
is_type(const char *dir, const char *name, mode_t type)
{
	char *path = path_join(dir, name);
	struct stat st;
	bool yes;

	yes = lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
	free(path);
	return yes;
}

/* A value of GITDIR/config alone (includes are not followed); or NULL. */
static char *
config_get(const char *gitdir, const char *key)
{
	struct gitrun g = { 0 };
	char *file = path_join(gitdir, "config"), *value = NULL;
	struct buf out;

	buf_init(&out, 8192);
	strv_addl(&g.args, "config", "--no-includes", "--file", file, "--get",
	    key, (char *)NULL);
	g.out = &out;
	if (gitrun(&g, NULL) == 0 && out.len > 0)
		value = xstrndup(out.data, strcspn(out.data, "\n"));
	gitrun_clear(&g);
	buf_clear(&out);
	free(file);
	return value;
}

/* Does a directory hold a symbolic link, at most depth levels down? Too much to
 * look at counts as one. */
static bool
has_link(const char *dir, int depth, unsigned *budget)
{
	struct dirent *d;
	DIR *dp = opendir(dir);
	bool found = false;

	if (dp == NULL)
		return true;
	while (!found && (d = readdir(dp)) != NULL) {
		char *path;
		struct stat st;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		path = path_join(dir, d->d_name);
		if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode) ||
		    (*budget)-- == 0)
			found = true;
		else if (S_ISDIR(st.st_mode) && depth > 0)
			found = has_link(path, depth - 1, budget);
		free(path);
	}
	(void)closedir(dp);
	return found;
}

/* Links and alternates lead git to objects and refs of other repositories,
 * which a tree that somebody sent has no business with. Loose objects are
 * regular files below objects/XX, so only the directories are looked at there.
 */
static const char *
leads_elsewhere(const char *gitdir)
{
	static const char *const alternates[] = { "alternates",
		"http-alternates" };
	unsigned budget = 100000;
	char *refs = path_join(gitdir, "refs");
	char *objects = path_join(gitdir, "objects");
	char *info = path_join(objects, "info");
	char *pack = path_join(objects, "pack");
	const char *why = NULL;
	struct stat st;
	size_t i;

	for (i = 0; i < nitems(alternates); i++) {
		char *path = path_join(info, alternates[i]);

		if (lstat(path, &st) == 0)
			why = "it borrows objects of another repository "
			      "(objects/info/alternates)";
		free(path);
	}
	if (why == NULL &&
	    (has_link(refs, 32, &budget) || has_link(objects, 0, &budget) ||
		(lstat(info, &st) == 0 && has_link(info, 0, &budget)) ||
		(lstat(pack, &st) == 0 && has_link(pack, 0, &budget))))
		why = "symbolic links in it lead elsewhere";
	free(refs);
	free(objects);
	free(info);
	free(pack);
	return why;
}

/*
 * A .git file, or link, may name any repository of the user's; a tree that
 * somebody sent could so have a private one read. It must belong here: a linked
 * worktree or a submodule points back; a separate directory is at least nobody
 * else's ".git".
 */
static const char *
check_points_back(const char *root, const char *gitdir, const char *common)
{
	char *back, *real = NULL, *worktrees;
	const char *why = "its directory belongs to another work tree";
	bool below;

	if (common != NULL) {
		worktrees = path_join(common, "worktrees");
		back = first_line(gitdir, "gitdir");
		real = back != NULL ? path_dir(back) : NULL;
		free(back);
		back = real != NULL ? resolve(gitdir, real) : NULL;
		below = path_is_below(gitdir, worktrees);
		if (back != NULL && strcmp(back, root) == 0 && below)
			why = NULL;
		free(worktrees);
	} else {
		back = config_get(gitdir, "core.worktree");
		if (back != NULL)
			real = resolve(gitdir, back);
		if (back == NULL)
			why =
			    strcmp(path_base(gitdir), ".git") != 0 ? NULL : why;
		else if (real != NULL && strcmp(real, root) == 0)
			why = NULL;
	}
	free(back);
	free(real);
	return why;
}

/* gitdir and objects. A sentence when there is a repository that can't be
 * used; NULL and no gitdir when there is none. */
static const char *
find(const char *root, struct snap_git *g)
{
	const char *why = "it is no git directory";
	char *line, *common = NULL, *named = NULL;
	bool plain = is_type(root, ".git", S_IFDIR);

	if (!plain && !is_type(root, ".git", S_IFREG) &&
	    !is_type(root, ".git", S_IFLNK))
		return NULL;
	line = plain ? NULL : first_line(root, ".git");
	if (line != NULL && text_starts(line, "gitdir: "))
		g->gitdir = resolve(root, line + strlen("gitdir: "));
	else
		g->gitdir = resolve(root, ".git");
	free(line);
	if (g->gitdir == NULL)
		return "what it names does not exist";
	/* As a link each could name another repository's. */
	if (!is_type(g->gitdir, "HEAD", S_IFREG))
		return why;
	named = first_line(g->gitdir, "commondir");
	if (named != NULL) {
		common = resolve(g->gitdir, named);
		if (common == NULL || plain)
			goto out;
	}
	if (!is_type(common != NULL ? common : g->gitdir, "refs", S_IFDIR) ||
	    !is_type(common != NULL ? common : g->gitdir, "objects", S_IFDIR) ||
	    is_type(
		common != NULL ? common : g->gitdir, "packed-refs", S_IFLNK))
		goto out;
	g->objects = path_join(common != NULL ? common : g->gitdir, "objects");
	why = leads_elsewhere(common != NULL ? common : g->gitdir);
	if (why == NULL && !plain)
		why = check_points_back(root, g->gitdir, common);
out:
	free(common);
	free(named);
	return why;
}

static void
user_env(const struct snap_git *g, const char *root, struct gitrun *run)
{
	strv_addf(&run->env, "GIT_DIR=%s", g->gitdir);
	strv_addf(&run->env, "GIT_WORK_TREE=%s", root);
	run->cwd = root;
}

static bool
is_hex(const char *s)
{
	size_t n = strspn(s, "0123456789abcdef");

	return s[n] == '\0' && (n == 40 || n == 64);
}

/* "sha1\n" or "sha256\n", then the commit unless there is none yet. */
static const char *
ask_head(const char *root, struct snap_git *g, struct gitrun *run,
    struct err *e, int *ret)
{
	struct strv lines = { 0 };
	const char *why = NULL;
	struct buf out;
	char *text, *s, *save = NULL;
	int r;

	buf_init(&out, 4096);
	strv_addl(&run->args, "rev-parse", "--show-object-format", "HEAD",
	    (char *)NULL);
	user_env(g, root, run);
	run->out = &out;
	run->timeout_ms = 60 * 1000;
	r = gitrun(run, e);
	*ret = r < 0 && r != -ETIMEDOUT ? r : 0;
	text = buf_detach(&out, NULL);
	for (s = strtok_r(text, "\n", &save); s != NULL;
	     s = strtok_r(NULL, "\n", &save))
		strv_add(&lines, s);
	free(text);
	/* A branch without a commit is "ambiguous", too. */
	if (r < 0 || lines.n == 0 ||
	    (r > 0 && strstr(run->said, "ambiguous") == NULL)) {
		why = run->said[0] != '\0' ? run->said : "git can't read it";
		goto out;
	}
	g->sha256 = strcmp(lines.v[0], "sha256") == 0;
	if (r == 0 && lines.n == 2 && is_hex(lines.v[1]))
		g->commit = xstrdup(lines.v[1]);
	else if (r == 0)
		why = "HEAD is no commit";
out:
	strv_clear(&lines);
	buf_clear(&out);
	return why;
}

int
snap_git_open(const char *root, struct snap_git *ret, struct err *e)
{
	struct snap_git g = { 0 };
	struct gitrun run = { 0 };
	const char *why;
	int r = 0;

	why = find(root, &g);
	if (why == NULL && g.gitdir != NULL)
		why = ask_head(root, &g, &run, e, &r);
	if (r == ERR_NOTFOUND) {
		why = "there is no git program";
		r = 0;
	}
	if (why != NULL) {
		g.state = xasprintf("broken %s", why);
	} else if (g.gitdir == NULL) {
		g.state = xstrdup("none");
	} else if (g.commit != NULL) {
		g.state = xasprintf("commit %s", g.commit);
	} else {
		g.state = xasprintf("empty %s", g.sha256 ? "sha256" : "sha1");
	}
	gitrun_clear(&run);
	if (r < 0)
		snap_git_clear(&g);
	else
		*ret = g;
	return r;
}

char *
snapshot_outside(const char *root)
{
	struct snap_git g = { 0 };
	char *common = NULL, *back = NULL;

	if (is_type(root, ".git", S_IFREG) && find(root, &g) == NULL &&
	    g.gitdir != NULL) {
		common = path_dir(g.objects);
		/* One that names no work tree may be anybody's. */
		if (strcmp(common, g.gitdir) == 0 &&
		    (back = config_get(g.gitdir, "core.worktree")) == NULL) {
			free(common);
			common = NULL;
		}
	}
	free(back);
	snap_git_clear(&g);
	return common;
}

void
snap_git_clear(struct snap_git *g)
{
	free(g->gitdir);
	free(g->objects);
	free(g->commit);
	free(g->state);
	memset(g, 0, sizeof *g);
}

void
snap_git_tracked(const struct snap_git *g, const char *root,
    const struct strv *paths, struct strv *ret)
{
	struct gitrun run;
	size_t i, j, at;
	struct buf out;

	if (g->gitdir == NULL || text_starts(g->state, "broken"))
		return;
	for (i = 0; i < paths->n; i += TRACKED_AT_ONCE) {
		memset(&run, 0, sizeof run);
		buf_init(&out, 4 << 20);
		strv_addl(&run.args, "ls-files", "-z", "--", (char *)NULL);
		for (j = i; j < paths->n && j < i + TRACKED_AT_ONCE; j++)
			strv_add(&run.args, paths->v[j]);
		user_env(g, root, &run);
		run.out = &out;
		if (gitrun(&run, NULL) == 0) {
			for (at = 0; at < out.len;
			     at += strlen(out.data + at) + 1)
				strv_add(ret, out.data + at);
		}
		gitrun_clear(&run);
		buf_clear(&out);
	}
}

/* --- the top ----------------------------------------------------------------
 */

static bool
is_git_dir(const char *dir)
{
	struct stat st;
	char *head = path_join(dir, "HEAD"), *objects, *common;
	bool yes;

	objects = path_join(dir, "objects");
	common = path_join(dir, "commondir");
	yes = lstat(head, &st) == 0 && !S_ISDIR(st.st_mode) &&
	    (stat(objects, &st) == 0 || stat(common, &st) == 0);
	free(head);
	free(objects);
	free(common);
	return yes;
}

/* 1: dir is a top, 0: it is not, negative: no work tree can be above. */
static int
is_top(const char *dir, struct err *e)
{
	char *git = path_join(dir, ".git");
	struct stat st;
	int r = 0;

	if (lstat(git, &st) == 0 && (S_ISREG(st.st_mode) || is_git_dir(git)))
		r = 1;
	else if (is_git_dir(dir) && is_type(dir, "refs", S_IFDIR))
		r = err_set(e, ERR_USAGE,
		    "%s is a git directory without a work tree (a bare "
		    "repository, or the inside of .git)",
		    dir);
	free(git);
	return r;
}

int
snapshot_toplevel(const char *dir, char **ret, struct err *e)
{
	struct stat st, first;
	char *at, *up;
	int r;

	at = realpath(dir, NULL);
	if (at == NULL || stat(at, &first) < 0) {
		r = err_set(e, -errno, "%s: %s", dir, strerror(errno));
		goto out;
	}
	if (!S_ISDIR(first.st_mode)) {
		r = err_set(e, -ENOTDIR, "%s is not a directory", dir);
		goto out;
	}
	for (;;) {
		r = is_top(at, e);
		if (r != 0)
			break;
		up = strcmp(at, "/") != 0 ? path_dir(at) : NULL;
		free(at);
		at = up;
		/* Not into another file system, as git. */
		if (at == NULL || stat(at, &st) < 0 ||
		    st.st_dev != first.st_dev)
			break;
	}
	if (r == 0)
		*ret = NULL;
	if (r == 1) {
		*ret = at;
		at = NULL;
		r = 0;
	}
out:
	free(at);
	return r;
}
