#include "common/compat.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/fdio.h"
#include "common/json.h"
#include "common/path.h"
#include "common/text.h"
#include "orchestrator/run/detect.h"

#define MAX_FILE (1u << 20)
#define TESTS_READ 20

/* The text of a file of the tree; "" when it is not there. */
static char *
slurp(const char *dir, const struct strv *files, const char *name)
{
	char *path, *text;
	struct buf b;

	buf_init(&b, MAX_FILE);
	if (strv_has(files, name)) {
		path = path_join(dir, name);
		(void)file_read(path, true, &b, NULL);
		free(path);
	}
	text = buf_detach(&b, NULL);
	return text;
}

static bool
mentions(const char *dir, const struct strv *files, const char *name,
    const char *word)
{
	char *text = slurp(dir, files, name);
	bool r = text != NULL && strstr(text, word) != NULL;

	free(text);
	return r;
}

static bool
any(const struct strv *files, const char *glob, bool (*also)(const char *))
{
	size_t i;

	for (i = 0; i < files->n; i++)
		if (text_glob(glob, files->v[i]) &&
		    (also == NULL || also(files->v[i])))
			return true;
	return false;
}

static bool
no_hidden(const char *path)
{
	return path[0] != '.' && strstr(path, "/.") == NULL &&
	    strstr(path, "node_modules/") == NULL;
}

static const char *
python(const struct strv *files)
{
	static const char *const venv[] = { ".venv", "venv", "env" };
	static char path[64];
	size_t i;

	for (i = 0; i < nitems(venv); i++) {
		(void)strlcpy(path, venv[i], sizeof path);
		(void)strlcat(path, "/bin/python", sizeof path);
		if (strv_has(files, path))
			return path;
	}
	return "python3";
}

/* Tests that are functions, or that import pytest, are nothing to unittest. */
static const char *
looks_pytest(const char *dir, const struct strv *files)
{
	size_t i, n = 0;

	for (i = 0; i < files->n && n < TESTS_READ; i++) {
		const char *f = files->v[i];

		if (!no_hidden(f) ||
		    (!text_glob("test_*.py", f) && !text_glob("*_test.py", f)))
			continue;
		n++;
		if (mentions(dir, files, f, "import pytest") ||
		    mentions(dir, files, f, "from pytest"))
			return "a test file that imports pytest";
		if (mentions(dir, files, f, "\ndef test_"))
			return "tests that are functions";
	}
	return NULL;
}

/* What says that the tests are for pytest; NULL: nothing does. Static. */
static const char *
wants_pytest(const char *dir, const struct strv *files)
{
	static const char *const named[] = { "pyproject.toml", "setup.cfg",
		"tox.ini", "requirements.txt", "requirements-dev.txt" };
	static const char *const why[] = { "pytest in pyproject.toml",
		"pytest in setup.cfg", "pytest in tox.ini",
		"pytest in requirements.txt",
		"pytest in requirements-dev.txt" };

	if (strv_has(files, "pytest.ini"))
		return "pytest.ini";
	if (any(files, "conftest.py", no_hidden))
		return "conftest.py";
	for (size_t i = 0; i < nitems(named); i++)
		if (mentions(dir, files, named[i], "pytest"))
			return why[i];
	return looks_pytest(dir, files);
}

static bool
has_npm_test(const char *dir, const struct strv *files)
{
	char *text = slurp(dir, files, "package.json");
	json_t *j = NULL;
	const char *cmd = NULL;
	bool r = false;

	if (text != NULL &&
	    json_parse(text, strlen(text), MAX_FILE, &j, NULL) == 0) {
		cmd = json_string_value(
		    json_object_get(json_object_get(j, "scripts"), "test"));
		r = cmd != NULL && strstr(cmd, "no test specified") == NULL;
	}
	json_decref(j);
	free(text);
	return r;
}

