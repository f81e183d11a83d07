/* snapshot_copy.c - the files of a snapshot: linked where known, else copied.
 */
#include "common/compat.h"

#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/copyfile.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/stage.h"
#include "sandbox/walk.h"

#define TRIES 3
#define PROGRESS_EVERY 64
#define REHASH_BYTES (256ULL << 20)
#define REHASH_FILES 20000

struct copying {
	struct snap_copy *c;
	struct copier copier;
	struct cursor src, dst, old;
	uid_t uid;
	uint64_t files, bytes;
};

static void
copying_init(struct copying *k, struct snap_copy *c)
{
	memset(k, 0, sizeof *k);
	k->c = c;
	k->uid = stage_uid();
	copier_init(&k->copier);
	cursor_init(&k->src, c->rootfd);
	cursor_init(&k->dst, c->treefd);
	cursor_init(&k->old, c->oldfd);
}

static void
copying_clear(struct copying *k)
{
	cursor_clear(&k->src);
	cursor_clear(&k->dst);
	cursor_clear(&k->old);
	copier_clear(&k->copier);
}

static void
take_stat(struct snap_entry *en, const struct stat *st)
{
	en->mode = st->st_mode & 0777;
	en->size = (uint64_t)st->st_size;
	en->mtime_ns = snap_ns(&st->st_mtim);
	en->ctime_ns = snap_ns(&st->st_ctim);
	en->ino = st->st_ino;
}

static bool
is_still(const struct stat *a, int fd)
{
	struct stat b;

	return fstat(fd, &b) == 0 && a->st_size == b.st_size &&
	    snap_ns(&a->st_mtim) == snap_ns(&b.st_mtim) &&
	    snap_ns(&a->st_ctim) == snap_ns(&b.st_ctim);
}

static bool
is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

/* Says where and how much. */
static int
no_space(const struct snap_copy *c, int r, struct err *e)
{
	uint64_t need = 0, mib = 1 << 20;
	struct statvfs fs = { .f_frsize = 1 };
	size_t i;

	for (i = 0; i < c->list->n; i++) {
		if (c->list->v[i].type == 'f' && !c->list->v[i].linked)
			need += c->list->v[i].size;
	}
	(void)statvfs(c->store, &fs); /* then it says 0 */
	return err_set(e, r,
	    "no room for a snapshot below %s: up to %llu MiB are needed, "
	    "%llu MiB are free (%s)",
	    c->store, (unsigned long long)(need / mib + 1),
	    (unsigned long long)(fs.f_bavail * fs.f_frsize / mib),
	    strerror(-r));
}

/* The last snapshot's file under the new name; false: copy it. */
static bool
link_old(
    struct copying *k, const struct snap_entry *en, int to, const char *name)
{
	const char *old_name;
	struct stat st;
	int from;

