"""The parts of bench.py that have a model behind them: what a turn costs the
gateway and the worker, and what goes over the wires for it.

Times are taken with model_server.c, which answers at once and stops all workers
at chosen turns (barriers), so that the CPU clocks of our processes can be read
while nothing moves; curl_loop.c sends the same bodies to the same server and is
the floor. What prefix caches make of the prompts is told by tests/fake.
"""
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from fake.client import FakeServer  # noqa: E402  (also finds its neighbours)

sys.path.insert(0, os.path.join(sys.path[0], "fake"))
import chat  # noqa: E402
import rules  # noqa: E402
import wire  # noqa: E402

AIM_TURN_MS = 1.0
AIM_GROWTH = 1.5      # x a turn of the first ones: the context grows by a half
AIM_CACHED = 95.0     # percent
AIM_WIRE = 0.05       # x the request's body

TURN_ROUNDS = 5
STOPS = (10, 50, 100, 200)
CROWDS = ((1, 100), (8, 40), (64, 20))  # workers, turns between the barriers
CROWD_ROUNDS = 3
WARM = 3
CACHE_WORKERS, CACHE_TURNS = 8, 16
APIS = {"openai": "openai-chat", "resp": "openai-responses",
        "anthropic": "anthropic"}

FILES = 6
LINES = 620
TASK = "Mend it, and look at each place that the tests reach. " * 400
REPO = {"test.sh": "echo 'not ok 1 - it'; exit 1\n"}
REPO.update({"big%d.txt" % f: "".join(
    "line %d of file %d: nothing to be seen here, go on\n" % (n, f)
    for n in range(LINES)) for f in range(FILES)})


# --- what the model says ------------------------------------------------------

def read(n, **more):
    return ("read_file", dict(path="big%d.txt" % (n % FILES), **more))


def turn(n, big=True):
    """Some 200 KB at first, then a little: never the same call twice, which
    would be no progress."""
    if n == 0 and big:
        return [read(f) for f in range(FILES)]
    return [read(n, offset=n + 1, limit=3)]


def finish(verdict, *findings):
    return [("finish", {"verdict": verdict, "findings": list(findings)})]


def plan(workers):
    return finish("done", *["H%d: guess %d about big0.txt:%d is the fault" % (
        n, n, n) for n in range(1, workers + 1)])


def render(folder, name, calls, ident):
    """The stream of a reply, for model_server."""
    made = [rules.Call("%s_%d" % (ident, i), n, json.dumps(a))
            for i, (n, a) in enumerate(calls)]
    x = rules.Exchange(
        req={"model": "fake-model", "stream_options": {
            "include_usage": True, "include_obfuscation": False}},
        text="Going on.", calls=made, thinking="", redacted="", stop=None,
        usage=rules.Usage(prompt=60000, output=50), ident=ident, now=0,
        rng=random.Random(ident))
    with open(os.path.join(folder, name), "wb") as f:
        f.write(b"".join(wire.frames(chat.events(x), "event", None)))


def render_all(folder, turns, workers):
    os.makedirs(folder)
    render(folder, "plan.sse", plan(workers), "call_p")
    for n in range(turns):
        render(folder, "%04d.sse" % n, turn(n), "call_b%04d" % n)
    render(folder, "%04d.sse" % turns, finish("refuted", "it is not"),
           "call_b%04d" % turns)


# --- processes ----------------------------------------------------------------

OURS = ("foray", "foray-host", "worker", "foray-wire")


def cpu(pid):
    """Seconds, of all its threads, to the nanosecond: clock_getcpuclockid()."""
    return time.clock_gettime((~pid << 3) | 2)


