#!/usr/bin/env python3
"""What a sandboxed command can't do. Each deed is first shown to succeed
unconfined, so that a failure inside means something."""
import os
import signal
import socket
import subprocess
import sys

import lib

CONNECT = """
import socket, sys
for family, address in ((socket.AF_INET, ("127.0.0.1", int(sys.argv[1]))),
                        (socket.AF_UNIX, "\\0" + sys.argv[2]),
                        (socket.AF_UNIX, sys.argv[3])):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.settimeout(60)
            s.connect(address)
        print("connected", address)
    except OSError as e:
        print("refused [%s]" % e)
"""

# Signals, reads and traces whatever it can, up to the highest pid.
REACH = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
mine = {os.getpid(), os.getppid()}
for pid in [int(n) for n in sys.argv[1:]] or range(1, 1 << 17):
    try:
        os.kill(pid, 0)
    except OSError:
        continue
    try:
        name = open("/proc/%d/comm" % pid).read().strip()
    except OSError:
        name = "?"
    print("signal", pid, name)
    try:
        if b"PATH=" in open("/proc/%d/environ" % pid, "rb").read():
            print("environ", pid, name)
        open("/proc/%d/mem" % pid, "rb").close()
        print("memory", pid, name)
    except OSError:
        pass
    if pid not in mine and libc.ptrace(16, pid, 0, 0) == 0:
        print("trace", pid, name)
        os.waitpid(pid, 0)
        libc.ptrace(17, pid, 0, 0)
