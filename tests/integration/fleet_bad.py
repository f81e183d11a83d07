#!/usr/bin/env python3
"""Hosts with a good key and bad work: nothing works there, or nothing is done,
or all is said a thousand times. The run goes on with others."""
import os
import re
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import lib  # noqa: E402
from fake import curve  # noqa: E402
from fake.relay import Relay  # noqa: E402
from fleet_keys import (  # noqa: E402
    Fleet, Pretender, end, host_program, run_profile)

ASSIGN, EXIT, READY, TASK = 11, 4, 20, 30
AUDIT, FETCH = 26, 23


def answers(f, p, take):
    t = threading.Thread(target=p.answer, args=(f, take), daemon=True)
    t.start()
    return t


def attempts(r, host):
    return len([e for e in r.all("assigned") if e["host"] == host])


def alone(box):
    """The first host is a bad one, and the only one: it is set aside, and the
    run waits for another."""
    for reason in ("start", "sandbox", "exited"):
        f = Fleet(box, "alone-" + reason, "--local", "0")
        p = Pretender(f, run_profile(f), instance="h", name="hole", slots=2)

        def give_back(worker, m):
            if m["t"] == ASSIGN:
                p.say(worker, {"t": EXIT, "reason": reason,
                               "detail": "nothing works here"})
        answers(f, p, give_back)
        aside = f.run.wait_event("host_aside", 20)
        lib.check(aside and aside[0]["host"] == "hole" and
                  aside[0]["reason"] == "nothing works here",
                  reason + ": it is set aside", f.run.events())
        # The same machine by a new connection is no better.
        p.c.s.close()
        p = Pretender(f, run_profile(f), instance="h", name="hole", slots=2)
        answers(f, p, give_back)
        host = f.host("--name", "good", log=box.dir + "/alone.log")
        r = f.finish("alone: " + reason)
        lib.equal(attempts(r, "hole"), 1 if reason == "sandbox" else 3,
                  reason + ": no more is tried there", r)
        lib.check("hole" in r.err and "nothing works here" in r.err,
                  reason + ": a person is told", r)
        p.c.s.close()
        end(host, "alone: " + reason)

    # Nobody else comes.
    profile = run_profile(f)
    f = Fleet(box, "alone-end", "--local", "0", "--wait-hosts", "8")
    p = Pretender(f, profile, instance="h", name="hole")
    reason = "start"
    answers(f, p, give_back)
    r = f.finish("alone: nobody else", 5)
    lib.check("hole" in r.finished["reason"] and
              "nothing works here" in r.finished["reason"],
              "alone: why it ended", r)
    p.c.s.close()


def floods(box):
    """Acts without end, as fast as they go: the record stays small, and the
    work goes elsewhere."""
    for kind in (AUDIT, FETCH):
        f = Fleet(box, "flood-%d" % kind, "--local", "0")
        p = Pretender(f, run_profile(f), instance="h", name="flooder")

        def flood(worker, m):
            if m["t"] == ASSIGN:
                p.say(worker, {"t": READY, "protocol": 1})
            if m["t"] == TASK:
                for i in range(20000):
                    p.say(worker, {"t": kind, "seq": i + 1, "act": "command",
                                   "subject": "x" * 1000,
                                   "url": "https://example.org/"})
        answers(f, p, flood)
        lib.check(f.run.wait_event("worker_gone", 60),
                  "flood %d: it is given up" % kind, f.run.events())
        host = f.host("--name", "good", log=box.dir + "/floods.log")
        r = f.finish("flood %d" % kind)
        gone = [e["reason"] for e in r.all("worker_gone")]
        # So slowly read that it is no flood, it is cut off: it reads nothing.
        # Without an end to it 20,000 acts would be on record.
        lib.check(gone and gone[0] in ("flood", "host lost"),
                  "flood %d: why" % kind, gone)
        lines = lib.read(box.runs()[-1] + "/audit.jsonl").count("\n")
        lib.check(lines < 15000, "flood %d: what is kept" % kind, lines)
        lib.equal(len([x for x in r.err.splitlines() if "flood" in x]) < 8,
                  True, "flood %d: told once an attempt" % kind, r)
        p.c.s.close()
        end(host, "flood %d" % kind)


