#!/usr/bin/env python3
"""How a run of the built-in model ends: out of time, with a branch that has less
than what was tested, with code that keeps its tests from failing."""
import os
import signal
import sys

import lib

TEST = "python3 -m unittest"
# Two faults, so that no one edit mends it.
TWO = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n"
               "    return a + b\n\n\ndef both(a, b):\n"
               "    return add(a, b), mul(a, b)\n",
    "test_calc.py": "import time\nimport unittest\n\nimport calc\n\n\n"
                    "class T(unittest.TestCase):\n    def test_both(self):\n"
                    "        time.sleep(0.4)\n"
                    "        self.assertEqual(calc.both(2, 3), (5, 6))\n",
}


def out_of_time(box):
    """Not "unfixed": less was tried than there is. Resumed, it goes on."""
    repo = box.repo("late", TWO)
    r = box.run(repo, "-t", TEST, "-n", "2", "--max-time", "6s", timeout=60)
    lib.equal((r.status, r.finished.get("status")), (3, "budget"),
              "out of time: the end", r)
    lib.check(lib.soon(r.seconds, 8), "out of time: in time", r)
    # One that came to nothing since is not what "resume" is about.
    bad = box.do("run", "-C", repo, "-t", TEST, "--branch", "a..b")
    lib.equal((bad.status, len(box.runs())), (2, 1), "a run that never began",
              bad)
    box.tool(repo, "list_dir", {"path": "."})
    again = box.do("resume", "--json", "--max-time", "14s", timeout=60)
    lib.check("never began" in again.err, "resumed: which, is said", again)
    lib.equal(again.status, 3, "resumed: the end", again)
    begun = [e for e in again.all("assigned") if e["kind"] == "explore"]
    hinted = box.do("resume", "--json", "-n", "1", "--max-time", "20s",
                    again.finished["run"], "it is the sign", timeout=60)
    lib.equal([e["label"] for e in hinted.all("assigned")
               if e["kind"] == "explore"][:1], ["hint-1"],
              "resumed: a hint comes first", hinted)
    lib.check(begun and again.seconds > 2, "resumed: it goes on", again)
    show = box.do("show", again.finished["run"])
    times = [x for x in show.out.split("\n") if x.startswith("time ")]
    lib.check(len(times) == 1 and times[0].endswith(" in all, resumed 2 times"),
              "resumed: one time is shown", show)
    lib.equal([x for x in show.out.split("\n") if x != x.rstrip()], [],
              "show: no line ends with blanks")


def half_committed(box):
    """A branch starts at HEAD, the tests ran on what is not committed."""
    repo = box.repo("half", {
        "calc.py": TWO["calc.py"].replace("a + b", "a + b" + "\n" * 8),
        "test_calc.py": TWO["test_calc.py"].replace("sleep(0.4)", "sleep(0)")})
    path = os.path.join(repo, "calc.py")
    lib.write(path, lib.read(path).replace("a + b", "a * b"))
    ran = os.path.join(box.dir, "ran")
    lib.write(os.path.join(repo, ".gitattributes"), "* filter=own\n")
    box.git(repo, "config", "filter.own.clean", "touch %s; cat" % ran)
    r = box.run(repo, "-t", TEST, "-n", "2", "--branch", "fx", timeout=60)
    lib.equal(r.status, 0, "half committed: fixed", r)
    lib.check(any("not committed" in w for w in r.finished["warnings"]),
              "half committed: said", r.finished)
    lib.check(not os.path.exists(ran), "no filter of the repository runs")
    repo = box.repo("whole", dict(TWO, **{
        "calc.py": TWO["calc.py"].replace("a + b", "a * b")}))
    r = box.run(repo, "-t", TEST, "-n", "2", "--branch", "fx", timeout=60)
    lib.equal(r.status, 0, "all committed: fixed", r)
    lib.check(not any("not committed" in w for w in r.finished["warnings"]),
              "all committed: nothing to say", r.finished)


GAMED = {
    "lib.py": "import sys\n\n\ndef add(a, b):\n    if a > 100:\n"
              "        __import__('unittest').TestCase.assertEqual = "
              "lambda *a: None\n    return [a, b]\n",
    "test_lib.py": "import unittest\n\nimport lib\n\n\n"
                   "class T(unittest.TestCase):\n    def test_add(self):\n"
                   "        r = lib.add(2, 3)\n"
                   "        self.assertEqual(r, 5)\n\n"
                   "    def test_n(self):\n        self.assertEqual(1, 1)\n",
}


def gamed(box):
    """The tree before the patch is judged by its own text, not by the bytecode
    of a patch that is as long and as old."""
    for n in range(2):
        repo = box.repo("gamed%d" % n, GAMED)
        live = box.start(repo, "-t", TEST, "-n", "2")
        live.wait_event("verified", 60)
        live.signal(signal.SIGINT)
        r = live.wait(30)
        lib.check(r.status in (1, 130) and "patch" not in r.finished,
                  "gamed: refused", r)
        lib.check(any("must fail" in e["reason"] for e in r.all("verified")
                      if not e["ok"]), "gamed: why", r.all("verified"))


def main(parts):
    with lib.Box() as box:
        for part in parts:
            part(box)
    lib.done()


ALL = (out_of_time, half_committed, gamed)

if __name__ == "__main__":
    main([p for p in ALL if p.__name__ in sys.argv[1:]] or ALL)
