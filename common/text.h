/*
 * text.h - cleaning and cutting of text that others wrote (UTF-8).
 *
 * "Clean" text: valid UTF-8, no control bytes but tab and newline, no escape
 * sequences. Bytes that are not UTF-8 become U+FFFD.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include "common/buf.h"

#define TEXT_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

bool text_is_utf8(const char *s, size_t len);
/* Is it one of the n strings? */
bool text_is_one_of(const char *s, const char *const *list, size_t n);

/* Length (1 to 4) of the character at s, 0 when there is none or its bytes are
 * not UTF-8. ret_cp (may be NULL) gets its number. */
size_t text_char(const char *s, size_t len, uint32_t *ret_cp);
/* The same for walking (len > 0): a byte that is not UTF-8 counts as one
 * U+FFFD of length 1. */
size_t text_next(const char *s, size_t len, uint32_t *ret_cp);

/* Append clean text: ANSI escape sequences (CSI, OSC, others) go; "\r\n" is a
 * newline, a lone "\r" overwrites its line as a terminal does; backspace
 * removes a character; "erase in line" erases; other control bytes go, those
 * of U+0080 to U+009F too. Lines over max_line bytes are cut in the middle with
 * a note "[... N bytes ...]" (0: no limit; at least 64 otherwise).
 * Returns 0, or -ENOBUFS with dst as it was. */
int text_clean(struct buf *dst, const char *s, size_t len, size_t max_line);

/* The largest n <= max at which s[0..len) can be cut between two characters. */
size_t text_cut(const char *s, size_t len, size_t max);

/* Append at most max bytes of s: whole when it fits, otherwise its head and its
 * tail, cut at line ends where possible, with a line between them that says
 * how much was left out: "[... 1234 bytes (56 lines) left out ...]". Below 160
 * bytes only the head. Returns 0, or -ENOBUFS with dst as it was. */
int text_head_tail(struct buf *dst, const char *s, size_t len, size_t max);

/* One line for a person or a log: control bytes as \xNN, \n as "\\n". So are
 * bytes that are not UTF-8 and characters that turn the writing direction
 * around. Returns 0, or -ENOBUFS with dst as it was. */
int text_escape(struct buf *dst, const char *s, size_t len);
/* The same into size bytes (8 or more, with the NUL); what does not fit is
 * cut and ends in "...". Returns the length. Allocates nothing. */
size_t text_escape_to(char *dst, size_t size, const char *s, size_t len);

/* Tests of whole strings, for readability at the call. */
bool text_starts(const char *s, const char *prefix);
bool text_ends(const char *s, const char *suffix);

/* Glob over a path: '*' and '?' do not match '/', "**" matches any number of
 * whole components, [sets] as in fnmatch (one without its ']' matches nothing);
 * a pattern without '/' is matched against the last component. Bounded in time
 * (no exponential backtracking). */
bool text_glob(const char *pattern, const char *path);

#endif
