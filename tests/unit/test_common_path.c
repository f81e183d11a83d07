#include "common/compat.h"

#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/path.h"

static char tmp[] = "/tmp/test_path.XXXXXX";

static int
setup(void **state)
{
	(void)state;
	return mkdtemp(tmp) == NULL;
}

static int
teardown(void **state)
{
	(void)state;
	return path_rmtree(tmp, NULL);
}

static void
same(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void
test_names(void **state)
{
	(void)state;
	same(path_join("a", "b"), "a/b");
	same(path_join("a/", "/b"), "a/b");
	same(path_join("/", "b"), "/b");
	same(path_join("", "b"), "b");
	same(path_joinf("a", "%d.txt", 5), "a/5.txt");
	assert_string_equal(path_base("/a/b"), "b");
	assert_string_equal(path_base("b"), "b");
	same(path_dir("/a/b"), "/a");
	same(path_dir("/a"), "/");
	same(path_dir("a"), ".");
	same(path_dir("a//b"), "a");
	same(path_normal("/a//b/./c/.."), "/a/b");
	same(path_normal("/../.."), "/");
	same(path_normal("/a/../../b/"), "/b");
	same(path_normal("a/.."), ".");
	same(path_normal("../a/../../b"), "../../b");
	same(path_normal(""), ".");
	same(path_normal("./a/"), "a");
	same(path_normal("..."), "...");
	same(path_normal("/..a"), "/..a");
}

static void
test_below(void **state)
{
	(void)state;
	assert_true(path_is_below("/a/b", "/a"));
	assert_true(path_is_below("/a", "/a"));
	assert_false(path_is_below("/ab", "/a"));
	assert_false(path_is_below("/a", "/a/b"));
	assert_true(path_is_below("/a", "/"));
	assert_string_equal(path_rel("/a/b/c", "/a"), "b/c");
	assert_string_equal(path_rel("/a", "/a"), "");
	assert_string_equal(path_rel("/a", "/"), "a");
	assert_null(path_rel("/b", "/a"));
}

static void
test_safe(void **state)
{
	static const char *const bad[] = { "", "/", "/a", "a/", "a//b", ".",
		"./a", "a/./b", "..", "a/..", "a/../b", ".git", "a/.GIT/config",
		".Git/x" };

	(void)state;
	assert_true(path_is_safe_rel("a"));
	assert_true(path_is_safe_rel("a/b.c"));
	assert_true(path_is_safe_rel("..a/.b/..."));
	assert_true(path_is_safe_rel(".gitignore"));
	for (size_t i = 0; i < nitems(bad); i++)
		assert_false(path_is_safe_rel(bad[i]));
}

static void
test_dirs(void **state)
{
	char *s;

	(void)state;
	setenv("HOME", "/h", 1);
	setenv("XDG_STATE_HOME", "rel", 1);
	setenv("XDG_CACHE_HOME", "/c", 1);
	unsetenv("XDG_CONFIG_HOME");
	assert_int_equal(path_state_dir(&s, NULL), 0);
	same(s, "/h/.local/state/foray");
	assert_int_equal(path_cache_dir(&s, NULL), 0);
	same(s, "/c/foray");
	assert_int_equal(path_config_dir(&s, NULL), 0);
	same(s, "/h/.config/foray");
	unsetenv("HOME");
	assert_int_equal(path_home(&s, NULL), 0);
	assert_int_equal(s[0], '/');
	free(s);
}

static void
test_mkdirs(void **state)
{
	struct err e;
	struct stat st;
	char *s = path_join(tmp, "a//b/c/"), *f;

	(void)state;
	assert_int_equal(path_mkdirs(s, 0700, &e), 0);
	assert_int_equal(path_mkdirs(s, 0700, &e), 0);
	assert_int_equal(stat(s, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	f = path_join(s, "file");
	fclose(fopen(f, "w"));
	assert_int_equal(path_mkdirs(f, 0700, &e), -ENOTDIR);
	assert_int_equal(path_mkdirs("", 0700, &e), -ENOENT);
	free(f);
	free(s);
}

static void
test_search(void **state)
{
	struct err e;
	char *s, *env;

	(void)state;
	assert_int_equal(path_search("sh", "/nowhere::/bin", &s), 0);
	same(s, "/bin/sh");
	assert_int_equal(path_search("sh", NULL, &s), 0);
	free(s);
	assert_int_equal(path_search("sh", "bin:", &s), ERR_NOTFOUND);
	assert_int_equal(path_search("", NULL, &s), ERR_NOTFOUND);
	assert_int_equal(path_search("/bin/sh", NULL, &s), 0);
	same(s, "/bin/sh");
	/* A directory is no program. */
	env = path_join(tmp, "x");
	assert_int_equal(path_mkdirs(env, 0700, NULL), 0);
	assert_int_equal(path_search("x", tmp, &s), ERR_NOTFOUND);
	free(env);
	assert_int_equal(path_program("no-such", &s, &e), ERR_NOTFOUND);
	assert_non_null(strstr(e.text, "/no-such nor "));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_safe),
		cmocka_unit_test(test_dirs),
		cmocka_unit_test(test_mkdirs),
		cmocka_unit_test(test_search),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
