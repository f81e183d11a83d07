#!/usr/bin/env python3
"""The tracer of JavaScript tells the parts of a line: what stands behind an
`if`, a `?` or a `||` on it is of those tests that get there."""
import os
import shutil
import subprocess
import tempfile

import lib

TRACE = os.path.join(lib.TESTS, "../orchestrator/repair/trace")
NONCE = "0123456789abcdef"
CALC = """exports.run = function run(name, a, b) {
  if (name === 'add') return a + b;
  if (name === 'clip') return a > 10 ? b : a - b;
  return (a || b) + b;
};
"""
TEST = """const test = require('node:test');
const assert = require('node:assert');
const { run } = require('../calc.js');
test('add', () => assert.strictEqual(run('add', 1, 2), 3));
test('clip', () => assert.strictEqual(run('clip', 1, 2), 3));
test('or', () => assert.strictEqual(run('', 0, 2), 4));
test('sum', () => assert.strictEqual(run('', 3, 2), 5));
"""


def kinds(report):
    """line: "FAILED/PASSED" of the tests that it is of."""
    found = {}
    for row in report.splitlines():
        kind, _, ranges = row.partition(" ")
        if kind not in ("=", "foray-spectrum", "end"):
            for r in ranges.split(","):
                first, _, last = r.partition("-")
                for n in range(int(first), int(last or first) + 1):
                    found[n] = kind
    return found


def main():
    if not shutil.which("node"):
        raise SystemExit(77)
    with tempfile.TemporaryDirectory() as top:
        place, repo = os.path.join(top, "d"), os.path.join(top, "repo")
        os.makedirs(place)
        os.makedirs(os.path.join(repo, "test"))
        for name in ("trace.js", "report.js"):
            shutil.copy(os.path.join(TRACE, name), place)
        for name, text in (("calc.js", CALC), ("test/calc.test.js", TEST)):
            with open(os.path.join(repo, name), "w", encoding="utf-8") as f:
                f.write(text)
        with open(os.path.join(place, "tree"), "w", encoding="utf-8") as f:
            f.write(repo + "\n")
        env = dict(os.environ, NODE_OPTIONS="--require=%s/trace.js" % place)
        env.pop("NODE_TEST_CONTEXT", None)
        subprocess.run(["node", "--test"], cwd=repo, env=env, check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        report = subprocess.run(
            ["node", os.path.join(place, "report.js"), NONCE], check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    found = kinds(report)
    lib.equal(report.splitlines()[0], "foray-spectrum %s 1 3" % NONCE,
              "four tests, one of which fails")
    lib.equal(found.get(2), "1/3", "a line is of all that reach it")
    lib.equal(found.get(3), "1/0", "but for what only failing ones reach")
    lib.done()


if __name__ == "__main__":
    main()
