/*
 * test_proto_zmtp.c - the frames of a connection, whole and in pieces of every
 * size.
 */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include "proto/zmtp.h"

static const unsigned char greeting[64] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f,
	3, 0, 'N', 'U', 'L', 'L' };

/* After the greeting, in pieces of n bytes. */
static enum zmtp_verdict
check(const void *bytes, size_t len, size_t n)
{
	const unsigned char *p = bytes;
	struct zmtp_walk w;
	enum zmtp_verdict v;
	size_t i, take;

	memset(&w, 0, sizeof w);
	v = zmtp_check(&w, greeting, sizeof greeting);
	for (i = 0; i < len && v == ZMTP_GOOD; i += take) {
		take = n < len - i ? n : len - i;
		v = zmtp_check(&w, p + i, take);
	}
	return v;
}

static void
all_sizes(const void *bytes, size_t len, enum zmtp_verdict want)
{
	size_t n;

	for (n = 1; n <= len; n++)
		assert_int_equal(check(bytes, len, n), want);
}

static void
test_greeting(void **state)
{
	struct zmtp_walk w;
	unsigned char g[64];
	static const size_t at[] = { 0, 9, 10 };
	size_t i;

	(void)state;
	for (i = 0; i < nitems(at); i++) {
		memcpy(g, greeting, sizeof g);
		g[at[i]] ^= 1;
		memset(&w, 0, sizeof w);
		assert_int_equal(zmtp_check(&w, g, sizeof g), ZMTP_NOT_ZMTP);
	}
	/* ZMTP 1 begins with a length. */
	memset(&w, 0, sizeof w);
	assert_int_equal(
	    zmtp_check(&w, (const unsigned char *)"\1\0", 2), ZMTP_NOT_ZMTP);
}

static void
test_good(void **state)
{
	static const char good[] = "\4\3abc"             /* command */
				   "\1\0\0\2hi"          /* two parts */
				   "\2\0\0\0\0\0\0\0\1x" /* long length */
				   "\4\0"                /* empty command */
				   "\1\1a\1\1a\1\1a\1\1a\1\1a\1\1a\1\1a\0\1z";

	(void)state;
	all_sizes(good, sizeof good - 1, ZMTP_GOOD);
}

static void
test_bad(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum zmtp_verdict want;
	} bad[] = {
		{ "\10\0", 2, ZMTP_NOT_ZMTP },
		{ "\5\0", 2, ZMTP_NOT_ZMTP },
		{ "\0\1a\200", 4, ZMTP_NOT_ZMTP },
		{ "\2\0\0\0\0\0\140\0\1", 9, ZMTP_TOO_LARGE },
		{ "\2\377\377\377\377\377\377\377\377", 9, ZMTP_TOO_LARGE },
		{ "\6\0\0\0\0\0\0\20\1", 9, ZMTP_TOO_LARGE },
		{ "\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0\1\0", 18, ZMTP_ENDLESS },
		/* Commands between them don't hide it. */
		{ "\1\0\1\0\1\0\1\0\4\0\1\0\1\0\1\0\1\0\1\0", 20,
		    ZMTP_ENDLESS },
	};
	size_t i;

	(void)state;
	for (i = 0; i < nitems(bad); i++)
		all_sizes(bad[i].bytes, bad[i].len, bad[i].want);
	/* The largest that is allowed. */
	assert_int_equal(check("\2\0\0\0\0\0\140\0\0", 9, 9), ZMTP_GOOD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greeting),
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
