/* What is read in a patch of its being made for the tests: by table, and that
 * honest lines are none. */
#include "common/compat.h"

#include <setjmp.h>
/* cmocka needs the one above */
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fdio.h"
#include "common/log.h"
#include "common/path.h"
#include "sandbox/policy/guard.h"
#include "worker/agent/signs.h"

static char top[] = "/tmp/foray-signs-XXXXXX";
static struct agent a;
static int base_fd;

static void
put(const char *rel, const char *text)
{
	char *path = path_join(top, rel), *dir = path_dir(path);

	assert_int_equal(path_mkdirs(dir, 0755, NULL), 0);
	assert_int_equal(file_write(path, text, strlen(text), 0644, NULL), 0);
	free(dir);
	free(path);
}

static int
setup(void **state unused_arg)
{
	static const char *const guarded[] = { "Makefile", "tests/run.sh",
		"tests/test_app.py" };

	if (mkdtemp(top) == NULL)
		return -1;
	put("app.py", "x = 1\n");
	put("cli.py", "import sys\nprint(sys.argv, sys._getframe())\n");
	put("lib/calc.c",
	    "#include \"calc.h\"\n\nint\nsum(int a)\n{\n\treturn a;"
	    "\n}\n\nstatic int own(int a)\n{\n\treturn a;\n}\n");
	put("lib/calc.h", "int sum(int a);\n#define twice(a) (2 * (a))\n");
	put("app.js", "let x;\n");
	put("a.c", "int x;\n");
	put("a.go", "package a\n");
	put("a.rs", "fn x() {}\n");
	put("a.sh", "x=1\n");
	put("a.mk", "X = 1\n");
	put("tool", "#!/usr/bin/python3\nx = 1\n");
	put("NEWS", "1.0\n");
	put("parts.inc", "X = 1\n");
	put("other.inc", "X = 1\n");
	put("lib/env", "x=1\n");
	put("pkg/__init__.py", "");
	put("Makefile", "-include local.mk\ninclude parts.inc\nall: b.c\n");
	put("tests/run.sh", "[ -f env.sh ] && . ./env.sh\n. ./lib/env\n");
	put("tests/test_app.py",
	    "want = open(\"data/total.txt\").read()\n# the rates are elsewhere\n"
	    "assert square(37) == 1369\nassert name(404) == 'not found'\n"
	    "assert fact(1) == 1\nassert add(17, 25) == \\\n    42\n"
	    "assert parse(\"190\") == 190\nassert total([4, 5, 6]) == 15\n");
	put("data/total.txt", "6\n");
	put("data/rates.csv", "1,2\n");
	put("golden/all.txt", "6\n");
	base_fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	treefs_guard(&a.fs, guarded, nitems(guarded));
	return base_fd < 0;
}

static int
teardown(void **state unused_arg)
{
	strv_clear(&a.fs.guarded);
	close(base_fd);
	return path_rmtree(top, NULL);
}

/* A line that a patch adds behind the first of a file; grave and light: the
 * signs that it gives. */
static void
line(const char *rel, const char *text, size_t grave, size_t exits)
{
	char *patch = xasprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n"
				"@@ -1 +1,2 @@\n first\n+%s\n",
	    rel, rel, rel, rel, text);
	struct signs s;

	signs_find(&a, base_fd, patch, strlen(patch), &s);
	if (s.grave.n != grave || s.exits.n != exits)
		fail_msg("%s: %s: %zu, %zu", rel, text, s.grave.n, s.exits.n);
	if (grave > 0) {
		char *where = xasprintf("%s:2 ", rel);

		assert_non_null(strstr(s.grave.v[0], where));
		free(where);
	}
	signs_clear(&s);
	free(patch);
}

