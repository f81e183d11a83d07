#!/usr/bin/env python3
"""Several edits that pass: each is verified and named, one is kept."""
import json
import os

import lib

# Either constant can be the wrong one.
TEST = "sh test.sh"
SUM = {
    "one.sh": "one() {\n\techo $(($1 + 1))\n}\n",
    "two.sh": "two() {\n\techo $(($1 + 2))\n}\n",
    "test.sh": ". ./one.sh\n. ./two.sh\nsleep 0.3\nsum=$(($(one 1) + $(two 1)))\n"
               "if [ $sum = 6 ]; then echo 'ok 1 - sum'; else "
               "echo \"not ok 1 - sum\"; bad=1; fi\necho 1..1\n"
               "exit ${bad:-0}\n",
}


def changed(text):
    """The files that a patch changes."""
    return {line[6:] for line in text.splitlines() if line.startswith("+++ b/")}


def named(box, repo, *args):
    r = box.run(repo, "-t", TEST, "-m", "builtin", "-n", "2", *args,
                timeout=120)
    what = " ".join(("several",) + args)
    lib.equal(r.status, 0, what + ": fixed", r)
    others = r.finished.get("others", [])
    held = [e["candidate"] for e in r.all("verified") if e["ok"]]
    lib.equal(len(held), 1 + len(others), what + ": all that hold", r)
    lib.check({o["candidate"] for o in others} <= set(held),
              what + ": by their names", others)
    final = lib.read(r.finished["patch"])
    shown = box.do("show").out
    for o in others:
        patch = lib.read(o["patch"])
        lib.check(patch != final and len(changed(patch)) == 1,
                  what + ": another patch", patch)
        lib.check(o["fix"].split(" line ")[0] in changed(patch),
                  what + ": what it does", o)
        for text in (r.err, shown):
            lib.check(o["fix"] in text and o["patch"] in text and
                      o["candidate"] in text, what + ": it is shown", text)
        path = box.repo("other-%s-%d" % (o["candidate"], len(box.runs())), SUM)
        box.git(path, "apply", o["patch"])
        lib.equal(box.call(["sh", "test.sh"], cwd=path).status, 0,
                  what + ": it does hold", patch)
    return r, others


def every(box, tree):
    """--all: each place, also when it is replayed."""
    result, rest = named(box, tree, "--all")
    lib.check(rest, "--all: there are several", result)
    files = set().union(*(changed(lib.read(o["patch"])) for o in rest),
                        changed(lib.read(result.finished["patch"])))
    lib.equal(files, {"one.sh", "two.sh"}, "--all: both places", result)
    again = box.do("replay", "--json", timeout=120)
    lib.equal({o["candidate"] for o in again.finished.get("others", [])} |
              {e["candidate"] for e in again.all("verified") if e["ok"]},
              {e["candidate"] for e in result.all("verified") if e["ok"]},
              "--all: replayed", again)


def both(box):
    """Each of the first two workers that come to an end waits for the other."""
    came = os.path.join(box.dir, "came")
    lib.write(os.path.join(box.home, ".config/foray/settings.json"), json.dumps(
        {"hooks": {"SubagentStop": [{"matcher": "explore", "hooks": [{
            "type": "command", "timeout": 600, "command":
            "echo >>%s; while [ $(wc -l <%s) -lt 2 ]; do sleep 0.05; done" %
            (came, came)}]}]}}))


def quick(box, tree):
    """Without it: what was found by then."""
    both(box)
    result, rest = named(box, tree, "-k", "sleep 3")
    lib.check(rest, "there are several", result)
    lib.check(len(lib.read(os.path.join(box.dir, "came")).splitlines()) > 1,
              "two came to an end")
    events = result.events
    first = next(i for i, e in enumerate(events) if e["event"] == "verified")
    found = {e["label"] for e in events[:first] if e["event"] == "summary" and
             e["kind"] == "explore" and e["verdict"] == "fixed"}
    patches = {lib.read(os.path.join(box.runs()[-1], "patches", n))
               for n in os.listdir(os.path.join(box.runs()[-1], "patches"))
               if n.rsplit("-", 1)[0] in found}
    lib.equal(len(result.all("verified")), len(patches),
              "what was found before the first held is verified", result)
    begun = [e["label"] for e in events[first:] if e["event"] == "assigned" and
             e["kind"] == "explore"]
    lib.equal(begun, [], "nothing is begun after it", result)


def endless(box, tree):
    """Nobody waits for one for long."""
    # One of them takes for ever to be verified (by a command that names no file:
    # those would be protected).
    result, rest = named(box, tree, "-k", "sleep 3", "-k",
                         "cat o*.sh | grep -q '+ 1' || sleep 100")
    lib.check(len(result.all("verify_started")) > 1 and not rest and
              result.seconds < 40, "nobody waits for long", result)


ALL = (every, quick, endless)


def main(parts):
    with lib.Box() as box:
        tree = box.repo("sum", SUM)
        for part in parts:
            part(box, tree)
    lib.done()


if __name__ == "__main__":
    main((every, quick))
