/*
 * reading.h - which files to read, and what was read, from a conversation.
 *
 *	reading_scan(&r, conv, facts);
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
	bool test;    /* read for its words, never edited */
	bool asked;   /* a call is in the conversation */
	bool failed;  /* it can't be read, or not wholly */
	size_t next;  /* the next line that is wanted, 1-based */
	size_t total; /* lines, 0 while unknown */
	struct buf text;
};

struct reading {
	bool listed;             /* list_dir was answered, to its end */
	unsigned long list_next; /* entry that it goes on with; 0: the first */
	size_t errors;           /* answers that were errors */
	char *error;             /* the last of them */
	struct reading_file *file;
	size_t n_file;
	size_t bytes; /* read so far */
};

void reading_scan(struct reading *r, const json_t *conv, const struct facts *f);
/* Adds the calls that are still to be made; their number. */
size_t reading_more(struct reading *r, const json_t *conv, json_t *reply);
void reading_clear(struct reading *r);

#endif
