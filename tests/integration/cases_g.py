#!/usr/bin/env python3
"""Cases of class G (tests/cases/G.jsonl): what a sandbox has to allow, and what
it must not. G-006 and G-007, machines that refuse one, are in container.py."""
import json
import os
import shutil
import subprocess
import sys

import lib

with open(os.path.join(lib.TESTS, "cases/G.jsonl"), encoding="utf-8") as f:
    CASES = {c["id"]: c for c in map(json.loads, f)}
ELSEWHERE = {"G-006", "G-007"}
FILES = {"a.txt": "x\n", "dir/b.txt": "y\n"}


class Place:
    def __init__(self, uid):
        self.box = lib.Box(uid)
        self.who = lib.user_name(uid)
        self.done = set()

    def sandbox(self, repo, command, *options, **more):
        """On the real tree, or with --copy."""
        return self.box.do("sandbox", "-C", repo, *options, "--", "sh", "-c",
                           command, **more)

    def worker(self, repo, command, **more):
        """(exit status, output) of a command that a worker runs."""
        r = self.box.tool(repo, "run_command", {"command": command}, **more)
        text = str(r.json.get("result"))
        head, _, rest = text.partition("\n")
        digits = "".join(c for c in head if c.isdigit())
        return (int(digits) if "exit status" in head else None), rest

    def case(self, name):
        self.done.add(name)
        return CASES[name], "%s, %s" % (name, self.who)


def is_readonly(r):
    """As root, on an overlay: foray sandbox says that the tree is read-only."""
    return "read-only here" in r.err


def worktree(p):
    case, what = p.case("G-001")
    main = p.box.repo("main", FILES)
    tree = os.path.join(p.box.src, "tree")
    p.box.git(main, "worktree", "add", "-q", "-b", "other", tree)
    p.box.own()
    lib.check(os.path.isfile(os.path.join(tree, ".git")), what + ": a file")
    protected = [s.replace("<main>", main) for s in case["expected"]["protected"]]
    before = lib.fingerprint(os.path.join(main, ".git"))
    command = case["input"]["command"]
    status, out = p.worker(tree, command)
    lib.equal(status, case["expected"]["exit_code"], what + ": a worker", out)
    r = p.sandbox(tree, command, "--copy")
    lib.equal(r.status, case["expected"]["exit_code"], what + ": --copy", r)
    for path in protected:
        status, out = p.worker(tree, "echo x >%s/x; echo x >>%s" % (path, path))
        r = p.sandbox(tree, "echo x >%s/x; echo x >>%s; git status --short; "
                      "git log --format=%%s" % (path, path))
        lib.check("first" in r.out, what + ": git reads the tree", r)
    lib.equal(lib.differences(before, lib.fingerprint(
        os.path.join(main, ".git"))), [], what + ": the repository is untouched")
    # A ".git" that names what does not point back is not followed.
    trap = p.box.repo("trap", FILES, git=False)
    lib.write(os.path.join(trap, ".git"), "gitdir: %s/.git\n" % main)
    p.box.own()
    r = p.sandbox(trap, "cat %s/.git/config; echo end" % main)
    lib.check("[core]" not in r.out, what + ": another's repository is not "
              "shown", r)


def carve_outs(p):
    repo = p.box.repo("carve", FILES)
    git = os.path.join(repo, ".git")
    before = lib.fingerprint(git)
    for name in ("G-002", "G-003"):
        case, what = p.case(name)
        for part in case["input"]["command"].replace("&&", ";").split(";"):
            if part.strip().startswith("cp "):
                continue
            r = p.sandbox(repo, part)
            lib.check(r.status != 0, "%s: %s fails" % (what, part), r)
        r = p.sandbox(repo, case["input"]["command"])
        lib.check(r.status != 0, what + ": all of it", r)
        lib.equal(lib.differences(before, lib.fingerprint(git)), [],
                  what + ": .git is as it was")
        # In a worker's tree nothing of it counts outside.
        p.worker(repo, case["input"]["command"])
        lib.equal(lib.differences(before, lib.fingerprint(git)), [],
                  what + ": a worker's .git is another")
    for deed in ("echo x >.git/hooks/pre-commit", "git config core.fsmonitor x",
                 "mv .git .g", "mv .git/config .git/c", "rmdir .git/hooks",
                 "ln -sf x .git/config", "rm -rf .git"):
        status, out = p.worker(repo, deed)
        lib.check(status != 0, "%s: %s fails in a worker" % (p.who, deed), out)


