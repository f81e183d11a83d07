#!/usr/bin/env python3
"""Before a model that is paid for is asked, the built-in one tries: what it
fixes costs nothing, what it rules out the other is told."""
import glob
import json
import os
import sys

import lib

sys.path.insert(0, lib.TESTS)
from fake.client import FakeServer  # noqa: E402

MODEL = "openai/fake-model"
NOTE = "A program has tried small edits"
RULED_OUT = "none makes the tests pass"

# Not to be mended by one small edit.
TEST = "sh test.sh"
LONG = "600s"  # for the pass, where it is to come to its end: 10 s may not do
WORD = {
    "word.sh": "word() {\n\tcase \"$1\" in\n\t1) echo one ;;\n\t2) echo two ;;\n"
               "\tesac\n}\n\nplural() {\n\tif [ \"$1\" -gt 1 ]; then\n"
               "\t\techo \"${2}s\"\n\telse\n\t\techo \"$2\"\n\tfi\n}\n",
    "test.sh": ". ./word.sh\nbad=0\nis() {\n\tif [ \"$1\" = \"$2\" ]; then\n"
               "\t\techo \"ok - $2\"\n\telse\n\t\techo \"not ok - $2\"\n"
               "\t\tbad=1\n\tfi\n}\nis \"$(word 1)\" one\nis \"$(word 2)\" two\n"
               "is \"$(word 3)\" three\nis \"$(plural 2 cat)\" cats\n"
               "is \"$(plural 1 cat)\" cat\necho 1..5\nexit $bad\n",
}
MEND = {"path": "word.sh", "old": "\tesac", "new": "\t3) echo three ;;\n\tesac"}


def call(tool, **arguments):
    return {"name": tool, "arguments": arguments}


def finish(verdict, *findings):
    return {"text": "", "calls": [call(
        "finish", verdict=verdict, findings=list(findings))]}


def steps(n):
    return [{"text": "", "calls": [call("run_command",
                                        command="echo %d; cat word.sh" % i)]}
            for i in range(n)]


MENDS = [{"text": "", "calls": [call("edit_file", **MEND)]},
         finish("fixed", "it knows three")]
PLAN = {"match": "Plan the search", "turns": [{"text": "", "calls": [call(
    "finish", verdict="done", hypotheses=[
        {"statement": "word() lacks an arm", "place": "word.sh:2",
         "refuted_by": "the arm is there"},
        {"statement": "plural() is at fault", "place": "word.sh:8",
         "refuted_by": "its tests pass"}])]}]}
GIVES_UP = {"match": "Find the cause", "turns": [finish("stuck", "no idea")]}
SECOND = {"match": r"Your hypothesis \(H2\)",
          "turns": [finish("refuted", "plural() is right")]}
FIRST = {"match": r"Your hypothesis \(H1\)", "turns": steps(2) + MENDS}


def settings(box, server, **more):
    lib.write(os.path.join(box.home, ".config/foray/settings.json"), json.dumps(
        dict({"providers": {"priced": {
            "api": "openai-chat", "base_url": server.base("openai"),
            "key_env": "OPENAI_API_KEY", "models": {"fake-model": {
                "context": 100000, "max_output": 1000,
                "price": {"in": 10, "out": 100}}}}}}, **more)))


def of_pass(r):
    """The labels of its subtasks that were given to workers."""
    return [e["label"] for e in r.all("assigned") if "builtin-" in e["label"]]


def planned(r):
    return [e for e in r.all("planned") if e.get("pass")]


def paid(r):
    return [e for e in r.all("assigned") if e.get("model") not in
            (None, "builtin")]


def prompts(bodies):
    """Of each request, what comes before the first reply, as one text."""
    found = []
    for path in sorted(glob.glob(bodies + "/*")):
        texts = []
        for m in json.loads(lib.read(path))["messages"]:
            if m["role"] == "assistant":
                break
            texts.append(m["content"])
        found.append(texts)
    return found


