#!/usr/bin/env python3
"""Bad and odd input: an honest status, a message that helps, an end in time."""
import os
import shutil
import sys
import threading

import lib


def usage(box):
    repo = box.repo("usage", lib.SMALL)
    for words, part in (
            (["run", "-C", repo, "-n", "0"], "4096"),
            (["run", "-C", repo, "-n", "10000"], "4096"),
            (["run", "-C", repo, "-n", "x"], "-n"),
            (["run", "-C", repo, "-n", "-1"], "-n"),
            (["run", "-C", repo, "--max-time", "soon"], "--max-time"),
            (["run", "-C", repo, "--colour"], "--colour"),
            (["run", "-C", repo, "-m", "nosuch/model"], "builtin"),
            (["run", "-C", repo, "-t", ""], "-t"),
            (["run", "-C", repo, "-t"], "t needs a value"),
            (["run", "-C", repo, "--workers=2x"], "--workers"),
            (["run", "-C", repo, "--all=yes"], "--all takes no value"),
            (["run", "-C", repo, "--json=yes"], "--json takes no value"),
            (["run", "-C", repo, "--nosuch=1"], "--nosuch=1 is no option"),
            (["run", "-C", repo, "--jso"], "--jso is no option"),
            (["resume", "--all", "x"], "--all is no option"),
            (["resume", "--allow=x"], "--allow=x is no option"),
            (["tool", "--unprot", "x"], "--unprot is no option"),
            (["rum"], 'is it "run"?'),
            (["aplpy"], 'is it "apply"?'),
            (["replay", "/etc"], "no directory of a run"),
            (["run", "-C", repo, "--profile", "nope"], "'nope'"),
            (["run", "-C", repo, "--profile", "./nope.json"], "./nope.json"),
            (["run", "-C", repo, "-t", lib.SMALL_TEST, "--protect", "nope.c"],
             "--protect 'nope.c'"),
            (["run", "-C", repo, "-t", lib.SMALL_TEST, "--unprotect", "no.c"],
             "--unprotect 'no.c'"),
            (["run", "-C", repo, "-t", lib.SMALL_TEST, "--label", "a=b"],
             "--label"),
            (["run", "-C", repo, "-t", lib.SMALL_TEST, "--listen",
              "tcp://127.0.0.1:1", "--insecure-loopback", "--allow-net",
              "example.org"], "--allow-net"),
            (["run", "-C", "/nowhere/at/all"], "/nowhere/at/all"),
            (["run", "-C", repo + "/max.sh"], "max.sh"),
            (["run", "-C", "/"], "whole file system"),
            (["run", "-C", box.home, "-t", "true"], "your home directory"),
            (["run", "-C", "/usr", "-t", "true"], "directory of the system"),
            (["fix"], "fix"),
            (["run", "-C", repo, "-f", "/nowhere"], "/nowhere")):
        r = box.do(*words)
        lib.equal(r.status, 2, " ".join(words[:1] + words[3:]), r)
        lib.check(part in r.err, "%s: the message has %r" % (words, part), r)
    r = box.do("run", "-C", repo, "-m", "openai/gpt-4o", "--max-usd", "2",
               env={"OPENAI_API_KEY": "sk-0123456789abcdef"})
    lib.check(r.status == 2 and "settings.json" in r.err and
              '{"providers":{"openai":{"models":{"gpt-4o":{"price":{"in":"USD",'
              '"out":"USD"}}}}}}' in r.err, "no price: what to write", r)
    keys = os.path.join(box.dir, "no-keys")
    for make in (False, True):
        if make:
            os.mkdir(keys)
        r = box.do("keys", "--keys", keys)
        lib.check(r.status == 0 and "foray keys new NAME" in r.out,
                  "no keys yet", r)
    lib.equal(box.runs(), [], "none of these is a run")
    for option in ("--max-usd", "--max-tokens"):
        r = box.run(repo, "-t", lib.SMALL_TEST, option, "1")
        lib.check(r.status == 0 and r.err.count(option + ": the model is "
                  "builtin") == 1, option + " of nothing is said", r)


