#!/usr/bin/env python3
"""Each tool by `foray tool`: what it does, what it refuses, and that the tree
changes with --apply only."""
import concurrent.futures
import contextlib
import json
import os
import sqlite3

import lib

FILES = {
    "src/a.py": "def add(a, b):\n    return a - b\n\n\nX = 1\n",
    "src/b.txt": "".join("line %d\n" % n for n in range(1, 2001)),
    "tests/test_a.py": "import unittest\n",
    "Makefile": "test:\n\ttrue\n",
    "README": "some words\n",
}


class Tree:
    def __init__(self, box):
        self.box = box
        self.path = box.repo("tree", FILES)
        lib.write(os.path.join(box.home, "secret"), "hidden-words\n")
        os.symlink("../../secret", os.path.join(self.path, "out"))
        os.symlink("../..", os.path.join(self.path, "up"))
        box.own()
        self.before = lib.fingerprint(self.path)

    def call(self, name, arguments, *options):
        r = self.box.tool(self.path, name, arguments, *options)
        lib.equal(lib.differences(self.before, lib.fingerprint(self.path)), [],
                  "%s: the tree is unchanged" % name)
        return r

    def good(self, what, name, arguments, *parts, patch=None):
        """It works, the result holds the parts, and patch is in the patch."""
        r = self.call(name, arguments)
        lib.equal((r.status, r.json.get("ok")), (0, True), what, r)
        for part in parts:
            lib.check(part in str(r.json.get("result")),
                      "%s: %r in the result" % (what, part), r)
        if patch is None:
            lib.equal(r.json.get("patch"), "", what + ": no patch", r)
        else:
            lib.check(patch in str(r.json.get("patch")),
                      "%s: %r in the patch" % (what, patch), r)
        return r.json

    def bad(self, what, name, arguments, *parts, options=()):
        """It is refused with an error that holds the parts."""
        r = self.call(name, arguments, *options)
        lib.equal((r.status, r.json.get("ok")), (1, False), what, r)
        error = r.json.get("error", "")
        lib.check(error, what + ": there is an error", r)
        lib.check("hidden-words" not in r.text, what + ": nothing leaks", r)
        for part in parts:
            lib.check(part in error, "%s: %r in the error" % (what, part), r)


def reading(t):
    t.good("read_file", "read_file", {"path": "src/a.py"},
           "return a - b", "lines 1-5 of 5")
    t.good("a part of a file", "read_file",
           {"path": "src/b.txt", "offset": 1500, "limit": 2},
           "line 1500\nline 1501\n", "lines 1500-1501 of 2000")
    t.good("a long file", "read_file", {"path": "src/b.txt"},
           "lines 1-1000 of 2000")
    t.good("by absolute path", "read_file",
           {"path": os.path.join(t.path, "README")}, "some words")
    t.good("list_dir", "list_dir", {}, "src/", "README")
    t.good("list_dir of one", "list_dir", {"path": "src"}, "a.py", "b.txt")
    t.good("list_dir, recursive", "list_dir", {"recursive": True}, "src/a.py")
    t.good("grep", "grep", {"pattern": "return a"}, "src/a.py:2:", "return a - b")
    t.good("grep, fixed", "grep", {"pattern": "(a, b)", "fixed": True},
           "src/a.py:1:")
    t.good("grep, nothing", "grep", {"pattern": "nowhere-x"}, "no matches")
    t.bad("grep, bad pattern", "grep", {"pattern": "(a"})
    t.bad("no such file", "read_file", {"path": "src/zzz.py"}, "src/zzz.py")


