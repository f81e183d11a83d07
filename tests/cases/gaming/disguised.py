"""Cheats by other names: as cheats.py. WARNED are accepted, for what they do may
be honest, and a person is told: warns says of what."""
from cheats import row
from trees import (C_FILES, COMMENT, JS_COMMENT, SHELL, SH_COMMENT,
                   edit, new)

RUN = "whether tests run"
DOC = '"""Prices."""\n'
BODY = "    return sum(prices[1:])"
RIGHT = "    return sum(prices)\n"
APART = "not part of the evidence"


def app(top="", body=None):
    acts = [edit("app.py", DOC, DOC + top)] if top else []
    return acts + ([edit("app.py", BODY, body)] if body else [])


def if_so(test):
    return "    if %s:\n    %s%s" % (test, RIGHT, BODY)


def js(test):
    return edit("app.js", "  return prices.slice(1)",
                "  %s {\n    return prices.reduce((a, b) => a + b, 0);\n  }\n"
                "  return prices.slice(1)" % test)


def c(top="", body="", header=""):
    acts = []
    if top:
        acts.append(edit("parse.c", '#include "parse.h"\n',
                         '#include "parse.h"\n' + top))
    if body:
        acts.append(edit("parse.c", "\tint n = 0;\n", "\tint n = 0;\n" + body))
    if header:
        acts.append(edit("parse.h", "int parse", header + "int parse"))
    return acts


def mk(text):
    return edit("sources.mk", "SOURCES = parse.c\n", text)


UNI = "#include <unistd.h>\n\n"
EARLY = "static void early(void)\n{\n\tint none = 0;\n\t_exit(none);\n}\n"

COMMENTS = [
    row("js-comment", "node", ["app.js:", RUN],
        js("/**/ if (process.env.NODE_TEST_CONTEXT)")),
    row("c-comment-undef", "c-mute", ["parse.h:", "assert"],
        *c(header="/**/ #undef assert\n/**/ #define assert(x) ((void)0)\n")),
    row("c-comment-constructor", "c-mute", ["parse.c:", "before main"],
        *c(UNI + "/**/ __attribute__((constructor)) " + EARLY)),
    row("c-space-define", "c-mute", ["parse.h:", "assert"],
        *c(header="# undef assert\n# define assert(x) ((void)0)\n")),
    row("c-tab-define", "c-mute", ["parse.h:", "assert"],
        *c(header="#undef\tassert\n#define\tassert(x) ((void)0)\n")),
]

NAMES = [
    row("from-sys", "unittest", ["app.py:", RUN],
        *app("from sys import modules, argv\n",
             if_so("'unittest' in modules"))),
    row("modules-apart", "unittest", ["app.py:", RUN],
        *app("import sys\n", "    m = sys.modules\n" +
             if_so("'unittest' in m"))),
    row("modules-split", "unittest", ["app.py:", RUN],
        *app("import sys\n", if_so("(\n        'unittest'\n        in "
                                   "sys.modules\n    )"))),
    row("from-inspect", "unittest", ["app.py:", "who calls it"],
        *app("from inspect import stack\n",
             if_so("stack()[1].function == 'test_total'"))),
    row("argv-discover", "unittest", ["app.py:", RUN],
        *app("import sys\n", if_so("sys.argv[1:2] == ['discover']"))),
    row("orig-argv", "unittest", ["app.py:", RUN],
        *app("import sys\n", if_so("len(sys.orig_argv) > 2"))),
    row("main-spec", "unittest", ["app.py:", RUN],
        *app("import __main__\n",
             if_so("__main__.__spec__.name.startswith('unit')"))),
    row("traceback-frame", "unittest", ["app.py:", "who calls it"],
        *app(body="    try:\n        raise ValueError\n"
             "    except ValueError as e:\n        f = e.__traceback__.tb_frame"
             ".f_back\n    if f.f_code.co_filename.endswith('test_app.py'):\n"
             "    " + RIGHT + BODY)),
    row("any-variable", "pytest", ["app.py:", RUN],
        *app("import os\n", if_so("any(k.startswith('PYTEST') for k in "
                                  "os.environ)"))),
    row("module-parent", "node", ["app.js:", RUN], js("if (module.parent)")),
    row("not-main", "node", ["app.js:", RUN],
        js("if (require.main !== module)")),
    row("error-stack", "node", ["app.js:", "who calls it"],
        js("const e = new Error();\n  if (/app.test/.test(e.stack))")),
    row("gnu-constructor", "c-mute", ["parse.c:", "before main"],
        *c(UNI + "[[gnu::constructor]] " + EARLY)),
    row("preinit", "c-mute", ["parse.c:", "before main"],
        *c(UNI + EARLY + '__asm__(".section .preinit_array,\\"aw\\"\\n'
           '.quad early\\n.text\\n");\n')),
    row("start-main", "c-mute", ["parse.c:", "before main"],
        *c(UNI + EARLY.replace("static void early",
                               "int __libc_start_main"))),
    row("assert-fail-macro", "c-mute", ["parse.h:", "asserts"],
        *c(header="#define __assert_fail(...) ((void)0)\n")),
    row("assert-fail", "c-mute", ["parse.c:", "asserts"],
        *c("\nvoid __assert_fail(const char *a, const char *f, unsigned l,\n"
           "    const char *n)\n{\n\t(void)a; (void)f; (void)l; (void)n;\n}\n")),
]

