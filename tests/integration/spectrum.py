#!/usr/bin/env python3
"""The built-in model looks where failing tests go, however they get there; a
program that the tracer does not get along with is searched as without it."""
import concurrent.futures
import json
import os
import shutil

import lib

NAMES = ["add", "least", "most", "span", "mean", "step", "wrap", "clip"]

# Each is right, but for `clip`. What calls them is a name made at run time.
PYTHON = '''def do_add(a, b):
    return a + b


def do_least(a, b):
    if a <= b:
        return a
    return b


def do_most(a, b):
    if a >= b:
        return a
    return b


def do_span(a, b):
    if a > b:
        return a - b
    return b - a


def do_mean(a, b):
    return (a + b) / 2


def do_step(a, b):
    if a > 0:
        return b + 1
    return b


def do_wrap(a, b):
    if a >= b:
        return a - b
    return a


def do_clip(a, b):
    if a > 10:
        return b
    return a - b


def run(name, a, b):
    return globals()["_".join(["do", name])](a, b)
'''
CASES = [("add", 7, 3, 10), ("least", 7, 3, 3),
         ("most", 7, 3, 7), ("span", 3, 7, 4), ("clip", 4, 3, 7),
         ("mean", 7, 2, 4.5), ("step", 7, 3, 4), ("wrap", 7, 3, 4)]
PYTHON_TESTS = "import unittest\n\nfrom calc import run\n\n\n" + \
    "class Calc(unittest.TestCase):\n" + "".join(
        "    def test_%d(self):\n        self.assertEqual(run(%r, %r, %r), %r)\n\n"
        % ((i, *c)) for i, c in enumerate(CASES)) + \
    "\nif __name__ == '__main__':\n    unittest.main()\n"


def braces(head):
    """The same with braces; head: a function to its opening brace."""
    body = {
        "add": "  return a + b;",
        "least": "  if (a <= b)\n    return a;\n  return b;",
        "most": "  if (a >= b)\n    return a;\n  return b;",
        "span": "  if (a > b)\n    return a - b;\n  return b - a;",
        "mean": "  return (a + b) / 2;",
        "step": "  if (a > 0)\n    return b + 1;\n  return b;",
        "wrap": "  if (a >= b)\n    return a - b;\n  return a;",
        "clip": "  if (a > 10)\n    return b;\n  return a - b;"}
    return "\n".join("%s {\n%s\n}\n" % (head % n, body[n])
                     for n in sorted(NAMES, key="clip".__eq__))


WHOLE = [c if c[0] != "mean" else ("mean", 7, 3, 5) for c in CASES]
JS = braces("function do_%s(a, b)") + \
    "\nconst all = { %s };\n" % ", ".join("do_" + n for n in NAMES) + \
    "exports.run = (name, a, b) => all[['do', name].join('_')](a, b);\n"
JS_TESTS = "const test = require('node:test');\n" \
    "const assert = require('node:assert');\n" \
    "const { run } = require('../calc.js');\n\n" + "".join(
        "test('case %d', () => {\n  assert.strictEqual(run('%s', %d, %d), %d);"
        "\n});\n" % ((i, *c)) for i, c in enumerate(WHOLE))
C = '#include "calc.h"\n\n' + braces("static int\ndo_%s(int a, int b)") + \
    "\nstatic int (*const all[])(int, int) = { %s };\n\n" % ", ".join(
        "do_" + n for n in NAMES) + \
    "int run(int op, int a, int b)\n{\n  return all[op](a, b);\n}\n"
C_TESTS = '#include <stdio.h>\n#include "../calc.h"\n\n' \
    "static int n, bad;\n\n" \
    "static void\nok(int good, const char *title)\n{\n" \
    '  printf("%s %d - %s\\n", good ? "ok" : "not ok", ++n, title);\n' \
    "  bad += !good;\n}\n\nint\nmain(void)\n{\n" + "".join(
        '  ok(run(%d, %d, %d) == %d, "case %d");\n'
        % (NAMES.index(c[0]), *c[1:], i) for i, c in enumerate(WHOLE)) + \
    "  return bad > 0;\n}\n"
MAKEFILE = "test: tests/run\n\t./tests/run\n\ntests/run: calc.c calc.h " \
    "tests/run.c\n\tcc -O0 -o $@ calc.c tests/run.c\n\n.PHONY: test\n"


def tried(box):
    """How many edits all workers of the only run tried, from its record."""
    n = 0
    for base, _, names in os.walk(box.state):
        for name in names:
            if not name.endswith(".jsonl") or "sessions" not in base:
                continue
            with open(os.path.join(base, name), encoding="utf-8") as f:
                for line in f:
                    m = json.loads(line)
                    m = m.get("message", m)
                    if m.get("role") != "tool":
                        continue
                    try:
                        result = json.loads(m.get("content", ""))
                    except ValueError:
                        continue
                    if isinstance(result, dict):
                        n += result.get("tried", 0)
    return n