def door(box):
    """What accepts hosts ends again and again: the run ends when it has none,
    and else goes on with what it has."""
    for local, status in (("0", 5), ("1", 0)):
        box.hold()
        f = Fleet(box, "door-" + local, "--local", local)
        killed = set()

        def kill():
            for p in lib.descendants(f.run.pid):
                if p.name == "foray-door" and p.pid not in killed:
                    killed.add(p.pid)
                    os.kill(p.pid, signal.SIGKILL)
            return len(killed) > 5
        lib.check(lib.wait_until(kill, 20), "door: it is started again", killed)
        box.release()
        r = f.finish("door, --local " + local, status)
        lib.check(r.all("door_lost"), "door: it is said", r)
        lib.check(local != "0" or "none can come in" in r.finished["reason"],
                  "door: and why the run ended", r)


def foreign(box):
    """A server that is not the one whose key the host has: it is tried again,
    less and less often, and said once."""
    keys = os.path.join(box.home, ".config/foray/keys/hosts/fleet")
    count, log = [0], box.dir + "/foreign.log"
    with socket.create_server(("127.0.0.1", 0)) as s, open(log, "ab") as err:
        def serve():
            while True:
                try:
                    c, _ = s.accept()
                except OSError:
                    return
                count[0] += 1
                try:
                    c.sendall(curve.greeting(b"CURVE"))
                    curve.exactly(c, 64)
                except (OSError, curve.Closed):
                    pass
                c.close()
        threading.Thread(target=serve, daemon=True).start()
        host = box.popen(
            [host_program(box), "--connect",
             "tcp://127.0.0.1:%d" % s.getsockname()[1], "--keys", keys],
            stderr=err)
        host.log = log
        lib.check(lib.wait_until(lambda: count[0] > 3, 30),
                  "foreign: it tries again", count)
        time.sleep(3)
        lib.check(count[0] < 7, "foreign: not all the time", count)
        lib.equal(lib.read(log).count("no handshake"), 1,
                  "foreign: said once", lib.read(log))
        s.shutdown(socket.SHUT_RDWR)
    end(host, "foreign")


def cut_early(box):
    """A connection that is cut in its handshake, or before: that is said, and
    not that there is no orchestrator."""
    f = Fleet(box, "cut-early", "--local", "0")
    relay = Relay(("127.0.0.1", 0), ("127.0.0.1", f.port))
    relay.mode = "refuse"
    host = f.host("--name", "good", at="tcp://127.0.0.1:%d" % relay.port,
                  log=box.dir + "/cut.log")
    lib.check(lib.wait_until(
        lambda: "before the handshake was done" in lib.read(host.log), 20),
        "cut early: it is said", lib.read(host.log))
    relay.mode = "pass"
    f.finish("cut early")
    lib.check("it is no orchestrator" not in lib.read(host.log),
              "cut early: of nobody else", lib.read(host.log))
    end(host, "cut early")
    relay.close()


def rss(pids):
    """MiB of all these together, each page once."""
    found = 0
    for p in pids:
        m = re.search(rb"Pss:\s+(\d+)", p.read("smaps_rollup"))
        found += int(m.group(1)) if m else 0
    return found >> 10


def crowd(box):
    """Many hosts that are all in the middle of a large message: together they
    take what a few of them may, and the others' messages come through."""
    f = Fleet(box, "crowd", "--local", "0", "--label", "real")
    profile = run_profile(f)
    many = [Pretender(f, profile, instance="c%d" % i, name="c%d" % i)
            for i in range(40)]

    def guests():
        return [p for p in lib.descendants(f.run.pid)
                if p.name == "foray-guest"] + [lib.Process(f.run.pid)]
    before = rss(guests())
    raw = curve.pack({"t": 2, "busy": 0, "unknown": "x" * (5 << 20)})

    def most(p):
        p.c.s.settimeout(2)
        try:
            p.c.s.sendall((p.c.part(b"", 1) + p.c.part(raw))[:-1000])
        except OSError:
            pass  # it is not read any more
    threads = [threading.Thread(target=most, args=(p,)) for p in many]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    grown = rss(guests()) - before
    print("crowd: %d MiB" % grown)
    lib.check(grown < 130, "crowd: together they are bounded",
              "%d MiB more" % grown)
    # Small ones pass, and a real host works.
    host = f.host("--name", "good", "--label", "real",
                  log=box.dir + "/crowd.log")
    r = f.finish("crowd")
    lib.check("good" in [e["host"] for e in r.all("assigned")],
              "crowd: others work", r)
    for p in many:
        p.c.s.close()
    end(host, "crowd")


