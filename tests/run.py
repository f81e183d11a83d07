#!/usr/bin/env python3
"""Run all tests and close with a line "N passed, N failed".

Unit tests are cmocka programs, replays feed each fuzzer its corpus, and
integration tests are programs in tests/integration (shell or Python): exit 0 is
passed, 77 is skipped (a failure when FORAY_SANDBOX_MUST_WORK=1), the rest failed.
Those named *_long.* run with --long only. Arguments choose tests by a part of
their name. --times FILE writes what each test took, the dearest first: seconds
of processor, all processes that it waited for included, and seconds.

More tests run at once than there are processors. Of what fails then, up to
UNSTEADY tests run once more, with the machine for themselves: what passes now is
named and shown at the end, as it wants to be looked at, but fails nothing. Those
of STEADY may not: what gets out once is out. --once lets nothing run again.
"""
import argparse
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
LIMIT = 900  # of a test that hangs
UNSTEADY = 2
STEADY = ("escape", "gaming", "gate", "injections", "isolation", "hostile")
# These come at the end, when no more tests run at once than there are
# processors: they kill at moments that they time. BESIDE are those that fill
# the rest of the time then.
ALONE = ("interrupt", "kill_some")
BESIDE = "unit/test_agent_"
# The longest, by seconds, come first: none is left over at the end.
LONGEST = ("fleet_keys", "models", "fleet_bad", "inputs", "hooks", "monitor",
           "network", "limits", "gate", "endings", "batch", "fleet_supply",
           "builtin_pass", "container", "reproduce", "narrow")


def find(build, long):
    tests = []
    if not long:
        unit = os.path.join(build, "tests/unit")
        for name in sorted(os.listdir(unit)) if os.path.isdir(unit) else []:
            path = os.path.join(unit, name)
            if name.startswith("test_") and "." not in name:
                tests.append(("unit/" + name, [path]))
        replay = os.path.join(build, "tests/replay")
        for name in sorted(os.listdir(replay)) if os.path.isdir(replay) else []:
            corpus = os.path.join(HERE, "fuzz/corpus", name.removeprefix("fuzz_"))
            files = [os.path.join(corpus, f) for f in sorted(os.listdir(corpus))] \
                if os.path.isdir(corpus) else []
            tests.append(("replay/" + name, [os.path.join(replay, name)] + files))
    folder = os.path.join(HERE, "integration")
    for name in sorted(os.listdir(folder)):
        stem, ext = os.path.splitext(name)
        if ext not in (".sh", ".py") or name in ("lib.sh", "lib.py"):
            continue
        if stem.endswith("_long") != long:
            continue
        run = ["sh"] if ext == ".sh" else [sys.executable]
        tests.append(("integration/" + stem, run + [os.path.join(folder, name)]))
    return tests


def order(name):
    """For sorted(): integration tests before the others, which are short."""
    group, stem = name.split("/")
    return (group != "integration",
            LONGEST.index(stem) if stem in LONGEST else len(LONGEST))


def run_one(name, argv, build, limit):
    """(outcome, seconds, output, checks, processor): checks counts what cmocka
    or the script itself reports."""
    start = time.monotonic()
    env = dict(os.environ, FORAY_BUILD=build, FORAY=os.path.join(build, "foray"))
    env.setdefault("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    with tempfile.TemporaryFile() as out:
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, env=env,
                             start_new_session=True)
        late = threading.Timer(limit, os.killpg, (p.pid, signal.SIGKILL))
        late.start()
        _, status, used = os.wait4(p.pid, 0)
        late.cancel()
        code = p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    seconds = time.monotonic() - start
    processor = used.ru_utime + used.ru_stime
    if code == -signal.SIGKILL and seconds >= limit:
        code = "time limit of %d s" % limit
    if code == SKIPPED and not os.environ.get("FORAY_SANDBOX_MUST_WORK"):
        return "skipped", seconds, text, 0, processor
    found = [int(n) for n in re.findall(r"PASSED\s+\] (\d+) test", text)] or \
            [int(n) for n in re.findall(r"^(\d+) passed, 0 failed", text, re.M)]
    if code == 0:
        return "passed", seconds, text, max(1, sum(found)), processor
    return "failed (%s)" % code, seconds, text, 0, processor


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--build", default="build")
    ap.add_argument("--long", action="store_true")
    ap.add_argument("-j", type=int, default=2 * (os.cpu_count() or 1) + 1)
    ap.add_argument("--once", action="store_true")
    ap.add_argument("--times", metavar="FILE")
    ap.add_argument("names", nargs="*")
    args = ap.parse_args()
    build = os.path.abspath(args.build)
    tests = [t for t in find(build, args.long)
             if not args.names or any(n in t[0] for n in args.names)]
    passed = failed = skipped = 0
    failures, times = [], []
    start = time.monotonic()
    limit = LIMIT * 6 if args.long else LIMIT

    def report(name, result):
        nonlocal passed, failed, skipped
        outcome, seconds, text, checks, processor = result
        times.append((processor, seconds, name))
        print("%-9s %6.1fs  %s%s" % (outcome.split()[0], seconds, name,
              "" if checks < 2 else " (%d)" % checks), flush=True)
        if outcome == "passed":
            passed += checks
        elif outcome == "skipped":
            skipped += 1
            print(text[-2000:])
        else:
            failed += 1
            print(text[-20000:])
            print("FAILED: %s: %s" % (name, outcome), flush=True)
            failures.append((name, outcome, text))

    alone = [t for t in tests if args.long or os.path.basename(t[0]) in ALONE]
    alone += [t for t in tests if t not in alone and t[0].startswith(BESIDE)]
    shared = [t for t in tests if t not in alone]
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        jobs = {pool.submit(run_one, n, a, build, limit): n for n, a in
                sorted(shared, key=lambda t: order(t[0]))}
        for job in concurrent.futures.as_completed(jobs):
            report(jobs[job], job.result())
    # The long ones have the machine for themselves.
    with concurrent.futures.ThreadPoolExecutor(
            1 if args.long else max(2, os.cpu_count() or 1)) as pool:
        jobs = {pool.submit(run_one, n, a, build, limit): n for n, a in alone}
        for job in concurrent.futures.as_completed(jobs):
            report(jobs[job], job.result())
    unsteady = []
    if len(failures) <= UNSTEADY and not args.once and not args.long and \
       not any(s in f[0] or "limit" in f[1] for f in failures for s in STEADY):
        argv, failed = dict(tests), 0
        first, failures = failures, []
        for name, outcome, text in first:
            print("once more: " + name)
            report(name, run_one(name, argv[name], build, limit))
            if not failures or failures[-1][0] != name:
                unsteady.append((name, outcome, text))
    print("%d s%s" % (time.monotonic() - start,
                      ", %d skipped" % skipped if skipped else ""))
    if args.times:
        with open(args.times, "w", encoding="utf-8") as f:
            for row in sorted(times, reverse=True):
                f.write("%8.2f %8.2f  %s\n" % row)
            f.write("%8.2f\n" % sum(row[0] for row in times))
    if not tests:
        print("no test has such a name")
        failed += 1
    shown = [("FAILED", *f) for f in failures] + \
            [("UNSTEADY, passed when alone", *u) for u in unsteady]
    for word, name, outcome, text in shown:  # again, where one looks first
        print("%s: %s: %s" % (word, name, outcome))
        print("\n".join(line for line in text.splitlines()
                        if re.search("FAIL|ERROR|rror:", line))[:2000])
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
