#!/usr/bin/env python3
"""try_edits in batches says what it says without them: for candidates that do
all kinds of harm, and for test suites of all kinds. A check with "; exit $?"
behind it is no plain test command, and never runs in a batch."""
import json
import os
import re
import subprocess
import sys

import lib

LIMIT_S = 60  # of a candidate; this machine may be busy
LANE = "/run/foray-batch"

CALC = """import os


def add(a, b):
    return a - b


def twice(a):
    return 2 * a
"""
TESTS = """import unittest

import calc


class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(1, 2), 3)

    def test_twice(self):
        self.assertEqual(calc.twice(4), 8)

    def test_zero(self):
        self.assertEqual(calc.add(0, 0), 0)
"""
# The status says where it ran.
MARK = "import os\nos._exit(41 if os.path.isdir(%r) else 42)\n" % LANE

PYTEST = [p for p in ("python3", "/usr/bin/python3")
          if subprocess.run([p, "-c", "import pytest"], check=False,
                            stderr=subprocess.DEVNULL).returncode == 0]


def edit(new, old="return a - b", path="calc.py"):
    return {"changes": [{"path": path, "old": old, "new": new}]}


def body(text, path="calc.py"):
    """Runs when the module is imported."""
    return edit(text + "\n\n\ndef add(a, b):", "def add(a, b):", path)


def mark(path="calc.py", old="def add(a, b):"):
    return edit(MARK + old, old, path)


def wrong(n, old="return a - b"):
    """n candidates that fail each in its own way."""
    return [edit("return a - b * %d" % (k + 2), old) for k in range(n)]


def try_edits(box, repo, check, edits, limit=LIMIT_S, **more):
    r = box.tool(repo, "try_edits",
                 {"check": check, "edits": edits, "timeout_s": limit, **more},
                 timeout=400)
    try:
        return json.loads(r.json["result"]), r
    except (KeyError, TypeError, ValueError):
        lib.check(False, "try_edits answers", r)
        return {"passed": [], "results": [], "tried": 0}, r


def said(result):
    """What may not differ: times do."""
    text = "%s %s" % (result["pass"], result.get("why", ""))
    return re.sub(r"in [0-9.]+s|=+|0x[0-9a-f]+|pid [0-9]+", "", text)


def same(box, name, repo, check, edits, lane=True, **more):
    """Both ways; the last edit is a mark. lane: where that is to run."""
    batch, r = try_edits(box, repo, check, edits, **more)
    plain, q = try_edits(box, repo, check + "; exit $?", edits, **more)
    for i in range(len(edits)):
        one, two = ([x for x in v["results"] if x["n"] == i + 1]
                    for v in (batch, plain))
        if not lib.check(one and two, "%s: edit %d was tried" % (name, i + 1),
                         "%s\n%s" % (r, q)):
            continue
        if i < len(edits) - 1:
            lib.equal(said(one[0]), said(two[0]),
                      "%s: edit %d gives the same" % (name, i + 1), r)
    lib.equal(sorted(batch["passed"]), sorted(plain["passed"]),
              name + ": the same pass", r)
    if lane is not None:
        lib.equal(plain["results"][-1].get("why"), "exit 42",
                  name + ": the other one runs in a sandbox", q)
        where(box, name, repo, check, edits[-1], lane, batch, r)
    return batch


def where(box, name, repo, check, last, lane, batch, r):
    """Lanes may come late where much else runs: once more, with more edits."""
    for n in (30, 60):
        if not lane or batch["results"][-1].get("why") == "exit 41":
            break
        path = last["changes"][0]["path"]
        old = last["changes"][0]["old"]
        batch, r = try_edits(box, repo, check, [
            edit("def fail_%d(): pass\n\n\n%s" % (k, old), old, path)
            for k in range(n)] + [last])
    lib.equal(batch["results"][-1].get("why"), "exit 41" if lane else "exit 42",
              "%s: it runs in a %s" % (name, "lane" if lane else "sandbox"), r)


# --- candidates that do harm --------------------------------------------------

