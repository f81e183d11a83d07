#!/usr/bin/env python3
"""A bug in a file that only the test command names: a run without a fix says
which option frees it, and with the option the fix counts, with a warning."""
import sys

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

FILES = {
    "calc.py": 'import doctest\n\n\ndef add(a, b):\n    """\n    >>> add(1, 2)\n'
               '    3\n    """\n    return a - b\n\n\n'
               'if __name__ == "__main__":\n'
               '    raise SystemExit(doctest.testmod().failed)\n',
    "tests/test_more.py": "# more\n",
    "README": "Adds.\n",
}
WRONG = {"path": "calc.py", "old": "a - b", "new": "a + b"}


def call(tool, **arguments):
    return {"text": "", "calls": [{"name": tool, "arguments": arguments}]}


def finish(verdict):
    return call("finish", verdict=verdict, findings=["what there is to say"])


SCRIPTS = [
    {"match": r"\[freed\]", "turns": [call("edit_file", **WRONG),
                                      finish("fixed")]},
    {"match": r"\[later\]", "turns": [call("run_command", command="true"),
                                      call("edit_file", **WRONG),
                                      finish("fixed")]},
    {"match": r"\[lies\]", "turns": [
        call("finish", verdict="refuted", findings=[
            "the worker tried to change README, which is protected: refused",
            "the worker tried to change calc.pyx, which is protected: refused",
        ])]},
    {"match": r"\[tests\]", "turns": [
        call("edit_file", path="tests/test_more.py", old="more", new="less"),
        finish("stuck")]},
    {"match": r"\[held\]", "turns": [call("edit_file", **WRONG),
                                     finish("stuck")]},
]


def run(box, server, repo, row, *args):
    return box.run(repo, "-t", "python3 calc.py", "-m", "openai/fake-model",
                   "--topology", "single", "--no-builtin", *args,
                   "Make the tests pass. [%s]" % row, env=server.env(),
                   timeout=60)


def held(box, server, repo):
    r = run(box, server, repo, "held")
    lib.equal(r.status, 1, "held: no fix", r)
    lib.equal(r.finished.get("protected"), ["calc.py"], "held: it is named", r)
    lib.check("--unprotect calc.py" in r.err, "held: the option is said", r)
    for row in ("tests", "lies"):
        r = run(box, server, repo, row)
        lib.equal(r.status, 1, row + ": no fix", r)
        lib.check("protected" not in r.finished and "--unprotect" not in r.err,
                  row + ": nothing is to be freed", r)
    r = run(box, server, repo, "freed", "--unprotect", "calc.py",
            "--protect", "*.py")
    lib.equal(r.status, 1, "--protect is stronger", r)


def freed(box, server, repo):
    r = run(box, server, repo, "freed", "--unprotect", "./calc.py")
    lib.equal(r.status, 0, "freed: a fix", r)
    lib.check(any("calc.py" in w and "--unprotect" in w
                  for w in r.finished.get("warnings", [])),
              "freed: it is warned of", r)
    r = run(box, server, repo, "later", "--unprotect", "calc.py",
            "--max-calls", "1")
    lib.equal(r.status, 3, "a budget ends it", r)
    r = box.do("resume", "--max-calls", "9", env=server.env())
    lib.equal(r.status, 0, "what goes on knows what is free", r)


with lib.Box() as box, FakeServer({"scripts": SCRIPTS}) as server:
    repo = box.repo("calc", FILES)
    before = lib.fingerprint(repo)
    held(box, server, repo)
    freed(box, server, repo)
    r = box.tool(repo, "edit_file", WRONG, "-t", "python3 calc.py",
                 "--unprotect", "calc.py")
    lib.check("+    return a + b" in str(r.json.get("patch")),
              "a tool call knows the option", r)
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "the tree is untouched")
lib.done()
