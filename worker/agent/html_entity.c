/* html_entity.c - character references, of html_priv.h. */
#include "common/compat.h"

#include "common/text.h"
#include "worker/agent/html_priv.h"
#include "worker/agent/webtext.h"

#define NAME_MAX_LEN 32

static const struct {
	const char *name;
	uint16_t cp;
} names[] = {
#define E(name, cp) { #name, cp },
#include "worker/agent/html_entity.inc"
#undef E
};

/* Known without their ';', too. */
static const char *const old[] = { "amp", "AMP", "copy", "gt", "GT", "lt", "LT",
	"nbsp", "quot", "QUOT", "reg" };

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
hex(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "#123;" or "#x7b;": 0 is none. */
static size_t
numeric(const char *s, size_t len, uint32_t *ret)
{
	bool x = len > 1 && (s[1] == 'x' || s[1] == 'X');
	size_t i = x ? 2 : 1, first = i;
	uint32_t cp = 0;

	for (; i < len && (x ? hex(s[i]) >= 0 : is_digit(s[i])); i++)
		if (cp <= 0x10ffff)
			cp = cp * (x ? 16 : 10) + (uint32_t)hex(s[i]);
	if (i == first)
		return 0;
	if (i < len && s[i] == ';')
		i++;
	if (cp >= 0x80 && cp < 0xa0)
		cp = webtext_1252((unsigned char)cp);
	if (cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
		cp = 0xfffd;
	*ret = cp;
	return i;
}

static bool
is_old(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < nitems(old); i++)
		if (strlen(old[i]) == n && memcmp(old[i], s, n) == 0)
			return true;
	return false;
}

static uint32_t
lookup(const char *s, size_t n)
{
	size_t low = 0, high = nitems(names), mid;
	int c;

	while (low < high) {
		mid = (low + high) / 2;
		c = strncmp(s, names[mid].name, n);
		if (c == 0 && names[mid].name[n] == '\0')
			return names[mid].cp;
		if (c <= 0)
			high = mid;
		else
			low = mid + 1;
	}
	return 0;
}

static size_t
named(const char *s, size_t len, bool attr, uint32_t *ret)
{
	size_t n = 0;
	uint32_t cp;

	while (n < len && n < NAME_MAX_LEN && is_alnum(s[n]))
		n++;
	if (n == 0 || (cp = lookup(s, n)) == 0)
		return 0;
	*ret = cp;
	if (n < len && s[n] == ';')
		return n + 1;
	return !attr && is_old(s, n) ? n : 0;
}

size_t
entity_next(const char *s, size_t len, bool attr, uint32_t *ret)
{
	size_t n = 0;

	if (*s == '&' && len > 1)
		n = s[1] == '#' ? numeric(s + 1, len - 1, ret)
				: named(s + 1, len - 1, attr, ret);
	return n > 0 ? n + 1 : text_next(s, len, ret);
}

void
entity_text(struct buf *dst, const struct slice *raw, size_t max)
{
	const char *s = raw->p;
	size_t left = raw->n, n, top = dst->len;
	bool space = false;
	uint32_t cp;

	for (; left > 0 && dst->len - top < max; s += n, left -= n) {
		n = entity_next(s, left, true, &cp);
		if (cp == ' ' || cp == '\t' || cp == '\n' || cp == '\r' ||
		    cp == '\f' || cp == 0xa0) {
			space = dst->len > top;
			continue;
		}
		if (webtext_invisible(cp))
			continue;
		if (space)
			(void)buf_addc(dst, ' ');
		space = false;
		webtext_put(dst, cp);
	}
}
