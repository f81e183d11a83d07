#!/usr/bin/env python3
"""More than one host: labels, what the run still wants, drain, idle hosts.

They are on this machine and reach the run at the socket of its own host."""
import os
import re
import signal
import subprocess
import tempfile
import time

import lib

HOST = os.path.join(os.path.dirname(lib.FORAY), "foray-host")
# Time for the test to look on.
SLOW = {"test.sh": "if grep -q lt max.sh; then sleep 3; fi\n" +
        lib.SMALL["test.sh"]}


def endpoint(run):
    """Where the run's own host connects to."""
    def find():
        for p in lib.descendants(run.pid):
            m = re.search(rb"--connect\0([^\0]+)", p.read("cmdline"))
            if m:
                return m.group(1).decode()
        return None
    return lib.wait_until(find, 30)


class Host:
    def __init__(self, box, where, name, *args):
        self.log = open(os.path.join(box.dir, name + ".log"), "w+b")
        self.process = box.popen(
            [HOST, "--connect", where, "--name", name, "--cache",
             os.path.join(box.cache, "foray"), "--scratch",
             os.path.join(box.cache, "foray/scratch"), *args],
            stderr=self.log, env={"FORAY_SPARES": "0"})

    def term(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds):
        try:
            return self.process.wait(seconds * lib.BUSY)
        except subprocess.TimeoutExpired:
            return None

    def said(self):
        self.log.seek(0)
        return self.log.read().decode()


# Others could join; ours come by the run's own socket.
OPEN = ("--listen", "tcp://127.0.0.1:*", "--insecure-loopback", "--local", "1")


def up(run, name):
    return lib.wait_until(lambda: [e for e in run.events("host_up")
                                   if e["host"] == name], 30)


def down(run, name):
    return lib.wait_until(lambda: [e for e in run.events("host_down")
                                   if e["host"] == name], 30)


def assigned(run):
    return [(e["kind"], e["attempt"], e["host"]) for e in run.events("assigned")]


def labels(box):
    """Only the host with the label works; what it drains from is not lost."""
    repo = box.repo("labels", dict(lib.SMALL, **SLOW))
    run = box.start(repo, "-t", lib.SMALL_TEST, "-n", "1", "--label", "gpu",
                    "--label", "zone=a", *OPEN, env={"FORAY_LABELS": "gpu"})
    where = endpoint(run)
    wanted = run.wait_event("wanted_slots", 30)
    lib.check(wanted and wanted[0]["wanted"] == 1 and wanted[0]["slots"] == 2 and
              wanted[0]["busy"] == 0, "a slot is wanted", wanted)
    lib.equal(assigned(run), [], "nothing on the host without the label")
    b = Host(box, where, "b", "--slots", "1", "--label", "zone=a,gpu", "--label",
             "more")
    run.wait_event("worker_started", 30)
    lib.equal(assigned(run), [("baseline", 1, "b")], "one that has it works")
    b.term()
    # It is told once; twice within a moment is the same.
    b.term()
    lib.equal(b.wait(60), 0, "it ends when its worker has", b.said())
    lib.check("no more work is taken, 1 workers" in b.said(), "it says so",
              b.said())
    gone = down(run, "b")
    lib.equal([e["reason"] for e in gone], ["it was drained"], "and is not lost")
    lib.check(run.events("baseline"), "its worker came to its end",
              run.events())
    lib.equal([e["reason"] for e in run.events("worker_gone")], ["exited"],
              "by itself")
    lib.equal(assigned(run), [("baseline", 1, "b")], "nothing new came")
    c = Host(box, where, "c", "--slots", "2", "--label", "zone=a", "--label",
             "gpu")
    r = run.wait(90)
    lib.equal(r.status, 0, "fixed", r)
    lib.equal({h for _, _, h in assigned(run)}, {"b", "c"}, "by those two", r)
    wants = [e["wanted"] for e in r.all("wanted_slots")]
    lib.check(wants[0] == 1 and 0 in wants, "told until it has enough", wants)
    times = [e["t"] for e in r.all("wanted_slots")]
    lib.check(all(b - a > 0.9 for a, b in zip(times, times[1:])),
              "at most one a second", times)
    lib.check("lacks a label" in r.err, "the lack is said", r)
    c.process.send_signal(signal.SIGINT)
    lib.equal(c.wait(10), 0, "SIGINT ends the other at once")


