/* proto/check.c: what is a msgpack value within the limits, and what is not. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/buf.h"
#include "proto/check.h"

struct sample {
	const char *name;
	const char *bytes;
	size_t len;
};

#define SAMPLE(name, bytes) \
	{ \
		name, bytes, sizeof(bytes) - 1 \
	}

static const struct sample good[] = {
	SAMPLE("positive fixint", "\x7f"),
	SAMPLE("negative fixint", "\xe0"),
	SAMPLE("nil", "\xc0"),
	SAMPLE("false", "\xc2"),
	SAMPLE("true", "\xc3"),
	SAMPLE("uint8", "\xcc\xff"),
	SAMPLE("uint16", "\xcd\xff\xff"),
	SAMPLE("uint32", "\xce\xff\xff\xff\xff"),
	SAMPLE("uint64", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
	SAMPLE("int8", "\xd0\x80"),
	SAMPLE("int16", "\xd1\x80\x01"),
	SAMPLE("int32", "\xd2\x80\x01\x02\x03"),
	SAMPLE("int64", "\xd3\x80\x01\x02\x03\x04\x05\x06\x07"),
	SAMPLE("float32", "\xca\x01\x02\x03\x04"),
	SAMPLE("float64", "\xcb\x01\x02\x03\x04\x05\x06\x07\x08"),
	SAMPLE("empty string", "\xa0"),
	SAMPLE("fixstr", "\xa2hi"),
	SAMPLE("str8", "\xd9\x02hi"),
	SAMPLE("str16", "\xda\x00\x02hi"),
	SAMPLE("str32", "\xdb\x00\x00\x00\x02hi"),
	SAMPLE("UTF-8", "\xa2\xc3\xa4"),
	SAMPLE("bin8", "\xc4\x02\x00\xff"),
	SAMPLE("bin16", "\xc5\x00\x01\xff"),
	SAMPLE("bin32", "\xc6\x00\x00\x00\x01\xff"),
	SAMPLE("empty array", "\x90"),
	SAMPLE("array", "\x92\x01\xc0"),
	SAMPLE("array16", "\xdc\x00\x01\x01"),
	SAMPLE("array32", "\xdd\x00\x00\x00\x01\x01"),
	SAMPLE("empty map", "\x80"),
	SAMPLE("map", "\x81\xa1t\x14"),
	SAMPLE("map16", "\xde\x00\x01\x01\x02"),
	SAMPLE("map32", "\xdf\x00\x00\x00\x01\x01\x02"),
	SAMPLE("eight levels", "\x91\x91\x91\x91\x91\x91\x91\x90"),
	SAMPLE("siblings", "\x92\x92\x90\x90\x92\x80\x91\x01"),
};

static const struct sample bad[] = {
	SAMPLE("nothing", ""),
	SAMPLE("never used", "\xc1"),
	SAMPLE("ext8", "\xc7\x00\x01"),
	SAMPLE("ext16", "\xc8\x00\x00\x01"),
	SAMPLE("ext32", "\xc9\x00\x00\x00\x00\x01"),
	SAMPLE("fixext1", "\xd4\x01\x02"),
	SAMPLE("fixext2", "\xd5\x01\x02\x03"),
	SAMPLE("fixext4", "\xd6\x01\x02\x03\x04\x05"),
	SAMPLE("fixext8", "\xd7\x01\x02\x03\x04\x05\x06\x07\x08\x09"),
	SAMPLE("timestamp", "\xd6\xff\x00\x00\x00\x00"),
	SAMPLE("bytes left over", "\x01\x01"),
	SAMPLE("NUL in a string", "\xa2h\x00"),
	SAMPLE("bad UTF-8", "\xa1\xff"),
	SAMPLE("surrogate", "\xa3\xed\xa0\x80"),
	SAMPLE("overlong", "\xa2\xc0\x80"),
	SAMPLE("bad UTF-8 in a key", "\x81\xa1\xff\x01"),
	SAMPLE("268 million entries", "\xdd\x10\x00\x00\x00"),
	SAMPLE("4 billion entries", "\xdd\xff\xff\xff\xff"),
	SAMPLE("4 billion pairs", "\xdf\xff\xff\xff\xff"),
	SAMPLE("pairs by half", "\x82\x01\x01\x01"),
	SAMPLE("4 GiB of string", "\xdb\xff\xff\xff\xffx"),
	SAMPLE("4 GiB of bytes", "\xc6\xff\xff\xff\xffx"),
	SAMPLE("nine levels", "\x91\x91\x91\x91\x91\x91\x91\x91\x90"),
	SAMPLE("nine levels of maps",
	    "\x81\x01\x81\x01\x81\x01\x81\x01\x81\x01\x81\x01\x81\x01\x81\x01"
	    "\x80"),
};

static void
test_good(void **state unused_arg)
{
	struct check_in in;
	struct err e;
	size_t i;

	for (i = 0; i < nitems(good); i++) {
		if (check_msgpack(good[i].bytes, good[i].len, &e) != 0)
			fail_msg("%s: %s", good[i].name, e.text);
		check_begin(&in, good[i].bytes, good[i].len);
		assert_int_equal(check_skip(&in, NULL), 0);
		assert_true(in.at == in.end);
	}
}

static void
test_bad(void **state unused_arg)
{
	struct err e;
	size_t i;

	for (i = 0; i < nitems(bad); i++) {
		memset(&e, 0, sizeof e);
		if (check_msgpack(bad[i].bytes, bad[i].len, &e) != ERR_PROTO)
			fail_msg("%s: taken", bad[i].name);
		assert_int_equal(e.code, ERR_PROTO);
		assert_string_not_equal(e.text, "");
		assert_int_equal(
		    check_msgpack(bad[i].bytes, bad[i].len, NULL), ERR_PROTO);
	}
}

/* Each good sample, cut anywhere, is bad; in memory of just that size, so that
 * a sanitizer sees a read beyond. */
