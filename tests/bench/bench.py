#!/usr/bin/env python3
"""Measure foray against the floors of the same run, and print one table.

    python3 tests/bench/bench.py --build build [--only PART]... [--json FILE]

Parts: sandbox (a command in the inner sandbox against bare nested bwrap),
start (a worker from ASSIGN to READY), memory (PSS of waiting workers), try (one
candidate of try_edits), batch (candidates a second of a Python check), snapshot (of a 20,000-file tree against cp -a), turn,
crowd and cache (the model path, see model_path.py), rate (full sandboxes a
second against bare bwrap), tree (a workspace over 50,000 files, and the patch of
what changed in it), gate (verdicts on everyday commands), first (the first
candidate in a tree of 2,000 files), dispatch (no-op subtasks a second). Only when asked for:
thousand (memory of 1,000 idle workers) and fleet (1,000 live ones, see
fleet.py).
Times mean little on a busy machine: each part waits some seconds for a quiet
moment, and the table says where there was none. What has an aim ends with "met"
or "MISSED aim". Exit status 1 when something could not be measured; a missed
aim is a result. Nothing outside a temporary directory ($TMPDIR) is touched.
"""
import argparse
import json
import os
import queue
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import first
import fleet
import model_path

AIM_INNER = 1.2  # x bare nested bwrap
AIM_START_MS = 60
AIM_MEMORY_KIB = 1536
AIM_THOUSAND_KIB = 2560
AIM_RATE = 0.8  # of bare bwrap
AIM_READY_MS = 30
AIM_VERDICT_US = 50
AIM_CANDIDATES = 54  # a second, two at a time; 3 x the prototype's best
AIM_OVERHEAD_MS = 12  # of a candidate, besides its own process

SANDBOX_ROUNDS = 100
START_RUNS = 6
START_WORKERS = 4
MEMORY_WORKERS = 50
MEMORY_RUN = 17
CANDIDATES = 40
TRY_ROUNDS = 5
BATCH_ROUNDS = 4
BATCH_BARE = 24
TREE_FILES = 20000
TREE_DIRS = 200
SNAPSHOT_ROUNDS = 3
SNAPSHOT_ENOUGH_S = 60
QUIET_WAIT_S = 20
THOUSAND = 1000
RATE_S = 12
BIG_FILES = 50000
BIG_DIRS = 500
READY_ROUNDS = 15
CHANGED = (10, 1000)


class Unmeasured(Exception):
    pass


class Table:
    def __init__(self):
        self.rows = []
        self.failed = []
        self.busy = []

    def add(self, name, samples, unit="ms", floor=None, aim=None):
        """floor: (name, samples): the ratio of medians. aim: ("ratio", "value"
        or "at least", limit)."""
        median = statistics.median(samples)
        ratio = median / statistics.median(floor[1]) if floor else None
        row = {"name": name, "median": median, "min": min(samples),
               "n": len(samples), "unit": unit, "ratio": ratio,
               "floor": floor[0] if floor else None, "aim": "", "met": None}
        if aim:
            kind, limit = aim
            row["met"] = median >= limit if kind == "at least" else \
                (ratio if kind == "ratio" else median) <= limit
            row["aim"] = "aim %s%s %s: %s" % (
                ">= " if kind == "at least" else "", limit,
                "x" if kind == "ratio" else unit,
                "met" if row["met"] else "MISSED aim")
        self.rows.append(row)

    def show(self):
        print("%-44s %9s %9s %5s  %s" % ("", "median", "min", "n", "ratio"))
        for r in self.rows:
            ratio = "%.2f x %s" % (r["ratio"], r["floor"]) if r["ratio"] else ""
            line = "%-44s %9.2f %9.2f %5d  %-30s %s" % (
                "%s, %s" % (r["name"], r["unit"]), r["median"], r["min"],
                r["n"], ratio, r["aim"])
            print(line.rstrip())
        if self.busy:
            print("The machine was busy with other things before: %s. Times "
                  "are too long then." % ", ".join(self.busy))
        for what in self.failed:
            print("NOT MEASURED: " + what)


