/* Whatever comes in, what goes out is clean and within its limits. */
#include "common/compat.h"

#include "common/log.h"
#include "common/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_text: %s\n", what);
	abort();
}

/* Valid UTF-8 without control characters but those of allowed. */
static void
must_be_clean(const struct buf *b, const char *allowed)
{
	const char *s = buf_str(b);
	uint32_t cp;
	size_t n;

	must(strlen(s) == b->len, "a NUL in the output");
	for (size_t i = 0; i < b->len; i += n) {
		n = text_char(s + i, b->len - i, &cp);
		must(n > 0, "not UTF-8");
		if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
			must(strchr(allowed, (int)cp) != NULL, "control");
	}
}

static void
test_clean(const char *s, size_t len, size_t max_line)
{
	const char *line, *end, *text;
	struct buf b, again;

	buf_init(&b, BUF_NOMAX);
	must(text_clean(&b, s, len, max_line) == 0, "clean failed");
	must_be_clean(&b, "\t\n");
	text = line = buf_str(&b);
	for (; max_line > 0 && *line != '\0'; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		must((size_t)(end - line) <= (max_line < 64 ? 64 : max_line),
		    "long line");
	}
	/* Clean text stays as it is. */
	buf_init(&again, BUF_NOMAX);
	must(text_clean(&again, text, b.len, max_line) == 0, "again failed");
	must(strcmp(buf_str(&again), text) == 0, "not the same again");
	buf_clear(&again);

	buf_init(&again, b.len > 0 ? b.len - 1 : 0);
	must(text_clean(&again, s, len, max_line) < 0 || b.len == 0,
	    "over the maximum");
	must(again.len == 0, "changed by a failure");
	buf_clear(&again);
	buf_clear(&b);
}

static void
test_head_tail(const char *s, size_t len, size_t max)
{
	struct buf clean, b;

	buf_init(&clean, BUF_NOMAX);
	must(text_clean(&clean, s, len, 0) == 0, "clean failed");
	buf_init(&b, max);
	must(text_head_tail(&b, buf_str(&clean), clean.len, max) == 0,
	    "head_tail over its limit");
	must_be_clean(&b, "\t\n");
	must(clean.len > max || b.len == clean.len, "cut without need");
	buf_clear(&b);
	/* Not clean: only the limit holds. */
	buf_init(&b, max);
	must(text_head_tail(&b, s, len, max) == 0, "head_tail over its limit");
	buf_clear(&b);
	buf_clear(&clean);
}

static void
test_escape(const char *s, size_t len, size_t size)
{
	char *small = xmalloc(size);
	struct buf b;
	size_t n;

	buf_init(&b, BUF_NOMAX);
	must(text_escape(&b, s, len) == 0, "escape failed");
	must_be_clean(&b, "");
	n = text_escape_to(small, size, s, len);
	must(n < size && small[n] == '\0', "escape_to over its size");
	must(b.len >= size || strcmp(small, buf_str(&b)) == 0,
	    "escape and escape_to differ");
	buf_reset(&b);
	buf_adds(&b, small);
	must_be_clean(&b, "");
	buf_clear(&b);
	free(small);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s;
	char *text, *rest;
	size_t n;

	if (size < 1)
		return 0;
	n = data[0] * 4u;
	s = (const char *)data + 1;
	size--;
	test_clean(s, size, n);
	test_head_tail(s, size, n);
	test_escape(s, size, n + 8);
	must(text_cut(s, size, n) <= (n < size ? n : size), "cut too long");

	text = xmalloc(size + 1);
	memcpy(text, s, size);
	text[size] = '\0';
	rest = text + strcspn(text, "\n");
	if (*rest != '\0')
		*rest++ = '\0';
	(void)text_glob(text, rest);
	must(text_glob("**", rest), "** does not match");
	free(text);
	return 0;
}
