/*
 * cand.h - candidate edits: a bounded list without duplicates.
 *
 * A candidate replaces whole lines of one source. Its old text is not stored:
 * it is lines line .. line + n_lines - 1 of the source.
 */
#ifndef REPAIR_CAND_H
#define REPAIR_CAND_H

#include "common/buf.h"
#include "orchestrator/repair/hint.h"
#include "orchestrator/repair/token.h"

#define CAND_MAX 20000
#define CAND_MAX_TEXT 2000 /* bytes of old or new lines */

enum cand_state {
	CAND_NEW,
	CAND_DEALT,
	CAND_TRIED,
	CAND_PASSED,
	CAND_OFFERED, /* passed, and given out as the fix */
	CAND_LATE     /* its run timed out: nothing is known of it */
};

struct cand {
	uint32_t source; /* index of the source */
	uint32_t line, n_lines;
	uint16_t op;      /* row of the operator table */
	uint16_t hypo;    /* set by the queue */
	int32_t region;   /* function, -1: none */
	uint32_t order;   /* in which it was made, breaks ties */
	uint16_t changed; /* tokens that differ, about */
	uint8_t state;
	bool again;      /* timed out, and was put back */
	uint32_t holder; /* who was dealt it */
	float score;
	uint64_t key; /* hash of place and new text */
	char *new_text;
	char *what; /* "`<` -> `<=`" */
};

struct cands {
	struct cand *v;
	size_t n, size;
	uint64_t *seen; /* hash set of token texts */
	size_t seen_n, seen_size;
	uint32_t made;
	size_t bytes; /* of text looked at: bounds the time */
	float floor;  /* what scores no more than this is not kept anyhow */
	const struct hints *hints; /* what makes one likelier; NULL: nothing */
};

void cands_clear(struct cands *c);
/* Replace bytes [from, to) of source number idx by text. Nothing happens when
 * that changes no token, was there before or is too long. */
void cands_add(struct cands *c, const struct source *s, uint32_t idx,
    uint16_t op, float score, size_t from, size_t to, const char *text,
    size_t len);
/* Best first, at most CAND_MAX. */
void cands_sort(struct cands *c, uint64_t seed);
/* Drop all but the first n. */
void cands_keep(struct cands *c, size_t n);
/* The old lines, without the last newline; to free. */
char *cand_old(const struct cand *c, const struct source *s);
uint64_t cand_key(
    const char *path, uint32_t line, const char *old, const char *new_text);

#endif