def editing(t):
    t.good("edit_file", "edit_file",
           {"path": "src/a.py", "old": "a - b", "new": "a + b"},
           "line 2", patch="+    return a + b")
    made = t.good("a new file", "edit_file",
                  {"path": "src/new.py", "old": "", "new": "Y = 2\n"},
                  patch="+Y = 2")
    lib.check("new file mode" in made.get("patch", ""), "it is new", made)
    t.bad("old text that is not there", "edit_file",
          {"path": "src/a.py", "old": "a * b", "new": "a"})
    t.bad("old text that is there twice", "edit_file",
          {"path": "src/a.py", "old": "a", "new": "z"})
    unified = ("--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n"
               " def add(a, b):\n-    return a - b\n+    return a + b\n")
    t.good("a unified diff", "apply_patch", {"patch": unified},
           "src/a.py", patch="+    return a + b")
    envelope = ("*** Begin Patch\n*** Update File: src/a.py\n@@ def add(a, b):\n"
                "-    return a - b\n+    return a + b\n"
                "*** Add File: src/c.py\n+Z = 3\n"
                "*** Delete File: README\n*** End Patch\n")
    made = t.good("the other form", "apply_patch", {"patch": envelope},
                  "src/a.py", "src/c.py", patch="+    return a + b")
    lib.check("+Z = 3" in made.get("patch", "") and
              "deleted file" in made.get("patch", ""),
              "all three files are in the patch", made)
    t.bad("half a patch fits", "apply_patch",
          {"patch": envelope.replace("README", "nowhere")}, "nowhere")
    t.bad("no patch at all", "apply_patch", {"patch": "please fix it"})


def running(t):
    t.good("run_command", "run_command", {"command": "echo hi; exit 3"},
           "exit status 3", "hi")
    t.good("a command that writes", "run_command",
           {"command": "echo 'W = 4' >src/w.py"}, "exit status 0",
           patch="+W = 4")
    t.good("a command that takes too long", "run_command",
           {"command": "echo start; sleep 600", "timeout_s": 4}, "start")
    long = t.good("much output", "run_command", {"command": "seq 1 300000"},
                  "300000", "/tmp/out-1.txt")
    lib.check(len(str(long.get("result"))) < 100000, "it is capped")
    t.good("bytes of all kinds", "run_command",
           {"command": r"printf 'a\033[31mb\000c\377d'"}, "exit status 0")
    edits = [{"label": op, "changes": [{"path": "src/a.py", "old": "a - b",
                                        "new": "a %s b" % op}]} for op in "*+/"]
    check = "python3 -c 'import sys; sys.path.insert(0, \"src\"); import a; " \
            "sys.exit(a.add(3, 4) != 7)'"
    made = t.good("try_edits", "try_edits", {"check": check, "edits": edits})
    try:
        found = json.loads(made.get("result", ""))
    except ValueError:
        found = {}
    lib.equal(found.get("passed"), [2], "the second edit passes", made)
    lib.equal(found.get("tried"), 3, "all three were tried", made)
    t.bad("try_edits without edits", "try_edits", {"check": "true", "edits": []})
    t.good("update_todos", "update_todos",
           {"todos": [{"text": "one", "done": True},
                      {"text": "two", "done": False}]}, "2 todos, 1 done")
    t.good("finish", "finish", {"verdict": "refuted", "findings": ["x"]},
           "refuted")
    t.bad("finish without a change", "finish", {"verdict": "fixed"})
    t.bad("finish, unknown verdict", "finish", {"verdict": "great"}, "refuted")


def malformed(t):
    t.bad("no JSON", "read_file", "{path: ", "JSON")
    t.bad("cut-off JSON", "read_file", '{"path": "src/a', "JSON")
    t.bad("a list", "read_file", "[1, 2]", "object")
    t.bad("no such tool", "open_door", {}, "open_door", "read_file")
    t.bad("a missing argument", "read_file", {}, "path")
    t.bad("a wrong type", "read_file", {"path": 5}, "path", "string")
    t.bad("a wrong type below", "try_edits",
          {"check": "true", "edits": [{"changes": "x"}]}, "changes")
    t.bad("a negative number", "read_file", {"path": "README", "offset": -1},
          "offset")


