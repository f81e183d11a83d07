#!/usr/bin/env python3
"""Three hosts in network namespaces, behind relays that delay, cut and stall,
while workers, hosts and the orchestrator are killed at random moments.

After each run: the answer is that of the undisturbed one, no exchange that was
on record was asked again, each subtask has one end, nothing is left running,
the audit is whole.     SEED=n MOMENTS=n fleet.py    plays it again.
"""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import lib  # noqa: E402
from fake.client import FakeServer  # noqa: E402
from fake.relay import Relay  # noqa: E402

INSIDE = "FORAY_FLEET_TEST"  # set in the namespace of the test: who we are
PORT = 7101         # the namespace is our own
GONE = 15.0         # orphans end: "within seconds", on a busy machine
WHOLE = 600.0       # a run, from the last disturbance to its end
FIX = {"path": "max.sh", "old": "-lt", "new": "-gt"}
TERMINAL = {"done", "failed", "stopped", "not tried"}


def enter():
    """Go on in a network namespace of our own, as an ordinary user in a user
    namespace, too."""
    if INSIDE in os.environ:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    root = os.geteuid() == 0
    os.environ[INSIDE] = "root" if root else "ordinary"
    os.execvp("unshare", ["unshare", "--net",
                          *([] if root else ["--user", "--map-root-user"]),
                          sys.executable, *sys.argv])


def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def script(hypotheses, right, steps):
    """A plan, then workers of whom one has it: a script for each."""
    plan = [{"statement": "guess number %d is the fault" % n,
             "place": "max.sh:%d" % n, "refuted_by": "test %d passes" % n}
            for n in range(1, hypotheses + 1)]
    roles = [{"match": "Plan the search", "name": "plan", "turns": [
        {"text": "", "calls": [call("read_file", path="max.sh")]},
        {"calls": [call("finish", verdict="done", hypotheses=plan)]}]}]
    for n in range(1, hypotheses + 1):
        turns = [{"text": "H%d looks." % n, "calls": [
            call("run_command", command="echo H%d step %d; cat max.sh" % (n, i)),
            call("read_file", path="test.sh")]} for i in range(steps)]
        if n == right:
            turns.append({"text": "", "calls": [call("edit_file", **FIX)]})
        turns.append({"text": "", "calls": [call(
            "finish", verdict="fixed" if n == right else "refuted",
            findings=["H%d is looked at" % n])]})
        roles.append({"match": r"Your hypothesis \(H%d\)" % n,
                      "name": "H%d" % n, "turns": turns})
    return {"scripts": roles}


class Box(lib.Box):
    def popen(self, args, **more):
        args = list(args)
        enter_net = []
        if args[0] == "nsenter":
            enter_net, args = args[:4], args[4:]
        if args[0] == "foray":
            args[0] = self.foray
        if os.environ[INSIDE] == "ordinary":
            # foray takes uid 0 for root; here it is not.
            args = ["unshare", "--user", "--map-user=1000", "--map-group=1000",
                    *args]
        return super().popen(enter_net + args, **more)


