#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/strv.h"

static void
test_add(void **state)
{
	struct strv s = { 0 }, t = { 0 };
	char *own = xstrdup("own");

	(void)state;
	assert_null(strv_argv(&s)[0]);
	strv_add(&s, "one");
	strv_addn(&s, "twofold", 3);
	strv_addf(&s, "%d", 3);
	strv_take(&s, &own);
	assert_null(own);
	strv_addl(&s, "x", "y", (char *)NULL);
	assert_int_equal(s.n, 6);
	assert_string_equal(s.v[1], "two");
	assert_string_equal(s.v[2], "3");
	assert_null(s.v[6]);
	assert_true(strv_has(&s, "own"));
	assert_false(strv_has(&s, "ow"));
	strv_copy(&t, &s);
	strv_extend(&t, &t);
	assert_int_equal(t.n, 12);
	assert_string_equal(t.v[11], "y");
	strv_copy(&t, &t);
	assert_int_equal(t.n, 12);
	strv_sort(&t);
	assert_string_equal(t.v[0], "3");
	assert_string_equal(t.v[11], "y");
	strv_clear(&s);
	strv_clear(&t);
	assert_null(s.v);
	strv_sort(&s);
}

static void
test_env(void **state)
{
	struct strv s = { 0 };

	(void)state;
	strv_setenv(&s, "A", "1");
	strv_setenv(&s, "AB", "2");
	strv_setenv(&s, "A", "3");
	assert_int_equal(s.n, 2);
	assert_string_equal(strv_getenv(&s, "A"), "3");
	assert_string_equal(strv_getenv(&s, "AB"), "2");
	assert_null(strv_getenv(&s, "B"));
	strv_clear(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_env),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