"""


class Place:
    def __init__(self, uid):
        self.box = lib.Box(uid)
        self.who = lib.user_name(uid)
        self.repo = self.box.repo("tree", lib.SMALL)
        self.outside = os.path.join(self.box.home, "outside")
        os.mkdir(self.outside)
        lib.write(os.path.join(self.box.home, ".ssh/id"), "canary-of-ssh\n")
        lib.write(os.path.join(self.box.dir, "connect.py"), CONNECT)
        lib.write(os.path.join(self.repo, "connect.py"), CONNECT)
        lib.write(os.path.join(self.repo, "reach.py"), REACH)
        self.box.own()

    def inside(self, command, *options, timeout=30):
        return self.box.do("sandbox", "-C", self.repo, *options, "--", "sh",
                           "-c", command, timeout=timeout)

    def outside_too(self, command):
        return self.box.call(["sh", "-c", command], cwd=self.repo)

    def only_outside(self, what, command, sign):
        """sign is in the output of the command outside, and not inside."""
        out, into = self.outside_too(command), self.inside(command)
        lib.check(sign in out.text, "%s: %s succeeds unconfined" %
                  (self.who, what), out)
        lib.check(sign not in into.text, "%s: %s fails inside" %
                  (self.who, what), into)
        lib.check("ran=yes" in into.out or "ran=yes" not in command,
                  "%s: %s was tried inside" % (self.who, what), into)


def files(p):
    p.only_outside("reading ~/.ssh", "echo ran=yes; cat ~/.ssh/id %s/.ssh/id" %
                   p.box.home, "canary-of-ssh")
    p.only_outside("listing the home", "echo ran=yes; ls -a %s" % p.box.home,
                   "outside")
    target = os.path.join(p.outside, "made")
    for what, path in (("outside the workspace", target),
                       ("beside it", os.path.join(p.box.src, "made")),
                       ("by a way up", p.repo + "/../made")):
        command = 'echo ran=yes; echo x >"%s" && echo wrote' % path
        lib.check("wrote" in p.outside_too(command).out,
                  "%s: writing %s succeeds unconfined" % (p.who, what))
        os.unlink(path)
        r = p.inside(command)
        lib.check("ran=yes" in r.out and not os.path.exists(path),
                  "%s: writing %s does nothing inside" % (p.who, what), r)
    for path in ("/usr/x", "/etc/x", "/x", "/dev/x", "/proc/sys/kernel/core_pattern"):
        r = p.inside("echo x >%s && echo wrote" % path)
        lib.check("wrote" not in r.out and not os.path.exists("/usr/x"),
                  "%s: %s can't be written" % (p.who, path), r)
    before = lib.fingerprint(os.path.join(p.repo, ".git"))
    command = "echo ran=yes; %s && echo wrote"
    for deed in ("echo '[x]' >>.git/config", "git config x.y z",
                 "echo x >.git/hooks/pre-commit", "rm -rf .git/HEAD",
                 "mv .git .got", "chmod 777 .git/config"):
        r = p.inside(command % deed)
        lib.check("ran=yes" in r.out and "wrote" not in r.out,
                  "%s: %s fails inside" % (p.who, deed), r)
    lib.equal(lib.differences(before, lib.fingerprint(
        os.path.join(p.repo, ".git"))), [], p.who + ": .git is as it was")
    lib.check("wrote" in p.outside_too(command % "git config x.y z").out,
              p.who + ": writing .git/config succeeds unconfined")
    lib.check("x" in p.inside("git log --format=%s; echo x").out,
              p.who + ": git reads the repository inside")


def workspace(p):
    r = p.inside("echo made >made.txt && cat made.txt max.sh")
    path = os.path.join(p.repo, "made.txt")
    if "read-only here" in r.err:  # as root on an overlay: it says so
        lib.check(r.status != 0 and not os.path.exists(path),
                  p.who + ": the tree is read-only", r)
    else:
        lib.check(r.status == 0 and os.path.exists(path),
                  p.who + ": the tree is writable", r)
    if os.path.exists(path):
        owner = os.geteuid() if p.box.uid is None else p.box.uid
        lib.equal(os.stat(path).st_uid, owner, p.who + ": as the user's own")
        os.unlink(path)
    before = lib.fingerprint(p.repo)
    r = p.inside("echo made >made.txt; echo x >>max.sh; cat made.txt", "--copy")
    lib.check(r.status == 0 and "made" in r.out, p.who + ": --copy", r)
    lib.equal(lib.differences(before, lib.fingerprint(p.repo)), [],
              p.who + ": --copy leaves the tree alone")
    r = p.box.do("sandbox", "-C", p.repo, "--", "cat", stdin=subprocess.DEVNULL)
    lib.equal(r.status, 0, p.who + ": stdin is the caller's")


def network(p):
    name = "foray-it-%d" % os.getpid()
    path = os.path.join(p.outside, "s")
    listeners = []
    for family, address in ((socket.AF_INET, ("127.0.0.1", 0)),
                            (socket.AF_UNIX, "\0" + name),
                            (socket.AF_UNIX, path)):
        s = socket.socket(family)
        s.bind(address)
        s.listen(8)
        listeners.append(s)
    os.chmod(path, 0o777)
    command = "echo ran=yes; python3 connect.py %d %s %s" % (
        listeners[0].getsockname()[1], name, path)
    out, into = p.outside_too(command), p.inside(command)
    lib.equal(out.out.count("connected"), 3,
              p.who + ": connecting succeeds unconfined", out)
    lib.equal((into.out.count("connected"), into.out.count("refused [")), (0, 3),
              p.who + ": connecting fails inside", into)
    for s in listeners:
        s.close()


def other_processes(p):
    marker = "4242%d" % os.getpid()
    sleeper = p.box.popen(["sleep", marker])
    p.only_outside("seeing other processes",
                   "echo ran=yes; cat /proc/[0-9]*/cmdline | tr '\\0' ' '",
                   marker)
    p.only_outside("signalling one", "echo ran=yes; kill -0 %d && echo could" %
                   sleeper.pid, "could")
    command = "echo ran=yes; python3 reach.py %d" % sleeper.pid
    out = p.outside_too(command)
    lib.check("environ" in out.out, p.who + ": its environment is readable "
              "unconfined", out)
    into = p.inside("python3 reach.py")
    names = {line.split()[2] for line in into.out.splitlines()}
    lib.check(into.out and names <= {"bwrap", "sh", "python3", "python3.11"},
              p.who + ": only its own processes are there inside", into)
    lib.check(sleeper.poll() is None, p.who + ": the other one lives")
    sleeper.kill()
    sleeper.wait()
    r = p.inside("kill -9 -1; echo after")
    lib.check(r.status is not None, p.who + ": kill -9 -1 inside", r)


def status(p):
    def of(*command, timeout=30):
        return p.box.do("sandbox", "-C", p.repo, "--", *command, timeout=timeout)
    for command, want in ((("sh", "-c", "exit 7"), 7), (("true",), 0),
                          (("sh", "-c", "kill -TERM $$"), 128 + signal.SIGTERM),
                          (("sh", "-c", "kill -KILL $$"), 128 + signal.SIGKILL),
                          (("sh", "-c", "exit 125"), 125)):
        r = of(*command)
        lib.equal(r.status, want, "%s: status of %s" % (p.who, command), r)
    r = p.box.call(["sh", "-c", "echo in | %s sandbox -C '%s' -- sh -c 'cat "
                    "/dev/stdin; echo err >/dev/stderr; echo out >>/dev/stdout' "
                    "2>&1 | cat" % (p.box.foray, p.repo)])
    lib.check(r.out.endswith("in\nerr\nout\n"),
              p.who + ": pipes are opened by their names in /dev", r)
    r = of("no-such-program-x")
    lib.check(r.status in (125, 126, 127) and r.err,
              p.who + ": a command that is not there", r)
    r = p.box.do("sandbox", "-C", "/nowhere", "--", "true")
    lib.equal(r.status, 125, p.who + ": its own failure is 125", r)
    lib.equal(p.box.do("sandbox", "-C", p.repo).status, 125,
              p.who + ": no command is 125")
    for options in ((), ("--copy",)):
        r = p.inside("sleep 300 & echo ready", *options)
        lib.check(r.status == 0 and "ready" in r.out,
                  p.who + ": a command that leaves something", r)
        lib.check(lib.soon(r.seconds, 3), p.who + ": it returns within 3 s", r)
        rest = lib.left_alive()
        lib.check(not rest, p.who + ": and nothing is left", rest)
    r = p.inside("(setsid sh -c 'sleep 300' >/dev/null 2>&1 &) ; echo ready")
    lib.check(r.status == 0 and lib.soon(r.seconds, 3), p.who + ": a daemon", r)
    killed = p.box.popen(["foray", "sandbox", "-C", p.repo, "--", "sh", "-c",
                          "sleep 300 & sleep 300"])
    lib.wait_until(lambda: len(lib.descendants()) > 4, 10)
    killed.kill()
    killed.wait()
    rest = lib.left_alive()
    lib.check(not rest, p.who + ": kill -9 of foray sandbox leaves nothing",
              rest)


def worker(p):
    """A command that a worker runs can't reach the worker."""
    def tool(command):
        return p.box.tool(p.repo, "run_command", {"command": command})
    live = lib.Live(p.box, ["foray", "tool", "-C", p.repo, "run_command",
                            '{"command": "sleep 7777; python3 reach.py"}'])
    # It waits until its sleep is ended, by us.
    waits = lib.wait_until(lambda: [q for q in lib.descendants(live.pid)
                                    if q.name == "sleep"], 10)
    agent = [q for q in lib.descendants(live.pid) if q.is_worker()]
    if lib.check(agent, p.who + ": there is a worker"):
        me = p.outside_too("python3 reach.py %d" % agent[-1].pid)
        # As root everything may be done; an ordinary user made the worker.
        lib.check("signal %d" % agent[-1].pid in me.out, p.who +
                  ": the worker can be signalled unconfined", me)
    for q in waits:
        os.kill(q.pid, signal.SIGKILL)
    r = live.wait(30)
    result = str(r.json.get("result"))
    lib.check("exit status 0" in result and "signal" in result,
              p.who + ": the command looked around", r)
    lib.check("foray" not in result.replace("foray-it-", ""),
              p.who + ": the worker can't be signalled, read or traced", r)
    r = tool("find /run /tmp /dev /var -type s 2>/dev/null; cat /proc/net/unix; "
             "ls -a /run; echo end")
    result = str(r.json.get("result"))
    lib.check("end" in result and "/s" not in result.replace("/status", "") and
              "foray" not in result, p.who + ": no socket is to be seen", r)
    r = tool("kill -9 -1; kill -9 1; kill -9 $PPID; echo after")
    lib.check(r.json.get("ok") is True, p.who + ": the worker outlives "
              "kill -9 of all", r)
    r = tool("unshare -Ur true && echo could; unshare -m true && echo could; "
             "mount -t tmpfs none /tmp && echo could; "
             "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, "
             "socket.SOCK_RAW)' && echo netlink; true")
    lib.check("could" not in str(r.json.get("result")),
              p.who + ": no further namespaces, no mounts", r)
    r = tool("head -c 100000000 /dev/zero >/dev/shm/x; ls /proc/1/root/ "
             "/proc/1/fd /proc/1/cwd/; cat /proc/1/environ; id -u")
    lib.check(not str(r.json.get("result")).rstrip().endswith("\n0"),
              p.who + ": not as root", r)
    lib.check("/run/foray" not in str(r.json.get("result")),
              p.who + ": pid 1 gives nothing away", r)
    command = "echo ran; python3 connect.py 9 x /run/foray/s"
    r = tool(command)
    lib.check("connected" not in str(r.json.get("result")),
              p.who + ": no connection", r)


for uid in lib.users():
    place = Place(uid)
    with place.box:
        for part in (files, workspace, network, other_processes, status, worker):
            if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
                part(place)
lib.done()
