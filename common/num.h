/* num.h - checked reading of numbers that people and peers write. */
#ifndef COMMON_NUM_H
#define COMMON_NUM_H

#include "common/compat.h"
#include "common/err.h"

/* A whole decimal number, min..max, nothing around it. what names it in the
 * error ("-n"). Returns 0, or ERR_USAGE with a sentence that gives the range.
 */
int num_u64(const char *s, uint64_t min, uint64_t max, const char *what,
    uint64_t *ret, struct err *e);

/* Dollars: "5", "0.25", "$1.50"; millionths of one, more digits than six and
 * zero are refused. */
int num_usd(const char *s, const char *what, uint64_t *ret, struct err *e);

/* A duration: "90", "90s", "10m", "2h", "1d", "250ms"; milliseconds. A bare
 * number counts seconds. Zero and anything over 365 days are refused. */
int num_duration_ms(
    const char *s, const char *what, uint64_t *ret, struct err *e);

/* A size: "512M", "4G", "64K", "1T", plain bytes; powers of 1024. 0 and what
 * does not fit into 63 bits are refused. */
int num_size(const char *s, const char *what, uint64_t *ret, struct err *e);
/* "4 GiB", "512 MiB", "1.5 GiB", "12 bytes" into dst. Returns dst. */
char *num_fmt_size(uint64_t n, char *dst, size_t size);

/* Money: "1.25", with at most six decimals; in millionths. */
int num_money_micro(
    const char *s, const char *what, uint64_t *ret, struct err *e);

/* "12 ms", "3.4 s", "5 m 10 s" into dst. Returns dst. */
char *num_fmt_ms(uint64_t ms, char *dst, size_t size);

#endif