def nothing_to_do(box):
    bare = box.repo("bare-tree", {"notes.txt": "nothing\n"})
    r = box.run(bare)
    lib.equal(r.status, 2, "no tests found", r)
    lib.check("no tests found" in r.text and "-t" in r.text,
              "no tests found: the message", r)
    green = box.repo("green", lib.SMALL_FIXED)
    r = box.run(green, "-t", lib.SMALL_TEST)
    lib.equal(r.status, 2, "tests already green", r)
    lib.check("already pass" in str(r.finished.get("reason")),
              "tests already green: the reason", r)
    r = box.run(green, "-t", "no-such-program-x --all")
    lib.equal(r.status, 2, "a missing command", r)
    lib.check("no-such-program-x" in str(r.finished.get("reason")),
              "a missing command: the reason names it", r)
    again = box.do("resume", "--json")
    lib.check(again.status == 2 and
              [e["kind"] for e in again.all("assigned")] == ["baseline"],
              "a missing command: resume looks again", again)
    python = box.repo("python-names", PYTHON)
    r = box.run(python, "-t", "python3 -m unittest", "-k", "no-such-check-x")
    lib.equal(r.status, 2, "a missing check", r)
    lib.check("no-such-check-x" in str(r.finished.get("reason")) and
              not r.all("planned"), "a missing check: at the start", r)
    for test in ("python3 -m unittest tests.nope", "python3 nope.py",
                 "python3 -m unittest nope.deep.er", "sh nope.sh",
                 "python3 -m unittest tests.test_top.Top.test_nope",
                 "make nope", "npm test", "python3 -m nosuchmodule"):
        r = box.run(python, "-t", test)
        lib.equal(r.status, 2, test + ": it is not there", r)
        lib.check(test in str(r.finished.get("reason")), test + ": named", r)
    empty = os.path.join(box.src, "empty")
    os.mkdir(empty)
    lib.equal(box.run(empty).status, 2, "an empty directory")


def fixed(box, repo, what, *args, test=lib.SMALL_TEST, top=None, timeout=60):
    """Fixed, the tree untouched, and the patch mends it where it applies."""
    top = top or repo
    before = lib.fingerprint(top)
    r = box.run(repo, "-t", test, "-n", "2", *args, timeout=timeout)
    lib.equal(r.status, 0, what + ": fixed", r)
    lib.equal(lib.differences(before, lib.fingerprint(top)), [],
              what + ": untouched")
    if r.status == 0:
        applied = box.call(["git", "apply", r.finished["patch"]], cwd=top)
        lib.equal(applied.status, 0, what + ": git apply", applied)
        lib.equal(box.call(["sh", "-c", test], cwd=repo).status, 0,
                  what + ": the tests pass with it")
    return r


PYTHON = {
    "top.py": "def top(a, b):\n    return a if a < b else b\n",
    "tests/__init__.py": "",
    "tests/test_top.py": "import unittest\n\nfrom top import top\n\n\n"
                         "class Top(unittest.TestCase):\n"
                         "    def test_first(self):\n"
                         "        self.assertEqual(top(2, 1), 2)\n\n"
                         "    def test_same(self):\n"
                         "        self.assertEqual(top(3, 3), 3)\n"}
MAKE = {
    "top.c": "int top(int a, int b)\n{\n\treturn a < b ? a : b;\n}\n",
    "test.c": "#include <stdio.h>\n\nint top(int a, int b);\n\nint main(void)\n"
              "{\n\tint bad = top(2, 1) != 2;\n\n"
              "\tputs(bad ? \"not ok 1\" : \"ok 1\");\n\treturn bad;\n}\n",
    "Makefile": "check: t\n\t./t\nt: top.c test.c\n"
                "\tcc -o $@ top.c test.c\n"}


def not_collected(box):
    """Modules that the tests ask for and Python does not find."""
    files = {"shop/__init__.py": "", "shop/cart.py": "def n(a):\n    return a\n",
             "tests/test_cart.py": "from shop import cart\n\n"
                                   "def test_n():\n    assert cart.n(1) == 2\n"}
    if not shutil.which("pytest", path=box.env["PATH"]):
        return
    r = box.run(box.repo("uncollected", files), "-t", "pytest")
    reason = str(r.finished.get("reason"))
    lib.check(r.status == 2 and "PYTHONPATH=. pytest" in reason and
              not r.all("planned"), "not on the path: said at the start", r)
    r = box.run(box.repo("bad-import", dict(files, **{
        "shop/cart.py": "import shopp\n\ndef n(a):\n    return a\n"})), "-t",
        "PYTHONPATH=. pytest", "--max-time", "5s")
    lib.check(r.status != 2, "a bug in a source file is looked for", r)


