/* word.h - small lists of words, written as one string with single blanks. */
#ifndef REPAIR_WORD_H
#define REPAIR_WORD_H

#include "common/compat.h"

/* Position of the word s[0..len) in list, -1 when it is not there. */
int word_find(const char *list, const char *s, size_t len);
/* The n-th word of list, its length in *ret_len; NULL beyond the end. */
const char *word_at(const char *list, int n, size_t *ret_len);
/* Does text hold word with no letter, digit or underscore beside it? */
bool word_in_text(const char *text, const char *word, size_t len);
bool word_is_char(int c); /* a letter, digit, underscore, or not ASCII */
uint64_t word_hash(uint64_t h, const void *p, size_t len); /* FNV-1a */
#define WORD_HASH_START 0xcbf29ce484222325ULL

#endif
