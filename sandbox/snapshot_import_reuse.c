/* snapshot_import_reuse.c - what earlier snapshots of the store have already.
 */
#include "common/compat.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/text.h"
#include "sandbox/snapshot_import_priv.h"

/* One earlier snapshot. */
struct earlier {
	struct manifest m;
	const struct snap_entry **v; /* its files, by hash */
	size_t n;
	int treefd;
	struct cursor at;
};

static int
hash_cmp(const void *a, const void *b)
{
	const struct snap_entry *const *x = a, *const *y = b;

	return memcmp((*x)->hash, (*y)->hash, HASH_LEN);
}

static bool
is_same_meta(const struct snap_entry *a, const struct snap_entry *b)
{
	return a->mode == b->mode && a->mtime_ns == b->mtime_ns;
}

/* Files of that content: the first of them, and how many. */
static const struct snap_entry **
find(const struct earlier *o, const struct snap_entry *en, size_t *ret_n)
{
	size_t lo = 0, hi = o->n, mid, n;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (memcmp(o->v[mid]->hash, en->hash, HASH_LEN) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (n = 0; lo + n < o->n &&
	     memcmp(o->v[lo + n]->hash, en->hash, HASH_LEN) == 0;
	     n++)
		;
	*ret_n = n;
	return o->v + lo;
}

/* The earlier file under the new name; false: it can't be. */
static bool
link_one(struct import *k, struct earlier *o, const struct snap_entry *en,
    const struct snap_entry *old)
{
	const char *name, *old_name;
	struct stat st;
	int from, to;

	from = cursor_parent(&o->at, old->path, &old_name);
	if (from < 0 || fstatat(from, old_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	/* The store may have been damaged. */
	if (!S_ISREG(st.st_mode) || (st.st_mode & 07777) != en->mode ||
	    (uint64_t)st.st_size != en->size || st.st_uid != k->uid ||
	    snap_ns(&st.st_mtim) != en->mtime_ns)
		return false;
	to = cursor_parent(&k->at, en->path, &name);
	return to >= 0 && linkat(from, old_name, to, name, 0) == 0;
}

/* A copy with mode and time of its own. 1: it can't be, it is fetched. */
static int
copy_one(struct import *k, struct earlier *o, const struct snap_entry *en,
    const struct snap_entry *old)
{
	unsigned char hash[HASH_LEN];
	const char *name, *old_name;
	struct stat st;
	int from, to, src, dst = -1, r;

	from = cursor_parent(&o->at, old->path, &old_name);
	src = from < 0 ? from : copy_open(from, old_name, &st);
	if (src < 0)
		return 1;
	to = cursor_parent(&k->at, en->path, &name);
	if (to >= 0)
		dst = openat(to, name,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = to < 0 ? to : dst < 0 ? -errno : 0;
	if (r == 0)
		r = copy_data(&k->copier, src, &st, dst, hash);
	if (r == 0 &&
	    ((uint64_t)st.st_size != en->size ||
		memcmp(hash, en->hash, HASH_LEN) != 0))
		r = unlinkat(to, name, 0) < 0 ? -errno : 1;
	if (r == 0) {
		st.st_mode = S_IFREG | en->mode;
		st.st_mtim = snap_from_ns(en->mtime_ns);
		r = copy_finish(to, name, k->uid, &st);
	}
	fd_close(&src);
	fd_close(&dst);
	return r;
}

static int
reuse_one(struct import *k, struct earlier *o, struct snap_entry *en)
{
	const struct snap_entry **v;
	size_t n, i;
	int r;

	v = find(o, en, &n);
	for (i = 0; i < n && !en->linked; i++)
		en->linked = is_same_meta(v[i], en) && link_one(k, o, en, v[i]);
	if (n == 0 || en->linked)
		return 0;
	r = copy_one(k, o, en, v[0]);
	en->linked = r == 0;
	return r < 0 ? r : 0;
}

static void
sort_files(struct earlier *o)
{
	const struct snap_entry *en;
	size_t i;

	o->v = xcalloc(o->m.list.n + 1, sizeof *o->v);
	for (i = 0; i < o->m.list.n; i++) {
		en = &o->m.list.v[i];
		if (en->type == 'f' && en->size > 0)
			o->v[o->n++] = en;
	}
	qsort(o->v, o->n, sizeof *o->v, hash_cmp);
}

/* Both a commit, with ids of the same length. */
static bool
is_same_kind(const char *a, const char *b)
{
	return text_starts(a, "commit ") && text_starts(b, "commit ") &&
	    strlen(a) == strlen(b);
}

static int
reuse_from(struct import *k, const char *id, struct err *e)
{
	struct earlier o = { .treefd = -1 };
	struct snap_entry *en;
	char *tree = NULL;
	int hold, r = 0;
	size_t i;

	/* One that goes meanwhile, or is damaged, is passed over. */
	if (strcmp(id, k->id) == 0 ||
	    snap_hold(k->store.dir, id, &hold, NULL) < 0)
		return 0;
	if (snap_store_manifest(&k->store, id, &o.m) < 0)
		goto out;
	tree = snap_store_tree(&k->store, id);
	o.treefd = open(tree, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (o.treefd < 0)
		goto out;
	cursor_init(&o.at, o.treefd);
	sort_files(&o);
	for (i = 0; i < k->m.list.n && r == 0; i++) {
		en = &k->m.list.v[i];
		if (import_is_wanted(en))
			r = reuse_one(k, &o, en);
	}
	if (r < 0)
		import_failed(k, "copy a file", r, e);
	cursor_clear(&o.at);
	if (k->old_tree == NULL && strcmp(o.m.git, k->m.git) == 0) {
		k->old_tree = tree;
		k->old_hold = hold;
		tree = NULL;
		hold = -1;
	} else if (is_same_kind(o.m.git, k->m.git)) {
		k->borrow_hold[k->borrow.n] = hold;
		strv_addf(&k->borrow, "%s/.git/objects", tree);
		hold = -1;
	}
out:
	fd_close(&o.treefd);
	fd_close(&hold);
	free(o.v);
	free(tree);
	manifest_clear(&o.m);
	return r;
}

int
import_reuse(struct import *k, struct err *e)
{
	struct snap_ids ids;
	size_t i;
	int r = 0;

	snap_store_ids(&k->store, &ids);
	for (i = 0; i < ids.n && i < IMPORT_LOOKED_AT && r == 0; i++)
		r = reuse_from(k, ids.v[i].id, e);
	snap_ids_clear(&ids);
	return r;
}
