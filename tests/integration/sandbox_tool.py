#!/usr/bin/env python3
"""foray sandbox as a tool: profiles, settings, flags, signals, a terminal."""
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

import lib

FILES = {"a.txt": "x\n", "secret.txt": "hidden-canary\n"}
TRAP = "trap 'echo got %s; exit 3' %s; echo up; while :; do sleep 0.05; done"


class Place:
    def __init__(self, uid):
        self.box = lib.Box(uid)
        self.who = lib.user_name(uid)
        self.repo = self.box.repo("tree", FILES)

    def run(self, command, *options, **more):
        return self.box.do("sandbox", "-C", self.repo, *options, "--", "sh",
                           "-c", command, **more)

    def explain(self, *options):
        return self.box.do("sandbox", "-C", self.repo, *options, "--explain")

    def config(self, name, text):
        path = os.path.join(self.box.home, ".config/foray", name)
        lib.write(path, text if isinstance(text, str) else json.dumps(text))
        self.box.own()
        return path


def profiles(p):
    limits = {"strict": ("64", "256 MiB"), "default": ("512", "2 GiB"),
              "build": ("4096", "8 GiB"), "debug": ("512", "2 GiB")}
    for name, (procs, tmp) in limits.items():
        r = p.explain("--profile", name)
        lib.check(r.status == 0 and procs + " processes" in r.out and
                  "/tmp (empty, %s" % tmp in r.out, "%s: %s explains itself" %
                  (p.who, name), r)
        lib.check(("allowed: ptrace" in r.out) == (name == "debug"),
                  "%s: %s and ptrace" % (p.who, name), r)
        lib.check("but not" in r.out and p.repo + "/.git" in r.out,
                  "%s: %s and .git" % (p.who, name), r)
        out = p.run("ulimit -p 2>/dev/null || bash -c 'ulimit -u'; cat "
                    "/etc/hostname; cat a.txt", "--profile", name)
        lib.check(procs in out.out and "x\n" in out.out, "%s: %s holds" %
                  (p.who, name), out)
        lib.equal("No such file" in out.err, name == "strict",
                  "%s: %s and /etc" % (p.who, name), out)
        trace = ("import ctypes, os, sys\n"
                 "libc = ctypes.CDLL(None, use_errno=True)\n"
                 "print(libc.ptrace(0, 0, 0, 0))")
        out = p.box.do("sandbox", "-C", p.repo, "--profile", name, "--",
                       "python3", "-c", trace)
        lib.equal(out.out.strip(), "0" if name == "debug" else "-1",
                  "%s: %s: ptrace" % (p.who, name), out)
        j = p.box.do("sandbox", "-C", p.repo, "--profile", name, "--explain",
                     "--json").json
        lib.check(j.get("layer") == "inner" and j["limits"]["procs"] ==
                  int(procs), "%s: %s as data" % (p.who, name), j)
    r = p.explain("--profile", "nonesuch")
    lib.check(r.status == 125 and "strict" in r.err and "nonesuch.json" in r.err,
              p.who + ": an unknown profile", r)


