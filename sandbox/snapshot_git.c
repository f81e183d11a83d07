/*
 * snapshot_git.c - the private .git of a snapshot: one commit.
 *
 * Only two questions are put to git about the user's repository as such (HEAD,
 * and which files the index has). Objects are read from its object directory as
 * an alternate of the new, empty repository, under the new one's configuration.
 */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/copyfile.h"
#include "sandbox/gitrun.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/stage.h"
#include "sandbox/walk.h"

#define PACK_TIMEOUT_MS (60 * 60 * 1000)
/* Larger files don't come into git's memory as a whole. */
#define STREAMED "core.bigFileThreshold=16m"

/* --- the new one ------------------------------------------------------------
 */

static int
put(const char *dir, const char *name, const char *text, struct err *e)
{
	char *path = path_join(dir, name);
	int fd, r;

	fd = open(
	    path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
	fd_close(&fd);
	if (r < 0)
		err_set(e, r, "write %s: %s", path, strerror(-r));
	free(path);
	return r;
}

/* An empty repository, as git init makes one, without templates. */
int
snap_git_empty(const struct snap_git *g, const char *dir, struct err *e)
{
	static const char *const dirs[] = { "objects/pack", "objects/info",
		"refs/heads", "refs/tags", "hooks", "info" };
	char *path, *config, *line;
	size_t i;
	int r = 0;

	for (i = 0; i < nitems(dirs) && r == 0; i++) {
		path = path_join(dir, dirs[i]);
		r = path_mkdirs(path, 0755, e);
		free(path);
	}
	/* The next snapshot links files from this one: their ctime moves. */
	config = xasprintf("[core]\n"
			   "\trepositoryformatversion = %d\n"
			   "\tfilemode = true\n"
			   "\tbare = false\n"
			   "\tlogallrefupdates = true\n"
			   "\ttrustctime = false\n"
			   "%s"
			   "[user]\n"
			   "\tname = foray\n"
			   "\temail = foray\n",
	    g->sha256,
	    g->sha256 ? "[extensions]\n\tobjectformat = sha256\n" : "");
	if (r == 0)
		r = put(dir, "config", config, e);
	if (r == 0)
		r = put(dir, "HEAD", "ref: refs/heads/main\n", e);
	if (r == 0 && g->commit != NULL) {
		line = xasprintf("%s\n", g->commit);
		r = put(dir, "shallow", line, e);
		if (r == 0)
			r = put(dir, "refs/heads/main", line, e);
		free(line);
	}
	free(config);
	return r;
}

/* A list of directories is separated by colons; git unquotes C strings. */
void
snap_git_borrow(const struct strv *objects, struct strv *env)
{
	const char *at;
	struct buf b;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&b, "GIT_ALTERNATE_OBJECT_DIRECTORIES=");
	for (i = 0; i < objects->n; i++) {
		(void)buf_adds(&b, i > 0 ? ":\"" : "\"");
		for (at = objects->v[i]; *at != '\0'; at++) {
			if (*at == '"' || *at == '\\')
				(void)buf_addc(&b, '\\');
			(void)buf_addc(&b, *at);
		}
		(void)buf_addc(&b, '"');
	}
	strv_add(env, buf_str(&b));
	buf_clear(&b);
}

/* One git command in the new repository; 1: it failed, g->state says why. */
static int
in_new(struct snap_git *g, const char *dir, const char *tree,
    struct gitrun *run, struct err *e)
{
	struct buf out;
	int r;

	buf_init(&out, 64 << 10);
	strv_addf(&run->env, "GIT_DIR=%s", dir);
	strv_addf(&run->env, "GIT_WORK_TREE=%s", tree);
	run->cwd = tree;
	run->out = &out;
	r = gitrun(run, e);
	buf_clear(&out);
	if (r > 0 && strstr(run->said, "No space left on device") != NULL)
		return err_set(e, -ENOSPC,
		    "no room for a copy of the commit below %s", tree);
	if (r > 0) {
		free(g->state);
		g->state = xasprintf("broken %s",
		    run->said[0] != '\0' ? run->said : "git failed");
	}
	return r > 0 ? 1 : r;
}

