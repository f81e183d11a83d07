#!/usr/bin/env python3
"""Green tests and a TASK: a model writes a test that shows the bug, another
worker confirms it, and only then the fix is looked for."""
import os
import sqlite3
import subprocess
import sys

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

MODEL = "openai/fake-model"
TASK = "max 2 3 prints 2"
# What test.sh looks at is right by luck.
GREEN = dict(lib.SMALL, **{"test.sh": lib.SMALL["test.sh"].replace(
    "is 1 2 3 3\nis 2 3 2 3\nis 3 5 5 5\necho 1..3", "is 1 5 5 5\necho 1..1")})
FIX = {"path": "max.sh", "old": "-lt", "new": "-gt"}
COMMAND, EXPECT, FILE = "sh tests/repro.sh", "want 3, got 2", "tests/repro.sh"
REPRO = ('. ./max.sh\ngot=$(max 2 3)\n[ "$got" = 3 ] && exit 0\n'
         'echo "want 3, got $got"\nexit 1\n')
WRITES = "Write a test that shows the bug"


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def turn(*calls):
    return {"text": "", "calls": list(calls)}


def finish(verdict, *findings):
    return turn(call("finish", verdict=verdict, findings=list(findings)))


def add(path, text):
    return turn(call("edit_file", path=path, old="", new=text))


def hand_in(command=COMMAND, expect=EXPECT):
    return finish("done", "command: " + command, "expect: " + expect,
                  "the comparison looks wrong")


def writer(*turns, after=None):
    """Of the first reproducer, or of the one after such a refusal."""
    match = WRITES if after is None else "was refused: [^\n]*" + after
    return {"match": match, "turns": list(turns)}


GOOD = (add(FILE, REPRO), turn(call("run_command", command=COMMAND)),
        hand_in())
FIXER = {"match": "Find the cause and fix it", "turns": [
    turn(call("run_command", command=COMMAND)),
    turn(call("edit_file", **FIX)),
    turn(call("try_edits", check=COMMAND, edits=[
        {"changes": [dict(FIX, old="-gt", new=by)]}
        for by in ("-ge", "-lt")])),
    finish("fixed", "the comparison was the wrong way round", "{{last}}")]}


def run(box, name, *scripts, files=None, args=(), task=TASK, tests=None):
    """Scripts in their order; the first that matches speaks."""
    repo = box.repo(name, files or GREEN)
    with FakeServer({"scripts": list(scripts)}) as s:
        r = box.run(repo, "-t", tests or lib.SMALL_TEST, "-m", MODEL,
                    "--topology", "single", *args, task, env=s.env(),
                    timeout=90)
        lib.equal(s.errors(), "", name + ": the server is fine", r)
    return repo, r


def pristine(box, name, patch, files=None):
    """What the command says where the patch was applied, and git's status."""
    path = box.repo(name, files or GREEN)
    box.git(path, "apply", patch)
    return subprocess.run(["sh", "-c", COMMAND], cwd=path,
                          stdout=subprocess.DEVNULL).returncode, path


def refusals(r):
    return [e["reason"] for e in r.all("reproducer_refused")]


def holds(box):
    repo, r = run(box, "holds", writer(*GOOD), FIXER)
    lib.equal(r.status, 0, "holds: fixed", r)
    lib.equal(r.finished.get("evidence"), "reproducer", "holds: evidence", r)
    events = r.all("reproduced")
    lib.equal([(e["command"], e["expect"], e["files"]) for e in events],
              [(COMMAND, EXPECT, [FILE])], "holds: the event", r)
    lib.equal([e["kind"] for e in r.all("assigned")],
              ["baseline", "reproduce", "confirm", "explore", "verify"],
              "holds: the subtasks", r)
    found = [e["findings"][1] for e in r.all("summary")
             if e["kind"] == "explore"]
    lib.check(found and '"passed":[1]' in found[0],
              "holds: candidates see the reproducer", found)
    patch = lib.read(r.finished["patch"])
    lib.check("+++ b/max.sh" in patch and "+++ b/" + FILE in patch,
              "holds: the patch has both", patch)
    status, path = pristine(box, "holds-applied", r.finished["patch"])
    lib.equal(status, 0, "holds: the command passes where it is applied")
    lib.equal(lib.read(os.path.join(path, FILE)), REPRO, "holds: the test")
    lib.equal(box.status(repo), b"", "holds: the tree is as it was")
    run_id = r.finished["run"]
    shown = box.do("show", run_id)
    for text in ("reproduce-1", "confirm-1", "command: " + COMMAND):
        lib.check(text in shown.out, "holds: show has " + text, shown)
    again = box.do("replay", "--json", run_id)
    lib.equal(again.status, 0, "holds: replayed", again)
    lib.equal(again.finished.get("evidence"), "reproducer",
              "holds: replayed evidence", again)
    lib.equal(lib.read(again.finished.get("patch", "/dev/null")), patch,
              "holds: the same patch")
    applied = box.do("apply", run_id)
    lib.equal(applied.status, 0, "holds: applied", applied)
    lib.check(os.path.exists(os.path.join(repo, FILE)), "holds: with the test")


