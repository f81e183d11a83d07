/*
 * tests_parse.h - per-test results from what test runners print.
 *
 * Understood: pytest, unittest, TAP (with node's subtests), prove, go test,
 * cargo test, ctest, and the tick-and-cross output of node --test, mocha, jest
 * and vitest. The text is hostile: bounded in names, never trusted alone (the
 * exit status counts too).
 */
#ifndef COMMON_TESTS_PARSE_H
#define COMMON_TESTS_PARSE_H

#include "common/strv.h"

#define TESTS_MAX_NAMES 50000
#define TESTS_MAX_NAME 256

struct test_report {
	const char *runner; /* static; NULL: nothing was recognised */
	struct strv passed; /* sorted, no name twice; perhaps not all */
	struct strv failed; /* sorted, no name twice */
	uint64_t n_passed, n_failed, n_skipped;
	bool all_names;      /* passed lists all that passed */
	bool exact;          /* the numbers count what the names name */
	bool none;           /* it ran, but no test did */
	uint64_t slowest_ms; /* of passing tests; 0: not known */
};

/* s: clean text (text_clean). */
void tests_parse(const char *s, size_t len, struct test_report *ret);
void test_report_clear(struct test_report *t);

/* --- for the parsers: one line after the other --------------------------- */

struct tline {
	const char *p, *end; /* the rest of the text */
	const char *s;       /* the current line */
	size_t len;
	size_t indent; /* blanks before it (a tab is one) */
};

void tline_init(struct tline *l, const char *s, size_t len);
bool tline_next(struct tline *l);
bool tline_starts(const struct tline *l, const char *prefix);
bool tline_ends(const struct tline *l, const char *suffix);
/* Offset of the first occurrence at or behind from; len when there is none. */
size_t tline_find(const struct tline *l, size_t from, const char *what);
/* Does it go on with what at off? */
bool tline_at(const struct tline *l, size_t off, const char *what);
/* A decimal number at off; false: there is none. *end: behind it. */
bool tline_num(const struct tline *l, size_t off, uint64_t *ret, size_t *end);
/* Seconds or milliseconds with a fraction, as whole milliseconds. */
bool tline_ms(const char *s, size_t len, double unit_ms, uint64_t *ret);

void report_pass(struct test_report *t, const char *name, size_t len);
void report_fail(struct test_report *t, const char *name, size_t len);
void report_slow(struct test_report *t, uint64_t ms);

/* True when the text is of this runner; then t is filled. */
bool parse_pytest(const char *s, size_t len, struct test_report *t);
bool parse_unittest(const char *s, size_t len, struct test_report *t);
bool parse_go(const char *s, size_t len, struct test_report *t);
bool parse_cargo(const char *s, size_t len, struct test_report *t);
bool parse_ctest(const char *s, size_t len, struct test_report *t);
bool parse_tap(const char *s, size_t len, struct test_report *t);
bool parse_prove(const char *s, size_t len, struct test_report *t);
bool parse_spec(const char *s, size_t len, struct test_report *t);

#endif