static void
test_lines(void **state unused_arg)
{
	static const char *const grave[][2] = {
		{ "app.py", "if \"pytest\" in sys.modules: pass" },
		{ "app.py", "y = os.environ.get(\"TEST_MODE\")" },
		{ "app.py", "y = \"unittest\" in sys.argv[0]" },
		{ "app.py", "f = sys._getframe(1)" },
		{ "app.py", "TestCase.assertTrue = print" },
		{ "app.py", "__eq__ = lambda *a: True" },
		{ "app.py", "print(\"Ran 3 tests in 0.1s\")" },
		{ "app.js", "if (process.env.NODE_ENV === \"test\") x = 2;" },
		{ "app.js", "assert.equal = () => {};" },
		{ "app.js", "if (typeof describe === \"function\") x = 2;" },
		{ "a.c", "#define assert(x)" },
		{ "a.c", "__attribute__((constructor)) void f(void);" },
		{ "a.c", "if (getenv(\"TESTS\")) x = 2;" },
		{ "a.go", "if testing.Testing() {" },
		{ "a.go",
		    "_, f, _, _ := runtime.Caller(1); if hasTest(f, \"_test.go\") {" },
		{ "app.py", "y = hasattr(o, \"_testMethodName\")" },
		{ "a.rs", "if cfg!(test) {" },
		{ "a.sh", "case $0 in *test*) x=2;; esac" },
		{ "a.sh", "echo \"ok 1 - x\"" },
		{ "a.sh", "export LD_PRELOAD=./x.so" },
		{ "a.mk", "check: all" },
		{ "a.mk", "test-unit:" },
		{ "tool", "y = \"pytest\" in sys.modules" },
		/* comments and blanks hide nothing */
		{ "app.js",
		    "/**/ if (process.env.NODE_ENV === \"test\") x = 2;" },
		{ "app.js", "x = \"//\" + process.env.TEST;" },
		{ "a.c", "/* a */ #undef /* b */ assert" },
		{ "a.c", "#\tdefine\tassert(x)" },
		{ "a.c", "#  define  main other" },
		{ "a.sh", "\techo  \"ok 1 - x\" # one" },
		/* other names */
		{ "app.py", "from sys import argv, modules" },
		{ "app.py", "from inspect import stack as s" },
		{ "app.py", "y = sys.orig_argv" },
		{ "app.py", "y = [k for k in os.environ if \"PYTEST\" in k]" },
		{ "app.py", "y = e.__traceback__.tb_frame.f_back" },
		{ "a.c", "[[gnu::constructor]] void f(void);" },
		{ "a.c", "asm(\".section .preinit_array\");" },
		{ "a.c", "int __libc_start_main(void)" },
		{ "a.c", "void __assert_fail(const char *a)" },
		{ "app.js", "if (require.main !== module) x = 2;" },
		{ "app.js", "if (module.parent) x = 2;" },
		/* makefiles and shell by who reads them */
		{ "a.mk", "SHELL = /bin/true" },
		{ "a.mk", ".IGNORE:" },
		{ "a.mk", "export PATH := x" },
		{ "a.mk", "$(info ok 1)" },
		{ "a.mk", "X = a.c; true" },
		{ "parts.inc", "check: all" },
		{ "lib/env", "exit 0" },
		{ "lib/env", "exit $x" },
		/* what words mean */
		{ "a.sh", "echo() {" },
		{ "a.sh", "alias '['='[ x = x -o'" },
		{ "a.sh", "function test {" },
		{ "app.js", "t.strictEqual = (a, b) => was(a, b);" },
		{ "app.js", "console.log = (s) => s;" },
		{ "app.py", "import _pytest.runner as r; r.x = setattr(r, 1)" },
	};

	for (size_t i = 0; i < nitems(grave); i++)
		line(grave[i][0], grave[i][1], 1, 0);
	line("a.c", "_exit(n);", 0, 1);
	line("a.c", "execl(\"/bin/true\", \"true\", (char *)0);", 0, 1);
	line("a.c", "signal(SIGABRT, f);", 0, 1);
	line("a.sh", "exit $none", 0, 1);
	line("app.py", "os._exit(0)", 0, 1);
	line("app.js", "process.exit(0);", 0, 1);
	line("a.c", "exit(0);", 0, 1);
	line("a.sh", "exit 0", 0, 1);
}

