/*
 * reading.h - which files to read, and what was read, from a conversation.
 *
 *	reading_scan(&r, conv, facts, hurry);
 *	if (reading_more(&r, conv, reply) == 0)
 *		... all is read: r.file[0..n_file) in order of relevance
 *	reading_clear(&r);
 */
#ifndef REPAIR_READING_H
#define REPAIR_READING_H

#include "orchestrator/repair/dialog.h"

struct reading_file {
	char *path;
	int score;    /* relevance; tests first */
	bool related; /* the failing tests or what they say speak of it */
	bool test;    /* read for its words, never edited */
	bool asked;   /* a call is in the conversation */
	bool failed;  /* it can't be read, or not wholly */
	size_t next;  /* the next line that is wanted, 1-based */
	size_t total; /* lines, 0 while unknown */
	struct buf text;
};

struct reading {
	bool listed;             /* list_dir was answered, as far as needed */
	unsigned long list_next; /* entry that it goes on with; 0: the first */
	size_t errors;           /* answers that were errors */
	char *error;             /* the last of them */
	struct reading_file *file;
	size_t n_file;
	size_t bytes; /* read so far */
	/* While it scans. */
	size_t pages, n_script;
	uint32_t *index; /* of file by path: its place and 1, or 0 */
	size_t index_size;
	uint32_t read[64]; /* of file: what was read */
	size_t n_read;
	unsigned char words[8192];
};

/* What is listed and read is bounded, whatever there is. A name without an
 * extension is read if a test speaks of it, and few others are. hurry: what is
 * listed so far has to do. */
void reading_scan(
    struct reading *r, const json_t *conv, const struct facts *f, bool hurry);
/* Adds the calls that are still to be made; their number. */
size_t reading_more(struct reading *r, const json_t *conv, json_t *reply);
void reading_clear(struct reading *r);

#endif