def own_profiles(p):
    p.config("profiles/mine.json", {"extends": "strict", "about": "Mine.",
                                    "limits": {"processes": 99}})
    r = p.explain("--profile", "mine")
    lib.check("mine" in r.out and "Mine." in r.out and "99 processes" in r.out,
              p.who + ": a profile of one's own", r)
    path = p.config("elsewhere.json", {"extends": "mine", "tmp": "400M"})
    r = p.explain("--profile", path)
    lib.check("/tmp (empty, 400 MiB" in r.out and "99 processes" in r.out,
              p.who + ": a profile by its file", r)
    for text, word in (
            ({"limits": {"procs": 3}}, "procs"), ({"shw": []}, "shw"),
            ({"show": ["relative"]}, "show"), ({"show": ["/"]}, "everything"),
            ({"tmp": "12 pounds"}, "tmp"), ({"env": {"A=": "x"}}, "env"),
            ({"pass_env": ["A B"]}, "pass_env"), ("{", "mine.json"),
            ({"extends": "mine"}, "circle"), ({"ptrace": "yes"}, "ptrace"),
            ("[]", "object")):
        p.config("profiles/mine.json", text)
        r = p.explain("--profile", "mine")
        lib.check(r.status == 125 and word in r.err and "mine" in r.err,
                  "%s: a bad profile: %s" % (p.who, text), r)
    config = p.config("settings.json", {"sandbox": {
        "profile": "strict", "tmp": "300M", "env": {"FROM": "settings"}}})
    r = p.run("echo $FROM; df -h /tmp | tail -1")
    lib.check("settings" in r.out and "300M" in r.out, p.who + ": settings", r)
    r = p.run("echo $FROM; cat /etc/hostname", "--profile", "default",
              "--env", "FROM=flag")
    lib.check(r.out.startswith("flag") and r.status == 0, p.who +
              ": flags come last", r)
    out = p.box.tool(p.repo, "run_command", {"command": "cat /etc/hostname; "
                                             "df -h /tmp | tail -1"})
    lib.check("No such file" in out.out and "300M" in out.out, p.who +
              ": a worker's commands are in it, too", out)
    for bad in ({"sandbox": {"x": 1}}, {"sandbox": []}, {"sandbox": {
            "profile": "nonesuch"}}, {"sandbox": {"profile": 3}}):
        p.config("settings.json", bad)
        r = p.run("echo ran")
        lib.check(r.status == 125 and "ran" not in r.out and "sandbox" in r.err,
                  "%s: bad settings: %s" % (p.who, bad), r)
        r = p.box.tool(p.repo, "run_command", {"command": "true"})
        lib.check(r.status == 2, "%s: and a run: %s" % (p.who, bad), r)
    os.unlink(config)


def paths(p):
    data, out = (os.path.join(p.box.home, n) for n in ("data", "out"))
    lib.write(data + "/d", "data-canary\n")
    os.mkdir(out)
    p.box.own()
    look = "cat %s/d; ls %s" % (data, p.box.home)
    lib.check("canary" not in p.run(look).out, p.who + ": not shown")
    r = p.run(look + "; echo x >%s/d && echo wrote" % data, "--show", data)
    lib.check("canary" in r.out and "wrote" not in r.out and "out" not in
              r.out.split(), p.who + ": --show", r)
    r = p.run("echo x >%s/made && echo wrote" % out, "--write", out)
    if "read-only here" not in r.err:
        lib.check("wrote" in r.out and os.path.exists(out + "/made"), p.who +
                  ": --write", r)
        lib.equal(os.stat(out + "/made").st_uid, p.box.uid or os.geteuid(),
                  p.who + ": --write: owner")
    hidden = os.path.join(p.repo, "secret.txt")
    for options in ((), ("--copy",)):
        r = p.run("cat secret.txt; ls; cat a.txt", "--hide", hidden, *options)
        lib.check("canary" not in r.out and "x\n" in r.out, "%s: --hide %s" %
                  (p.who, options), r)
    r = p.run("ls -A /usr/share | head -1", "--hide", "/usr/share")
    lib.equal(r.out, "", p.who + ": --hide of a directory", r)
    p.config("settings.json", {"sandbox": {"hide": [hidden]}})
    out = p.box.tool(p.repo, "read_file", {"path": "secret.txt"})
    lib.check("canary" not in out.out, p.who + ": hidden in a run, too", out)
    out = p.box.tool(p.repo, "run_command", {"command": "ls; echo y >b.txt"})
    lib.check("secret" not in out.json.get("patch", "secret"), p.who +
              ": a patch does not tell of it", out)
    os.unlink(os.path.join(p.box.home, ".config/foray/settings.json"))
    for option, arg in (("--show", "/nowhere/x"), ("--show", "/"),
                        ("--env", "=x"), ("--max-time", "soon"),
                        ("--nonsense", "x"), ("--json", "x")):
        r = p.run("echo ran", option, arg)
        lib.check(r.status == 125 and "ran" not in r.out and r.err,
                  "%s: %s %s is refused" % (p.who, option, arg), r)
    r = p.run("echo $A-$B-$HOME", "--env", "A=1 2", "--env", "B",
              env={"B": "mine", "C": "no"})
    lib.equal(r.out, "1 2-mine-/tmp/home\n", p.who + ": --env", r)
    r = p.run("env", env={"TOKEN_CANARY": "x"})
    lib.check("TOKEN_CANARY" not in r.out, p.who + ": no other variable", r)


