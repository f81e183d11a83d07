/*
 * snapshot_import.h - a snapshot into a store that lacks it, from where its
 * bytes come in ranges (snapshot_export.h).
 *
 * Nothing that comes is believed: the manifest must be of the id that was asked
 * for, its paths must be in order, below the tree and below no link; each
 * file's size and hash is checked when it is on the disk; git checks the pack,
 * and that the commit has all that it names. What an earlier snapshot of this
 * store has is linked (same content, mode and time) or copied (same content);
 * so is the private .git of the same commit, and of another commit's the pack
 * takes what objects are the same. The rest of .git is made here.
 *
 * Where links of the tree lead is not looked at: they are never followed here,
 * and a worker's sandbox is what bounds them.
 *
 * It blocks, for minutes where there is much to do, and needs memory for the
 * manifest besides a few chunks. Made in a temporary directory of the store and
 * moved to its place at the end: killed at any moment it leaves what the next
 * one sweeps.
 */
#ifndef SANDBOX_SNAPSHOT_IMPORT_H
#define SANDBOX_SNAPSHOT_IMPORT_H

#include "sandbox/snapshot_export.h"

/* Largest manifest, in bytes and entries. */
#define SNAPSHOT_MANIFEST_MAX ((uint64_t)512 << 20)
#define SNAPSHOT_ENTRIES_MAX 2000000u

struct snapshot_answer {
	const void *data; /* valid until the next call */
	size_t len;
	struct snapshot_facts facts;
};

struct snapshot_source {
	/* Ask for these; SNAPSHOT_WINDOW at most are unanswered. */
	int (*ask)(
	    const struct snapshot_range *r, size_t n, void *ctx, struct err *e);
	/* The answer to the oldest that is unanswered. */
	int (*answer)(struct snapshot_answer *ret, void *ctx, struct err *e);
	/* Bytes that have come, of those that must; may be NULL. */
	void (*progress)(uint64_t done, uint64_t total, void *ctx);
	/* Before any file comes: so many bytes of them will, of whole that the
	 * snapshot's files have. Negative: it may not. May be NULL. */
	int (*room)(uint64_t bytes, uint64_t whole, void *ctx, struct err *e);
	/* What the store is called for a person, and what may help where there
	 * is no room; each may be NULL. */
	const char *store_name, *no_room;
	void *ctx;
};

/* 0 also when it is there already and whole; then nothing is asked. ERR_PROTO:
 * what came is no such snapshot. -ENOSPC says how much is needed. Errors of the
 * source are passed on. */
int snapshot_import(const char *store, const char *id,
    const struct snapshot_source *src, struct err *e);

#endif
