"""How soon after the start of a run the first candidate is tried, in a large
tree: the part "first" of bench.py."""
import json
import os
import subprocess
import time

AIM_FIRST_S = 5
DIRS, FILES, FUNCTIONS = 40, 50, 9  # 2,000 files of 100 lines
ROUNDS = 3
LIMIT_S = 120

FUNCTION = """def fn_%(n)d(a, b):
    \"\"\"A sum of some of the numbers below a.\"\"\"
    total = 0
    for i in range(a):
        if i %% %(d)d == %(m)d:
            total += i * %(d)d
        elif i > b:
            total -= 1
    return total + b


"""
TEST = """import unittest

from pkg.m17.f33 import fn_0, fn_1


class Sums(unittest.TestCase):
    def test_first(self):
        self.assertEqual(fn_0(6, 1), 11)

    def test_second(self):
        self.assertEqual(fn_1(6, 10), 37)
"""


def tree():
    files = {"pkg/__init__.py": "", "tests/__init__.py": "",
             "tests/test_sums.py": TEST}
    for d in range(DIRS):
        files["pkg/m%02d/__init__.py" % d] = ""
        for f in range(FILES):
            text = '"""Part %d of %d."""\n' % (f, d) + "".join(
                FUNCTION % {"n": n, "d": n + 2, "m": n % 2}
                for n in range(FUNCTIONS))
            files["pkg/m%02d/f%02d.py" % (d, f)] = text
    return files


def first_try(argv, env):
    """Seconds until the first try_edits has an answer; the run is ended."""
    start = time.monotonic()
    with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as p:
        try:
            for line in p.stdout:
                if time.monotonic() - start > LIMIT_S:
                    break
                event = json.loads(line)
                if event.get("event") == "tool_call" and \
                        event.get("tool") == "try_edits":
                    return time.monotonic() - start
        finally:
            p.terminate()
            p.stdout.read()
    raise ValueError("no candidate was tried")


def part_first(b):
    files = tree()
    repo = b.repo("first", files)
    argv = [b.program("foray"), "run", "-C", repo, "--json", "-n", "2",
            "-t", "python3 -m unittest"]
    cold, warm = [], []
    for n in range(ROUNDS):
        env = dict(b.env, XDG_CACHE_HOME=os.path.join(b.top, "first%d" % n))
        for times in cold, warm:
            times.append(first_try(argv, env))
    lines = sum(text.count("\n") for text in files.values())
    where = "%d files, %d lines" % (len(files), lines)
    b.table.add("first candidate tried, " + where, cold, unit="s",
                aim=("value", AIM_FIRST_S))
    b.table.add("  the snapshot is there already", warm, unit="s")


PARTS = {"first": part_first}
