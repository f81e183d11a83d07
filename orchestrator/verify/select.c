#include "common/compat.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "orchestrator/verify/select.h"

/* A run of removed lines and of those in their place, without their signs. */
struct run_of {
	struct buf removed, added;
	size_t lines, bytes; /* of all so far */
};

static size_t
common(const struct buf *a, const struct buf *b, size_t most, bool back)
{
	size_t n = 0;

	while (n < most &&
	    (back ? a->data[a->len - 1 - n] == b->data[b->len - 1 - n]
		  : a->data[n] == b->data[n]))
		n++;
	return n;
}

/* What the two have in common at both ends is no change. */
static void
end_run(struct run_of *r)
{
	const struct buf *a = &r->removed, *b = &r->added;
	size_t most = a->len < b->len ? a->len : b->len;
	size_t same = common(a, b, most, false);

	same += common(a, b, most - same, true);
	r->bytes += a->len + b->len - 2 * same;
	buf_clear(&r->removed);
	buf_clear(&r->added);
}

/* "@@ -1,2 +3,4 @@": how many lines follow of each. */
static bool
hunk(const char *line, size_t len, unsigned long ret[2])
{
	const char *p = line, *end = line + len;
	char *after;
	int i;

	if (len < 4 || memcmp(line, "@@ -", 4) != 0)
		return false;
	for (i = 0; i < 2; i++) {
		p = memchr(p, i == 0 ? '-' : '+', (size_t)(end - p));
		if (p == NULL || !isdigit((unsigned char)p[1]))
			return false;
		(void)strtoul(p + 1, &after, 10);
		ret[i] = 1;
		if (*after == ',' && isdigit((unsigned char)after[1]))
			ret[i] = strtoul(after + 1, &after, 10);
		p = after;
		if (p >= end)
			return false;
	}
	return true;
}

size_t
select_changed_lines(const char *patch, size_t len, size_t *ret_bytes)
{
	struct run_of r = { 0 };
	unsigned long left[2] = { 0, 0 };
	const char *p = patch, *end = patch + len, *nl;
	size_t line;

	buf_init(&r.removed, BUF_NOMAX);
	buf_init(&r.added, BUF_NOMAX);
	for (; p < end; p += line) {
		nl = memchr(p, '\n', (size_t)(end - p));
		line = nl != NULL ? (size_t)(nl - p) + 1 : (size_t)(end - p);
		if (left[0] == 0 && left[1] == 0) {
			end_run(&r);
			if (nl == NULL || !hunk(p, line, left))
				left[0] = left[1] = 0;
			continue;
		}
		if (*p == '-' && left[0] > 0) {
			left[0]--;
			r.lines++;
			(void)buf_add(&r.removed, p + 1, line - 1);
		} else if (*p == '+' && left[1] > 0) {
			left[1]--;
			r.lines++;
			(void)buf_add(&r.added, p + 1, line - 1);
		} else if (*p != '\\') {
			end_run(&r);
			left[0] -= left[0] > 0;
			left[1] -= left[1] > 0;
		}
	}
	end_run(&r);
	if (ret_bytes != NULL)
		*ret_bytes = r.bytes;
	return r.lines;
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
