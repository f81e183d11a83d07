#include "common/compat.h"

#include <string.h>

#include "orchestrator/verify/select.h"

size_t
select_changed_lines(const char *patch, size_t len, size_t *ret_bytes)
{
	size_t n = 0, bytes = 0, line;
	const char *p = patch, *end = patch + len, *nl;

	for (; p < end; p += line) {
		nl = memchr(p, '\n', (size_t)(end - p));
		line = nl != NULL ? (size_t)(nl - p) + 1 : (size_t)(end - p);
		if ((*p != '+' && *p != '-') ||
		    (line > 3 &&
			(memcmp(p, "+++ ", 4) == 0 ||
			    memcmp(p, "--- ", 4) == 0)))
			continue;
		n++;
		bytes += line - 1;
	}
	if (ret_bytes != NULL)
		*ret_bytes = bytes;
	return n;
}

bool
select_better(const char *a, size_t a_len, uint64_t a_calls, const char *b,
    size_t b_len, uint64_t b_calls)
{
	size_t a_bytes, b_bytes;
	size_t a_lines = select_changed_lines(a, a_len, &a_bytes);
	size_t b_lines = select_changed_lines(b, b_len, &b_bytes);

	if (a_lines != b_lines)
		return a_lines < b_lines;
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes;
	return a_calls < b_calls;
}
