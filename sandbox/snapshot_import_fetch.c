/*
 * snapshot_import_fetch.c - asking for ranges, and what comes of the answers.
 *
 * A few questions are always under way, so that the way there and back costs
 * nothing; answers come in order, each is written before the next is read.
 */
#include "common/compat.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/snapshot_import_priv.h"

#define HOLE (64u << 10) /* aligned zeros of this size are not written */

int
import_transfer(
    struct import *k, import_next_fn next, import_take_fn take, struct err *e)
{
	struct snapshot_answer a;
	struct import_batch *b;
	size_t head = 0, n = 0;
	bool more = true;
	int r;

	for (;;) {
		while (more && n < SNAPSHOT_WINDOW) {
			b = &k->batch[(head + n) % SNAPSHOT_WINDOW];
			b->n = 0;
			next(k, b);
			more = b->n > 0;
			if (!more)
				break;
			r = k->src->ask(b->r, b->n, k->src->ctx, e);
			if (r < 0)
				return r;
			n++;
		}
		if (n == 0)
			return 0;
		r = k->src->answer(&a, k->src->ctx, e);
		if (r == 0)
			r = take(k, &k->batch[head], &a, e);
		if (r < 0)
			return r;
		k->done += a.len;
		if (k->src->progress != NULL && k->total > 0)
			k->src->progress(k->done, k->total, k->src->ctx);
		head = (head + 1) % SNAPSHOT_WINDOW;
		n--;
	}
}

/* What was written of it has had its room: it counts on both sides. */
int
import_failed(struct import *k, const char *what, int r, struct err *e)
{
	struct statvfs fs = { .f_frsize = 1 };
	const char *name = k->src->store_name, *help = k->src->no_room;
	uint64_t mib = 1 << 20;

	if (name == NULL)
		name = k->store.dir;

	if (r != -ENOSPC && r != -EDQUOT)
		return err_set(
		    e, r, "%s below %s: %s", what, name, strerror(-r));
	(void)statvfs(k->store.dir, &fs); /* then it says 0 */
	return err_set(e, r,
	    "no room for the snapshot below %s: %" PRIu64
	    " MiB must come, %" PRIu64 " MiB are free (%s)%s%s",
	    name, (k->before + k->total) / mib + 1,
	    ((uint64_t)fs.f_bavail * fs.f_frsize + k->wrote) / mib,
	    strerror(-r), help != NULL ? ": " : "", help != NULL ? help : "");
}

/* --- the manifest, the pack, its index
 * --------------------------------------------- */

static void
next_blob(struct import *k, struct import_batch *b)
{
	uint64_t len = k->blob_end - k->blob_off;

	if (len == 0)
		return;
	if (len > SNAPSHOT_CHUNK)
		len = SNAPSHOT_CHUNK;
	b->r[b->n++] =
	    (struct snapshot_range){ k->blob, k->blob_off, (uint32_t)len };
	k->blob_off += len;
}