def signals(p):
    for name in ("TERM", "INT", "HUP", "USR1", "USR2", "QUIT"):
        live = lib.Live(p.box, ["foray", "sandbox", "-C", p.repo, "--", "sh",
                                "-c", TRAP % (name, name)])
        lib.wait_until(lambda: live.lines, 20)
        live.signal(getattr(signal, "SIG" + name))
        r = live.wait(10)
        lib.check(r.status == 3 and "got " + name in r.out,
                  "%s: SIG%s reaches the command" % (p.who, name), r)
    live = lib.Live(p.box, ["foray", "sandbox", "-C", p.repo, "--", "sh", "-c",
                            "echo up; exec sleep 300"])
    lib.wait_until(lambda: live.lines, 20)
    live.signal(signal.SIGTERM)
    r = live.wait(10)
    lib.equal(r.status, 128 + signal.SIGTERM, p.who + ": ended by a signal", r)
    for delay in (0, 0.005, 0.01, 0.02):
        live = lib.Live(p.box, ["foray", "sandbox", "-C", p.repo, "--", "sleep",
                                "300"])
        time.sleep(delay)
        live.signal(signal.SIGTERM)
        r = live.wait(10)
        lib.check(r.status not in (None, 0), "%s: SIGTERM after %s s" %
                  (p.who, delay), r)
    r = p.run("sleep 300 & sleep 300", "--max-time", "1")
    lib.check(r.status == 124 and lib.soon(r.seconds, 5) and "max-time" in r.err,
              p.who + ": --max-time", r)
    lib.check(not lib.left_alive(), p.who + ": nothing is left")


class Terminal:
    """foray sandbox with a terminal of its own."""

    def __init__(self, p, argv):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
        if p.box.uid is not None:
            os.fchown(slave, p.box.uid, p.box.uid)

        def lead():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        self.process = p.box.popen(
            ["foray", "sandbox", "-C", p.repo, "--", *argv], stdin=slave,
            stdout=slave, stderr=slave, preexec_fn=lead,
            env={"TERM": "xterm-test"})
        os.close(slave)
        self.text = b""

    def until(self, word, seconds=20):
        end = time.monotonic() + seconds * lib.BUSY
        while word not in self.text and time.monotonic() < end:
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.master, 4096)
                except OSError:
                    break
        return word in self.text

    def close(self):
        try:
            status = self.process.wait(10 * lib.BUSY)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = None
        os.close(self.master)
        return status


def terminal(p):
    t = Terminal(p, ["sh", "-c", "test -t 0 && echo tty; stty size; echo $TERM; "
                     "exit 4"])
    lib.check(t.until(b"xterm-test") and b"tty" in t.text and b"33 77" in
              t.text, p.who + ": a terminal is kept", t.text)
    lib.equal(t.close(), 4, p.who + ": with the command's status")
    t = Terminal(p, ["sh", "-c", "trap 'echo caught; exit 5' INT; echo up; "
                     "while :; do sleep 0.05; done"])
    t.until(b"up")
    os.write(t.master, b"\x03")
    lib.check(t.until(b"caught"), p.who + ": ^C reaches the command", t.text)
    lib.equal(t.close(), 5, p.who + ": which may do what it wants")
    t = Terminal(p, ["sh", "-c", "echo up; exec sleep 300"])
    t.until(b"up")
    os.write(t.master, b"\x03")
    lib.equal(t.close(), 128 + signal.SIGINT, p.who + ": or nothing", t.text)
    t = Terminal(p, ["sh", "-c", "read line; echo read $line"])
    os.write(t.master, b"typed\n")
    lib.check(t.until(b"read typed"), p.who + ": typing", t.text)
    t.close()
    t = Terminal(p, ["python3", "-c",
                     "import fcntl, termios\n"
                     "for c in b'id\\n':\n"
                     "    try: fcntl.ioctl(0, termios.TIOCSTI, bytes([c]))\n"
                     "    except OSError as e: print('refused', e.errno)"])
    lib.check(t.until(b"refused 1"), p.who + ": but not for us", t.text)
    t.close()


PRELOAD = """
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void)
{
	FILE *f = fopen(getenv("PROOF"), "a");
	if (f != NULL)
		fclose(f);
}
"""