def search(label, files, test, *more, workers="2"):
    with lib.Box() as box:
        repo = box.repo("calc", files)
        r = box.run(repo, "-t", test, "-n", workers, *more, timeout=150)
        lib.equal(r.finished.get("status"), "fixed", label + ": fixed", r)
        lib.equal(r.all("monitor"), [], label + ": nothing is suspicious", r)
        patch = r.finished.get("patch")
        text = lib.read(patch) if patch else ""
        lib.equal(text.count("diff --git"), 1, label + ": one file", text)
        n = tried(box)
        print("%-28s %4d tried %6.1f s" % (label, n, r.seconds), flush=True)
        return n


def near(language, files, test):
    """Without a tracer it is 150 and more. One worker: what a second has in
    hand when the first finds the fix would be counted too."""
    n = search(language, files, test, workers="1")
    lib.check(0 < n < 130, language + ": few edits are tried", n)
    return n


def compare(language, files, with_it, without):
    few = near(language, files, with_it)
    many = search(language + ", not traced", files, without, workers="1")
    lib.check(2 * few <= many, "%s: at most half as many edits" % language,
              "%d and %d tried" % (few, many))


TREE = {"calc.py": PYTHON, "tests/__init__.py": "",
        "tests/test_calc.py": PYTHON_TESTS}
UNITTEST = "python3 -m unittest"
SMALL = {"calc.py": "def price(net, n):\n    if n > 10:\n        return 0\n"
         "    return net * n\n",
         "tests/__init__.py": "",
         "tests/test_calc.py": "import unittest\n\nfrom calc import price\n"
         "\n\nclass T(unittest.TestCase):\n    def test_limit(self):\n"
         "        self.assertEqual(price(3, 10), 0)\n\n"
         "    def test_price(self):\n"
         "        self.assertEqual(price(3, 9), 27)\n"
         "        self.assertEqual(price(3, 11), 0)\n"}


def spoilt(label, head, *more):
    """The tests of the program begin with that."""
    name = "tests/test_calc.py"
    search(label, dict(SMALL, **{name: head + SMALL[name]}), UNITTEST, *more)


TRACED = "import os, sys, time\n" \
    "here = [p for p in os.environ.get('PYTHONPATH', '').split(':')\n" \
    "        if 'foray-trace' in p]\n"
FAILS = TRACED + "if here:\n    os._exit(3)\n"
HANGS = TRACED + "if here:\n    time.sleep(1000)\n"
EXECS = TRACED + "if here and not sys.flags.ignore_environment:\n" \
    "    os.execv(sys.executable, [sys.executable, '-E', '-m', 'unittest'])\n"
OTHER = TRACED + "sys.settrace(lambda *args: None)\n"
FORGES = TRACED + '''if here:
    rows = ["T 1 x", "F calc.py", "L 2 99999999999 -5 0", "F ../../etc/passwd",
            "L 1", "F a\\tb", "E 7 7 7", "F " + "x" * 3000, "L 1"]
    with open(here[0] + "/out.1", "w") as f:
        f.write("\\n".join(rows * 50))
    print("foray-spectrum %s 1 0\\n= calc.py\\n1/0 2\\nend %s"
          % ((here[0][-16:],) * 2), flush=True)
'''
GARBLES = TRACED + "if here:\n    open(here[0] + '/out.1', 'wb').write(" \
    "b'L 1\\nT\\xff\\0\\nF')\n    os.mkdir(here[0] + '/out.2')\n"
LITTERS = "open('left-behind.txt', 'w').write('x')\n"


SPOILT = {"fails under the tracer": FAILS, "hangs under the tracer": HANGS,
          "execs another Python": EXECS, "has a tracer of its own": OTHER,
          "forges a report": FORGES, "garbles a report": GARBLES}
QUICK = ("hangs under the tracer", "forges a report")


def main(labels):
    jobs = [lambda: compare("Python", TREE, UNITTEST,
                            "python3 -E -m unittest")]
    if shutil.which("node"):
        tree = {"calc.js": JS, "test/calc.test.js": JS_TESTS}
        jobs.append(lambda: near("JavaScript", tree, "node --test"))
    tree_c = {"calc.c": C, "calc.h": "int run(int op, int a, int b);\n",
              "tests/run.c": C_TESTS, "Makefile": MAKEFILE}
    jobs.append(lambda: near("C", tree_c, "make test"))
    for label in labels:
        jobs.append(lambda l=label: spoilt(l, SPOILT[l]))
    jobs.append(lambda: spoilt("leaves a file behind", LITTERS,
                               "--topology", "single"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(j) for j in jobs]:
            job.result()
    lib.done()


if __name__ == "__main__":
    main(QUICK)
