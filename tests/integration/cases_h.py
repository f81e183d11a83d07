#!/usr/bin/env python3
"""Cases of class H (tests/cases/H.jsonl): several workers at once. H-005 is in
tests/unit/test_host_run.c, H-012 to H-016 are in fleet_keys.py and the units of
the door and of keys; H-001, H-003 and H-010 are of workers that start others."""
import glob
import json
import os
import signal
import sqlite3
import sys

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

with open(os.path.join(lib.TESTS, "cases/H.jsonl"), encoding="utf-8") as f:
    CASES = {c["id"]: c for c in map(json.loads, f)}
MODEL = ("-m", "openai/fake-model")
SEARCH = ("--topology", "hypotheses", *MODEL)
FIX = {"path": "max.sh", "old": "-lt", "new": "-gt"}


def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def turn(*calls, **more):
    return dict({"text": "", "calls": list(calls)}, **more)


def finish(verdict, *findings):
    return turn(call("finish", verdict=verdict, findings=list(findings)))


def search(turns_of, first=()):
    """A plan of as many hypotheses as there are lists of turns."""
    plan = [{"statement": "guess number %d is the fault" % n,
             "place": "max.sh:%d" % n, "refuted_by": "test %d passes" % n}
            for n in range(1, len(turns_of) + 1)]
    return {"scripts": [
        {"match": "Plan the search", "name": "plan", "turns": [
            *first, turn(call("finish", verdict="done", hypotheses=plan))]},
        *[{"match": r"Your hypothesis \(H%d\)" % n, "name": "H%d" % n,
           "turns": turns} for n, turns in enumerate(turns_of, 1)]]}


def query(run, text):
    db = sqlite3.connect("file:%s/run.db?mode=ro" % run, uri=True)
    rows = db.execute(text).fetchall()
    db.close()
    return rows


def summaries(r):
    return {e["label"]: e for e in r.all("summary")}


def request_bodies(folder):
    found = []
    for path in sorted(glob.glob(folder + "/*")):
        found.append(json.loads(lib.read(path)))
    return found


def text_of(body):
    """All that the model reads, tools aside."""
    return "\n".join(json.dumps(m) for m in body["messages"])


# ------------------------------------------------------------------- cases


def budget(box):
    case = CASES["H-002"]
    limit = case["input"]["budget_tokens"]
    repo = box.repo("H-002", lib.SMALL)
    usage = {"prompt": 4500, "cached": 0, "written": 0, "output": 500,
             "reasoning": 0}
    turns = [turn(call("run_command", command="echo %d" % n), usage=usage)
             for n in range(3)] + [dict(finish("refuted", "it was not it"),
                                        usage=usage)]
    # The children ask for 60,000; the plan comes on top.
    with FakeServer(search([turns] * 3), latency=50) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "3", *SEARCH,
                    "--max-tokens", str(limit), env=s.env())
        biggest = max(sum(x["usage"][k] for k in ("prompt", "output"))
                      for x in s.log() if x.get("accepted"))
    spent = r.finished["usage"]
    lib.equal((r.status, r.finished["status"]), (3, "budget"), "H-002: status",
              r)
    lib.check(spent["in_tokens"] + spent["out_tokens"] <= limit + biggest,
              "H-002: the whole tree counts", spent)
    told = summaries(r)
    stopped = [e for e in told.values() if e["verdict"] == "budget"]
    lib.check(stopped, "H-002: the stopped say why", r)
    lib.equal([label for label, state in query(
        box.runs()[-1], "SELECT label, state FROM subtask")
        if state in ("waiting", "running")], [], "H-002: none is left open")
    show = box.do("show")
    lib.check("budget" in show.out, "H-002: what came of each is there", show)
    for e in stopped:
        lib.check(e["tools"] > 0 and e["calls"] > 0,
                  "H-002: the parent has the partial results", e)


