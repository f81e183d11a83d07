#!/usr/bin/env python3
"""A host whose disk is full, before the snapshot comes and while it works: the
place is named, the work goes elsewhere, nothing half written is taken for
whole, and with room again the same host works.

Cache and scratch are on a small tmpfs in a mount namespace of the host's.
"""
import os
import shutil
import subprocess
import sys

import lib
from fleet_keys import Fleet, end, host_program

MIB = 1 << 20
MOUNT = "mount -t tmpfs -o size=$1,mode=1777 none $2 || exit 99; shift 2; " \
    "exec \"$@\""


class Small:
    """A host with so many MiB for both, of which fill are taken."""

    def __init__(self, box, at, mib, fill, name="small"):
        self.dir, self.log = os.path.join(box.dir, name), \
            os.path.join(box.dir, name + ".log")
        os.makedirs(self.dir, exist_ok=True)
        os.chmod(box.dir, 0o755)
        root = os.geteuid() == 0
        keys = os.path.join(box.home, ".config/foray/keys/hosts/fleet")
        again = [] if root else ["unshare", "--user", "--map-user=1000",
                                 "--map-group=1000"]
        fill = ["sh", "-c", 'head -c $1 /dev/zero >$2/fill; shift 2; exec "$@"',
                "sh", str(int(fill * MIB)), self.dir]
        with open(self.log, "wb") as f:
            self.process = box.popen(
                ["unshare", "--mount",
                 *([] if root else ["--user", "--map-root-user"]), "sh", "-c",
                 MOUNT, "sh", "%dm" % mib, self.dir, *fill, *again,
                 host_program(box), "--connect", at, "--keys", keys, "--name",
                 name, "--slots", "2", "--cache", self.dir + "/cache",
                 "--scratch", self.dir + "/scratch"],
                stderr=f, env={"FORAY_SPARES": "0"})
        self.process.log = self.log

    def inside(self, path=""):
        """That directory, as this test can get at it."""
        return "/proc/%d/root%s/%s" % (self.process.pid, self.dir, path)

    def snapshots(self):
        try:
            return sorted(os.listdir(self.inside("cache/snapshots")))
        except OSError:
            return []


def snapshot(box):
    """No room for the snapshot; then there is."""
    large = dict(lib.SMALL, **{"large": os.urandom(6 * MIB)})
    f = Fleet(box, "snapshot", "--local", "0", files=large)
    host = Small(box, f.at, 32, 27)
    aside = f.run.wait_event("host_aside", 60)
    lib.check(aside and "no room" in aside[0]["reason"] and
              host.dir + "/cache/snapshots" in aside[0]["reason"],
              "snapshot: it is set aside, and why", f.run.events())
    lib.equal([n for n in host.snapshots() if n != "by-path"], [],
              "snapshot: nothing of it is left")
    good = f.host("--name", "good", log=box.dir + "/good.log")
    r = f.finish("snapshot: elsewhere")
    lib.equal({e["host"] for e in r.all("summary") if "host" in e} - {"good"},
              set(), "snapshot: by the other", r)
    end(good, "snapshot")
    # The next run finds it with room.
    os.unlink(host.inside("fill"))
    f = Fleet(box, "snapshot-2", "--local", "0", at=f.at, files=large)
    f.finish("snapshot: with room")
    lib.equal(len([n for n in host.snapshots() if len(n) == 32]), 1,
              "snapshot: it is there", lib.read(host.log))
    end(host.process, "snapshot: the host")


def work(box):
    """The tests write what there is no room for, on this host."""
    slow = dict(lib.SMALL, **{
        "test.sh": "head -c 24000000 /dev/zero >out || { sleep 0.5; exit 1; }\n" +
        lib.SMALL["test.sh"]})
    f = Fleet(box, "work", "--local", "0", files=slow)
    host = Small(box, f.at, 32, 12)
    gone = f.run.wait_event("worker_gone", 60)
    lib.check(gone and gone[0]["reason"] == "disk" and
              host.dir in gone[0]["detail"], "work: its end, and why",
              f.run.events())
    good = f.host("--name", "good", log=box.dir + "/good.log")
    r = f.finish("work")
    told = [e for e in r.all("baseline")]
    lib.check(told and told[0].get("passed") == 1, "work: by the other", told)
    end(good, "work")
    end(host.process, "work: the host")


def gone(box):
    """Somebody removes the scratch directory while the host has no work: it
    does not stay, refusing all."""
    scratch = os.path.join(box.dir, "gone")
    log = box.dir + "/gone.log"
    os.chmod(box.dir, 0o755)
    with open(log, "wb") as f:
        host = box.popen(
            [host_program(box), "--connect", "tcp://127.0.0.1:9", "--keys",
             os.path.join(box.home, ".config/foray/keys/hosts/fleet"),
             "--cache", box.dir + "/gone-cache", "--scratch", scratch],
            stderr=f, env={"FORAY_SPARES": "0"})
    lib.check(lib.wait_until(lambda: "nobody answers" in lib.read(log), 30),
              "gone: it waits", lib.read(log))
    shutil.rmtree(scratch)
    try:
        status = host.wait(30 * lib.BUSY)
    except subprocess.TimeoutExpired:
        status = None
        host.kill()
        host.wait()
    lib.equal(status, 2, "gone: it ends", lib.read(log))
    lib.check(scratch in lib.read(log) and "start it again" in lib.read(log),
              "gone: and says why", lib.read(log))


def main():
    if not shutil.which("unshare"):
        lib.skip("there is no unshare")
    with lib.Box() as box:
        lib.equal(box.do("keys", "new", "fleet").status, 0, "keys")
        for part in (snapshot, work, gone):
            if part.__name__ in sys.argv[1:] or len(sys.argv) < 2:
                part(box)
    lib.done()


main()
