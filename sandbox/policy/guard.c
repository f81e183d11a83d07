/* guard.c - see guard.h. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "sandbox/policy/guard.h"

/* Names of directories; without regard to case. */
static const char *const dirs[] = { "test", "tests", "__tests__", "spec",
	"specs", "unittest", "pytest", "_pytest", "testdata", "test-data",
	"test_data", "golden", "goldens", "fixtures", "__fixtures__",
	"__snapshots__", "__mocks__" };

/* Patterns of the last component: tests ... */
static const char *const tests[] = { "test.*", "tests.*", "test_*.*",
	"*_test.*", "*_tests.*", "*.test.*", "*.tests.*", "*_spec.*",
	"*.spec.*", "*-test.*", "*-spec.*", "*Test.java", "*Tests.java",
	"*Test.kt", "*Tests.kt", "*Test.scala", "*Spec.scala", "*Spec.groovy",
	"*Test.php", "*Tests.cs", "*Test.cs", "*Tests.swift", "*Spec.hs", "*.t",
	"*.bats" };

/* ... what their runners load unasked, or what would stand before them ... */
static const char *const loaded[] = { "conftest.py", "unittest.py", "pytest.py",
	"*.pth", ".env", ".env.test*", ".envrc" };

/* ... what configures their runners, builds what they need ... */
static const char *const config[] = { "pytest.ini", ".pytest.ini", "tox.ini",
	"setup.cfg", "pyproject.toml", "noxfile.py", "package.json",
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock",
	"pnpm-lock.yaml", "jest.config.*", "jest.setup.*", "vitest.config.*",
	"vitest.workspace.*", "karma.conf.*", "playwright.config.*",
	"cypress.config.*", ".mocharc*", ".nycrc*", "Makefile", "makefile",
	"vite.config.*", "vitest.setup.*", "jest.json", ".jestrc*",
	"mocha.opts", "ava.config.*", "jasmine.json", "nose.cfg", ".noserc",
	"pytest.toml", ".pytest.toml", "CTestConfig.cmake", "CTestCustom.cmake",
	"Justfile", "justfile", "Taskfile.y*ml", "Rakefile",
	"bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml",
	".appveyor.yml", "GNUmakefile", "CMakeLists.txt", "CTestTestfile.cmake",
	"CMakePresets.json", "meson.build", "Cargo.toml", "go.mod", "go.work",
	"build.gradle", "build.gradle.kts", "settings.gradle",
	"settings.gradle.kts", "pom.xml", "phpunit.xml*", ".rspec",
	".coveragerc", "sitecustomize.py", "usercustomize.py", "Jenkinsfile",
	".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", ".npmrc",
	".pnpmrc", ".yarnrc*", ".proverc", ".babelrc*", "babel.config.*",
	".swcrc", "bunfig.toml", "deno.json*", "node.config.json", "build.rs",
	"Makefile.am", "Makefile.in", "configure.ac", "SConstruct",
	"SConscript", "build.sbt", "dune-project", "stack.yaml",
	"cabal.project*", "build.zig", "BUILD.bazel", "WORKSPACE", "mix.exs" };

/* What a build makes of tests is none. */
static const char *const made[] = { "*.o", "*.obj", "*.a", "*.so", "*.so.*",
	"*.lo", "*.la", "*.d", "*.pyc", "*.pyo", "*.class", "*.gcda", "*.gcno",
	"*.gcov", "*.exe", "*.out", "*.log", "*.trs", "*.tmp", "*.cache" };

/* ... and whole directories that do. */
static const char *const config_dirs[] = { ".github", ".ci", ".gitlab",
	".circleci", ".woodpecker", ".cargo", ".buildkite",
	".foray" /* rules for workers, too */ };

/* Ends of such names: plugins are found by what is in there. */
static const char *const config_ends[] = { ".dist-info", ".egg-info" };

/* What belongs to an installer or an interpreter. */
static const char *const installed[] = { "node_modules", "site-packages",
	"dist-packages", ".venv", ".tox", ".nox", "__pycache__" };
static const char *const bytecode[] = { "*.pyc", "*.pyo" };

static bool
any_glob(const char *const *globs, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (text_glob(globs[i], name))
			return true;
	}
	return false;
}

