/* Which files are tests, or decide how tests run. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the one above */
#include <cmocka.h>

#include "common/buf.h"
#include "sandbox/policy/guard.h"

static void
test_builtin(void **state unused_arg)
{
	static const char *const yes[] = { "tests/x.c", "a/test/b/x", "Tests/X",
		"src/__tests__/a.js", "spec/a.rb", "a_spec.rb", "lib/a.spec.ts",
		"a.test.js", "test_a.py", "a/test_a.py", "a_test.go",
		"FooTest.java", "a/FooTests.java", "conftest.py",
		"a/conftest.py", "tests.py", "test.js", "t/01.t", "pytest.ini",
		"tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py",
		"package.json", "package-lock.json", "yarn.lock",
		"jest.config.js", "vitest.config.mts", ".mocharc.yml",
		"Makefile", "sub/makefile", "GNUmakefile", "CMakeLists.txt",
		"CTestTestfile.cmake", "Cargo.toml", "go.mod", "build.gradle",
		"pom.xml", ".coveragerc", "sitecustomize.py",
		"usercustomize.py", ".github/workflows/ci.yml",
		".gitlab-ci.yml", ".ci/run", ".circleci/config.yml",
		"Jenkinsfile",
		/* by runner: node:test, jest, vitest, go, cargo, ctest */
		"test/a.mjs", "src/a.test.mjs", "jest.setup.ts", "jest.json",
		"vite.config.ts", "vitest.setup.ts", "vitest.workspace.json",
		".mocharc.json", "mocha.opts", "ava.config.js", "go.work",
		".cargo/config.toml", "tests/it.rs", "CTestCustom.cmake",
		"pytest.toml", "nose.cfg", ".env", "a/.env.test.local",
		".envrc", "Justfile", "Rakefile", ".drone.yml",
		"bitbucket-pipelines.yml", ".gitlab/ci/x.yml",
		".woodpecker/a.yml",
		/* what installers, transpilers and builders read */
		".npmrc", "a/.npmrc", ".pnpmrc", ".yarnrc.yml", ".proverc",
		".babelrc", ".babelrc.json", "babel.config.js", "bunfig.toml",
		"deno.jsonc", "node.config.json", "build.rs", "Makefile.am",
		"SConstruct", "build.sbt", "dune-project", "stack.yaml",
		".cargo/config", "x-1.dist-info/entry_points.txt",
		"lib/x.egg-info/PKG-INFO" };
	static const char *const no[] = { "src/a.c", "attest.py", "latest.js",
		"contest/a.py", "a.py", "testing.py", "spectrum/a.c",
		"inspect.py", "test", "mytests", "testimony/x.c", "README.md",
		"main.go", "src/protest.c", "a/.gitignore", "github/x",
		"sources.mk", "environment.py", "env", "requirements.txt",
		"src/lib.rs", "tsconfig.json", "vitest.md", "npmrc",
		"rebuild.rs", "dist-info/x", "a.egg-info.txt" };

	for (size_t i = 0; i < nitems(yes); i++) {
		if (!guard_is_builtin(yes[i]))
			fail_msg("%s is none", yes[i]);
	}
	for (size_t i = 0; i < nitems(no); i++) {
		if (guard_is_builtin(no[i]))
			fail_msg("%s is one", no[i]);
	}
}

static void
test_setup(void **state unused_arg)
{
	static const char *const yes[] = { "conftest.py", "tests/conftest.py",
		"pytest.py", "tests/a.pth", "sub/Makefile", "package.json",
		".github/workflows/a.yml", ".ci/test_x.py", "pytest.ini",
		"tests/sitecustomize.py" };
	static const char *const no[] = { "tests/test_a.py",
		"tests/__init__.py", "a_test.go", "tests/data/x.json",
		"src/a.c", "makefiles/a.c" };

	for (size_t i = 0; i < nitems(yes); i++) {
		if (!guard_is_setup(yes[i]) || !guard_is_builtin(yes[i]))
			fail_msg("%s is none", yes[i]);
	}
	for (size_t i = 0; i < nitems(no); i++) {
		if (guard_is_setup(no[i]))
			fail_msg("%s is one", no[i]);
	}
}

static void
test_installed(void **state unused_arg)
{
	static const char *const yes[] = { "node_modules/.bin/jest",
		"a/node_modules/x/index.js", ".venv/bin/python",
		"lib/python3/site-packages/x.py", "__pycache__/a.cpython.pyc",
		"a.pyc", ".tox/py/x" };
	static const char *const no[] = { "node_modules", "venv.py", "a.py",
		"vendor/x.go", "src/site-packages.md", "pyc" };

	for (size_t i = 0; i < nitems(yes); i++) {
		if (!guard_is_installed(yes[i]))
			fail_msg("%s is none", yes[i]);
	}
	for (size_t i = 0; i < nitems(no); i++) {
		if (guard_is_installed(no[i]))
			fail_msg("%s is one", no[i]);
	}
}