/* A rule "name:" at the start of a line of the first make file there is. */
static bool
has_rule(const char *dir, const struct strv *files, const char *name)
{
	static const char *const make[] = { "GNUmakefile", "makefile",
		"Makefile" };
	char *text = NULL;
	const char *p;
	size_t i, len = strlen(name);
	bool r = false;

	for (i = 0; i < nitems(make) && text == NULL; i++)
		if (strv_has(files, make[i]))
			text = slurp(dir, files, make[i]);
	for (p = text; p != NULL && !r; p = strchr(p, '\n')) {
		if (*p == '\n')
			p++;
		if (strncmp(p, name, len) == 0) {
			const char *q = p + len + strspn(p + len, " \t");

			r = *q == ':' && q[1] != '=';
		}
	}
	free(text);
	return r;
}

/* What node --test finds by itself. */
static bool
has_node_tests(const struct strv *files)
{
	static const char *const globs[] = { "*.test.js", "*.test.cjs",
		"*.test.mjs", "*_test.js", "*-test.js", "*_test.mjs",
		"*-test.mjs", "test/*.js", "test/*.cjs", "test/*.mjs",
		"*/test/*.js", "*/test/*.cjs", "*/test/*.mjs", "test-*.js",
		"test.js" };
	size_t i;

	for (i = 0; i < nitems(globs); i++)
		if (any(files, globs[i], no_hidden))
			return true;
	return false;
}

static int
found(struct strv *ret, const char **ret_why, const char *why,
    const char *first, const char *rest)
{
	strv_addf(ret, "%s%s", first, rest);
	*ret_why = why;
	return 0;
}

int
detect_tests(const char *dir, const char *name, const struct strv *files,
    struct strv *ret, const char **ret_why, struct err *e)
{
	bool py = any(files, "test_*.py", no_hidden) ||
	    any(files, "*_test.py", no_hidden);
	const char *why;

	if (py && (why = wants_pytest(dir, files)) != NULL)
		return found(ret, ret_why, why, python(files), " -m pytest -v");
	/* Without __init__.py the directory of the tests is itself the top. */
	if (any(files, "tests/test_*.py", NULL) &&
	    !strv_has(files, "tests/__init__.py"))
		return found(ret, ret_why, "test_*.py files", python(files),
		    " -m unittest discover -v -s tests");
	if (any(files, "test/test_*.py", NULL) &&
	    !strv_has(files, "test/__init__.py"))
		return found(ret, ret_why, "test_*.py files", python(files),
		    " -m unittest discover -v -s test");
	if (any(files, "test_*.py", no_hidden))
		return found(ret, ret_why, "test_*.py files", python(files),
		    " -m unittest discover -v");
	if (has_rule(dir, files, "test"))
		return found(ret, ret_why, "a make rule", "make test", "");
	if (has_rule(dir, files, "check"))
		return found(ret, ret_why, "a make rule", "make check", "");
	if (has_npm_test(dir, files))
		return found(
		    ret, ret_why, "package.json", "npm test --silent", "");
	if (strv_has(files, "package.json") &&
	    any(files, "*.test.*js", no_hidden))
		return found(
		    ret, ret_why, "*.test.js files", "node --test", "");
	if (strv_has(files, "go.mod") && any(files, "*_test.go", no_hidden))
		return found(ret, ret_why, "go.mod", "go test -v ./...", "");
	if (strv_has(files, "Cargo.toml"))
		return found(ret, ret_why, "Cargo.toml", "cargo test", "");
	if (strv_has(files, "build/CTestTestfile.cmake"))
		return found(ret, ret_why, "a configured build",
		    "ctest --test-dir build --output-on-failure", "");
	if (has_node_tests(files))
		return found(
		    ret, ret_why, "files that it runs", "node --test", "");
	return err_set(e, ERR_NOTFOUND,
	    "no tests found in %s (looked for pytest, unittest, make test or "
	    "check, npm test, node --test, go test, cargo test, ctest): give "
	    "the command with -t",
	    name);
}