static void
test_cut(void **state unused_arg)
{
	struct check_in in;
	char *copy;
	size_t i, n;

	for (i = 0; i < nitems(good); i++) {
		for (n = 0; n < good[i].len; n++) {
			copy = malloc(n > 0 ? n : 1);
			assert_non_null(copy);
			memcpy(copy, good[i].bytes, n);
			if (check_msgpack(copy, n, NULL) != ERR_PROTO)
				fail_msg("%s cut to %zu", good[i].name, n);
			check_begin(&in, copy, n);
			assert_int_equal(check_skip(&in, NULL), ERR_PROTO);
			assert_true(in.at == in.start);
			free(copy);
		}
	}
}

static void
test_items(void **state unused_arg)
{
	struct buf b;
	size_t i;

	buf_init(&b, BUF_NOMAX);
	/* The array is a value too. */
	assert_int_equal(buf_add(&b, "\xdd\x00\x00\xff\xff", 5), 0);
	for (i = 0; i < CHECK_MAX_ITEMS - 1; i++)
		assert_int_equal(buf_addc(&b, 1), 0);
	assert_int_equal(check_msgpack(b.data, b.len, NULL), 0);
	memcpy(b.data, "\xdd\x00\x01\x00\x00", 5);
	assert_int_equal(buf_addc(&b, 1), 0);
	assert_int_equal(check_msgpack(b.data, b.len, NULL), ERR_PROTO);
	buf_clear(&b);
}

static void
test_tokens(void **state unused_arg)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum check_kind kind;
		uint64_t n;
	} want[] = {
		{ "\x05", 1, CHECK_UINT, 5 },
		{ "\xcd\x01\x02", 3, CHECK_UINT, 0x102 },
		{ "\xcf\xff\xff\xff\xff\xff\xff\xff\xfe", 9, CHECK_UINT,
		    UINT64_MAX - 1 },
		/* signed types of numbers that are not negative */
		{ "\xd0\x1d", 2, CHECK_UINT, 29 },
		{ "\xd3\x00\x00\x00\x00\x00\x00\x00\x1d", 9, CHECK_UINT, 29 },
		{ "\xc3", 1, CHECK_BOOL, 1 },
		{ "\xc2", 1, CHECK_BOOL, 0 },
		{ "\xa2hi", 3, CHECK_STR, 2 },
		{ "\xc4\x01x", 3, CHECK_BIN, 1 },
		{ "\x91\x01", 2, CHECK_ARRAY, 1 },
		{ "\x81\x01\x01", 3, CHECK_MAP, 1 },
	};
	struct check_in in;
	struct check_token t;
	size_t i;

	for (i = 0; i < nitems(want); i++) {
		check_begin(&in, want[i].bytes, want[i].len);
		assert_int_equal(check_next(&in, &t, NULL), 0);
		assert_int_equal(t.kind, want[i].kind);
		assert_true(t.n == want[i].n);
	}
	check_begin(&in, "\xa2hi", 3);
	assert_int_equal(check_next(&in, &t, NULL), 0);
	assert_memory_equal(t.p, "hi", 2);
	assert_true(in.at == in.end);
	assert_int_equal(check_next(&in, &t, NULL), ERR_PROTO);

	/* A container is refused by its header, before what is inside. */
	check_begin(&in, "\x82\x01\x01\x01", 4);
	assert_int_equal(check_next(&in, &t, NULL), ERR_PROTO);
	check_begin(&in, "\x93\x01\x01", 3);
	assert_int_equal(check_next(&in, &t, NULL), ERR_PROTO);
	assert_true(in.at == in.start);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_tokens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
