/*
 * spectrum.h - which lines the failing and the passing tests executed.
 *
 *	struct spectrum sp;
 *	if (spectrum_parse(&sp, text, nonce) == 0) {
 *		f = spectrum_find(&sp, "src/a.py");
 *		spectrum_lines(&sp, f, source, line);
 *		spectrum_clear(&sp);
 *	}
 *
 * The report comes from the sandbox, where the program under test could write
 * it as well: all that it may do is to misdirect the search. It is
 *
 *	foray-spectrum NONCE FAILED PASSED    how many tests
 *	= PATH                                below the working directory
 *	KIND FIRST-LAST,LINE,...              any number of such rows a file
 *	end NONCE
 *
 * where KIND is F/P (executed by F failing and P passing tests), `x` (executed
 * outside of every test, or nobody knows by which) or `-` (never executed).
 * Lines that are not named hold nothing that is executed by itself. What stands
 * before and behind is ignored; a report that is malformed or cut is refused.
 */
#ifndef REPAIR_SPECTRUM_H
#define REPAIR_SPECTRUM_H

#include "orchestrator/repair/token.h"

#define SPECTRUM_MAX_FILES 200
#define SPECTRUM_MAX_RANGES 16384
#define SPECTRUM_MAX_NUMBER 1000000 /* of a line, and of tests */

enum spectrum_kind {
	SPECTRUM_NONE, /* nothing is known of it */
	SPECTRUM_UNRUN,
	SPECTRUM_OUTSIDE,
	SPECTRUM_RUN
};

struct spectrum_range {
	uint32_t first, last;
	uint32_t failed, passed;
	uint8_t kind;
};

struct spectrum_file {
	char *path;
	size_t first, n; /* its ranges */
};

struct spectrum {
	uint32_t failed, passed; /* tests; 0 and 0: they are not told apart */
	struct spectrum_file *file;
	size_t n_file;
	struct spectrum_range *range;
	size_t n_range;
};

struct spectrum_line {
	uint8_t kind;
	float ochiai; /* of SPECTRUM_RUN: 0 to 1 */
};

/* 0, or -1: there is no whole report with this nonce in text. */
int spectrum_parse(struct spectrum *ret, const char *text, const char *nonce);
void spectrum_clear(struct spectrum *sp);
const struct spectrum_file *spectrum_find(
    const struct spectrum *sp, const char *path);
/* The lines of s, s->n_line of them, from f (NULL: nothing is known). A
 * statement is executed when any of its lines is; what holds nothing that is
 * executed, such as a declaration or the head of a function, is taken for what
 * is around it. */
void spectrum_lines(const struct spectrum *sp, const struct spectrum_file *f,
    const struct source *s, struct spectrum_line *ret);

#endif
