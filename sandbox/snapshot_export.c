/* snapshot_export.c - see snapshot_export.h. */
#include "common/compat.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/copyfile.h"
#include "sandbox/snapshot_cache.h"
#include "sandbox/snapshot_export.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/walk.h"

#define LINE_MAX_BYTES (64u << 10) /* of a manifest: two escaped paths */
#define PACK_DIR ".git/objects/pack"

struct snapshot_export {
	int holdfd, treefd, manifestfd;
	struct cursor at;
	uint64_t *line; /* where each entry's line begins; one more: the end */
	size_t n;
	uint64_t manifest_size, index_size;
	struct stat top;
	char *buf;       /* LINE_MAX_BYTES, for a line */
	uint32_t opened; /* the entry behind fd */
	int fd;
	struct stat st; /* of fd */
};

/* --- ranges --------------------------------------------------------------- */

static void
put_number(struct buf *dst, uint64_t v, int bytes)
{
	while (bytes-- > 0)
		(void)buf_addc(dst, (char)(v >> 8 * bytes));
}

static uint64_t
get_number(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	while (bytes-- > 0)
		v = v << 8 | *p++;
	return v;
}

void
snapshot_ranges_put(struct buf *dst, const struct snapshot_range *r, size_t n)
{
	for (; n > 0; n--, r++) {
		put_number(dst, r->entry, 4);
		put_number(dst, r->offset, 8);
		put_number(dst, r->len, 4);
	}
}

int
snapshot_ranges_get(const void *p, size_t len,
    struct snapshot_range ret[SNAPSHOT_RANGES], size_t *ret_n, struct err *e)
{
	const unsigned char *at = p;
	size_t n = len / SNAPSHOT_RANGE_BYTES, i;
	uint64_t sum = 0;

	if (n == 0 || len % SNAPSHOT_RANGE_BYTES != 0 || n > SNAPSHOT_RANGES)
		return err_set(e, ERR_PROTO,
		    "%zu bytes are no list of 1 to %d ranges", len,
		    SNAPSHOT_RANGES);
	for (i = 0; i < n; i++, at += SNAPSHOT_RANGE_BYTES) {
		ret[i].entry = (uint32_t)get_number(at, 4);
		ret[i].offset = get_number(at + 4, 8);
		ret[i].len = (uint32_t)get_number(at + 12, 4);
		sum += ret[i].len;
		if ((ret[i].entry >= SNAPSHOT_INDEX ||
			ret[0].entry >= SNAPSHOT_INDEX) &&
		    ret[i].entry != ret[0].entry)
			return err_set(e, ERR_PROTO,
			    "the manifest, the pack and its index are asked "
			    "for alone");
	}
	if (sum > SNAPSHOT_CHUNK)
		return err_set(e, ERR_PROTO,
		    "%" PRIu64 " bytes are asked for, %u at once are allowed",
		    sum, SNAPSHOT_CHUNK);
	*ret_n = n;
	return 0;
}

/* --- open ----------------------------------------------------------------- */

/* Where the lines begin, all but the first. */
static int
find_lines(struct snapshot_export *x)
{
	uint64_t off = 0;
	size_t size = 0;
	ssize_t got, i;

	for (;; off += (uint64_t)got) {
		got = pread(x->manifestfd, x->buf, LINE_MAX_BYTES, (off_t)off);
		if (got < 0 && errno == EINTR) {
			got = 0;
			continue;
		}
		if (got <= 0)
			break;
		for (i = 0; i < got; i++) {
			if (x->buf[i] != '\n')
				continue;
			if (x->n == size) {
				size = size * 2 + 1024;
				x->line = xreallocarray(
				    x->line, size, sizeof *x->line);
			}
			x->line[x->n++] = off + (uint64_t)i + 1;
		}
	}
	if (got < 0)
		return -errno;
	x->manifest_size = off;
	if (x->n == 0 || x->line[x->n - 1] != off)
		return -EINVAL;
	x->n--; /* the last one is the end */
	return 0;
}