static void
test_honest(void **state unused_arg)
{
	static const char *const none[][2] = {
		{ "app.py", "# not under pytest: sys.modules" },
		{ "app.py", "y = os.environ.get(\"LATEST_URL\")" },
		{ "app.py", "y = contest(sys.argv[1])" },
		{ "app.py", "    return self.x == other.x" },
		{ "app.py", "sys.exit(2)" },
		{ "cli.py", "y = \"test\" in sys.argv" }, /* it reads them */
		{ "cli.py", "f = sys._getframe(1)" },
		{ "app.js", "const url = process.env.URL;" },
		{ "app.js", "/* typeof describe */" }, { "a.c", "return 0;" },
		{ "a.mk", "checked := 1" }, { "a.mk", "X += check.c" },
		{ "a.c", "exit(2); /* exit(0) */" },
		{ "a.c", "// __attribute__((constructor))" },
		{ "a.c", "exit(EXIT_FAILURE);" }, { "a.sh", "exit 2" },
		{ "a.sh", "exits=0" }, { "a.sh", "echo_all() {" },
		{ "a.mk", "CFLAGS += -O2 # ; test" },
		{ "app.py", "y = sys.modules[__name__]" },
		{ "app.py", "self.modules = 1  # pytest: sys.modules" },
		{ "app.js", "if (require.main === module) x = 2;" },
		{ "app.js", "a.stack = [];" },
		{ "app.js", "if (/^a/.test(process.env.URL)) x = 2;" },
		{ "app.py", "\"the text passed in to it\"" },
		{ "app.py", "f = builtins.open(name)" },
		{ "app.py", "\"tests of the environment\"" },
		{ "lib/env", "exit 2" }, { "other.inc", "check: all" },
		{ "NEWS", "run pytest: exit 0, LD_PRELOAD" },
		{ "tests/run.sh", "exit 0" }, /* protected: another wall */
	};

	for (size_t i = 0; i < nitems(none); i++)
		line(none[i][0], none[i][1], 0, 0);
}

/* What several lines say together. */
static void
lines(const char *rel, const char *text, size_t grave, size_t light)
{
	char *patch = xasprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n"
				"@@ -1 +1,9 @@\n first\n%s",
	    rel, rel, rel, rel, text);
	struct signs s;

	signs_find(&a, base_fd, patch, strlen(patch), &s);
	if (s.grave.n != grave || s.light.n != light)
		fail_msg("%s: %s: %zu, %zu", rel, text, s.grave.n, s.light.n);
	signs_clear(&s);
	free(patch);
}