def preload(p):
    """The command's variables are not those of what sets its sandbox up."""
    repo = p.box.repo("preload", {"q.c": PRELOAD})
    proof = os.path.join(p.box.home, "proof")
    r = p.box.call(["cc", "-shared", "-fPIC", "-o", "q.so", "q.c"], cwd=repo)
    if not lib.check(r.status == 0, p.who + ": a library", r):
        return
    so = os.path.join(repo, "q.so")
    p.box.call(["true"], env={"LD_PRELOAD": so, "PROOF": proof})
    lib.check(os.path.exists(proof), p.who + ": it works unconfined")
    os.unlink(proof)
    r = p.box.do("sandbox", "-C", repo, "--env", "LD_PRELOAD=" + so, "--env",
                 "PROOF=" + proof, "--", "sh", "-c", "echo $LD_PRELOAD")
    lib.check(r.out == so + "\n", p.who + ": the variable is there inside", r)
    p.config("settings.json", {"sandbox": {"env": {"LD_PRELOAD": so,
                                                   "PROOF": proof}}})
    p.box.do("sandbox", "-C", repo, "--", "true")
    p.box.tool(repo, "run_command", {"command": "true"})
    os.unlink(os.path.join(p.box.home, ".config/foray/settings.json"))
    lib.check(not os.path.exists(proof), p.who + ": and did nothing outside")


def exchanged(p):
    """One sandbox puts a link where the next is shown something."""
    private = os.path.join(p.box.home, ".ssh")
    lib.write(private + "/id", "key-canary\n")
    first = p.box.repo("first", {"out/x": "x\n", "bin/t": "#!/bin/sh\n"})
    out, bin_dir = (os.path.join(first, n) for n in ("out", "bin"))
    p.box.own()
    look = "cat %s/id %s/id; echo x >%s/made" % (out, bin_dir, out)
    for where in ("show", "write"):
        p.config("settings.json", {"sandbox": {where: [out]}})
        r = p.run(look)
        lib.check(r.status != 125, "%s: %s" % (p.who, where), r)
    shutil.rmtree(out)
    shutil.rmtree(bin_dir)
    os.symlink(private, out)
    os.symlink("../../../.ssh", bin_dir)
    for where in ("show", "write"):
        p.config("settings.json", {"sandbox": {where: [out]}})
        for options in ((), ("--copy",)):
            r = p.run(look, *options)
            lib.check(r.status == 125 and "symbolic link" in r.err and
                      out in r.err, "%s: %s, exchanged" % (p.who, where), r)
        r = p.box.tool(p.repo, "run_command", {"command": look})
        lib.check("key-canary" not in r.out, "%s: %s: a worker" %
                  (p.who, where), r)
    os.unlink(os.path.join(p.box.home, ".config/foray/settings.json"))
    path = bin_dir + ":" + p.box.env.get("PATH", lib.SYSTEM_PATH)
    for options in ((), ("--copy",)):
        r = p.run(look, *options, env={"PATH": path})
        lib.check("key-canary" not in r.out, p.who + ": by PATH", r)
    lib.check(not os.path.exists(private + "/made"), p.who + ": nothing made")


