/* Where the links of a test's program lead. */
#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/path.h"
#include "orchestrator/run/outside.h"

#define ROOT "/home/me/project"

static char dir[] = "/tmp/foray-outside-XXXXXX";

static void
link_to(const char *to, const char *name)
{
	char *path = path_join(dir, name);

	assert_int_equal(symlink(to, path), 0);
	free(path);
}

static void
leads(const char *from, const char *word, const char *want)
{
	char *to = outside_target(dir, ROOT, from, word);

	if (want == NULL)
		assert_null(to);
	else
		assert_string_equal(to, want);
	free(to);
}

static void
test_links(void **state)
{
	char *sub = path_join(dir, "sub");

	(void)state;
	assert_int_equal(mkdir(sub, 0700), 0);
	link_to("/opt/py/bin/python3", "sub/python3");
	link_to("python3", "sub/python");
	link_to(ROOT "/sub", "again");
	link_to("/opt/env", "env");
	link_to("../../elsewhere", "up");
	link_to("loop", "loop");
	link_to("sub/none", "inside");
	leads("", "sub/python3", "/opt/py/bin/python3");
	leads("", "./sub/python", "/opt/py/bin/python3");
	leads("sub", "./python", "/opt/py/bin/python3");
	leads("", ROOT "/sub/python", "/opt/py/bin/python3");
	leads("", "again/python", "/opt/py/bin/python3");
	leads("", "env/bin/python", "/opt/env/bin/python");
	leads("", "up/x", "/home/elsewhere/x");
	leads("", "inside", NULL);
	leads("", "sub/none", NULL);
	leads("", "loop", NULL);
	/* No link has led there: it is said to be there by who wrote it. */
	leads("", "/usr/bin/python3", NULL);
	leads("", "../other/run", NULL);
	free(sub);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_links) };
	int r;

	assert_non_null(mkdtemp(dir));
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)path_rmtree(dir, NULL);
	return r;
}
