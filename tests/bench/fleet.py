"""The parts of bench.py for a run with many workers: what it costs to deal work
out (dispatch), and a thousand of them that are live (fleet).

The latter is one `foray run -n 1000` against a model that takes 200 ms, every
worker in its sandbox.

Two processors don't carry 1,000 workers that ask every 200 ms: a call costs all
of our processes together about a millisecond. The added latency is therefore
measured at a rate that leaves the machine half idle (RATE calls a second); the
model's replies wait for that, as if the workers thought. What the orchestrator
uses of a processor is told at that rate, and again with no wait at all, when
workers, hosts and kernel take what there is.

Added latency is what lies between the last byte of a reply and the last of the
next request of that worker, as the server sees it: through gateway, host and
sandbox to the worker, its read_file of three lines, and all the way back. More
than the call alone, then, never less. The floor is curl_loop at the same rate.
"""
import json
import os
import socket
import subprocess
import threading
import time

import model_path
from model_path import at_barrier, chat_base, cpu, read, render, spent

AIM_CPU = 1.0         # of one processor
AIM_KIB = 4096
AIM_ADDED_MS = 20
AIM_GROWTH = 1.2      # x the CPU of a call with fewer workers

MODEL_MS = 200
RATE = 250            # calls a second
WARM, PACED, FREE = 2, 12, 6    # turns
FLEETS = ((10, 5), (100, 2), (1000, 1))    # workers, rounds
LIMIT_S = 1800

NOOPS, DISPATCH_ROUNDS, ROUND_TRIPS = 1000, 3, 100000


def turn(n):
    return [("run_command", {"command": "true"})] if n == 0 else \
        [read(n, offset=n + 1, limit=3)]


def render_all(folder, workers):
    os.makedirs(folder)
    render(folder, "plan.sse", model_path.finish(
        "done", *["H%d: guess %d" % (n, n) for n in range(1, workers + 1)]),
        "call_p")
    last = WARM + PACED + FREE
    for n in range(last + 1):
        render(folder, "%04d.sse" % n, turn(n), "call_b%04d" % n)
    render(folder, "%04d.sse" % (last + 1),
           model_path.finish("refuted", "it is not"),
           "call_b%04d" % (last + 1))


class Server(model_path.Server):
    def __init__(self, b, folder, *args):
        super().__init__(b, folder, *args)
        self.limit.cancel()
        self.limit = threading.Timer(LIMIT_S, self.stop)
        self.limit.start()

    def end(self):
        """Then all that it has to write is written."""
        self.p.stdin.close()
        self.p.stdin = None
        self.p.wait(10)

    def go_on(self, pause_ms):
        self.p.stdin.write("%d\n" % pause_ms)
        self.p.stdin.flush()


class Run(model_path.Run):
    LIMITS = dict(model_path.Run.LIMITS, parallel=1024)

    def wait(self):
        self.p.communicate(timeout=LIMIT_S)


def available_kib():
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1])
    raise ValueError("no MemAvailable")


def added_ms(path, first, last):
    """Of each request of these turns."""
    with open(path, encoding="ascii") as f:
        pairs = [line.split() for line in f]
    found = sorted(int(us) / 1e3 for turn, us in pairs
                   if first < int(turn) <= last)
    if not found:
        raise ValueError("no request of turns %d to %d among %d" % (
            first + 1, last, len(pairs)))
    return found


def p(share, values):
    return values[min(len(values) - 1, int(share * len(values)))]


def pause_ms(workers):
    """What a worker waits besides MODEL_MS, on average."""
    return max(0, int(1000 * workers / RATE - MODEL_MS))