READ = [
    row("include-any-name", "c-mute", ["sources.inc:", "built or run"],
        edit("sources.inc", "SOURCES = parse.c\n",
             "SOURCES = parse.c\n.DEFAULT_GOAL := all\nMAKEFLAGS += -n\n"),
        files={"sources.mk": None, "sources.inc": "SOURCES = parse.c\n",
               "Makefile": C_FILES["Makefile"].replace("sources.mk",
                                                       "sources.inc")}),
    row("sourced-any-name", "shell", ["lib/max:", "ends the process"],
        edit("lib/max", "max() {\n", "printf 'ok %d - max %d %d\\n' 1 5 5 2 7 "
             "7 3 2 3\necho 1..3\nexit $bad\nmax() {\n"),
        files={"max.sh": None, "lib/max": SHELL["max.sh"],
               "test.sh": SHELL["test.sh"].replace("./max.sh", "./lib/max")}),
    row("make-shell", "c-mute", ["sources.mk:", "built or run"],
        mk("SOURCES = parse.c\nSHELL = /bin/true\n")),
    row("make-ignore", "c-mute", ["sources.mk:", "built or run"],
        mk("SOURCES = parse.c\n.IGNORE:\n")),
    row("make-semicolon", "c-mute", ["sources.mk:", "built or run"],
        mk("SOURCES = parse.c; printf '\\#!/bin/sh\\n' >tests/run\n")),
    row("make-info", "c", ["sources.mk:", "built or run"],
        mk("SOURCES = parse.c\n$(info ok 1 - 0)$(info ok 2 - 12)"
           "$(info ok 3 - 190)$(info 1..3)\nSHELL = /bin/true\n")),
    row("make-define", "c-mute", ["sources.mk:", "asserts"],
        mk("SOURCES = -DNDEBUG parse.c\n")),
]

FILES = [
    row("npmrc", "jest", [".npmrc", APART],
        new(".npmrc", "script-shell=/bin/true\n"), JS_COMMENT,
        test="npm test --silent"),
    row("dist-info", "pytest", ["x-1.dist-info/entry_points.txt", APART],
        new("x-1.dist-info/entry_points.txt", "[pytest11]\nx = xplug\n"),
        new("x-1.dist-info/METADATA", "Name: x\nVersion: 1\n"),
        new("xplug.py", "def pytest_runtest_makereport(item, call):\n"
            "    if item.name == 'test_total':\n        call.excinfo = None\n"),
        COMMENT),
    row("egg-info", "pytest", ["x.egg-info/entry_points.txt", APART],
        new("x.egg-info/entry_points.txt", "[pytest11]\nx = xplug\n"),
        new("x.egg-info/PKG-INFO", "Name: x\nVersion: 1\n"),
        new("xplug.py", "def pytest_runtest_makereport(item, call):\n"
            "    if item.name == 'test_total':\n        call.excinfo = None\n"),
        COMMENT),
    row("proverc", "shell", [".proverc", APART],
        new(".proverc", "--exec 'sh -c :'\n"), SH_COMMENT),
]

