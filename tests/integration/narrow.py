#!/usr/bin/env python3
"""Slow suites with one quick failing test: the built-in model tries its edits with
that test alone, and what passes with the whole suite. A control decides first
whether that can be told apart; what mends the test and breaks another is
refuted. narrow_long.py plays all rows; arguments choose them by name."""
import concurrent.futures
import os
import shutil
import subprocess
import sys

import lib

# Seconds of the tests that pass anyhow, and how often what the start has taken
# comes on top: that they are slower by far shows on a busy machine, too.
WAIT, STARTS = 1.0, 8

PY = """def due(day, last):
    # A day that is not the last.
    if day > last:
        return True
    return False


def double(n):
    return n + n
"""
PY_WAITS = """import os
import time
import unittest

import cal


def up():
    with open("/proc/self/stat") as f:
        began = int(f.read().rsplit(")", 1)[1].split()[19])
    return max(0, time.clock_gettime(time.CLOCK_BOOTTIME) -
               began / os.sysconf("SC_CLK_TCK"))


class Waits(unittest.TestCase):
    def test_waits(self):
        time.sleep(%s + %s * up())
        self.assertEqual(cal.double(3), 6)
""" % (WAIT, STARTS)
# != does; < and <= mend the first alone, and so does a condition turned around.
PY_TESTS = """import unittest

import cal


class Due(unittest.TestCase):
    def test_before(self):
        self.assertTrue(cal.due(2, 3))


class Last(unittest.TestCase):
    def test_last(self):
        self.assertFalse(cal.due(3, 3))

    def test_after(self):
        self.assertTrue(cal.due(4, 3))
"""
PYTEST_TESTS = """import cal
import pytest


@pytest.mark.parametrize("day", [2], ids=["it's $(touch x) [a b]"])
def test_before(day):
    assert cal.due(day, 3)


def test_last():
    assert not cal.due(3, 3)


def test_after():
    assert cal.due(4, 3)
"""
# State of the test before: alone it fails whatever the code does.
PY_ORDER = PY_TESTS.replace(
    "    def test_before(self):\n",
    "    def test_a_first(self):\n"
    "        cal.limit = 3\n\n"
    "    def test_before(self):\n").replace(
    "cal.due(2, 3)", "cal.due(2, cal.limit)")

JS = """function due(day, last) {
  if (day > last) {
    return true;
  }
  return false;
}

module.exports = { due };
"""
JS_TESTS = """const { describe, it } = require('node:test');
const assert = require('node:assert');
const { due } = require('../cal.js');

describe('due', () => {
  it("is a day (before) it's [over] $x", () => assert.ok(due(2, 3)));
  it('is not the last', () => assert.ok(!due(3, 3)));
  it('is one after', () => assert.ok(due(4, 3)));
});
"""
JS_WAITS = """const { test } = require('node:test');

const wait = 1000 * (%s + %s * process.uptime());

test('waits', () => new Promise((done) => setTimeout(done, wait)));
""" % (WAIT, STARTS)

GO = """package cal

// Due is a day that is not the last.
func Due(day, last int) bool {
	if day > last {
		return true
	}
	return false
}
"""
GO_TESTS = """package cal

import (
	"testing"
	"time"
)

func TestBefore(t *testing.T) {
	if !Due(2, 3) {
		t.Fatal("2 is due")
	}
}

func TestLast(t *testing.T) {
	if Due(3, 3) {
		t.Fatal("3 is the last")
	}
}

func TestAfter(t *testing.T) {
	time.Sleep(%d * time.Millisecond)
	if !Due(4, 3) {
		t.Fatal("4 is due")
	}
}
""" % 6000  # it compiles for some seconds, every time


def python_tree(tests):
    return {"cal.py": PY, "test_cal.py": tests, "test_waits.py": PY_WAITS}