def dies(box):
    want = CASES["H-004"]["expected"]["parent_notified_within_s"]
    repo = box.repo("H-004", lib.SMALL)
    slow, longer = (turn(call("run_command", command="sleep %d" % n))
                    for n in (2, 1000))
    with FakeServer(search([[one, finish("refuted", "no")]
                            for one in (slow, longer, slow)])) as s:
        live = box.start(repo, "-t", lib.SMALL_TEST, "-n", "3", *SEARCH,
                         env=s.env())
        running = lib.wait_until(lambda: len([
            e for e in live.events("model_call")
            if e["worker"] in {a["worker"] for a in live.events("assigned")
                               if a["kind"] == "explore"}]) >= 3, 40)
        lib.check(running, "H-004: three work", live.lines[-5:])
        explores = [e for e in live.events("assigned")
                    if e["kind"] == "explore"]
        started = {e["worker"]: e["pid"] for e in live.events("worker_started")}
        explores.sort(key=lambda e: e["label"])
        victim = explores[1]["worker"]
        os.kill(started[victim], signal.SIGKILL)
        gone = lib.wait_until(lambda: [
            e for e in live.events("worker_gone") if e["worker"] == victim],
            want)
        lib.check(gone and gone[0]["reason"] == "killed",
                  "H-004: it is told in time", live.events("worker_gone"))
        r = live.wait(60)
    ends = {e["worker"]: e["reason"] for e in r.all("worker_gone")}
    # The last may be told to stop after its summary: the run is over then.
    for sibling in (explores[0], explores[2]):
        lib.check(ends.get(sibling["worker"]) in ("exited", "stopped") and
                  summaries(r)[sibling["label"]]["verdict"] == "refuted" and
                  [e["worker"] for e in r.all("assigned")
                   if e["label"] == sibling["label"]] == [sibling["worker"]],
                  "H-004: siblings are unaffected", (ends, r))
    lib.equal(query(box.runs()[-1], "SELECT state FROM attempt WHERE worker ="
                    " '%s'" % victim), [("killed",)], "H-004: it has failed")
    lib.equal(query(box.runs()[-1], "SELECT label FROM subtask WHERE state IN"
                    " ('running', 'waiting')"), [],
              "H-004: no record says that it runs")
    lib.equal(query(box.runs()[-1], "SELECT worker FROM attempt WHERE state ="
                    " 'assigned'"), [], "H-004: nor an attempt")


def siblings(box):
    case = CASES["H-006"]["expected"]
    bodies = os.path.join(box.dir, "bodies-6")
    repo = box.repo("H-006", lib.SMALL)
    three = turn(call("read_file", path="max.sh"),
                 call("read_file", path="is-not-there"),
                 call("read_file", path="test.sh"))
    turns = [three, turn(call("edit_file", **FIX)), finish("fixed", "it")]
    with FakeServer({"turns": turns}, keep_bodies=bodies) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, *MODEL, env=s.env())
        lib.equal(s.errors(), "", "H-006: the server is fine")
    lib.equal(r.status, 0, "H-006: it goes on", r)
    sent = request_bodies(bodies)[1]["messages"]
    ids = [c["id"] for m in sent for c in m.get("tool_calls") or []]
    results = [m for m in sent if m["role"] == "tool"]
    lib.equal([m["tool_call_id"] for m in results], ids,
              "H-006: one result for each call", sent)
    lib.equal(["error" if "is-not-there" in m["content"] else "ok"
               for m in results], case["results"], "H-006: results", results)
    lib.check("max()" in results[0]["content"] and
              "is 1 2 3 3" in results[2]["content"],
              "H-006: the others are whole", results)
    # Workers, too: of three the second gets no answer at all.
    fails = dict(finish("refuted"), status=400, times=99)
    with FakeServer(search([[finish("refuted", "one")], [fails],
                            [finish("refuted", "three")]])) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "3", *SEARCH,
                    env=s.env())
    told = {label: e["verdict"] for label, e in summaries(r).items()
            if label[0] == "H"}
    lib.equal((told.get("H1"), told.get("H3")), ("refuted", "refuted"),
              "H-006: siblings come to their end", r)
    lib.check(told.get("H2", "error") == "error", "H-006: and it fails", told)