def detected(box):
    """Without -t the usual test commands are found."""
    for name, files in (("py", PYTHON), ("c", MAKE)):
        r = box.run(box.repo("found-" + name, files))
        lib.equal(r.status, 0, name + " without -t", r)
    repo = box.repo("npm", lib.small(**{
        "package.json": '{"scripts": {"test": "sh test.sh"}}\n'}))
    if shutil.which("npm", path=box.env["PATH"]):
        lib.equal(box.run(repo).status, 0, "npm test is found")


def no_git(box):
    fixed(box, box.repo("plain", lib.SMALL, git=False), "not a git repository")


def odd_names(box):
    odd = [b"sp ace", b"new\nline", b"quo\"te's", b"tab\tbed", b"\xff\xfe bytes",
           "\u00e9\u4e2d".encode(), b"-dash", b"back\\slash", b"$(dollar)",
           b"glob*?[x]"]
    repo = box.repo('re po\n"q" \'s\' \\', lib.SMALL)
    top = os.fsencode(repo)
    for name in odd:
        lib.write(os.path.join(top, name, name), b"content of " + name)
    box.git(repo, "add", "-A")
    box.git(repo, "commit", "-q", "-m", "odd names")
    for name in odd:  # these are untracked
        lib.write(os.path.join(top, b"u " + name), name)
    box.own()
    test = "[ $(find . -name .git -prune -o -type f -print0 | tr -dc '\\0' " \
           "| wc -c) = %d ] && sh test.sh" % (2 + 2 * len(odd))
    fixed(box, repo, "odd names", test=test)
    # The name of the file to mend is odd, too.
    for n, name in enumerate(("sp ace.sh", 'quo"te.sh', "\u00e9.sh",
                              "back\\slash.sh")):
        files = {name: lib.SMALL["max.sh"],
                 "test.sh": lib.SMALL["test.sh"].replace(
                     "./max.sh", "'./%s'" % name)}
        fixed(box, box.repo("odd%d" % n, files), "a bug in %r" % name)
    # A newline can't be told by tools that give a name a line.
    files = {"n\new.sh": lib.SMALL["max.sh"],
             "test.sh": lib.SMALL["test.sh"].replace("./max.sh", "'./n\new.sh'")}
    r = box.run(box.repo("odd-line", files), "-t", lib.SMALL_TEST)
    lib.check(r.status in (0, 1), "a bug in a file with a newline", r)


def many_files(box):
    """The file to mend comes late in a long list."""
    more = {"data/f%04d.txt" % n: "x\n" for n in range(700)}
    fixed(box, box.repo("many", lib.small(**more)), "702 files")


def links_out(box):
    lib.write(os.path.join(box.home, "private/key.txt"), "canary-of-links\n")
    repo = box.repo("links", lib.SMALL)
    os.symlink(os.path.join(box.home, "private"), os.path.join(repo, "abs"))
    os.symlink("../../private/key.txt", os.path.join(repo, "rel"))
    os.symlink("loop", os.path.join(repo, "loop"))
    os.symlink("/", os.path.join(repo, "root"))
    os.symlink("nowhere", os.path.join(repo, "dangling"))
    box.own()
    fixed(box, repo, "links that lead out")
    r = box.tool(repo, "run_command",
                 {"command": "cat rel abs/key.txt root%s/private/key.txt; "
                             "ls -l; grep -r canary . " % box.home})
    lib.check("canary-of-links" not in r.text, "links are not followed", r)
    found = box.call(["grep", "-rl", "canary-of-links", box.cache]).out
    lib.equal(found, "", "nothing of what they lead to is in the snapshot")


