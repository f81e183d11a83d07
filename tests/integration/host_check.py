#!/usr/bin/env python3
"""foray-host --check: what a machine lacks, one at a time, each with a remedy; and
an orchestrator that is there, is not, or does not want us."""
import os
import re
import shutil
import signal
import socket
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib  # noqa: E402

ROWS = ("kernel", "bubblewrap", "user namespaces", "nested sandbox",
        "workspace", "cgroup", "git", "disk space", "foray-worker")


def check(box, *args, wrap=(), **more):
    host = os.path.join(os.path.dirname(box.foray), "foray-host")
    return box.call([*wrap, host, "--check", *args], **more)


def missing(r):
    """{what is missing: its remedy}"""
    found = {}
    for name, rest in re.findall(
            r"(?m)^(\S.*?) +MISSING ((?:.|\n(?= ))*)", r.out):
        remedy = re.search(r"remedy: (.+)", rest)
        found[name] = remedy.group(1) if remedy else ""
    return found


def lacks(r, name, what):
    found = missing(r)
    lib.check(r.status == 4 and found.get(name) and "can't run here" in r.out,
              what, r)


def alone(r, name, what):
    """The machine is good, and nothing would come."""
    lib.check(r.status == 5 and missing(r).get(name) and
              "workers can run here" in r.out and "no work would come" in r.out,
              what, r)


def without(*paths):
    """Arguments that run a command where these programs are none."""
    args = ["bwrap", "--die-with-parent", "--bind", "/", "/", "--dev-bind",
            "/dev", "/dev", "--proc", "/proc", "--cap-add", "ALL"]
    for p in paths:
        args += ["--ro-bind", "/dev/null", p]
    return args + ["--"]


def machine(box, who):
    r = check(box)
    lib.check(r.status == 0 and "workers can run here" in r.out,
              who + ": a good machine", r)
    for row in ROWS:
        lib.check(re.search("(?m)^%s +(ok|reduced) " % row, r.out),
                  "%s: row %s" % (who, row), r)
    lib.equal(missing(r), {}, who + ": nothing is missing", r)
    lacks(check(box, "--scratch", "/proc/nothing"), "workspace",
          who + ": no scratch directory")
    lib.equal(check(box, "--sandbox", "container").status, 0,
              who + ": in container mode", r)
    for args, part in ((["--connect", "nonsense"], "neither"), (["x"], "x"),
                       (["--connect", "tcp://h:1"], "--keys")):
        r = check(box, *args)
        lib.check(r.status == 2 and part in r.err, who + ": %s" % args, r)
    if os.geteuid() == 0 and box.uid is None:
        lacks(check(box, wrap=without("/usr/bin/git")), "git",
              who + ": without git")
        r = check(box, wrap=without("/usr/bin/bwrap"))
        lacks(r, "bubblewrap", who + ": without bwrap")
        lib.check("apt-get install bubblewrap" in r.out, "the remedy", r)


CHROOT = """d=$1 b=$2; shift 2
mkdir -p $d/usr $d/proc $d/dev $d/tmp $d/root $d/etc $d/b
for l in bin sbin lib lib64; do ln -s usr/$l $d/$l; done
mount --rbind /usr $d/usr && mount --rbind /dev $d/dev &&
mount -t proc proc $d/proc && mount --bind "$b" $d/b || exit 99
exec chroot $d /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin "$@"
"""


def bare_chroot(box):
    """A chroot whose root is no mount point, as debootstrap leaves it."""
    programs = os.path.dirname(box.foray)
    for i, args in enumerate((
            ["/b/foray-host", "--check"], ["/b/foray", "doctor"],
            ["/b/foray-host", "--connect", "tcp://127.0.0.1:9",
             "--insecure-loopback"])):
        r = box.call(["unshare", "--mount", "sh", "-c", CHROOT, "sh",
                      "%s/chroot%d" % (box.dir, i), programs, *args])
        lib.check(r.status == 4 and "is no mount point" in r.text and
                  "mount --bind DIR DIR" in r.text, "%s in a chroot" % args, r)


def orchestrators(box):
    run, at, keys = box.listen(box.repo("idle", lib.SMALL), "-t",
                               lib.SMALL_TEST, "--local", "0")
    port = int(at.rsplit(":", 1)[1])
    r = check(box, "--connect", at, "--keys", keys)
    lib.check(r.status == 0 and "takes our key" in r.out, "it takes us", r)
    box.do("keys", "new", "late")
    # A removed name takes its directory along.
    late = shutil.copytree(os.path.dirname(keys) + "/late", box.dir + "/late")
    pub = lib.read(late + "/host.pub").split()[-1]
    box.do("keys", "remove", "late")
    r = check(box, "--connect", at, "--keys", late)
    alone(r, "orchestrator", "it does not want us")
    lib.check("foray keys allow NAME '%s'" % pub in r.out, "the remedy", r)
    r = check(box, "--connect", at, "--insecure-loopback")
    alone(r, "orchestrator", "no keys where keys are wanted")
    # Each waits for five seconds.
    mute, none = socket.create_server(("127.0.0.1", 0)), socket.socket()
    none.bind(("127.0.0.1", 0))  # nobody listens there, and nobody else will
    cases = (("tcp://127.0.0.1:%d" % mute.getsockname()[1], "no handshake"),
             ("tcp://127.0.0.1:%d" % none.getsockname()[1],
              "Connection refused"),
             ("tcp://no.such.host.invalid:1", "tcp://no.such.host.invalid"))

    def fails(end, part):
        r = check(box, "--connect", end, "--keys", keys)
        alone(r, "orchestrator", "nobody at " + end)
        lib.check(part in r.out, "and why: " + part, r)
    threads = [threading.Thread(target=fails, args=c) for c in cases]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    mute.close()
    none.close()
    alone(check(box, "--connect", "ipc:///nonexistent/s"), "orchestrator",
          "no socket there")
    alone(check(box, "--keys", "/nonexistent"), "keys", "no keys")
    os.chmod(keys + "/host.secret", 0o644)
    r = check(box, "--connect", at, "--keys", keys)
    alone(r, "keys", "keys that others can read")
    os.chmod(keys + "/host.secret", 0o600)
    lib.check(socket.create_connection(("127.0.0.1", port), 60),
              "the run still listens")
    lib.equal(run.events("host_up"), [], "a check is no host")
    run.signal(signal.SIGINT)
    lib.equal(run.wait(20).status, 130, "the run was not disturbed")


def main():
    for uid in lib.users():
        with lib.Box(uid) as box:
            machine(box, lib.user_name(uid))
    with lib.Box() as box:
        if os.geteuid() == 0 and os.path.islink("/lib"):
            bare_chroot(box)
        orchestrators(box)
    lib.done()


main()