def twice(box):
    """A second SIGTERM, and the time limit, end the workers."""
    repo = box.repo("twice", dict(lib.SMALL, **{
        "test.sh": "sleep 1000\n" + lib.SMALL["test.sh"]}))
    run = box.start(repo, "-t", lib.SMALL_TEST, "-n", "1", "--label", "x",
                    *OPEN)
    where = endpoint(run)
    for n, (name, more) in enumerate((("first", ()),
                                      ("second", ("--drain", "1")))):
        h = Host(box, where, name, "--slots", "1", "--label", "x", *more)
        run.wait_event("worker_started", 30, n + 1)
        began = time.monotonic()
        h.term()
        if not more:
            time.sleep(1)
            lib.check(h.process.poll() is None, "it waits for its worker")
            h.term()
        lib.equal(h.wait(10), 0, name + ": it ends", h.said())
        lib.check(lib.soon(time.monotonic() - began, 6), name + ": soon", h.said())
        lib.check(down(run, name), name + " is gone", run.events())
    lib.equal([(e["attempt"], e["host"]) for e in run.events("assigned")],
              [(1, "first"), (2, "second")], "it was tried again")
    run.signal(signal.SIGINT)
    lib.equal(run.wait(30).status, 130, "interrupted")


def idle(box):
    """--idle-exit, with and without a run; labels that are none."""
    repo = box.repo("idle", lib.SMALL)
    run = box.start(repo, "-t", lib.SMALL_TEST, "--label", "x",
                    *OPEN)
    h = Host(box, endpoint(run), "idle", "--idle-exit", "1")
    with tempfile.TemporaryDirectory(prefix="foray-it-") as place:
        os.chmod(place, 0o755)  # the host becomes another user
        alone = Host(box, "ipc://" + os.path.join(place, "nobody"), "alone",
                     "--idle-exit", "1")
        lib.equal(alone.wait(20), 0, "also when nobody answers", alone.said())
    up(run, "idle")
    lib.equal(h.wait(20), 0, "it ends without work", h.said())
    lib.check("no work has come" in h.said(), "and says why", h.said())
    lib.equal([e["reason"] for e in down(run, "idle")], ["it was drained"],
              "the run is told")
    run.signal(signal.SIGINT)
    lib.equal(run.wait(30).status, 130, "interrupted")

    r = box.run(repo, "-t", lib.SMALL_TEST, "--label", "gpu", env={
        "FORAY_LABELS": "zone=a,gpu"})
    lib.equal(r.status, 0, "FORAY_LABELS of this machine", r)
    for bad in ("", "a b", "x" * 65, "a,,b", "é", ","):
        r = box.run(repo, "-t", lib.SMALL_TEST, "--label", bad)
        lib.equal(r.status, 2, "%r is no label" % bad, r)
        r = box.call([HOST, "--connect", "ipc:///x", "--label", bad])
        lib.equal(r.status, 2, "%r is none of a host" % bad, r)


def stalled(box):
    """The machine's own host stands still until it is given up, its workers at
    work. It comes back: they are ended, and nothing is given to a slot that is
    theirs."""
    box.hold()
    run = box.start(box.repo("stalled", lib.SMALL), "-t", lib.SMALL_TEST, "-n",
                    "2")
    lib.check(run.wait_event("hook", 30), "a worker is at work", run.events())
    hosts = [p for p in lib.descendants(run.pid) if p.name == "foray-host"]
    for number, event, n in ((signal.SIGSTOP, "host_down", 1),
                             (signal.SIGCONT, "host_up", 2)):
        for p in hosts:
            os.kill(p.pid, number)
        lib.check(run.wait_event(event, 30, n), event, run.events())
    box.release()
    r = run.wait(90)
    lib.equal(r.status, 0, "fixed after it was lost", r)
    lib.equal([e for e in r.all("worker_gone") if e["reason"] == "full"], [],
              "it was never asked for more than it has", r)


with lib.Box() as box:
    stalled(box)
    labels(box)
    twice(box)
    idle(box)
lib.done()