DAEMON = """if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        while True:
            try:
                open('calc.py', 'w').write('broken(')
            except OSError:
                pass
            time.sleep(0.01)
    os._exit(0)
"""
FORGE = """for fd in range(3, 40):
    for who in ('self', os.getppid(), 1, 2):
        for k in range(30):
            try:
                f = os.open('/proc/%%s/fd/%%d' %% (who, fd), os.O_WRONLY | os.O_NONBLOCK)
                os.write(f, b'%d e 0 0 0 0 0\\n' %% k)
            except OSError:
                break
""".replace("%%", "%")
INHERITED = """for fd in range(3, 64):
    try:
        os.write(fd, b'5 e 0 0 0 0 0\\n')
        os.read(fd, 1)
    except OSError:
        pass
"""
SEGFAULT = "import ctypes\nctypes.string_at(0)"
HARM = [
    edit("return a + b"),
    edit("while True: pass"),
    edit("return ("),
    body("os._exit(0)"),
    body("os._exit(7)"),
    body("raise SystemExit('no more')"),
    body("raise SystemExit(0)"),
    body("raise SystemExit(256)"),
    body("raise KeyboardInterrupt"),
    body(SEGFAULT),
    body("os.abort()"),
    body("os.kill(os.getpid(), 9)"),
    body(DAEMON),
    edit("return a + b"),
    body("if os.fork() == 0:\n    import time\n    time.sleep(600)"),
    body("open('left.txt', 'w').write('x')\nos.mkdir('left')\n"
         "open('/tmp/left', 'w').write('x')\nos.mkdir('/dev/shm/left')\n"
         "open('sub/left', 'w').write('x')"),
    body("assert not any(map(os.path.exists, ('left.txt', 'left', '/tmp/left',"
         " '/dev/shm/left', 'sub/left')))\nos._exit(4)"),
    body("os.chdir('/')"),
    body(FORGE),
    body(INHERITED),
    body("x = bytearray(1 << 45)"),
    body("print('x' * 3000000)"),
    body("import sys\nsys.stdout.close()\nsys.stderr.close()"),
    body("import sys\nsys.path.clear()\nsys.modules.clear()"),
    edit("return a + b"),
    mark(),
]
# What the lane does not survive; only so much of it is borne with.
BREAKS = [
    body("os.kill(os.getppid(), 9)\nimport time\ntime.sleep(2)"),
    body("os.unlink('test_calc.py')"),
    body("assert os.path.exists('test_calc.py')\nos._exit(5)"),
    body("open('data.json', 'a').write('more')"),
    body("assert open('data.json').read() == '{}'\nos._exit(6)"),
    body("os.kill(-1, 9)\nimport time\ntime.sleep(2)"),
    body("os.rename('sub', 'bus')"),
    body("assert os.path.exists('sub/x')\nos._exit(7)"),
    body("os.chmod('sub', 0o500)"),
    body("os.chmod('calc.py', 0o444)"),
    body("os.symlink('data.json', 'link')"),
    edit("return a + b"),
    mark(),
]


def harm(box):
    repo = box.repo("harm", {"calc.py": CALC, "test_calc.py": TESTS,
                             "data.json": "{}", "sub/x": ""})
    before = lib.fingerprint(repo)
    got = same(box, "harm", repo, "python3 -m unittest", HARM, limit=10)
    lib.check({1, 14, len(HARM) - 1} <= set(got["passed"]),
              "the right ones pass", got)
    got = same(box, "breaks", repo, "python3 -m unittest", BREAKS, lane=None)
    lib.equal(got["passed"], [len(BREAKS) - 1], "the right one passes", got)
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "harm: the tree is unchanged")


def lies(box):
    """Passing in a lane only is no pass."""
    repo = box.repo("lies", {"calc.py": CALC, "test_calc.py": TESTS})
    lie = body("if os.path.isdir(%r):\n    os._exit(0)" % LANE)
    got, r = try_edits(box, repo, "python3 -m unittest",
                       wrong(10) + [lie, mark()])
    lib.equal(got["passed"], [], "a lie in a lane is found out", r)
    truth = body("if os.path.isdir(%r):\n    os._exit(1)\nelse:\n"
                 "    os._exit(0)" % LANE)
    got, r = try_edits(box, repo, "python3 -m unittest", [truth] * 12)
    lib.equal(sorted(got["passed"]), list(range(1, 13)),
              "a wrong refusal is found out, and all of them are taken back", r)


