#!/usr/bin/env python3
"""Sandboxes started one after the other, ended or killed at some moment: no
process, mount, control group, directory or descriptor of theirs is left.

    leak.py [N]      60 by default; leak_long.py does 1,000. SEED: the moments.
"""
import glob
import os
import random
import re
import signal
import sys
import time

import lib

KILLED = 0.030  # seconds after the start, at most
KILLED_TOOL = 0.400
GONE = 10.0


ours = set()  # numbers of all processes that we started


def is_ours(name):
    """Other tests may run at the same time, and there are random letters and
    digits in names of theirs; in each of ours is PID-random."""
    pid = re.search(r"foray.*-(\d+)-[0-9a-f]{12}$", name)
    return pid is not None and int(pid.group(1)) in ours


def groups():
    """Control groups of ours."""
    found = set()
    for base, folders, _ in os.walk("/sys/fs/cgroup"):
        found.update(os.path.join(base, f) for f in folders if is_ours(f))
    return found


def mounts():
    return sorted(line.split(" ", 2)[2] for line in
                  lib.mounts().splitlines())


def directories():
    """Where one is made for each start."""
    found = set()
    for place in ("/tmp", "/var/tmp", "/dev/shm", "/run"):
        found.update(p for p in glob.glob(place + "/*foray*")
                     if is_ours(os.path.basename(p)))
    return found


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def below(top):
    """Files and directories of foray's caches and states: what has a name of
    its own for each start."""
    found = []
    for base, folders, files in os.walk(top):
        found += [os.path.join(base, n) for n in folders + files
                  if n.startswith("tmp-") or "/scratch/" in base + "/"]
    return [p for p in found if os.path.basename(p) != "uid-61184"]


class Mix:
    """What is started, in turn: argv, and up to when it may be killed."""

    def __init__(self, box, repo, dice):
        self.box, self.repo, self.dice = box, repo, dice
        self.counts = {}

    def one(self, number):
        sandbox = ["foray", "sandbox", "-C", self.repo]
        copy = sandbox + ["--copy", "--", "sleep", "300"]
        tool = ["foray", "tool", "-C", self.repo, "run_command"]
        if number % 20 == 19:
            self.killed("worker", tool + ['{"command": "sleep 300"}'],
                        KILLED_TOOL)
        elif number % 20 == 9:
            self.ended("worker, ended", tool + ['{"command": "true"}'])
        elif number % 10 == 4:
            self.killed("copy", copy, 2 * KILLED)
        elif number % 3 == 0:
            self.ended("ended", sandbox + ["--", "true"])
        elif number % 3 == 1:
            self.killed("killed", sandbox + ["--", "true"], KILLED)
        else:
            self.killed("killed with a tree", sandbox + [
                "--", "sh", "-c", "(setsid sleep 300 &) ; sleep 300"], KILLED)

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def ended(self, what, argv):
        p = self.box.popen(argv, stdout=-3, stderr=-3)
        ours.add(p.pid)
        status = p.wait(60)
        lib.started.remove(p)
        self.count(what)
        if status != 0:
            lib.check(False, "%s ends well" % what, status)
        self.box.mine.clear()

    def killed(self, what, argv, limit):
        p = self.box.popen(argv, stdout=-3, stderr=-3)
        ours.add(p.pid)
        time.sleep(self.dice.random() * limit)
        if limit == KILLED_TOOL:
            ours.update(q.pid for q in lib.descendants(p.pid))
        p.send_signal(signal.SIGKILL)
        p.wait()
        self.count(what)
        lib.started.remove(p)
        self.box.mine.clear()
        if sum(self.counts.values()) % 20 == 0:
            lib.reap()


def main(starts, seed):
    print("seed %d" % seed)
    dice = random.Random(seed)
    before = mounts(), descriptors()
    for uid in lib.users():
        who = lib.user_name(uid)
        with lib.Box(uid) as box:
            mix = Mix(box, box.repo("tree", lib.SMALL), dice)
            number = starts // len(lib.users())
            began = time.monotonic()
            for i in range(number):
                mix.one(i)
            seconds = time.monotonic() - began
            rest = lib.left_alive(seconds=GONE)
            lib.check(not rest, "%s: no process is left" % who, rest)
            lib.end_all()
            # The next start clears away after one that was killed; one that
            # had no lock yet may be just being made, unless it is old.
            for path in below(box.cache) + list(directories()):
                if os.path.isdir(path):
                    os.utime(path, (1, 1), follow_symlinks=False)
            for args in (["tool", "-C", mix.repo, "run_command",
                          '{"command": "true"}'],
                         ["sandbox", "--copy", "-C", mix.repo, "--", "true"]):
                r = box.do(*args)
                lib.equal(r.status, 0, "%s: it works on" % who, r)
            left = lib.wait_until(lambda: not below(box.cache), GONE)
            lib.check(left, "%s: nothing is left in the cache" % who,
                      below(box.cache)[:20])
            print("%s: %d starts in %.1f s: %s" % (
                who, number, seconds, mix.counts))
    lib.wait_until(lambda: not groups() and not directories(), GONE)
    lib.equal(mounts(), before[0], "the mounts are as they were")
    lib.equal(sorted(groups()), [], "no control group is left")
    lib.equal(sorted(directories()), [], "no directory is left")
    lib.equal(descriptors(), before[1], "no descriptor is left")
    lib.done()


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 60,
         int(os.environ.get("SEED", time.time())))