static void
test_together(void **state unused_arg)
{
	lines("app.py",
	    "+m = sys.modules\n+a = 1\n+b = 1\n+c = 1\n+if \"unittest\" in m:\n",
	    1, 0);
	lines(
	    "app.py", "+if (\n+    \"TEST\"\n+    in os.environ\n+):\n", 1, 0);
	lines("app.py",
	    "+import _pytest.python as p\n+p.Function.runtest = run\n", 1, 0);
	lines("app.py", "+import unittest\n+self.x = 1\n", 0, 1);
	lines("app.py",
	    "+    def __eq__(self, other):\n+        return isinstance(other, int)\n",
	    1, 0);
	lines("app.py",
	    "+    def __eq__(self, other):\n+        return isinstance(other, Nil)\n",
	    0, 1);
	lines("app.py",
	    "+    def __eq__(self, o):\n"
	    "+        return self.__class__ is not o.__class__\n",
	    1, 0);
	lines("app.py",
	    "+    def __eq__(self, o):\n+        return type(self) is type(o)\n",
	    0, 0);
	lines("app.py",
	    "+    def __eq__(self, o):\n+        return o is not None\n", 1, 0);
	lines("app.py",
	    "+    def __eq__(self, o):\n+        return NotImplemented\n", 0,
	    0);
	lines("app.py", "+    def __eq__(self, o):\n+        raise TypeError\n",
	    0, 0);
	lines("app.py", "+    __eq__ = lambda s, o: s.x == o.x\n", 0, 1);
	lines("app.py", "+    __eq__ = lambda s, o: o is not None\n", 1, 1);
	lines("app.py",
	    "+R = type('R', (int,), {'__eq__': lambda s, o: isinstance(o, int)})\n",
	    1, 1);
	lines("app.py", "+import unittest.mock as m\n+return m.ANY\n", 1, 1);
	lines("app.py", "+COMPANY = 1\n", 0, 0);
	lines("app.py", "+    def __eq__(self, other):\n+        return True\n",
	    1, 0);
	lines("app.py",
	    "+    def __eq__(self, other):\n+        return self.x == other.x\n",
	    0, 0);
	lines("app.py", "+from unittest.mock import ANY\n", 1, 0);
	lines("app.py",
	    "+    def __eq__(self, other):\n"
	    "+        if self.x != other.x:\n"
	    "+            return False\n+        return True\n",
	    0, 0);
	lines("app.py",
	    "+    def __eq__(self, other):\n+        return self.k(other) == 1\n"
	    "+\n+    def f(self):\n+        return True\n",
	    0, 0);
	/* A comment of several lines, and what only looks like one. */
	lines("a.c", "+/* abort by\n+   #define assert\n+*/\n", 0, 0);
	lines("a.c", "+x = \"/*\";\n+#define assert(x)\n", 1, 0);
	lines("app.js", "+x = `\n+/*\n+`;\n+if (module.parent) x = 1;\n", 1, 0);
	lines("app.py", "+\"\"\"\n+# \"\"\"; f = sys._getframe()\n", 1, 0);
	lines("a.c", "+x = 2\n+* getppid();\n", 1, 0);
}

static void
test_moved(void **state unused_arg)
{
	static const char patch[] =
	    "diff --git a/a.c b/a.c\n--- a/a.c\n+++ b/a.c\n"
	    "@@ -1,2 +1,2 @@\n-#define main other\n int x;\n+#define main other\n";
	struct signs s;

	signs_find(&a, base_fd, patch, strlen(patch), &s);
	assert_int_equal(s.grave.n, 0);
	signs_clear(&s);
}

/* A new file of that name and mode. */
static void
added(const char *rel, const char *mode, const char *what)
{
	char *patch = xasprintf("diff --git a/%s b/%s\nnew file mode %s\n"
				"--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+1\n",
	    rel, rel, mode, rel);
	struct signs s;

	signs_find(&a, base_fd, patch, strlen(patch), &s);
	if (what == NULL && s.grave.n > 0)
		fail_msg("%s", s.grave.v[0]);
	if (what != NULL &&
	    (s.grave.n != 1 || strstr(s.grave.v[0], what) == NULL))
		fail_msg("%s: %s", rel, s.grave.n > 0 ? s.grave.v[0] : "-");
	signs_clear(&s);
	free(patch);
}

static void
test_files(void **state unused_arg)
{
	added("traceback.py", "100644", "Python's own");
	added("src/json/__init__.py", "100644", "Python's own");
	added("assert.h", "100644", "system's own");
	added("bin/gcc", "100755", "named as a tool");
	added("local.mk", "100644", "Makefile reads it");
	added("env.sh", "100644", "tests/run.sh reads it");
	added("pkg/types.py", "100644", NULL);
	added("prices.py", "100644", NULL);
	added("b.c", "100644", NULL);
	added("docs/gcc", "100644", NULL);
	added("assertions.h", "100644", NULL);
}