def stops(box):
    repo = box.repo("stops", {"calc.py": CALC, "test_calc.py": TESTS})
    got, r = try_edits(box, repo, "python3 -m unittest",
                       wrong(20) + [edit("return a + b")] + wrong(60),
                       stop_on_pass=True)
    lib.equal(got["passed"], [21], "it stops at the one that passes", r)
    lib.check(21 <= got["tried"] < 81, "and not all of the others", r)


# --- suites -------------------------------------------------------------------

def suite(box, name, files, check="python3 -m unittest", edits=None, lane=True,
          **more):
    repo = box.repo(name, {"calc.py": CALC, "test_calc.py": TESTS, **files})
    edits = edits if edits is not None else \
        wrong(12) + [edit("return a + b"), mark()]
    return same(box, name, repo, check, edits, lane, **more)


def with_test(text):
    return {"test_calc.py": TESTS + text}


def trees(box):
    suite(box, "writes", with_test("""
    def test_file(self):
        import os
        self.assertFalse(os.path.exists("out.log"))
        self.assertFalse(os.path.exists("build"))
        os.makedirs("build/deep")
        for name in ("out.log", "build/deep/x", "/tmp/tmp.log"):
            open(name, "w").close()
"""))
    suite(box, "changes", {"state.txt": "0", **with_test("""
    def test_state(self):
        with open("state.txt") as f:
            n = int(f.read())
        with open("state.txt", "w") as f:
            f.write(str(n + 1))
        self.assertEqual(n, 0)
""")}, lane=False)
    suite(box, "starts", with_test("""
    def test_process(self):
        import subprocess, sys
        out = subprocess.run([sys.executable, "-c",
                              "import calc; print(calc.add(5, 6))"],
                             stdout=subprocess.PIPE, check=False).stdout
        self.assertEqual(out.split(), [b"11"])

    def test_source(self):
        import inspect, linecache
        self.assertIn(inspect.getsource(calc.add), open("calc.py").read())
"""))
    suite(box, "port", with_test("""
    def test_port(self):
        import socket
        with socket.socket() as s:
            s.bind(("127.0.0.1", 43210))
            s.listen(1)
            c = socket.create_connection(("127.0.0.1", 43210))
            s.accept()[0].close()
            c.close()
"""), lane=None)


def kinds(box):
    suite(box, "random", {}, lane=None, edits=wrong(9) + [mark()])
    repo = os.path.join(box.src, "random")
    say = body("import random\nprint(random.random(), flush=True)\nos._exit(3)")
    got, r = try_edits(box, repo, "python3 -m unittest", [say] * 10)
    lib.equal(len({x.get("why") for x in got["results"]}), 10,
              "each has its own random numbers", r)
    suite(box, "many", {"more.py": CALC, "test_calc.py": TESTS.replace(
        "import calc", "import calc, more").replace(
            "calc.twice(4)", "more.add(8, 0)")},
          edits=wrong(8) + [
              {"changes": [edit("return a + b")["changes"][0],
                           edit("return a + b", path="more.py")["changes"][0]]},
              edit("return a + b"),
              {"changes": [edit("return a + b")["changes"][0],
                           edit("return 9", path="more.py")["changes"][0]]},
              {"changes": [edit("return a + b")["changes"][0],
                           {"path": "new.py", "old": "", "new": "Y = 1\n"}]},
              mark()])
    crlf = CALC.replace("\n", "\r\n").encode()
    bom = b"\xef\xbb\xbf" + CALC.encode()
    latin = b"# -*- coding: latin-1 -*-\nNAME = '\xe4'\n" + CALC.encode()
    for name, text in (("crlf", crlf), ("bom", bom), ("latin", latin)):
        suite(box, name, {"calc.py": text})
    # Same size, same second: bytecode must not be mistaken.
    suite(box, "bytecode", {}, edits=[
        edit("return a %s b" % op) for op in "*/%&|^@*/%&|^+"] + [mark()])


def names(box):
    """Modules of the tree that stand before the interpreter's own."""
    suite(box, "shadow", {
        "json.py": "MINE = 1\n", "random.py": "MINE = 2\n",
        "select.py": "MINE = 3\n",
        **with_test("""
    def test_mine(self):
        import json, random
        self.assertEqual((json.MINE, random.MINE), (1, 2))
""")}, lane=None)
    suite(box, "own", {"unittest.py": "import calc\nimport sys\n"
                                      "print('mine')\n"
                                      "sys.exit(calc.add(1, 2) != 3)\n"},
          lane=True)
    suite(box, "site", {"src/sitecustomize.py": "import calc2\n",
                        "src/calc2.py": "X = 1\n"},
          check="PYTHONPATH=src python3 -m unittest", lane=False)