def rates(box):
    case = CASES["H-007"]["input"]
    lib.check("5 children" in case["script"], "H-007: as it was handed")
    repo = box.repo("H-007", lib.SMALL)
    with FakeServer(search([[finish("refuted", "no")]] * 5),
                    per_second=1, retry_after=2) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "5", *SEARCH,
                    env=s.env())
        log = sorted((x for x in s.log() if x.get("api")),
                     key=lambda x: x["start"])
    told = {label: e["verdict"] for label, e in summaries(r).items()
            if label[0] == "H"}
    lib.equal(told, {"H%d" % n: "refuted" for n in range(1, 6)},
              "H-007: all succeed", r)
    refused = [x["start"] for x in log if x["status"] == 429]
    lib.check(refused, "H-007: it was too fast at first", log)
    # Those that were under way when the first was refused are no retries.
    retries = [x["start"] for x in log if x["start"] > refused[0] + 1]
    close = sum(b - a < 0.05 for a, b in zip(retries, retries[1:]))
    # Without a spread all of a round would be: 6 of 10.
    lib.check(close <= 0.4 * len(retries), "H-007: retries are spread", retries)
    # Nobody asks in the two seconds that were asked for, but for their last
    # part, and the first: a busy machine hears late of it.
    early = [t for t in (x["start"] for x in log) for f in refused
             if f + 1 < t < f + 1.95]
    lib.equal(early, [], "H-007: the cooldown is everybody's", log)


def commits(box):
    lib.check("8 workers" in CASES["H-008"]["input"]["script"],
              "H-008: as it was handed")
    repo = box.repo("H-008", dict(lib.SMALL, **{
        "w%d.txt" % n: "old\n" for n in range(1, 9)}))
    lib.write(repo + "/uncommitted.txt", "mine\n")
    before = lib.fingerprint(repo)

    def worker(n):
        return [turn(call("edit_file", **FIX)),
                turn(call("run_command", command="echo new > w%d.txt; git add "
                          "-A && git -c user.name=w -c user.email=w@x commit "
                          "-qm w%d && git log --oneline | wc -l" % (n, n))),
                finish("fixed", "w%d" % n)]
    bodies = os.path.join(box.dir, "bodies-8")
    with FakeServer(search([worker(n) for n in range(1, 9)]),
                    keep_bodies=bodies) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "8", "--all", *SEARCH,
                    env=s.env(), timeout=120)
    lib.equal(r.status, 0, "H-008: fixed", r)
    patches = query(box.runs()[-1], "SELECT s.label, m.patch FROM summary m"
                    " JOIN subtask s ON s.id = m.subtask WHERE s.kind ="
                    " 'explore'")
    lib.equal(len(patches), 8, "H-008: eight hand back", r)
    for label, patch in patches:
        lib.check(b"w%s.txt" % label[1:].encode() in patch and
                  b"-gt" in patch, "H-008: %s: nothing is lost" % label, patch)
    said = "".join(map(text_of, request_bodies(bodies)))
    lib.check("index.lock" not in said, "H-008: no lock is met")
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "H-008: the tree, its commits and what was not committed")


LINE_10 = "".join("int line%d;\n" % n for n in range(1, 10)) + \
    "int ten = 0;\n" + "".join("int line%d;\n" % n for n in range(11, 21))


def conflict(box):
    lib.check("line 10" in CASES["H-009"]["input"]["script"],
              "H-009: as it was handed")
    repo = box.repo("H-009", {
        "a.c": LINE_10, "test.sh": "if grep -q 'ten = [12]' a.c; then echo "
        "'ok 1 - ten'; else echo 'not ok 1 - ten'; exit 1; fi\n"})
    runs = []
    for value in ("1", "2"):
        turns = [turn(call("edit_file", path="a.c", old="ten = 0",
                           new="ten = " + value)), finish("fixed", value)]
        with FakeServer({"turns": turns}) as s:
            r = box.run(repo, "-t", "sh test.sh", *MODEL, env=s.env())
        lib.equal(r.status, 0, "H-009: both fix it", r)
        runs.append(r.finished["run"])
    r = box.do("apply", "-C", repo, runs[0])
    lib.equal(r.status, 0, "H-009: the first goes in", r)
    before = lib.fingerprint(repo)
    r = box.do("apply", "-C", repo, runs[1])
    lib.check(r.status not in (0, None) and "a.c" in r.err,
              "H-009: the second is a conflict in a.c", r)
    for text in ("ten = 1", "ten = 2"):
        lib.check(text in r.err, "H-009: told with both versions", r)
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "H-009: nothing is overwritten, the tree is clean")


