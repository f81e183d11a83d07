#!/usr/bin/env python3
"""What workers found out is told to those who still search: the last twelve
findings of explorers, the latest last, and to none its own."""
import glob
import json
import os
import sys

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

TOLD = "Found out by others so far:"
FIRST = ["no fault in line %d" % n for n in range(1, 9)]
SECOND = ["it is not case %d" % n for n in range(1, 8)]


def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def turn(*calls):
    return {"text": "", "calls": list(calls)}


def finish(*findings):
    return turn(call("finish", verdict="refuted", findings=list(findings)))


def script():
    """One after the other: each has ended when the next one begins."""
    roles = [[finish(*FIRST)],
             [turn(call("run_command", command="true")),
              finish(*SECOND)],
             [finish()]]
    plan = [{"statement": "guess number %d is the fault" % n,
             "place": "max.sh:%d" % n, "refuted_by": "test %d passes" % n}
            for n in range(1, 4)]
    return {"scripts": [
        {"match": "Plan the search", "turns": [
            turn(call("finish", verdict="done", hypotheses=plan))]},
        *[{"match": r"Your hypothesis \(H%d\)" % n, "turns": turns}
          for n, turns in enumerate(roles, 1)]]}


def lines(label, findings):
    return ["- %s (refuted): %s" % (label, f) for f in findings]


def told(body):
    """The lines of findings that its last message has."""
    text = [t for m in body["messages"][-1:]
            for t in ([m["content"]] if isinstance(m["content"], str) else
                      [p.get("text", "") for p in m["content"]])]
    whole = "\n".join(text)
    if TOLD not in whole:
        return []
    return [line for line in whole.split(TOLD)[1].splitlines()
            if line.startswith("- H")]


with lib.Box() as box:
    folder = os.path.join(box.home, "bodies")
    os.makedirs(folder)
    repo = box.repo("late", lib.SMALL)
    with FakeServer(script(), keep_bodies=folder) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "1", "--topology",
                    "hypotheses", "--no-builtin", "-m", "openai/fake-model",
                    env=s.env())
        lib.equal(s.errors(), "", "the server is fine")
    bodies = [json.loads(lib.read(path))
              for path in sorted(glob.glob(folder + "/*"))]
    of = [[told(b) for b in bodies
           if "Your hypothesis (H%d)" % n in json.dumps(b)]
          for n in (1, 2, 3)]
    lib.equal(of[0], [[]], "the first hears of none", r)
    lib.equal(of[1], [lines("H1", FIRST)] * 2, "the second: of the first's", r)
    lib.equal(of[2], [(lines("H1", FIRST) + lines("H2", SECOND))[-12:]],
              "the third: of the last twelve", r)
lib.done()
