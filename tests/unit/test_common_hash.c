#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>

#include "common/hash.h"

/* b2sum -l 256 of "abc" */
static const char abc[] =
    "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319";

static void
test_hash(void **state)
{
	unsigned char h[HASH_LEN], g[HASH_LEN];
	struct hash_state st;
	char hex[HASH_HEX];

	(void)state;
	hash_bytes("abc", 3, h);
	hash_hex(h, hex);
	assert_string_equal(hex, abc);
	hash_init(&st);
	hash_update(&st, "a", 1);
	hash_update(&st, "", 0);
	hash_update(&st, "bc", 2);
	hash_final(&st, g);
	assert_memory_equal(h, g, sizeof h);
	hash_bytes(NULL, 0, h);
}

static void
test_unhex(void **state)
{
	unsigned char h[HASH_LEN], g[HASH_LEN];
	char bad[HASH_HEX + 1];

	(void)state;
	assert_int_equal(hash_unhex(abc, h), 0);
	hash_bytes("abc", 3, g);
	assert_memory_equal(h, g, sizeof h);
	assert_int_equal(hash_unhex("ab", h), -EINVAL);
	snprintf(bad, sizeof bad, "%s0", abc);
	assert_int_equal(hash_unhex(bad, h), -EINVAL);
	bad[64] = '\0';
	bad[10] = 'g';
	assert_int_equal(hash_unhex(bad, h), -EINVAL);
}

static void
test_random(void **state)
{
	char a[201], b[201];

	(void)state;
	hash_random_hex(a, 100);
	hash_random_hex(b, 100);
	assert_int_equal(strlen(a), 200);
	assert_int_equal(strspn(a, "0123456789abcdef"), 200);
	assert_string_not_equal(a, b);
	hash_random_hex(a, 0);
	assert_string_equal(a, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_unhex),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
