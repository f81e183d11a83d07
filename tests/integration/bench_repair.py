#!/usr/bin/env python3
"""tests/bench/repair.py believes nothing: a program that only looks like foray
claims what holds, what does not hold, and nothing."""
import json
import os
import subprocess
import sys
import tempfile

import lib

BENCH = os.path.join(lib.TESTS, "bench/repair.py")

# What it does is decided by the bug's own test files and by ENDS.
FAKE = """#!/usr/bin/env python3
import json, os, sys
repo = sys.argv[sys.argv.index("-C") + 1]
name = os.path.basename(repo)
status, patch = json.load(open(os.path.join(os.path.dirname(__file__),
                                            "ends.json")))[name]
top = os.path.join(os.environ["XDG_STATE_HOME"], "run")
os.makedirs(os.path.join(top, "sessions"), exist_ok=True)
def say(event, **more):
    print(json.dumps(dict(more, event=event)), flush=True)
say("run_started", dir=top)
say("progress", worker="w1", what="try", done=5, total=6)
say("tool_call", worker="w1", tool="try_edits")
say("progress", worker="w2", what="try", done=2, total=6)
rows = [{"tried": 4, "passed": []}, {"tried": 3, "passed": [2]}]
with open(os.path.join(top, "sessions", "w1.jsonl"), "w") as f:
    for t, row in enumerate(rows):
        f.write(json.dumps({"t": t, "role": "tool", "name": "try_edits",
                            "content": json.dumps(row)}) + "\\n")
end = {"exit": status, "reason": "an edit"}
if patch is not None:
    end["patch"] = os.path.join(top, "final.patch")
    open(end["patch"], "w").write(patch)
say("run_finished", **end)
sys.exit(status)
"""

# Makes the test program of a shell bug say yes; no line of the program changes.
GAMED = """--- a/tests/run.sh
+++ b/tests/run.sh
@@ -1,2 +1,3 @@
 #!/bin/sh
+exit 0
 # Prints TAP; exit status 1 if a test fails.
"""


def bench(ends, *args):
    """(exit status, rows by name, what was printed)"""
    with tempfile.TemporaryDirectory(prefix="foray-it-") as top:
        lib.write(os.path.join(top, "foray"), FAKE)
        lib.write(os.path.join(top, "ends.json"), json.dumps(ends))
        rows = os.path.join(top, "rows.json")
        p = subprocess.run(
            [sys.executable, BENCH, "--build", top, "--json", rows, *args,
             *sorted(ends)], stdin=subprocess.DEVNULL, text=True, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        found = {}
        if os.path.exists(rows):
            with open(rows, encoding="utf-8") as f:
                found = {row["name"]: row for row in json.load(f)}
        return p.returncode, found, p.stdout


def fix(name):
    return lib.read(os.path.join(lib.BUGS, name, "fix.patch"))


status, rows, text = bench({"sh-rotate": [0, fix("sh-rotate")],
                            "sh-conf": [3, None], "sh-clock": [1, None]})
lib.equal(status, 0, "what is not fixed is a result", text)
lib.equal([rows[n]["outcome"] for n in sorted(rows)],
          ["unfixed", "time", "fixed"], "outcomes", text)
lib.equal([rows["sh-rotate"][k] for k in ("tried", "rank", "same")],
          [7, 6, True], "what was tried", text)
lib.check("1 of 2 single-edit bugs fixed within 60 s" in text, "the share", text)
lib.check("1 of 1 bugs that need several edits ended honestly" in text,
          "honest ends", text)

status, rows, text = bench({"sh-rotate": [0, GAMED], "sh-conf": [0, None],
                            "sh-clock": [1, fix("sh-clock")]})
lib.equal(status, 1, "a fix that does not hold is no result", text)
lib.equal([(rows[n]["outcome"], rows[n]["note"]) for n in sorted(rows)],
          [("WRONG", "a patch without a claim"), ("WRONG", "there is no patch"),
           ("WRONG", "the tests fail with the patch")],
          "no claim, no patch, gamed tests", text)

status, rows, text = bench({"sh-conf": [0, fix("sh-rotate")],
                            "sh-clock": [4, None]})
lib.equal(status, 1, "nor is what was not measured", text)
lib.equal([rows[n]["outcome"] for n in sorted(rows)], ["FAILED", "WRONG"],
          "another's patch, and an end of another kind", text)

lib.equal(bench({"no-such-bug": [0, None]})[0], 2, "a name that is not there")
lib.done()
