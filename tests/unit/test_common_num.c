#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "common/num.h"

static void
test_u64(void **state)
{
	static const char *const bad[] = { "", " 1", "1 ", "-1", "+1", "0x1",
		"1e3", "18446744073709551616", "99999999999999999999" };
	struct err e;
	uint64_t v = 7;

	(void)state;
	assert_int_equal(num_u64("64", 1, 64, "-n", &v, &e), 0);
	assert_int_equal(v, 64);
	assert_int_equal(num_u64("65", 1, 64, "-n", &v, &e), ERR_USAGE);
	assert_string_equal(
	    e.text, "-n: want a whole number from 1 to 64, not \"65\"");
	assert_int_equal(num_u64("0", 1, 64, "-n", &v, NULL), ERR_USAGE);
	assert_int_equal(v, 64);
	assert_int_equal(
	    num_u64("18446744073709551615", 0, UINT64_MAX, "", &v, &e), 0);
	assert_true(v == UINT64_MAX);
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(
		    num_u64(bad[i], 0, UINT64_MAX, "", &v, &e), ERR_USAGE);
}

static void
test_duration(void **state)
{
	static const struct {
		const char *s;
		uint64_t ms;
	} good[] = {
		{ "90", 90000 },
		{ "90s", 90000 },
		{ "10m", 600000 },
		{ "2h", 7200000 },
		{ "1d", 86400000 },
		{ "250ms", 250 },
		{ "365d", 31536000000 },
	};
	static const char *const bad[] = { "", "0", "0s", "366d", "1w", "s",
		"1 s", "1.5s", "18446744073709551615d", "1mm" };
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < nitems(good); i++) {
		assert_int_equal(num_duration_ms(good[i].s, "-t", &v, NULL), 0);
		assert_int_equal(v, good[i].ms);
	}
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(
		    num_duration_ms(bad[i], "-t", &v, NULL), ERR_USAGE);
}

static void
test_size(void **state)
{
	static const struct {
		const char *s;
		uint64_t n;
		const char *back;
	} good[] = {
		{ "12", 12, "12 bytes" },
		{ "64K", 65536, "64 KiB" },
		{ "512M", 536870912, "512 MiB" },
		{ "4G", 4294967296, "4 GiB" },
		{ "1536M", 1610612736, "1.5 GiB" },
		{ "2T", 2199023255552, "2 TiB" },
	};
	static const char *const bad[] = { "", "0", "0G", "G", "1k", "1GB",
		"-1", "1.5G", " 1G", "8388608T", "18446744073709551615" };
	char text[32];
	struct err e;
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < nitems(good); i++) {
		assert_int_equal(num_size(good[i].s, "-s", &v, NULL), 0);
		assert_int_equal(v, good[i].n);
		assert_string_equal(
		    num_fmt_size(v, text, sizeof text), good[i].back);
	}
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(num_size(bad[i], "-s", &v, &e), ERR_USAGE);
}

static void
test_money(void **state)
{
	static const char *const bad[] = { "", ".5", "1.", "1.1234567", "-1",
		"$1", "1,5", "1.2.3", "1000000001", "1.12345x" };
	uint64_t v;

	(void)state;
	assert_int_equal(num_money_micro("1.25", "-b", &v, NULL), 0);
	assert_int_equal(v, 1250000);
	assert_int_equal(num_money_micro("0.000001", "-b", &v, NULL), 0);
	assert_int_equal(v, 1);
	assert_int_equal(num_money_micro("5", "-b", &v, NULL), 0);
	assert_int_equal(v, 5000000);
	for (size_t i = 0; i < nitems(bad); i++)
		assert_int_equal(
		    num_money_micro(bad[i], "-b", &v, NULL), ERR_USAGE);
}

static void
test_fmt(void **state)
{
	char s[32];

	(void)state;
	assert_string_equal(num_fmt_ms(12, s, sizeof s), "12 ms");
	assert_string_equal(num_fmt_ms(3499, s, sizeof s), "3.4 s");
	assert_string_equal(num_fmt_ms(310000, s, sizeof s), "5 m 10 s");
	assert_string_equal(num_fmt_ms(7500000, s, sizeof s), "2 h 5 m");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_money),
		cmocka_unit_test(test_fmt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
