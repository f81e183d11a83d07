/*
 * snapshot_export.h - a snapshot of the store as ranges of bytes, for a store
 * that lacks it. snapshot_import.h is the other side.
 *
 * What can be asked for: the manifest (ID/manifest as it is), each regular file
 * by its number in the manifest (its first entry is 0; entries of every type
 * count), and the pack file of the private .git with its index (git's format,
 * version 2), when it has a commit: by the index a store finds which bytes of
 * the pack it lacks. The rest of a snapshot follows from the manifest.
 *
 * Who asks is not trusted: numbers, offsets and lengths are checked, files are
 * opened below the tree without following a link, and nothing is read that the
 * manifest does not list. Little is kept: eight bytes an entry.
 */
#ifndef SANDBOX_SNAPSHOT_EXPORT_H
#define SANDBOX_SNAPSHOT_EXPORT_H

#include "common/buf.h"
#include "common/err.h"

#define SNAPSHOT_CHUNK (256u << 10) /* bytes of all ranges asked at once */
#define SNAPSHOT_RANGES 512         /* of them */
#define SNAPSHOT_WINDOW 4           /* that may be unanswered */
#define SNAPSHOT_RANGE_BYTES 16     /* of one, encoded */

#define SNAPSHOT_MANIFEST 0xffffffffu
#define SNAPSHOT_PACK 0xfffffffeu
#define SNAPSHOT_INDEX 0xfffffffdu /* of the pack; the least of these */

struct snapshot_range {
	uint32_t entry;
	uint64_t offset;
	uint32_t len; /* of those that are no entries: at most */
};

/* What goes along with bytes. */
struct snapshot_facts {
	uint64_t total;    /* size of what is no entry, when asked for it */
	uint64_t index;    /* size of the pack's index; 0: there is none */
	uint64_t owner;    /* the uid that is in the id */
	uint64_t mode;     /* of the top directory */
	uint64_t mtime_ns; /* of the same; 0 before 1970 */
};

/* Big-endian: entry (4), offset (8), len (4). */
void snapshot_ranges_put(
    struct buf *dst, const struct snapshot_range *r, size_t n);
/* At most SNAPSHOT_RANGES, at least one, of together at most SNAPSHOT_CHUNK;
 * the manifest, the pack and its index with nothing of another kind.
 * ERR_PROTO. */
int snapshot_ranges_get(const void *p, size_t len,
    struct snapshot_range ret[SNAPSHOT_RANGES], size_t *ret_n, struct err *e);

struct snapshot_export;

/* Holds it (snapshot_cache.h) until it is closed. ERR_NOTFOUND. */
int snapshot_export_open(const char *store, const char *id,
    struct snapshot_export **ret, struct err *e);
void snapshot_export_close(struct snapshot_export *x); /* NULL is allowed */
/* The bytes of these ranges, one after the other, added to dst; of what
 * is no entry those that there are. ERR_PROTO: nobody may ask that. Others:
 * the snapshot is damaged. Not a byte is added on failure. */
int snapshot_export_read(struct snapshot_export *x,
    const struct snapshot_range *r, size_t n, struct buf *dst,
    struct snapshot_facts *ret, struct err *e);

#endif
