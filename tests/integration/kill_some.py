#!/usr/bin/env python3
"""kill -9 of foray, and in other runs of foray-host, at random moments: within
seconds nothing is left of what they started, and no mount."""
import os
import random
import signal
import subprocess
import time

import lib

TEST = "sleep 0.1; " + lib.SMALL_TEST
# A tree is gone at once, but on a busy machine its end may wait for a disk.
GONE = 5.0


def kill_foray(box, repo, delay):
    live = box.start(repo, "-t", TEST, "-n", "4")
    time.sleep(delay)
    tree = lib.descendants(live.pid)
    live.signal(signal.SIGKILL)
    live.process.wait()
    rest = lib.left_alive(seconds=GONE)
    lib.check(not rest, "foray killed at %.3f s: nothing is left" % delay, rest)
    lib.end_all()
    live.wait(5)
    return len(tree)


def kill_probe(box, count, rng):
    """The sandbox that is tried out before any other: killed in between, bwrap
    waits for itself for ever."""
    for _ in range(count):
        p = box.popen(["foray", "doctor"], stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.005, 0.05))
        p.kill()
        p.wait()
    rest = lib.left_alive(seconds=GONE)
    lib.check(not rest, "foray doctor killed %d times: nothing is left" % count,
              rest)
    lib.end_all()


def hosts(live):
    """The launcher and pid 1 of its namespace, as far as they are there."""
    return [p for p in lib.descendants(live.pid) if p.name == "foray-host"]


def kill_host(box, repo, delay, which):
    live = box.start(repo, "-t", TEST, "-n", "4")
    time.sleep(delay)
    what = "foray-host %d killed at %.3f s" % (which, delay)
    found = lib.wait_until(lambda: sorted(hosts(live), key=lambda p: p.start)
                           or live.process.poll() is not None, 60, 0.001)
    if found is True:  # the run was over
        live.wait(5)
        return 0
    victim = found[min(which, len(found) - 1)]
    tree = found + lib.descendants(victim.pid)
    try:
        os.kill(victim.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    rest = lib.left_alive(tree, GONE)
    lib.check(not rest, what + ": nothing of it is left", rest)
    r = live.wait(60)
    lib.check(r.status in (0, 1, 5), what + ": the run ends properly", r)
    lib.check(r.finished.get("status") in ("fixed", "unfixed", "error"),
              what + ": with a status", r)
    rest = lib.left_alive(seconds=GONE)
    lib.check(not rest, what + ": nothing is left after the run", rest)
    lib.end_all()
    return len(tree)


def hit_host(box, repo, delay, which):
    """Earlier, when the run was over before."""
    while True:
        caught = kill_host(box, repo, delay, which)
        if caught:
            return caught
        delay *= 0.8


def main(count, seed):
    rng = random.Random(seed)
    began = time.monotonic()
    with lib.Box() as box:
        repo = box.repo("tree", lib.SMALL)
        whole = box.run(repo, "-t", TEST, "-n", "4")
        lib.equal(whole.status, 0, "a run that nobody kills", whole)
        before = lib.mounts(), lib.fingerprint(repo)
        # A part near the start, where everything is half made.
        delays = [rng.uniform(0, whole.seconds * (0.3 if n % 3 == 0 else 1))
                  for n in range(count)]
        caught = [kill_foray(box, repo, d) for d in delays]
        print("foray killed %d times, with up to %d processes, %.0f s" % (
            count, max(caught), time.monotonic() - began), flush=True)
        lib.check(max(caught) > 5, "some kills hit a run in full swing", caught)
        lib.equal(lib.mounts(), before[0], "no mount is left after foray's end")
        kill_probe(box, 8 * count, rng)
        began = time.monotonic()
        caught = [hit_host(box, repo, d, n % 2) for n, d in enumerate(delays)]
        print("foray-host killed %d times, with up to %d processes, %.0f s" % (
            sum(c > 0 for c in caught), max(caught), time.monotonic() - began))
        lib.check(max(caught) > 5, "some kills hit a host in full swing", caught)
        lib.equal((lib.mounts(), lib.fingerprint(repo)), before,
                  "no mount is left, the tree is as it was")
        last = box.run(repo, "-t", TEST, "-n", "4")
        lib.equal(last.status, 0, "after all that a run still works", last)
    lib.done()


if __name__ == "__main__":
    main(12, 1)