def nested(p):
    _, what = p.case("G-004")
    repo = p.box.repo("outer", FILES)
    sub = os.path.join(repo, "vendor/sub")
    lib.write(os.path.join(sub, "c.txt"), "z\n")
    p.box.git_init(sub)
    p.box.own()
    before = lib.fingerprint(os.path.join(sub, ".git"))
    hook = "vendor/sub/.git/hooks/pre-commit"
    for deed in ("echo x >" + hook, "mv vendor/sub/.git vendor/sub/.g",
                 "mv vendor/sub vendor/other", "mv vendor v",
                 "mv vendor v && mkdir -p vendor/sub && cp -r v/sub/.git "
                 "vendor/sub/ && echo x >" + hook,
                 "git -C vendor/sub config core.fsmonitor ./x"):
        r = p.sandbox(repo, deed)
        lib.check(r.status != 0, "%s: %s fails" % (what, deed), r)
    r = p.sandbox(repo, "echo w >>vendor/sub/c.txt && mv vendor/sub/c.txt "
                  "vendor/sub/d.txt && git -C vendor/sub status --short")
    lib.check(is_readonly(r) or r.status == 0 and "d.txt" in r.out, what +
              ": its files can be changed", r)
    lib.equal(lib.differences(before, lib.fingerprint(
        os.path.join(sub, ".git"))), [], what + ": its .git is as it was")
    r = p.box.tool(repo, "run_command", {"command": "echo x >%s" % hook},
                   "--apply")
    lib.check(not os.path.exists(os.path.join(repo, hook)), what +
              ": a patch has no .git in it", r)


def placeholders(p):
    _, what = p.case("G-005")
    repo = p.box.repo("clean", dict(FILES, **{".gitignore": "*.o\n"}))
    lib.write(os.path.join(repo, "x.o"), "o")
    p.box.own()
    before = p.box.status(repo), lib.fingerprint(repo)
    for options in ((), ("--copy",), ("--hide", os.path.join(repo, "x.o"))):
        r = p.sandbox(repo, "true", *options)
        lib.equal(r.status, 0, what + ": a command", r)
        live = lib.Live(p.box, ["foray", "sandbox", "-C", repo, *options, "--",
                                "sh", "-c", "echo up; sleep 300"])
        lib.wait_until(lambda: live.lines, 20)
        live.process.kill()
        live.wait(10)
        lib.check(not lib.left_alive(), what + ": nothing runs on")
        lib.equal(p.box.status(repo), before[0], what + ": git status is equal")
        lib.equal(lib.differences(before[1], lib.fingerprint(repo)), [],
                  what + ": so are the files")


def resolv_conf(p):
    case, what = p.case("G-008")
    repo = p.box.repo("names", FILES)
    etc, run = (os.path.join(p.box.dir, n) for n in ("etc", "run"))
    shutil.copytree("/etc", etc, symlinks=True, ignore=lambda d, names: [
        n for n in names if d == "/etc" and n not in (
            "passwd", "group", "nsswitch.conf", "hosts", "ld.so.cache",
            "ld.so.conf", "ld.so.conf.d", "alternatives", "subuid", "subgid")])
    lib.write(os.path.join(run, "systemd/resolve/stub-resolv.conf"),
              "nameserver 127.0.0.53\n")
    os.symlink("/run/systemd/resolve/stub-resolv.conf", etc + "/resolv.conf")
    p.box.own()
    # A machine like this one but for those two directories.
    machine = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", etc, "/etc",
               "--tmpfs", "/run", "--dir", "/run/systemd", "--ro-bind",
               run + "/systemd", "/run/systemd", "--"]
    r = p.box.call(machine + [p.box.foray, "sandbox", "-C", repo, "--", "sh",
                              "-c", case["input"]["command"]])
    lib.equal(r.status, case["expected"]["cat_exit_code"], what, r)
    lib.check("127.0.0.53" in r.out and "localhost" in r.out, what +
              ": both answer", r)


def optional_binds(p):
    case, what = p.case("G-009")
    repo = p.box.repo("binds", FILES)
    config = os.path.join(p.box.home, ".config/foray/settings.json")
    lib.write(os.path.join(p.box.home, ".there/x"), "seen\n")
    lib.write(config, json.dumps({"sandbox": {
        "show": case["input"]["config_binds"] + ["~/.there"]}}))
    p.box.own()
    r = p.sandbox(repo, case["input"]["command"])
    lib.equal(r.status, case["expected"]["exit_code"], what, r)
    status, out = p.worker(repo, "cat %s/.there/x; ls -a %s" %
                           (p.box.home, p.box.home))
    lib.check(status == 0 and "seen" in out and ".npm" not in out, what +
              ": what is there is shown", out)
    for path in case["input"]["config_binds"]:
        path = path.replace("~", p.box.home)
        lib.check(not os.path.exists(path), what + ": %s is not made" % path)
    os.unlink(config)


