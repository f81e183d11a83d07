/* Protected files that a command changed are put back. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the ones above */
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "common/spawn.h"
#include "worker/agent/restore.h"

static char top[] = "/tmp/foray-test-XXXXXX";
static struct agent a;

static void
sh(const char *script)
{
	struct strv argv = { 0 };
	struct spawn s = { .argv = &argv, .cwd = top };
	struct spawn_result res;

	strv_addl(&argv, "sh", "-e", "-c", script, (char *)NULL);
	assert_int_equal(spawn_run(&s, &res, NULL), 0);
	if (res.status != 0)
		fail_msg("%s: status %d", script, res.status);
	strv_clear(&argv);
}

static int
setup(void **state unused_arg)
{
	static const char *const guarded[] = { "new/test.sh", "tests/a.sh",
		"tests/b.sh", "tests/link", "tests/not-there" };
	struct err e;

	if (mkdtemp(top) == NULL)
		return -1;
	sh("mkdir -p base/tests; cd base; echo a >tests/a.sh; "
	   "echo b >tests/b.sh; chmod 755 tests/b.sh; ln -s a.sh tests/link; "
	   "echo c >code; cp -a . ../w; cd ../w; mkdir -p .git new; "
	   "echo '[core]' >.git/config; echo repro >new/test.sh");
	a.cfg.base = path_join(top, "base");
	a.cfg.root = path_join(top, "w");
	if (treefs_open(&a.fs, a.cfg.root, a.cfg.root, NULL, "/tmp", &e) < 0)
		return -1;
	treefs_guard(&a.fs, guarded, nitems(guarded));
	a.restore = restore_create(&a);
	return 0;
}

static int
teardown(void **state unused_arg)
{
	restore_free(a.restore);
	treefs_close(&a.fs);
	free(a.cfg.base);
	free(a.cfg.root);
	return path_rmtree(top, NULL);
}

/* A command does that; afterwards all is as before. */
static void
undoes(const char *deed)
{
	sh("cd w; ls -lR --time-style=full-iso tests new >../before; "
	   "cat tests/* new/* .git/config >>../before");
	sh(deed);
	restore_all(a.restore);
	sh("cd w; ls -lR --time-style=full-iso tests new >../after; "
	   "cat tests/* new/* .git/config >>../after; cmp ../before ../after");
}

static void
test_restore(void **state unused_arg)
{
	undoes("true");
	undoes("echo x >>w/tests/a.sh");
	undoes("touch -r w/tests/a.sh t; echo x >w/tests/a.sh; "
	       "touch -r t w/tests/a.sh");
	undoes("rm w/tests/b.sh");
	undoes("chmod 644 w/tests/b.sh");
	undoes("echo x >y; mv y w/tests/b.sh");
	undoes("rm w/tests/link; ln -s /etc/passwd w/tests/link");
	undoes("rm w/tests/a.sh; ln -s /etc/passwd w/tests/a.sh");
	undoes("echo x >w/new/test.sh");
	undoes("echo x >>w/.git/config");
}

static void
test_hooks(void **state unused_arg)
{
	sh("mkdir w/.git/hooks; echo x >w/.git/hooks/post-checkout");
	restore_all(a.restore);
	sh("test ! -e w/.git/hooks");
}

/* What is not protected is left. */
static void
test_rest(void **state unused_arg)
{
	sh("echo x >w/code; echo x >w/tests/c.sh");
	restore_all(a.restore);
	sh("test \"$(cat w/code w/tests/c.sh | tr -d '\\n')\" = xx; "
	   "rm w/tests/c.sh");
	restore_all(NULL);
	restore_free(NULL);
}

/* Every change is remembered, undone or not. */
static void
test_changed(void **state unused_arg)
{
	restore_renew(&a);
	assert_null(restore_changed(a.restore));
	sh("echo x >w/code");
	assert_null(restore_changed(a.restore));
	sh("cp -a w/tests/a.sh keep; echo x >w/tests/a.sh");
	assert_string_equal(restore_changed(a.restore), "tests/a.sh");
	sh("cp -a keep w/tests/a.sh"); /* as if nothing had been */
	assert_string_equal(restore_changed(a.restore), "tests/a.sh");
	restore_all(a.restore);
	assert_string_equal(restore_changed(a.restore), "tests/a.sh");
	restore_renew(&a);
	assert_null(restore_changed(a.restore));
	assert_null(restore_changed(NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restore),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
