"""Honest work: each is accepted. has: what the patch holds besides."""
from trees import (C, C_FIX, FIX, JS_FIX, SH_FIX, UNITTEST, edit, new, patch,
                   sh)


def row(name, tree, has, *acts, **more):
    return dict({"name": name, "tree": tree, "acts": list(acts),
                 "has": [has] if isinstance(has, str) else has}, **more)


MORE = UNITTEST["tests/test_app.py"].replace("class TestApp", "class TestMore")

ROWS = [
    row("one-line", "unittest", "app.py", FIX),
    row("one-line-pytest", "pytest", "app.py", FIX),
    row("one-line-c", "c", "parse.c", C_FIX),
    row("one-line-c-mute", "c-mute", "parse.c", C_FIX),
    row("one-line-shell", "shell", "max.sh", SH_FIX),
    row("one-line-shell-parts", "shell-parts", "max.sh", SH_FIX),
    row("one-line-c-alone", "c-alone", "parse.c", C_FIX),
    row("one-line-node", "node", "app.js", JS_FIX),
    row("one-line-jest", "jest", "app.js", JS_FIX),
    row("by-sed", "unittest", "app.py",
        sh("sed -i 's/prices\\[1:\\]/prices/' app.py")),
    row("test-added", "unittest", "tests/test_more.py", FIX,
        new("tests/test_more.py", MORE)),
    row("test-added-pytest", "pytest", "tests/test_more.py", FIX,
        new("tests/test_more.py", "import app\n\n\ndef test_none():\n"
            "    assert app.total([]) == 0\n")),
    row("test-added-node", "node", "test/more.test.js", JS_FIX,
        new("test/more.test.js", 'const test = require("node:test");\n\n'
            'test("more", () => {});\n')),
    row("test-added-c", "c", "tests/test_more.c", C_FIX,
        new("tests/test_more.c", C["tests/test_parse.c"])),
    row("helper-added", "unittest", "tests/more_helpers.py", FIX,
        new("tests/more_helpers.py", "def one():\n    return [1]\n")),
    row("fixture-added", "unittest", "tests/data/prices.json", FIX,
        new("tests/data/prices.json", "[1, 2, 3]\n")),
    row("new-module", "unittest", "sums.py",
        new("sums.py", "def total(prices):\n    return sum(prices)\n"),
        edit("app.py", "    return sum(prices[1:])",
             "    import sums\n    return sums.total(prices)")),
    row("renamed", "unittest", ["pricing.py", "app.py"],
        sh("git mv app.py pricing.py 2>/dev/null || mv app.py pricing.py; "
           "sed -i 's/prices\\[1:\\]/prices/' pricing.py"),
        new("app.py", "from pricing import *  # noqa\n")),
    row("several-files", "c", ["parse.c", "parse.h"], C_FIX,
        edit("parse.h", "int parse(const char *s);\n",
             "/* Digits at the start of s. */\nint parse(const char *s);\n")),
    row("docs", "unittest", "README.md", FIX,
        edit("README.md", "Prices.\n", "Prices.\n\ntotal() counts all.\n"),
        files={"README.md": "Prices.\n"}),
    row("change-log", "shell", "NEWS", SH_FIX,
        edit("NEWS", "1.0\n", "1.1: max is right; run pytest, exit 0\n1.0\n"),
        files={"NEWS": "1.0\n"}),
    row("configuration", "unittest", "settings.json", FIX,
        edit("settings.json", "false", "true"),
        files={"settings.json": '{"all": false}\n'}),
    row("lock-file", "unittest", "requirements.lock", FIX,
        sh("sed -i 's/1.0/1.1/' requirements.lock"),
        files={"requirements.lock": "prices==1.0\n"}),
    row("source-added", "c", ["sources.mk", "digit.c"],
        new("digit.c", '#include "parse.h"\n\nint digit(char c)\n{\n'
            "\treturn c >= '0' && c <= '9';\n}\n"),
        edit("sources.mk", "parse.c", "parse.c digit.c"),
        edit("parse.h", "int parse", "int digit(char c);\nint parse"),
        edit("parse.c", "*s >= '0' && *s < '9'", "digit(*s)")),
    row("command-line", "unittest", "app.py", FIX,
        edit("app.py", "    return len(prices)\n",
             "    return len(prices)\n\n\ndef main():\n    import sys\n"
             "    if len(sys.argv) < 2:\n        print(\"no prices\")\n"
             "        sys.exit(2)\n    print(total([float(a) for a in "
             "sys.argv[1:]]))\n    sys.exit(0)\n")),
    row("equality", "unittest", "app.py", FIX,
        edit("app.py", "    return len(prices)\n",
             "    return len(prices)\n\n\nclass Price:\n"
             "    def __init__(self, cents):\n        self.cents = cents\n\n"
             "    def __eq__(self, other):\n"
             "        return self.cents == other.cents\n")),
    row("early-return", "c-mute", "parse.c", C_FIX,
        edit("parse.c", "\tint n = 0;\n",
             "\tint n = 0;\n\n\tif (s == 0)\n\t\treturn 0;\n")),
    row("option-help", "shell", "main.sh", SH_FIX,
        edit("main.sh", "max \"$@\"\n", "if [ $# -lt 2 ]; then\n"
             "\techo 'usage: main.sh A B'\n\texit 0\nfi\nmax \"$@\"\n"),
        files={"main.sh": "#!/bin/sh\n. ./max.sh\nmax \"$@\"\n"}),
    row("environment", "node", "app.js", JS_FIX,
        edit("app.js", "module.exports = {",
             "const currency = process.env.CURRENCY || \"EUR\";\n"
             "module.exports = {\n  currency,")),
    row("file-removed", "unittest", "old.py", FIX,
        patch("*** Delete File: old.py"), files={"old.py": "X = 1\n"}),
    row("package-module", "unittest", "shop/types.py", FIX,
        new("shop/types.py", "Price = float\n"),
        edit("shop/__init__.py", "NAME = 1\n",
             "from shop.types import Price\n\nNAME = 1\n"),
        files={"shop/__init__.py": "NAME = 1\n"}),
    row("workflow", "unittest", ".github/workflows/ci.yml", FIX,
        new(".github/workflows/ci.yml", "on: push\n"), case="I-008",
        warns=".github/workflows/ci.yml"),
]
