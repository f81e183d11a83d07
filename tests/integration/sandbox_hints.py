#!/usr/bin/env python3
"""What foray sandbox refuses, and what it says beside a command's own words:
each refusal and each hint names a remedy, and the remedy works."""
import os
import shutil
import sys

import lib


class Place:
    def __init__(self, uid):
        self.box = lib.Box(uid)
        self.uid = os.geteuid() if uid is None else uid
        self.who = lib.user_name(uid)
        self.repo = self.box.repo("tree", lib.SMALL)
        self.box.own()

    def sandbox(self, *args, repo=None, **more):
        r = self.box.do("sandbox", "-C", repo or self.repo, *args, **more)
        # Said of every tree where files can't be mapped (an overlay as root).
        r.hints = "".join(x for x in r.err.splitlines(True)
                          if "the tree is read-only here" not in x)
        return r

    def run(self, command, *options, repo=None):
        return self.sandbox(*options, "--", "sh", "-c", command, repo=repo)

    def refused(self, what, r, *words):
        lib.check(r.status == 125 and all(w in r.err for w in words),
                  "%s: %s is refused" % (self.who, what), r)


def system_directories(p):
    """As a tree, and to be written; what lies in them is not meant."""
    for path in ("/usr", "/etc", "/bin", "/usr/lib", "/lib", "/opt", "/var",
                 "/var/lib", "/boot", "/sys", "/sys/kernel", "/proc",
                 "/proc/self", "/dev", "/dev/pts", "/run", "/tmp", "/home", "/"):
        if not os.path.isdir(path):
            continue
        p.refused("the tree " + path, p.sandbox("--", "true", repo=path), "-C")
        if path != "/":
            p.refused("--write " + path, p.sandbox("--write", path, "--", "true"),
                      '"write": ')
    p.refused("--write of the home", p.sandbox("--write", p.box.home, "--",
                                               "true"), "keys")
    made = []
    for top in ("/var/lib", "/opt", "/usr/local", "/usr/src", "/dev/shm"):
        path = "%s/foray-it-%d" % (top, os.getpid())
        if p.uid != 0 or not os.path.isdir(top):
            continue
        os.mkdir(path)
        made.append(path)
        r = p.run("echo x >x", repo=path)
        lib.check(r.status == 0 or "read-only here" in r.err,
                  "%s: the tree %s" % (p.who, path), r)
        r = p.run("echo y >%s/y" % path, "--write", path)
        lib.check(r.status == 0 or "read-only here" in r.err,
                  "%s: --write %s" % (p.who, path), r)
    for path in made:
        shutil.rmtree(path)


def write_git(p):
    """What stays read-only all the same is not accepted."""
    for path in (".git", ".git/refs"):
        p.refused("--write " + path, p.sandbox(
            "--write", os.path.join(p.repo, path), "--", "true"), "--copy")
    p.refused("--write in the tree with --copy", p.sandbox(
        "--copy", "--write", p.repo, "--", "true"), "outside of the tree")
    r = p.run("git commit --allow-empty -qm x && git log --format=%s", "--copy")
    lib.check(r.out.startswith("x\n"), p.who + ": --copy commits", r)


def write_copy(p):
    """A directory of the person's, beside a copy."""
    out = os.path.join(p.box.home, "out")
    os.makedirs(out, exist_ok=True)
    p.box.own()
    for options in ((), ("--copy",)):
        r = p.run("echo x >'%s/made' && echo y >here" % out, "--write", out,
                  *options)
        path = os.path.join(out, "made")
        if "read-only here" in r.err:
            print("%s: files have no other owner on this file system" % p.who)
            continue
        if lib.check(r.status == 0 and os.path.exists(path),
                     "%s: --write %s" % (p.who, " ".join(options)), r):
            lib.equal(os.stat(path).st_uid, p.uid, p.who + ": it is theirs")
            os.unlink(path)
        here = os.path.join(p.repo, "here")
        lib.equal(os.path.exists(here), not options,
                  p.who + ": the tree is as it has to be", r)
        if not options:
            os.unlink(here)