def fixes(box):
    """What it fixes is free, whatever the budget, and nobody is asked."""
    repo = box.repo("fixes", lib.SMALL)
    for args in ((), ("--max-calls", "1"), ("--max-usd", "0.000001"),
                 ("--topology", "single", "-n", "1")):
        what = "fixes, " + " ".join(args)
        with FakeServer({"turns": []}) as s:
            settings(box, s, builtin_pass=LONG)
            r = box.run(repo, "-t", TEST, "-m", "priced/fake-model", "-n", "2",
                        *args, first=True, env=s.env())
            lib.equal(s.log(), [], what + ": no request")
        lib.equal(r.status, 0, what + ": fixed", r)
        lib.check(r.all("verified")[-1]["candidate"].startswith("builtin-"),
                  what + ": by which worker", r)
        lib.equal(paid(r), [], what + ": nothing for the other model", r)
        usage = r.finished.get("usage", {})
        lib.equal((usage.get("calls"), usage.get("cost_usd")), (0, 0),
                  what + ": the bill", r)
        lib.equal({e["model"] for e in r.all("assigned")
                   if e["kind"] in ("plan", "explore")}, {"builtin"},
                  what + ": the events tell who plays", r)
    lib.equal(planned(r)[0]["hypotheses"][0]["id"], "builtin-1",
              "fixes: planned", r)
    shown = box.do("show").out
    for part in ("builtin-plan", "verify-builtin-1", "calls    0"):
        lib.check(part in shown, "fixes: show has " + part, shown)
    lib.equal(box.do("audit", "--verify").status, 0, "fixes: the audit chain")
    patch = lib.read(r.finished["patch"])
    again = box.do("replay", "--json")
    lib.equal((again.status, lib.read(again.finished.get("patch", "/dev/null"))),
              (0, patch), "fixes: replayed", again)
    lib.equal(of_pass(again), of_pass(r), "fixes: the replay has it, too", again)


def tells_elsewhere(box):
    for topology, scripts in (
            ("single", [dict(FIRST, match="Find the cause")]),
            ("escalate", [GIVES_UP, PLAN, FIRST, SECOND])):
        told_in(box, topology, scripts)


def tells(box):
    told_in(box, "hypotheses", [PLAN, FIRST, SECOND])


def told_in(box, topology, scripts):
    """What it ruled out is in every prompt of the other model, once."""
    repo = box.repo("tells-" + topology, WORD)
    bodies = os.path.join(box.dir, "bodies-" + topology)
    os.mkdir(bodies)
    with FakeServer({"scripts": scripts}, keep_bodies=bodies) as s:
        settings(box, s, builtin_pass=LONG)
        r = box.run(repo, "-t", TEST, "-m", MODEL, "-n", "2", "--topology",
                    topology, first=True, env=s.env())
        lib.equal(s.errors(), "", topology + ": the server is fine")
        asked = s.sums()["accepted"]
    lib.equal(r.status, 0, topology + ": fixed", r)
    lib.check(not r.all("verified")[-1]["candidate"].startswith("builtin"),
              topology + ": by the paid model", r)
    lib.equal(r.finished["usage"]["calls"], asked,
              topology + ": its calls alone are counted", r)
    order = [e.get("model") for e in r.all("assigned")
             if e["kind"] in ("plan", "explore")]
    lib.check(order == sorted(order, key=lambda m: m != "builtin") and
              {"builtin", MODEL} == set(order), topology + ": the order",
              order)
    sent = prompts(bodies)
    tasks = {p[1] for p in sent}
    lib.equal(len(tasks), 1, topology + ": the prompt is the same for all")
    lines = [x for x in tasks.pop().splitlines() if RULED_OUT in x]
    told = [f for e in r.all("summary") for f in e["findings"]
            if e["label"].startswith("builtin-") and RULED_OUT in f]
    lib.check(lines and "word.sh" in lines[0], topology + ": places", lines)
    lib.equal(sorted(x[2:] for x in lines), sorted(told),
              topology + ": they are the findings")
    lib.check(all("".join(p).count(NOTE) == 1 for p in sent),
              topology + ": in each once", sent[-1])
    shown = box.do("show").out
    lib.check(all(f in shown for f in told), topology + ": show", shown)
    again = box.do("replay", "--json")
    lib.equal(again.status, 0, topology + ": replayed", again)
    lib.equal(of_pass(again), of_pass(r), topology + ": with the pass",
              again)


