#include "common/compat.h"

#include "orchestrator/repair/word.h"

/* The hottest loop of all: every question about a token ends here. */
int
word_find(const char *list, const char *s, size_t len)
{
	const char *p = list;

	if (len == 0)
		return -1;
	for (int n = 0;; n++) {
		size_t k = 0;

		while (k < len && p[k] == s[k] && p[k] != ' ' && p[k] != '\0')
			k++;
		if (k == len && (p[k] == ' ' || p[k] == '\0'))
			return n;
		p += k;
		while (*p != ' ') {
			if (*p == '\0')
				return -1;
			p++;
		}
		p++;
	}
}

const char *
word_at(const char *list, int n, size_t *ret_len)
{
	for (const char *p = list; *p != '\0'; n--) {
		size_t k = strcspn(p, " ");

		if (n == 0) {
			*ret_len = k;
			return p;
		}
		p += k;
		p += *p == ' ';
	}
	return NULL;
}

bool
word_is_char(int c)
{
	c = (unsigned char)c;
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

bool
word_in_text(const char *text, const char *word, size_t len)
{
	const char *p = text, *hit;
	size_t left = strlen(text);

	while (len > 0 && (hit = memmem(p, left, word, len)) != NULL) {
		if ((hit == text || !word_is_char(hit[-1])) &&
		    !word_is_char(hit[len]))
			return true;
		left -= (size_t)(hit - p) + 1;
		p = hit + 1;
	}
	return false;
}

uint64_t
word_hash(uint64_t h, const void *p, size_t len)
{
	const unsigned char *c = p;

	for (size_t i = 0; i < len; i++)
		h = (h ^ c[i]) * 0x100000001b3ULL;
	return h;
}
