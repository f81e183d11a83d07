/* snapshot_store.c - the directory of snapshots: finding, adding, sweeping. */
#include "common/compat.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/lockdir.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/stage.h"
#include "sandbox/walk.h"

#define MANIFEST_MAX ((size_t)4 << 30)

char *
snap_boot_id(void)
{
	char *id = NULL;
	struct buf b;

	buf_init(&b, 128);
	if (file_read("/proc/sys/kernel/random/boot_id", false, &b, NULL) == 0)
		id = xstrndup(buf_str(&b), strcspn(buf_str(&b), "\n"));
	buf_clear(&b);
	return id != NULL ? id : xstrdup("");
}

int
snap_store_open(struct snap_store *st, const char *dir, struct err *e)
{
	char *by_path;
	int r;

	memset(st, 0, sizeof *st);
	st->lockfd = -1;
	r = path_mkdirs(dir, 0755, e);
	if (r < 0)
		return r;
	st->dir = realpath(dir, NULL);
	if (st->dir == NULL)
		return err_set(e, -errno, "%s: %s", dir, strerror(errno));
	by_path = path_join(st->dir, "by-path");
	r = path_mkdirs(by_path, 0700, e); /* names of files */
	free(by_path);
	/* Also when nothing new comes: one may have ended half-way. */
	lockdir_sweep(st->dir, "tmp-");
	return r;
}

void
snap_store_close(struct snap_store *st)
{
	if (st->tmp != NULL)
		(void)path_rmtree(st->tmp, NULL); /* else the next one sweeps */
	fd_close(&st->lockfd);
	free(st->dir);
	free(st->by_path);
	free(st->tmp);
	memset(st, 0, sizeof *st);
	st->lockfd = -1;
}

void
snap_store_path(struct snap_store *st, const char *root)
{
	unsigned char h[HASH_LEN];
	char hex[HASH_HEX];

	hash_bytes(root, strlen(root), h);
	hash_hex(h, hex);
	hex[SNAP_ID_LEN] = '\0';
	st->by_path = path_joinf(st->dir, "by-path/%s", hex);
}

char *
snap_store_tree(const struct snap_store *st, const char *id)
{
	return path_joinf(st->dir, "%s/tree", id);
}

int
snap_store_tmp(struct snap_store *st, struct err *e)
{
	if (st->tmp != NULL)
		return 0;
	return lockdir_create(st->dir, "tmp-", &st->tmp, &st->lockfd, e);
}

static int
read_manifest(const char *path, struct manifest *ret)
{
	struct buf b;
	int r;

	buf_init(&b, MANIFEST_MAX);
	r = file_read(path, true, &b, NULL);
	if (r == 0)
		r = b.len > 0 ? manifest_read(b.data, b.len, ret) : -EINVAL;
	buf_clear(&b);
	return r;
}

/* After a crash of the machine files may be empty that we wrote before it,
 * cleaners of caches take what they find, and people edit what grep shows them:
 * a look at each is cheap. m: the one that was written with the tree. */
static bool
is_whole(const struct manifest *m, const char *tree)
{
	const struct snap_entry *en;
	struct cursor c;
	struct stat st;
	const char *name;
	bool ok = true;
	int fd, at;
	size_t i;

	fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	cursor_init(&c, fd);
	for (i = 0; i < m->list.n && ok; i++) {
		en = &m->list.v[i];
		if (en->type != 'f')
			continue;
		at = cursor_parent(&c, en->path, &name);
		ok = at >= 0 &&
		    fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (uint64_t)st.st_size == en->size &&
		    (st.st_mode & 07777) == en->mode &&
		    snap_ns(&st.st_mtim) == en->mtime_ns;
	}
	cursor_clear(&c);
	fd_close(&fd);
	return ok;
}

bool
snap_is_id(const char *s)
{
	return strspn(s, "0123456789abcdef") == SNAP_ID_LEN &&
	    s[SNAP_ID_LEN] == '\0';
}

int
snap_store_manifest(
    const struct snap_store *st, const char *id, struct manifest *ret)
{
	char *path = path_joinf(st->dir, "%s/manifest", id);
	int r;

	r = read_manifest(path, ret);
	if (r == 0 && strcmp(ret->id, id) != 0) {
		manifest_clear(ret);
		r = -EINVAL;
	}
	free(path);
	return r;
}

