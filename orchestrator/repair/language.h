/*
 * language.h - which of the tokenizer's dialects a file is read as, and what
 * else a language has of its own. README.md says how to add one.
 */
#ifndef REPAIR_LANGUAGE_H
#define REPAIR_LANGUAGE_H

#include "orchestrator/repair/token.h"

/* Lists of words: parted by single blanks (word.h). */
struct language {
	const char *exts;     /* of file names, without the dot */
	const char *programs; /* "awk" is gawk and mawk, too: of a #! line */
	enum token_dialect dialect;
	const char *comments; /* what begins one that ends with its line */
	/* A line ends a statement, as in a dialect that has `;` for it, and
	 * what is behind `if` stands in no parentheses. */
	bool lines;
};

/* By the extension of path, else by the #! line at the start of text, which may
 * be NULL. NULL: none that is known. */
const struct language *language_of(
    const char *path, const char *text, size_t len);

#endif