def unreadable(p):
    """A directory that another program made for itself (a database's)."""
    if p.uid == 0:
        return
    repo = p.box.repo("pg", {"a": "x\n"})
    data = os.path.join(repo, "d/pgdata")
    os.makedirs(data)
    p.box.own()
    # Another's, where we may say so; its own without a right is like it.
    os.chmod(data, 0o700 if os.geteuid() == 0 else 0)
    if os.geteuid() == 0:
        os.chown(data, p.uid + 1, p.uid + 1)
    r = p.run("cat a", repo=repo)
    p.refused("an unreadable directory", r, "--hide " + data, "--copy")
    r = p.run("cat a; ls -A d/pgdata; echo x >b", "--hide", data, repo=repo)
    lib.check(r.status == 0 and r.out == "x\n", p.who + ": --hide mends it", r)
    r = p.run("mv d e || mv d/pgdata f", "--hide", data, repo=repo)
    lib.check(r.status != 0, p.who + ": and it can't be moved", r)
    if os.geteuid() == 0:
        os.chown(data, p.uid, p.uid)
    os.chmod(data, 0o700)


def hidden_program(p):
    """It is there, and what it is a link to is not."""
    home = p.box.home
    lib.write(os.path.join(home, "py/v1/bin/tool"), "#!/bin/sh\necho ran $0\n")
    lib.write(os.path.join(home, "py/v1/lib/x"), "x\n")
    os.chmod(os.path.join(home, "py/v1/bin/tool"), 0o755)
    repo = p.box.repo("venv", {"a": "x\n"})
    os.makedirs(os.path.join(repo, "v/bin"))
    os.symlink(os.path.join(home, "py/v1/bin/tool"),
               os.path.join(repo, "v/bin/tool"))
    os.symlink("tool", os.path.join(repo, "v/bin/tool3"))
    lib.write(os.path.join(repo, "v/bin/script"),
              "#!%s/v/bin/tool3\necho script\n" % repo)
    os.chmod(os.path.join(repo, "v/bin/script"), 0o755)
    os.makedirs(os.path.join(home, "links"))
    os.symlink(os.path.join(home, "py/v1/bin/tool"),
               os.path.join(home, "links/linked"))
    p.box.own()
    path = dict(p.box.env, PATH=os.path.join(home, "links") + ":" +
                p.box.env["PATH"])
    want = "--show " + os.path.join(home, "py/v1")
    for command in ("v/bin/tool", "./v/bin/tool3", "v/bin/script", "linked",
                    os.path.join(repo, "v/bin/tool")):
        r = p.sandbox("--", command, repo=repo, env=path)
        lib.check(r.status in (126, 127) and
                  r.err.rstrip("\n").endswith(want) and
                  "py/v1/bin/tool" in r.err,
                  "%s: %s: where the link leads" % (p.who, command), r)
        r = p.sandbox("--show", os.path.join(home, "py/v1"), "--", command,
                      repo=repo, env=path)
        lib.check(r.status == 0 and "ran" in r.out and not r.hints,
                  "%s: %s: runs with it" % (p.who, command), r)
    r = p.sandbox("--", "v/bin/nothing", repo=repo)
    lib.check("--show" not in r.err, p.who + ": what is not there", r)


def no_program(p):
    for command, words in ((["FOO=1", "make"], "--env FOO=1"),
                           (["echo a && echo b"], "sh -c"),
                           (["export", "X=1"], "sh -c"),
                           (["source", "x"], "sh -c")):
        r = p.sandbox("--", *command)
        lib.check(r.status == 127 and words in r.err,
                  "%s: %s" % (p.who, command), r)
    r = p.sandbox("--", "sh", "-c", "exit 127")
    lib.equal((r.status, r.hints), (127, ""), p.who + ": a status of its own")
    r = p.sandbox("--", "no-such-program")
    lib.equal(r.hints.count("\n"), 1, p.who + ": nothing to be said", r)


def hidden_system(p):
    for path in ("/usr", "/usr/bin", "/usr/lib"):
        p.refused("--hide " + path, p.sandbox("--hide", path, "--", "true"),
                  "no program could be started", "--hide")
    r = p.sandbox("--hide", "/usr/share", "--", "echo", "ran")
    lib.equal(r.out, "ran\n", p.who + ": --hide /usr/share", r)