def submodule(box):
    sub = box.repo("sub-origin", {"offset.sh": "OFFSET=0\n"})
    repo = box.repo("with-sub", lib.small(**{
        "max.sh": ". ./dep/offset.sh\n" + lib.SMALL["max.sh"]}))
    box.git(repo, "-c", "protocol.file.allow=always", "submodule", "add", "-q",
            sub, "dep")
    box.git(repo, "commit", "-q", "-m", "submodule")
    box.own()
    fixed(box, repo, "a submodule")
    # The work tree of the submodule is a tree, too, its .git a file.
    inner = box.repo("sub-bug", lib.SMALL)
    outer = box.repo("around", {"a.txt": "a\n"})
    box.git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q",
            inner, "dep")
    box.own()
    fixed(box, os.path.join(outer, "dep"), "inside a submodule", top=outer + "/dep")
    # A fix in the submodule can't be on a branch of what is around it.
    bug = box.repo("max-origin", {"lib/max.sh": lib.SMALL["max.sh"]})
    user = box.repo("max-user", {"test.sh": lib.SMALL["test.sh"].replace(
        "./max.sh", "./dep/sub/lib/max.sh")})
    box.git(user, "-c", "protocol.file.allow=always", "submodule", "add", "-q",
            bug, "dep/sub")
    box.git(user, "commit", "-q", "-m", "submodule")
    box.own()
    r = box.run(user, "-t", lib.SMALL_TEST, "-n", "2", "--branch", "fix")
    lib.equal(r.status, 5, "a branch for a fix in a submodule", r)
    words = ("dep/sub/lib/max.sh is in the submodule dep/sub, which has "
             "commits of its own", "`foray apply` without --branch")
    for said in words:
        lib.check(said in r.text, said, r)
    r = box.do("apply", "--branch", "fix")
    lib.equal(r.status, 1, "apply --branch of it", r)
    for said in words:
        lib.check(said in r.text, "apply: " + said, r)
    lib.equal(box.call(["git", "branch", "--list", "fix"], cwd=user).out, "",
              "no branch")
    lib.equal(box.do("apply").status, 0, "apply of it")
    lib.equal(box.call(["sh", "-c", lib.SMALL_TEST], cwd=user).status, 0,
              "the tests pass with it")


def worktree(box):
    main = box.repo("main-tree", {"a.txt": "a\n"})
    linked = os.path.join(box.src, "linked")
    box.git(main, "worktree", "add", "-q", "-b", "other", linked)
    for name, text in lib.SMALL.items():
        lib.write(os.path.join(linked, name), text)
    box.git(linked, "add", "-A")
    box.git(linked, "commit", "-q", "-m", "small")
    box.own()
    before = lib.fingerprint(main)
    fixed(box, linked, "a linked worktree")
    lib.equal(lib.differences(before, lib.fingerprint(main)), [],
              "a linked worktree: the main one is untouched")


def subdirectory(box):
    files = {"part/" + name: text for name, text in lib.SMALL.items()}
    repo = box.repo("above", dict(files, **{
        "common.sh": "ONE=1\n",
        "part/max.sh": ". ../common.sh\n" + lib.SMALL["max.sh"]}))
    fixed(box, os.path.join(repo, "part"), "a subdirectory", top=repo)


def hanging(box):
    repo = box.repo("hanging", lib.SMALL)
    for what, test in (("hangs", "sleep 1000"),
                       ("ignores signals", "trap '' TERM INT; sleep 1000 & "
                        "wait; sleep 1000"),
                       ("spins", "while :; do :; done")):
        r = box.run(repo, "-t", test, "--max-time", "4s")
        lib.check(r.status in (2, 3), what + ": status 2 or 3", r)
        lib.check(lib.soon(r.seconds, 9), what + ": it ends in time", r)
        lib.check(r.finished.get("reason"), what + ": a reason is given", r)
        lib.equal(lib.left_alive(), [], what + ": nothing is left")
    # One wrong candidate hangs: that one is given up, not the run.
    repo = box.repo("sometimes", lib.small(**{
        "max.sh": "again() {\n\tfalse\n}\n" + lib.SMALL["max.sh"],
        "test.sh": lib.SMALL["test.sh"].replace(
            ". ./max.sh\n", ". ./max.sh\nwhile again; do sleep 1; done\n")}))
    r = box.run(repo, "-t", lib.SMALL_TEST, timeout=90)
    lib.equal(r.status, 0, "a candidate that hangs", r)


def biggest(stop, found):
    """The most memory that any process of foray has had."""
    while not stop.wait(0.05):
        for p in lib.descendants():
            if p.name.startswith("foray") or p.is_worker():
                for line in p.read("status").splitlines():
                    if line.startswith(b"VmHWM:"):
                        kib = int(line.split()[1])
                        found[p.name] = max(found.get(p.name, 0), kib)