def floor(b, folder, bodies, workers):
    """Added latency and CPU of a request of curl_loop, at the same rate."""
    gaps = os.path.join(b.top, "floor.gaps")
    with Server(b, folder, "-d", str(MODEL_MS), "-p", str(pause_ms(workers)),
                "-g", gaps) as s:
        loop = model_path.curl_loop(b, s, workers, max(
            1, workers * PACED // len(bodies)), bodies)
        s.end()
    added = added_ms(gaps, -1, 10 ** 6)
    return {"floor": added, "floor cpu": loop["cpu_s"] / loop["requests"] * 1e3}


class Window:
    """Between two barriers."""

    def __init__(self, before, after, served):
        (t0, n0, _), used0 = before
        (t1, n1, _), used1 = after
        self.seconds, self.n = t1 - t0, n1 - n0
        self.by_name = spent(used0, used1)
        self.served = served

    def each_ms(self, name=None):
        total = self.by_name[name] if name else sum(self.by_name.values())
        return total / self.n * 1e3

    def share(self, name):
        return self.by_name[name] / self.seconds


def measure(b, repo, workers):
    folder = os.path.join(b.top, "fleet%d.sse" % workers)
    gaps = os.path.join(b.top, "fleet.gaps")
    if not os.path.isdir(folder):
        render_all(folder, workers)
    stops = [WARM, WARM + PACED, WARM + PACED + FREE]
    pauses = [pause_ms(workers), 0, 0]
    idle = available_kib()
    with Server(b, folder, "-d", str(MODEL_MS), "-p", str(pauses[0]), "-g",
                gaps, *["%d:%d" % (n, workers) for n in stops]) as s, \
            Run(b, repo, "bench/fake-model", chat_base(s), "-n", str(workers),
                "--topology", "hypotheses") as run:
        began = time.monotonic()
        seen, served = [], []
        for i, wait in enumerate(pauses):
            seen.append(at_barrier(s, run))
            served.append(cpu(s.p.pid))
            if i == 0:
                started = time.monotonic() - began
                time.sleep(1)
                kib = (idle - available_kib()) / workers
                seen[0] = seen[0][0], model_path.used(run)
                begin = time.clock_gettime(time.CLOCK_MONOTONIC)
                seen[0] = (begin, *seen[0][0][1:]), seen[0][1]
            elif i == 1:
                added = added_ms(gaps, WARM, WARM + PACED)
                begin = time.clock_gettime(time.CLOCK_MONOTONIC)
            s.go_on(wait)
        run.wait()
    paced = Window(seen[0], seen[1], served[1] - served[0])
    freed = Window(((begin, *seen[1][0][1:]), seen[1][1]), seen[2],
                   served[2] - served[1])
    return {"start": started, "kib": kib, "added": added, "paced": paced,
            "free": freed}


def part_fleet(b):
    repo = b.repo("fleet", model_path.REPO)
    t = b.table
    few = os.path.join(b.top, "few.sse")
    render_all(few, 1)
    bodies = model_path.bodies_of(b, repo, few)[WARM:WARM + PACED]
    before = None
    for workers, rounds in FLEETS:
        got = [measure(b, repo, workers) for _ in range(rounds)]
        low = floor(b, few, bodies, workers)
        last = workers == FLEETS[-1][0]
        name = "%d live workers" % workers
        paced = [g["paced"] for g in got]
        freed = [g["free"] for g in got]
        added = sorted(ms for g in got for ms in g["added"])
        t.add(name + ", start of each", [g["start"] * 1e3 / workers
                                         for g in got])
        t.add("  memory of each, by MemAvailable", [g["kib"] for g in got],
              unit="KiB", aim=("value", AIM_KIB) if last else None)
        t.add("  calls a second, paced", [w.n / w.seconds for w in paced],
              unit="1/s")
        t.add("  added to a call, p50 of %d" % len(added), [p(.5, added)],
              floor=("curl loop", [p(.5, low["floor"])]))
        t.add("  added to a call, p95", [p(.95, added)],
              floor=("curl loop", [p(.95, low["floor"])]),
              aim=("value", AIM_ADDED_MS))
        t.add("  processors of the orchestrator", [w.share("foray")
                                                   for w in paced], unit="of 1")
        each = [w.each_ms("foray") for w in paced]
        t.add("  CPU of a call, orchestrator", each,
              floor=("fewer workers", before) if before else
              ("curl loop", [low["floor cpu"]]),
              aim=("ratio", AIM_GROWTH) if before else None)
        before = each
        for who in model_path.OURS[1:]:
            t.add("    " + who, [w.each_ms(who) for w in paced])
        t.add("  calls a second, without a pause",
              [w.n / w.seconds for w in freed], unit="1/s")
        t.add("  processors of the orchestrator",
              [w.share("foray") for w in freed], unit="of 1",
              aim=("value", AIM_CPU))
        t.add("  CPU of a call, all of ours", [w.each_ms() for w in freed])
        t.add("    of this: orchestrator", [w.each_ms("foray")
                                            for w in freed])
        t.add("    of this: foray-host", [w.each_ms("foray-host")
                                          for w in freed])


def measure_dispatch(b, repo):
    """Seconds, and CPU seconds of the orchestrator, for NOOPS subtasks."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        at = "tcp://127.0.0.1:%d" % s.getsockname()[1]
    run = subprocess.Popen(
        [b.program("foray"), "run", "-C", repo, "-t", "sh test.sh", "-m",
         "builtin", "-n", str(NOOPS), "--listen", at, "--insecure-loopback",
         "--local", "0"], env=b.env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    host = subprocess.Popen(
        [b.program("tests/bench/noop_host"), "run", at, str(NOOPS)],
        stdout=subprocess.PIPE, text=True)
    # Nothing may wait forever.
    limit = threading.Timer(120, run.kill)
    limit.start()
    try:
        seen = []
        for what in ("begin", "end"):
            line = host.stdout.readline().split()
            if not line or line[0] != what:
                raise ValueError("noop_host has ended")
            seen.append((float(line[1]), cpu(run.pid)))
        run.wait()
    finally:
        limit.cancel()
        for p in (run, host):
            p.kill()
            p.wait()
        host.stdout.close()
    return [after - before for before, after in zip(*seen)]


def part_dispatch(b):
    """A host in C that starts nothing takes NOOPS subtasks, each ASSIGN, READY,
    TASK, SUMMARY, its receipt and WORKER_EXIT: three times there and back."""
    repo = b.repo("dispatch", model_path.REPO)
    rates, each, low = [], [], []
    for _ in range(DISPATCH_ROUNDS):
        seconds, used = measure_dispatch(b, repo)
        rates.append(NOOPS / seconds)
        each.append(used / NOOPS * 1e3)
        low.append(json.loads(b.run([b.program("tests/bench/noop_host"),
                                     "floor", str(ROUND_TRIPS)]))["rate"])
    t = b.table
    t.add("subtasks dealt out and back", rates, unit="1/s",
          floor=("round trips", low))
    t.add("  CPU of the orchestrator for each", each)
    t.add("  round trips of ZeroMQ alone", low, unit="1/s")


PARTS = {"dispatch": part_dispatch}
EXTRA = {"fleet": part_fleet}
