/*
 * hint.h - what failing tests speak of. A test that is called
 * "pinned ones stay" is likelier to be mended by an edit that brings in
 * `pinned` than by one that does not.
 *
 *	hints_init(&h, &failing);
 *	cands.hints = &h;       cands_add() asks hints_match()
 *	hints_clear(&h);
 */
#ifndef REPAIR_HINT_H
#define REPAIR_HINT_H

#include "common/strv.h"

/* As likely as this, by natural fixes of 54 bugs: 1.6 to 2.5 do as well. */
#define HINT_FACTOR 1.8f

#define HINT_NAMES_MAX 4

struct hints {
	struct strv words; /* in lower case */
	/* What only failing tests hold: members that the program knows, and
	 * texts with their quotes. */
	struct strv names, literals;
};

void hints_init(struct hints *h, const struct strv *failing);
void hints_clear(struct hints *h);
/* Has the new text more than the old one of a word that is one of them, or
 * begins like one? h may be NULL. */
bool hints_match(const struct hints *h, const char *old, size_t old_len,
    const char *text, size_t len);

#endif