class Host:
    """foray-host in a network of its own, with a cache of its own."""

    def __init__(self, fleet, number):
        self.fleet, self.number = fleet, number
        self.name = "host%d" % number
        self.dir = os.path.join(fleet.box.dir, self.name)
        for part in ("cache", "scratch"):
            os.makedirs(os.path.join(self.dir, part))
        self.net = subprocess.Popen(["unshare", "--net", "cat"],
                                    stdin=subprocess.PIPE)
        self.connect()
        self.relay = Relay(("10.77.%d.1" % number, 0), ("127.0.0.1", PORT))
        self.process, self.log = None, os.path.join(self.dir, "log")
        self.due = 0.0      # when it is started again, after it was killed
        self.heal_at = None

    def connect(self):
        mine = os.readlink("/proc/self/ns/net")
        lib.wait_until(lambda: os.readlink(
            "/proc/%d/ns/net" % self.net.pid) != mine, 10)
        n, pid = self.number, str(self.net.pid)
        inside = ["nsenter", "-t", pid, "-n", "ip"]
        for cmd in (["ip", "link", "add", "h%d" % n, "type", "veth", "peer",
                     "name", "up0", "netns", pid],
                    ["ip", "addr", "add", "10.77.%d.1/24" % n, "dev", "h%d" % n],
                    ["ip", "link", "set", "h%d" % n, "up"],
                    inside + ["addr", "add", "10.77.%d.2/24" % n, "dev", "up0"],
                    inside + ["link", "set", "up0", "up"],
                    inside + ["link", "set", "lo", "up"]):
            subprocess.run(cmd, check=True)

    def start(self, slots=12):
        self.slots = slots
        with open(self.log, "ab") as f:
            self.process = self.fleet.box.popen(
                ["nsenter", "-t", str(self.net.pid), "-n", os.path.join(
                    os.path.dirname(lib.FORAY), "foray-host"), "--connect",
                 "tcp://10.77.%d.1:%d" % (self.number, self.relay.port),
                 "--keys", self.fleet.keys + "/hosts/fleet", "--name",
                 self.name, "--slots", str(slots), "--cache",
                 self.dir + "/cache", "--scratch", self.dir + "/scratch"],
                stderr=f, env={"FORAY_SPARES": "0"})

    def below(self):
        return lib.descendants(self.process.pid)

    def workers(self):
        return [p for p in self.below() if p.is_worker()]

    def kill(self, rng):
        """The launcher, or pid 1 of its namespace."""
        # A child that has not become what it is to be has the same name.
        hosts = [p for p in self.below() if p.name == "foray-host" and
                 p.parent == self.process.pid]
        victim = rng.choice([self.process.pid] + [p.pid for p in hosts])
        tree = self.below()
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
        rest = lib.left_alive(tree, GONE)
        lib.check(not rest, "a host is killed: nothing is left of it",
                  "%d was killed, %d is its launcher; left:\n%s" % (
                      victim, self.process.pid, "\n".join(
                          "%r\n%s" % (p, p.read("status").decode()[:300])
                          for p in rest)))
        self.process.kill()
        self.process.wait()

    def heal(self):
        self.relay.mode, self.relay.delay = "pass", 0.0
        self.heal_at = None

    def close(self):
        """After SIGTERM."""
        try:
            lib.equal(self.process.wait(20 * lib.BUSY), 0, "%s ends" % self.name,
                      lib.read(self.log)[-3000:])
        except subprocess.TimeoutExpired:
            lib.check(False, "%s ends in time" % self.name,
                      lib.read(self.log)[-3000:])
            self.process.kill()
            self.process.wait()
        self.relay.close()
        self.net.stdin.close()
        self.net.wait()


class Fleet:
    def __init__(self, box, hosts=3, slots=12):
        self.box = box
        os.chmod(box.dir, 0o755)
        self.keys = os.path.join(box.home, ".config/foray/keys")
        lib.equal(box.do("keys", "new", "fleet").status, 0, "keys")
        self.repo = box.repo("small", lib.SMALL)
        self.hosts = [Host(self, n) for n in range(1, hosts + 1)]
        for h in self.hosts:
            h.start(slots)

    def heal(self):
        for h in self.hosts:
            h.heal()
            if h.process.poll() is not None:
                h.start(h.slots)

    def keep_up(self):
        """Start killed hosts again, heal what was to be healed by now."""
        now = time.monotonic()
        for h in self.hosts:
            if h.heal_at is not None and now >= h.heal_at:
                h.heal()
            if h.process.poll() is not None and now >= h.due:
                h.start(h.slots)

    def idle(self, what):
        """The hosts are alive, and nothing of the run is left on them."""
        lib.wait_until(lambda: not any(h.workers() for h in self.hosts), GONE,
                       0.1)
        for h in self.hosts:
            lib.check(h.process.poll() is None, "%s: %s is alive" % (
                what, h.name), lib.read(h.log)[-3000:])
            lib.equal([repr(p) for p in h.workers()], [],
                      "%s: no worker is left on %s" % (what, h.name),
                      lib.read(h.log)[-3000:])

    def close(self):
        for h in self.hosts:
            h.process.terminate()
        for h in self.hosts:
            h.close()


