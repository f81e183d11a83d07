/* webtext.c - see webtext.h. */
#include "common/compat.h"

#include "common/text.h"
#include "worker/agent/webtext.h"

#define DECLARED_WITHIN 1024

enum charset {
	CHARSET_NONE,
	CHARSET_UTF8,
	CHARSET_1252,
	CHARSET_UTF16LE,
	CHARSET_UTF16BE,
};

static const struct {
	const char *name;
	enum charset charset;
} charsets[] = {
	{ "utf-8", CHARSET_UTF8 },
	{ "utf8", CHARSET_UTF8 },
	{ "iso-8859-1", CHARSET_1252 },
	{ "iso8859-1", CHARSET_1252 },
	{ "iso_8859-1", CHARSET_1252 },
	{ "latin1", CHARSET_1252 },
	{ "latin-1", CHARSET_1252 },
	{ "us-ascii", CHARSET_1252 },
	{ "ascii", CHARSET_1252 },
	{ "windows-1252", CHARSET_1252 },
	{ "cp1252", CHARSET_1252 },
	{ "utf-16", CHARSET_UTF16LE },
	{ "utf-16le", CHARSET_UTF16LE },
	{ "utf-16be", CHARSET_UTF16BE },
};

/* --- characters ---------------------------------------------------------- */

uint32_t
webtext_1252(unsigned char c)
{
	/* 0: no character there; HTML keeps the control character. */
	static const uint16_t high[32] = { 0x20ac, 0, 0x201a, 0x0192, 0x201e,
		0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152,
		0, 0x017d, 0, 0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013,
		0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e,
		0x0178 };

	if (c >= 0x80 && c < 0xa0 && high[c - 0x80] != 0)
		return high[c - 0x80];
	return c;
}

void
webtext_put(struct buf *dst, uint32_t cp)
{
	char s[4];
	size_t n;

	if (cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000) || cp == 0)
		cp = 0xfffd;
	if (cp < 0x80) {
		s[0] = (char)cp;
		n = 1;
	} else if (cp < 0x800) {
		s[0] = (char)(0xc0 | cp >> 6);
		n = 2;
	} else if (cp < 0x10000) {
		s[0] = (char)(0xe0 | cp >> 12);
		n = 3;
	} else {
		s[0] = (char)(0xf0 | cp >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		s[i] = (char)(0x80 | (cp >> (6 * (n - 1 - i)) & 0x3f));
	(void)buf_add(dst, s, n);
}

bool
webtext_invisible(uint32_t cp)
{
	static const struct {
		uint32_t first, last;
	} gone[] = {
		{ 0x7f, 0x9f },
		{ 0xad, 0xad },
		{ 0x34f, 0x34f },
		{ 0x61c, 0x61c },
		{ 0x115f, 0x1160 },
		{ 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f },
		{ 0x200b, 0x200f },
		{ 0x202a, 0x202e },
		{ 0x2060, 0x206f },
		{ 0x2800, 0x2800 },
		{ 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff },
		{ 0xffa0, 0xffa0 },
		{ 0xfff0, 0xfffb },
		{ 0x1bca0, 0x1bca3 },
		{ 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};
	size_t i;

	if (cp < 0x7f)
		return cp < 0x20 && cp != '\t' && cp != '\n';
	for (i = 0; i < nitems(gone) && gone[i].first <= cp; i++)
		if (cp <= gone[i].last)
			return true;
	return false;
}

void
webtext_visible(struct buf *dst, const char *s, size_t len)
{
	uint32_t cp;
	size_t n;

	for (; len > 0; s += n, len -= n) {
		n = text_next(s, len, &cp);
		if (!webtext_invisible(cp))
			(void)buf_add(dst, s, n);
	}
}

/* --- encodings ----------------------------------------------------------- */

static enum charset
charset_named(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < nitems(charsets); i++)
		if (strlen(charsets[i].name) == len &&
		    strncasecmp(charsets[i].name, s, len) == 0)
			return charsets[i].charset;
	return CHARSET_NONE;
}

/* What stands behind "charset=" or the like, quoted or not. */
static enum charset
charset_after(const char *s, size_t len, const char *key)
{
	size_t k = strlen(key), i, n;
	enum charset c;

	for (i = 0; i + k < len; i++) {
		if (strncasecmp(s + i, key, k) != 0)
			continue;
		i += k;
		while (i < len && strchr(" =\"'", s[i]) != NULL && s[i] != '\0')
			i++;
		for (n = 0; i + n < len; n++)
			if (strchr(" \t\r\n\"';/>?", s[i + n]) != NULL)
				break;
		if ((c = charset_named(s + i, n)) != CHARSET_NONE)
			return c;
	}
	return CHARSET_NONE;
}

static enum charset
charset_mark(const char *s, size_t len, size_t *ret_skip)
{
	*ret_skip = 2;
	if (len >= 2 && memcmp(s, "\xff\xfe", 2) == 0)
		return CHARSET_UTF16LE;
	if (len >= 2 && memcmp(s, "\xfe\xff", 2) == 0)
		return CHARSET_UTF16BE;
	*ret_skip = 3;
	if (len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
		return CHARSET_UTF8;
	*ret_skip = 0;
	return CHARSET_NONE;
}

static enum charset
charset_declared(const char *s, size_t len)
{
	enum charset c;

	if (len > DECLARED_WITHIN)
		len = DECLARED_WITHIN;
	c = charset_after(s, len, "charset=");
	if (c == CHARSET_NONE)
		c = charset_after(s, len, "encoding=");
	/* It was read as ASCII, so that can't be. */
	if (c == CHARSET_UTF16LE || c == CHARSET_UTF16BE)
		c = CHARSET_UTF8;
	return c;
}

static void
add_1252(struct buf *dst, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] == '\0')
			(void)buf_addc(dst, s[i]);
		else
			webtext_put(dst, webtext_1252((unsigned char)s[i]));
}

static void
add_utf16(struct buf *dst, const char *s, size_t len, bool big)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t cp, high = 0;
	size_t i;

	for (i = 0; i + 1 < len; i += 2) {
		cp = big ? (uint32_t)p[i] << 8 | p[i + 1]
			 : (uint32_t)p[i + 1] << 8 | p[i];
		if (high != 0 && cp >= 0xdc00 && cp < 0xe000) {
			webtext_put(dst,
			    0x10000 + ((high - 0xd800) << 10) + (cp - 0xdc00));
			high = 0;
			continue;
		}
		if (high != 0)
			webtext_put(dst, 0xfffd);
		high = cp >= 0xd800 && cp < 0xdc00 ? cp : 0;
		if (high == 0)
			webtext_put(dst, cp);
	}
	if (high != 0 || i < len)
		webtext_put(dst, 0xfffd);
}

void
webtext_decode(
    struct buf *dst, const char *type, bool markup, const char *s, size_t len)
{
	size_t skip;
	enum charset c = charset_mark(s, len, &skip);

	if (c == CHARSET_NONE && type != NULL)
		c = charset_after(type, strlen(type), "charset=");
	if (c == CHARSET_NONE && markup)
		c = charset_declared(s, len);
	s += skip;
	len -= skip;
	switch (c) {
	case CHARSET_1252:
		add_1252(dst, s, len);
		break;
	case CHARSET_UTF16LE:
	case CHARSET_UTF16BE:
		add_utf16(dst, s, len, c == CHARSET_UTF16BE);
		break;
	default:
		(void)buf_add(dst, s, len);
		break;
	}
}