static bool
is_one_of(const char *const *names, size_t n, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strlen(names[i]) == len &&
		    strncasecmp(names[i], s, len) == 0)
			return true;
	}
	return false;
}

/* Does a directory on the way have one of these names? */
static bool
is_in(const char *path, const char *const *names, size_t n)
{
	const char *s = path, *slash;

	for (; (slash = strchr(s, '/')) != NULL; s = slash + 1) {
		if (is_one_of(names, n, s, (size_t)(slash - s)))
			return true;
	}
	return false;
}

/* Does the name of a directory on the way end so? */
static bool
is_in_ends(const char *path, const char *const *ends, size_t n)
{
	const char *s = path, *slash;
	size_t i, len;

	for (; (slash = strchr(s, '/')) != NULL; s = slash + 1) {
		for (i = 0; i < n; i++) {
			len = strlen(ends[i]);
			if ((size_t)(slash - s) >= len &&
			    strncasecmp(slash - len, ends[i], len) == 0)
				return true;
		}
	}
	return false;
}

bool
guard_is_setup(const char *path)
{
	const char *name = path_base(path);

	return is_in(path, config_dirs, nitems(config_dirs)) ||
	    is_in_ends(path, config_ends, nitems(config_ends)) ||
	    any_glob(loaded, nitems(loaded), name) ||
	    any_glob(config, nitems(config), name);
}

bool
guard_is_installed(const char *path)
{
	return is_in(path, installed, nitems(installed)) ||
	    any_glob(bytecode, nitems(bytecode), path_base(path));
}

bool
guard_is_builtin(const char *path)
{
	const char *name = path_base(path);

	if (any_glob(made, nitems(made), name))
		return false;
	return is_in(path, dirs, nitems(dirs)) || guard_is_setup(path) ||
	    any_glob(tests, nitems(tests), name);
}

/* --- words of commands
 * -------------------------------------------------------- */

struct words {
	const struct strv *files; /* sorted */
	const char *workdir;
	struct strv *ret;
	bool tests; /* the command runs a test runner that takes modules */
};

static int
str_cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
is_file(const struct words *w, const char *path)
{
	return w->files->n > 0 &&
	    bsearch(&path, w->files->v, w->files->n, sizeof *w->files->v,
		str_cmp) != NULL;
}

/* A path as the command's working directory sees it; false: no file of ours. */
static bool
add_path(const struct words *w, const char *word)
{
	char *joined, *clean;
	bool found;

	joined =
	    w->workdir[0] != '\0' ? path_join(w->workdir, word) : xstrdup(word);
	clean = path_normal(joined);
	found = word[0] != '/' && is_file(w, clean);
	if (found)
		strv_add(w->ret, clean);
	free(joined);
	free(clean);
	return found;
}

static bool
has_word(const char *name, const char *part)
{
	size_t n = strlen(part);

	for (; *name != '\0'; name++) {
		if (strncasecmp(name, part, n) == 0)
			return true;
	}
	return false;
}

static bool
is_testlike(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name != NULL ? name + 1 : path;
	return guard_is_builtin(path) || has_word(name, "test") ||
	    has_word(name, "spec") || has_word(name, "check");
}