class Bench:
    def __init__(self, build, top):
        self.build = build
        self.top = top
        self.table = Table()
        self.outer_bare = None
        self.inner_bare = None
        self.inner_bare_2 = None
        self.env = dict(os.environ, XDG_STATE_HOME=os.path.join(top, "state"),
                        XDG_CACHE_HOME=os.path.join(top, "cache"))
        # Neither a key nor a person's settings belong into a measurement.
        for name in list(self.env):
            if name.endswith("_API_KEY") or name.startswith("FORAY_"):
                del self.env[name]

    def program(self, name):
        path = os.path.join(self.build, name)
        if not os.access(path, os.X_OK):
            raise Unmeasured("%s is not built" % path)
        return path

    def run(self, argv, ok=(0,), limit=600, env=None):
        p = subprocess.run(argv, env={**self.env, **(env or {})},
                           stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=limit, text=True, errors="replace")
        if p.returncode not in ok:
            raise Unmeasured("%s: status %d: %s" % (
                " ".join(argv[:3]), p.returncode, p.stderr.strip()[-500:]))
        return p.stdout

    def repo(self, name, files):
        """A git repository with one commit."""
        path = os.path.join(self.top, name)
        for file, text in files.items():
            at = os.path.join(path, file)
            os.makedirs(os.path.dirname(at), exist_ok=True)
            with open(at, "w", encoding="utf-8") as f:
                f.write(text)
        commit(path)
        return path


def commit(path):
    quiet = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0",
             "-C", path]
    for args in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "bench"]):
        subprocess.run(quiet + args, check=True, stdin=subprocess.DEVNULL)


def settle():
    """Wait for a quiet moment, not forever; True when there was one."""
    until, calm = time.monotonic() + QUIET_WAIT_S, 0
    while calm < 10 and time.monotonic() < until:
        with open("/proc/loadavg", encoding="ascii") as f:
            running = int(f.read().split()[3].split("/")[0])
        calm = calm + 1 if running <= 2 else 0  # we are one of them
        time.sleep(0.1)
    return calm >= 10


# --- a run that is watched ----------------------------------------------------