def left_out(box):
    """--no-builtin, the setting, slow tests, nothing to try: it is said."""
    script = {"scripts": [{"match": ".", "turns": [finish("stuck", "no")]}]}
    empty = {"words.txt": "one\n", "test.sh": "grep -q two words.txt\n"}
    slow = lib.small(**{"test.sh": "sleep 5.1\n" + lib.SMALL["test.sh"]})
    for what, files, args, setting, reason in (
            ("--no-builtin", lib.SMALL, ["--no-builtin"], {}, None),
            ("builtin_pass: false", lib.SMALL, [], {"builtin_pass": False},
             None),
            ("1 s", lib.SMALL, [], {"builtin_pass": "1s"}, "two seconds"),
            ("--max-time", lib.SMALL, ["--max-time", "7"], {}, "two seconds"),
            ("no sources", empty, [], {}, "No source file"),
            ("slow tests", slow, [], {}, "the tests take 5.")):
        repo = box.repo("left-" + what.replace(" ", "-"), files)
        with FakeServer(script) as s:
            settings(box, s, **setting)
            r = box.run(repo, "-t", TEST, "-m", MODEL, "--topology", "single",
                        *args, first=True, env=s.env())
            lib.equal(s.sums()["accepted"], 1, what + ": the other is asked", r)
        lib.equal(r.status, 1, what + ": it gave up", r)
        lib.equal([x for x in of_pass(r) if x != "builtin-plan"], [],
                  what + ": nothing is tried", r)
        said = [(e["hypotheses"], reason in e["reason"]) for e in planned(r)] \
            if reason else planned(r)
        lib.equal(said, [([], True)] if reason else [], what + ": said", r)
        if reason:
            lib.check(reason in r.err and "left out" in r.err,
                      what + ": for a person", r.err)


def refused(box):
    repo = box.repo("refused", lib.SMALL)
    with FakeServer({"turns": []}) as s:
        for args, env, part in (
                (["-m", "builtin"], {}, "--no-builtin"), ([], {}, "--no-builtin"),
                (["-m", "replay:x"], {}, "replay")):
            r = box.do("run", "-C", repo, "-t", TEST, "--no-builtin", *args,
                       env=env)
            lib.equal(r.status, 2, "--no-builtin %s: status" % args, r)
            lib.check(part in r.err, "--no-builtin %s: why" % args, r)
        for bad in (10, True, "soon", "0", None):
            settings(box, s, builtin_pass=bad)
            r = box.run(repo, "-t", TEST, "-m", MODEL, env=s.env())
            lib.equal(r.status, 2, "builtin_pass: %r: status" % bad, r)
            lib.check("builtin_pass" in r.err, "builtin_pass: %r: why" % bad, r)
        lib.equal(s.log(), [], "nothing was asked")
    lib.check("--no-builtin" in box.do("run", "--help").out, "--help has it")


def alone(box):
    """With -m builtin there is no pass before it."""
    r = box.run(box.repo("alone", lib.SMALL), "-t", TEST, "-m", "builtin")
    lib.equal(r.status, 0, "alone: fixed", r)
    lib.equal((planned(r), of_pass(r)), ([], []), "alone: no pass", r)
    lib.equal(r.all("planned")[0]["hypotheses"][0]["id"], "H1", "alone: H1", r)


def took(*results):
    """Seconds from the pass's begin to the first worker of the other model."""
    began = [e["t"] for r in results for e in r.all("assigned")
             if e["label"] == "builtin-plan"]
    ended = [e["t"] for r in results for e in paid(r)]
    return ended[0] - began[0] if began and ended else -1


def hangs(box):
    """Its time is kept when each edit makes the tests hang, and what was cut
    off is not called ruled out."""
    files = dict(WORD, **{"test.sh": "case $(cksum <word.sh) in %s) ;; *) sleep "
                                     "600 ;; esac\n" + WORD["test.sh"]})
    path = box.repo("sum", files)
    number = box.call(["sh", "-c", "cksum <word.sh"], cwd=path).out.strip()
    files["test.sh"] = files["test.sh"].replace("%s", "'%s'" % number, 1)
    repo = box.repo("hangs", files)
    bodies = os.path.join(box.dir, "bodies")
    os.mkdir(bodies)
    with FakeServer({"turns": [finish("stuck", "no")]}, keep_bodies=bodies) as s:
        settings(box, s, builtin_pass="2s")
        r = box.run(repo, "-t", TEST, "-m", MODEL, "--topology", "single",
                    first=True, env=s.env())
    lib.equal(r.status, 1, "hangs: the other was asked", r)
    lib.check(0 < took(r) < 4 * lib.BUSY, "hangs: %.1f s of 2" % took(r), r)
    lib.equal({e["tried"] for e in r.all("summary")
               if e["label"].startswith("builtin-")}, {0},
              "hangs: nothing has a result", r)
    lib.check(NOTE not in json.dumps(prompts(bodies)), "hangs: nothing is told")