class Search:
    """One run, however often its orchestrator is started."""

    def __init__(self, fleet, server, workers):
        self.fleet, self.server, self.workers = fleet, server, workers
        self.listen = ("--json", "--local", "0", "--listen",
                       "tcp://127.0.0.1:%d" % PORT)
        self.lives = []     # Live
        self.deaths = []    # (server clock, {(label, turn)} on record)
        self.hits = {}      # label: workers of it that were killed
        self.dir = None
        self.begin()

    def begin(self):
        before = self.fleet.box.runs()
        self.lives.append(lib.Live(self.fleet.box, [
            "foray", "run", "-C", self.fleet.repo, "--no-builtin", "-t",
            lib.SMALL_TEST, "-m", "openai/fake-model", "-n", str(self.workers),
            "--topology", "hypotheses", "--all", *self.listen],
            env=self.server.env()))
        self.dir = lib.wait_until(
            lambda: (set(self.fleet.box.runs()) - set(before) or [None]) and
            max(set(self.fleet.box.runs()) - set(before), default=None), 20)
        lib.check(self.dir, "a run begins", self.live.wait(0)
                  if not self.dir else "")

    @property
    def live(self):
        return self.lives[-1]

    def alive(self):
        return self.live.process.poll() is None

    def events(self, name):
        return [e for live in self.lives for e in live.events(name)]

    def early(self, rng):
        """Killed near the start, where everything is half made."""
        time.sleep(rng.uniform(0, 0.6))
        if self.alive():
            self.kill()
            self.resume()
        r = lib.wait_until(lambda: self.events("listening") or
                           not self.alive(), 30)
        if r is True:  # it has ended
            r = self.live.wait(0)
            lib.check(r.status == 2 and "start it anew" in r.err or
                      r.status == 0, "killed early: resume says what to do", r)
            self.deaths, self.lives = [], []
            self.begin()

    def resume(self):
        self.lives.append(lib.Live(self.fleet.box, [
            "foray", "resume", *self.listen, os.path.basename(self.dir)],
            env=self.server.env()))

    def kill(self):
        """Its record as it is when it is dead."""
        self.live.process.kill()
        self.live.process.wait()
        self.deaths.append((self.server.stats()["clock"],
                            {pair for pair, _ in self.record()}))

    def copy(self):
        """The record without its being opened, so that resume meets it as it
        was left."""
        to = os.path.join(self.fleet.box.dir, "record")
        shutil.rmtree(to, ignore_errors=True)
        os.mkdir(to)
        for name in ("run.db", "run.db-wal"):
            if os.path.exists(os.path.join(self.dir, name)):
                shutil.copy(os.path.join(self.dir, name), to)
        return sqlite3.connect(os.path.join(to, "run.db"))

    def query(self, text):
        db = self.copy()
        try:
            return db.execute(text).fetchall()
        except sqlite3.OperationalError:  # killed before there was a table
            return []
        finally:
            db.close()

    def record(self):
        """[((label, turn), subtask)] of the replies that are on record."""
        return [((label, turn - 1), subtask) for label, turn, subtask in self.query(
            "SELECT s.label, x.turn, s.id FROM exchange x JOIN subtask s"
            " ON s.id = x.subtask WHERE x.status = 'ok'")]

    def attempts(self):
        """For a person who looks for what went wrong."""
        return "\n".join(
            ["%s %s %s %.1f" % row for row in self.query(
                "SELECT s.label, a.worker, a.state, a.t FROM attempt a JOIN"
                " subtask s ON s.id = a.subtask ORDER BY a.t")] +
            ["%s %s" % row for row in self.query(
                "SELECT round(t, 1), body FROM event WHERE name IN"
                " ('worker_gone', 'host_up', 'host_down', 'run_started')")])

    def label(self, worker):
        """The subtask of a process, when its worker has said READY."""
        labels = {e["worker"]: e["label"] for e in self.live.events("assigned")}
        known = {e["pid"]: labels.get(e["worker"])
                 for e in self.live.events("worker_started")}
        everything, pid = lib.processes(), worker.pid
        while pid in everything and pid not in known:
            pid = everything[pid].parent
        return known.get(pid)

    # -- afterwards

    def check(self, what, want):
        r = self.live.wait(0)
        lib.equal(r.status, 0, what + ": fixed", r)
        patch = lib.read(r.finished["patch"]) if "patch" in r.finished else ""
        if want is not None:
            lib.equal(patch, want, what + ": the same answer", r)
        self.check_subtasks(what)
        self.check_bill(what)
        self.fleet.idle(what)
        audit = self.fleet.box.do("audit", "--verify",
                                  os.path.basename(self.dir))
        lib.equal(audit.status, 0, what + ": the audit is whole", audit)
        return patch

    def check_subtasks(self, what):
        rows = self.query("SELECT label, state FROM subtask")
        lib.equal([r for r in rows if r[1] not in TERMINAL], [],
                  what + ": each subtask has an end")
        lib.equal(sorted(label for label, _ in rows if label[0] == "H"),
                  sorted("H%d" % n for n in range(1, self.workers + 1)),
                  what + ": the subtasks of the plan, each once")
        lib.equal([r for r in rows if r[1] != "done"], [],
                  what + ": each is done", self.attempts())
        lib.equal(self.query(
            "SELECT label FROM subtask WHERE id NOT IN"
            " (SELECT subtask FROM summary)"), [],
            what + ": each has a summary")
        applied = self.query(
            "SELECT json_extract(body, '$.subtask'), count(*) FROM event"
            " WHERE name = 'summary' GROUP BY 1 HAVING count(*) > 1")
        lib.equal(applied, [], what + ": none is applied twice")
        lib.equal(self.query(
            "SELECT subtask, worker, state FROM attempt WHERE state ="
            " 'assigned'"), [], what + ": each attempt has an end")

    def check_bill(self, what):
        """What is on record is not asked again; nothing is asked twice while
        one orchestrator lives."""
        lib.equal(self.server.errors(), "", what + ": the server is fine")
        rows = [pair for pair, _ in self.record()]
        lib.equal(sorted(rows), sorted(set(rows)),
                  what + ": each exchange is on record once")
        asked = [(r["start"], (r["script"], r["turn"]))
                 for r in self.server.log() if r.get("accepted")]
        for end, known in self.deaths:
            again = [x for x in asked if x[0] > end and x[1] in known]
            lib.equal(again, [], what + ": asked again though on record")
        lives = [0.0] + [end for end, _ in self.deaths]
        for begin, end in zip(lives, lives[1:] + [float("inf")]):
            pairs = [p for t, p in asked if begin < t <= end]
            lib.equal(sorted(pairs), sorted(set(pairs)),
                      what + ": billed twice in one life")
        lib.equal({p for _, p in asked} - set(rows), set(),
                  what + ": all that was accepted is on record")


