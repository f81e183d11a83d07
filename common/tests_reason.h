/*
 * tests_reason.h - why a test failed, in output that ends with counts.
 *
 * The last lines of a test runner say most, but for Node's: behind the reasons
 * it puts the tests counted in eight lines, as TAP ("# pass 1") or as its spec
 * reporter does.
 */
#ifndef COMMON_TESTS_REASON_H
#define COMMON_TESTS_REASON_H

#include "common/compat.h"

/* The line of the last reason, without blanks before it; NULL: the text does
 * not end with such counts, or gives none. */
const char *tests_reason(const char *text);
/* That and the lines that go on with it, as one line, cut to size. */
void tests_reason_line(const char *reason, char *dst, size_t size);

#endif
