#!/usr/bin/env python3
"""The orchestrator's state is its store: a run that was killed goes on without
its cache and in another home; a full disk is told and the record stays whole."""
import os
import shutil
import sqlite3

import lib


def killed(box, name):
    """(tree, run) of a run that was killed at work."""
    repo = box.repo(name, lib.SMALL)
    box.hold()
    live = box.start(repo, "-t", lib.SMALL_TEST)
    lib.check(live.wait_event("hook", 30), name + ": it is at work",
              live.lines)
    live.process.kill()
    live.process.wait()
    lib.left_alive()
    box.release()
    return repo, box.runs()[-1]


def without_cache(box):
    repo, run = killed(box, "same")
    shutil.rmtree(box.cache + "/foray")
    r = box.do("resume", "--json", os.path.basename(run))
    lib.equal(r.status, 0, "the snapshot is made again", r)
    lib.equal(box.do("audit", "--verify").status, 0, "the audit is whole")

    repo, run = killed(box, "changed")
    shutil.rmtree(box.cache + "/foray")
    lib.write(repo + "/more.txt", "more\n")
    r = box.do("resume", "--json", os.path.basename(run))
    lib.check(r.status == 2 and "has changed since" in r.err and repo in r.err,
              "the tree has changed and the snapshot is gone", r)
    os.unlink(repo + "/more.txt")
    r = box.do("resume", "--json", os.path.basename(run))
    lib.equal(r.status, 0, "as it was then, it goes on", r)


def elsewhere(box):
    repo, run = killed(box, "moved")
    with lib.Box() as other:
        top = os.path.join(other.state, "foray/runs")
        os.makedirs(top)
        shutil.copytree(run, os.path.join(top, os.path.basename(run)))
        r = other.do("resume", "--json", os.path.basename(run))
        lib.equal(r.status, 0, "in another home it goes on", r)
        lib.equal(other.do("audit", "--verify").status, 0, "and the audit")
        shutil.copytree(repo, repo + ".away")
        shutil.rmtree(repo)
        shutil.rmtree(other.cache + "/foray")
        r = other.do("resume", "--json", os.path.basename(run))
        lib.check(r.status not in (0, None) and repo in r.err,
                  "without the repository: it is named", r)


def full(box):
    """A disk of its own for what is on record, and it is small."""
    repo = box.repo("full", lib.SMALL)
    root = os.geteuid() == 0
    state, saved = os.path.join(box.dir, "small"), os.path.join(box.dir, "kept")
    os.mkdir(state)
    again = [] if root else ["unshare", "--user", "--map-user=1000",
                             "--map-group=1000"]
    inside = ["sh", "-c", "mount -t tmpfs -o size=$1,mode=777 none $2 || exit 99;"
              " keep=$3 from=$2; shift 3; \"$@\"; s=$?; cp -a $from $keep;"
              " exit $s", "sh"]
    told = []
    for size in ("150k", "250k", "400k"):
        shutil.rmtree(saved, ignore_errors=True)
        r = box.call(["unshare", "--mount",
                      *([] if root else ["--user", "--map-root-user"]),
                      *inside, size, state, saved, *again, box.foray, "run",
                      "-C", repo, "--json", "-t", lib.SMALL_TEST, "--all"],
                     env={"XDG_STATE_HOME": state})
        lib.check(r.status not in (None, 99) and r.status >= 0,
                  size + ": it ends by itself", r)
        if r.status == 0:
            continue
        told.append(size)
        lib.check("full" in r.err or "no space left" in r.err.lower(),
                  size + ": a full disk is named", r)
        runs = os.path.join(saved, "foray/runs")
        for name in os.listdir(runs) if os.path.isdir(runs) else []:
            path = os.path.join(runs, name, "run.db")
            if not os.path.exists(path) or os.path.getsize(path) == 0:
                continue
            db = sqlite3.connect(path)
            lib.equal(db.execute("PRAGMA integrity_check").fetchall(),
                      [("ok",)], size + ": the record is whole")
            tables = db.execute("SELECT count(*) FROM sqlite_master"
                                " WHERE name = 'event'").fetchone()[0]
            db.close()
            if tables and os.path.exists(
                    os.path.join(runs, name, "audit.jsonl")):
                v = box.do("audit", "--verify", name,
                           env={"XDG_STATE_HOME": saved})
                lib.equal(v.status, 0, size + ": and the audit", v)
    lib.check(told, "one of them was full")
    print("full at", told)


with lib.Box() as the_box:
    without_cache(the_box)
    elsewhere(the_box)
    full(the_box)
lib.done()
