#!/usr/bin/env python3
"""Let foray loose on the bugs of tests/bugs, and print what becomes of them.

    python3 tests/bench/repair.py --build build [-n 2] [--limit 60]
        [--json FILE] [NAME...]

Each bug becomes a git repository of its own; `foray run` gets its test command,
the built-in model, no key and no settings. What it delivers is put on a fresh
copy and the tests are run there, with the test files as they were. Outcomes:

    fixed     exit status 0, and the tests pass with the patch
    unfixed   exit status 1, no patch: all that it had was ruled out
    time      exit status 3, no patch: the time limit ended it
    WRONG     it claims a fix that does not hold, or leaves a patch without claim
    FAILED    any other end; nothing was measured

Columns: tried is the number of candidates that were tried (or begun) when the
run ended, rank what had been tried when the first one passed, "as ours" whether
the patch leads to the same text as fix.patch, blanks aside.

A bug that is not fixed is a result. Exit status 1: a fix did not hold, or
something could not be measured. Nothing outside a temporary directory ($TMPDIR)
is touched; bugs whose toolchain is missing are skipped, and said.
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUGS = os.path.join(os.path.dirname(HERE), "bugs")

AIM_FIXED = 0.75   # of the bugs that one edit mends
GRACE_S = 30       # until a run that does not end is interrupted
TEST_S = 60        # one run of a bug's tests, when its patch is checked
REPORT_S = 5       # between two words about a run that goes on

TOOLS = {"python": ["python3"], "javascript": ["node"], "shell": ["sh"],
         "c": ["cc", "make"], "go": ["go"], "java": ["java", "javac"]}
ENDS = {1: "unfixed", 3: "time"}
TEST_FILE = re.compile(r"(^|/)(tests?|spec)/|(^|/)test_|[._]test\.|"
                       r"(^|/)run_tests")


class Bug:
    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(BUGS, name)
        with open(os.path.join(self.folder, "bug.json"), encoding="utf-8") as f:
            facts = json.load(f)
        self.test, self.kind = facts["test"], facts["kind"]
        self.language = facts["language"]
        self.single = facts["fixable"] or facts.get("edits") == 1

    def missing(self):
        """The programs that it needs and that are not there."""
        words = self.test.split()
        while words and "=" in words[0]:
            words.pop(0)
        wanted = TOOLS.get(self.language, []) + words[:1]
        return sorted({w for w in wanted if not shutil.which(w)})

    def copy(self, place, patch=None):
        """A git repository of it; False when the patch does not apply."""
        shutil.copytree(os.path.join(self.folder, "repo"), place)
        git(place, "init", "-q")
        git(place, "add", "-A")
        git(place, "commit", "-q", "-m", "a program with a bug")
        return patch is None or git(place, "apply", patch, check=False) == 0


def git(place, *args, check=True):
    return subprocess.run(
        ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost",
         "-c", "gc.auto=0", "-C", place, *args], check=check,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if not check else None).returncode


def environment(top):
    """Neither a key nor a person's settings belong into a measurement."""
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1",
               XDG_STATE_HOME=os.path.join(top, "state"),
               XDG_CACHE_HOME=os.path.join(top, "cache"),
               XDG_CONFIG_HOME=os.path.join(top, "config"))
    for name in list(env):
        if name.endswith("_API_KEY") or name.startswith("FORAY_"):
            del env[name]
    # Inside `node --test` this variable changes what another one prints.
    env.pop("NODE_TEST_CONTEXT", None)
    return env


# --- one run ------------------------------------------------------------------

class Run:
    """foray run --json; its events are read as they come."""

    def __init__(self, argv, env, word):
        self.word = word      # called now and then with a text about the run
        self.finished = {}
        self.folder = None
        self.batches = {}     # worker -> (done, total) of what it is trying
        self.tried = 0
        self.started = time.monotonic()
        self.errors = tempfile.TemporaryFile()
        self.p = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=self.errors,
                                  text=True, start_new_session=True)

    def follow(self, limit):
        """Seconds until it ended; one that goes on for longer is ended."""
        timers = [threading.Timer(limit, self.send, [signal.SIGINT]),
                  threading.Timer(limit + GRACE_S, self.send, [signal.SIGKILL])]
        for timer in timers:
            timer.start()
        try:
            self.read()
            self.p.wait()
        finally:
            for timer in timers:
                timer.cancel()
            self.send(signal.SIGKILL)
            self.p.wait()
        return time.monotonic() - self.started

    def read(self):
        said = self.started
        for line in self.p.stdout:
            try:
                self.take(json.loads(line))
            except ValueError:
                continue
            if time.monotonic() - said >= REPORT_S:
                said = time.monotonic()
                self.word("%d tried, %d s" % (self.count(),
                                              said - self.started))

    def send(self, number):
        """An interrupt is for foray alone: it ends what it has started."""
        if self.p.poll() is None:
            if number == signal.SIGKILL:
                os.killpg(self.p.pid, number)
            else:
                self.p.send_signal(number)

    def take(self, event):
        name, worker = event.get("event"), event.get("worker")
        if name == "run_started":
            self.folder = event["dir"]
        elif name == "run_finished":
            self.finished = event
        elif name == "progress" and event.get("what") == "try":
            self.batches[worker] = (event["done"], event["total"])
        elif name == "tool_call" and event.get("tool") == "try_edits":
            # Candidates after the first that passes are not tried any more.
            self.tried += self.batches.pop(worker, (0, 0))[0]

    def count(self):
        return self.tried + sum(done for done, _ in self.batches.values())

    def complaint(self):
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace").strip()[-500:]