/* Without deltas, which cost little here: one commit has few. So each object's
 * bytes are of use without the others (snapshot_import_thin.c). */
static int
pack(struct snap_git *g, const char *dir, const char *tree, struct err *e)
{
	struct gitrun run = { .timeout_ms = PACK_TIMEOUT_MS };
	struct strv own = { 0 };
	char *line, *base;
	int r;

	if (g->objects == NULL && g->borrow == NULL)
		return err_set(e, -ENOENT, "there are no objects to pack");
	if (g->borrow == NULL)
		strv_add(&own, g->objects);
	line = xasprintf("%s\n", g->commit);
	base = path_join(dir, "objects/pack/pack");
	strv_addl(&run.args, "-c", "core.compression=1", "-c", STREAMED, "-c",
	    "pack.writeReverseIndex=false", "pack-objects", "-q", "--revs",
	    "--window=0", "--no-reuse-delta", base, (char *)NULL);
	snap_git_borrow(g->borrow != NULL ? g->borrow : &own, &run.env);
	strv_clear(&own);
	run.input = line;
	run.input_len = strlen(line);
	r = in_new(g, dir, tree, &run, e);
	gitrun_clear(&run);
	free(base);
	free(line);
	return r;
}

/* Does the commit have all that it names? */
static int
find_all(struct snap_git *g, const char *dir, const char *tree, struct err *e)
{
	struct gitrun run = { .timeout_ms = PACK_TIMEOUT_MS };
	int r;

	strv_addl(&run.args, "rev-list", "--objects", "--quiet", g->commit,
	    (char *)NULL);
	r = in_new(g, dir, tree, &run, e);
	gitrun_clear(&run);
	return r;
}

int
snap_git_check(struct snap_git *g, const char *tree, struct err *e)
{
	char *dir = path_join(tree, ".git");
	int r = g->commit != NULL ? find_all(g, dir, tree, e) : 0;

	free(dir);
	return r;
}

int
snap_git_take_pack(struct snap_git *g, const char *path, const char *dir,
    const char *tree, struct err *e)
{
	struct gitrun run = { .timeout_ms = PACK_TIMEOUT_MS };
	char *dst = path_joinf(dir, "objects/pack/pack-%s.pack", g->commit);
	int r;

	if (rename(path, dst) < 0) {
		r = err_set(
		    e, -errno, "move %s to %s: %s", path, dst, strerror(errno));
	} else {
		strv_addl(&run.args, "-c", STREAMED, "-c",
		    "pack.writeReverseIndex=false", "index-pack", dst,
		    (char *)NULL);
		r = in_new(g, dir, tree, &run, e);
		gitrun_clear(&run);
	}
	free(dst);
	return r;
}

/* The commit from elsewhere, where nothing may be missing. */
static int
take_commit(
    struct snap_git *g, const char *dir, const char *tree, struct err *e)
{
	int r = g->pack != NULL ? snap_git_take_pack(g, g->pack, dir, tree, e)
				: pack(g, dir, tree, e);

	return r == 0 ? find_all(g, dir, tree, e) : r;
}

static int
index_files(struct snap_git *g, const char *dir, const char *tree, bool read,
    struct err *e)
{
	struct gitrun run = { 0 };
	char *state;
	int r = 0;

	if (read) {
		strv_addl(&run.args, "read-tree", "HEAD", (char *)NULL);
		r = in_new(g, dir, tree, &run, e);
		gitrun_clear(&run);
	}
	if (r != 0)
		return r;
	memset(&run, 0, sizeof run);
	strv_addl(&run.args, "update-index", "-q", "--refresh", (char *)NULL);
	/* Fails where a file differs; that is no fault. */
	state = xstrdup(g->state);
	r = in_new(g, dir, tree, &run, e);
	if (r == 1) {
		free(g->state);
		g->state = state;
		state = NULL;
		r = 0;
	}
	free(state);
	gitrun_clear(&run);
	return r;
}

