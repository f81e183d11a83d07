/*
 * copyfile.h - the bytes of one file: copied with its holes, and hashed.
 *
 * The hash is BLAKE2b-256 of the content. Where the file has whole zero blocks
 * (64 KiB, aligned) they are left out and counted apart, so that a hole costs
 * nothing and data of zeros hashes like a hole; a hash goes together with the
 * size.
 */
#ifndef SANDBOX_COPYFILE_H
#define SANDBOX_COPYFILE_H

#include <sys/stat.h>

#include "common/err.h"
#include "common/hash.h"

struct copier {
	unsigned char *block;
	bool no_clone; /* learned: this pair of file systems can't */
	bool no_range;
};

void copier_init(struct copier *c);
void copier_clear(struct copier *c);

/* A file that may be read, for reading, without touching its atime where that
 * is allowed; -ELOOP for a link, -EINVAL for what is no regular file. */
int copy_open(int dirfd, const char *name, struct stat *ret_st);

/* The first st->st_size bytes of src. hash may be NULL. */
int copy_hash(
    struct copier *c, int src, const struct stat *st, unsigned char *hash);
/* The same into dst (new, empty, open for both): a clone, else a copy. Fewer
 * bytes when src became shorter. hash: of what dst holds then; may be NULL. */
int copy_data(struct copier *c, int src, const struct stat *st, int dst,
    unsigned char *hash);

/* A whole tree: directories, files and links with mode and mtime, to the owner
 * uid; other things are left out. dst: an empty directory. link_below: files
 * below this directory of src are hard links where possible; may be NULL. */
int copy_tree(
    int src, int dst, uid_t uid, const char *link_below, struct err *e);
/* Give a file, directory or link of ours its owner (where we are root), mode
 * and mtime; not following. */
int copy_finish(int dirfd, const char *name, uid_t uid, const struct stat *st);

#endif
