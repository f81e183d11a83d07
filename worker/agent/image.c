/* image.c - see image.h. Only headers are looked at. */
#include "common/compat.h"

#include "worker/agent/image.h"

static uint32_t
be(const unsigned char *p, size_t n)
{
	uint32_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

static uint32_t
le(const unsigned char *p, size_t n)
{
	uint32_t v = 0;

	while (n > 0)
		v = v << 8 | p[--n];
	return v;
}

/* The frame header among a JPEG's segments. */
static bool
jpeg_size(const unsigned char *p, size_t len, uint32_t *w, uint32_t *h)
{
	size_t at = 2, n;
	unsigned m;

	while (at + 9 < len && p[at] == 0xff) {
		m = p[at + 1];
		if (m >= 0xc0 && m <= 0xcf && m != 0xc4 && m != 0xc8 &&
		    m != 0xcc) {
			*h = be(p + at + 5, 2);
			*w = be(p + at + 7, 2);
			return true;
		}
		n = be(p + at + 2, 2);
		if (n < 2)
			break;
		at += 2 + n;
	}
	return false;
}

/* A static name, or NULL; *w stays 0 where the size can't be read. */
static const char *
kind(const unsigned char *p, size_t len, uint32_t *w, uint32_t *h)
{
	if (len >= 24 && memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0) {
		*w = be(p + 16, 4);
		*h = be(p + 20, 4);
		return "PNG";
	}
	if (len >= 10 && memcmp(p, "GIF8", 4) == 0) {
		*w = le(p + 6, 2);
		*h = le(p + 8, 2);
		return "GIF";
	}
	if (len >= 4 && memcmp(p, "\xff\xd8\xff", 3) == 0) {
		(void)jpeg_size(p, len, w, h);
		return "JPEG";
	}
	if (len >= 16 && memcmp(p, "RIFF", 4) == 0 &&
	    memcmp(p + 8, "WEBP", 4) == 0)
		return "WebP";
	if (len >= 26 && memcmp(p, "BM", 2) == 0 && le(p + 14, 4) >= 40) {
		*w = le(p + 18, 4);
		*h = le(p + 22, 4);
		return "BMP";
	}
	return NULL;
}

bool
image_describe(const char *s, size_t len, char *dst, size_t size)
{
	uint32_t w = 0, h = 0;
	const char *name = kind((const unsigned char *)s, len, &w, &h);

	if (name == NULL)
		return false;
	if (w != 0)
		snprintf(dst, size, "%s image, %ux%u pixels", name, w, h);
	else
		snprintf(dst, size, "%s image", name);
	return true;
}