def where(box):
    """What hosts are told to connect to is an address, and not a name that
    means something only here."""
    f = Fleet(box, "where", "--local", "0", at="tcp://*:*")
    host = f.host("--name", "other", at="tcp://127.0.0.1:%d" % f.port,
                  log=box.dir + "/where.log")
    r = f.finish("where")
    said = re.search(r"hosts may come: foray-host --connect (.*?) --keys", r.err)
    lib.check(said, "where: it is said", r)
    for one in said.group(1).split(" or ") if said else ():
        name = re.fullmatch(r"tcp://\[?(.*?)\]?:%d" % f.port, one)
        lib.check(name and (name.group(1) == "*" or socket.getaddrinfo(
            name.group(1), None, flags=socket.AI_NUMERICHOST)),
            "where: an address", one)
    lib.check(socket.gethostname() not in (said.group(1) if said else ""),
              "where: not our name", r)
    lib.check(r.all("tool_call") and all(e["call"] > 0 for e in
                                         r.all("tool_call")),
              "where: each call has its number", r.all("tool_call")[:3])
    subtasks = {e["subtask"] for e in r.all("assigned")}
    lib.check(subtasks and all(s in lib.read(host.log) for s in subtasks),
              "where: the host says what it took", lib.read(host.log))
    end(host, "where")


def twins(box):
    """Two machines with one name are told apart; who was refused is shown."""
    f = Fleet(box, "twins", "--local", "0", "--label", "none")
    profile = run_profile(f)
    two = [Pretender(f, profile, instance="t%d" % i, name="twin")
           for i in range(2)]
    lib.check(f.run.wait_event("host_up", 20, 2), "twins: both are in")
    lib.equal(sorted(e["host"] for e in f.run.events("host_up")),
              ["twin", "twin#2"], "twins: each has a name")
    curve.connect(f.port, mechanism=b"NULL")
    lib.check(f.refused("it has no key"), "twins: a stranger")
    f.run.signal(signal.SIGINT)
    r = f.finish("twins", 130)
    lib.check("another host is called twin" in r.err, "twins: it is said", r)
    shown = box.do("show").out
    lib.check("hosts\n  refused 127.0.0.1: it has no key" in shown,
              "twins: the stranger is shown", shown)
    for p in two:
        p.c.s.close()


def outside(box):
    """An environment whose program lies outside of the tree, where the host
    has none: which host, which path, what helps."""
    files = dict(lib.SMALL, **{".gitignore": "venv\n"})
    repo = box.repo("outside", files)
    os.makedirs(repo + "/venv/bin")
    os.symlink("/nonexistent/python3.9", repo + "/venv/bin/python3")
    os.symlink("python3", repo + "/venv/bin/python")
    box.own()
    f = Fleet(box, "outside-run", "--local", "0", "-C", repo, "-t",
              "venv/bin/python -m unittest")
    host = f.host("--name", "bare", log=box.dir + "/outside.log")
    r = f.finish("outside", 2)
    why = r.finished["reason"]
    lib.check("on host bare" in why and "/nonexistent/python3.9" in why and
              "each host has to have it" in why, "outside: what is said", why)
    end(host, "outside")


def another_run(box):
    """What a host still has of the run before is no lie, whatever its number, and
    no one else gets its name. One that it did not bring is a lie."""
    f = Fleet(box, "another-run", "--local", "0")
    given = []

    def seen(*names):
        return [e for e in f.run.events() if e["event"] in names]
    p = Pretender(f, run_profile(f), instance="h", name="old", slots=2,
                  workers=["w1", "w900"])
    # Both slots are taken by them.
    lib.check(not lib.wait_until(lambda: seen("assigned"), 1),
              "another run: nothing is to be done there yet", f.run.events())
    p.say(b"w900", {"t": 27, "what": "test"})
    for name in (b"w900", b"w1"):
        p.say(name, {"t": EXIT, "reason": "cancelled"})
    answers(f, p, lambda worker, m: given.append((m["t"], worker)))
    lib.check(lib.wait_until(lambda: ASSIGN in dict(given), 20),
              "another run: then it gets something to do", given)
    lib.check(not {"w1", "w900"} & {w.decode() for t, w in given
                                    if t == ASSIGN},
              "another run: under a new name", given)
    lib.equal(seen("host_refused", "host_down"), [],
              "another run: nobody is refused")
    p.say(b"w90000", {"t": 27, "what": "test"})
    lib.check(lib.wait_until(lambda: f.refused("never was"), 10),
              "another run: one that never was", f.reasons())
    host = f.host(log=box.dir + "/another.log")
    f.finish("another run")
    end(host, "another run")
    p.c.s.close()


