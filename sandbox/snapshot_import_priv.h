/* snapshot_import_priv.h - shared by the parts of snapshot_import.c only. */
#ifndef SANDBOX_SNAPSHOT_IMPORT_PRIV_H
#define SANDBOX_SNAPSHOT_IMPORT_PRIV_H

#include "sandbox/copyfile.h"
#include "sandbox/snapshot_import.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/walk.h"

#define IMPORT_LOOKED_AT 8 /* earlier snapshots, those used last */

/* snapshot_import_check.c: is this a tree that may be made? ERR_PROTO. */
int import_check(const struct snap_list *l, struct err *e);
/* The manifest's text, checked against the id. Takes the text apart. */
int import_manifest(char *text, size_t len, const char *id, uint64_t owner,
    struct manifest *ret, struct err *e);

struct import;

/* snapshot_import_fetch.c */
struct import_batch {
	struct snapshot_range r[SNAPSHOT_RANGES];
	size_t n;
};

typedef void (*import_next_fn)(struct import *k, struct import_batch *b);
typedef int (*import_take_fn)(struct import *k, const struct import_batch *b,
    const struct snapshot_answer *a, struct err *e);

/* An object of the commit's pack. */
struct import_object {
	const char *id; /* borrowed from the index */
	uint64_t offset, len;
	bool here; /* an earlier snapshot has it */
};

struct import {
	const struct snapshot_source *src;
	struct snap_store store;
	const char *id;
	char *snap, *tree; /* below the store's temporary directory */
	int treefd;
	struct manifest m;
	struct snapshot_facts facts;
	struct snap_git git;
	char *old_tree; /* of a snapshot with the same .git, held; or NULL */
	int old_hold;
	struct strv borrow; /* object directories of earlier snapshots, held */
	int borrow_hold[IMPORT_LOOKED_AT];
	struct copier copier;
	struct cursor at; /* below treefd */
	uid_t uid;
	uint64_t done, total; /* bytes to be fetched */
	uint64_t before;      /* total of what was fetched earlier */
	uint64_t wrote;       /* bytes that take room already */

	/* snapshot_import_fetch.c */
	struct import_batch batch[SNAPSHOT_WINDOW];
	uint32_t blob; /* SNAPSHOT_MANIFEST and others */
	uint64_t blob_off, blob_end, blob_total;
	struct buf *blob_buf; /* where it goes: this, or */
	int blob_fd;
	size_t next;       /* entry that is asked for next */
	uint64_t next_off; /* from here on */
	int fd;

	/* snapshot_import_thin.c */
	struct import_object *objects; /* in the order of the pack */
	size_t objects_n;
	struct import_sum *sum;
};

/* Ask for what next() says until there is nothing more; take() the answers in
 * order. */
int import_transfer(
    struct import *k, import_next_fn next, import_take_fn take, struct err *e);
/* Only how large it is. */
int import_blob_size(
    struct import *k, uint32_t which, uint64_t *ret, struct err *e);
/* All of the manifest, pack or index into a buffer or (buf NULL) a file. */
int import_blob(struct import *k, uint32_t which, uint64_t max, struct buf *buf,
    int fd, struct err *e);
/* Every file that is not linked yet. */
int import_files(struct import *k, struct err *e);
/* Is it still to be fetched? */
bool import_is_wanted(const struct snap_entry *en);
/* ERR_PROTO with the entry's name. */
int import_bad(const struct snap_entry *en, const char *why, struct err *e);
/* A failure to write. -ENOSPC says how much is needed. */
int import_failed(struct import *k, const char *what, int r, struct err *e);

/* snapshot_import_reuse.c: link or copy what earlier snapshots have, and find
 * one with the same .git. */
int import_reuse(struct import *k, struct err *e);

/* snapshot_import_thin.c: what of the commit no earlier snapshot has; then
 * k->borrow has all objects. 1: it is to be taken whole. */
int import_thin(struct import *k, struct err *e);
/* An index of git's, version 2, of a pack of so many bytes, with ids of hash
 * bytes: its objects, yours, at least one. ERR_PROTO. */
int import_index(const void *p, size_t len, size_t hash, uint64_t pack,
    struct import_object **ret, size_t *ret_n);

#endif