def much_output(box):
    repo = box.repo("much", lib.SMALL)
    stop, found = threading.Event(), {}
    watch = threading.Thread(target=biggest, args=(stop, found))
    watch.start()
    r = box.run(repo, "-t", "head -c 1000000000 /dev/zero | tr '\\0' x; "
                "sh test.sh", "-n", "2", "--max-time", "8s")
    stop.set()
    watch.join()
    lib.check(r.status in (0, 1, 3), "1 GB of output: an honest end", r)
    lib.check(lib.soon(r.seconds, 13), "1 GB of output: it ends in time", r)
    # The sanitizers keep freed memory: the bound is against 1 GB.
    lib.check(found and max(found.values()) < 400 << 10,
              "1 GB of output: memory is bounded (KiB)", found)
    size = sum(os.path.getsize(os.path.join(base, f))
               for base, _, files in os.walk(box.runs()[-1]) for f in files)
    lib.check(size < 20 << 20, "1 GB of output: the record is bounded", size)


def hostile_tests(box):
    repo = box.repo("hostile", lib.SMALL)
    for what, before in (
            ("kills its parent", "kill -9 $PPID; "),
            ("kills all it can", "(sleep 0.05; kill -9 -1) & "),
            ("leaves a daemon", "(setsid sleep 3000 </dev/null >/dev/null 2>&1 &);"
                                " (sleep 3000 &) ; "),
            ("closes its output", "sleep 3000 & exec 2>&-; "),
            ("forks a lot", "i=0; while [ $i -lt 300 ]; do sleep 3000 & "
                            "i=$((i+1)); done; ")):
        r = box.run(repo, "-t", before + lib.SMALL_TEST, "-n", "2",
                    "--max-time", "400s")
        allowed = (0, 1, 2) if what.startswith("kills") else (0,)
        lib.check(r.status in allowed, what + ": an honest end", r)
        lib.check(r.finished.get("status") in ("fixed", "unfixed", "error"),
                  what + ": a status", r)
        lib.check(lib.soon(r.seconds, 30), what + ": it ends in time", r)
        rest = lib.left_alive()
        lib.check(not rest, what + ": nothing is left", rest)


def spent(box):
    repo = box.bug("py-cron")
    r = box.run(repo, "-t", lib.bug_info("py-cron")["test"],
                "--max-calls", "2")
    lib.equal(r.status, 3, "--max-calls 2", r)
    lib.equal(r.finished.get("status"), "budget", "--max-calls 2: status", r)
    lib.check(r.finished.get("usage", {}).get("calls", 99) <= 2,
              "--max-calls 2: no more than that", r.finished)


def no_space(box):
    if os.geteuid() != 0 or not shutil.which("unshare"):
        print("not root: a full disk is not tried")
        return
    repo = box.repo("large", lib.SMALL)
    lib.write(os.path.join(repo, "large.bin"), os.urandom(6 << 20))
    for what, place, size in (("the cache", box.cache, "4m"),
                              ("the state", box.state, "4k"),
                              ("the state", box.state, "96k"),
                              ("the state", box.state, "160k"),
                              ("the state", box.state, "300k")):
        before = lib.mounts()
        r = box.call(["unshare", "-m", "sh", "-c",
                      'mount -t tmpfs -o size=%s none "$1" && shift && '
                      '"$@"; got=$?; "$1" runs >&2; exit $got' % size, "sh",
                      place, box.foray, "run", "-C", repo, "--json", "-t",
                      lib.SMALL_TEST])
        lib.check(r.status in (1, 2, 5), what + " is full: status", r)
        lib.check("space" in r.text or "full" in r.text,
                  what + " is full: the message says so", r)
        lib.check("unreadable" not in r.err, what + " is full: no half", r)
        lib.check("anitizer" not in r.err, what + " is full: no crash", r)
        lib.equal(lib.mounts(), before, what + " is full: no mount is left")


ALL = (usage, nothing_to_do, not_collected, detected, no_git, odd_names, many_files, links_out,
       submodule, worktree, subdirectory, hanging, much_output, hostile_tests,
       spent, no_space)
for one in ALL:
    if not sys.argv[1:] or one.__name__ in sys.argv[1:]:
        with lib.Box() as the_box:
            one(the_box)
lib.done()