class Chaos:
    """What happens, at random."""

    WEIGHTS = {"worker": 8, "host": 3, "orchestrator": 3, "cut": 3,
               "refuse": 2, "swallow": 2, "hold": 2, "delay": 2}

    def __init__(self, rng, fleet, search):
        self.rng, self.fleet, self.search = rng, fleet, search
        self.done = {}

    def act(self):
        kind = self.rng.choices(list(self.WEIGHTS), self.WEIGHTS.values())[0]
        if getattr(self, kind)():
            self.done[kind] = self.done.get(kind, 0) + 1
            return True
        return False

    def worker(self):
        s = self.search
        found = [p for h in self.fleet.hosts if h.process.poll() is None
                 for p in h.workers()]
        if not found:
            return False
        victim = self.rng.choice(sorted(found, key=lambda p: p.start))
        label = s.label(victim)
        # Three deaths of its workers fail a subtask, and that is another end.
        # (One that is not known yet can be any.)
        if s.hits.get(label, 0) > 0:
            return False
        s.hits[label] = 1
        try:
            os.kill(victim.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def host(self):
        h = self.rng.choice(self.fleet.hosts)
        if h.process.poll() is not None:
            return False
        h.kill(self.rng)
        h.due = time.monotonic() + self.rng.uniform(0, 2)
        return True

    def orchestrator(self):
        # Before that resume may say that there is nothing to go on with, which
        # is early()'s to look at.
        if not self.search.events("listening"):
            return False
        self.search.kill()
        end = time.monotonic() + self.rng.choice((0, self.rng.uniform(0, 3)))
        while time.monotonic() < end:
            self.fleet.keep_up()
            time.sleep(0.05)
        self.search.resume()
        return True

    def cut(self):
        self.rng.choice(self.fleet.hosts).relay.cut()
        return True

    def stall(self, mode, low, high):
        h = self.rng.choice(self.fleet.hosts)
        if h.heal_at is not None:
            return False
        h.heal_at = time.monotonic() + self.rng.uniform(low, high)
        h.relay.mode = mode
        if mode == "refuse":
            h.relay.cut()
        return True

    def refuse(self):
        return self.stall("refuse", 0.5, 6)

    def swallow(self):
        return self.stall("swallow", 0.5, 14)

    def hold(self):
        return self.stall("hold", 0.5, 14)

    def delay(self):
        h = self.rng.choice(self.fleet.hosts)
        h.relay.delay = self.rng.uniform(0, 0.15)
        return True


def disturbed(rng, fleet, spec, workers, most, pause, want, what):
    """One run with up to so many moments; returns them by kind."""
    with FakeServer(spec, latency=300) as server:
        search = Search(fleet, server, workers)
        chaos, n = Chaos(rng, fleet, search), 0
        if rng.random() < 0.4:
            search.early(rng)
        while search.alive() and n < most:
            until = time.monotonic() + rng.uniform(0, pause)
            while search.alive() and time.monotonic() < until:
                fleet.keep_up()
                time.sleep(0.05)
            if search.alive():
                n += chaos.act()
        fleet.heal()
        end = time.monotonic() + WHOLE
        while search.alive() and time.monotonic() < end:
            fleet.keep_up()
            time.sleep(0.1)
        if not lib.check(not search.alive(), what + ": it comes to its end",
                         "\n".join(lib.read(h.log)[-1500:]
                                   for h in fleet.hosts)):
            print(search.live.lines[-30:])
        search.check(what, want)
    return chaos.done


def orphans(fleet, spec, workers):
    """The orchestrator is killed and does not come back: the hosts end what it
    left on them, and go on to serve the next."""
    with FakeServer(spec, latency=100000) as server:
        search = Search(fleet, server, workers)
        lib.check(search.live.wait_event("worker_started", 60, 2),
                  "orphans: workers run", search.live.lines[-10:])
        search.kill()
        fleet.idle("orphans")


def undisturbed(fleet, spec, workers):
    with FakeServer(spec, latency=300) as server:
        search = Search(fleet, server, workers)
        began = time.monotonic()
        while search.alive() and time.monotonic() < began + WHOLE:
            time.sleep(0.1)
        patch = search.check("undisturbed", None)
        print("undisturbed: %.1f s" % (time.monotonic() - began), flush=True)
        return patch


def main(moments, seed, workers=32, slots=12, steps=4, each=25, pause=1.2):
    enter()
    print("SEED=%d MOMENTS=%d" % (seed, moments), flush=True)
    rng, done, n = random.Random(seed), {}, 0
    spec = script(workers, workers // 2, steps)
    with Box() as box:
        fleet = Fleet(box, slots=slots)
        want = undisturbed(fleet, spec, workers)
        while sum(done.values()) < moments and not lib.failed:
            n += 1
            began = time.monotonic()
            found = disturbed(rng, fleet, spec, workers, min(
                each, moments - sum(done.values())), pause, want,
                "seed %d, run %d" % (seed, n))
            for kind, k in found.items():
                done[kind] = done.get(kind, 0) + k
            print("run %d: %.1f s, %s" % (n, time.monotonic() - began, found),
                  flush=True)
        orphans(fleet, spec, workers)
        fleet.close()
        print("%d moments: %s" % (sum(done.values()), done))
    lib.done()


if __name__ == "__main__":
    main(int(os.environ.get("MOMENTS", 6)), int(os.environ.get("SEED", 1)),
         workers=6, slots=3, steps=2, each=6, pause=1.0)
