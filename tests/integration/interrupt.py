#!/usr/bin/env python3
"""Ctrl-C at a dozen moments: status 130 within 2 s (of an idle machine),
everything gone, and the run can be shown."""
import os
import signal
import time

import lib

MOMENTS = 12
TEST = "sleep 0.2; " + lib.SMALL_TEST


def interrupt_at(box, repo, delay, number=signal.SIGINT):
    """True when the run was interrupted, not finished before."""
    what = "%s at %.2f s" % (signal.Signals(number).name, delay)
    known = len(box.runs())
    live = box.start(repo, "-t", TEST, "-n", "4", "--all")
    time.sleep(delay)
    began = time.monotonic()
    live.signal(number)
    r = live.wait(10)
    took = time.monotonic() - began
    if r.status in (0, 1) and r.finished.get("status") in ("fixed", "unfixed"):
        return False
    runs = box.runs()[known:]
    # Before it has installed anything the signal itself ends it: no run yet.
    lib.check(r.status == 130 or r.status == -number and not runs,
              what + ": status 130", r)
    lib.check(lib.soon(took, 2), what + ": within 2 s (%.2f)" % took, r)
    rest = lib.left_alive()
    lib.check(not rest, what + ": nothing is left", rest)
    for run in runs:
        name = os.path.basename(run)
        show = box.do("show", name)
        lib.check(show.status == 0 and "interrupted" in show.out,
                  what + ": it can be shown as interrupted", show)
        lib.equal(box.do("audit", "--verify", name).status, 0,
                  what + ": its record is intact")
    return True


with lib.Box() as the_box:
    tree = the_box.repo("tree", lib.SMALL)
    whole = the_box.run(tree, "-t", TEST, "-n", "4", "--all")
    lib.check(whole.status == 0, "uninterrupted", whole)
    before = lib.fingerprint(tree), lib.mounts()
    for n in range(MOMENTS):
        moment = whole.seconds * 0.9 * (n / MOMENTS) ** 1.5
        # Earlier, when the run was over before.
        while not interrupt_at(the_box, tree, moment, signal.SIGTERM
                               if n % 4 == 3 else signal.SIGINT):
            moment *= 0.7
    # A terminal sends it to the whole foreground group; no test is waited for.
    live_run = the_box.start(tree, "-t", "sleep 1000; " + TEST, "--all",
                             start_new_session=True)
    live_run.wait_event("worker_started", 10)
    os.killpg(live_run.pid, signal.SIGINT)
    lib.equal(live_run.wait(5).status, 130, "SIGINT to the group")
    lib.equal((lib.fingerprint(tree), lib.mounts()), before,
              "the tree and the mounts are as they were")
lib.done()
