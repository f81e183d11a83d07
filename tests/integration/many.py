#!/usr/bin/env python3
"""-n 100: a plan gives each of many workers a hypothesis, their host is asked to
start a few at a time, and in the end all of them are there at once.

The host is played here. The real one starts workers one after the other, and
what comes for those that are up waits meanwhile."""
import os
import resource
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import lib  # noqa: E402
from fake import curve  # noqa: E402

WORKERS = 100
AT_ONCE = 4  # of a host with two processors
HELLO, HEARTBEAT, EXIT, ASSIGN, READY, SUMMARY, TASK = 1, 2, 4, 11, 20, 29, 30


class Host:
    """Answers for workers that it never starts; those of the plan stay."""

    def __init__(self, box, at):
        keys = os.path.join(box.home, ".config/foray/keys")
        self.c = curve.Client(
            curve.connect(int(at.rsplit(":", 1)[1])),
            *(curve.z85(lib.read(os.path.join(keys, name)).strip())
              for name in ("server.pub", "hosts/fleet/host.pub",
                           "hosts/fleet/host.secret")))
        self.c.handshake()
        self.c.s.settimeout(120)
        self.say(b"", t=HELLO, protocol=1, slots=4096, cpus=2, name="many",
                 instance="many", profile=profile(box))
        self.say(b"", t=HEARTBEAT, busy=0)
        self.starting, self.up, self.most = [], set(), 0

    def say(self, worker, **m):
        self.c.send(worker, curve.pack(m))

    def take(self):
        worker, raw = self.c.recv()
        m = curve.unpack(raw)
        if m["t"] == ASSIGN:
            self.starting.append(worker)
            self.most = max(self.most, len(self.starting))
        elif m["t"] == TASK and m["kind"] == "explore":
            self.up.add(worker)
        elif m["t"] == TASK:
            self.say(worker, t=SUMMARY, subtask=m["subtask"], verdict="done",
                     attempt=m["attempt"], **(
                {"failing": ["t"], "tests_failed": 1}
                if m["kind"] == "baseline" else
                {"findings": ["H%d: guess %d" % (n, n)
                              for n in range(1, WORKERS + 50)]}))
            self.say(worker, t=EXIT, reason="exited")

    def ready(self):
        """One more has come up."""
        worker = self.starting.pop(0)
        self.say(worker, t=READY, protocol=1, pid=1, layout="copy")


def profile(box):
    """What a real host says of its sandbox."""
    with open(os.path.join(box.dir, "probe.log"), "wb") as log:
        return curve.profile_of(lambda at: box.popen(
            [os.path.join(os.path.dirname(box.foray), "foray-host"),
             "--connect", at, "--insecure-loopback", "--cache",
             box.cache + "/foray"], stderr=log))


def too_many(box):
    """A limit that is too low is named before anything is started."""
    repo = box.repo("few", lib.SMALL)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))
    r = box.do("run", "-C", repo, "-t", lib.SMALL_TEST, "-n", "500")
    lib.equal(r.status, 2, "too few files: the status", r)
    for part in ("501 workers", "open files", "1000 are allowed", "ulimit",
                 "at most 77"):
        lib.check(part in r.text, "too few files: it says " + part, r)
    lib.equal(r.all("assigned"), [], "too few files: nothing was begun", r)
    run = box.start(repo, "-t", lib.SMALL_TEST, "-n", "77")
    lib.check(run.wait_event("assigned", 30), "what it names can be had", run)
    run.signal(signal.SIGINT)
    run.wait(30)


def main():
    with lib.Box() as box:
        lib.equal(box.do("keys", "new", "fleet").status, 0, "keys")
        run = box.start(box.repo("many", lib.SMALL), "-t", lib.SMALL_TEST, "-n",
                        str(WORKERS), "--listen", "tcp://127.0.0.1:*",
                        "--local", "0")
        found = run.wait_event("listening", 30)
        lib.check(found, "it listens", run)
        host = Host(box, found[0]["endpoint"])
        until = time.monotonic() + 60 * lib.BUSY
        while len(host.up) < WORKERS and time.monotonic() < until:
            # All that it is told to start, before the first is up.
            host.c.s.settimeout(0.3 if host.starting else 120)
            try:
                host.take()
                continue
            except TimeoutError:
                pass
            host.say(b"", t=HEARTBEAT, busy=len(host.up))
            while host.starting:
                host.ready()
        lib.equal(len(host.up), WORKERS, "all of them are up at once", run)
        lib.equal(host.most, AT_ONCE, "and few are started at a time", run)
        lib.equal([len(e["hypotheses"]) for e in run.events("planned")],
                  [WORKERS], "a hypothesis for each", run)
        lib.equal([e["wanted"] for e in run.events("wanted_slots")
                   if e["slots"] > 0 and e["wanted"] > 0], [],
                  "no more slots are wanted than there are", run)
        run.signal(signal.SIGINT)
        lib.equal(run.wait(30).status, 130, "interrupted")
        too_many(box)
    lib.done()


main()