static int
open_parts(struct snapshot_export *x, struct err *e)
{
	struct stat st;
	int r;

	x->manifestfd = copy_open(x->holdfd, "manifest", &st);
	if (x->manifestfd < 0)
		return err_set(e, x->manifestfd, "the snapshot's manifest: %s",
		    strerror(-x->manifestfd));
	x->treefd = openat(
	    x->holdfd, "tree", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (x->treefd < 0 || fstat(x->treefd, &x->top) < 0)
		return err_set(
		    e, -errno, "the snapshot's tree: %s", strerror(errno));
	cursor_init(&x->at, x->treefd);
	r = find_lines(x);
	if (r < 0)
		return err_set(e, r, "the snapshot's manifest is damaged");
	return 0;
}

void
snapshot_export_close(struct snapshot_export *x)
{
	if (x == NULL)
		return;
	cursor_clear(&x->at);
	fd_close(&x->fd);
	fd_close(&x->manifestfd);
	fd_close(&x->treefd);
	fd_close(&x->holdfd);
	free(x->line);
	free(x->buf);
	free(x);
}

/* --- read ----------------------------------------------------------------- */

/* All of len, or -EIO: it is shorter than it was. */
static int
read_exactly(int fd, char *dst, size_t len, uint64_t off)
{
	ssize_t n;

	while (len > 0) {
		n = pread(fd, dst, len, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		dst += n;
		len -= (size_t)n;
		off += (uint64_t)n;
	}
	return 0;
}

static int
damaged(uint32_t entry, int r, struct err *e)
{
	return err_set(e, r, "the snapshot is damaged at entry %u: %s", entry,
	    strerror(-r));
}

/* The one .pack of the private repository, or its .idx. */
static int
open_pack(struct snapshot_export *x, uint32_t which, struct err *e)
{
	const char *suffix = which == SNAPSHOT_PACK ? ".pack" : ".idx";
	struct dirent *d;
	const char *end;
	DIR *dir;
	int at, fd;

	at = cursor_dir(&x->at, PACK_DIR, strlen(PACK_DIR));
	if (at >= 0)
		at = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = at >= 0 ? fdopendir(at) : NULL;
	if (dir == NULL) {
		fd_close(&at);
		return err_set(
		    e, ERR_PROTO, "the snapshot has no pack of a commit");
	}
	fd = ERR_PROTO;
	while (fd == ERR_PROTO && (d = readdir(dir)) != NULL) {
		end = strrchr(d->d_name, '.');
		if (end != NULL && strcmp(end, suffix) == 0)
			fd = copy_open(dirfd(dir), d->d_name, &x->st);
	}
	closedir(dir);
	if (fd == ERR_PROTO)
		return err_set(
		    e, ERR_PROTO, "the snapshot has no pack of a commit");
	if (fd < 0)
		return damaged(which, fd, e);
	x->fd = fd;
	return 0;
}

static int
open_file(struct snapshot_export *x, uint32_t entry, struct err *e)
{
	struct snap_list l = { 0 };
	const char *name;
	uint64_t from, len;
	int at, fd, r;

	if (entry >= x->n)
		return err_set(e, ERR_PROTO,
		    "entry %u is asked for, there are %zu", entry, x->n);
	from = x->line[entry];
	len = x->line[entry + 1] - from;
	r = len > LINE_MAX_BYTES
	    ? -EINVAL
	    : read_exactly(x->manifestfd, x->buf, (size_t)len, from);
	if (r == 0) {
		x->buf[len] = '\0';
		r = manifest_line(x->buf, (size_t)len, &l);
	}
	if (r < 0) {
		damaged(entry, r, e);
	} else if (l.v[0].type != 'f') {
		r = err_set(e, ERR_PROTO, "entry %u is no file", entry);
	} else {
		at = cursor_parent(&x->at, l.v[0].path, &name);
		fd = at < 0 ? at : copy_open(at, name, &x->st);
		if (fd >= 0 && (uint64_t)x->st.st_size != l.v[0].size) {
			fd_close(&fd);
			fd = -EIO;
		}
		if (fd < 0)
			r = damaged(entry, fd, e);
		else
			x->fd = fd;
	}
	snap_list_clear(&l);
	return r;
}

static int
open_entry(struct snapshot_export *x, uint32_t entry, struct err *e)
{
	int r;

	if (x->fd >= 0 && x->opened == entry)
		return 0;
	fd_close(&x->fd);
	r = entry >= SNAPSHOT_INDEX ? open_pack(x, entry, e)
				    : open_file(x, entry, e);
	x->opened = entry;
	return r;
}

/* Only where it can be had is it spoken of. */
static void
find_index(struct snapshot_export *x)
{
	if (open_entry(x, SNAPSHOT_INDEX, NULL) == 0)
		x->index_size = (uint64_t)x->st.st_size;
}

int
snapshot_export_open(const char *store, const char *id,
    struct snapshot_export **ret, struct err *e)
{
	struct snapshot_export *x = xcalloc(1, sizeof *x);
	int r;

	x->holdfd = x->treefd = x->manifestfd = x->fd = -1;
	x->buf = xmalloc(LINE_MAX_BYTES + 1);
	r = snapshot_hold(store, id, &x->holdfd, e);
	if (r == 0)
		r = open_parts(x, e);
	if (r == 0)
		find_index(x);
	if (r < 0) {
		snapshot_export_close(x);
		return r;
	}
	*ret = x;
	return 0;
}

static int
read_range(struct snapshot_export *x, const struct snapshot_range *r,
    struct buf *dst, struct snapshot_facts *facts, struct err *e)
{
	bool whole = r->entry >= SNAPSHOT_INDEX;
	uint64_t size = x->manifest_size, len = r->len;
	int rc = 0, fd = x->manifestfd;

	if (r->entry != SNAPSHOT_MANIFEST) {
		rc = open_entry(x, r->entry, e);
		if (rc < 0)
			return rc;
		size = (uint64_t)x->st.st_size;
		fd = x->fd;
	}
	if (whole)
		facts->total = size;
	if (r->offset > size || (!whole && len > size - r->offset))
		return err_set(e, ERR_PROTO,
		    "%" PRIu64 " bytes from %" PRIu64 " of entry %u are asked "
		    "for, it has %" PRIu64,
		    len, r->offset, r->entry, size);
	if (len > size - r->offset)
		len = size - r->offset;
	if (buf_reserve(dst, (size_t)len) < 0)
		return err_set(e, ERR_LIMIT, "the answer is too large");
	rc = read_exactly(fd, dst->data + dst->len, (size_t)len, r->offset);
	if (rc < 0)
		return damaged(r->entry, rc, e);
	buf_fill(dst, (size_t)len);
	return 0;
}

int
snapshot_export_read(struct snapshot_export *x, const struct snapshot_range *r,
    size_t n, struct buf *dst, struct snapshot_facts *ret, struct err *e)
{
	struct snapshot_facts facts = { 0 };
	size_t before = dst->len, i;
	int64_t mtime = snap_ns(&x->top.st_mtim);
	int rc = 0;

	for (i = 0; i < n && rc == 0; i++)
		rc = read_range(x, &r[i], dst, &facts, e);
	if (rc < 0) {
		dst->len = before;
		return rc;
	}
	facts.owner = x->top.st_uid;
	facts.mode = x->top.st_mode & 07777;
	facts.mtime_ns = mtime > 0 ? (uint64_t)mtime : 0;
	facts.index = x->index_size;
	*ret = facts;
	return 0;
}
