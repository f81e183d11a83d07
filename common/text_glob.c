/* Globs: both levels, characters and components, go the same way. */
#include "common/compat.h"

#include <wchar.h>
#include <wctype.h>

#include "common/text.h"

/* Part of a pattern or a path between two slashes. */
struct part {
	const char *s;
	size_t len;
};

/* "[:alpha:]" at p->s + i: its end, 0 when it is none. */
static size_t
set_class(const struct part *p, size_t i, uint32_t cp, bool *match)
{
	size_t start = i + 2, end;
	char name[16];

	if (i + 1 >= p->len || p->s[i + 1] != ':')
		return 0;
	for (end = start; end < p->len && p->s[end] != ':'; end++)
		;
	if (end + 1 >= p->len || p->s[end + 1] != ']' ||
	    end - start >= sizeof name)
		return 0;
	memcpy(name, p->s + start, end - start);
	name[end - start] = '\0';
	if (iswctype((wint_t)cp, wctype(name)))
		*match = true;
	return end + 2;
}

static size_t
set_char(const struct part *p, size_t i, uint32_t *cp)
{
	if (p->s[i] == '\\' && i + 1 < p->len)
		i++;
	return i + text_next(p->s + i, p->len - i, cp);
}

/* The set at p->s + i ('[' is there): its end, 0 when it has no end. */
static size_t
match_set(const struct part *p, size_t i, uint32_t cp, bool *ret)
{
	bool negate, match = false;
	uint32_t low, high;
	size_t start, end;

	i++;
	negate = i < p->len && (p->s[i] == '!' || p->s[i] == '^');
	if (negate)
		i++;
	for (start = i; i < p->len && (p->s[i] != ']' || i == start);) {
		if (p->s[i] == '[' && (end = set_class(p, i, cp, &match)) > 0) {
			i = end;
			continue;
		}
		i = set_char(p, i, &low);
		high = low;
		if (i + 1 < p->len && p->s[i] == '-' && p->s[i + 1] != ']')
			i = set_char(p, i + 1, &high);
		if (cp >= low && cp <= high)
			match = true;
	}
	if (i >= p->len)
		return 0;
	*ret = match != negate;
	return i + 1;
}

enum match {
	NO_MATCH,
	MATCH,
	NEVER
};

/* Does the pattern's item at *pi (not '*') match the character at *si? Then
 * both move on. */
static enum match
match_item(const struct part *p, size_t *pi, const struct part *s, size_t *si)
{
	size_t i = *pi, n, end;
	uint32_t want, have;
	bool match;

	n = text_next(s->s + *si, s->len - *si, &have);
	if (p->s[i] == '?') {
		end = i + 1;
		match = true;
	} else if (p->s[i] == '[') {
		end = match_set(p, i, have, &match);
		if (end == 0)
			return NEVER;
	} else {
		if (p->s[i] == '\\' && i + 1 < p->len)
			i++;
		end = i + text_next(p->s + i, p->len - i, &want);
		match = end - i == n && memcmp(p->s + i, s->s + *si, n) == 0;
	}
	if (!match)
		return NO_MATCH;
	*pi = end;
	*si += n;
	return MATCH;
}

/* Only the last '*' is ever taken back: what an earlier one could take, this
 * one can as well. That bounds the time by the product of the lengths. */
static bool
match_part(const struct part *p, const struct part *s)
{
	size_t pi = 0, si = 0, star_pi = SIZE_MAX, star_si = 0;
	enum match m;
	uint32_t cp;

	while (si < s->len) {
		if (pi < p->len && p->s[pi] == '*') {
			star_pi = ++pi;
			star_si = si;
			continue;
		}
		m = pi < p->len ? match_item(p, &pi, s, &si) : NO_MATCH;
		if (m == MATCH)
			continue;
		if (m == NEVER || star_pi == SIZE_MAX)
			return false;
		star_si += text_next(s->s + star_si, s->len - star_si, &cp);
		pi = star_pi;
		si = star_si;
	}
	while (pi < p->len && p->s[pi] == '*')
		pi++;
	return pi == p->len;
}

/* The first part of s into *ret; what follows its slash, NULL at the end. */
static const char *
cut_part(const char *s, struct part *ret)
{
	size_t len = strcspn(s, "/");

	*ret = (struct part){ .s = s, .len = len };
	return s[len] == '/' ? s + len + 1 : NULL;
}

/* The same way as match_part(), over components and "**". */
static bool
match_parts(const char *pattern, const char *path)
{
	const char *p = pattern, *s = path, *next;
	const char *star_s = NULL, *star_p = NULL;
	struct part pp, sp;
	bool star = false;

	while (s != NULL) {
		next = p != NULL ? cut_part(p, &pp) : NULL;
		if (p != NULL && pp.len == 2 && memcmp(pp.s, "**", 2) == 0) {
			star = true;
			star_p = p = next;
			star_s = s;
			continue;
		}
		if (p != NULL) {
			const char *s_next = cut_part(s, &sp);

			if (match_part(&pp, &sp)) {
				p = next;
				s = s_next;
				continue;
			}
		}
		if (!star)
			return false;
		star_s = cut_part(star_s, &sp);
		p = star_p;
		s = star_s;
	}
	while (p != NULL) {
		p = cut_part(p, &pp);
		if (pp.len != 2 || memcmp(pp.s, "**", 2) != 0)
			return false;
	}
	return true;
}

bool
text_glob(const char *pattern, const char *path)
{
	const char *base = strrchr(path, '/');

	if (strchr(pattern, '/') == NULL && base != NULL)
		path = base + 1;
	return match_parts(pattern, path);
}
