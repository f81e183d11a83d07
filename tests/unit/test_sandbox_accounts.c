/* A sandbox's own passwd and group, from whatever the machine's hold. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include "sandbox/accounts.h"

static const struct account me = { .uid = 1000,
	.gid = 100,
	.name = "foray",
	.home = "/tmp/home",
	.shell = "/bin/sh" };

static void
expect(char *(*make)(const char *, const struct account *), const char *text,
    const struct account *a, const char *want)
{
	char *got = make(text, a);

	assert_string_equal(got, want);
	free(got);
}

#define OWN "foray:x:1000:100::/tmp/home:/bin/sh\n"

static void
test_passwd(void **state)
{
	(void)state;
	expect(accounts_passwd, "", &me, OWN);
	expect(accounts_passwd,
	    "root:$6$hash:0:0:The Root,1,2:/root:/bin/bash\n"
	    "ann:x:1000:1000:Ann,Room 3:/home/ann:/bin/zsh\n"
	    "ann2:x:01000:1000::/home/ann2:/bin/zsh\n",
	    &me,
	    OWN "root:x:0:0::/root:/bin/bash\n"
		"ann:x:1000:1000::/tmp/home:/bin/sh\n"
		"ann2:x:01000:1000::/tmp/home:/bin/sh\n");
	/* of that name already; NIS; rubbish; no newline at the end */
	expect(accounts_passwd,
	    "foray:x:500:500::/:/bin/false\n+::::::\n\n#x\nbare\na:b\n:x:0:0:\n"
	    "sync:x:4:65534:sync",
	    &me, OWN "sync:x:4:65534:::\n");
}

static void
test_group(void **state)
{
	(void)state;
	expect(accounts_group, "wheel:secret:10:ann,bob\nforay:x:3:\n100\n",
	    &me, "foray:x:100:\nwheel:x:10:\n");
}

/* A profile's variables may be anything. */
static void
test_odd(void **state)
{
	const struct account odd = {
		.uid = 1, .gid = 2, .name = "a:b", .home = "/x\n", .shell = ""
	};

	(void)state;
	expect(accounts_passwd, "", &odd, "foray:x:1:2::/tmp/home:/bin/sh\n");
}

static void
test_file(void **state)
{
	char *got;

	(void)state;
	assert_null(accounts_file("/nowhere/passwd", &me, accounts_passwd));
	got = accounts_file("/etc/passwd", &me, accounts_passwd);
	assert_non_null(strstr(got, OWN "root:x:0:0:"));
	free(got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passwd),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
