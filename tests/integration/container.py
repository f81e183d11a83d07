#!/usr/bin/env python3
"""Where namespaces are forbidden, as in a pod: nothing runs unasked, and
--sandbox container works, confines, says so and leaves nothing behind. And what
foray says when bwrap can't be had."""
import ctypes
import errno
import json
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

# ------------------------------------------------------- a container's rules

NUMBERS = {  # unshare, setns, mount, pivot_root, umount2, clone, clone3
    "x86_64": (272, 308, 165, 155, 166, 56, 435),
    "aarch64": (97, 268, 40, 41, 39, 220, 435),
}
LANDLOCK_CREATE = 444
CLONE_NEW = 0x7e020000
DOCKER_CAPS = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}
SETGID, SETUID = 6, 7
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
SANDBOX_UID = 61184
NEED = "--sandbox container"
FLAG = ("--sandbox", "container")
KEY = "sk-canary-789"


def program(refused):
    """BPF: these calls give that errno; clone with new namespaces EPERM, clone3
    ENOSYS. As Docker's default profile, in short."""
    def op(code, k, jt=0, jf=0):
        return struct.pack("HBBI", code, jt, jf, k)

    def answer(number):
        return op(0x06, 0x00050000 | number)
    load, equal, both = 0x20, 0x15, 0x45
    *_, clone, clone3 = NUMBERS[platform.machine()]
    code = [op(load, 0)]
    for call, number in refused + [(clone3, errno.ENOSYS)]:
        code += [op(equal, call, 0, 1), answer(number)]
    code += [op(equal, clone, 0, 3), op(load, 16), op(both, CLONE_NEW, 0, 1),
             answer(errno.EPERM), op(0x06, 0x7fff0000)]
    return b"".join(code)


def forbid(more=(), caps=DOCKER_CAPS):
    """For preexec_fn: what follows lives in such a container."""
    refused = [(n, errno.EPERM) for n in NUMBERS[platform.machine()][:5]]
    code = program(refused + list(more))
    text = ctypes.create_string_buffer(code)
    rule = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(text))

    def do():
        if os.geteuid() != 0:
            lib.libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if lib.libc.prctl(22, 2, ctypes.c_char_p(rule), 0, 0) != 0:
            os._exit(99)
        for cap in range(64):
            if os.geteuid() == 0 and cap not in caps:
                lib.libc.prctl(PR_CAPBSET_DROP, cap, 0, 0, 0)
    do.text = text  # lives as long as do
    return do


class Pod:
    """A box whose programs live where no namespace can be made."""

    def __init__(self, uid):
        self.box = lib.Box(uid)
        self.who = lib.user_name(uid)
        self.root = uid is None and os.geteuid() == 0
        # Root's workers have another uid, which can't walk into a 0700 home.
        self.cache = tempfile.mkdtemp(prefix="foray-it-cache-")
        os.chmod(self.cache, 0o711)
        if uid is not None:
            os.chown(self.cache, uid, uid)
        self.box.env["XDG_CACHE_HOME"] = self.cache
        self.repo = self.box.repo("tree", lib.SMALL)
        lib.write(os.path.join(self.box.home, ".ssh/id"), "canary-of-ssh\n")
        self.box.own()

    def __enter__(self):
        self.box.__enter__()
        return self

    def __exit__(self, *what):
        self.box.__exit__(*what)
        subprocess.run(["rm", "-rf", self.cache], check=False)

    def do(self, *args, rules=None, **more):
        return self.box.do(*args, preexec_fn=rules or forbid(), **more)

    def sandbox(self, command, *options, **more):
        return self.do("sandbox", "-C", self.repo, *FLAG, *options, "--", "sh",
                       "-c", command, **more)

    def tool(self, command, name="run_command", **more):
        args = command if isinstance(command, dict) else {"command": command}
        r = self.do("tool", "-C", self.repo, *FLAG, "--ask", "allow", name,
                    json.dumps(args), **more)
        return r, str(r.json.get("result"))

    def check(self, good, what, detail=""):
        return lib.check(good, "%s: %s" % (self.who, what), detail)