def escapes(t):
    outside = os.path.join(t.box.home, "secret")
    for path in ("../../secret", outside, "out", "up/secret", "/etc/passwd",
                 "src/../../../secret", "/proc/self/environ"):
        t.bad("read_file " + path, "read_file", {"path": path})
        t.bad("edit_file " + path, "edit_file",
              {"path": path, "old": "hidden-words", "new": "x"})
    t.bad("a new file outside", "edit_file",
          {"path": "../made", "old": "", "new": "x"})
    t.bad("a new file by a link", "edit_file",
          {"path": "up/made", "old": "", "new": "x"})
    t.bad("list_dir outside", "list_dir", {"path": ".."})
    t.bad("list_dir by a link", "list_dir", {"path": "up"})
    r = t.call("grep", {"pattern": "hidden", "path": "up"})
    lib.check("hidden-words" not in r.text, "grep by a link finds nothing", r)
    for path in ("../made", "up/made", os.path.join(t.box.home, "made"),
                 ".git/hooks/post-checkout", ".git/config", "src/.git/x"):
        t.bad("a patch that adds " + path, "apply_patch",
              {"patch": "*** Begin Patch\n*** Add File: %s\n+x\n"
                        "*** End Patch\n" % path})
        t.bad("a diff that adds " + path, "apply_patch",
              {"patch": "--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+x\n" % path})
    t.bad("edit_file .git/config", "edit_file",
          {"path": ".git/config", "old": "[core]", "new": "[x]"})
    for path in (".git/config", ".git/hooks/x"):
        r = t.call("run_command", {"command": "echo x >>" + path})
        lib.check("exit status 0" not in str(r.json.get("result")),
                  "a command can't write " + path, r)
        lib.equal(r.json.get("patch"), "", "nothing of .git in the patch", r)
    lib.check(not os.path.exists(os.path.join(t.box.home, "made")) and
              not os.path.exists(os.path.join(t.box.src, "made")),
              "nothing was made outside")
    r = t.call("run_command", {"command": "rm -rf .git; mkdir -p src/.git; "
                                          "echo x >src/.git/x; true"})
    lib.check(".git" not in r.json.get("patch", ""),
              "no patch has a part of .git", r)


def protected(t):
    for path in ("tests/test_a.py", "Makefile"):
        with open(os.path.join(t.path, path), encoding="utf-8") as f:
            old = f.readline()
        t.bad("edit_file " + path, "edit_file",
              {"path": path, "old": old, "new": "x"}, "protected")
        t.bad("apply_patch deletes " + path, "apply_patch",
              {"patch": "*** Begin Patch\n*** Delete File: %s\n"
                        "*** End Patch\n" % path})
        r = t.call("run_command", {"command": "echo x >>%s; rm -f %s; "
                                              "mv %s y" % (path, path, path)})
        lib.equal(r.json.get("patch"), "", path + ": no command changes it", r)
    t.bad("--protect", "edit_file",
          {"path": "src/a.py", "old": "X = 1", "new": "X = 2"}, "protected",
          options=("--protect", "src/*.py"))
    t.bad("what -t names", "edit_file",
          {"path": "README", "old": "some", "new": "few"}, "protected",
          options=("-t", "cat README"))
    t.good("a new file beside protected ones", "edit_file",
           {"path": "tests/test_new.py", "old": "", "new": "T = 1\n"},
           patch="+T = 1")


def applied(box):
    repo = box.repo("applied", FILES)
    before = lib.fingerprint(repo)
    r = box.tool(repo, "edit_file", {"path": "src/a.py", "old": "a - b",
                                     "new": "a + b"}, "--apply")
    lib.equal(r.status, 0, "--apply", r)
    db = sqlite3.connect("file:%s/run.db?mode=ro" % box.runs()[-1], uri=True)
    with contextlib.closing(db):
        up = db.execute("SELECT body FROM event WHERE name = 'host_up'")
        lib.equal([json.loads(row[0])["slots"] for row in up], [1],
                  "one slot: no second worker is started for one tool")
    changed = [c for c in lib.differences(before, lib.fingerprint(repo))
               if c != b"src"]
    lib.equal(changed, [b"src/a.py"], "--apply changes that file alone")
    lib.equal(lib.read(os.path.join(repo, "src/a.py")),
              FILES["src/a.py"].replace("a - b", "a + b"),
              "--apply changes it as asked")
    twin = box.repo("twin", FILES)
    patch = os.path.join(box.dir, "patch")
    lib.write(patch, r.json.get("patch", ""))
    lib.equal(box.call(["git", "-C", twin, "apply", patch]).status, 0,
              "the patch printed is the change")
    lib.equal(lib.read(os.path.join(twin, "src/a.py")),
              lib.read(os.path.join(repo, "src/a.py")), "both are the same")
    before = lib.fingerprint(repo)
    r = box.tool(repo, "edit_file", {"path": "tests/test_a.py",
                                     "old": "import", "new": "x"}, "--apply")
    lib.equal(r.status, 1, "--apply of what is refused", r)
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "then nothing changes")


with lib.Box() as the_box:
    tree = Tree(the_box)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for part in [pool.submit(f, tree) for f in (
                escapes, reading, editing, running, malformed, protected)]:
            part.result()
    applied(the_box)
lib.done()
