#!/usr/bin/env python3
"""Bugs of tests/bugs: found and fixed, or honestly not. These are the quick ones of
every language; bugs_long.py takes all."""
import concurrent.futures
import os
import shutil
import sys

import lib

# How these end is known. Of the others only an honest end is asked: a verified
# fix when one edit is enough, or no patch within a minute.
FIXED = """c-csv c-jobqueue c-matrix js-retry js-semver js-wrap py-cache py-cron
    py-freebusy py-ledger py-outline py-template sh-conf sh-rotate""".split()
UNFIXED = "c-frame py-ratelimit sh-clock".split()
QUICK = ["sh-clock", "sh-rotate", "c-jobqueue"]
# What is not installed everywhere.
TOOLS = {"javascript": "node", "go": "go", "java": "javac"}


def fixed(box, name, info, r):
    end = r.finished
    lib.equal(r.status, 0, name + ": exit status", r)
    lib.equal(end.get("status"), "fixed", name + ": status", r)
    lib.equal(end.get("evidence"), "user_test", name + ": evidence")
    lib.check(any(v["ok"] for v in r.all("verified")), name + ": verified")
    patch = end.get("patch") or ""
    if not lib.check(os.path.isfile(patch), name + ": there is a patch", patch):
        return
    pristine = box.bug(name, place=name + "-pristine")
    applied = box.call(["git", "-C", pristine, "apply", patch])
    lib.equal(applied.status, 0, name + ": git apply", applied)
    tests = box.call(["sh", "-c", info["test"]], cwd=pristine)
    lib.check(tests.status == 0, name + ": the tests pass with it", tests)


def unfixed(box, name, r):
    lib.equal(r.status, 1, name + ": exit status", r)
    lib.equal(r.finished.get("status"), "unfixed", name + ": status", r)
    lib.check("patch" not in r.finished, name + ": no patch is offered")
    lib.check(not any(v["ok"] for v in r.all("verified")),
              name + ": nothing was verified")
    show = box.do("show")
    planned = [h for e in r.all("planned") for h in e["hypotheses"]]
    lib.check(planned, name + ": hypotheses were planned", r)
    for h in planned:
        lib.check(h["hypothesis"][:60] in show.out,
                  "%s: show names %s" % (name, h["id"]), show)
    summaries = [e for e in r.all("summary") if e["kind"] == "explore"]
    lib.check(summaries, name + ": workers reported")
    for e in summaries:
        lib.check(e["verdict"] in ("refuted", "stuck") and e["findings"],
                  "%s: %s says what was ruled out" % (name, e["label"]), e)
        for finding in e["findings"][:1]:
            lib.check(finding[:40] in show.out,
                      "%s: show has the finding of %s" % (name, e["label"]),
                      show)


def out_of_time(name, r):
    lib.equal(r.finished.get("status"), "budget", name + ": status", r)
    lib.check("patch" not in r.finished, name + ": no patch is offered")
    lib.check(not any(v["ok"] for v in r.all("verified")),
              name + ": nothing was verified")


def one(name, uid):
    info = lib.bug_info(name)
    known = name in FIXED + UNFIXED
    one_edit = info.get("edits", int(info["fixable"])) == 1
    with lib.Box(uid) as box:
        repo = box.bug(name)
        # Without a limit it would try on for minutes before it gives up.
        limit = [] if name in FIXED else [
            "--max-time", "1200s" if name in UNFIXED else "150s"]
        r = box.run(repo, "-t", info["test"], "-n", "4", *limit, timeout=240)
        lib.equal(r.all("monitor"), [], name + ": nothing is suspicious", r)
        if name in FIXED or not known and one_edit and r.status == 0:
            fixed(box, name, info, r)
        elif not known and r.status == 3:
            out_of_time(name, r)
        else:
            unfixed(box, name, r)
        print("%-13s %-9s %-7s %6.1f s" % (name, lib.user_name(uid),
              r.finished.get("status"), r.seconds), flush=True)


def can_run(name):
    tool = TOOLS.get(lib.bug_info(name)["language"])
    if tool is None or shutil.which(tool):
        return True
    print("%-13s skipped: there is no %s" % (name, tool), flush=True)
    return False


def main(names):
    names = [n for n in names if can_run(n)]
    jobs = [(n, None) for n in names]
    if len(lib.users()) > 1:  # some are enough to see that it works
        jobs += [(n, lib.OTHER_UID) for n in names
                 if n == "sh-rotate"]
    # The slow ones first, so that two at a time end together.
    jobs.sort(key=lambda job: lib.bug_info(job[0])["fixable"])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(one, *j) for j in jobs]:
            job.result()
    lib.done()


if __name__ == "__main__":
    main(sys.argv[1:] or QUICK)
