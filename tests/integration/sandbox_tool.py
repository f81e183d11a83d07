#!/usr/bin/env python3
"""foray sandbox as a tool: profiles, settings, flags, signals, a terminal."""
import fcntl
import json
import os
import pty
import select
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
    lib.check(r.status == 124 and r.seconds < 5 and "max-time" in r.err,
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
        end = time.monotonic() + seconds
        while word not in self.text and time.monotonic() < end:
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.master, 4096)
                except OSError:
                    break
        return word in self.text

    def close(self):
        try:
            status = self.process.wait(10)
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


PARTS = (profiles, own_profiles, paths, signals, terminal)


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
