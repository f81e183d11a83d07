/* snapshot_import.c - see snapshot_import.h. */
#include "common/compat.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/snapshot_import_priv.h"
#include "sandbox/stage.h"

/* --- the manifest --------------------------------------------------------- */

static int
get_manifest(struct import *k, struct err *e)
{
	struct buf b;
	int r;

	buf_init(&b, SNAPSHOT_MANIFEST_MAX);
	r = import_blob(k, SNAPSHOT_MANIFEST, SNAPSHOT_MANIFEST_MAX, &b, -1, e);
	if (r == 0 && k->facts.owner > UINT32_MAX)
		r = err_set(e, ERR_PROTO, "the snapshot's owner is no uid");
	if (r == 0)
		r = import_manifest(
		    b.data, b.len, k->id, k->facts.owner, &k->m, e);
	if (r == 0 && snap_git_from_state(k->m.git, &k->git) < 0)
		r = err_set(e, ERR_PROTO,
		    "the manifest that came has an unknown kind of repository");
	buf_clear(&b);
	return r;
}

/* --- the tree ------------------------------------------------------------- */

static int
make_dirs(struct import *k, struct err *e)
{
	int r;

	r = snap_store_tmp(&k->store, e);
	if (r < 0)
		return r;
	k->snap = path_join(k->store.tmp, "snap");
	k->tree = path_join(k->snap, "tree");
	r = path_mkdirs(k->snap, 0700, e);
	if (r == 0)
		r = path_mkdirs(k->tree, 0700, e);
	if (r < 0)
		return r;
	k->treefd =
	    open(k->tree, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (k->treefd < 0)
		return err_set(
		    e, -errno, "open %s: %s", k->tree, strerror(errno));
	cursor_init(&k->at, k->treefd);
	return 0;
}

/* All that has no bytes: directories, links, empty files. */
static int
make_entry(struct import *k, const struct snap_entry *en)
{
	struct stat st = { .st_mtim = snap_from_ns(en->mtime_ns) };
	const char *name;
	int at, fd;

	if (en->type == 'u' || (en->type == 'f' && en->size > 0))
		return 0;
	at = cursor_parent(&k->at, en->path, &name);
	if (at < 0)
		return at;
	if (en->type == 'd')
		return mkdirat(at, name, 0700) < 0 ? -errno : 0;
	if (en->type == 'l') {
		st.st_mode = S_IFLNK;
		if (symlinkat(en->target, at, name) < 0)
			return -errno;
	} else {
		st.st_mode = S_IFREG | en->mode;
		fd = openat(at, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			return -errno;
		fd_close(&fd);
	}
	return copy_finish(at, name, k->uid, &st);
}

static int
make_entries(struct import *k, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < k->m.list.n && r == 0; i++)
		r = make_entry(k, &k->m.list.v[i]);
	return r < 0 ? import_failed(k, "make the snapshot's tree", r, e) : 0;
}

/* The commit's pack, where no earlier snapshot has anything of it. */
static int
count_pack(struct import *k, uint64_t *ret, struct err *e)
{
	*ret = 0;
	if (k->git.gitdir == NULL || k->git.commit == NULL ||
	    k->old_tree != NULL || k->borrow.n > 0)
		return 0;
	return import_blob_size(k, SNAPSHOT_PACK, ret, e);
}

/* What must come, and is there room for it? */
static int
count(struct import *k, struct err *e)
{
	const struct snapshot_source *src = k->src;
	struct statvfs fs;
	uint64_t whole = 0, pack;
	size_t i;
	int r;

	k->total = 0;
	if ((r = count_pack(k, &pack, e)) < 0)
		return r;
	k->done = k->wrote = 0;
	for (i = 0; i < k->m.list.n; i++) {
		if (k->m.list.v[i].type == 'f')
			whole += k->m.list.v[i].size;
		if (import_is_wanted(&k->m.list.v[i]))
			k->total += k->m.list.v[i].size;
	}
	if (src->room != NULL &&
	    (r = src->room(k->total, whole, src->ctx, e)) < 0)
		return r;
	if (statvfs(k->store.dir, &fs) < 0)
		return err_set(
		    e, -errno, "statvfs %s: %s", k->store.dir, strerror(errno));
	k->before = pack; /* it can't be had without the files */
	if (pack / fs.f_frsize >= fs.f_bavail ||
	    (k->total + pack) / fs.f_frsize >= fs.f_bavail)
		return import_failed(k, "", -ENOSPC, e);
	return 0;
}

/* --- the rest ------------------------------------------------------------- */

static int
fetch_pack(struct import *k, const char *path, struct err *e)
{
	struct statvfs fs;
	int fd, r;

	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, -errno, "make %s: %s", path, strerror(errno));
	/* How much there is may turn out only now. */
	k->done = k->total = 0;
	if (statvfs(k->store.dir, &fs) < 0)
		r = err_set(
		    e, -errno, "statvfs %s: %s", k->store.dir, strerror(errno));
	else
		r = import_blob(k, SNAPSHOT_PACK,
		    (uint64_t)fs.f_bavail * fs.f_frsize, NULL, fd, e);
	fd_close(&fd);
	return r;
}

/* As it was before anything was made. */
static void
undo_git(struct import *k)
{
	char *dir = path_join(k->tree, ".git");

	snap_git_clear(&k->git);
	(void)snap_git_from_state(k->m.git, &k->git); /* it could be read */
	(void)path_rmtree(dir, NULL); /* else the next step fails */
	free(dir);
}

/* From an earlier snapshot. False: there is none, or it is damaged; nothing is
 * left of it. */