def tree(top):
    """pid -> name, of a process and all below it."""
    below, names = {}, {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open("/proc/%d/stat" % pid, encoding="utf-8",
                      errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        names[pid] = text[text.index("(") + 1:text.rindex(")")]
        parent = int(text[text.rindex(")") + 2:].split()[1])
        below.setdefault(parent, []).append(pid)
    found, todo = {}, [top]
    while todo:
        pid = todo.pop()
        found[pid] = names.get(pid, "")
        todo += below.get(pid, [])
    return found


class Server:
    """model_server"""

    def __init__(self, b, folder, *args):
        # Nothing may wait forever, when a worker was lost.
        self.limit = threading.Timer(60, self.stop)
        self.p = subprocess.Popen(
            [b.program("tests/bench/model_server"), folder, *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = self.p.stdout.readline().split()[1]
        self.url = "http://127.0.0.1:%s/v1" % port
        self.limit.start()

    def stop(self):
        self.p.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.limit.cancel()
        self.stop()
        self.p.communicate()

    def arrived(self):
        """Seconds, requests and bytes, once all are at the next barrier."""
        line = self.p.stdout.readline().split()
        if len(line) != 5:
            raise ValueError("model_server has ended")
        return float(line[2]), int(line[3]), int(line[4])

    def go_on(self):
        self.p.stdin.write("\n")
        self.p.stdin.flush()


class Run:
    """foray run, with a model behind this URL."""

    LIMITS = {"parallel": 128, "models": {"fake-model": {
        "context": 1000000, "max_output": 4000}}}

    def __init__(self, b, repo, model, bases, *args):
        home = os.path.join(b.top, "home")
        path = os.path.join(home, ".config/foray/settings.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"providers": {name: dict(self.LIMITS, **base)
                                     for name, base in bases.items()}}, f)
        env = dict(b.env, HOME=home, BENCH_KEY="sk-bench")
        env.pop("XDG_CONFIG_HOME", None)
        self.p = subprocess.Popen(
            [b.program("foray"), "run", "-C", repo, "-t", "sh test.sh", "-m",
             model, "--no-builtin", *args, TASK], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait(self):
        """Its end: what the model says fixes nothing."""
        errors = self.p.communicate(timeout=60)[1]
        if self.p.returncode != 1:
            raise ValueError("foray run: status %d: %s" % (
                self.p.returncode, errors[-500:]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.kill()
        self.p.communicate()


def used(run):
    """{pid: (name, CPU seconds)} of ours."""
    found = {}
    for pid, name in tree(run.p.pid).items():
        if name in OURS:
            found[pid] = name, cpu(pid)
    return found


def at_barrier(server, run):
    """(seconds, requests, bytes), and what ours have used."""
    where = server.arrived()
    time.sleep(0.05)  # what they do after sending
    return where, used(run)


def spent(before, after):
    """Seconds between two barriers, by name."""
    found = dict.fromkeys(OURS, 0.0)
    for pid, (name, seconds) in after.items():
        if pid in before:
            found[name] += seconds - before[pid][1]
    return found


def curl_loop(b, server, parallel, times, bodies):
    return json.loads(b.run([b.program("tests/bench/curl_loop"),
                             server.url + "/chat/completions", str(parallel),
                             str(times), *bodies]))


def chat_base(server):
    return {"bench": {"api": "openai-chat", "base_url": server.url,
                      "key_env": "BENCH_KEY"}}


def bodies_of(b, repo, folder):
    """The bodies that one worker sends, in order."""
    keep = folder + ".bodies"
    os.makedirs(keep)
    with Server(b, folder, "-k", keep) as s, \
            Run(b, repo, "bench/fake-model", chat_base(s), "--topology",
                "single") as run:
        run.wait()
    return [os.path.join(keep, n) for n in sorted(os.listdir(keep))]


# --- what a turn costs --------------------------------------------------------

def measure_turns(b, repo, folder, bodies):
    """One run: what was seen at each of STOPS, what the gateway was sent, and
    what the curl loop says."""
    with Server(b, folder, *["%d:1" % n for n in STOPS]) as s, \
            Run(b, repo, "bench/fake-model", chat_base(s), "--topology",
                "single") as run:
        seen = []
        for _ in STOPS:
            seen.append(at_barrier(s, run))
            s.go_on()
        run.wait()
        return seen, sent_up(b), curl_loop(b, s, 1, 1, bodies)


def sent_up(b):
    """Bytes a turn in MODEL messages of turns 10 to 100, from the record: 32 a
    hash, all hashes each time, and the bodies that are new."""
    top = os.path.join(b.env["XDG_STATE_HOME"], "foray/runs")
    path = os.path.join(top, sorted(os.listdir(top))[-1], "run.db")
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    rows = db.execute("SELECT n, tail FROM exchange WHERE turn > 10 AND"
                      " turn <= 100").fetchall()
    sizes = dict(db.execute(
        "SELECT hash, length(CAST(body AS BLOB)) FROM message"))
    db.close()
    hashes = sum(n for n, _ in rows) * 32
    new = sum(sizes[tail[i:i + 32]] for _, tail in rows
              for i in range(0, len(tail), 32))
    return hashes / len(rows) / 1e3, new / len(rows) / 1e3


def part_turn(b):
    """CPU of foray, foray-host, foray-worker and foray-wire together, without
    the server's; a turn is one reply and one read_file of three lines. A run
    is stopped at turns 10, 50, 100 and 200; its start and end don't count."""
    repo = b.repo("model-turn", REPO)
    folder = os.path.join(b.top, "turn.sse")
    render_all(folder, STOPS[-1] + 1, 1)
    bodies = bodies_of(b, repo, folder)[STOPS[0]:STOPS[2]]
    parts = [[] for _ in STOPS[1:]]
    names = {name: [] for name in OURS}
    whole, floor, sizes, hashes, new = [], [], [], [], []
    for _ in range(TURN_ROUNDS):
        seen, up, loop = measure_turns(b, repo, folder, bodies)
        floor.append(loop["cpu_s"] / loop["requests"] * 1e3)
        sizes.append(loop["bytes_out"] / loop["requests"] / 1e3)
        hashes.append(up[0])
        new.append(up[1])
        for i, ((w0, before), (w1, after)) in enumerate(zip(seen, seen[1:])):
            n = w1[1] - w0[1]
            parts[i].append(sum(spent(before, after).values()) / n * 1e3)
        n = seen[2][0][1] - seen[0][0][1]
        by_name = spent(seen[0][1], seen[2][1])
        whole.append(sum(by_name.values()) / n * 1e3)
        for name, seconds in by_name.items():
            names[name].append(seconds / n * 1e3)
    t = b.table
    t.add("curl loop, CPU of a request", floor)
    t.add("turns 10 to 100, CPU of all of ours", whole,
          floor=("curl loop", floor), aim=("value", AIM_TURN_MS))
    for name in OURS:
        t.add("  of this: " + name, names[name])
    for i, n in enumerate(STOPS[1:]):
        t.add("  turns %d to %d" % (STOPS[i], n), parts[i],
              floor=("first ones", parts[0]) if i else None,
              aim=("ratio", AIM_GROWTH) if i else None)
    t.add("  a request's body", sizes, unit="kB")
    t.add("  worker to gateway", [h + n for h, n in zip(hashes, new)],
          unit="kB", floor=("the body", sizes), aim=("ratio", AIM_WIRE))
    t.add("    of this: messages that are new", new, unit="kB")


# --- many workers -------------------------------------------------------------

def measure_crowd(b, repo, folder, workers, turns, bodies):
    """Turns a second and ms of CPU a turn, of ours and of the curl loop."""
    last = WARM + turns
    n = workers * turns
    with Server(b, folder, "%d:%d" % (WARM, workers),
                "%d:%d" % (last, workers)) as s, \
            Run(b, repo, "bench/fake-model", chat_base(s), "-n", str(workers),
                "--topology", "hypotheses") as run:
        _, before = at_barrier(s, run)
        served, began = cpu(s.p.pid), time.monotonic()
        s.go_on()
        (ended, _, _), after = at_barrier(s, run)
        served = cpu(s.p.pid) - served
        s.go_on()
        run.wait()
        loop = curl_loop(b, s, workers, workers, bodies)
    return {"rate": n / (ended - began),
            "cpu": sum(spent(before, after).values()) / n * 1e3,
            "server": served / n * 1e3,
            "loop rate": loop["requests"] / loop["seconds"],
            "loop cpu": loop["cpu_s"] / loop["requests"] * 1e3}


def part_crowd(b):
    """Turns a second of N workers against the curl loop's requests a second."""
    repo = b.repo("model-crowd", REPO)
    t = b.table
    for workers, turns in CROWDS:
        folder = os.path.join(b.top, "crowd%d.sse" % workers)
        render_all(folder, WARM + turns + 1, workers)
        bodies = bodies_of(b, repo, folder)[WARM:WARM + turns]
        rounds = [measure_crowd(b, repo, folder, workers, turns, bodies)
                  for _ in range(CROWD_ROUNDS)]
        got = {key: [r[key] for r in rounds] for key in rounds[0]}
        t.add("%d worker%s, turns a second" % (workers, "s"[:workers > 1]),
              got["rate"], unit="1/s", floor=("curl loop", got["loop rate"]))
        t.add("  curl loop, %d at a time" % workers, got["loop rate"],
              unit="1/s")
        t.add("  CPU of all of ours a turn", got["cpu"],
              floor=("curl loop", got["loop cpu"]))
        t.add("  CPU of the server a turn", got["server"])


# --- bytes and caches ---------------------------------------------------------

def call(name, arguments):
    return {"name": name, "arguments": arguments}


def cache_script():
    look = [{"text": "Looking.", "calls": [call(*c) for c in turn(n, False)]}
            for n in range(CACHE_TURNS)]
    return {"scripts": [
        {"match": "Plan the search", "turns": [
            {"text": "", "calls": [call(*c) for c in plan(CACHE_WORKERS)]}]},
        {"match": "Your hypothesis", "name": "explorer", "turns": look + [
            {"text": "", "calls": [
                call(*c) for c in finish("refuted", "it is not")]}]}]}


def share(records):
    prompt = sum(r["usage"]["prompt"] for r in records)
    return 100 * sum(r["usage"]["cached"] for r in records) / prompt


def cache_records(b, repo, name, kind):
    """What the server says of each accepted request of the workers."""
    with FakeServer(cache_script(), key="sk-bench", latency=20) as s:
        base = {"api": kind, "base_url": s.base(name), "key_env": "BENCH_KEY"}
        with Run(b, repo, name + "/fake-model", {name: base}, "-n",
                 str(CACHE_WORKERS), "--topology", "hypotheses") as run:
            run.wait()
        records = s.stats()["records"]
        if s.errors():
            raise ValueError(s.errors()[-500:])
    return [r for r in records if r.get("accepted") and
            r["script"] == "explorer"]


def part_cache(b):
    """Prompt tokens that were read from the provider's cache, of all. Siblings'
    firsts: what workers 2 to N ask first, all of them at once."""
    repo = b.repo("model-cache", REPO)
    t = b.table
    for name, kind in APIS.items():
        workers = cache_records(b, repo, name, kind)
        firsts = [r for r in workers if r["turn"] == 0]
        later = [r for r in workers if r["turn"] > 0]
        t.add("cached, %s: siblings' firsts" % kind, [share(firsts[1:])],
              unit="%", aim=("at least", AIM_CACHED))
        t.add("cached, %s: later turns" % kind, [share(later)], unit="%",
              aim=("at least", AIM_CACHED))


PARTS = {"turn": part_turn, "crowd": part_crowd, "cache": part_cache}
