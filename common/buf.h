/*
 * buf.h - growable bytes with a maximum.
 *
 *	struct buf b;
 *	buf_init(&b, 64 * 1024);
 *	if (buf_printf(&b, "%d", n) < 0)
 *		... the maximum is reached, b is unchanged
 *	text = buf_str(&b);      borrowed, NUL-terminated
 *	char *s = buf_detach(&b, &len);  yours, free() it
 *	buf_clear(&b);           frees; b may be used again
 *
 * data is NULL while nothing was added; buf_str() then gives "". Every add
 * returns 0 or -ENOBUFS (over the maximum); running out of memory below the
 * maximum ends the program.
 */
#ifndef COMMON_BUF_H
#define COMMON_BUF_H

#include "common/compat.h"

struct buf {
	char *data;
	size_t len;  /* bytes in use, without the NUL that always follows */
	size_t size; /* bytes allocated */
	size_t max;  /* most bytes that len may reach */
};

#define BUF_NOMAX ((size_t)1 << 40)

void buf_init(struct buf *b, size_t max);
void buf_clear(struct buf *b);
void buf_reset(struct buf *b); /* len = 0, memory is kept */
int buf_add(struct buf *b, const void *p, size_t len);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_printf(struct buf *b, const char *fmt, ...) printflike(2, 3);
int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
/* Remove n bytes (at most len) from the front. */
void buf_drain(struct buf *b, size_t n);
/* Room for at least n more bytes at data + len, for read(2); then buf_fill()
 * tells how many were put there. Returns 0 or -ENOBUFS. */
int buf_reserve(struct buf *b, size_t n);
void buf_fill(struct buf *b, size_t n);
const char *buf_str(const struct buf *b);
char *buf_detach(struct buf *b, size_t *ret_len);

#endif