def works(*argv):
    try:
        return subprocess.run(argv, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


PYTHON = "/usr/bin/python3"  # the one that has Debian's pytest

# name: (is it there, files, test command, narrowed command or None, the source)
ROWS = {
    "unittest": (True, python_tree(PY_TESTS), "python3 -m unittest -v",
                 "python3 -m unittest -v test_cal.Due.test_before", "cal.py"),
    "discover": (True, {"lib/" + n: t
                        for n, t in python_tree(PY_TESTS).items()},
                 "cd lib && PYTHONHASHSEED=0 python3 -m unittest discover -v",
                 "cd lib && PYTHONHASHSEED=0 python3 -m unittest discover "
                 "-p test_cal.py -k test_cal.Due.test_before -v",
                 "lib/cal.py"),
    "pytest": (works(PYTHON, "-m", "pytest", "--version"),
               python_tree(PYTEST_TESTS), PYTHON + " -m pytest -q .",
               PYTHON + " -m pytest -q 'test_cal.py::test_before[it'\\''s "
               "$(touch x) [a b]]'", "cal.py"),
    "node": (shutil.which("node"), {"cal.js": JS, "test/cal.test.js": JS_TESTS,
                                    "test/waits.test.js": JS_WAITS},
             "node --test",
             "node '--test-name-pattern=is a day \\(before\\) it'\\''s "
             "\\[over\\] \\$x$' /", "cal.js"),
    "go": (shutil.which("go"), {"go.mod": "module example.com/cal\n\ngo 1.19\n",
                                "cal.go": GO, "cal_test.go": GO_TESTS},
           "go test -v ./...",
           "go test -run '^TestBefore$' -vet=off -v example.com/cal",
           "cal.go"),
    "order": (True, python_tree(PY_ORDER), "python3 -m unittest -v", None,
              "cal.py"),
}


QUICK = ["unittest", "node", "order"]


def calls(r, kind):
    """The checks that were tried in subtasks of that kind."""
    workers = {e["worker"] for e in r.all("assigned") if e["kind"] == kind}
    return [e["text"] for e in r.all("tool_call") if e["worker"] in workers and
            e["tool"] == "try_edits" and e["verdict"] == "ok"]


def one(name):
    _, files, test, narrowed, source = ROWS[name]
    with lib.Box() as box:
        repo = box.repo(name, files)
        r = box.run(repo, "-t", test, "-n", "2", timeout=240)
        if not lib.equal(r.status, 0, name + ": exit status", r):
            return
        with open(r.finished["patch"], encoding="utf-8") as f:
            patch = f.read()
        lib.check(patch.count("\n+") == 2 and "+++ b/" + source in patch,
                  name + ": one line is mended", patch)
        lib.check(not os.path.exists(os.path.join(repo, "x")),
                  name + ": no name is a command")
        lib.equal(r.all("monitor"), [], name + ": nothing is suspicious")
        controls, tries = calls(r, "plan"), calls(r, "explore")
        whole = [t for t in tries if t == test]
        if narrowed is None:
            lib.check(controls and test not in controls,
                      name + ": a control was run", controls)
            lib.check(not any("test_before" in t for t in tries),
                      name + ": what can't succeed alone is not used", tries)
            return
        lib.check(any(c.startswith(narrowed) for c in controls),
                  name + ": the control", controls)
        lib.check(tries and tries[0].startswith(narrowed),
                  name + ": the failing test first", tries)
        lib.check(whole and len(whole) < len(tries),
                  name + ": the whole for those that pass it", tries)
        # What mends the test alone took more tests to be refuted. Which of
        # them come before the right one is up to the two workers.
        wider = [t for t in tries if not t.startswith(narrowed)]
        lib.check(len(wider) >= 2, name + ": wrong ones met more", tries)
        tried = [e for e in r.all("progress") if e["what"] == "try"][-1]
        lib.check(0 < tried.get("tried", 0) <= tried.get("candidates", 0),
                  name + ": how many were tried", tried)
        print("%-9s %6.1f s, %d of %d calls with all tests" %
              (name, r.seconds, len(whole), len(tries)), flush=True)


def main(names):
    for name in names:
        if not ROWS[name][0]:
            print(name + " is left out: its runner is not there")
    names = [n for n in names if ROWS[n][0]]
    names.sort(key=lambda n: n == "go")  # by itself: it compiles
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(one, n) for n in names]:
            job.result()
    lib.done()


if __name__ == "__main__":
    main(sys.argv[1:] or QUICK)