def git_elsewhere(p):
    """Objects or all of a repository where they can't be seen."""
    box = p.box
    main = box.repo("main", {"a": "x\n"})
    box.own()
    at = os.path.dirname(main)
    shared = os.path.join(at, "shared")
    apart = os.path.join(at, "apart")
    for command in (["git", "clone", "-q", "--shared", main, shared],
                    ["git", "clone", "-q", "--separate-git-dir",
                     os.path.join(at, "apart.git"), main, apart]):
        r = box.call(command, cwd=at)
        lib.equal(r.status, 0, p.who + ": a clone", r)
    for repo, place in ((shared, os.path.join(main, ".git/objects")),
                        (apart, os.path.join(at, "apart.git"))):
        r = p.run("git log --format=%s", repo=repo)
        lib.check(r.status != 0 and r.err.count("--show " + place) == 1,
                  "%s: %s: git's place is named" % (p.who, repo), r)
        r = p.run("git log --format=%s && git status --short", "--show", place,
                  repo=repo)
        lib.check(r.status == 0 and not r.hints,
                  "%s: %s: and can be shown" % (p.who, repo), r)
        r = p.run("git log --format=%s", "--copy", repo=repo)
        lib.check(r.status == 0 if repo == apart else "borrows" in r.err,
                  "%s: %s: a copy has its own, or it says why not" %
                  (p.who, repo), r)
    r = p.run("git log", repo=main)
    lib.check(r.status == 0 and not r.err or "read-only" in r.err,
              p.who + ": one in its place", r)


def owners(p):
    if p.uid != 0:
        return
    repo = p.box.repo("owners", {"mine": "x\n", "d/other": "x\n"})
    other = os.path.join(repo, "d/other")
    r = p.run("true", repo=repo)
    lib.check("nobody" not in r.err, "one owner: nothing to be said", r)
    os.chown(other, lib.OTHER_UID, lib.OTHER_UID)
    r = p.run("echo y >>mine; echo y >>d/other || echo refused", repo=repo)
    if "read-only here" not in r.err:
        lib.check("refused" in r.out and other in r.err and "nobody" in r.err,
                  "two owners: it says which file", r)


def sanitizer(p):
    """Where each process is limited it ends at once, and the hint mends it."""
    if not shutil.which("cc", path=p.box.env["PATH"]):
        return
    lib.write(os.path.join(p.repo, "s.c"), "int main(void) { return 0; }\n")
    r = p.box.call(["cc", "-fsanitize=address", "-o", "s", "s.c"], cwd=p.repo)
    p.box.own()
    if r.status != 0:
        print("no AddressSanitizer: left out")
        return
    r = p.sandbox("--", "./s")
    if r.status != 0:
        lib.check(r.status == 134 and "--profile debug" in r.err,
                  p.who + ": a sanitizer's end", r)
    r = p.sandbox("--profile", "debug", "--", "./s")
    lib.equal(r.status, 0, p.who + ": with --profile debug", r)
    r = p.run("echo $LSAN_OPTIONS")
    lib.equal(r.out, "detect_leaks=0\n", p.who + ": no leak checker", r)
    r = p.run("echo $LSAN_OPTIONS", "--env", "LSAN_OPTIONS=x")
    lib.equal(r.out, "x\n", p.who + ": unless it is wanted", r)
    r = p.sandbox("--explain")
    lib.check("LeakSanitizer" in r.out, p.who + ": --explain says so", r)


def one_layer(p):
    """What is not its own there is said."""
    r = p.sandbox("--sandbox", "container", "--profile", "debug", "--explain")
    lib.check("/etc/passwd and the host name are the machine's" in r.out and
              "LeakSanitizer is off" in r.out, p.who + ": one layer less", r)


for uid in lib.users():
    place = Place(uid)
    with place.box:
        for part in (system_directories, write_git, write_copy, unreadable,
                     hidden_program, no_program, hidden_system, git_elsewhere,
                     owners, sanitizer, one_layer):
            if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
                part(place)
lib.done()
