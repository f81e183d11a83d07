#!/usr/bin/env python3
"""Cases of class F (tests/cases/F.jsonl) that need the whole program: F-008 with
a terminal to read, F-010 endless output and memory, F-012 the orchestrator is
killed. The others: tests/unit/test_agent_cases_f.c."""
import fcntl
import json
import os
import pty
import signal
import termios
import threading
import time

import lib

with open(os.path.join(lib.TESTS, "cases/F.jsonl"), encoding="utf-8") as f:
    CASES = {c["id"]: c for c in map(json.loads, f)}
FILES = {"a": "x\n"}


def rss(process):
    """MB of memory that is its own, or 0."""
    for line in process.read("status").splitlines():
        if line.startswith(b"RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0


def endless(box):
    case = CASES["F-010"]
    want = case["expected"]
    repo = box.repo("endless", FILES)
    top = {"worker": 0, "foray": [0, 0]}
    over = threading.Event()

    def watch():
        while not over.is_set():
            for p in lib.descendants():
                if p.is_worker():
                    top["worker"] = max(top["worker"], rss(p))
                elif p.name == "foray" and rss(p):
                    first, most = top["foray"]
                    top["foray"] = [first or rss(p), max(most, rss(p))]
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    # A sanitizer keeps what was freed: not what is measured here.
    env = {"ASAN_OPTIONS": os.environ["ASAN_OPTIONS"] + ":quarantine_size_mb=1"}
    r = box.tool(repo, "run_command", {
        "command": case["input"]["command"],
        "timeout_s": case["input"]["timeout_s"]}, env=env)
    over.set()
    watcher.join()
    result = str(r.json.get("result"))
    lib.check("timed out" in result or "output" in result,
              "F-010: timed out, or stopped for its output", r)
    lib.check("left out" in result and len(result) < 17000,
              "F-010: the result is cut", len(result))
    grown = top["foray"][1] - top["foray"][0]
    lib.check(0 < top["worker"] <= want["worker_rss_mb_max"],
              "F-010: the worker's memory", top)
    lib.check(grown <= want["orchestrator_rss_growth_mb_max"],
              "F-010: the orchestrator's memory", top)
    # Starting and ending the run are no part of the call.
    slack = 6 if lib.sanitized() else 2
    lib.check(lib.soon(r.seconds, want["returns_within_s"] + slack),
              "F-010: it ends in time", r)


def killed(box):
    case = CASES["F-012"]
    repo = box.repo("killed", FILES)
    command = case["input"]["steps"][0].split("'")[1]
    p = box.popen(["foray", "tool", "-C", repo, "run_command",
                   json.dumps({"command": command})])

    def sleeping():
        return [d for d in lib.descendants()
                if d.read("cmdline") == b"sleep\x00300\x00"]

    found = lib.wait_until(lambda: len(sleeping()) == 2 and lib.descendants(), 20)
    lib.check(found, "F-012: both run", lib.descendants())
    os.kill(p.pid, signal.SIGKILL)
    p.wait()
    (seconds, most), = case["expected"]["worker_processes_left_after_s"].items()
    left = lib.left_alive(found or [], float(seconds))
    lib.check(len(left) <= most, "F-012: nothing is left", left)


def terminal(box):
    """A command must not read what is typed at the user's terminal."""
    case = CASES["F-008"]
    repo = box.repo("terminal", FILES)
    ours, theirs = pty.openpty()

    def own_terminal():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    os.write(ours, b"typed-by-the-user\n\x04")
    r = box.tool(repo, "run_command", {"command": case["input"]["command"]},
                 preexec_fn=own_terminal)
    result = str(r.json.get("result"))
    lib.check(result.startswith("exit status ") and
              not result.startswith("exit status 0\n"),
              "F-008: it fails", r)
    lib.check("typed-by-the-user" not in r.text, "F-008: nothing is read", r)
    os.close(ours)
    os.close(theirs)


def main():
    with lib.Box() as box:
        terminal(box)
        endless(box)
        killed(box)
    lib.done()


main()
