#!/usr/bin/env python3
"""A host with a store of its own, as one of another machine: the snapshot
travels, with all that git ignores, and what changed only the next time.

The orchestrator starts its host by name from beside itself; here stands one
that gives it another cache and scratch directory, and no lifeline.
"""
import os
import re
import shutil
import stat
import sys

import lib

HOST = """#!%(python)s
import os, sys
given, out = sys.argv[1:], []
while given:
    word = given.pop(0)
    if word in ("--cache", "--scratch"):
        given.pop(0)
    elif not word.startswith("--lifeline-fd"):
        out.append(word)
extra = open(%(extra)r).read().split()
os.execv(%(host)r, ["foray-host", *out, "--cache", %(dir)r + "/cache",
                    "--scratch", %(dir)r + "/scratch", *extra])
"""


class Fleet(lib.Box):
    """A box whose host lacks everything; away is its directory."""

    def __init__(self, uid=None):
        super().__init__(uid)
        self.away = os.path.join(self.dir, "away")
        self.extra = os.path.join(self.dir, "extra")
        place = os.path.join(self.dir, "fleet")
        for path in (self.away, place):
            os.mkdir(path)
        lib.write(self.extra, "")
        foray = os.path.join(place, "foray")
        shutil.copy(self.foray, foray)
        wrapper = os.path.join(place, "foray-host")
        lib.write(wrapper, HOST % {
            "python": sys.executable if uid is None else "/usr/bin/python3",
            "extra": self.extra, "dir": self.away,
            "host": os.path.join(os.path.dirname(self.foray), "foray-host")})
        os.chmod(wrapper, 0o755)
        os.chmod(self.dir, 0o755)
        self.foray = foray
        self.own()

    def stored(self, top=None):
        """The snapshots of a store: {id: directory}."""
        path = os.path.join(top or self.away + "/cache", "snapshots")
        return {n: os.path.join(path, n) for n in os.listdir(path)
                if re.fullmatch("[0-9a-f]{32}", n)}

    def log(self):
        return lib.read(os.path.join(self.runs()[-1], "host.log"))


def tree(top):
    """What the files of a tree are; .git by its commit only."""
    found = {}
    for base, folders, files in os.walk(os.fsencode(top)):
        if b".git" in folders:
            folders.remove(b".git")
        for name in folders + files:
            path = os.path.join(base, name)
            st = os.lstat(path)
            what = (stat.S_IFMT(st.st_mode), st.st_mode & 0o777, st.st_mtime_ns)
            if stat.S_ISLNK(st.st_mode):
                what += (os.readlink(path),)
            elif stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    what += (f.read(),)
            found[os.path.relpath(path, os.fsencode(top))] = what
    return found


def repo_with_venv(box):
    """The bug's tests need a package that git ignores, run by the venv's own
    python, and a file that is not tracked."""
    repo = box.bug("py-cron")
    box.call(["python3", "-m", "venv", "--without-pip", repo + "/venv"])
    site = [os.path.join(base, "site-packages") for base, folders, _
            in os.walk(repo + "/venv/lib") if "site-packages" in folders]
    lib.write(os.path.join(site[0], "ignored_dep.py"), "VALUE = 1\n")
    lib.write(repo + "/.gitignore", "venv/\n__pycache__/\n")
    lib.write(repo + "/untracked_dep.py", "import ignored_dep\n")
    tests = [os.path.join(base, n) for base, _, names in os.walk(repo)
             for n in names if n.startswith("test") and n.endswith(".py")
             and "venv" not in base]
    for path in tests:
        lib.write(path, "import untracked_dep\n" + lib.read(path))
    odd = os.path.join(os.fsencode(repo), b"caf\xe9 \n\\x")
    with open(odd, "wb") as f:
        f.write(b"odd")
    os.mkdir(repo + "/empty")
    box.own()
    return repo


