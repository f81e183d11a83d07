#!/usr/bin/env python3
"""What travels to a host over TCP, and what that takes: a repository of 200 MiB
with one file changed afterwards; one of over 2 GiB with a file that is larger
than 2 GiB alone.

In a network namespace of the test's own, so that lo carries nothing else.
"""
import os
import re
import signal
import sys
import threading
import time

import fleet
import lib

MIB = 1 << 20
BUSY = 600      # seconds, on a machine that does other things too


def carried():
    """Bytes that lo has carried."""
    with open("/proc/net/dev", encoding="ascii") as f:
        return int(re.search(r"lo:\s*(\d+)", f.read()).group(1))


def noise(path, mib):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        for _ in range(mib):
            f.write(os.urandom(MIB))


class Watch(threading.Thread):
    """The most memory that each program of these trees had, in MiB. What maps
    a file, as git does, has not got that from it: anonymous memory counts, as
    far as it is seen, and peaks of our own programs."""

    def __init__(self, *tops):
        super().__init__(daemon=True)
        self.tops, self.most, self.end = tops, {}, threading.Event()
        self.start()

    def run(self):
        while not self.end.wait(0.1):
            for top in self.tops:
                for p in lib.descendants(top):
                    self.look(p)
                try:
                    self.look(lib.Process(top))
                except OSError:  # it has ended
                    pass

    def look(self, p):
        kind = rb"VmHWM" if p.name.startswith("foray") else rb"RssAnon"
        found = re.search(kind + rb":\s+(\d+)", p.read("status"))
        if found:
            self.most[p.name] = max(self.most.get(p.name, 0),
                                    int(found.group(1)) >> 10)

    def stop(self):
        self.end.set()
        self.join()
        return self.most


class Host:
    def __init__(self, box, at, keys):
        self.log = os.path.join(box.dir, "host.log")
        self.dir = os.path.join(box.dir, "away")
        os.makedirs(self.dir, exist_ok=True)
        os.chmod(box.dir, 0o755)
        with open(self.log, "wb") as f:
            self.process = box.popen(
                [os.path.join(os.path.dirname(lib.FORAY), "foray-host"),
                 "--connect", at, "--keys", keys, "--name", "away", "--cache",
                 self.dir + "/cache", "--scratch", self.dir + "/scratch"],
                stderr=f)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        lib.equal(self.process.wait(60), 0, "the host ends", lib.read(self.log))


def travel(box, repo, what):
    """One run; the bytes that its connection carried, both ways, and the most
    memory that each program had."""
    keys = os.path.join(box.home, ".config/foray/keys/hosts/fleet")
    if not os.path.isdir(keys):
        lib.equal(box.do("keys", "new", "fleet").status, 0, "keys")
    run = box.start(repo, "-t", lib.SMALL_TEST, "-n", "2", "--local", "0",
                    "--listen", "tcp://127.0.0.1:*")
    found = run.wait_event("listening", BUSY)
    if not lib.check(found, what + ": it listens", run.events()):
        lib.done()
    at = found[0]["endpoint"]
    before, began = carried(), time.monotonic()
    host = Host(box, at, keys)
    watch = Watch(run.pid, host.process.pid)
    r = run.wait(BUSY)
    most = watch.stop()
    bytes_ = carried() - before
    host.end()
    lib.equal(r.status, 0, what + ": fixed", "%s\n%s" % (
        r, lib.read(host.log)[-3000:]))
    # Heartbeats go on: who is not heard for three seconds is cut off.
    lib.equal([e["host"] for e in r.all("host_up")], ["away"],
              what + ": it is not lost", lib.read(host.log)[-3000:])
    lib.equal([e["reason"] for e in r.all("worker_gone")
               if e["reason"] not in ("exited", "stopped")], [], what + ": nor is a worker", r)
    print("%s: %.1f MiB over the network, %.0f s, MiB of memory: %s" % (
        what, bytes_ / MIB, time.monotonic() - began, most), flush=True)
    return bytes_ / MIB, most


def thin(box):
    repo = box.repo("thin", lib.SMALL)
    for i in range(200):
        noise("%s/data/%d/%d" % (repo, i % 10, i), 1)
    for i in range(3000):
        lib.write("%s/many/%d/%d" % (repo, i % 50, i), "file %d\n" % i * 20)
    box.git(repo, "add", ".")
    box.git(repo, "commit", "-qm", "large")
    first, _ = travel(box, repo, "200 MiB, the first time")
    lib.check(first < 450, "the first: tree and commit", first)
    again, _ = travel(box, repo, "200 MiB, once more")
    lib.check(again < 1, "once more: nothing of it", again)
    noise(repo + "/data/3/3", 1)
    changed, _ = travel(box, repo, "200 MiB, a file of one changed")
    lib.check(changed < 4, "a file changed: that comes, and a list", changed)
    noise(repo + "/data/3/3", 1)
    box.git(repo, "commit", "-qam", "changed")
    committed, _ = travel(box, repo, "200 MiB, that and a commit of it")
    lib.check(committed < 5, "committed: twice that, and two lists", committed)


def large(box):
    """Tracked and not, incompressible and a hole."""
    repo = box.repo("large", lib.SMALL)
    noise(repo + "/tracked", 2100)
    noise(repo + "/zz", 1)  # behind it in the pack
    # It is noise, and git need not try.
    box.git(repo, "config", "core.compression", "0")
    box.git(repo, "config", "core.bigFileThreshold", "16m")
    box.git(repo, "add", ".")
    box.git(repo, "commit", "-qm", "large")
    noise(repo + "/untracked", 300)
    with open(repo + "/hole", "wb") as f:
        f.truncate(1 << 30)
        f.seek(0, os.SEEK_END)
        f.write(b"end")
    _, most = travel(box, repo, "over 2 GiB")
    if not lib.sanitized():
        for name, mib in most.items():
            lib.check(mib < 128, "over 2 GiB: memory of " + name, most)
    store = box.dir + "/away/cache/snapshots"
    found = [os.path.join(store, n, "tree") for n in os.listdir(store)
             if re.fullmatch("[0-9a-f]{32}", n)]
    lib.equal(len(found), 1, "over 2 GiB: it has come")
    for tree in found:
        lib.equal([os.stat(os.path.join(tree, n)).st_size for n in (
            "tracked", "untracked", "hole")],
            [2100 * MIB, 300 * MIB, (1 << 30) + 3], "over 2 GiB: its files")
        lib.check(os.stat(tree + "/hole").st_blocks < 1000,
                  "over 2 GiB: the hole is one")


fleet.enter()
for part in (thin, large):
    if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
        with fleet.Box() as b:
            part(b)
lib.done()
