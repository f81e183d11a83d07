/*
 * snapshot_import_thin.c - a commit's pack when earlier snapshots have most of
 * its objects.
 *
 * The pack's index comes first: which objects there are, and where. Then only
 * the bytes of those that no earlier snapshot has, as a pack of its own: git
 * makes the index of that anew, which checks each object, and packs the commit
 * from both. So nothing of an earlier commit is left in what a worker sees.
 *
 * Whatever is odd about what came ends in "take it whole", which believes
 * nothing of this.
 */
#include "common/compat.h"

#include <sys/statvfs.h>

#include <errno.h>
#include <fcntl.h>
#include <sha1.h>
#include <sha2.h>
#include <sodium.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/gitrun.h"
#include "sandbox/snapshot_import_priv.h"

#define HEADER 12u /* of a pack: PACK, version, how many */
#define FANOUT (8 + 256 * 4u)
#define IDX_MAX ((uint64_t)64 << 20)
#define HEX_MAX 64

struct import_sum {
	SHA1_CTX sha1;
	SHA2_CTX sha256;
};

static uint32_t
get32(const char *at)
{
	const unsigned char *p = (const unsigned char *)at;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

static void
put32(char *at, uint32_t v)
{
	int i;

	for (i = 0; i < 4; i++)
		at[i] = (char)(v >> (24 - 8 * i));
}

/* --- the index ------------------------------------------------------------ */

static int
object_cmp(const void *a, const void *b)
{
	const struct import_object *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Where the i-th object begins; 0: nowhere. */
static uint64_t
offset_of(const char *idx, size_t len, uint32_t n, size_t hash, uint32_t i)
{
	uint64_t small = FANOUT + (uint64_t)n * (hash + 4);
	uint64_t large = small + (uint64_t)n * 4, v;

	v = get32(idx + small + (uint64_t)i * 4);
	if ((v & 0x80000000u) == 0)
		return v;
	large += (v & 0x7fffffffu) * 8;
	if (large + 8 + 2 * hash > len)
		return 0;
	v = (uint64_t)get32(idx + large) << 32 | get32(idx + large + 4);
	return v <= INT64_MAX ? v : 0;
}

/* Each begins behind the one before, and has a byte at least. */
static int
find_ends(struct import_object *v, uint32_t n, uint64_t end)
{
	uint64_t at = HEADER;
	uint32_t i;

	qsort(v, n, sizeof *v, object_cmp);
	for (i = 0; i < n; i++) {
		if (v[i].offset < at)
			return ERR_PROTO;
		at = v[i].offset + 1;
		v[i].len = (i + 1 < n ? v[i + 1].offset : end);
		if (v[i].len < at)
			return ERR_PROTO;
		v[i].len -= v[i].offset;
	}
	return 0;
}

int
import_index(const void *p, size_t len, size_t hash, uint64_t pack,
    struct import_object **ret, size_t *ret_n)
{
	const char *idx = p;
	struct import_object *v;
	uint32_t n, i;
	int r;

	if (len < FANOUT + 2 * hash || pack < HEADER + hash ||
	    memcmp(idx, "\377tOc\0\0\0\2", 8) != 0)
		return ERR_PROTO;
	n = get32(idx + FANOUT - 4);
	if (n == 0 || FANOUT + (uint64_t)n * (hash + 8) + 2 * hash > len)
		return ERR_PROTO;
	v = xcalloc(n, sizeof *v);
	for (i = 0; i < n; i++) {
		v[i].id = idx + FANOUT + (size_t)i * hash;
		v[i].offset = offset_of(idx, len, n, hash, i);
	}
	r = find_ends(v, n, pack - hash);
	if (r < 0) {
		free(v);
		return r;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}

/* --- what is here --------------------------------------------------------- */

/* One word a line where the object is here: git says so in the same order. */
static int
mark_missing(struct import *k, const char *text)
{
	static const char missing[] = " missing";
	const char *end;
	size_t i, len;

	for (i = 0; i < k->objects_n; i++, text = end + 1) {
		end = strchr(text, '\n');
		if (end == NULL)
			return 1;
		len = strlen(missing);
		k->objects[i].here = (size_t)(end - text) < len ||
		    strncmp(end - len, missing, len) != 0;
	}
	return 0;
}

/* 1: git can't tell. */
static int
find_here(struct import *k, const char *dir, size_t hash, struct err *e)
{
	struct gitrun run = { 0 };
	char hex[HEX_MAX + 1];
	struct buf in, out;
	size_t i;
	int r;

	buf_init(&in, BUF_NOMAX);
	buf_init(&out, (k->objects_n + 1) * (HEX_MAX + 16));
	for (i = 0; i < k->objects_n; i++) {
		(void)sodium_bin2hex(hex, sizeof hex,
		    (const unsigned char *)k->objects[i].id, hash);
		(void)buf_printf(&in, "%s\n", hex);
	}
	strv_addl(&run.args, "cat-file", "--batch-check=%(objecttype)",
	    "--buffer", (char *)NULL);
	strv_addf(&run.env, "GIT_DIR=%s", dir);
	snap_git_borrow(&k->borrow, &run.env);
	run.cwd = dir;
	run.input = in.data;
	run.input_len = in.len;
	run.out = &out;
	r = gitrun(&run, e);
	if (r == 0)
		r = mark_missing(k, buf_str(&out));
	gitrun_clear(&run);
	buf_clear(&in);
	buf_clear(&out);
	return r == 0 ? 0 : 1;
}

/* --- what is not ---------------------------------------------------------- */

static void
next_thin(struct import *k, struct import_batch *b)
{
	const struct import_object *o;
	uint64_t room = SNAPSHOT_CHUNK, len;

	while (b->n < SNAPSHOT_RANGES && room > 0 && k->next < k->objects_n) {
		o = &k->objects[k->next];
		len = o->here ? 0 : o->len - k->next_off;
		if (len > room)
			len = room;
		if (len > 0)
			b->r[b->n++] = (struct snapshot_range){ SNAPSHOT_PACK,
				o->offset + k->next_off, (uint32_t)len };
		room -= len;
		k->next_off += len;
		if (o->here || k->next_off == o->len) {
			k->next++;
			k->next_off = 0;
		}
	}
}

static void
sum_add(struct import *k, const void *p, size_t len)
{
	if (k->git.sha256)
		SHA256Update(&k->sum->sha256, p, len);
	else
		SHA1Update(&k->sum->sha1, p, len);
}

static int
put(struct import *k, const void *p, size_t len, struct err *e)
{
	int r = fd_write_all(k->blob_fd, p, len);

	sum_add(k, p, len);
	return r < 0 ? import_failed(k, "write the pack", r, e) : 0;
}

static int
take_thin(struct import *k, const struct import_batch *b,
    const struct snapshot_answer *a, struct err *e)
{
	size_t want = 0, i;

	for (i = 0; i < b->n; i++)
		want += b->r[i].len;
	if (want != a->len)
		return err_set(e, ERR_PROTO,
		    "%zu bytes of the snapshot came where %zu had to come",
		    a->len, want);
	return put(k, a->data, a->len, e);
}

static int
fetch_thin(struct import *k, uint32_t n, size_t hash, struct err *e)
{
	unsigned char end[SHA256_DIGEST_LENGTH];
	char head[HEADER] = "PACK\0\0\0\2";
	int r;

	SHA1Init(&k->sum->sha1);
	SHA256Init(&k->sum->sha256);
	put32(head + 8, n);
	k->next = 0;
	k->next_off = 0;
	r = put(k, head, sizeof head, e);
	if (r == 0)
		r = import_transfer(k, next_thin, take_thin, e);
	if (r < 0)
		return r;
	if (k->git.sha256)
		SHA256Final(end, &k->sum->sha256);
	else
		SHA1Final(end, &k->sum->sha1);
	return put(k, end, hash, e);
}

/* Into DIR, a repository. 1: take it whole. */
static int
bring_missing(struct import *k, const char *dir, size_t hash, struct err *e)
{
	char *path = path_join(k->store.tmp, "thin-pack");
	struct import_sum sum;
	uint64_t bytes = 0, all = 0;
	struct statvfs fs;
	uint32_t n = 0;
	size_t i;
	int r = 1;

	for (i = 0; i < k->objects_n; i++) {
		all += k->objects[i].len;
		if (!k->objects[i].here) {
			bytes += k->objects[i].len;
			n++;
		}
	}
	if (bytes > all / 4 * 3 || statvfs(k->store.dir, &fs) < 0 ||
	    (bytes + all) / fs.f_frsize >= fs.f_bavail)
		goto out;
	r = 0;
	if (n == 0)
		goto out;
	k->sum = &sum;
	k->done = 0;
	k->total = bytes;
	k->blob_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (k->blob_fd < 0) {
		r = err_set(e, -errno, "make %s: %s", path, strerror(errno));
		goto out;
	}
	r = fetch_thin(k, n, hash, e);
	fd_close(&k->blob_fd);
	k->sum = NULL;
	if (r == 0)
		r = snap_git_take_pack(&k->git, path, dir, dir, e);
out:
	free(path);
	return r;
}

/* --- the whole ------------------------------------------------------------ */

/* 1: there is none that helps. */
static int
fetch_index(struct import *k, size_t hash, struct buf *idx, struct err *e)
{
	uint64_t pack;
	int r;

	r = import_blob_size(k, SNAPSHOT_PACK, &pack, e);
	if (r == 0)
		r = import_blob(k, SNAPSHOT_INDEX, IDX_MAX, idx, -1, e);
	if (r < 0)
		return r;
	return import_index(idx->data, idx->len, hash, pack, &k->objects,
		   &k->objects_n) < 0
	    ? 1
	    : 0;
}

int
import_thin(struct import *k, struct err *e)
{
	size_t hash = k->git.sha256 ? 32 : 20;
	char *dir = NULL;
	struct buf idx;
	int r;

	if (k->borrow.n == 0 || k->facts.index == 0 || k->facts.index > IDX_MAX)
		return 1;
	buf_init(&idx, IDX_MAX);
	k->done = k->total = 0;
	r = fetch_index(k, hash, &idx, e);
	if (r == 0) {
		dir = path_join(k->store.tmp, "thin.git");
		r = path_mkdirs(dir, 0700, e);
	}
	if (r == 0)
		r = snap_git_empty(&k->git, dir, e);
	if (r == 0)
		r = find_here(k, dir, hash, e);
	if (r == 0)
		r = bring_missing(k, dir, hash, e);
	if (r == 0)
		strv_addf(&k->borrow, "%s/objects", dir);
	buf_clear(&idx);
	free(k->objects);
	k->objects = NULL;
	free(dir);
	return r;
}