class Watched:
    """foray run --json; events come as they happen."""

    def __init__(self, bench, args):
        self.errors = tempfile.TemporaryFile()
        self.p = subprocess.Popen(
            [bench.program("foray"), "run", "--json", "-m", "builtin"] + args,
            env=bench.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=self.errors, text=True)
        self.events = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            try:
                self.events.put(json.loads(line))
            except ValueError:
                pass
        self.events.put(None)

    def next(self, until):
        """The next event; None at the end or when the time is over."""
        try:
            return self.events.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            return None

    def stop(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGINT)
        try:
            self.p.wait(20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace").strip()[-500:]


# --- the parts ----------------------------------------------------------------

def part_sandbox(b):
    out = b.run([b.program("tests/bench/sandbox"), str(SANDBOX_ROUNDS)])
    got = {}
    for line in out.splitlines():
        got.update(json.loads(line))
    b.outer_bare, b.inner_bare = got["outer_bare"], got["inner_bare"]
    b.inner_bare_2 = got["inner_bare_2"]
    t = b.table
    t.add("bare nested bwrap, same flags and mounts", got["inner_bare"])
    t.add("bare nested bwrap, fewest mounts", got["inner_short"])
    t.add("command in the inner sandbox", got["inner"],
          floor=("bare nested", got["inner_bare"]), aim=("ratio", AIM_INNER))
    t.add("  the same", got["inner"],
          floor=("fewest mounts", got["inner_short"]))
    t.add("bare outer bwrap, same flags and mounts", got["outer_bare"])
    t.add("outer sandbox with its overlay", got["outer"],
          floor=("bare outer", got["outer_bare"]))


BUG = {
    "mean.py": "def mean(v):\n    return sum(v) / (len(v) + 1)\n",
    "test_mean.py":
        "import unittest\n\nfrom mean import mean\n\n\n"
        "class T(unittest.TestCase):\n"
        "    def test_mean(self):\n"
        "        self.assertEqual(mean([2, 4, 6]), 4)\n",
}


def part_start(b):
    repo = b.repo("start", BUG)
    by_kind = {"explore": [], "verify": []}
    for _ in range(START_RUNS):
        run = Watched(b, ["-C", repo, "-t", "python3 -m unittest", "-n",
                          str(START_WORKERS), "--all"])
        until = time.monotonic() + 120
        while (e := run.next(until)) is not None:
            if e.get("event") == "worker_started" and e["kind"] in by_kind:
                by_kind[e["kind"]].append(e["start_ms"])
        errors = run.stop()
        if not any(by_kind.values()):
            raise Unmeasured("no worker started: " + errors)
    floor = ("bare outer", b.outer_bare) if b.outer_bare else None
    both = by_kind["explore"] + by_kind["verify"]
    b.table.add("worker, ASSIGN to READY", both, floor=floor,
                aim=("value", AIM_START_MS))
    for kind, samples in by_kind.items():
        if samples:
            b.table.add("  of these: %s" % kind, samples)


def processes():
    """pid -> (parent, name)"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid, encoding="utf-8",
                      errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        found[int(pid)] = (int(text[text.rindex(")") + 2:].split()[1]), name)
    return found


def pss_kib(pid):
    """None: it is gone."""
    try:
        with open("/proc/%d/smaps_rollup" % pid, encoding="utf-8") as f:
            for line in f:
                if line.startswith("Pss:"):
                    return int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


def measure_worker(top, procs, children):
    """KiB of (the worker and the bwrap around it, bwrap of its command); None
    for what went away meanwhile."""
    outer, inner = [], []
    todo = [(top, False)]
    while todo:
        pid, below = todo.pop()
        name = procs[pid][1] if pid in procs else ""
        if below and name != "bwrap":
            continue  # the test command's own
        (inner if below else outer).append(pss_kib(pid))
        todo += [(c, below or name != "bwrap") for c in children.get(pid, [])]
    return [None if None in v or not v else sum(v) for v in (outer, inner)]


def measure_workers(pids):
    procs, children, workers, commands = processes(), {}, [], []
    for pid, (parent, _) in procs.items():
        children.setdefault(parent, []).append(pid)
    for pid in pids:
        outer, inner = measure_worker(pid, procs, children)
        workers += [outer] if outer else []
        commands += [inner] if inner else []
    return workers, commands


def waiting_workers(run, n):
    """The pids of n exploring workers, or as many as there are."""
    alive, until = {}, time.monotonic() + 90
    while len(alive) < n:
        e = run.next(until)
        if e is None:
            break
        if e.get("event") == "worker_started" and e.get("kind") == "explore":
            alive[e["worker"]] = e["pid"]
        elif e.get("event") == "worker_gone":
            alive.pop(e.get("worker"), None)
    return list(alive.values())


def part_memory(b):
    # The original fails at once, everything else waits. 60 files, so that
    # there are candidates for everybody.
    line = "    return (a + %d) * b - c\n"
    files = {"lib/m%02d.py" % i: "def f%d(a, b, c):\n    if a > b:\n"
             "        return c - %d\n" % (i, i) + line % i for i in range(60)}
    files["lib/__init__.py"] = ""
    files["sum"] = ""
    files["check.sh"] = ("[ \"$(cat lib/*.py | cksum)\" = \"$(cat sum)\" ] || "
                         "exec sleep 300\necho 'FAILED'; exit 1\n")
    repo = b.repo("memory", files)
    total = subprocess.run("cat lib/*.py | cksum", shell=True, cwd=repo,
                           check=True, stdout=subprocess.PIPE, text=True).stdout
    with open(os.path.join(repo, "sum"), "w", encoding="utf-8") as f:
        f.write(total)
    # The built-in model has at most 24 hypotheses, and so workers, a run.
    runs, pids = [], []
    try:
        while len(pids) < MEMORY_WORKERS and len(runs) < 4:
            n = min(MEMORY_RUN, MEMORY_WORKERS - len(pids))
            runs.append(Watched(b, ["-C", repo, "-t", "sh check.sh", "-n",
                                    str(n), "make check.sh pass"]))
            pids += waiting_workers(runs[-1], n)
        time.sleep(3)  # the last ones settle
        workers, commands = measure_workers(pids)
    finally:
        errors = [run.stop() for run in runs]
    if len(workers) < MEMORY_WORKERS * 0.9:
        raise Unmeasured("%d of %d workers were there: %s" % (
            len(workers), MEMORY_WORKERS, errors[-1]))
    mean = statistics.mean(workers)
    b.table.add("waiting worker and its bwrap, mean of %d" % len(workers),
                [mean] * len(workers), unit="KiB PSS",
                aim=("value", AIM_MEMORY_KIB))
    b.table.rows[-1]["min"] = min(workers)
    if commands:
        b.table.add("  bwrap of the command it waits for", commands,
                    unit="KiB PSS")


def part_try(b):
    text = "".join("line %d\n" % i for i in range(100))
    repo = b.repo("try", {"file.txt": text, "test.sh": "exit 1\n"})

    def edits(n):
        # A space more: nothing that a check could see.
        one = [{"changes": [{"path": "file.txt", "old": "line %d\n" % (i + 50),
                             "new": "line %d \n" % (i + 50)}]}
               for i in range(n)]
        return json.dumps({"check": "true", "edits": one})

    def once(n):
        begin = time.monotonic()
        out = b.run([b.program("foray"), "tool", "-C", repo, "-t",
                     "sh test.sh", "try_edits", edits(n)])
        spent = (time.monotonic() - begin) * 1e3
        result = json.loads(out)["result"]
        if isinstance(result, str):
            result = json.loads(result)
        if len(result["passed"]) != n:
            raise Unmeasured("try_edits: %d of %d passed: %s" % (
                len(result["passed"]), n, out[:500]))
        return spent

    once(1)  # the snapshot
    samples, whole = [], []
    for _ in range(TRY_ROUNDS):
        few, many = once(1), once(CANDIDATES + 1)
        whole.append(many)
        samples.append((many - few) / CANDIDATES)
    b.table.add("one candidate of try_edits", samples,
                floor=("bare nested", b.inner_bare) if b.inner_bare else None,
                aim=("value", AIM_OVERHEAD_MS))
    if b.inner_bare_2:
        b.table.add("  bare nested bwrap, two at a time", b.inner_bare_2)
        b.table.add("  one candidate again", samples,
                    floor=("two at a time", b.inner_bare_2))
    b.table.add("foray tool try_edits with %d" % (CANDIDATES + 1), whole)


BATCH_TESTS = 20
BATCH_RUNNERS = (("unittest", "python3 -m unittest"),
                 ("pytest", "%s -m pytest -q"))


def batch_files():
    """18 of 20 tests pass; the edits are all of the line that is wrong."""
    tests = ["import unittest\n\nfrom calc import add, double\n\n\n"
             "class T(unittest.TestCase):\n"]
    for i in range(BATCH_TESTS - 2):
        tests.append("    def test_double_%d(self):\n        self.assertEqual("
                     "double(%d), %d)\n\n" % (i, i, 2 * i))
    for i in range(2):
        tests.append("    def test_add_%d(self):\n        self.assertEqual("
                     "add(%d, 5), %d)\n\n" % (i, i, i + 5))
    return {"calc.py": "def add(a, b):\n    return a - b\n\n\n"
            "def double(a):\n    return a * 2\n",
            "test_calc.py": "".join(tests).rstrip() + "\n"}


def python_with_pytest():
    for py in ("python3", "/usr/bin/python3"):
        if subprocess.run([py, "-c", "import pytest"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0:
            return py
    return None


def bare_rate(argv, cwd, n):
    """Bare processes a second, two at a time, nothing around them."""
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    begin, running = time.monotonic(), []
    for i in range(n):
        if len(running) == 2:
            running.pop(0).wait()
        running.append(subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for p in running:
        p.wait()
    return n / (time.monotonic() - begin)


def part_batch(b):
    repo = b.repo("batch", batch_files())

    def seconds(check, n):
        edits = [{"changes": [{"path": "calc.py", "old": "return a - b",
                               "new": "return a - b * %d" % (i + 2)}]}
                 for i in range(n)]
        begin = time.monotonic()
        out = b.run([b.program("foray"), "tool", "-C", repo, "-t",
                     "true", "try_edits",
                     json.dumps({"check": check, "edits": edits})])
        spent = time.monotonic() - begin
        result = json.loads(json.loads(out)["result"])
        if result["tried"] != n or result["passed"]:
            raise Unmeasured("try_edits: %s" % out[:500])
        return spent

    def rate(check, few, many):
        return (many - few) / (seconds(check, many) - seconds(check, few))

    for name, command in BATCH_RUNNERS:
        if "%s" in command:
            py = python_with_pytest()
            if py is None:
                b.table.failed.append("batch: there is no pytest")
                continue
            command %= py
        seconds(command, 1)  # the snapshot
        got = {"bare": [], "plain": [], "batch": [], "all": []}
        for _ in range(BATCH_ROUNDS):
            got["bare"].append(bare_rate(command.split(), repo, BATCH_BARE))
            # A shell's command: never in a batch.
            got["plain"].append(rate(command + "; exit $?", 1, 25))
            got["batch"].append(rate(command, 40, 200))
            got["all"].append(100 / seconds(command, 100))
        floor = ("bare processes", got["bare"])
        t = b.table
        t.add("%s: bare processes, two at a time" % name, got["bare"],
              unit="a second")
        t.add("  candidates, each in its sandbox", got["plain"],
              unit="a second", floor=floor)
        two = [2e3 / p - 2e3 / q for p, q in zip(got["plain"], got["bare"])]
        t.add("    besides the process", two, unit="ms each, of one of two")
        t.add("  candidates in batches", got["batch"], unit="a second",
              floor=floor, aim=("at least", AIM_CANDIDATES))
        t.add("  a call with 100, start and proofs included", got["all"],
              unit="a second", floor=floor)


def part_snapshot(b):
    rand = random.Random(1)
    tree = os.path.join(b.top, "tree")
    for d in range(TREE_DIRS):
        folder = os.path.join(tree, "d%02d" % (d // 10), "e%03d" % d)
        os.makedirs(folder)
        for i in range(TREE_FILES // TREE_DIRS):
            with open(os.path.join(folder, "f%03d" % i), "wb") as f:
                f.write(rand.randbytes(rand.randint(100, 8000)))
    commit(tree)
    prog = b.program("tests/bench/snapshot")
    got = {"copy": [], "first": [], "unchanged": [], "changed": []}
    changed = os.path.join(tree, "d00", "e000", "f000")

    def once(name, store, reused):
        ms, same = b.run([prog, tree, store]).split()
        if int(same) != reused:
            raise Unmeasured("snapshot: %s: reused is %s" % (name, same))
        got[name].append(float(ms))

    until = time.monotonic() + SNAPSHOT_ENOUGH_S
    for i in range(SNAPSHOT_ROUNDS):
        if i > 0 and time.monotonic() > until:
            break
        copy = os.path.join(b.top, "copy%d" % i)
        begin = time.monotonic()
        subprocess.run(["cp", "-a", tree, copy], check=True)
        got["copy"].append((time.monotonic() - begin) * 1e3)
        store = os.path.join(b.top, "store%d" % i)
        once("first", store, 0)
        once("unchanged", store, 1)
        with open(changed, "ab") as f:
            f.write(b"more %d\n" % i)
        once("changed", store, 0)
        # Nothing is removed yet: ext4 goes slowly around inodes that were
        # freed in the last seconds.
    t = b.table
    floor = ("cp -a", got["copy"])
    t.add("cp -a of %d files" % TREE_FILES, got["copy"])
    t.add("snapshot, first", got["first"], floor=floor)
    t.add("snapshot, nothing changed", got["unchanged"], floor=floor)
    t.add("snapshot, one file changed", got["changed"], floor=floor)


# A disk's file system has a say of its own in how fast directories are made:
# ext4 without a journal, for one, looks at each inode freed in the last minutes
# before it takes a free one. The share on it is told, the aim is the sandbox's.
RATE_DIRS = (("/dev/shm", "on tmpfs", True), ("/tmp", "on /tmp", False))


def part_rate(b):
    t = b.table
    for top, where, is_aim in RATE_DIRS:
        got = json.loads(b.run([b.program("tests/bench/full"), "rate",
                                str(RATE_S)], env={"TMPDIR": top}))
        t.add("bare outer bwrap, all processors, " + where, got["bare"],
              unit="a second")
        t.add("full sandboxes, all processors, " + where, got["product"],
              unit="a second", floor=("bare", got["bare"]))
        # Each turn against the bare one right after it: others come and go.
        t.add("  share of bare, " + where,
              [p / q for p, q in zip(got["product"], got["bare"])],
              unit="of 1", aim=("at least", AIM_RATE) if is_aim else None)


def part_thousand(b):
    top = os.path.join(b.top, "thousand")
    os.mkdir(top)
    out = b.run([b.program("tests/bench/thousand"), str(THOUSAND),
                 b.program("foray-host"), top])
    got = json.loads(out)
    name = "idle worker in its sandbox, %d at once" % got["workers"]
    if got["group_kib"]:
        b.table.add(name, [got["group_kib"]], unit="KiB charged",
                    aim=("value", AIM_THOUSAND_KIB))
    b.table.add("  by the fall of MemAvailable", [got["kib"]], unit="KiB",
                aim=("value", AIM_THOUSAND_KIB))
    b.table.add("  start of all of them", [got["start_s"] * 1e3 /
                                           got["workers"]],
                unit="ms each")


def make_tree(tree, files, dirs):
    rand = random.Random(2)
    for d in range(dirs):
        folder = os.path.join(tree, "d%02d" % (d // 10), "e%03d" % d)
        os.makedirs(folder)
        for i in range(files // dirs):
            with open(os.path.join(folder, "f%03d" % i), "wb") as f:
                f.write(b"line %d\n" % rand.getrandbits(30) * 20)
    commit(tree)


def timed(argv):
    begin = time.monotonic()
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [(time.monotonic() - begin) * 1e3]


def part_tree(b):
    tree = os.path.join(b.top, "big")
    make_tree(tree, BIG_FILES, BIG_DIRS)
    full = b.program("tests/bench/full")
    copy = timed(["cp", "-a", tree, os.path.join(b.top, "big-copy")])
    worktree = timed(["git", "-C", tree, "worktree", "add", "--detach",
                      os.path.join(b.top, "big-worktree")])
    if os.geteuid() == 0:
        # A snapshot belongs to the workers' uid.
        b.run(["chown", "-R", "61184:61184", tree])
    t = b.table
    ready = json.loads(b.run([full, "ready", tree, str(READY_ROUNDS)]))["ready"]
    t.add("workspace of %d files and a command" % BIG_FILES, ready,
          floor=("git worktree", worktree), aim=("value", AIM_READY_MS))
    t.add("  git worktree add", worktree)
    t.add("  cp -a", copy)
    got = json.loads(b.run([full, "patch", tree] + [str(n) for n in CHANGED]))
    few, many = (got["patch %d" % n] for n in CHANGED)
    for n in CHANGED:
        t.add("patch of %d changed files" % n, got["patch %d" % n])
        t.add("  finding them", got["list %d" % n])
    # What it costs besides a fixed part (two runs of git) follows what
    # changed, not the tree.
    each = (statistics.median(many) - statistics.median(few)) / \
        (CHANGED[1] - CHANGED[0])
    t.add("  each changed file", [each])


# Not in a plain run: some minutes.
EXTRA = {"thousand": part_thousand, **fleet.EXTRA}

def part_gate(b):
    everyday = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            "../cases/everyday.txt")
    us = [float(x) for x in b.run([b.program("tests/bench/gate"),
                                   everyday]).split()]
    b.table.add("verdict on an everyday command", us, unit="us",
                aim=("value", AIM_VERDICT_US))
    b.table.add("the slowest of them", [max(us)], unit="us")


PARTS = {"sandbox": part_sandbox, "start": part_start, "memory": part_memory,
         "try": part_try, "batch": part_batch, "snapshot": part_snapshot, "rate": part_rate,
         "tree": part_tree, "gate": part_gate, **model_path.PARTS,
         **first.PARTS, **fleet.PARTS}



def remove(path):
    """Also what an overlay left with mode 000."""
    def again(function, at, _):
        try:
            os.chmod(at, 0o700)
            function(at)
        except OSError:
            pass
    shutil.rmtree(path, onerror=again)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--build", default="build")
    ap.add_argument("--only", action="append", choices=sorted([*PARTS, *EXTRA]))
    ap.add_argument("--json", metavar="FILE")
    args = ap.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    top = tempfile.mkdtemp(prefix="foray-bench-")
    os.chmod(top, 0o755)  # started as root, another uid works in there
    bench = Bench(os.path.abspath(args.build), top)
    try:
        for name, part in [*PARTS.items(), *EXTRA.items()]:
            if name not in (args.only or PARTS):
                continue
            print("bench: %s ..." % name, file=sys.stderr, flush=True)
            if not settle():
                bench.table.busy.append(name)
            try:
                part(bench)
            except (Unmeasured, OSError, ValueError, KeyError, TypeError,
                    subprocess.SubprocessError) as e:
                bench.table.failed.append("%s: %s" % (name, e))
        bench.table.show()
        sys.stdout.flush()  # removing may take longer than measuring
    finally:
        remove(top)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(bench.table.rows, f, indent=1)
    return 1 if bench.table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
