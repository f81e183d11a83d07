#!/usr/bin/env python3
"""What a repository, a cache or a caller does to foray on purpose."""
import glob
import os
import sys

import lib


def loose(repo, name):
    """The file of an object that nothing has packed yet."""
    found = name.decode().strip()
    return os.path.join(repo, ".git/objects", found[:2], found[2:])


def configured(box):
    """Every program that a repository's configuration can name would leave a
    canary; one of its objects is missing, and its remote promises it."""
    canary = os.path.join(box.dir, "canary")
    touch = "touch %s-%%s" % canary
    repo = box.repo("configured", lib.small(**{".gitattributes": "* filter=f\n"}))
    hooks = os.path.join(repo, ".git/own-hooks")
    for hook in ("pre-commit", "post-checkout", "reference-transaction",
                 "post-index-change", "prepare-commit-msg"):
        lib.write(os.path.join(hooks, hook), "#!/bin/sh\n" + touch % hook + "\n")
        os.chmod(os.path.join(hooks, hook), 0o755)
    for key, value in (
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", "ext::sh -c " + (touch % "remote").replace(
                " ", "% ")),
            ("protocol.ext.allow", "always"),
            ("protocol.allow", "always"),
            ("core.hooksPath", hooks),
            ("core.fsmonitor", touch % "fsmonitor"),
            ("core.sshCommand", touch % "ssh"),
            ("core.pager", touch % "pager"),
            ("core.editor", touch % "editor"),
            ("filter.f.clean", touch % "clean" + "; cat"),
            ("filter.f.smudge", touch % "smudge" + "; cat"),
            ("diff.external", touch % "diff"),
            ("gpg.program", touch % "gpg"),
            ("commit.gpgSign", "true"),
            ("credential.helper", "!" + touch % "credential")):
        box.git(repo, "config", key, value)
    missing = loose(repo, box.git(repo, "-c", "core.fsmonitor=false",
                                  "rev-parse", "HEAD:test.sh"))
    for old in glob.glob(canary + "*"):
        os.unlink(old)  # of our own git
    r = box.run(repo, "-t", lib.SMALL_TEST, "--branch", "whole")
    lib.equal(r.status, 0, "configured: fixed on a branch", r)
    os.unlink(missing)
    box.own()
    r = box.run(repo, "-t", lib.SMALL_TEST)
    lib.check(r.status in (0, 1, 2), "an object is missing: run", r)
    for args in (["apply", "--branch", "b"], ["diff"], ["apply"]):
        r = box.do(*args, "-C", repo) if args[0] == "apply" else box.do(*args)
        lib.check(r.status in (0, 1, 2, 5), "an object is missing: %s" % args, r)
    lib.equal(glob.glob(canary + "*"), [], "nothing that it names was run")


def branch_names(box):
    """What can't become a branch is said before anything is spent."""
    repo = box.repo("names", lib.SMALL)
    plain = box.repo("no-git", lib.SMALL, git=False)
    box.git(repo, "branch", "taken")
    for where, name, part in ((repo, "taken", "there already"),
                              (repo, "two..dots", "no name for a branch"),
                              (repo, "-x", "no name for a branch"),
                              (repo, "a b", "no name for a branch"),
                              (plain, "b", "no git repository")):
        r = box.run(where, "-t", lib.SMALL_TEST, "--branch=" + name)
        lib.equal(r.status, 2, "--branch %s: status" % name, r)
        lib.check(part in r.err, "--branch %s: the message" % name, r)
        lib.equal(r.all("worker_started"), [], "--branch %s: no worker" % name, r)


def damaged_cache(box):
    """A snapshot that is not what its manifest says is made again."""
    repo = box.repo("damaged", lib.small(**{"data.txt": "whole\n"}))
    test = "grep -q whole data.txt && " + lib.SMALL_TEST
    lib.equal(box.run(repo, "-t", test).status, 0, "a first run")
    shots = os.path.join(box.cache, "foray/snapshots")

    def files(name):
        return [p for p in glob.glob(shots + "/**/" + name, recursive=True)]

    def removed():
        for path in files("data.txt"):
            os.unlink(path)

    def rewritten():
        for path in files("data.txt"):
            os.chmod(path, 0o644)
            lib.write(path, "other\n")

    def cut():
        for path in files("manifest"):
            os.truncate(path, os.path.getsize(path) // 2)

    def garbage():
        for path in files("manifest"):
            lib.write(path, os.urandom(2000))

    def emptied():
        for path in files("manifest"):
            lib.write(path, "")

    for damage in (removed, rewritten, cut, garbage, emptied):
        damage()
        box.own()
        r = box.run(repo, "-t", test)
        lib.equal(r.status, 0, "a snapshot's file is %s" % damage.__name__, r)


def closed(box):
    """Without stdin, stdout or stderr no file takes their numbers."""
    for which in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        repo = box.repo("closed" + str(len(which)), lib.SMALL)
        before = lib.fingerprint(repo)
        r = box.call(["sh", "-c", 'exec "$@" ' + which, "sh", box.foray, "run",
                      "-C", repo, "-t", lib.SMALL_TEST])
        # A patch that can't be named on stdout is an error of its own.
        lib.check(r.status in (0, 5), "run %s: status" % which, r)
        lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
                  "run %s: the tree stays" % which)
        lib.equal(len(box.runs()) > 0, True, "run %s: it is recorded" % which)


def no_database(box):
    """A run whose database is a fifo, or no database."""
    top = os.path.join(box.state, "foray/runs")
    for name in ("20990101-000000-0000000", "20990101-000000-0000001"):
        os.makedirs(os.path.join(top, name))
    os.mkfifo(os.path.join(top, "20990101-000000-0000000/run.db"))
    lib.write(os.path.join(top, "20990101-000000-0000001/run.db"), "no\n")
    box.own()
    for args in (["runs"], ["show"], ["show", "20990101-000000-0000000"],
                 ["replay", os.path.join(top, "20990101-000000-0000000/")],
                 ["resume", "20990101-000000-0000001"]):
        r = box.do(*args, timeout=10)
        lib.check(r.status is not None, "no database, %s: it ends" % args, r)
        lib.check(args == ["runs"] or r.status in (2, 5),
                  "no database, %s: status" % args, r)


def not_utf8(box):
    """Bytes that are no UTF-8: in the path of the tree, in a command."""
    repo = box.repo("latin", lib.SMALL)
    odd = os.path.join(os.fsencode(box.src), b"caf\xe9")
    os.rename(repo, odd)
    r = box.call(["foray", "run", "-C", odd, "--json", "-t", lib.SMALL_TEST])
    lib.equal(r.status, 2, "a path that is no UTF-8", r)
    lib.check("UTF-8" in r.err, "the message says so", r)
    odd = repo
    os.rename(os.path.join(os.fsencode(box.src), b"caf\xe9"), repo)
    for args in (["-t", b"true \xff"], ["-k", b"\xff"], [b"--\xff"],
                 ["--branch", b"\xff"], ["-m", b"\xff/x"]):
        r = box.call(["foray", "run", "-C", odd, *args])
        lib.equal(r.status, 2, "an argument that is no UTF-8: %r" % args, r)
        lib.check(r.err, "with a message: %r" % args, r)


ALL = (configured, branch_names, damaged_cache, closed, no_database,
       not_utf8)
for one in ALL:
    if not sys.argv[1:] or one.__name__ in sys.argv[1:]:
        for uid in lib.users():
            with lib.Box(uid) as the_box:
                one(the_box)
lib.done()
