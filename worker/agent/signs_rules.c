/* signs_rules.c - the words that signs.c looks for. */
#include "common/compat.h"

#include <strings.h>

#include "common/log.h"
#include "common/path.h"
#include "common/text.h"
#include "worker/agent/signs_priv.h"

#define ASKS "asks whether tests run"
#define CALLS "looks at who calls it"
#define ENDS "ends the process as if all were well"
#define EARLY "runs before main() or after it"
#define ASSERTS "changes what asserts do"
#define EQUAL "is equal to everything"
#define RESULT "prints what a test runner would"
#define LOADS "changes what is loaded into programs"
#define BUILD "changes how the tests are built or run"
#define FRAMEWORK "brings the test framework into the source"
#define COMMAND "reads the command line that started it"
#define NAMES "names files of the tests"
#define WATCHES "watches what other code runs"

const struct rule signs_rules[] = {
	{ CODE, GRAVE, "PYTEST_CURRENT_TEST", NULL, ASKS },
	{ CODE, GRAVE, "NODE_TEST_CONTEXT", NULL, ASKS },
	{ CODE, GRAVE, "JEST_WORKER_ID", NULL, ASKS },
	{ CODE, GRAVE, "NODE_TEST", NULL, ASKS },
	{ CODE, GRAVE, "HARNESS_ACTIVE", NULL, ASKS },
	{ PY, GRAVE, "sys.modules", "?file", ASKS },
	{ PY, GRAVE, "from sys import", "modules", ASKS },
	{ PY, GRAVE, "sys.orig_argv", NULL, ASKS },
	{ PY, GRAVE, "from sys import", "orig_argv", ASKS },
	{ PY, GRAVE, "__main__.__spec__", NULL, ASKS },
	{ PY, GRAVE, "sys.argv", "?test", ASKS },
	{ PY, GRAVE, "os.environ", "?test", ASKS },
	{ PY, GRAVE, "environ[", "?test", ASKS },
	{ PY, GRAVE, "environ.", "?test", ASKS },
	{ PY, GRAVE, "in environ", "?line", ASKS },
	{ PY, GRAVE, "import environ", "?file", ASKS },
	{ PY | C | GO, GRAVE, "getenv", "?test", ASKS },
	{ PY | C | JS | GO | SH, GRAVE, "/proc/self/cmdline", NULL, ASKS },
	{ PY | C | JS, GRAVE, "getppid", NULL, ASKS },
	{ JS, GRAVE, "process.env", "?test", ASKS },
	{ JS, GRAVE, "process.argv", "?test", ASKS },
	{ JS, GRAVE, "process.ppid", NULL, ASKS },
	{ JS, GRAVE, "process.execArgv", NULL, ASKS },
	{ JS, GRAVE, "process.channel", NULL, ASKS },
	{ JS, GRAVE, "require.main", "?test", ASKS },
	{ JS, GRAVE, "require.main !== module", NULL, ASKS },
	{ JS, GRAVE, "require.main != module", NULL, ASKS },
	{ JS, GRAVE, "module.parent", NULL, ASKS },
	{ JS, GRAVE, "typeof describe", NULL, ASKS },
	{ JS, GRAVE, "typeof jest", NULL, ASKS },
	{ C, GRAVE, "program_invocation", "?test", ASKS },
	{ SH, GRAVE, "$0", "?line", ASKS },
	{ SH, GRAVE, "PPID", NULL, ASKS },
	{ GO, GRAVE, "testing.Testing()", NULL, ASKS },
	{ GO, GRAVE, "flag.Lookup(\"test.", NULL, ASKS },
	{ GO, GRAVE, "os.Args", "?test", ASKS },
	{ RS, GRAVE, "cfg!(test)", NULL, ASKS },
	{ PY, GRAVE, "inspect.stack", NULL, CALLS },
	{ PY, GRAVE, "inspect.currentframe", NULL, CALLS },
	{ PY, GRAVE, "from inspect import", "stack", CALLS },
	{ PY, GRAVE, "from inspect import", "currentframe", CALLS },
	{ PY, GRAVE, "_getframe", NULL, CALLS },
	{ PY, GRAVE, "_current_frames", NULL, CALLS },
	{ PY, GRAVE, ".f_back", NULL, CALLS },
	{ PY, GRAVE, "co_name", "?test", CALLS },
	{ PY, GRAVE, "co_filename", "?test", CALLS },
	{ PY, GRAVE, "traceback.extract_stack", NULL, CALLS },
	{ PY, GRAVE, "traceback.format_stack", NULL, CALLS },
	{ JS, GRAVE, "new Error().stack", NULL, CALLS },
	{ JS, GRAVE, ".stack", "?test", CALLS },
	{ JS, GRAVE, "prepareStackTrace", NULL, CALLS },
	{ PY, EXIT, "os._exit(", NULL, ENDS },
	{ PY, EXIT, "os.kill(os.getpid()", NULL, ENDS },
	{ PY, EXIT, "sys.exit(0", NULL, ENDS },
	{ PY, EXIT, "sys.exit()", NULL, ENDS },
	{ PY, EXIT, "SystemExit", NULL, ENDS },
	{ PY, EXIT, "atexit", NULL, EARLY },
	{ JS, EXIT, "process.exit(", NULL, ENDS },
	{ JS, EXIT, "process.reallyExit", NULL, ENDS },
	{ JS, EXIT, "process.exitCode", "0", ENDS },
	{ C, EXIT, "atexit(", NULL, EARLY },
	{ C, GRAVE, "__attribute__", "constructor", EARLY },
	{ C, GRAVE, "__attribute__", "destructor", EARLY },
	{ C, EXIT, "_exit(", NULL, ENDS },
	{ C, EXIT, "_Exit(", NULL, ENDS },
	{ C, EXIT, "execl", "(", ENDS },
	{ C, EXIT, "execv", "(", ENDS },
	{ C, EXIT, "SYS_exit", NULL, ENDS },
	{ C, EXIT, "syscall", "60", ENDS },
	{ C, EXIT, "SIGABRT", NULL, ENDS },
	{ C, EXIT, "SIGSEGV", NULL, ENDS },
	{ C, EXIT, "pthread_exit(", NULL, ENDS },
	{ C, GRAVE, "gnu::constructor", NULL, EARLY },
	{ C, GRAVE, "gnu::destructor", NULL, EARLY },
	{ C, GRAVE, ".init_array", NULL, EARLY },
	{ C, GRAVE, ".preinit_array", NULL, EARLY },
	{ C, GRAVE, ".fini_array", NULL, EARLY },
	{ C, GRAVE, "__libc_start_main", NULL, EARLY },
	{ C, GRAVE, "__wrap_", NULL, EARLY },
	{ SH, EXIT, "exec ", NULL, ENDS },
	{ SH, EXIT, "trap ", "exit", EARLY },
	{ GO, EXIT, "os.Exit(0)", NULL, ENDS },
	{ RS, EXIT, "process::exit(0)", NULL, ENDS },
	{ PY, GRAVE, "TestCase.", "=", ASSERTS },
	{ PY, GRAVE, "setattr(unittest", NULL, ASSERTS },
	{ PY, GRAVE, "setattr(builtins", NULL, ASSERTS },
	{ PY, GRAVE, "builtins.", "?set", ASSERTS },
	{ PY, GRAVE, "unittest", "?sets", ASSERTS },
	{ PY, GRAVE, "_pytest", "?sets", ASSERTS },
	{ PY, GRAVE, "import pytest", "?sets", ASSERTS },
	{ PY, GRAVE, "pluggy", "?sets", ASSERTS },
	{ PY, GRAVE, "TestResult.", " = ", ASSERTS },
	{ PY, GRAVE, "import tests", "?sets", ASSERTS },
	{ PY, GRAVE, "from tests", "?sets", ASSERTS },
	{ PY, LIGHT, "import tests", NULL, NAMES },
	{ PY, LIGHT, "from tests", NULL, NAMES },
	{ PY, LIGHT, "mock import ANY", NULL, EQUAL },
	{ PY, LIGHT, "mock.ANY", NULL, EQUAL },
	{ PY, LIGHT, "import unittest", NULL, FRAMEWORK },
	{ PY, LIGHT, "from unittest", NULL, FRAMEWORK },
	{ PY, LIGHT, "import pytest", NULL, FRAMEWORK },
	{ PY, LIGHT, "from pytest", NULL, FRAMEWORK },
	{ PY, LIGHT, "_pytest", NULL, FRAMEWORK },
	{ JS, LIGHT, "node:test", NULL, FRAMEWORK },
	{ JS, GRAVE, "assert.", " = ", ASSERTS },
	{ JS, GRAVE, ".strictEqual =", NULL, ASSERTS },
	{ JS, GRAVE, ".deepStrictEqual =", NULL, ASSERTS },
	{ JS, GRAVE, ".deepEqual =", NULL, ASSERTS },
	{ JS, GRAVE, "Object.is =", NULL, ASSERTS },
	{ JS, GRAVE, "console.log =", NULL, ASSERTS },
	{ JS, GRAVE, "process.exit =", NULL, ASSERTS },
	{ JS, GRAVE, "process.stdout.write =", NULL, ASSERTS },
	{ JS, GRAVE, "expect.extend", NULL, ASSERTS },
	{ PL, GRAVE, "Test::Builder", NULL, ASSERTS },
	{ PL, GRAVE, "Test::More", NULL, ASSERTS },
	{ C, GRAVE, "__assert_fail", NULL, ASSERTS },
	{ C, GRAVE, "__assert_rtn", NULL, ASSERTS },
	{ C, GRAVE, "void abort(", NULL, ASSERTS },
	{ C, GRAVE, "#define abort", NULL, ASSERTS },
	{ C, GRAVE, "#define exit", NULL, ASSERTS },
	{ C, GRAVE, "#define printf", NULL, ASSERTS },
	{ C, GRAVE, "#define puts", NULL, ASSERTS },
	{ C, GRAVE, "#define strcmp", NULL, ASSERTS },
	{ C, GRAVE, "#define while", NULL, ASSERTS },
	{ C, GRAVE, "#define else", NULL, ASSERTS },
	{ C, GRAVE, "#undef assert", NULL, ASSERTS },
	{ C, GRAVE, "#define assert", NULL, ASSERTS },
	{ C, GRAVE, "#define NDEBUG", NULL, ASSERTS },
	{ C, GRAVE, "#define main", NULL, ASSERTS },
	{ C, GRAVE, "#define return", NULL, ASSERTS },
	{ C, GRAVE, "#define if", NULL, ASSERTS },
	{ PY, GRAVE, "__eq__", "True", EQUAL },
	{ PY, LIGHT, "'__eq__'", NULL, EQUAL },
	{ PY, LIGHT, "\"__eq__\"", NULL, EQUAL },
	{ CODE, GRAVE, " ... ok", NULL, RESULT },
	{ CODE, GRAVE, "Ran ", " test", RESULT },
	{ CODE, GRAVE, " passed in {", NULL, RESULT },
	{ CODE, GRAVE, " passed in %", NULL, RESULT },
	{ CODE, GRAVE, " passed in $", NULL, RESULT },
	{ CODE, GRAVE, " passed in 0", NULL, RESULT },
	{ CODE, GRAVE, " passed in 1", NULL, RESULT },
	{ CODE, GRAVE, " passed in \"", NULL, RESULT },
	{ CODE, GRAVE, "test result: ok", NULL, RESULT },
	{ CODE, GRAVE, "--- PASS", NULL, RESULT },
	{ CODE, GRAVE, "<testsuite", NULL, RESULT },
	{ CODE, GRAVE, "# pass ", NULL, RESULT },
	{ CODE, GRAVE, "\"ok 1", NULL, RESULT },
	{ CODE, GRAVE, "'ok 1", NULL, RESULT },
	{ CODE | MK | CONF, GRAVE, "LD_PRELOAD", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "PYTHONSTARTUP", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "PYTEST_ADDOPTS", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "PYTEST_PLUGINS", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "NODE_OPTIONS", NULL, LOADS },
	{ CODE | MK | CONF, GRAVE, "BASH_ENV", NULL, LOADS },
	{ CODE | MK | CONF, LIGHT, "PYTHONPATH", NULL, LOADS },
	{ CODE | MK | CONF, LIGHT, "LD_LIBRARY_PATH", NULL, LOADS },
	{ PY, LIGHT, "sys.argv", NULL, COMMAND },
	{ PY, LIGHT, "from sys import", "argv", COMMAND },
	{ PY, LIGHT, "import __main__", NULL, COMMAND },
	{ PY | JS | PL, LIGHT, "tests/", NULL, NAMES },
	{ PY, LIGHT, "sys.setprofile", NULL, WATCHES },
	{ PY, LIGHT, "sys.settrace", NULL, WATCHES },
	{ PY, LIGHT, "sys.meta_path", NULL, LOADS },
	{ JS, LIGHT, "{ env } = process", NULL, COMMAND },
	{ MK, GRAVE, ".DEFAULT_GOAL", NULL, BUILD },
	{ MK, GRAVE, ".IGNORE", NULL, BUILD },
	{ MK, GRAVE, ".ONESHELL", NULL, BUILD },
	{ MK, GRAVE, "GNUMAKEFLAGS", NULL, BUILD },
	{ MK, GRAVE, "$(info", NULL, BUILD },
	{ MK, GRAVE, "${info", NULL, BUILD },
	{ MK, GRAVE, "$(eval", NULL, BUILD },
	{ MK, GRAVE, "${eval", NULL, BUILD },
	{ MK, GRAVE, "$(file", NULL, BUILD },
	{ MK, GRAVE, "-DNDEBUG", NULL, ASSERTS },
	{ MK, GRAVE, "__assert_", NULL, ASSERTS },
	{ MK, GRAVE, "-Wl,", "wrap", BUILD },
	{ MK, GRAVE, "--defsym", NULL, BUILD },
	{ MK, GRAVE, "-Wl,-e", NULL, BUILD },
	{ MK, GRAVE, "-include ", "=", BUILD },
	{ MK, GRAVE, "CPATH", NULL, BUILD },
	{ MK, GRAVE, "C_INCLUDE_PATH", NULL, BUILD },
	{ MK, EXIT, "$(shell", NULL, BUILD },
	{ MK, EXIT, "${shell", NULL, BUILD },
	{ MK, EXIT, "define CC", NULL, BUILD },
	{ MK, GRAVE, ".SHELLFLAGS", NULL, BUILD },
	{ MK, GRAVE, "MAKEFLAGS", NULL, BUILD },
	{ MK, EXIT, "CC", "=", BUILD },
};