def held_up(box):
    """What does not end by itself is ended: here a hook holds its tools."""
    for tool in ("try_edits", "read_file"):
        repo = box.repo("held-up-" + tool, WORD)
        with FakeServer({"turns": MENDS}) as s:
            settings(box, s, builtin_pass="2s", hooks={"PreToolUse": [
                {"matcher": tool, "hooks": [{
                    "type": "command", "command": "sleep 250", "timeout": 300}]}]})
            r = box.run(repo, "-t", TEST, "-m", MODEL, "--topology", "single",
                        "-n", "1", first=True, env=s.env())
        lib.equal(r.status, 0, tool + " held up: the other model fixes it", r)
        lib.check(6.5 < took(r) < 10 * lib.BUSY, tool + " held up: %.1f s" % took(r), r)
        lib.equal(len(planned(r)), 1, tool + " held up: said", r)
    lib.check("took its time" in planned(r)[0]["reason"], "held up: why", r)


def killed(box):
    """kill -9 in the pass and after it: it goes on, and is not made twice."""
    turns = [dict(t, latency=400) for t in steps(3) + MENDS]
    slow = dict(WORD, **{"test.sh": "sleep 0.2\n" + WORD["test.sh"]})
    for n, what in enumerate(("at its plan", "in it", "after it")):
        came = {"at its plan": lambda: live.events("planned"),
                "in it": lambda: [e for e in live.events("tool_call")
                                  if e["tool"] == "try_edits"],
                "after it": lambda: s.sums()["accepted"] >= 2}[what]
        after = what == "after it"
        what = "killed " + what
        repo = box.repo("killed%d" % n, slow)
        with FakeServer({"turns": turns}) as s:
            settings(box, s, builtin_pass="3s")
            live = box.start(repo, "-t", TEST, "-m", MODEL, "-n", "2",
                             "--topology", "single", first=True, env=s.env())
            came = lib.wait_until(came, 30)
            live.signal(9)
            before = live.wait(10)
            lib.check(came, what + ": it came so far", before)
            lib.equal(s.sums()["accepted"] > 0, after, what + ": asked by then")
            r = box.do("resume", "--json", os.path.basename(box.runs()[-1]),
                       env=s.env())
            lib.equal(r.status, 0, what + ": resumed and fixed", r)
            sums = s.sums()
        lib.check(sums["accepted"] <= len(turns) + 1,
                  what + ": nothing is asked twice", sums)
        lib.check("builtin-plan" not in of_pass(r), what + ": no second plan", r)
        if after:
            lib.equal(of_pass(r), [], what + ": no pass again", r)
        ends = [e["label"] for x in (before, r) for e in x.all("summary")
                if e["label"].startswith("builtin-")]
        lib.equal(sorted(ends), ["builtin-1", "builtin-2", "builtin-plan"],
                  what + ": each ended once")
        lib.check(0 < took(before, r) < 7 * lib.BUSY,
                  what + ": the pass took %.1f s" % took(before, r), r)
        lib.equal(box.do("audit", "--verify").status, 0, what + ": audit")


def whole(box):
    """With a TASK and green tests: it is tried once the reproducer holds."""
    green = dict(lib.SMALL, **{"test.sh": lib.SMALL["test.sh"].replace(
        "is 1 2 3 3\nis 2 3 2 3\n", "")})
    script = {"turns": [
        {"text": "", "calls": [call("edit_file", path="repro_test.sh", old="",
            new='. ./max.sh\n[ "$(max 2 3)" = 3 ] || { echo "it is not 3"; '
                "exit 1; }\n")]},
        finish("done", "command: sh repro_test.sh", "expect: it is not 3")]}
    with FakeServer(script) as s:
        settings(box, s, builtin_pass=LONG)
        r = box.run(box.repo("whole", green), "-t", TEST, "-m", MODEL,
                    "max of 2 and 3 is 2", first=True, env=s.env())
        lib.equal(s.sums()["accepted"], 2, "a reproducer: only it is paid for", r)
    lib.equal(r.status, 0, "a reproducer: fixed", r)
    lib.equal(r.finished.get("evidence"), "reproducer", "a reproducer: said", r)
    lib.equal(r.finished["usage"]["calls"], 2, "a reproducer: the bill", r)


ALL = (fixes, tells, tells_elsewhere, left_out, refused, alone, hangs, held_up,
       killed, whole)
QUICK = (fixes, tells, refused, alone, hangs, whole)


def main(parts):
    for part in parts:
        with lib.Box() as box:
            part(box)
    lib.done()


if __name__ == "__main__":
    main([p for p in ALL if p.__name__ in sys.argv[1:]] or QUICK)