static int
copy_old(const char *old, const char *dir, struct err *e)
{
	int src, dst, r;

	src = open(old, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (src < 0)
		return err_set(e, -errno, "open %s: %s", old, strerror(errno));
	dst = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dst < 0)
		r = err_set(e, -errno, "open %s: %s", dir, strerror(errno));
	else
		r = copy_tree(src, dst, stage_uid(), "objects", e);
	fd_close(&src);
	fd_close(&dst);
	return r;
}

static int
chown_entry(const struct walk_ent *w, void *ctx)
{
	const uid_t *uid = ctx;

	return fchownat(w->dirfd, w->name, *uid, *uid, AT_SYMLINK_NOFOLLOW) < 0
	    ? -errno
	    : 0;
}

/* What git made belongs to root. */
static int
give_away(const char *dir, struct err *e)
{
	static const struct walk_ops ops = { chown_entry, NULL };
	uid_t uid = stage_uid();
	int fd, r;

	if (geteuid() != 0)
		return 0;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 || fchown(fd, uid, uid) < 0 ? -errno
					       : walk_tree(fd, &ops, &uid);
	fd_close(&fd);
	if (r < 0)
		err_set(e, r, "change the owner of %s: %s", dir, strerror(-r));
	return r;
}

int
snap_git_from_state(const char *state, struct snap_git *ret)
{
	struct snap_git g = { 0 };
	const char *hex;
	size_t n;

	if (text_starts(state, "commit ")) {
		hex = state + strlen("commit ");
		n = strspn(hex, "0123456789abcdef");
		if (hex[n] != '\0' || (n != 40 && n != 64))
			return -EINVAL;
		g.commit = xstrdup(hex);
		g.sha256 = n == 64;
	} else if (strcmp(state, "empty sha256") == 0) {
		g.sha256 = true;
	} else if (strcmp(state, "none") == 0 ||
	    text_starts(state, "broken ")) {
		*ret = g;
		ret->state = xstrdup(state);
		return 0;
	} else if (strcmp(state, "empty sha1") != 0) {
		return -EINVAL;
	}
	g.gitdir = xstrdup(".git");
	g.state = xstrdup(state);
	*ret = g;
	return 0;
}

int
snap_git_make(
    struct snap_git *g, const char *tree, const char *old_tree, struct err *e)
{
	char *dir = path_join(tree, ".git"), *old = NULL;
	bool fresh = true;
	int r;

	if (mkdir(dir, 0755) < 0) {
		r = err_set(e, -errno, "make %s: %s", dir, strerror(errno));
		goto out;
	}
	r = 1;
	if (old_tree != NULL) {
		old = path_join(old_tree, ".git");
		r = copy_old(old, dir, e);
		if (r == -ENOSPC || r == -EDQUOT)
			goto out;
		fresh = r != 0;
	}
	if (fresh && r < 0) { /* half of it came over */
		r = path_rmtree(dir, e);
		if (r == 0 && mkdir(dir, 0755) < 0)
			r = err_set(e, -errno, "make %s", dir);
		if (r < 0)
			goto out;
	}
	if (fresh)
		r = snap_git_empty(g, dir, e);
	if (fresh && r == 0 && g->commit != NULL)
		r = g->pack != NULL || g->borrow != NULL
		    ? take_commit(g, dir, tree, e)
		    : pack(g, dir, tree, e);
	if (r == 0 && g->commit != NULL)
		r = index_files(g, dir, tree, fresh, e);
	if (r == 1) { /* objects are missing, or worse */
		free(g->commit);
		g->commit = NULL;
		r = path_rmtree(dir, e);
	} else if (r == 0) {
		r = give_away(dir, e);
	}
out:
	free(dir);
	free(old);
	return r;
}