def rank(folder):
    """How many candidates had been tried when the first passed; None: none."""
    results = []
    sessions = os.path.join(folder, "sessions")
    for file in os.listdir(sessions):
        with open(os.path.join(sessions, file), encoding="utf-8") as f:
            for line in f:
                row = json.loads(line)
                if row.get("role") == "tool" and row.get("name") == "try_edits":
                    results.append((row["t"], row["content"]))
    before = 0
    for _, content in sorted(results):
        try:
            result = json.loads(content)
            tried, passed = result["tried"], result["passed"]
        except (ValueError, KeyError):
            continue
        if passed:
            return before + min(passed)
        before += tried
    return None


# --- does it hold? ------------------------------------------------------------

def passes(bug, place, env):
    with subprocess.Popen(["sh", "-c", bug.test], cwd=place, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL,
                          start_new_session=True) as p:
        try:
            return p.wait(TEST_S) == 0
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return False


def restore_tests(bug, place):
    """The patch may have changed them; what counts is what they were."""
    repo = os.path.join(bug.folder, "repo")
    for base, _, files in os.walk(repo):
        for file in files:
            path = os.path.relpath(os.path.join(base, file), repo)
            if TEST_FILE.search(path):
                target = os.path.join(place, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(os.path.join(repo, path), target)


def sources(place):
    found = {}
    for base, folders, files in os.walk(place):
        folders[:] = [f for f in folders if f != ".git"]
        for file in files:
            path = os.path.join(base, file)
            with open(path, "rb") as f:
                found[os.path.relpath(path, place)] = b"".join(f.read().split())
    return found


def holds(bug, patch, place, env):
    """("" or what is wrong, the same as our own fix?)"""
    if not os.path.isfile(patch):
        return "there is no patch", False
    if not bug.copy(place, patch):
        return "the patch does not apply", False
    ours = place + "-ours"
    bug.copy(ours, os.path.join(bug.folder, "fix.patch"))
    same = sources(place) == sources(ours)
    restore_tests(bug, place)
    if not passes(bug, place, env):
        return "the tests fail with the patch", same
    return "", same


def measure(bug, args, top, word):
    """A row of the table."""
    place = os.path.join(top, bug.name)
    env = environment(top)
    bug.copy(place)
    run = Run([args.foray, "run", "--json", "-C", place, "-t", bug.test, "-n",
               str(args.n), "-m", "builtin", "--max-time", "%ds" % args.limit],
              env, word)
    seconds = run.follow(args.limit + GRACE_S)
    status, patch = run.p.returncode, run.finished.get("patch") or ""
    row = {"name": bug.name, "language": bug.language, "kind": bug.kind,
           "single": bug.single, "seconds": seconds, "tried": run.count(),
           "rank": None, "same": None, "note": "", "status": status}
    if run.folder and os.path.isdir(os.path.join(run.folder, "sessions")):
        row["rank"] = rank(run.folder)
    if status == 0:
        row["note"], row["same"] = holds(bug, patch, place + "-check", env)
        row["outcome"] = "WRONG" if row["note"] else "fixed"
        row["edit"] = run.finished.get("reason")
    elif status in ENDS:
        row["outcome"] = "WRONG" if patch else ENDS[status]
        row["note"] = "a patch without a claim" if patch else ""
    else:
        row["outcome"] = "FAILED"
        row["note"] = "status %s: %s" % (status, run.complaint())
    return row


# --- what is shown ------------------------------------------------------------

FORM = "%-14s %-10s %-19s %-5s  %-8s %7s %6s %6s  %s"
HEAD = FORM % ("name", "language", "kind", "edits", "outcome", "seconds",
               "tried", "rank", "as ours")


def shown(row):
    def or_dash(value):
        return "-" if value is None else value
    same = {True: "yes", False: "no", None: ""}[row["same"]]
    if row["outcome"] == "fixed" and not row["single"]:
        same += " (one edit was not thought to do)"
    return (FORM % (row["name"], row["language"], row["kind"],
                    "1" if row["single"] else "more", row["outcome"],
                    "%.1f" % row["seconds"], row["tried"],
                    or_dash(row["rank"]), same or row["note"])).rstrip()


def word_for(label):
    """Only a person at a terminal wants to see each moment."""
    def word(text):
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K%s: %s" % (label, text))
            sys.stderr.flush()
    return word


def clear_word():
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def share(part, whole):
    return "%d of %d" % (part, whole) if whole else "-"


def groups(rows, key):
    print("\n%-19s  %-16s  %-18s  %s" % ("by " + key, "one edit: fixed",
                                         "more: honest end", "median s"))
    found = collections.defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    for name in sorted(found):
        one = [r for r in found[name] if r["single"]]
        more = [r for r in found[name] if not r["single"]]
        fixed = [r["seconds"] for r in one if r["outcome"] == "fixed"]
        honest = [r for r in more if r["outcome"] in ENDS.values()]
        print(("%-19s  %-16s  %-18s  %s" % (
            name, share(len(fixed), len(one)), share(len(honest), len(more)),
            "%.1f" % statistics.median(fixed) if fixed else "")).rstrip())


def summary(rows, skipped, args, loads):
    measured = [r for r in rows if r["outcome"] != "FAILED"]
    groups(measured, "kind")
    groups(measured, "language")
    one = [r for r in measured if r["single"]]
    fixed = [r for r in one if r["outcome"] == "fixed"]
    more = [r for r in measured if not r["single"]]
    print()
    if one:
        part = len(fixed) / len(one)
        print("%s single-edit bugs fixed within %d s with -n %d: %.0f %% "
              "(aim %.0f %%: %s)" % (
                  share(len(fixed), len(one)), args.limit, args.n, 100 * part,
                  100 * AIM_FIXED,
                  "met" if part >= AIM_FIXED else "MISSED aim"))
    if fixed:
        print("median %.1f s, %s tried; %s are the same as fix.patch" % (
            statistics.median(r["seconds"] for r in fixed),
            statistics.median(r["tried"] for r in fixed),
            share(sum(r["same"] for r in fixed), len(fixed))))
    if more:
        print("%s bugs that need several edits ended honestly" % share(
            sum(r["outcome"] in ENDS.values() for r in more), len(more)))
    seconds = sum(r["seconds"] for r in measured)
    if seconds:
        print("%.1f candidates a second in all; load average %.1f on %d "
              "processors (ours included)" % (
                  sum(r["tried"] for r in measured) / seconds,
                  statistics.mean(loads), os.cpu_count() or 1))
    for name, missing in skipped:
        print("skipped: %s, there is no %s" % (name, " and no ".join(missing)))
    for row in rows:
        if row["outcome"] in ("WRONG", "FAILED"):
            print("%s: %s: %s" % (row["outcome"], row["name"], row["note"]))


def all_names():
    return sorted(n for n in os.listdir(BUGS)
                  if os.path.exists(os.path.join(BUGS, n, "bug.json")))


def arguments():
    parser = argparse.ArgumentParser(
        description="Measure what foray does with the bugs of tests/bugs.")
    parser.add_argument("--build", default="build")
    parser.add_argument("-n", type=int, default=2, help="workers (2)")
    parser.add_argument("--limit", type=int, default=60,
                        help="seconds for each bug (60)")
    parser.add_argument("--json", help="write the rows there, too")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    args.foray = os.path.abspath(os.path.join(args.build, "foray"))
    if not os.access(args.foray, os.X_OK):
        parser.error("%s is not built" % args.foray)
    unknown = sorted(set(args.names) - set(all_names()))
    if unknown:
        parser.error("no such bug: " + ", ".join(unknown))
    if args.limit < 1 or args.n < 1:
        parser.error("-n and --limit are at least 1")
    return args


def main():
    args = arguments()
    bugs = [Bug(name) for name in args.names or all_names()]
    rows, skipped, loads = [], [], []
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="foray-repair-") as top:
        for number, bug in enumerate(bugs, 1):
            missing = bug.missing()
            if missing:
                skipped.append((bug.name, missing))
                continue
            label = "[%d/%d] %s" % (number, len(bugs), bug.name)
            word_for(label)("begins")
            row = measure(bug, args, os.path.join(top, str(number)),
                          word_for(label))
            clear_word()
            loads.append(os.getloadavg()[0])
            rows.append(row)
            print(shown(row), flush=True)
    summary(rows, skipped, args, loads)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")
    return any(r["outcome"] in ("WRONG", "FAILED") for r in rows)


if __name__ == "__main__":
    sys.exit(main())