def collected(box):
    """A runner that finds the new test by itself is no objection."""
    files = {"app.py": "def add(a, b):\n    return a - b\n",
             "tests/__init__.py": "",
             "tests/test_app.py":
             "import unittest\nimport app\n\n\nclass T(unittest.TestCase):\n"
             "    def test_zero(self):\n"
             "        self.assertEqual(app.add(1, 0), 1)\n"}
    new = files["tests/test_app.py"].replace("test_zero", "test_sum").replace(
        "(1, 0), 1", "(1, 2), 3")
    command = "python3 -m unittest tests.test_issue"
    _, r = run(box, "collected",
               writer(add("tests/test_issue.py", new),
                      hand_in(command, "AssertionError: -1 != 3")),
               {"match": "Find the cause and fix it", "turns": [
                   turn(call("edit_file", path="app.py", old="a - b",
                             new="a + b")), finish("fixed", "the sign")]},
               files=files, tests="python3 -m unittest discover -t . -s tests",
               task="add is wrong")
    lib.equal(r.status, 0, "collected: fixed", r)
    lib.equal(r.finished.get("evidence"), "reproducer", "collected", r)


def second(box, name, first, reason, wants, **more):
    """The first is refused for that reason, the next one is taken."""
    _, r = run(box, name, writer(*GOOD, after=reason), writer(*first), FIXER,
               **more)
    lib.equal(r.status, 0, name + ": fixed by the second", r)
    lib.equal(len(r.all("reproduced")), 1, name + ": one holds", r)
    lib.check(len(refusals(r)) == 1 and wants in refusals(r)[0],
              name + ": the first is refused", refusals(r))


def refused(box):
    # Fails when there is a file that it does not like.
    touchy = dict(GREEN, **{"test.sh": GREEN["test.sh"].replace(
        ". ./max.sh\n", ". ./max.sh\n[ -e tests/stop ] && max() { :; }\n")})
    second(box, "passes", (add(FILE, "echo %s\n" % EXPECT), hand_in()),
           "its command exits with 0", "does not show the bug")
    second(box, "changes",
           (add(FILE, REPRO),
            turn(call("edit_file", path="max.sh", old="max() {",
                      new="max() { # here")), hand_in()),
           r"it changes max\.sh", "only new files are allowed")
    second(box, "other-reason",
           (add(FILE, REPRO.replace("./max.sh", "./min.sh")), hand_in()),
           "it fails for another reason", EXPECT)
    second(box, "breaks",
           (add(FILE, REPRO), add("tests/stop", "x\n"), hand_in()),
           "a test that passed before fails", "max 5 5", files=touchy)


def forged(box):
    """An explore that weakens the reproducer has no fix by that."""
    weak = "mv tests old; mkdir tests; echo exit 0 >%s; cp %s %s.txt" % (
        FILE, FILE, FILE)
    cheat = {"match": "Find the cause and fix it", "turns": [
        turn(call("edit_file", path=FILE, old="exit 1", new="exit 0")),
        turn(call("apply_patch", patch="*** Begin Patch\n*** Delete File: "
                  "%s\n*** End Patch\n" % FILE)),
        turn(call("run_command", command="echo exit 0 >%s" % FILE)),
        turn(call("run_command", command=weak)),
        turn(call("edit_file", path="max.sh", old="max() {",
                  new="max() { # fixed")),
        finish("fixed", "it passes now")]}
    _, r = run(box, "forged", writer(*GOOD), cheat)
    lib.equal(r.status, 1, "forged: no fix", r)
    lib.check(r.all("verified") and not any(e["ok"] for e in
                                            r.all("verified")),
              "forged: it was looked at and refused", r)
    lib.check("still fails" in r.all("verified")[0]["reason"],
              "forged: by the reproducer", r)
    calls = [e["verdict"] for e in r.all("tool_call")
             if e["tool"] in ("edit_file", "apply_patch")]
    lib.equal(calls[:4], ["ok", "denied", "denied", "ok"],
              "forged: tools refuse", r)


def gives_up(box):
    _, r = run(box, "gives-up", writer(finish("done", "no idea")), FIXER)
    lib.equal(r.status, 1, "three bad ones: status", r)
    lib.equal(r.finished.get("status"), "unfixed", "three bad ones", r)
    lib.check(r.finished.get("reason", "").startswith("no reproducer: "),
              "three bad ones: the reason", r.finished)
    lib.equal(len(refusals(r)), 3, "three bad ones: so many", r)
    lib.equal([e["kind"] for e in r.all("assigned")],
              ["baseline"] + ["reproduce"] * 3, "three bad ones: subtasks", r)


