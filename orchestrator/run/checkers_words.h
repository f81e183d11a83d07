/*
 * checkers_words.h - which files a word of a shell test may mean.
 *
 * It is guessed: a variable of a "for" is each of its values, a path behind any
 * other expansion ("$(dirname "$0")/lib.sh") is looked for beside the script,
 * where it runs and above it, and what else is computed is "*". The text is
 * hostile: numbers and depths are limited.
 */
#ifndef ORCHESTRATOR_RUN_CHECKERS_WORDS_H
#define ORCHESTRATOR_RUN_CHECKERS_WORDS_H

#include "orchestrator/run/checkers_priv.h"

struct scan {
	struct finder *f;
	char *at;                 /* moves with cd */
	const char *here;         /* of the script */
	struct strv vars, values; /* of its loops; values: words */
	unsigned depth;
};

/* Takes up "for NAME in WORDS", wherever it stands in the text. */
void words_loops(struct scan *s, const char *text);
/* Where the variable of a loop stands in a word, after "./"; NULL: nowhere. */
const char *words_loop_at(const struct scan *s, const char *word);
/* Adds the files that a word may mean, as seen from dir. */
void words_resolve(const struct scan *s, const char *word, struct strv *ret);

/* Is one of these a part of a name, as people part them ("test_lib",
 * "lib-test")? What has more than four letters may go on ("assertions"). */
bool words_has_part(const char *name, const char *const *parts, size_t n);

#endif