static int
id_cmp(const void *a, const void *b)
{
	const struct snap_id *x = a, *y = b;

	if (x->used_ns != y->used_ns)
		return x->used_ns > y->used_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

void
snap_store_ids(const struct snap_store *st, struct snap_ids *ret)
{
	struct dirent *d;
	struct stat sb;
	DIR *dir;

	memset(ret, 0, sizeof *ret);
	dir = opendir(st->dir);
	while (dir != NULL && (d = readdir(dir)) != NULL) {
		if (!snap_is_id(d->d_name) ||
		    fstatat(dirfd(dir), d->d_name, &sb, AT_SYMLINK_NOFOLLOW) <
			0 ||
		    !S_ISDIR(sb.st_mode))
			continue;
		ret->v = xreallocarray(ret->v, ret->n + 1, sizeof *ret->v);
		memcpy(ret->v[ret->n].id, d->d_name, SNAP_ID_LEN + 1);
		ret->v[ret->n++].used_ns = snap_ns(&sb.st_mtim);
	}
	if (dir != NULL)
		closedir(dir);
	if (ret->n > 1)
		qsort(ret->v, ret->n, sizeof *ret->v, id_cmp);
}

void
snap_ids_clear(struct snap_ids *ids)
{
	free(ids->v);
	memset(ids, 0, sizeof *ids);
}

/* by-path/HASH.m: as ID/manifest, with the times and inodes of this path where
 * another tree with the same content made the snapshot. */
static int
read_last(struct snap_store *st, const char *id, struct manifest *ret)
{
	char *path = xasprintf("%s.m", st->by_path);
	int r;

	r = read_manifest(path, ret);
	if (r == 0 && strcmp(ret->id, id) == 0)
		goto out;
	manifest_clear(ret);
	free(path);
	path = path_joinf(st->dir, "%s/manifest", id);
	r = read_manifest(path, ret);
	if (r == 0 && strcmp(ret->id, id) != 0)
		r = -EINVAL;
out:
	free(path);
	return r;
}

/* Is this snapshot there, and whole? */
static bool
is_there(const struct snap_store *st, const char *id)
{
	char *path = path_joinf(st->dir, "%s/manifest", id);
	char *tree = snap_store_tree(st, id);
	struct manifest m = { 0 };
	bool yes;

	yes = read_manifest(path, &m) == 0 && is_whole(&m, tree);
	manifest_clear(&m);
	free(path);
	free(tree);
	return yes;
}

bool
snap_store_get(struct snap_store *st, const char *id, struct manifest *ret)
{
	return snap_is_id(id) && is_there(st, id) &&
	    snap_store_manifest(st, id, ret) == 0;
}

bool
snap_store_load(struct snap_store *st, struct manifest *ret)
{
	char *tree = NULL;
	struct manifest m = { 0 };
	struct stat sb;
	struct buf b;
	bool ok = false;

	buf_init(&b, 256);
	if (file_read(st->by_path, true, &b, NULL) < 0)
		goto out;
	if (b.len > 0 && b.data[b.len - 1] == '\n')
		b.data[--b.len] = '\0';
	if (!snap_is_id(buf_str(&b)) || read_last(st, b.data, &m) < 0)
		goto out;
	tree = snap_store_tree(st, m.id);
	ok = lstat(tree, &sb) == 0 && S_ISDIR(sb.st_mode) &&
	    sb.st_uid == stage_uid() && is_there(st, m.id);
out:
	if (ok)
		*ret = m;
	else
		manifest_clear(&m);
	buf_clear(&b);
	free(tree);
	return ok;
}

int
snap_store_put(struct snap_store *st, const char *path, const void *p,
    size_t len, struct err *e)
{
	char *tmp;
	int fd, r;

	tmp = path_join(st->tmp, "put");
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r = fd < 0 ? -errno : fd_write_all(fd, p, len);
	if (fd >= 0 && close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && rename(tmp, path) < 0)
		r = -errno;
	if (r < 0)
		err_set(e, r, "write %s: %s", path, strerror(-r));
	free(tmp);
	return r;
}

int
snap_store_remember(struct snap_store *st, const struct manifest *m,
    bool with_id, struct err *e)
{
	char *path = NULL, *line = NULL;
	struct buf b;
	int r;

	buf_init(&b, BUF_NOMAX);
	r = snap_store_tmp(st, e);
	if (r < 0)
		goto out;
	manifest_write(m, &b);
	path = xasprintf("%s.m", st->by_path);
	line = xasprintf("%s\n", m->id);
	r = snap_store_put(st, path, buf_str(&b), b.len, e);
	if (r == 0 && with_id)
		r = snap_store_put(st, st->by_path, line, strlen(line), e);
out:
	buf_clear(&b);
	free(path);
	free(line);
	return r;
}

int
snap_store_publish(struct snap_store *st, const char *snap, const char *id,
    bool *ret_was_there, struct err *e)
{
	char *dst = path_join(st->dir, id), *away = NULL;
	int r = -EEXIST, i;

	*ret_was_there = false;
	for (i = 0; i < 3 && (r == -EEXIST || r == -ENOTEMPTY); i++) {
		r = rename(snap, dst) < 0 ? -errno : 0;
		if (r != -EEXIST && r != -ENOTEMPTY)
			break;
		/* Another process, or another path, was first. */
		if (is_there(st, id)) {
			*ret_was_there = true;
			r = 0;
			break;
		}
		/* Damaged: it goes with our temporary. */
		free(away);
		away = path_joinf(st->tmp, "damaged%d", i);
		(void)rename(dst, away); /* the next turn finds out */
	}
	if (r < 0)
		err_set(e, r, "make %s: %s", dst, strerror(-r));
	free(away);
	free(dst);
	return r;
}