/* "pkg.mod" or "pkg.mod.Class.test_x": the longest module that is a file. */
static void
add_module(const struct words *w, const char *word)
{
	char *path = xstrdup(word), *file, *s;
	size_t n = strlen(path);
	bool found = false;

	if (strspn(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_.") != n)
		n = 0;
	for (s = path; *s != '\0'; s++) {
		if (*s == '.')
			*s = '/';
	}
	while (n > 0 && !found) {
		path[n] = '\0';
		file = xasprintf("%s.py", path);
		if (w->tests || is_testlike(file))
			found = add_path(w, file);
		free(file);
		while (n > 0 && path[n] != '/')
			n--;
	}
	free(path);
}

static void
add_word(const struct words *w, const char *word, bool is_value)
{
	char *path, *colon;

	if (add_path(w, word))
		return;
	/* file::test of pytest, file:12 of others */
	colon = strchr(word, ':');
	if (colon != NULL && colon > word) {
		path = xstrndup(word, (size_t)(colon - word));
		(void)add_path(w, path);
		free(path);
		return;
	}
	/* --cov=app measures app, it is no test. */
	if (!is_value)
		add_module(w, word);
}

static bool
is_module_runner(const char *word)
{
	static const char *const runners[] = { "unittest", "nose2", "trial",
		"green" };

	return is_one_of(runners, nitems(runners), word, strlen(word));
}

/* What it is given is built, and perhaps what is tested. */
static bool
is_compiler(const char *word)
{
	static const char *const compilers[] = { "cc", "gcc", "clang", "c++",
		"g++", "clang++", "rustc", "javac", "tsc" };

	return is_one_of(compilers, nitems(compilers), word, strlen(word));
}

static void
add_command(struct words *w, const char *command)
{
	static const char between[] = " \t\r\n;|&()<>{}$`\"'=,!";
	const char *s = command, *gap = command;
	bool compiles = false;
	char *word;
	size_t n;

	w->tests = false;
	for (s += strspn(s, between); *s != '\0'; s += strspn(s, between)) {
		n = strcspn(s, between);
		word = xstrndup(s, n);
		if (gap == command || strcspn(gap, "\n;|&") < (size_t)(s - gap))
			compiles = is_compiler(word);
		gap = s + n;
		if (is_module_runner(word))
			w->tests = true;
		else if (!compiles || is_testlike(word))
			add_word(w, word, s > command && s[-1] == '=');
		free(word);
		s += n;
	}
}

static bool
matches_any(const char *glob, const struct strv *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (any_glob(&glob, 1, files->v[i]))
			return true;
	return false;
}

static int
one_glob(const char *option, const char *given, const char *root,
    const struct strv *files, struct strv *ret, struct err *e)
{
	const char *rel = given[0] == '/' ? path_rel(given, root) : given;
	char *glob, *below;
	bool found;
	size_t n;

	rel = rel != NULL ? rel : given;
	while (*rel == '/' || (rel[0] == '.' && rel[1] == '/'))
		rel++;
	for (n = strlen(rel); n > 0 && rel[n - 1] == '/'; n--)
		continue;
	if (n == 1 && rel[0] == '.')
		n = 0;
	/* The root itself is all of it. */
	glob = n == 0 ? xstrdup("**") : xstrndup(rel, n);
	below = path_join(glob, "**");
	found = *given != '\0' &&
	    (matches_any(glob, files) || matches_any(below, files));
	if (found) {
		strv_add(ret, glob);
		strv_add(ret, below);
	}
	free(glob);
	free(below);
	return found ? 0
		     : err_set(e, ERR_USAGE,
			   "%s '%.200s' matches no file of the tree "
			   "(for example: src/calc.py, src, **/*.sql)",
			   option, given);
}

int
guard_globs(const char *option, const struct strv *given, const char *root,
    const struct strv *files, struct strv *ret, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < given->n && r == 0; i++)
		r = one_glob(option, given->v[i], root, files, ret, e);
	return r;
}

void
guard_select(const struct strv *files, const struct strv *globs,
    const struct strv *commands, const char *workdir, struct strv *ret)
{
	struct strv all = { 0 };
	struct words w = { .files = files,
		.workdir = workdir != NULL ? workdir : "",
		.ret = &all };
	size_t i;

	for (i = 0; i < files->n; i++) {
		if (guard_is_builtin(files->v[i]) ||
		    (globs != NULL &&
			any_glob((const char *const *)globs->v, globs->n,
			    files->v[i])))
			strv_add(&all, files->v[i]);
	}
	for (i = 0; commands != NULL && i < commands->n; i++)
		add_command(&w, commands->v[i]);
	strv_clear(ret);
	strv_sort(&all);
	for (i = 0; i < all.n; i++) {
		if (i == 0 || strcmp(all.v[i], all.v[i - 1]) != 0)
			strv_add(ret, all.v[i]);
	}
	strv_clear(&all);
}

void
guard_free(const struct strv *globs, const struct strv *keep,
    struct strv *guarded, struct strv *ret)
{
	struct strv left = { 0 };
	size_t i;

	strv_clear(ret);
	for (i = 0; i < guarded->n; i++) {
		const char *path = guarded->v[i];
		bool freed =
		    any_glob((const char *const *)globs->v, globs->n, path) &&
		    !any_glob((const char *const *)keep->v, keep->n, path);

		strv_add(freed ? ret : &left, path);
	}
	strv_copy(guarded, &left);
	strv_clear(&left);
}
