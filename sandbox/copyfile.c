/* copyfile.c - see copyfile.h. */
#include "common/compat.h"

#include <sys/ioctl.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "sandbox/copyfile.h"

#define BLOCK ((size_t)64 * 1024)
#define RANGE_MIN (1024 * 1024)

void
copier_init(struct copier *c)
{
	memset(c, 0, sizeof *c);
	c->block = xmalloc(BLOCK);
}

void
copier_clear(struct copier *c)
{
	free(c->block);
	c->block = NULL;
}

int
copy_open(int dirfd, const char *name, struct stat *ret_st)
{
	/* O_NONBLOCK: a fifo that took the file's place must not stop us. */
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	int fd, r;

	fd = openat(dirfd, name, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = openat(dirfd, name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, ret_st) < 0)
		r = -errno;
	else if (!S_ISREG(ret_st->st_mode))
		r = -EINVAL;
	else
		return fd;
	close(fd);
	return r;
}

/* --- content in blocks ------------------------------------------------------
 */

struct content {
	struct hash_state data, zeros;
	uint64_t run_at, run_n; /* of zero blocks */
	bool any;
};

static void
run_end(struct content *h)
{
	if (h->run_n == 0)
		return;
	if (!h->any)
		hash_init(&h->zeros);
	h->any = true;
	hash_update(&h->zeros, &h->run_at, sizeof h->run_at);
	hash_update(&h->zeros, &h->run_n, sizeof h->run_n);
	h->run_n = 0;
}

static void
content_final(struct content *h, unsigned char *ret)
{
	unsigned char both[2 * HASH_LEN];

	run_end(h);
	hash_final(&h->data, both);
	if (!h->any) {
		memcpy(ret, both, HASH_LEN);
		return;
	}
	hash_final(&h->zeros, both + HASH_LEN);
	hash_bytes(both, sizeof both, ret);
}

static bool
is_zero(const unsigned char *p, size_t n)
{
	return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

static ssize_t
read_block(int fd, unsigned char *p, size_t n, uint64_t off)
{
	size_t have = 0;
	ssize_t k;

	while (have < n) {
		k = pread(fd, p + have, n - have, (off_t)(off + have));
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		have += (size_t)k;
	}
	return (ssize_t)have;
}

static int
write_block(int fd, const unsigned char *p, size_t n, uint64_t off)
{
	ssize_t k;

	while (n > 0) {
		k = pwrite(fd, p, n, (off_t)off);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		p += k;
		n -= (size_t)k;
		off += (uint64_t)k;
	}
	return 0;
}

/* The start of the next data at or after off, size when there is none. */
static uint64_t
next_data(int fd, uint64_t off, uint64_t size)
{
	off_t at = lseek(fd, (off_t)off, SEEK_DATA);

	if (at >= 0)
		return (uint64_t)at;
	return errno == ENXIO ? size : off;
}

/* Read the first size bytes of src in blocks; hash and write what is asked. */
static int
pump(struct copier *c, int src, const struct stat *st, int dst,
    unsigned char *ret_hash)
{
	uint64_t size = (uint64_t)st->st_size, off, data = 0;
	uint64_t end = 0, written = 0;
	bool sparse = (uint64_t)st->st_blocks * 512 < size, zero;
	struct content h = { .any = false };
	size_t want;
	ssize_t n;
	int r;

	if (ret_hash)
		hash_init(&h.data);
	for (off = 0; off < size; off += BLOCK) {
		want = size - off < BLOCK ? (size_t)(size - off) : BLOCK;
		if (sparse && off >= data)
			data = next_data(src, off, size);
		n = (ssize_t)want;
		zero = want == BLOCK && sparse && data >= off + BLOCK;
		if (!zero) {
			n = read_block(src, c->block, want, off);
			if (n < 0)
				return (int)n;
			if (n == 0)
				break;
			zero = (size_t)n == BLOCK && is_zero(c->block, BLOCK);
		}
		if (zero && h.run_n++ == 0)
			h.run_at = off;
		if (!zero && ret_hash) {
			run_end(&h);
			hash_update(&h.data, c->block, (size_t)n);
		}
		if (!zero && dst >= 0) {
			r = write_block(dst, c->block, (size_t)n, off);
			if (r < 0)
				return r;
			written = off + (uint64_t)n;
		}
		end = off + (uint64_t)n;
		if (n < (ssize_t)want)
			break;
	}
	/* The end may be a hole. */
	if (dst >= 0 && written < end && ftruncate(dst, (off_t)end) < 0)
		return -errno;
	if (ret_hash)
		content_final(&h, ret_hash);
	return 0;
}

int
copy_hash(struct copier *c, int src, const struct stat *st, unsigned char *hash)
{
	return pump(c, src, st, -1, hash);
}

/* Let the kernel copy; 0 when it did, 1 when it can't here. */
static int
copy_range(int src, const struct stat *st, int dst)
{
	uint64_t size = (uint64_t)st->st_size;
	off_t at = 0, to, hole;
	ssize_t n;

	while ((uint64_t)at < size) {
		at = lseek(src, at, SEEK_DATA);
		if (at < 0)
			break;
		hole = lseek(src, at, SEEK_HOLE);
		if (hole < 0 || (uint64_t)hole > size)
			hole = (off_t)size;
		to = at;
		while (at < hole) {
			n = copy_file_range(
			    src, &at, dst, &to, (size_t)(hole - at), 0);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return errno == ENOSPC || errno == EDQUOT
				    ? -errno
				    : 1;
			if (n == 0)
				return 1;
		}
	}
	return ftruncate(dst, st->st_size) < 0 ? -errno : 0;
}

int
copy_data(struct copier *c, int src, const struct stat *st, int dst,
    unsigned char *hash)
{
	struct stat now;
	bool done = false;
	int r;

	if (!c->no_clone && st->st_size > 0) {
		done = ioctl(dst, FICLONE, src) == 0;
		if (!done && errno == ENOSPC)
			return -errno;
		c->no_clone = !done;
	}
	if (!done && !c->no_range && st->st_size >= RANGE_MIN) {
		r = copy_range(src, st, dst);
		if (r < 0)
			return r;
		done = r == 0;
		c->no_range = !done;
		if (!done && ftruncate(dst, 0) < 0)
			return -errno;
	}
	if (!done)
		return pump(c, src, st, dst, hash);
	if (!hash)
		return 0;
	if (fstat(dst, &now) < 0)
		return -errno;
	return pump(c, dst, &now, -1, hash);
}

int
copy_finish(int dirfd, const char *name, uid_t uid, const struct stat *st)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };
	mode_t keep = S_ISDIR(st->st_mode) ? 01777 : 0777;

	if (geteuid() == 0 &&
	    fchownat(dirfd, name, uid, uid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISLNK(st->st_mode) &&
	    fchmodat(dirfd, name, st->st_mode & keep, 0) < 0)
		return -errno;
	if (utimensat(dirfd, name, ts, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}