static int
write_all(int fd, const char *p, size_t len, uint64_t off)
{
	ssize_t n;

	while (len > 0) {
		n = pwrite(fd, p, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
		off += (uint64_t)n;
	}
	return 0;
}

static int
take_blob(struct import *k, const struct import_batch *b,
    const struct snapshot_answer *a, struct err *e)
{
	const struct snapshot_range *r = &b->r[0];
	uint64_t want;
	int rc;

	if (r->offset == 0)
		k->blob_total = a->facts.total;
	if (r->entry == SNAPSHOT_MANIFEST)
		k->facts = a->facts;
	want = k->blob_total > r->offset ? k->blob_total - r->offset : 0;
	if (want > r->len)
		want = r->len;
	if (a->facts.total != k->blob_total || a->len != want)
		return err_set(e, ERR_PROTO,
		    "%zu bytes of the snapshot came where %" PRIu64
		    " had to come",
		    a->len, want);
	if (k->blob_buf != NULL)
		return buf_add(k->blob_buf, a->data, a->len) < 0
		    ? err_set(e, ERR_LIMIT, "it is larger than it was said")
		    : 0;
	rc = write_all(k->blob_fd, a->data, a->len, r->offset);
	k->wrote += rc == 0 ? a->len : 0;
	return rc < 0 ? import_failed(k, "write the pack", rc, e) : 0;
}

static int
blob_begin(struct import *k, uint32_t which, uint64_t len, struct buf *buf,
    int fd, struct err *e)
{
	k->blob = which;
	k->blob_buf = buf;
	k->blob_fd = fd;
	k->blob_off = 0;
	k->blob_end = len;
	return import_transfer(k, next_blob, take_blob, e);
}

int
import_blob_size(struct import *k, uint32_t which, uint64_t *ret, struct err *e)
{
	struct buf none;
	int r;

	buf_init(&none, 1);
	r = blob_begin(k, which, 1, &none, -1, e);
	if (r == 0)
		*ret = k->blob_total;
	buf_clear(&none);
	return r;
}

int
import_blob(struct import *k, uint32_t which, uint64_t max, struct buf *buf,
    int fd, struct err *e)
{
	int r;

	r = blob_begin(k, which, SNAPSHOT_CHUNK, buf, fd, e);
	if (r < 0 || k->blob_total <= SNAPSHOT_CHUNK)
		return r;
	if (which == SNAPSHOT_PACK)
		k->total = k->blob_total;
	if (k->blob_total > max)
		return which == SNAPSHOT_PACK
		    ? import_failed(k, "write the pack", -ENOSPC, e)
		    : err_set(e, ERR_LIMIT,
			  "the snapshot's %s has %" PRIu64 " MiB, %" PRIu64
			  " are allowed",
			  which == SNAPSHOT_MANIFEST ? "manifest" : "index",
			  k->blob_total >> 20, max >> 20);
	k->blob_end = k->blob_total;
	return import_transfer(k, next_blob, take_blob, e);
}

/* --- files ---------------------------------------------------------------- */

bool
import_is_wanted(const struct snap_entry *en)
{
	return en->type == 'f' && !en->linked && en->size > 0;
}

static void
next_files(struct import *k, struct import_batch *b)
{
	const struct snap_entry *en;
	uint64_t room = SNAPSHOT_CHUNK, len;

	while (b->n < SNAPSHOT_RANGES && room > 0 && k->next < k->m.list.n) {
		en = &k->m.list.v[k->next];
		len = import_is_wanted(en) ? en->size - k->next_off : 0;
		if (len > room) {
			/* Zeros in the file are looked for block by block. */
			len = room;
			if (len > HOLE)
				len -= (k->next_off + len) % HOLE;
			room = len;
		}
		if (len > 0)
			b->r[b->n++] =
			    (struct snapshot_range){ (uint32_t)k->next,
				    k->next_off, (uint32_t)len };
		room -= len;
		k->next_off += len;
		if (!import_is_wanted(en) || k->next_off == en->size) {
			k->next++;
			k->next_off = 0;
		}
	}
}

/* Whole blocks of zeros stay holes. */
static int
write_sparse(struct import *k, const char *p, size_t len, uint64_t off)
{
	size_t n;
	int r = 0;

	for (; len > 0 && r == 0; p += n, len -= n, off += n) {
		n = HOLE - (size_t)(off % HOLE);
		if (n > len)
			n = len;
		if (n < HOLE || p[0] != 0 || memcmp(p, p + 1, n - 1) != 0) {
			r = write_all(k->fd, p, n, off);
			k->wrote += r == 0 ? n : 0;
		}
	}
	return r;
}

/* All has been written: is it what was promised? */
static int
finish_file(struct import *k, const struct snap_entry *en, int at,
    const char *name, struct err *e)
{
	unsigned char hash[HASH_LEN];
	struct stat st;
	int r = 0;

	if (ftruncate(k->fd, (off_t)en->size) < 0 || fstat(k->fd, &st) < 0)
		r = -errno;
	if (r == 0)
		r = copy_hash(&k->copier, k->fd, &st, hash);
	if (r == 0 && memcmp(hash, en->hash, HASH_LEN) != 0)
		return import_bad(en, "has other content than promised", e);
	fd_close(&k->fd);
	if (r == 0) {
		st.st_mode = S_IFREG | en->mode;
		st.st_mtim = snap_from_ns(en->mtime_ns);
		r = copy_finish(at, name, k->uid, &st);
	}
	return r;
}

static int
take_range(struct import *k, const struct snapshot_range *r, const char *data,
    struct err *e)
{
	const struct snap_entry *en = &k->m.list.v[r->entry];
	const char *name;
	int at, rc;

	at = cursor_parent(&k->at, en->path, &name);
	if (at < 0)
		return at;
	if (r->offset == 0) {
		fd_close(&k->fd);
		k->fd = openat(at, name,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (k->fd < 0)
			return -errno;
	}
	rc = write_sparse(k, data, r->len, r->offset);
	if (rc == 0 && r->offset + r->len == en->size)
		rc = finish_file(k, en, at, name, e);
	return rc;
}

static int
take_files(struct import *k, const struct import_batch *b,
    const struct snapshot_answer *a, struct err *e)
{
	const char *data = a->data;
	size_t want = 0, i;
	int r = 0;

	for (i = 0; i < b->n; i++)
		want += b->r[i].len;
	if (want != a->len)
		return err_set(e, ERR_PROTO,
		    "%zu bytes of the snapshot came where %zu had to come",
		    a->len, want);
	for (i = 0; i < b->n && r == 0; i++) {
		r = take_range(k, &b->r[i], data, e);
		data += b->r[i].len;
	}
	if (r < 0 && r != ERR_PROTO)
		import_failed(k, "write a file of the snapshot", r, e);
	return r;
}

int
import_files(struct import *k, struct err *e)
{
	k->next = 0;
	k->next_off = 0;
	return import_transfer(k, next_files, take_files, e);
}