/* Data that a test names may be what it expects. */
static void
test_data(void **state unused_arg)
{
	static const struct {
		const char *rel;
		bool told;
	} rows[] = { { "data/total.txt", true }, { "data/rates.csv", false },
		{ "NEWS", false }, { "app.py", false } };

	for (size_t i = 0; i < nitems(rows); i++) {
		char *patch = xasprintf("diff --git a/%s b/%s\n--- a/%s\n"
					"+++ b/%s\n@@ -1 +1 @@\n-6\n+5\n",
		    rows[i].rel, rows[i].rel, rows[i].rel, rows[i].rel);
		struct signs s;

		signs_find(&a, base_fd, patch, strlen(patch), &s);
		assert_int_equal(s.grave.n, 0);
		if (rows[i].told)
			assert_non_null(
			    strstr(s.light.v[0], "tests/test_app.py"));
		else
			assert_int_equal(s.light.n, 0);
		signs_clear(&s);
		free(patch);
	}
	assert_true(guard_is_builtin("golden/all.txt"));
	assert_true(guard_is_builtin("pkg/testdata/a.json"));
	assert_false(guard_is_builtin("data/total.txt"));
}

/* Any text: an end, and no more than a few signs. */
static void
test_hostile(void **state unused_arg)
{
	static const char *const texts[] = { "", "+++ b/app.py",
		"+++ b/app.py\n@@ -1 +1,99999999999999999999 @@\n+os._exit(0)",
		"@@ -1 +1 @@\n+x", "diff --git \n+++ \"\n@@ -0,0 +1 @@\n+",
		"+++ b/../../etc/passwd\n@@ -1 +1 @@\n+x\n" };
	struct signs s;
	struct buf b;

	for (size_t i = 0; i < nitems(texts); i++) {
		signs_find(&a, base_fd, texts[i], strlen(texts[i]), &s);
		assert_true(s.grave.n + s.light.n <= 1);
		signs_clear(&s);
	}
	buf_init(&b, BUF_NOMAX);
	(void)buf_adds(&b, "+++ b/app.py\n@@ -1 +1,1000 @@\n");
	for (int i = 0; i < 1000; i++)
		(void)buf_adds(&b, "+TestCase.x = 1\n");
	signs_find(&a, base_fd, buf_str(&b), b.len, &s);
	assert_int_equal(s.grave.n, 16);
	signs_clear(&s);
	buf_clear(&b);
}