def histories(box):
    want = CASES["H-011"]["expected"]
    files = {"f%d.txt" % n: "CHILD-SECRET-%d %s\n" % (n, "x" * 400)
             for n in range(40)}
    files["planner.txt"] = "PLANNER-SECRET\n"
    repo = box.repo("H-011", dict(lib.SMALL, **files))
    reads = [turn(*[call("read_file", path="f%d.txt" % n)
                    for n in range(i, i + 8)]) for i in range(0, 40, 8)]
    child = reads + [finish("refuted", "first line", "second line",
                            "third line")]
    bodies = os.path.join(box.dir, "bodies-11")
    plan = search([child, [finish("refuted", "no")]],
                  [turn(call("read_file", path="planner.txt"))])
    with FakeServer(plan, keep_bodies=bodies) as s:
        r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "1", *SEARCH,
                    env=s.env())
    sent = [text_of(b) for b in request_bodies(bodies)]
    one, two = ([t for t in sent if "Your hypothesis (H%d)" % n in t]
                for n in (1, 2))
    lib.check(one and two and "CHILD-SECRET-39" in one[-1],
              "H-011: the child has read them", r)
    lib.check("third line" in two[-1], "H-011: what it found is passed on",
              two[-1][-2000:])
    lib.check("CHILD-SECRET" not in "".join(two) and
              "CHILD-SECRET" not in "".join(
                  t for t in sent if "Plan the search" in t),
              "H-011: its results stay out of the others")
    lib.check((len(two[-1]) - len(one[0])) / 4 <
              want["parent_tokens_added_max"], "H-011: little is added",
              (len(two[-1]), len(one[0])))
    lib.check("PLANNER-SECRET" not in "".join(one + two),
              "H-011: the child does not see what the planner read")


def resumable(box, name):
    """A run that was interrupted at work."""
    repo = box.repo(name, lib.SMALL)
    box.hold()
    live = box.start(repo, "-t", lib.SMALL_TEST)
    lib.check(live.wait_event("hook", 30), name + ": it is at work",
              live.lines)
    live.process.kill()
    live.process.wait()
    lib.left_alive()
    box.release()
    return os.path.basename(box.runs()[-1])


def torn(box):
    lib.check(CASES["H-017"]["input"]["log_bytes"].endswith('"te'),
              "H-017: as it was handed")
    run = resumable(box, "H-017")
    path = os.path.join(box.runs()[-1], "audit.jsonl")
    whole = lib.read(path)
    half = CASES["H-017"]["input"]["log_bytes"].splitlines()[-1]
    with open(path, "a", encoding="utf-8") as log:
        log.write(half)
    r = box.do("resume", "--json", run)
    lib.equal(r.status, 0, "H-017: it is resumed", r)
    now = lib.read(path)
    lib.check(now.startswith(whole), "H-017: the whole lines are kept")
    lines = [json.loads(line) for line in now.splitlines()]
    lib.check(now.endswith("\n") and len(lines) > len(whole.splitlines()),
              "H-017: what follows has lines of its own", now[-500:])
    lib.check(half in lib.read(os.path.join(os.path.dirname(path),
                                            "audit.torn")),
              "H-017: the half line is kept aside")
    lib.equal(box.do("audit", "--verify", run).status, 0, "H-017: audit")


def twice(box):
    lib.check("second refused (lock)" in CASES["H-018"]["expected"]["one_of"],
              "H-018: as it was handed")
    run = resumable(box, "H-018")
    box.hold()
    first = lib.Live(box, ["foray", "resume", "--json", run])
    lib.check(first.wait_event("hook", 20), "H-018: the first is there")
    second = box.do("resume", "--json", run)
    lib.check(second.status == 2 and run in second.err and
              "still going on" in second.err, "H-018: the second is refused",
              second)
    box.release()
    lib.equal(first.wait(60).status, 0, "H-018: the first is unharmed")
    for path in (glob.glob(box.runs()[-1] + "/sessions/*.jsonl") +
                 [box.runs()[-1] + "/audit.jsonl"]):
        for line in lib.read(path).splitlines():
            json.loads(line)
    lib.equal(box.do("audit", "--verify", run).status, 0, "H-018: audit")


with lib.Box() as the_box:
    for part in (budget, dies, siblings, rates, commits, conflict, histories,
                 torn, twice):
        if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
            part(the_box)
lib.done()
