/* snapshot_import_priv.h - shared by the parts of snapshot_import.c only. */
#ifndef SANDBOX_SNAPSHOT_IMPORT_PRIV_H
#define SANDBOX_SNAPSHOT_IMPORT_PRIV_H

#include "sandbox/copyfile.h"
#include "sandbox/snapshot_import.h"
#include "sandbox/snapshot_priv.h"
#include "sandbox/walk.h"

/* snapshot_import_check.c: is this a tree that may be made? ERR_PROTO. */
int import_check(const struct snap_list *l, struct err *e);
/* The manifest's text, checked against the id. Takes the text apart. */
int import_manifest(char *text, size_t len, const char *id, uint64_t owner,
    struct manifest *ret, struct err *e);

/* snapshot_import_fetch.c */
struct import_batch {
	struct snapshot_range r[SNAPSHOT_RANGES];
	size_t n;
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
	struct copier copier;
	struct cursor at; /* below treefd */
	uid_t uid;
	uint64_t done, total; /* bytes to be fetched */

	/* snapshot_import_fetch.c */
	struct import_batch batch[SNAPSHOT_WINDOW];
	uint32_t blob; /* SNAPSHOT_MANIFEST or SNAPSHOT_PACK */
	uint64_t blob_off, blob_end;
	struct buf *blob_buf; /* where it goes: this, or */
	int blob_fd;
	size_t next;       /* entry that is asked for next */
	uint64_t next_off; /* from here on */
	int fd;
};

/* All of the manifest or pack into a buffer or (buf NULL) a file. */
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

#endif
