#!/usr/bin/env python3
"""Of 30 seeded single-edit mutants of correct programs at least 20 are fixed."""
import json
import os
import shutil
import subprocess
import sys

import lib

COUNT, ENOUGH = 30, 20


def one(box, out, label):
    with open(os.path.join(out, label + ".json"), encoding="utf-8") as f:
        mutant = json.load(f)
    repo = os.path.join(box.src, label)
    shutil.copytree(os.path.join(out, label), repo)
    box.git_init(repo)
    test = lib.bug_info(mutant["program"])["test"]
    r = box.run(repo, "-t", test, "-n", "4", "--max-time", "120s", timeout=150)
    end = r.finished
    print("%-4s %-12s %-17s %-22s %-8s %6.1f s %5s calls" % (
        label, mutant["program"], mutant["operator"],
        "%s:%d" % (mutant["file"], mutant["line"]), end.get("status"),
        r.seconds, end.get("usage", {}).get("calls")), flush=True)
    if end.get("status") != "fixed":
        print("       - %s\n       + %s" % (mutant["original"].strip(),
                                          mutant["mutated"].strip()), flush=True)
    lib.check(r.status in (0, 1, 3), label + ": a proper end", r)
    if r.status != 0:
        return False
    applied = box.call(["git", "-C", repo, "apply", end.get("patch", "")])
    lib.equal(applied.status, 0, label + ": git apply", applied)
    tests = box.call(["sh", "-c", test], cwd=repo)
    return lib.equal(tests.status, 0, label + ": the tests pass with it", tests)


with lib.Box() as the_box:
    made = os.path.join(the_box.dir, "mutants")
    subprocess.run([sys.executable, os.path.join(lib.TESTS, "mutate.py"),
                    "--seed", "1", "--count", str(COUNT), "--out", made],
                   check=True, stdin=subprocess.DEVNULL)
    labels = sorted(n[:-5] for n in os.listdir(made) if n.endswith(".json"))
    lib.equal(len(labels), COUNT, "mutants")
    fixed = sum(one(the_box, made, n) for n in labels)
    print("%d of %d fixed" % (fixed, COUNT))
    lib.check(fixed >= ENOUGH, "at least %d are fixed" % ENOUGH, fixed)
lib.done()