def venv(box):
    repo = repo_with_venv(box)
    args = ("-t", "venv/bin/python -m unittest -v", "-m", "builtin", "-n", "2")
    before = lib.fingerprint(repo)
    r = box.run(repo, *args, timeout=240)
    lib.equal(r.status, 0, "a repository that needs an ignored venv is fixed",
              "%s\n%s" % (r, box.log()))
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "the tree is untouched")
    here = box.stored(box.cache + "/foray")
    there = box.stored()
    lib.equal(set(there), set(here), "the host has the snapshot")
    name, path = there.popitem()
    lib.equal(tree(path + "/tree"), tree(here[name] + "/tree"),
              "it is the same tree")
    lib.equal(box.git(path + "/tree", "status", "--porcelain", "--ignored"),
              box.git(here[name] + "/tree", "status", "--porcelain",
                      "--ignored"), "git sees the same")
    lib.check("is taken in" in box.log(), "the host says so", box.log())
    return repo, args, name


def again(box, repo, args, name):
    """The host has it, and looks only whether it is whole."""
    first = os.stat(box.stored()[name]).st_ino
    r = box.run(repo, *args, timeout=240)
    lib.equal(r.status, 0, "again: fixed", r)
    lib.equal(os.stat(box.stored()[name]).st_ino, first, "again: not anew")
    # Damaged meanwhile: it comes again.
    path = os.path.join(box.stored()[name], "tree/untracked_dep.py")
    os.unlink(path)
    r = box.run(repo, *args, timeout=240)
    lib.equal(r.status, 0, "damaged: fixed", r)
    lib.check(os.path.exists(path), "damaged: it is whole again")
    # What changed comes, the rest is the same file.
    lib.write(repo + "/new", "new\n")
    box.own()
    r = box.run(repo, *args, timeout=240)
    lib.equal(r.status, 0, "changed: fixed", r)
    new = [p for n, p in box.stored().items() if n != name]
    lib.equal(len(new), 1, "changed: another snapshot")
    lib.equal(os.stat(new[0] + "/tree/untracked_dep.py").st_ino,
              os.stat(path).st_ino, "changed: the rest is linked")
    lib.check(os.stat(new[0] + "/tree/new").st_nlink == 1, "changed: it came")


def size(top):
    """What a store takes."""
    seen = {}
    for base, _, files in os.walk(top):
        for name in files + ["."]:
            st = os.lstat(os.path.join(base, name))
            seen[st.st_dev, st.st_ino] = st.st_blocks * 512
    return sum(seen.values())


def limit(box, repo, args):
    """What is over the limit of the cache goes before another comes; one that
    is larger alone does not come at all."""
    store = box.away + "/cache/snapshots"
    # At the start, what is over it already.
    lib.check(len(box.stored()) > 1, "limit: there are several")
    small = size(store) * 3 // 4
    lib.write(box.extra, "--cache-max %d" % small)
    r = box.run(repo, *args, timeout=240)
    lib.equal(r.status, 0, "limit: fixed with what is there", r)
    lib.equal(len(box.stored()), 1, "limit: one is left", box.log())
    before = set(box.stored())
    lib.write(box.extra, "--cache-max %d" % (small + (2 << 20)))
    with open(repo + "/newer", "wb") as f:
        f.write(os.urandom(2 << 20))
    box.own()
    r = box.run(repo, *args, timeout=240)
    lib.equal(r.status, 0, "limit: fixed", r)
    lib.check(len(set(box.stored()) - before) == 1, "limit: the new one is in",
              box.log())

    lib.write(box.extra, "--cache-max 1M")
    lib.write(repo + "/newest", "newest\n")
    box.own()
    r = box.run(repo, *args, timeout=240)
    lib.check(r.status == 5 and "--cache-max" in r.finished["reason"],
              "limit: one that can't fit is refused", r)
    lib.check("%" not in box.log().split("is taken in")[-1],
              "limit: before it comes", box.log())
    lib.write(box.extra, "")


for user in lib.users("ordinary"):
    with Fleet(user) as fleet:
        made = venv(fleet)
        again(fleet, *made)
        limit(fleet, *made[:2])
lib.done()