def loopback(p):
    case, what = p.case("G-010")
    repo = p.box.repo("loop", FILES)
    r = p.sandbox(repo, case["input"]["command"])
    lib.check(case["expected"]["output_contains"] in r.out, what, r)
    status, out = p.worker(repo, case["input"]["command"])
    lib.check(status == 0 and case["expected"]["output_contains"] in out,
              what + ": a worker", out)


def fails_fast(p):
    case, what = p.case("G-011")
    repo = p.box.repo("fast", FILES)
    command = case["input"]["command"]
    if shutil.which("curl") is None:  # as curl does it
        command = ("python3 -c 'import socket; socket.create_connection("
                   "(\"192.0.2.1\", 80), 20)'")
    r = p.sandbox(repo, command)
    lib.check(r.status != case["expected"]["exit_code_not"], what, r)
    # The time of the command alone: no timeout is waited for.
    timed = "a=$(date +%%s); %s; echo \"$? $(($(date +%%s) - a))\""
    for part, most in ((command, case["expected"]["returns_within_s"]),
                       ("getent hosts example.org", 3)):
        r = p.sandbox(repo, timed % part)
        status, took = map(int, r.out.split()[-2:])
        lib.check(status != 0 and took <= most, what + ": at once: " + part, r)


def caches(p):
    case, what = p.case("G-012")
    repo = p.box.repo("caches", FILES)
    before = lib.fingerprint(p.box.home + "/.cache") if os.path.isdir(
        p.box.home + "/.cache") else {}
    home = sorted(os.listdir(p.box.home))
    for options in ((), ("--copy",), ("--profile", "build"),
                    ("--profile", "strict")):
        r = p.sandbox(repo, case["input"]["command"], *options)
        lib.equal(r.status, case["expected"]["exit_code"], what + " %s" %
                  (options,), r)
    status, out = p.worker(repo, case["input"]["command"])
    lib.equal(status, case["expected"]["exit_code"], what + ": a worker", out)
    lib.equal(sorted(os.listdir(p.box.home)), home, what + ": the home")
    lib.check(not set(os.listdir(p.box.cache)) - {"foray"} - set(before), what +
              ": the cache directory")
    # With "build" what is kept there lasts, and not in the person's own.
    r = p.sandbox(repo, "echo kept >~/.cache/k", "--profile", "build")
    r = p.sandbox(repo, "cat ~/.cache/k", "--profile", "build")
    lib.check(r.out == "kept\n", what + ": a cache that lasts", r)
    r = p.sandbox(repo, "cat ~/.cache/k")
    lib.check(r.status != 0, what + ": elsewhere it is not seen", r)


def modes(p):
    case, what = p.case("G-013")
    repo = p.box.repo("modes", FILES)
    old = os.umask(int(case["input"]["umask"], 8))
    r = p.sandbox(repo, case["input"]["command"])
    copy = p.box.tool(repo, "run_command", {
        "command": case["input"]["command"]}, "--apply")
    os.umask(old)
    owner = os.geteuid() if p.box.uid is None else p.box.uid
    if is_readonly(r):
        lib.check(copy.json.get("ok"), what + ": by a copy", copy)
    for name, mode in case["expected"]["host_modes"].items():
        path = os.path.join(repo, name)
        if not os.path.lexists(path) and name == "d":
            continue  # a patch holds no empty directory
        st = os.lstat(path)
        lib.equal("%04o" % (st.st_mode & 0o7777), mode, what + ": " + name)
        lib.equal(st.st_uid, owner, what + ": owner of " + name)


PARTS = (worktree, carve_outs, nested, placeholders, resolv_conf,
         optional_binds, loopback, fails_fast, caches, modes)


def main():
    chosen = sys.argv[1:]
    for uid in lib.users("ordinary"):
        p = Place(uid)
        with p.box:
            for part in PARTS:
                if not chosen or part.__name__ in chosen:
                    part(p)
            if not chosen:
                lib.equal(sorted(p.done | ELSEWHERE), sorted(CASES),
                          p.who + ": every case was run")
    lib.done()


main()