def commands(box):
    layout = {"src/calc.py": CALC, "tests/test_calc.py": TESTS,
              "tests/__init__.py": "", "sub/calc.py": CALC,
              "sub/test_calc.py": TESTS}
    repo = box.repo("layout", layout)
    deep = {"path": "src/calc.py"}
    edits = [edit("return a * b - %d" % k, **deep) for k in range(9)] + [
        edit("return a + b", **deep), mark(**deep)]
    for check in ("PYTHONPATH=src python3 -m unittest discover -s tests -t .",
                  "PYTHONPATH=\"src\" python3 -B -m unittest -q 'tests.test_calc'"
                  " 2>&1",
                  "PYTHONPATH=src python3 -W error -m unittest -f "
                  "tests.test_calc.T.test_add"):
        # A mark ends the process before anything is said of it.
        same(box, check[:60], repo, check, edits)
    edits = [edit("return a * b - %d" % k, path="sub/calc.py")
             for k in range(9)] + [edit("return a + b", path="sub/calc.py"),
                                   mark("sub/calc.py")]
    same(box, "cd", repo, "cd sub && python3 -m unittest", edits)
    lib.write(os.path.join(repo, "sub/run.py"),
              "import sys\nfrom calc import add\nprint(sys.argv, __name__,"
              " __file__)\nsys.exit(add(1, 2) != 3)\n")
    same(box, "a file", repo, "python3 sub/run.py -v 'a b'", edits)
    for check in ("cd sub; python3 -m unittest", "python3 -i sub/run.py"):
        same(box, check, repo, check, edits, lane=False)


def with_pytest(box):
    if not PYTEST:
        print("# there is no pytest")
        return
    py = PYTEST[0]
    files = {
        "pytest.ini": "[pytest]\naddopts = -ra\n",
        "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n"
                       "    return 3\n",
        "test_more.py": "import calc\n\n\ndef test_three(three, tmp_path):\n"
                        "    (tmp_path / 'x').write_text('y')\n"
                        "    assert calc.add(1, 2) == three\n"
                        "\n\ndef test_slow(capfd):\n    assert calc.twice(2) == 4\n",
        ".pytest_cache/v/cache/lastfailed": "{}",
    }
    suite(box, "pytest", files, check=py + " -m pytest")
    repo = os.path.join(box.src, "pytest")
    edits = wrong(9) + [edit("return a + b"), mark()]
    same(box, "-x -q -k", repo, py + " -m pytest -x -q -k 'three or zero'", edits)
    same(box, "--lf", repo, py + " -m pytest --lf", edits, lane=False)
    # Without a conftest.py it is configured once for all.
    prints = ("import os\nimport calc\n\n\ndef test_prints(capsys, tmp_path):\n"
              "    print('z' * 70000)\n    assert capsys.readouterr().out[0] == 'z'"
              "\n    assert os.read(0, 1) == b''\n\n\n"
              "def test_left(capfd):\n    os.write(1, b'w' * 50)\n"
              "    assert capfd.readouterr().out == 'w' * 50\n"
              "    assert calc.add(2, 2) == 4\n")
    got = suite(box, "pytest-once", {"pytest.ini": "[pytest]\naddopts = -q\n",
                                     "test_prints.py": prints, "data.json": "{}",
                                     "sub/x": ""},
                check=py + " -m pytest", edits=HARM, limit=10)
    lib.check({1, 14, len(HARM) - 1} <= set(got["passed"]),
              "pytest once: the right ones pass", got)
    if os.path.exists("/usr/bin/pytest"):
        same(box, "pytest alone", repo, "PYTHONPATH=. pytest -q", edits)
        same(box, "pytest alone, once", os.path.join(box.src, "pytest-once"),
             "PYTHONPATH=. pytest -q", edits)


ALL = (harm, lies, stops, trees, kinds, names, commands, with_pytest)
QUICK = (lies, stops, trees)


def main(parts):
    for uid in lib.users("root"):
        with lib.Box(uid) as box:
            for part in parts:
                part(box)
    lib.done()


if __name__ == "__main__":
    main([p for p in ALL if p.__name__ in sys.argv[1:]] or QUICK)