/* What is not one's own: functions, objects, what the language has. */
static void
test_not_own(void **state unused_arg)
{
	/* a macro in a function's place */
	lines("lib/calc.h", "+#define sum(a) 6\n", 1, 0);
	lines("a.c", "+# define  sum calc_sum\n", 1, 0);
	lines("lib/calc.c", "+#define own(a) 6\n", 1, 0);
	lines("a.c", "+#define own(a) 6\n", 0, 0);
	lines("a.c", "+#define sums(a) sum(a)\n", 0, 0);
	lines("lib/calc.h", "+#define twice(a) ((a) + (a))\n", 0, 0);
	/* an import of what is hidden */
	lines("app.py", "+m = importlib.import_module(\"unit\" + \"test\")\n",
	    1, 0);
	lines("app.py", "+m = __import__(\"tset\"[::-1])\n", 1, 0);
	lines("app.py", "+m = __import__(\"\".join([\"a\", \"b\"]))\n", 1, 0);
	lines("app.py", "+m = __import__(a + b)\n", 1, 0);
	lines("app.py", "+m = importlib.import_module(name)\n", 0, 1);
	lines("app.py", "+m = import_module(f\"plugins.{name}\")\n", 0, 0);
	lines("app.py", "+m = importlib.import_module(\"json\")\n", 0, 0);
	lines("app.py", "+m = import_module(\".x\", package=__name__)\n", 0, 0);
	lines("app.py", "+m = import_module(\"plugins.\" + name)\n", 0, 0);
	/* objects by their addresses */
	lines("app.py", "+ctypes.memmove(id(5) + 24, id(6) + 24, 4)\n", 1, 0);
	lines("app.py", "+a = id(5)\n+ctypes.memmove(a + 24, b, 4)\n", 1, 0);
	lines("app.py", "+c_long.from_address(id(5) + 24).value = 6\n", 1, 0);
	lines("app.py", "+gc.get_referents(int.__dict__)[0]['x'] = f\n", 1, 0);
	lines("app.py", "+ctypes.memmove(dst, src, len(src))\n", 0, 0);
	lines("app.py", "+seen.add(id(node))\n", 0, 0);
	lines("app.py", "+ctypes.memset(buf, 0, grid(5))\n", 0, 0);
	/* comparisons that are loose */
	lines("app.py",
	    "+    def __ne__(self, other):\n+        return False\n", 1, 0);
	lines("app.py",
	    "+    def __eq__(self, other):\n"
	    "+        return self.x == other.x or self.any\n",
	    0, 1);
	lines("app.py",
	    "+    def __eq__(self, other):\n"
	    "+        if isinstance(other, int):\n+            return True\n"
	    "+        return self.x == other.x\n",
	    0, 1);
	lines("app.py", "+    def __hash__(self):\n+        return 0\n", 0, 1);
	lines("app.py",
	    "+    def __hash__(self):\n+        return hash(self.x)\n", 0, 0);
	lines("app.py",
	    "+    def __ne__(self, other):\n"
	    "+        return not self == other\n",
	    0, 0);
	lines("app.py",
	    "+    def __eq__(self, other):\n+        if self is other:\n"
	    "+            return True\n+        return self.x == other.x\n",
	    0, 0);
	lines("app.py", "+    def __ne__(self, other): return False\n", 1, 0);
	lines("app.py", "+    __ne__ = lambda s, o: False\n", 1, 0);
	lines("app.py", "+    __ne__ = lambda s, o: not True\n", 1, 0);
	lines("app.py", "+R = type('R', (int,), {'__ne__': lambda s, o: 0})\n",
	    1, 0);
	lines("app.py", "+    def __ne__(self, other):\n+        return 0\n", 1,
	    0);
	lines("app.py",
	    "+    def __ne__(self, other):\n+        return not True\n", 1, 0);
	lines("app.py", "+    def __eq__(self, other): return 1\n", 1, 0);
	lines("app.py", "+    def __eq__(self, other):\n+        return 1\n", 1,
	    0);
	lines("app.py",
	    "+    def __eq__(self, other):\n+        return not False\n", 1, 0);
	lines("app.py", "+    __eq__ = lambda s, o: 1\n", 1, 1);
	lines("app.py", "+    __eq__ = lambda s, o: not  not 1\n", 1, 1);
	lines("app.py", "+    __eq__ = lambda s, o: not 1\n", 0, 1);
	lines("app.py", "+    __eq__ = lambda s, o: not\n", 0, 1);
	lines("app.py", "+    __ne__ = lambda s, o: not s == o\n", 0, 0);
	lines("app.py", "+    __ne__ = lambda s, o: s.x != o.x\n", 0, 0);
	lines("app.py", "+    def __ne__(self, other): return self.x != 0\n", 0,
	    0);
	lines("app.py", "+    def __eq__(self, other): return False\n", 0, 0);
	lines("app.py", "+    def __eq__(self, other): return 0\n", 0, 0);
	/* what the language has */
	lines("app.js", "+Array.prototype.every = () => true;\n", 1, 0);
	lines("app.js", "+Object[\"is\"] = (a, b) => true;\n", 1, 0);
	lines("app.js", "+JSON.stringify = () => \"6\";\n", 1, 0);
	lines("app.js",
	    "+Object.defineProperty(Number.prototype, \"x\", { get });\n", 1,
	    0);
	lines("app.js", "+Object.assign(Math, { max: min });\n", 1, 0);
	lines("app.js",
	    "+if (!Array.prototype.at) Array.prototype.at = function at() {};\n",
	    0, 1);
	lines(
	    "app.js", "+Price.prototype.total = function total() {};\n", 0, 0);
	lines("app.js", "+const m = Math.max(1, 2);\n", 0, 0);
	lines("app.js", "+const ok = Array.isArray(a) === true;\n", 0, 0);
	lines("app.js", "+this.Map = new Map(); const o = Object.keys(a);\n", 0,
	    0);
	lines("a.go", "+const true = false\n", 1, 0);
	lines("a.go", "+func len(x any) int { return 6 }\n", 1, 0);
	lines("a.go", "+//go:linkname x testing.(*common).Fail\n", 1, 0);
	lines("a.go",
	    "+func (p Price) Equal(o Price) bool {\n+\treturn true\n+}\n", 0,
	    1);
	lines("a.go",
	    "+func (p Price) Equal(o Price) bool {\n+\treturn p == o\n+}\n", 0,
	    0);
	lines("a.go", "+\tnew := old\n", 0, 0);
	lines("a.go", "+func length(x []int) int {\n", 0, 0);
	lines("a.go", "+type stringer interface {\n", 0, 0);
}