static bool
reuse_git(struct import *k)
{
	bool ok;

	if (k->old_tree == NULL)
		return false;
	ok = snap_git_make(&k->git, k->tree, k->old_tree, NULL) == 0 &&
	    snap_git_check(&k->git, k->tree, NULL) == 0 &&
	    strcmp(k->git.state, k->m.git) == 0;
	if (!ok)
		undo_git(k);
	return ok;
}

/* From earlier snapshots and what they lack. 1: nothing is left of it, take the
 * pack whole. */
static int
make_git_thin(struct import *k, struct err *e)
{
	int r;

	r = import_thin(k, e);
	if (r < 0)
		return r;
	if (r == 0) {
		k->git.borrow = &k->borrow;
		r = snap_git_make(&k->git, k->tree, NULL, e);
		k->git.borrow = NULL;
		if (r == -ENOSPC || r == -EDQUOT)
			return r;
		if (r == 0 && strcmp(k->git.state, k->m.git) == 0)
			return 0;
	}
	undo_git(k);
	return 1;
}

static int
make_git(struct import *k, struct err *e)
{
	char *pack;
	int r;

	if (k->git.gitdir == NULL || reuse_git(k))
		return 0;
	r = k->git.commit != NULL ? make_git_thin(k, e) : 1;
	if (r <= 0)
		return r;
	r = 0;
	pack = path_join(k->store.tmp, "pack");
	if (k->git.commit != NULL) {
		r = fetch_pack(k, pack, e);
		k->git.pack = pack;
	}
	if (r == 0)
		r = snap_git_make(&k->git, k->tree, NULL, e);
	if (r == 0 && strcmp(k->git.state, k->m.git) != 0)
		r = err_set(e, ERR_PROTO,
		    "the commit of the snapshot that came can't be used: %.300s",
		    k->git.state);
	k->git.pack = NULL;
	free(pack);
	return r;
}

static int
finish_dirs(struct import *k, struct err *e)
{
	struct snap_copy c = { .rootfd = -1,
		.treefd = k->treefd,
		.oldfd = -1,
		.list = &k->m.list };
	struct stat top = { .st_mode = S_IFDIR |
		    (mode_t)(k->facts.mode & 01777) | 0500,
		.st_mtim = snap_from_ns((int64_t)k->facts.mtime_ns) };
	int r;

	r = snap_copy_finish(&c, e);
	if (r < 0)
		return r;
	r = copy_finish(AT_FDCWD, k->tree, k->uid, &top);
	if (r == 0 && geteuid() == 0 && lchown(k->snap, k->uid, k->uid) < 0)
		r = -errno;
	return r < 0 ? err_set(e, r, "finish %s: %s", k->tree, strerror(-r))
		     : 0;
}

static int
put_manifest(struct import *k, struct err *e)
{
	char *path = path_join(k->snap, "manifest");
	struct timespec t;
	struct buf b;
	size_t i;
	int r;

	clock_gettime(CLOCK_REALTIME, &t);
	k->m.made_ns = snap_ns(&t);
	free(k->m.boot);
	k->m.boot = snap_boot_id();
	/* These were the other machine's. */
	for (i = 0; i < k->m.list.n; i++)
		k->m.list.v[i].ino = 0, k->m.list.v[i].ctime_ns = 0;
	buf_init(&b, BUF_NOMAX);
	manifest_write(&k->m, &b);
	r = snap_store_put(&k->store, path, buf_str(&b), b.len, e);
	buf_clear(&b);
	free(path);
	return r;
}

static int
import(struct import *k, struct err *e)
{
	bool was_there;
	int r;

	r = get_manifest(k, e);
	if (r == 0)
		r = make_dirs(k, e);
	if (r == 0)
		r = make_entries(k, e);
	if (r == 0)
		r = import_reuse(k, e);
	if (r == 0)
		r = count(k, e);
	if (r == 0)
		r = import_files(k, e);
	k->before = k->total;
	if (r == 0)
		r = make_git(k, e);
	if (r == 0)
		r = finish_dirs(k, e);
	if (r == 0)
		r = put_manifest(k, e);
	if (r == 0)
		r = snap_store_publish(
		    &k->store, k->snap, k->id, &was_there, e);
	return r;
}

int
snapshot_import(const char *store, const char *id,
    const struct snapshot_source *src, struct err *e)
{
	struct import *k = xcalloc(1, sizeof *k);
	struct manifest m;
	size_t i;
	int r;

	k->src = src;
	k->id = id;
	k->uid = stage_uid();
	k->treefd = k->old_hold = k->fd = -1;
	for (i = 0; i < nitems(k->borrow_hold); i++)
		k->borrow_hold[i] = -1;
	copier_init(&k->copier);
	r = snap_store_open(&k->store, store, e);
	if (r == 0 && !snap_is_id(id))
		r = err_set(e, ERR_PROTO, "'%.64s' is no id of a snapshot", id);
	if (r == 0 && snap_store_get(&k->store, id, &m))
		manifest_clear(&m);
	else if (r == 0)
		r = import(k, e);
	cursor_clear(&k->at);
	fd_close(&k->fd);
	fd_close(&k->treefd);
	fd_close(&k->old_hold);
	for (i = 0; i < nitems(k->borrow_hold); i++)
		fd_close(&k->borrow_hold[i]);
	strv_clear(&k->borrow);
	copier_clear(&k->copier);
	snap_git_clear(&k->git);
	manifest_clear(&k->m);
	snap_store_close(&k->store); /* the unfinished one goes */
	free(k->old_tree);
	free(k->snap);
	free(k->tree);
	free(k);
	return r;
}