def forsaken(box, modes=("pass", "refuse")):
    """The other way round: the orchestrator is gone, what a worker had to say
    can't be said, and the host is told to end; whatever answers in its place."""
    slow = dict(lib.SMALL, **{"test.sh": "sleep 10000\n"})
    for mode in modes:
        f = Fleet(box, "forsaken-" + mode, "--local", "0", files=slow)
        relay = Relay(("127.0.0.1", 0), ("127.0.0.1", f.port))
        host = f.host(at="tcp://127.0.0.1:%d" % relay.port,
                      log=box.dir + "/forsaken.log")
        lib.check(f.run.wait_event("worker_started", 30), mode + ": it has work")
        relay.mode = mode
        f.run.signal(signal.SIGKILL)
        if mode in ("pass", "refuse"):
            relay.cut()
        lib.check(lib.wait_until(
            lambda: "ends (cancelled)" in lib.read(host.log), 40),
            mode + ": its worker is ended", lib.read(host.log))
        end(host, mode, seconds=15)
        relay.close()
        os.unlink(host.log)


def mute(box):
    """Many that connect and say nothing, one that says nothing any more, and
    one that gives back unbegun what it gets: no subtask is lost by them."""
    f = Fleet(box, "mute", "--local", "0")
    profile = run_profile(f)
    held = [Pretender(f, profile, instance="m%d" % i, name="mute%d" % i,
                      mute=True) for i in range(40)]
    lib.check(f.run.wait_event("host_up", 20, 40), "mute: they are in")
    time.sleep(1)
    lib.equal(f.run.events("assigned"), [], "mute: they get nothing")
    # It speaks for as long as it takes to be given nothing.
    fell = Pretender(f, profile, instance="f", name="fell", slots=2,
                     mute=True)
    full = Pretender(f, profile, instance="g", name="full")
    gave = []

    def give_back(worker, m):
        if m["t"] == ASSIGN:
            gave.append(worker)
            full.say(worker, {"t": EXIT, "reason": "full"})
            full.say(b"", {"t": 2, "busy": 0})
    answers(f, full, give_back)
    lib.check(f.run.wait_event("host_aside", 20), "full: it is set aside",
              f.run.events())
    lib.check(len(gave) < 20, "full: before long", len(gave))
    # Others of that kind take its place.
    for i in range(4):
        full.c.s.close()
        full = Pretender(f, profile, instance="g%d" % i, name="full%d" % i)
        answers(f, full, give_back)
        lib.check(f.run.wait_event("host_aside", 20, i + 2),
                  "full: that one, too")
    lib.check(len(gave) > 34, "full: more often than an attempt may fail",
              len(gave))
    host = f.host("--name", "good", log=box.dir + "/mute.log")
    r = f.finish("mute")
    lib.equal({e["host"] for e in r.all("assigned")
               if e["host"][:4] in ("mute", "fell")}, set(),
              "mute: they got nothing", r)
    for p in held + [fell, full]:
        p.c.s.close()
    end(host, "mute")


def overdue(box):
    """It says READY and then only that it lives: after the subtask's limit the
    work goes elsewhere."""
    settings = os.path.join(box.home, ".config/foray/settings.json")
    lib.write(settings, '{"sandbox": {"limits": {"subtask": "4s"}}}')
    f = Fleet(box, "overdue", "--local", "0")
    own = os.path.join(f.run.wait_event("run_started", 20)[0]["dir"],
                       "profile.json")
    p = Pretender(f, run_profile(f, "--profile", own), instance="s",
                  name="sleepy")

    def sleep(worker, m):
        if m["t"] == ASSIGN:
            p.say(worker, {"t": READY, "protocol": 1})
    answers(f, p, sleep)
    lib.check(f.run.wait_event("worker_started", 20), "overdue: it has begun")
    # Again and again is no more than once.
    for _ in range(10):
        p.say(b"w1", {"t": READY, "protocol": 1})
    gone = f.run.wait_event("worker_gone", 40)
    lib.check(gone and "time limit" in gone[0].get("detail", ""),
              "overdue: it is given up", gone)
    os.unlink(settings)
    f.run.signal(signal.SIGINT)
    f.finish("overdue", 130)
    p.c.s.close()


def silent(box):
    """The same, and not even the end of the connection is heard."""
    forsaken(box, ("swallow", "hold"))


LONG = (overdue, silent)


def main():
    with lib.Box() as box:
        lib.equal(box.do("keys", "new", "fleet").status, 0, "keys")
        for part in (alone, floods, door, foreign, cut_early, crowd,
                     where, twins, outside, another_run, forsaken, mute,
                     *LONG):
            if part.__name__ in sys.argv[1:] or (len(sys.argv) < 2 and
                                                 part not in LONG):
                began = time.monotonic()
                part(box)
                print("%-12s %.1f s" % (part.__name__,
                                        time.monotonic() - began), flush=True)
    lib.done()


if __name__ == "__main__":
    main()
