#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>

#include "common/text.h"

static void
clean(const char *in, size_t len, const char *want)
{
	struct buf b;

	buf_init(&b, BUF_NOMAX);
	assert_int_equal(text_clean(&b, in, len, 0), 0);
	assert_string_equal(buf_str(&b), want);
	buf_clear(&b);
}

static void
test_clean(void **state)
{
	static const struct {
		const char *in, *want;
	} t[] = {
		{ "", "" },
		{ "a\tb\nc", "a\tb\nc" },
		{ "a\r\nb\r\n", "a\nb\n" },
		{ "a\r\r\nb", "a\nb" },
		{ "10%\r20%\rdone\n", "done\n" },
		{ "abc\rx", "xbc" },
		{ "abcdef\r\x1b[Kx", "x" },
		{ "abcdef\x1b[2K\rx", "x     " },
		{ "\x1b[1;31mred\x1b[0m", "red" },
		{ "\x1b]0;title\x07text", "text" },
		{ "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link" },
		{ "\x1bPdcs\x1b\\a", "a" },
		{ "\x1b]never ended\nnext", "\nnext" },
		{ "a\x1b]never ended", "anever ended" },
		{ "\x1b(Ba\x1b=b\x1b"
		  "c",
		    "ab" },
		{ "\x1b[", "" },
		{ "\x1b[12", "" },
		{ "\x1b", "" },
		{ "\x1b[3\nx", "\nx" },
		{ "ab\bc", "ac" },
		{ "\bab\b\b\b\bc", "c" },
		{ "\xc3\xa4\bb", "b" },
		{ "N\bNA\bA", "NA" },
		{ "a\x01\x02\x7f"
		  "b",
		    "ab" },
		{ "\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		/* C1: CSI, and one that just goes. */
		{ "a\xc2\x9b"
		  "31mb\xc2\x85",
		    "ab" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
	};

	(void)state;
	for (size_t i = 0; i < nitems(t); i++)
		clean(t[i].in, strlen(t[i].in), t[i].want);
	clean("a\0b", 3, "ab");
}

static void
test_clean_limits(void **state)
{
	char in[1000], *nl;
	struct buf b;

	(void)state;
	memset(in, 'x', sizeof in);
	in[500] = '\n';
	buf_init(&b, BUF_NOMAX);
	assert_int_equal(text_clean(&b, in, sizeof in, 100), 0);
	nl = strchr(buf_str(&b), '\n');
	assert_non_null(nl);
	assert_in_range(nl - b.data, 90, 100);
	assert_non_null(strstr(b.data, "x[... "));
	assert_non_null(strstr(b.data, " bytes ...]x"));
	assert_int_equal(b.data[b.len - 1], 'x');
	buf_clear(&b);

	buf_init(&b, 100);
	buf_adds(&b, "keep");
	assert_int_equal(text_clean(&b, in, sizeof in, 0), -ENOBUFS);
	assert_string_equal(buf_str(&b), "keep");
	buf_clear(&b);
}

static void
test_utf8(void **state)
{
	uint32_t cp;

	(void)state;
	assert_true(text_is_utf8("a\xc3\xa4\xf4\x8f\xbf\xbf", 7));
	assert_false(text_is_utf8("\xf4\x90\x80\x80", 4));
	assert_false(text_is_utf8("\xe0\x80\xaf", 3));
	assert_false(text_is_utf8("\xc3", 1));
	assert_false(text_is_utf8("\x80", 1));
	assert_int_equal(text_char("", 0, &cp), 0);
	assert_int_equal(text_char("\xe2\x82\xac", 3, &cp), 3);
	assert_int_equal(cp, 0x20ac);
	assert_int_equal(text_cut("a\xe2\x82\xac", 4, 3), 1);
	assert_int_equal(text_cut("a\xe2\x82\xac", 4, 4), 4);
	assert_int_equal(text_cut("a\xe2\x82\xac", 4, 0), 0);
	assert_int_equal(text_cut("abc", 3, 2), 2);
	assert_int_equal(text_cut("\x80\x80\x80\x80\x80\x80", 6, 5), 5);
}

static void
test_head_tail(void **state)
{
	struct buf in, out;

	(void)state;
	buf_init(&in, BUF_NOMAX);
	for (int i = 0; i < 1000; i++)
		buf_printf(&in, "line %d\n", i);
	buf_init(&out, BUF_NOMAX);
	assert_int_equal(text_head_tail(&out, in.data, in.len, 1000), 0);
	assert_in_range(out.len, 900, 1000);
	assert_true(text_starts(out.data, "line 0\nline 1\n"));
	assert_true(text_ends(out.data, "\nline 998\nline 999\n"));
	assert_non_null(strstr(out.data, "\n[... 7"));
	assert_non_null(strstr(out.data, " lines) left out ...]\nline "));
	buf_reset(&out);
	assert_int_equal(text_head_tail(&out, in.data, in.len, in.len), 0);
	assert_string_equal(out.data, in.data);
	buf_reset(&out);
	assert_int_equal(text_head_tail(&out, in.data, in.len, 50), 0);
	assert_int_equal(out.len, 50);
	buf_reset(&out);
	assert_int_equal(text_head_tail(&out, in.data, in.len, 0), 0);
	assert_int_equal(out.len, 0);
	buf_clear(&out);
	buf_init(&out, 10);
	assert_int_equal(text_head_tail(&out, in.data, in.len, 1000), -ENOBUFS);
	assert_int_equal(out.len, 0);
	buf_clear(&out);
	buf_clear(&in);
}

static void
test_escape(void **state)
{
	char small[8];
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	assert_int_equal(
	    text_escape(&b, "a\n\t\x1b\xff\xc3\xa4\xc2\x9b", 9), 0);
	assert_string_equal(b.data, "a\\n\\x09\\x1b\\xff\xc3\xa4\\xc2\\x9b");
	buf_reset(&b);
	/* U+202E turns the text around. */
	assert_int_equal(text_escape(&b, "\xe2\x80\xae", 3), 0);
	assert_string_equal(b.data, "\\xe2\\x80\\xae");
	buf_clear(&b);
	buf_init(&b, 5);
	assert_int_equal(text_escape(&b, "abc\x01", 4), -ENOBUFS);
	assert_string_equal(buf_str(&b), "");
	buf_clear(&b);
	assert_int_equal(text_escape_to(small, sizeof small, "abcdefg", 7), 7);
	assert_string_equal(small, "abcdefg");
	text_escape_to(small, sizeof small, "abcdefgh", 8);
	assert_string_equal(small, "abcd...");
	text_escape_to(small, sizeof small, "abc\x01xxx", 7);
	assert_string_equal(small, "abc...");
	text_escape_to(small, sizeof small, "ab\xf0\x9f\x98\x80zz", 8);
	assert_string_equal(small, "ab...");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_clean_limits),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_head_tail),
		cmocka_unit_test(test_escape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