def repositories(p):
    """All that git would run from, wherever it lies in the tree."""
    box = p.box
    repo = box.repo("many", FILES)
    bare = os.path.join(repo, "p/.bare")
    box.git(repo, "init", "-q", "--bare", bare)
    lib.write(os.path.join(repo, "p/.git"), "gitdir: ./.bare\n")
    box.own()
    do = "git config -f p/.bare/config core.fsmonitor x; " \
         "echo x >p/.bare/hooks/post-checkout; mv p/.bare p/other; mv p q"
    r = box.do("sandbox", "-C", repo, "--", "sh", "-c", do + "; echo end")
    lib.check("end" in r.out and "fsmonitor" not in lib.read(
        bare + "/config") and not os.path.exists(
            bare + "/hooks/post-checkout") and not os.path.exists(
                os.path.join(repo, "q")), p.who + ": what a .git file names", r)
    for name, make in (
            ("link", lambda d: (os.mkdir(d + "/elsewhere"),
                                os.symlink("elsewhere", d + "/.git"))),
            ("config", lambda d: (box.git_init(d), shutil.move(
                d + "/.git/config", d + "/cfg"), os.symlink(
                    "../cfg", d + "/.git/config"))),
            ("hooks", lambda d: (box.git_init(d), shutil.rmtree(
                d + "/.git/hooks"), os.mkdir(d + "/h"), os.symlink(
                    "../h", d + "/.git/hooks")))):
        tree = box.repo("tree-" + name, FILES, git=False)
        sub = os.path.join(tree, "sub")
        os.mkdir(sub)
        make(sub)
        box.own()
        r = box.do("sandbox", "-C", tree, "--", "echo", "ran")
        lib.check(r.status == 125 and "ran" not in r.out and
                  "symbolic link" in r.err and "--copy" in r.err,
                  "%s: a nested .git: %s" % (p.who, name), r)
    tree = box.repo("shut", {"sub/a": "x\n"})
    box.git_init(os.path.join(tree, "sub"))
    os.chmod(os.path.join(tree, "sub"), 0)
    box.own()
    r = box.do("sandbox", "-C", tree, "--", "echo", "ran")
    root = p.box.uid is None and os.geteuid() == 0
    lib.check("ran" in r.out if root else r.status == 125 and
              "can't be searched" in r.err, p.who + ": a closed directory", r)
    os.chmod(os.path.join(tree, "sub"), 0o755)
    box.git(box.home, "init", "-q")
    r = box.do("sandbox", "-C", box.home, "--", "echo", "ran")
    lib.check(r.status == 125 and "home directory" in r.err, p.who +
              ": a home is no tree", r)
    plain = box.repo("plain", FILES, git=False)
    r = box.do("sandbox", "-C", plain, "--copy", "--", "echo", "ran")
    lib.check(r.status == 125 and "home directory" in r.err, p.who +
              ": nor the repository that it is", r)
    shutil.rmtree(os.path.join(box.home, ".git"))


def hidden_well(p):
    box = p.box
    real = os.path.join(box.dir, "real/d")
    lib.write(real + "/secret", "deep-canary\n")
    lib.write(real + "/open", "open\n")
    os.symlink("real", os.path.join(box.dir, "alias"))
    by_link = os.path.join(box.dir, "alias/d")
    tree = box.repo("conf", {"conf/key": "conf-canary\n", "a": "x\n"})
    box.own()
    for way in (real, by_link):
        r = p.run("cat %s/open; cat %s/secret" % (by_link, by_link), "--show",
                  by_link, "--hide", way + "/secret")
        lib.check("open" in r.out and "deep-canary" not in r.out, "%s: hidden "
                  "by %s" % (p.who, way), r)
    key = os.path.join(tree, "conf/key")
    r = box.do("sandbox", "-C", tree, "--hide", key, "--", "sh", "-c",
               "mv conf conf2; mv conf/key conf/k; cat conf*/*; cat a")
    lib.check("x\n" in r.out and "canary" not in r.out and os.path.exists(key),
              p.who + ": what is hidden can't be moved", r)
    r = box.do("sandbox", "-C", tree, "--hide", tree, "--", "true")
    lib.check(r.status == 125 and "hide" in r.err, p.who + ": the tree itself",
              r)


def small_things(p):
    p.config("profiles/bare.json", {"about": "x"})
    r = p.run("echo ran", "--profile", "bare")
    lib.check(r.out == "ran\n", p.who + ": a profile without more", r)
    p.config("profiles/bare.json", {"extends": None, "show": ["/etc"]})
    r = p.run("echo ran", "--profile", "bare")
    lib.check(r.status == 125, p.who + ": one that shows next to nothing", r)
    p.config("settings.json", {"sandbox": {"pass_env": ["TOKEN_X"]}})
    r = p.box.tool(p.repo, "run_command", {"command": "echo [$TOKEN_X]"},
                   env={"TOKEN_X": "given"})
    lib.check("[given]" in r.out, p.who + ": pass_env reaches workers", r)
    os.unlink(os.path.join(p.box.home, ".config/foray/settings.json"))


PARTS = (profiles, own_profiles, paths, signals, terminal, preload, exchanged,
         repositories, hidden_well, small_things)


def main():
    chosen = sys.argv[1:]
    for uid in lib.users():
        p = Place(uid)
        with p.box:
            for part in PARTS:
                if not chosen or part.__name__ in chosen:
                    part(p)
    lib.done()


main()
