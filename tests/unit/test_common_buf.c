#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>

#include "common/buf.h"

static void
test_add(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 10);
	assert_string_equal(buf_str(&b), "");
	assert_null(b.data);
	assert_int_equal(buf_adds(&b, "hello"), 0);
	assert_int_equal(buf_addc(&b, '!'), 0);
	assert_int_equal(buf_adds(&b, "12345"), -ENOBUFS);
	assert_string_equal(buf_str(&b), "hello!");
	assert_int_equal(buf_adds(&b, "1234"), 0);
	assert_int_equal(b.len, 10);
	assert_int_equal(buf_addc(&b, 'x'), -ENOBUFS);
	assert_int_equal(buf_add(&b, "", 0), 0);
	buf_drain(&b, 6);
	assert_string_equal(buf_str(&b), "1234");
	buf_reset(&b);
	assert_string_equal(buf_str(&b), "");
	buf_clear(&b);
	assert_null(b.data);
	assert_int_equal(buf_adds(&b, "again"), 0);
	buf_clear(&b);
}

static void
test_printf(void **state)
{
	char want[1001];
	struct buf b;

	(void)state;
	buf_init(&b, 1003);
	memset(want, 'x', 1000);
	want[1000] = '\0';
	assert_int_equal(buf_printf(&b, "%d", 12), 0);
	assert_int_equal(buf_printf(&b, "%s", want), 0);
	assert_int_equal(buf_printf(&b, "%d", 12), -ENOBUFS);
	assert_int_equal(b.len, 1002);
	assert_int_equal(strlen(b.data), 1002);
	assert_int_equal(buf_printf(&b, "%d", 1), 0);
	assert_int_equal(b.len, 1003);
	buf_clear(&b);
}

static void
test_fill(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	assert_int_equal(buf_reserve(&b, 100), 0);
	memset(b.data, 'y', 100);
	buf_fill(&b, 100);
	assert_int_equal(b.data[100], '\0');
	assert_int_equal(buf_reserve(&b, 1), -ENOBUFS);
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -ENOBUFS);
	buf_clear(&b);
}

static void
test_detach(void **state)
{
	struct buf b;
	size_t len;
	char *s;

	(void)state;
	buf_init(&b, BUF_NOMAX);
	s = buf_detach(&b, &len);
	assert_string_equal(s, "");
	assert_int_equal(len, 0);
	free(s);
	buf_adds(&b, "abc");
	s = buf_detach(&b, NULL);
	assert_string_equal(s, "abc");
	assert_int_equal(b.len, 0);
	free(s);
}

static void
test_zero_max(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(buf_addc(&b, 'x'), -ENOBUFS);
	assert_int_equal(buf_printf(&b, "%s", ""), 0);
	assert_string_equal(buf_str(&b), "");
	buf_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_detach),
		cmocka_unit_test(test_zero_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