static void
expect(const char *command, const char *workdir, const char *expected)
{
	struct strv files = { 0 }, globs = { 0 }, commands = { 0 }, got = { 0 };
	struct buf b;

	buf_init(&b, 4096);
	strv_addl(&files, "app.py", "app/main.py", "bin/check.sh", "data/x y",
	    "golden/a.out", "pkg/mod.py", "pkg/self_check.py", "sub/app.py",
	    "sub/run.sh", "tests/test_a.py", (char *)NULL);
	strv_addl(&globs, "golden/**", (char *)NULL);
	strv_add(&commands, command);
	guard_select(&files, &globs, &commands, workdir, &got);
	for (size_t i = 0; i < got.n; i++) {
		if (strcmp(got.v[i], "golden/a.out") != 0 &&
		    strcmp(got.v[i], "tests/test_a.py") != 0)
			(void)buf_printf(
			    &b, "%s%s", b.len > 0 ? " " : "", got.v[i]);
	}
	if (strcmp(buf_str(&b), expected) != 0)
		fail_msg(
		    "%s: \"%s\", not \"%s\"", command, buf_str(&b), expected);
	assert_true(strv_has(&got, "golden/a.out"));
	assert_true(strv_has(&got, "tests/test_a.py"));
	buf_clear(&b);
	strv_clear(&files);
	strv_clear(&globs);
	strv_clear(&commands);
	strv_clear(&got);
}

static void
test_commands(void **state unused_arg)
{
	expect("cc -o t pkg/self_check.py app.py && ./t; python3 app/main.py",
	    "", "app/main.py pkg/self_check.py");
	expect("python3 cc app.py", "", "app.py");
	expect("true", "", "");
	expect("python3 app.py", "", "app.py");
	expect("python3 ./app.py --fast", "", "app.py");
	expect("python3 app.py", "sub", "sub/app.py");
	expect("python3 ../app.py", "sub", "app.py");
	expect("cd sub && ./run.sh", "", "");
	expect(
	    "sh sub/run.sh;bin/check.sh|tee x", "", "bin/check.sh sub/run.sh");
	expect("(bin/check.sh)>log", "", "bin/check.sh");
	expect("X=\"bin/check.sh\" sh -c '$X'", "", "bin/check.sh");
	expect("run --script=bin/check.sh", "", "bin/check.sh");
	expect("pytest app.py::test_x tests/", "", "app.py");
	expect("python3 -m pkg.mod", "", "");
	expect("python3 -m pkg.self_check", "", "pkg/self_check.py");
	expect("python3 -m unittest pkg.mod", "", "pkg/mod.py");
	expect("python3 -m unittest pkg.mod.TestX.test_y", "", "pkg/mod.py");
	expect("pytest --cov=app --cov=pkg.mod", "", "");
	expect("python3 /app.py ../../app.py", "", "");
	expect("", "", "");
}

/* What a person may write for --protect, and what it then covers. */
static void
test_globs(void **state unused_arg)
{
	static const struct {
		const char *given;
		bool a, sql; /* src/a.py, db/1.sql; both false: an error */
	} rows[] = {
		{ "src", true, false },
		{ "src/", true, false },
		{ "./src/a.py", true, false },
		{ "/src/**", true, false },
		{ "/home/p/src", true, false },
		{ "a.py", true, false },
		{ "**/*.sql", false, true },
		{ "*.sql", false, true },
		{ ".", true, true },
		{ "/home/p", true, true },
		{ "srcc/**", false, false },
		{ "", false, false },
		{ "[", false, false },
		{ "!src", false, false },
		{ "../p/src", false, false },
		{ "/etc", false, false },
	};
	struct strv files = { 0 }, given = { 0 }, globs = { 0 }, got = { 0 };
	struct err e;
	int r;

	strv_addl(&files, "src/a.py", "db/1.sql", (char *)NULL);
	for (size_t i = 0; i < nitems(rows); i++) {
		strv_clear(&given);
		strv_clear(&globs);
		strv_add(&given, rows[i].given);
		r = guard_globs(
		    "--protect", &given, "/home/p", &files, &globs, &e);
		if ((r == 0) != (rows[i].a || rows[i].sql))
			fail_msg("%s: %d", rows[i].given, r);
		if (r < 0) {
			assert_int_equal(r, ERR_USAGE);
			assert_non_null(strstr(e.text, rows[i].given));
			continue;
		}
		guard_select(&files, &globs, NULL, "", &got);
		if (strv_has(&got, "src/a.py") != rows[i].a ||
		    strv_has(&got, "db/1.sql") != rows[i].sql)
			fail_msg("%s", rows[i].given);
	}
	strv_clear(&files);
	strv_clear(&given);
	strv_clear(&globs);
	strv_clear(&got);
}

/* What --unprotect frees; --protect is stronger. */
static void
test_freed(void **state unused_arg)
{
	struct strv globs = { 0 }, keep = { 0 }, all = { 0 }, freed = { 0 };

	strv_addl(&all, "Makefile", "a/t.c", "a/u.c", (char *)NULL);
	guard_free(&globs, &keep, &all, &freed);
	assert_int_equal(all.n, 3);
	assert_int_equal(freed.n, 0);
	strv_add(&globs, "a/**");
	strv_add(&keep, "u.c");
	guard_free(&globs, &keep, &all, &freed);
	assert_int_equal(all.n, 2);
	assert_true(strv_has(&all, "Makefile") && strv_has(&all, "a/u.c"));
	assert_int_equal(freed.n, 1);
	assert_string_equal(freed.v[0], "a/t.c");
	strv_clear(&globs);
	strv_clear(&keep);
	strv_clear(&all);
	strv_clear(&freed);
}

static void
test_nothing(void **state unused_arg)
{
	struct strv none = { 0 }, got = { 0 };

	guard_select(&none, NULL, NULL, NULL, &got);
	assert_int_equal(got.n, 0);
	strv_clear(&got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_setup), cmocka_unit_test(test_installed),
		cmocka_unit_test(test_commands), cmocka_unit_test(test_globs),
		cmocka_unit_test(test_freed), cmocka_unit_test(test_nothing) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
