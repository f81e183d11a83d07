#include "common/compat.h"

#include <setjmp.h>
#include <time.h>

#include <cmocka.h>

#include "common/text.h"

static void
test_glob(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool match;
	} t[] = {
		{ "*.c", "a.c", true },
		{ "*.c", "src/a.c", true },
		{ "*.c", "src/a.h", false },
		{ "src/*.c", "src/a.c", true },
		{ "src/*.c", "src/x/a.c", false },
		{ "src/**/*.c", "src/a.c", true },
		{ "src/**/*.c", "src/x/y/a.c", true },
		{ "**/a.c", "a.c", true },
		{ "**/a.c", "x/y/a.c", true },
		{ "**/a.c", "x/y/ba.c", false },
		{ "**", "x/y", true },
		{ "src/**", "src/x/y", true },
		{ "src/**", "src", true },
		{ "src/**", "srcx/y", false },
		{ "a/**/b/**/c", "a/b/c", true },
		{ "a/**/b/**/c", "a/x/b/y/z/c", true },
		{ "a/**/b/**/c", "a/x/y/z/c", false },
		{ "a**b", "axxb", true },
		{ "x/a**b", "x/a/b", false },
		{ "?.c", "\xc3\xa4.c", true },
		{ "?.c", "ab.c", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false },
		{ "[^a-c]x", "dx", true },
		{ "[]x]", "]", true },
		{ "[!]x]", "]", false },
		{ "[a-]", "-", true },
		{ "[[:digit:]_]", "7", true },
		{ "[[:digit:]_]", "_", true },
		{ "[[:digit:]_]", "x", false },
		{ "[[:nonsense:]]", "x", false },
		{ "[\\]]", "]", true },
		{ "[abc", "[abc", false },
		{ "\\[abc", "[abc", true },
		{ "\\*", "*", true },
		{ "\\*", "x", false },
		{ "", "", true },
		{ "", "x", false },
		{ "*", "", true },
		{ "*", ".hidden", true },
		{ "a/", "a", false },
		{ "a*b*c", "aXbXbXc", true },
		{ "a*b*c", "aXbXbX", false },
		{ "/etc/*", "/etc/passwd", true },
		{ "*a",
		    "\xff\xff"
		    "a",
		    true },
	};

	(void)state;
	for (size_t i = 0; i < nitems(t); i++) {
		if (text_glob(t[i].pattern, t[i].path) != t[i].match)
			fail_msg("%s against %s: want %d", t[i].pattern,
			    t[i].path, t[i].match);
	}
}

/* Processor time: others on the machine take none of it. */
static uint64_t
spent_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
test_time(void **state)
{
	struct buf p, s;
	uint64_t start = spent_ms();

	(void)state;
	buf_init(&p, BUF_NOMAX);
	buf_init(&s, BUF_NOMAX);
	for (int i = 0; i < 500; i++) {
		buf_adds(&p, "**/*a*a*a*b/");
		buf_adds(&s, "aaaaaaaaaaaaaa/");
	}
	assert_false(text_glob(buf_str(&p), buf_str(&s)));
	buf_reset(&p);
	buf_reset(&s);
	for (int i = 0; i < 1000; i++) {
		buf_adds(&p, "*a");
		buf_adds(&s, "aaaa");
	}
	buf_adds(&p, "b");
	assert_false(text_glob(buf_str(&p), buf_str(&s)));
	buf_reset(&p);
	for (int i = 0; i < 2000; i++)
		buf_adds(&p, "*[[:x:]");
	assert_false(text_glob(buf_str(&p), buf_str(&s)));
	assert_in_range(spent_ms() - start, 0, 5000);
	buf_clear(&p);
	buf_clear(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glob),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
