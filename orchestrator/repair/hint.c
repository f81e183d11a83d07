#include "common/compat.h"

#include <ctype.h>

#include "orchestrator/repair/hint.h"
#include "orchestrator/repair/word.h"

#define WORDS_MAX 40
#define WORD_MIN 3
#define WORD_MAX 40
#define STEM 4

static const char common_words[] =
    "test tests that this with what when from after before does not and the "
    "for once each only into there have has can are its was one two all any "
    "return none true false null self";

/* The next word of s, in lower case: a run of letters, of which a capital
 * begins another one. Its length, 0 at the end;
 * *at moves behind it. */
static size_t
next_word(const char *s, size_t len, size_t *at, char *ret)
{
	size_t i = *at, n = 0;

	while (i < len && !isalpha((unsigned char)s[i]))
		i++;
	for (; i < len && isalpha((unsigned char)s[i]); i++) {
		if (n > 0 && isupper((unsigned char)s[i]) &&
		    islower((unsigned char)s[i - 1]))
			break;
		if (n < WORD_MAX - 1)
			ret[n++] = (char)tolower((unsigned char)s[i]);
	}
	ret[n] = '\0';
	*at = i;
	return n;
}

/* "mod::Class::test_x", "test_x (mod.Class)": test_x. */
static void
add_words(struct hints *h, const char *name)
{
	const char *end = strstr(name, " ("), *p;
	char word[WORD_MAX];
	size_t at = 0, n;

	while ((p = strstr(name, "::")) != NULL && (end == NULL || p < end))
		name = p + 2;
	while (h->words.n < WORDS_MAX &&
	    (n = next_word(name,
		 end != NULL ? (size_t)(end - name) : strlen(name), &at,
		 word)) > 0) {
		if (n >= WORD_MIN && word_find(common_words, word, n) < 0 &&
		    !strv_has(&h->words, word))
			strv_add(&h->words, word);
	}
}

void
hints_init(struct hints *h, const struct strv *failing)
{
	*h = (struct hints){ 0 };
	for (size_t i = 0; i < failing->n; i++)
		add_words(h, failing->v[i]);
}

void
hints_clear(struct hints *h)
{
	strv_clear(&h->words);
	strv_clear(&h->names);
	strv_clear(&h->literals);
}

static bool
is_like(const char *a, const char *b)
{
	size_t n = 0, la = strlen(a), lb = strlen(b);

	while (a[n] != '\0' && a[n] == b[n])
		n++;
	return n >= STEM || (n >= WORD_MIN && n == (la < lb ? la : lb));
}

static size_t
count_word(const char *s, size_t len, const char *word)
{
	char other[WORD_MAX];
	size_t at = 0, n = 0;

	while (next_word(s, len, &at, other) > 0)
		n += strcmp(other, word) == 0;
	return n;
}

static bool
word_in(const char *s, size_t len, const char *word)
{
	size_t n = strlen(word);
	const char *p = s;

	while ((p = memmem(p, len - (size_t)(p - s), word, n)) != NULL) {
		if ((p == s || !word_is_char(p[-1])) &&
		    (p + n == s + len || !word_is_char(p[n])))
			return true;
		p++;
	}
	return false;
}

bool
hints_match(const struct hints *h, const char *old, size_t old_len,
    const char *text, size_t len)
{
	char word[WORD_MAX];
	size_t at = 0, n;

	for (size_t i = 0; h != NULL && i < h->names.n; i++)
		if (word_in(text, len, h->names.v[i]) &&
		    !word_in(old, old_len, h->names.v[i]))
			return true;
	while (h != NULL && h->words.n > 0 &&
	    (n = next_word(text, len, &at, word)) > 0) {
		for (size_t i = 0; n >= WORD_MIN && i < h->words.n; i++)
			if (is_like(word, h->words.v[i]) &&
			    count_word(text, len, word) >
				count_word(old, old_len, word))
				return true;
	}
	return false;
}
