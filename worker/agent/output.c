/* output.c - see output.h. */
#include "common/compat.h"

#include "common/log.h"
#include "common/tests_reason.h"
#include "common/text.h"
#include "worker/agent/output.h"

bool
output_add(struct buf *dst, const char *s, size_t len, size_t max)
{
	struct buf clean;
	bool cut;

	buf_init(&clean, BUF_NOMAX);
	if (len > 0)
		(void)text_clean(&clean, s, len, OUTPUT_LINE_MAX);
	cut = clean.len > max;
	(void)text_head_tail(dst, buf_str(&clean), clean.len, max);
	buf_clear(&clean);
	return cut;
}

void
output_last_line(const char *s, size_t len, char *dst, size_t size)
{
	struct buf clean;
	const char *p, *end, *reason;
	size_t n;

	/* The end is enough: a line that matters is not longer. */
	if (len > 8192) {
		s += len - 8192;
		len = 8192;
	}
	buf_init(&clean, BUF_NOMAX);
	if (len > 0)
		(void)text_clean(&clean, s, len, 0);
	p = buf_str(&clean);
	if ((reason = tests_reason(p)) != NULL) {
		tests_reason_line(reason, dst, size);
		buf_clear(&clean);
		return;
	}
	end = p + clean.len;
	while (
	    end > p && (end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\t'))
		end--;
	s = end;
	while (s > p && s[-1] != '\n')
		s--;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	n = text_cut(s, (size_t)(end - s), size - 1);
	memcpy(dst, s, n);
	dst[n] = '\0';
	buf_clear(&clean);
}