	from = cursor_parent(&k->old, en->path, &old_name);
	if (from < 0 || fstatat(from, old_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	/* The store may have been damaged. */
	if (!S_ISREG(st.st_mode) || (st.st_mode & 07777) != en->mode ||
	    (uint64_t)st.st_size != en->size || st.st_uid != k->uid ||
	    snap_ns(&st.st_mtim) != en->old->mtime_ns)
		return false;
	return linkat(from, old_name, to, name, 0) == 0;
}

static int
copy_once(struct copying *k, struct snap_entry *en, int src, struct stat *st,
    int at, const char *name)
{
	int dst, r;

	dst = openat(
	    at, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (dst < 0)
		return -errno;
	r = copy_data(&k->copier, src, st, dst, en->hash);
	fd_close(&dst);
	if (r == 0)
		r = copy_finish(at, name, k->uid, st);
	return r;
}

/* What can't be read is left out and said; 0 then, too. */
static int
copy_regular(struct copying *k, struct snap_entry *en, int at, const char *name)
{
	const char *src_name;
	struct stat st;
	int from, src, i, r = 0;
	bool still = false;

	from = cursor_parent(&k->src, en->path, &src_name);
	src = from < 0 ? from : copy_open(from, src_name, &st);
	if (src < 0) {
		/* A moment ago it was a file. */
		en->gone = true;
		if (src == -EACCES || src == -EPERM) {
			en->gone = false;
			en->type = 'u';
		}
		if (src != -ENOENT && src != -ENOTDIR)
			snap_skip(k->c->skipped, en->path,
			    src == -ELOOP || src == -EINVAL
				? "it changed while it was read"
				: strerror(-src));
		return 0;
	}
	for (i = 0; i < TRIES && !still; i++) {
		if (i > 0 && (unlinkat(at, name, 0) < 0 || fstat(src, &st) < 0))
			break;
		take_stat(en, &st);
		r = copy_once(k, en, src, &st, at, name);
		if (r < 0)
			break;
		still = is_still(&st, src);
	}
	fd_close(&src);
	if (r == 0 && still)
		return 0;
	if (r == 0) {
		/* As it is now; the next snapshot must look again. */
		en->ino = 0;
		snap_skip(k->c->skipped, en->path,
		    "it changed while it was read, thrice");
		return 0;
	}
	(void)unlinkat(at, name, 0);
	if (r == -EIO || r == -EISDIR || r == -ESTALE) {
		en->gone = true;
		snap_skip(k->c->skipped, en->path, strerror(-r));
		return 0;
	}
	return r;
}

static int
copy_link(struct copying *k, struct snap_entry *en, int at, const char *name)
{
	struct stat st = { .st_mode = S_IFLNK,
		.st_mtim = snap_from_ns(en->mtime_ns) };

	if (symlinkat(en->target, at, name) < 0)
		return -errno;
	return copy_finish(at, name, k->uid, &st);
}

static int
copy_entry(struct copying *k, struct snap_entry *en)
{
	const char *name;
	int at;

	at = cursor_parent(&k->dst, en->path, &name);
	if (at < 0)
		return at;
	switch (en->type) {
	case 'd':
		return mkdirat(at, name, 0700) < 0 ? -errno : 0;
	case 'l':
		return copy_link(k, en, at, name);
	case 'u':
		return 0; /* as last time; already said */
	default:
		break;
	}
	if (!en->linked || !link_old(k, en, at, name)) {
		en->linked = false;
		return copy_regular(k, en, at, name);
	}
	memcpy(en->hash, en->old->hash, HASH_LEN);
	return 0;
}

int
snap_copy(struct snap_copy *c, struct err *e)
{
	struct snap_entry *en;
	struct copying k;
	size_t i;
	int r = 0;

	copying_init(&k, c);
	for (i = 0; i < c->list->n && r == 0; i++) {
		en = &c->list->v[i];
		if (en->gone)
			continue;
		r = copy_entry(&k, en);
		if (r < 0) {
			if (is_full(r))
				no_space(c, r, e);
			else
				err_set(e, r, "copy %s to %s: %s", en->path,
				    c->store, strerror(-r));
			break;
		}
		k.files += en->type == 'f' || en->type == 'l';
		k.bytes += en->type == 'f' ? en->size : 0;
		if (c->o->progress != NULL &&
		    (i % PROGRESS_EVERY == 0 || en->size >> 20 != 0) &&
		    c->o->progress(k.files, k.bytes, c->o->ctx) != 0)
			r = err_set(e, -EINTR, "interrupted");
	}
	copying_clear(&k);
	return r;
}

int
snap_copy_finish(struct snap_copy *c, struct err *e)
{
	struct snap_entry *en;
	struct copying k;
	struct stat st;
	const char *name;
	int at, r = 0;
	size_t i;

	copying_init(&k, c);
	/* Backwards: what is in a directory comes before it. */
	for (i = c->list->n; i > 0 && r == 0; i--) {
		en = &c->list->v[i - 1];
		if (en->type != 'd' || en->gone)
			continue;
		memset(&st, 0, sizeof st);
		st.st_mode = S_IFDIR | en->mode;
		st.st_mtim = snap_from_ns(en->mtime_ns);
		at = cursor_parent(&k.dst, en->path, &name);
		r = at < 0 ? at : copy_finish(at, name, k.uid, &st);
		if (r < 0)
			err_set(e, r, "finish %s: %s", en->path, strerror(-r));
	}
	copying_clear(&k);
	return r;
}

/* --- before any copy ---------------------------------------------------------
 */

static bool
is_rehash(const struct snap_entry *en)
{
	return en->type == 'f' && !en->gone && !en->known && en->old != NULL &&
	    en->old->type == 'f' && en->old->size == en->size &&
	    en->old->mode == en->mode;
}

static void
rehash(struct copying *k, struct snap_entry *en)
{
	const char *name;
	struct stat st;
	int at, fd;

	at = cursor_parent(&k->src, en->path, &name);
	fd = at < 0 ? at : copy_open(at, name, &st);
	if (fd < 0)
		return;
	if ((uint64_t)st.st_size == en->size &&
	    copy_hash(&k->copier, fd, &st, en->hash) == 0 &&
	    is_still(&st, fd)) {
		take_stat(en, &st);
		en->known = true;
		en->linked = en->mtime_ns == en->old->mtime_ns &&
		    memcmp(en->hash, en->old->hash, HASH_LEN) == 0;
	}
	fd_close(&fd);
}

int
snap_rehash(struct snap_copy *c)
{
	uint64_t files = 0, bytes = 0;
	struct snap_entry *en;
	struct copying k;
	size_t i;
	int r = 0;

	for (i = 0; i < c->list->n; i++) {
		if (is_rehash(&c->list->v[i])) {
			files++;
			bytes += c->list->v[i].size;
		}
	}
	if (files == 0 || files > REHASH_FILES || bytes > REHASH_BYTES)
		return 0;
	copying_init(&k, c);
	for (i = 0; i < c->list->n && r == 0; i++) {
		en = &c->list->v[i];
		if (is_rehash(en))
			rehash(&k, en);
		if (i % PROGRESS_EVERY == 0 && c->o->progress != NULL &&
		    c->o->progress(i, 0, c->o->ctx) != 0)
			r = -EINTR;
	}
	copying_clear(&k);
	return r;
}