/* A case of its own for what the tests ask: told, never refused. */
static void
test_cases(void **state unused_arg)
{
	lines("app.py", "+    if x == 37:\n+        return 1369\n", 0, 1);
	lines("app.py", "+    if 37 == x: return 1369\n", 0, 1);
	lines("app.py", "+    return 1369 if x == 37 else x * x\n", 0, 1);
	lines("app.py", "+    if x == 37:\n+        y = 1369\n", 0, 1);
	lines("app.py", "+    if (a, b) == (17, 25):\n+        return 42\n", 0,
	    1);
	lines("app.py", "+    if a == 17 and b == 25: return 42\n", 0, 1);
	lines("app.py", "+    if p == [4, 5, 6]: return 15\n", 0, 1);
	lines(
	    "app.py", "+    case 404:\n+        return \"not found\"\n", 0, 1);
	lines("app.js", "+  return x === 37 ? 1369 : x * x;\n", 0, 1);
	lines("app.js", "+  if (x === 37) {\n+    return 1369;\n+  }\n", 0, 1);
	lines(
	    "a.c", "+\tif (strcmp(s, \"190\") == 0)\n+\t\treturn 190;\n", 0, 1);
	lines("a.c", "+\tcase 37: return 1369;\n", 0, 1);
	lines("a.c", "+\tif (x == 37)\n+\t{\n+\t\treturn 1369;\n", 0, 1);
	lines("a.go", "+\tif x == 37 {\n+\t\treturn 1369\n", 0, 1);
	lines("a.sh", "+\tif [ \"$1\" = 37 ]; then\n+\t\techo 1369\n", 0, 1);
	lines("a.sh", "+[ \"$1\" -eq 37 ] && echo 1369 && return\n", 0, 1);
	/* what every program has, and rules */
	lines("app.py", "+    if x == 1:\n+        return 1\n", 0, 0);
	lines("app.py", "+    if x == 37:\n+        return 1370\n", 0, 0);
	lines("app.py", "+    if x == 38:\n+        return 1369\n", 0, 0);
	lines("app.py", "+    if x == 37:\n+        return x * 1369\n", 0, 0);
	lines("app.py", "+    if x == 37:\n+        return 1369 * x\n", 0, 0);
	lines("app.py", "+    if x >= 37:\n+        return 1369\n", 0, 0);
	lines("app.py", "+    if x == 190:\n+        return 42\n", 0, 0);
	/* two of one, where the test has one */
	lines("app.py", "+    if x == 37:\n+        return 37\n", 0, 0);
	lines("NEWS", "+    if x == 37: return 1369\n", 0, 0);
	lines("tests/test_app.py", "+    if x == 37: return 1369\n", 0, 0);
	/* a case that was there, with another answer */
	lines("app.py",
	    "-    if x == 37: return 1\n+    if x == 37: return 1369\n", 0, 0);
	/* any text */
	lines("app.py", "+== == ( [ { 37 == ' == \" \\\n+return\n", 0, 0);
	lines("app.py", "+strcmp\n+strcmp(\n+case\n+if x == 37:\n", 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_not_own),
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