def without(box):
    """Nothing is made up where no model can write a test, or no task is."""
    repo = box.repo("without", GREEN)
    r = box.run(repo, "-t", lib.SMALL_TEST, TASK)
    lib.equal(r.status, 2, "builtin: status", r)
    lib.check("needs a failing test" in r.finished.get("reason", ""),
              "builtin: its sentence", r.finished)
    with FakeServer({"turns": []}) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-m", MODEL, env=s.env())
        lib.equal(r.status, 2, "no task: status", r)
        lib.equal(len(s.log()), 0, "no task: nobody is asked")


def turns_on_record(run_dir):
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run_dir, uri=True)
    rows = db.execute("SELECT subtask, turn FROM exchange WHERE status='ok'"
                      ).fetchall()
    db.close()
    return rows


MOMENTS = (("first", "model_call", 1), ("second", "model_call", 4),
           ("fixing", "model_call", 7), ("verify", "verify_started", 1))
MORE_MOMENTS = (("handed-in", "summary", 2), ("refused", "reproducer_refused", 1),
                ("written", "summary", 4), ("reproduced", "reproduced", 1))


def resumed(box, moments=MOMENTS):
    """kill -9 in between; what was answered is not asked again."""
    bad = writer(add(FILE, "echo %s\n" % EXPECT), hand_in())
    scripts = [writer(*GOOD, after="its command exits with 0"), bad, FIXER]
    for script in scripts:
        for one in script["turns"]:
            one["latency"] = 50
    for name, event, number in moments:
        repo = box.repo("resumed-" + name, GREEN)
        what = "killed at " + name
        with FakeServer({"scripts": scripts}) as s:
            live = box.start(repo, "-t", lib.SMALL_TEST, "-m", MODEL,
                             "--topology", "single", TASK, env=s.env())
            lib.check(live.wait_event(event, 60, number),
                      what + ": it came so far")
            live.signal(9)
            live.wait(10)
            below = [p for p in lib.descendants() if p.name != "python3"]
            lib.equal(lib.left_alive(below, 5), [], what + ": all is gone")
            run_id = os.path.basename(box.runs()[-1])
            r = box.do("resume", "--json", run_id, env=s.env(), timeout=90)
            lib.equal(r.status, 0, what + ": fixed", r)
            lib.equal(r.finished.get("evidence"), "reproducer",
                      what + ": evidence", r)
            lib.check("b/" + FILE in lib.read(r.finished.get(
                "patch", "/dev/null")), what + ": the test is in the patch")
            rows = turns_on_record(box.runs()[-1])
            lib.equal((len(rows), len(set(rows))), (9, 9),
                      what + ": each turn once", rows)
            # The one under way at the kill is lost.
            lib.check(s.stats()["sums"]["accepted"] <= len(rows) + 1,
                      what + ": none is asked again", s.stats()["sums"])


def hinted(box):
    """A hint waits until there is something that it can be judged by."""
    script = [dict(t, latency=100) for t in GOOD]
    hint = {"match": r"Your hypothesis \(hint-1\): look at -lt",
            "turns": FIXER["turns"]}
    repo = box.repo("hinted", GREEN)
    with FakeServer({"scripts": [writer(*script), hint, FIXER]}) as s:
        live = box.start(repo, "-t", lib.SMALL_TEST, "-m", MODEL,
                         "--topology", "single", TASK, env=s.env())
        lib.check(live.wait_event("model_call", 30), "hinted: it began")
        live.signal(9)
        live.wait(10)
        r = box.do("resume", "--json", os.path.basename(box.runs()[-1]),
                   "look at -lt", env=s.env(), timeout=60)
    lib.equal(r.status, 0, "hinted: fixed", r)
    lib.equal(r.finished.get("evidence"), "reproducer", "hinted", r)
    order = [e["event"] if e["event"] == "reproduced" else e["kind"]
             for e in r.events if e["event"] in ("reproduced", "assigned")]
    lib.check("reproduced" in order and "explore" in order and
              order.index("explore") > order.index("reproduced"),
              "hinted: not before the reproducer", order)


def resumed_more(box):
    resumed(box, MORE_MOMENTS)


QUICK = (holds, collected, refused, forged, gives_up, without, resumed, hinted)
ALL = QUICK + (resumed_more,)


def main(parts):
    for part in parts:
        with lib.Box() as box:
            part(box)
    lib.done()


if __name__ == "__main__":
    main([p for p in ALL if p.__name__ in sys.argv[1:]] or QUICK)