# -------------------------------------------------------------------- tests


def refused(p):
    """Not asked for: nothing runs, and the error names the way out."""
    r = p.do("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST)
    p.check(r.status == 4, "a run without the flag ends with 4", r)
    p.check(NEED in r.text and "emedy" in r.text and "weaker" in r.text,
            "and names the remedy and the flag", r)
    p.check(not r.all("worker_started") and not r.all("snapshot"),
            "nothing was started", r)
    marker = os.path.join(p.repo, "ran")
    for args in (("sandbox", "-C", p.repo, "--", "touch", marker),
                 ("sandbox", "-C", p.repo, "--copy", "--", "touch", marker)):
        r = p.do(*args)
        p.check(r.status == 125 and not os.path.exists(marker),
                "foray %s: not run unsandboxed" % args[0], r)
        p.check(NEED in r.err and "Remedy" in r.err, "and it says why", r)
    r = p.do("tool", "-C", p.repo, "run_command", '{"command":"true"}')
    p.check(r.status == 4 and NEED in r.err, "nor a tool call", r)
    r = p.do("run", "-C", p.repo, "--sandbox", "chroot", "-t", "true")
    p.check(r.status == 2 and "chroot" in r.err, "another kind is refused", r)
    r = p.do("doctor")
    p.check(r.status == 4 and "would work here" in r.out, "doctor tells", r)


def fixed(p):
    """The bug is found, the patch is right, and it is on record how."""
    before = lib.fingerprint(p.repo)
    r = p.do("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST, "-n", "2", *FLAG)
    if not p.check(r.status == 0 and r.finished.get("status") == "fixed",
                   "a fix is found", r):
        return
    p.check("NOT confined" in r.err, "the warning is there", r)
    p.check([e.get("sandbox") for e in r.all("host_up")] == ["container"],
            "the events tell", r)
    p.check({e.get("layout") for e in r.all("worker_started")} <= {"copy", None},
            "the trees are copies", r)
    lib.equal(lib.differences(before, lib.fingerprint(p.repo)), [],
              p.who + ": the tree is untouched")
    audit = p.box.do("audit", "--verify")
    p.check(audit.status == 0, "the chain holds", audit)
    lines = [json.loads(x) for x in lib.read(os.path.join(
        p.box.runs()[-1], "audit.jsonl")).splitlines()]
    p.check(lines and lines[0]["act"] == "sandbox" and
            lines[0]["subject"] == "container" and
            "NOT confined" in str(lines[0]["detail"]),
            "the first line of the chain tells", lines[:1])
    p.box.git(p.repo, "apply", r.finished["patch"])
    now = p.box.call(["sh", "test.sh"], cwd=p.repo)
    p.check(now.status == 0 and p.box.git(p.repo, "diff", "--name-only") ==
            b"max.sh\n", "the patch is right", now)
    p.box.git(p.repo, "checkout", "-q", ".")


def compiled(p):
    """A bug in C, with try_edits on copies."""
    repo = p.box.bug("c-jobqueue")
    r = p.do("run", "-C", repo, "--json", "-t", lib.bug_info("c-jobqueue")["test"],
             "-n", "2", *FLAG, timeout=120)
    p.check(r.status == 0, "a bug in C is fixed", r)


# Code that changes the tests while they run it.
GREEN = ("printf 'echo ok 1 - max 2 3\\necho ok 2 - max 3 2\\n"
         "echo ok 3 - max 5 5\\necho 1..3\\n' >test.sh; ")
CHEATS = {
    "rewrites": "cp test.sh old; " + GREEN + "exec sh test.sh",
    "puts back": "cp -a test.sh old; " + GREEN + "sh test.sh; cp -a old test.sh; "
                 "rm old; exit 0",
}


def verified(p):
    """A patch whose code changes protected files in its own verification."""
    for name, deed in sorted(CHEATS.items()):
        repo = p.box.repo("cheat-" + name.replace(" ", "-"), lib.SMALL)
        first = lib.SMALL["max.sh"].splitlines()[0]
        script = {"turns": [
            {"calls": [{"name": "edit_file", "arguments": {
                "path": "max.sh", "old": first,
                "new": "[ -e old ] || { %s; }\n%s" % (deed, first)}}]},
            {"calls": [{"name": "finish", "arguments": {
                "verdict": "fixed", "findings": ["it is fixed"]}}]}]}
        with FakeServer(script, key=KEY) as s:
            r = p.do("run", "-C", repo, "--json", "-t", lib.SMALL_TEST, *FLAG,
                     "-m", "openai/fake-model", "--topology", "single",
                     "--no-builtin", env=s.env())
        told = [e.get("reason", "") for e in r.all("verified")]
        p.check(r.status == 1 and told and
                # Seen in what it did, or already in what it says.
                all("test.sh is protected and was changed" in t or
                    "max.sh:1 ends the process" in t for t in told),
                "%s: refuted" % name, r)


def files(p):
    """What is not shown can't be read, what is not the tree's not written."""
    place = ("--copy",)
    r = p.sandbox("echo ran; cat %s/.ssh/id ~/.ssh/id; ls %s /root /run /var "
                  "/tmp; cat /etc/hostname >/dev/null && echo etc" %
                  (p.box.home, p.box.home), *place)
    p.check("ran" in r.out and "etc" in r.out, "the system can be read", r)
    p.check("canary" not in r.text and r.err.count("ermission denied") >= 6,
            "no home, no /run, /var, /tmp", r)
    outside = os.path.join(p.box.dir, "outside")
    os.mkdir(outside, 0o777)
    os.chmod(outside, 0o777)
    for path in (outside + "/x", "/tmp/foray-it-x", "/var/tmp/foray-it-x",
                 "/dev/shm/foray-it-x", "/etc/x", "/usr/x", p.cache + "/x",
                 p.box.home + "/x", "../x", "/proc/self/oom_score_adj"):
        r = p.sandbox("echo ran; echo x >%s && echo wrote" % path, *place)
        p.check("ran" in r.out and "wrote" not in r.out and
                not (path.endswith("/x") and os.path.exists(path)),
                "%s can't be written" % path, r)
    mine = os.path.join(p.cache, "mine")
    lib.write(mine, "x")
    os.chmod(mine, 0o600)
    os.chown(mine, *([SANDBOX_UID] * 2 if p.root else [p.box.uid or -1] * 2))
    before = os.stat(mine)
    r = p.sandbox("chmod 777 %s; touch -d @1 %s; ln -s %s l; chmod 777 l; "
                  "setfattr -n user.x -v y %s; echo ran" % ((mine,) * 4), *place)
    p.check("ran" in r.out and os.stat(mine) == before,
            "modes and times of the same user's files stay", r)
    r, text = p.tool("chmod 777 %s; touch -d @1 %s; echo ran; touch x && "
                     "chmod 751 x && stat -c %%a x" % (mine, mine))
    p.check("ran" in text and "751" in text and os.stat(mine) == before,
            "those of a worker's command, too", r)
    r = p.sandbox("mkdir d && echo y >d/f && mv d/f g && cat g && ln g h && "
                  "truncate -s 1 h && rm -r d g && mkfifo p && "
                  "echo z >$TMPDIR/t && cat $TMPDIR/t && test -d $HOME", *place)
    p.check(r.status == 0 and r.out.split() == ["y", "z"],
            "the tree and TMPDIR are writable", r)
    p.check("NOT confined" in r.err, "the warning is there", r)
    scratch = os.path.join(p.cache, "foray/scratch")
    # A host that takes its time to end is killed: what it leaves is the next's
    # to clear, which leaves none of its own, then.
    for _ in range(5):
        if p.root or lib.wait_until(lambda: not os.listdir(scratch), 2):
            break
        p.tool("true")
    p.check(not os.listdir(scratch) or p.root,
            "nothing is left in the scratch directory", os.listdir(scratch))


def live(p):
    """The person's own tree: .git is read-only, and nothing new at the top."""
    marker = os.path.join(p.repo, "sub/new")
    os.makedirs(os.path.dirname(marker), exist_ok=True)
    p.box.own()
    r = p.sandbox("echo ran; echo x >sub/new; echo '# x' >>max.sh")
    if p.root:
        p.check(r.status == 125 and "--copy" in r.err,
                "root's 0700 home: it says what to do", r)
        return
    p.check("ran" in r.out and os.path.exists(marker), "files can be changed", r)
    before = lib.fingerprint(os.path.join(p.repo, ".git"))
    for deed in ("echo x >>.git/config", "echo x >.git/hooks/pre-commit",
                 "ln -s /bin/sh .git/hooks/post-checkout", "rm -rf .git/HEAD",
                 "mv .git .got", "mkdir .git/x", "mv sub .git/sub",
                 "echo x >top"):
        r = p.sandbox("echo ran; %s && echo did" % deed)
        p.check("ran" in r.out and "did" not in r.out, deed + " fails", r)
    lib.equal(lib.differences(before, lib.fingerprint(
        os.path.join(p.repo, ".git"))), [], p.who + ": .git is as it was")
    r = p.sandbox("git status --short && git log --oneline")
    p.check("first" in r.out, "git reads the repository", r)
    p.box.git(p.repo, "checkout", "-q", ".")


NETWORK = """
import socket, sys
for family, kind in ((socket.AF_INET, socket.SOCK_STREAM),
                     (socket.AF_INET6, socket.SOCK_DGRAM),
                     (socket.AF_UNIX, socket.SOCK_STREAM),
                     (socket.AF_UNIX, socket.SOCK_DGRAM),
                     (socket.AF_NETLINK, socket.SOCK_RAW)):
    try:
        socket.socket(family, kind)
        print("made", family, kind)
    except OSError:
        print("refused")
a, b = socket.socketpair()
a.send(b"x")
print("pair", b.recv(1).decode())
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
try:
    a.connect(sys.argv[1])
    print("made connection")
except OSError:
    print("refused")
"""

REACH = """
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
mine = {os.getpid()}
for pid in [int(n) for n in os.listdir("/proc") if n.isdigit()]:
    if pid in mine:
        continue
    for what, act in (("signal", lambda: os.kill(pid, 0)),
                      ("environ", lambda: open("/proc/%d/environ" % pid, "rb").read()),
                      ("memory", lambda: open("/proc/%d/mem" % pid, "rb").close()),
                      ("descriptors", lambda: os.readlink("/proc/%d/fd/0" % pid)),
                      ("directory", lambda: os.listdir("/proc/%d/cwd/" % pid)),
                      ("limits", lambda: resource.prlimit(pid, resource.RLIMIT_CPU))):
        try:
            act()
            print(what, pid, open("/proc/%d/comm" % pid).read().strip())
        except OSError:
            pass
    if libc.ptrace(16, pid, 0, 0) == 0:
        print("trace", pid)
print("uid", os.getuid())
"""


def reach(p):
    """No sockets, no other process, no key, no namespaces."""
    for name, text in (("network.py", NETWORK), ("reach.py", REACH)):
        lib.write(os.path.join(p.repo, name), text)
    p.box.own()
    python = "/usr/bin/python3"
    sleeper = p.box.popen(["sleep", "7777"], env={"OPENAI_API_KEY": KEY})
    r = p.sandbox("%s network.py %s/x" % (python, p.box.dir), "--copy")
    p.check(r.out.split().count("refused") == 6 and "made" not in r.out and
            "pair x" in r.out, "no sockets but pairs", r)
    r, text = p.tool("%s reach.py; kill -9 -1; echo after" % python,
                     env={"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})
    p.check("uid " in text, "the command looked around", r)
    names = {line.split()[-1] for line in text.splitlines()
             if line.split()[:1] in (["signal"], ["environ"], ["memory"],
                                     ["descriptors"], ["directory"],
                                     ["limits"], ["trace"])}
    p.check(names <= {"sh", "python3", "python3.11"},
            "no process but its own can be reached", text)
    p.check("trace" not in text, "nothing can be traced", text)
    p.check("uid 0\n" not in text, "not as root", text)
    p.check(r.json.get("ok") is True, "the worker outlives kill -9 -1", r)
    r, text = p.tool("env; cat /proc/*/environ /proc/*/cmdline; "
                     "grep -rs canary-789 / --include=worker.json "
                     "--exclude-dir=proc --exclude-dir=sys; "
                     "ls %s/foray/scratch" % p.cache, env={"OPENAI_API_KEY": KEY})
    p.check("PATH=" in text and KEY not in text, "no key in reach", text)
    p.check('"token":' not in text, "nor the worker's token", text)
    r, text = p.tool("unshare -Ur true && echo could; unshare -m true && echo "
                     "could; mount -t tmpfs x . && echo could; ipcmk -M 100 && "
                     "echo could; prlimit --pid $PPID --cpu=1 && echo could; "
                     "chroot . true && echo could; echo end")
    p.check("end" in text and "could" not in text,
            "no namespaces, mounts, shared memory or limits of others", text)
    p.check(sleeper.poll() is None, "the other process lives")
    sleeper.kill()
    sleeper.wait()


def tools(p):
    """The other tools, and what a worker keeps in /tmp."""
    r, text = p.tool({"path": "max.sh"}, "read_file")
    p.check("max()" in text, "read_file", r)
    r, text = p.tool({"pattern": "-lt"}, "grep")
    p.check("max.sh" in text, "grep", r)
    r, text = p.tool({"check": lib.SMALL_TEST, "edits": [
        {"changes": [{"path": "max.sh", "old": old, "new": new}]}
        for old, new in (("-lt", "-le"), ("-lt", "-gt"), ("-lt", "-ne"))]},
        "try_edits")
    p.check('"passed":[2]' in text.replace(" ", ""), "try_edits", r)
    r, text = p.tool("seq 100000")
    name = text.split("full output is in ")[-1].rstrip("]\n ")
    p.check(name.startswith("/") and "/t/cmd/" in name,
            "the full output has a name", text[-200:])
    r, text = p.tool("pwd; echo $TMPDIR; : >made; cat made; echo x >>test.sh")
    p.check("made" in r.json.get("patch", "") and
            "test.sh" not in r.json.get("patch", "test.sh") or
            "protected" in text, "a patch", r)


def leftovers(p):
    """What a command starts ends with it, whatever it does to get away."""
    away = ("setsid sleep 4242%d & (setsid sh -c 'trap \"\" TERM HUP INT; "
            "while :; do sleep 0.1; done' &) ; "
            "for i in 1 2 3; do (sleep 4242 & ) & done; echo end")
    r = p.sandbox(away % os.getpid(), "--copy", timeout=20)
    p.check(r.status == 0 and "end" in r.out, "a command with daemons ends", r)
    p.check(not lib.left_alive(), "and so do they", lib.left_alive())
    killed = lib.Live(p.box, ["foray", "sandbox", "-C", p.repo, *FLAG, "--copy",
                              "--", "sh", "-c", "setsid sleep 4242 & (sleep "
                              "4242 &); sleep 4242"], preexec_fn=forbid())
    found = lib.wait_until(lambda: (lambda d: d if len(
        [q for q in d if q.name == "sleep"]) >= 3 else None)(
            lib.descendants(killed.pid)), 10)
    killed.signal(signal.SIGKILL)
    killed.wait(5)
    p.check(found and not lib.left_alive(found, 5),
            "kill -9 of foray sandbox leaves nothing", found)
    r = p.sandbox("kill -TERM $$", "--copy")
    lib.equal(r.status, 128 + signal.SIGTERM, p.who + ": a signal's status", r)
    r = p.sandbox("exit 7", "--copy")
    lib.equal(r.status, 7, p.who + ": a status", r)
    r = p.do("sandbox", "-C", p.repo, *FLAG, "--copy", "--", "no-such-program")
    lib.equal(r.status, 127, p.who + ": no such program", r)


def spread(p):
    """A run whose worker's command has made daemons; all processes of it."""
    test = "setsid sleep 300 & (setsid sleep 301 &); sleep 302"
    alive = lib.Live(p.box, ["foray", "run", "-C", p.repo, "--json", "-t", test,
                             *FLAG], preexec_fn=forbid())
    found = lib.wait_until(lambda: (lambda d: d if len(
        [q for q in d if q.name == "sleep"]) >= 3 else None)(
            lib.descendants(alive.pid)), 20)
    return alive, found


def kills(p):
    """kill -9 of any of its processes takes the rest along."""
    for victim in ("foray", "launcher", "host", "monitor", "worker", "all three"):
        alive, found = spread(p)
        if not p.check(found, "%s: it runs" % victim, lib.descendants(alive.pid)):
            lib.end_all(alive.pid)
            continue
        hosts = [q for q in found if q.name == "foray-host"]
        launcher = next(q for q in hosts if q.parent == alive.pid)
        host = next(q for q in hosts if q.parent == launcher.pid)
        # Not one that waits for its turn.
        worker = next(q for q in found if q.is_worker() and
                      any(m.pid == q.parent and m.name == "foray-host"
                          for m in found) and
                      any(d.name == "sleep" for d in lib.descendants(q.pid)))
        targets = {"foray": [alive.pid], "launcher": [launcher.pid],
                   "host": [host.pid], "monitor": [worker.parent],
                   "worker": [worker.pid],
                   "all three": [alive.pid, launcher.pid, host.pid]}[victim]
        # Stopped first, so that none acts on the end of another.
        for signo in (signal.SIGSTOP, signal.SIGKILL):
            for pid in targets:
                os.kill(pid, signo)
        if victim in ("foray", "launcher", "host", "all three"):
            rest = lib.left_alive(found, 5)
            p.check(not rest, "kill -9 of %s leaves nothing" % victim, rest)
        else:
            mine = [q for q in found if q.name == "sleep"]
            rest = lib.left_alive(mine, 5)
            p.check(not rest, "kill -9 of a %s ends its commands" % victim, rest)
        alive.signal(signal.SIGTERM)
        alive.wait(10)
        lib.equal(lib.left_alive(seconds=5), [],
                  "%s: nothing is left after %s" % (p.who, victim))
        lib.end_all()


def kills_in_turn(p):
    """One after the other, as pkill -9 does it: each dies in the middle of what
    it does about the one before."""
    for ms in (0, 0.5, 1, 1.5, 2, 3, 4, 6):
        alive, found = spread(p)
        if not p.check(found, "it runs", lib.descendants(alive.pid)):
            lib.end_all(alive.pid)
            continue
        hosts = [q for q in found if q.name == "foray-host"]
        launcher = next(q for q in hosts if q.parent == alive.pid)
        host = next(q for q in hosts if q.parent == launcher.pid)
        for pid in (alive.pid, launcher.pid, host.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            time.sleep(ms / 1000)
        rest = lib.left_alive(found, 8)
        p.check(not rest, "kill -9 with %s ms between leaves nothing" % ms, rest)
        alive.wait(10)
        lib.end_all()


def no_wall(p):
    """Without what it stands on it is refused."""
    r = p.do("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST, *FLAG,
             rules=forbid([(LANDLOCK_CREATE, errno.ENOSYS)]))
    p.check(r.status == 4 and "Landlock" in r.text and
            not r.all("worker_started"), "no Landlock: 4", r)
    r = p.sandbox("true", "--copy", rules=forbid([(LANDLOCK_CREATE, errno.EPERM)]))
    p.check(r.status == 125 and "Landlock" in r.err, "no Landlock: 125", r)
    if not p.root:
        return
    r = p.do("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST, *FLAG,
             rules=forbid(caps=DOCKER_CAPS - {SETUID, SETGID}))
    p.check(r.status == 4 and "CAP_SETUID" in r.text and
            not r.all("worker_started"), "root that must stay root: 4", r)


def weaker_host(p):
    """A host that is weaker than the run asks for is sent away."""
    test = "sleep 1000"
    run = lib.Live(p.box, ["foray", "run", "-C", p.repo, "--json", "-t", test])
    host = lib.wait_until(lambda: [q for q in lib.descendants(run.pid)
                                   if q.name == "foray-host" and
                                   b"--connect" in q.read("cmdline")], 10)
    if not p.check(host, "a run with bwrap", run.lines):
        return
    args = host[0].read("cmdline").decode().split("\0")
    r = p.box.call([os.path.join(os.path.dirname(p.box.foray), "foray-host"),
                    "--connect", args[args.index("--connect") + 1], *FLAG],
                   preexec_fn=forbid(), timeout=20)
    p.check(r.status == 5 and "weaker" in r.err, "a weaker host is refused", r)
    p.check("NOT confined" in r.err, "and has warned itself", r)
    run.signal(signal.SIGTERM)
    run.wait(10)


# ----------------------------------------------------- what bwrap may say

WORDS = {
    "G-006": ("setting up uid map: Permission denied",
              ("user namespaces", "apparmor")),
    "G-007": ("Can't mount proc on /newroot/proc: Operation not permitted",
              ("proc",)),
}


def bwrap_once(p):
    """A sandbox that can't be made in mid-run ends no run; when none can be
    made any more it does. (A spare may take the first failure.)"""
    place, armed = os.path.join(p.box.dir, "once"), None
    for times, status in ((2, 0), (99, 4)):
        armed = os.path.join(place, "armed%d" % times)
        lib.write(os.path.join(place, "bwrap"), """#!/bin/sh
if [ -s %s ]; then
    sed -i 1d %s
    echo "bwrap: Can't bind mount /x on /newroot/x: Device busy" >&2
    exit 1
fi
exec %s "$@"
""" % (armed, armed, shutil.which("bwrap")))
        lib.write(armed, "")
        os.chmod(armed, 0o666)
        os.chmod(place, 0o777)
        p.box.own()
        live = p.box.start(p.repo, "-t", "sleep 2; " + lib.SMALL_TEST,
                           env={"PATH": place + ":" + p.box.env["PATH"]})
        lib.check(live.wait_event("worker_started", 30), "once: it starts")
        with open(armed, "w", encoding="utf-8") as f:
            f.write("no\n" * times)
        r = live.wait(90)
        p.check(r.status == status, "a sandbox that can't be made %d times: "
                "%d" % (times, status), r)
        gone = [e for e in r.all("worker_gone") if e["reason"] == "sandbox"]
        p.check(len(gone) in ((1, 2) if times == 2 else range(3, 9)),
                "%d times: told" % times, gone)


def bwrap_says(p):
    for case, (words, named) in sorted(WORDS.items()):
        place = os.path.join(p.box.dir, case)
        lib.write(os.path.join(place, "bwrap"),
                  '#!/bin/sh\necho "bwrap: %s" >&2\nexit 1\n' % words)
        p.box.own()
        env = {"PATH": place + ":" + p.box.env["PATH"]}
        marker = os.path.join(p.repo, "ran-" + case)
        r = p.box.do("sandbox", "-C", p.repo, "--", "touch", marker, env=env)
        p.check(r.status == 125 and not os.path.exists(marker),
                case + ": the command is not run unsandboxed", r)
        said = r.err.replace("bwrap: " + words, "")
        p.check(all(n in said for n in named), case + ": the error names %s" %
                " and ".join(named), r)
        r = p.box.do("run", "-C", p.repo, "--json", "-t", "touch %s" % marker,
                     env=env)
        p.check(r.status == 4 and not os.path.exists(marker) and
                not r.all("worker_started"), case + ": a run ends with 4", r)
        said = r.text.replace("bwrap: " + words, "")
        p.check(all(n in said for n in named) and NEED in said,
                case + ": and names them, at the start", r)
        r = p.box.do("doctor", env=env)
        p.check(r.status == 4 and all(n in r.out for n in named) and
                "emedy" in r.out, case + ": doctor tells", r)
        r = p.box.do("sandbox", "-C", p.repo, *FLAG, "--copy", "--", "echo", "it",
                     env=env)
        p.check(r.status == 0 and "it" in r.out,
                case + ": the weaker mode, when asked for", r)


def masked(p):
    """A /proc with covered parts, as in Docker: bwrap itself would fail. Root
    has a /proc of its own before bwrap comes; who has not is told."""
    ids = (p.box.uid or os.getuid(), p.box.uid or os.getgid())
    user = [] if p.root else ["unshare", "-U", "--map-user=%d" % ids[0],
                              "--map-group=%d" % ids[1]]

    def within(*args):
        return p.box.call(["unshare", "-m" if p.root else "-Urm", "sh", "-c",
                           'mount --bind /dev/null /proc/version && exec "$@"', "sh",
                           *user, p.box.foray, *args])
    marker = os.path.join(p.repo, "ran-masked")
    sandbox = within("sandbox", "-C", p.repo, "--", "touch", marker)
    run = within("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST)
    doctor = within("doctor")
    if p.root:
        p.check(sandbox.status == 0 and os.path.exists(marker),
                "a masked /proc: a command", sandbox)
        p.check(run.status == 0, "a masked /proc: a run", run)
        p.check(doctor.status == 0 and "masked" not in doctor.out,
                "a masked /proc: doctor", doctor)
    else:
        p.check(sandbox.status == 125 and not os.path.exists(marker) and
                "/proc" in sandbox.err and "procMount" in sandbox.err,
                "a masked /proc: no command", sandbox)
        p.check(run.status == 4 and "/proc" in run.text and NEED in run.text and
                not run.all("worker_started"), "a masked /proc: no run", run)
        p.check(doctor.status == 4 and "new /proc" in doctor.out and
                "masked" in doctor.out, "a masked /proc: doctor", doctor)
    r = within("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST, *FLAG)
    p.check(r.status == 0, "a masked /proc: with the flag", r)


def one_uid(p):
    """Root of a user namespace that has no other uid: workers can't run as
    somebody else."""
    if p.root:
        return

    def within(*args):
        return p.box.call(["unshare", "-Ur", p.box.foray, *args])

    def tells(text):
        return "no other user" in text and "ordinary user" in text
    for flag in (), FLAG:
        what = "a single uid: " + (flag[-1] if flag else "no flag")
        r = within("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST, *flag)
        p.check(r.status == 4 and tells(r.text) and
                not r.all("worker_started"), what + ": no run", r)
        r = within("sandbox", "-C", p.repo, *flag, "--", "true")
        p.check(r.status == 125 and tells(r.err), what + ": no command", r)
    r = within("doctor")
    p.check(r.status == 4 and tells(r.out), "a single uid: doctor", r)


def switched_off(p):
    """user.max_user_namespaces is 0, in a user namespace of the test's own."""
    if p.root:
        return

    def within(*args):
        return p.box.call(["unshare", "-U", "--map-current-user", "--keep-caps",
                           "sh", "-c", "echo 0 >/proc/sys/user/max_user_namespaces"
                           ' && exec setpriv --ambient-caps=-all --inh-caps=-all '
                           '"$@"', "sh", p.box.foray, *args])
    r = within("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST)
    p.check(r.status == 4 and "max_user_namespaces" in r.text and NEED in r.text,
            "namespaces switched off: no run, and the sysctl's name", r)
    r = within("doctor")
    p.check(r.status == 4 and "max_user_namespaces=15000" in r.out,
            "namespaces switched off: doctor", r)
    r = within("run", "-C", p.repo, "--json", "-t", lib.SMALL_TEST, *FLAG)
    p.check(r.status == 0, "namespaces switched off: with the flag", r)


PARTS = (refused, fixed, compiled, verified, files, live, reach, tools,
         leftovers, kills, kills_in_turn, no_wall, weaker_host, bwrap_says,
         bwrap_once, masked, one_uid, switched_off)

if platform.machine() not in NUMBERS:
    lib.skip("no numbers of system calls for " + platform.machine())
for user in lib.users("ordinary"):
    with Pod(user) as pod:
        for part in PARTS:
            if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
                part(pod)
lib.done()
