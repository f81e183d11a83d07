#include "common/compat.h"

#include <assert.h>
#include <errno.h>

#include "common/buf.h"
#include "common/log.h"

#define FIRST_SIZE 128

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max < BUF_NOMAX ? max : BUF_NOMAX };
}

void
buf_clear(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->size = 0;
}

void
buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data != NULL)
		b->data[0] = '\0';
}

int
buf_reserve(struct buf *b, size_t n)
{
	size_t need, size;

	if (b->len > b->max || n > b->max - b->len)
		return -ENOBUFS;
	need = b->len + n + 1;
	if (need <= b->size)
		return 0;
	size = b->size < FIRST_SIZE / 2 ? FIRST_SIZE : b->size * 2;
	if (size > b->max + 1)
		size = b->max + 1;
	if (size < need)
		size = need;
	b->data = xreallocarray(b->data, size, 1);
	b->size = size;
	b->data[b->len] = '\0';
	return 0;
}

void
buf_fill(struct buf *b, size_t n)
{
	if (n == 0)
		return;
	assert(b->data != NULL && b->len < b->size && n < b->size - b->len);
	b->len += n;
	b->data[b->len] = '\0';
}

int
buf_add(struct buf *b, const void *p, size_t len)
{
	int r;

	if (len == 0)
		return 0;
	if ((r = buf_reserve(b, len)) < 0)
		return r;
	memcpy(b->data + b->len, p, len);
	buf_fill(b, len);
	return 0;
}

int
buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int
buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n, r;

	room = b->data != NULL ? b->size - b->len : 0;
	va_copy(again, ap);
	n = vsnprintf(room > 0 ? b->data + b->len : NULL, room, fmt, again);
	va_end(again);
	if (room > 0 && (n < 0 || (size_t)n >= room))
		b->data[b->len] = '\0';
	if (n < 0)
		return -ENOBUFS;
	if ((size_t)n >= room) {
		if ((r = buf_reserve(b, (size_t)n)) < 0)
			return r;
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	}
	buf_fill(b, (size_t)n);
	return 0;
}

int
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vprintf(b, fmt, ap);
	va_end(ap);
	return r;
}

void
buf_drain(struct buf *b, size_t n)
{
	assert(n <= b->len);
	if (n == 0)
		return;
	b->len -= n;
	memmove(b->data, b->data + n, b->len);
	b->data[b->len] = '\0';
}

const char *
buf_str(const struct buf *b)
{
	return b->data != NULL ? b->data : "";
}

char *
buf_detach(struct buf *b, size_t *ret_len)
{
	char *s = b->data != NULL ? b->data : xstrdup("");

	if (ret_len != NULL)
		*ret_len = b->len;
	b->data = NULL;
	b->len = b->size = 0;
	return s;
}
