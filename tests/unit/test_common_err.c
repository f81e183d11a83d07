#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>

#include "common/err.h"

static void
test_set(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_set(&e, -EIO, "a %d", 5), -EIO);
	assert_int_equal(e.code, -EIO);
	assert_string_equal(e.text, "a 5");
	assert_int_equal(err_set(NULL, ERR_LIMIT, "x"), ERR_LIMIT);
	err_set(&e, -EIO, "line\n");
	assert_string_equal(e.text, "line");
}

static void
test_prefix(void **state)
{
	struct err e;

	(void)state;
	err_set(&e, ERR_SYNTAX, "bad");
	assert_int_equal(err_prefix(&e, "%s", "file"), ERR_SYNTAX);
	assert_string_equal(e.text, "file: bad");
	err_set(&e, ERR_SYNTAX, "again: %s", e.text);
	assert_string_equal(e.text, "again: file: bad");
	assert_true(err_prefix(NULL, "x") < 0);
}

static void
test_cut(void **state)
{
	char longer[3000];
	struct err e;

	(void)state;
	/* Two bytes a character, shifted by one: the cut falls inside. */
	longer[0] = 'a';
	for (size_t i = 1; i + 1 < sizeof longer; i += 2)
		memcpy(longer + i, "\xc3\xa4", 2);
	longer[sizeof longer - 1] = '\0';
	err_set(&e, -1, "%s", longer);
	assert_int_equal(strlen(e.text), 1023);
	err_set(&e, -1, "%s", longer + 1);
	assert_int_equal(strlen(e.text), 1022);
}

static void
test_str(void **state)
{
	(void)state;
	assert_string_equal(err_str(-ENOENT), strerror(ENOENT));
	for (int c = ERR_PROTO; c >= ERR_NOTFOUND; c--)
		assert_string_not_equal(err_str(c), "unknown error");
	assert_string_equal(err_str(-99999), "unknown error");
	assert_non_null(err_str(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_str),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
