/* watch.c - see watch.h. */
#include "common/compat.h"

#include <ctype.h>

#include "worker/agent/watch.h"

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The length of a time ("0.12s", "3 ms") at s, 0: there is none. */
static size_t
time_len(const char *s)
{
	size_t n = 0;

	while (is_digit(s[n]) || (n > 0 && s[n] == '.'))
		n++;
	if (n == 0)
		return 0;
	if (s[n] == ' ')
		n++;
	if (s[n] == 'm')
		n++;
	if (s[n] != 's' || isalnum((unsigned char)s[n + 1]))
		return 0;
	return n + 1;
}

static void
hash_result(struct hash_state *st, const char *s)
{
	const char *from = s, *p = s;
	size_t n;

	while (*p != '\0') {
		n = 0;
		if (is_digit(*p) && (p == s || !isalnum((unsigned char)p[-1])))
			n = time_len(p);
		if (n == 0) {
			p++;
			continue;
		}
		hash_update(st, from, (size_t)(p - from));
		hash_update(st, "T", 1);
		p += n;
		from = p;
	}
	hash_update(st, from, (size_t)(p - from));
}

void
watch_add(struct watch *w, const char *name, const char *args,
    const char *result, bool error)
{
	struct hash_state st;

	hash_init(&st);
	hash_update(&st, name, strlen(name) + 1);
	hash_update(&st, args, strlen(args) + 1);
	hash_result(&st, result);
	hash_final(&st, w->ring[w->n++ % WATCH_RING]);
	w->errors = error ? w->errors + 1 : 0;
}

static const unsigned char *
back(const struct watch *w, size_t i)
{
	return w->ring[(w->n - 1 - i) % WATCH_RING];
}

unsigned
watch_period(const struct watch *w)
{
	unsigned p;
	size_t i, want;

	for (p = 1; p <= WATCH_PERIOD_MAX; p++) {
		want = (size_t)p * WATCH_SAME;
		if (w->n < want)
			break;
		for (i = 0; i + p < want; i++) {
			if (memcmp(back(w, i), back(w, i + p), HASH_LEN) != 0)
				break;
		}
		if (i + p == want)
			return p;
	}
	return 0;
}