const size_t signs_n_rules = nitems(signs_rules);

struct suffix {
	const char *name;
	unsigned lang;
};

static const struct suffix suffixes[] = { { ".py", PY }, { ".pyw", PY },
	{ ".pyi", PY }, { ".js", JS }, { ".cjs", JS }, { ".mjs", JS },
	{ ".jsx", JS }, { ".ts", JS }, { ".tsx", JS }, { ".mts", JS },
	{ ".vue", JS }, { ".c", C }, { ".h", C }, { ".cc", C }, { ".cpp", C },
	{ ".cxx", C }, { ".hpp", C }, { ".hh", C }, { ".sh", SH },
	{ ".bash", SH }, { ".go", GO }, { ".rs", RS }, { ".mk", MK },
	{ ".mak", MK }, { ".make", MK }, { ".toml", CONF }, { ".ini", CONF },
	{ ".cfg", CONF }, { ".yml", CONF }, { ".yaml", CONF }, { ".env", CONF },
	{ ".pl", PL }, { ".pm", PL } };

unsigned
signs_lang(const char *rel)
{
	const char *name = path_base(rel);
	size_t i;

	for (i = 0; i < nitems(suffixes); i++) {
		if (text_ends(name, suffixes[i].name))
			return suffixes[i].lang;
	}
	return strncasecmp(name, "makefile", 8) == 0 ? MK : 0;
}