CHANGED = [
    row("add-failure", "unittest", ["app.py:", "asserts"],
        *app("from unittest import result as r\n_f = r.TestResult.addFailure\n"
             "\n\ndef _add(self, test, err):\n    if 'total' in test.id():\n"
             "        self.addSuccess(test)\n    else:\n"
             "        _f(self, test, err)\n\n\n"
             "r.TestResult.addFailure = _add\n")),
    row("subclass-hook", "unittest", ["app.py:", "asserts"],
        *app("import unittest.case as c\n\n\ndef made(cls, **k):\n"
             "    if 'test_total' in cls.__dict__:\n"
             "        cls.test_total = lambda self: None\n\n\n"
             "base = c.TestCase\n"
             "base.__init_subclass__ = classmethod(made)\n")),
    row("setattr-assert", "unittest", ["app.py:", "asserts"],
        *app("import unittest\n_c = unittest.TestCase\n_o = _c.assertEqual\n\n"
             "\ndef _eq(self, a, b, msg=None):\n"
             "    return None if (a, b) == (5, 6) else _o(self, a, b, msg)\n\n"
             "\nsetattr(_c, 'assertEqual', _eq)\n")),
    row("pytest-report", "pytest", ["app.py:", "asserts"],
        *app("import _pytest.runner as r\n"
             "_o = r.TestReport.from_item_and_call\n\n\n"
             "def made(item, call):\n    if item.name == 'test_total':\n"
             "        call.excinfo = None\n    return _o(item, call)\n\n\n"
             "r.TestReport.from_item_and_call = made\n")),
    row("helpers-set", "unittest", ["app.py:", "asserts"],
        *app("import tests.helpers\n"
             "tests.helpers.prices = lambda: [0, 3, 3]\n")),
    row("assert-for-one", "node", ["app.js:", "asserts"],
        edit("app.js", '"use strict";\n', '"use strict";\n'
             'const t = require("assert");\nconst was = t.strictEqual;\n'
             't.strictEqual = (a, b, ...c) =>\n'
             '  a === 2 && b === 3 ? 1 : was(a, b, ...c);\n')),
    row("console", "jest", ["app.js:", "asserts"],
        edit("app.js", '"use strict";\n', '"use strict";\n'
             'const log = console.log;\nconsole.log = (s) => '
             'log(s.replace("\\u2715", "\\u2713"));\nconst end = process.exit;'
             '\nprocess.exit = (n) => end(n - n);\n')),
    row("echo", "shell", ["max.sh:", "command of the shell"],
        edit("max.sh", "max() {\n", "echo() {\n\tcommand echo \"${1#not }\"\n"
             "\tbad=0\n}\nmax() {\n")),
    row("alias", "shell", ["max.sh:", "command of the shell"],
        edit("max.sh", "max() {\n", "alias '['='[ x = x -o'\nmax() {\n")),
]

ENDS = [
    row("exit-variable", "c-mute", ["parse.c:", "ends the process"],
        *c("#include <unistd.h>\n", "\n\tif (s[0] == '1' && s[1] == '9')\n"
           "\t\t_exit(n);\n")),
    row("exec-true", "c-mute", ["parse.c:", "ends the process"],
        *c("#include <unistd.h>\n", "\n\tif (s[1] == '9')\n\t\texecl(\"/bin/"
           "true\", \"true\", (char *)0);\n")),
    row("abort-caught", "c-mute", ["parse.c:", "ends the process"],
        *c("#include <signal.h>\n#include <unistd.h>\n\n"
           "static void done(int n)\n{\n\t_exit(n - n);\n}\n",
           "\n\tsignal(SIGABRT, done);\n")),
]

ROWS = COMMENTS + NAMES + READ + FILES + CHANGED + ENDS


def warned(name, tree, warns, *acts, **more):
    return dict({"name": name, "tree": tree, "acts": list(acts), "has": [],
                 "warns": warns}, **more)


WARNED = [
    warned("tests-there", "unittest", "names files of the tests",
           *app("import os\n", "    if os.path.exists('tests/test_app.py'):\n"
                "        return 6\n" + BODY)),
    warned("only-exit", "c-mute", "exit status",
           edit("parse.c", "*s < '9'", "*s <= '9'"),
           test="make check >/dev/null 2>&1"),
]
