#!/usr/bin/env python3
"""An orchestrator that is stopped for 20 s: its hosts do not grow, none is lost
when it goes on, and the answer is the same."""
import re
import signal
import time

import fleet
import lib

STOPPED = 20.0
GROWTH_KIB = 8 << 10  # of one process; a queue without a bound would be more


def peak(process):
    """KiB, the most that it ever had."""
    found = re.search(rb"VmHWM:\s+(\d+)", process.read("status"))
    return int(found.group(1)) if found else 0


def peaks(hosts):
    return {p.pid: peak(p) for h in hosts for p in h.below()
            if p.name == "foray-host"}


def main():
    fleet.enter()
    spec = fleet.script(32, 16, 6)
    with fleet.Box() as box:
        three = fleet.Fleet(box)
        want = fleet.undisturbed(three, spec, 32)
        with fleet.FakeServer(spec, latency=300) as server:
            search = fleet.Search(three, server, 32)
            lib.check(search.live.wait_event("worker_started", 60, 20),
                      "workers are at work", search.live.lines[-5:])
            before = peaks(three.hosts)
            search.live.signal(signal.SIGSTOP)
            time.sleep(STOPPED)
            after = peaks(three.hosts)
            search.live.signal(signal.SIGCONT)
            end = time.monotonic() + fleet.WHOLE
            while search.alive() and time.monotonic() < end:
                time.sleep(0.1)
            lib.equal(search.events("host_down"), [],
                      "no host is lost when it goes on")
            search.check("stopped for %d s" % STOPPED, want)
        lib.check(before and set(before) <= set(after), "the hosts are there",
                  (before, after))
        for pid, was in before.items():
            lib.check(after[pid] - was < GROWTH_KIB, "a host does not grow",
                      "%d KiB, then %d KiB" % (was, after[pid]))
        print("hosts: %s KiB, then %s KiB" % (
            sorted(before.values()), sorted(after[p] for p in before)))
        three.close()
    lib.done()


main()
