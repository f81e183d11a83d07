#!/usr/bin/env python3
"""The commands that look at a finished run."""
import json
import os
import re
import subprocess

import lib

COMMANDS = ("run", "runs", "show", "log", "diff", "apply", "rm", "audit",
            "doctor", "sandbox", "tool")


def helps(box):
    for command in COMMANDS:
        r = box.do(command, "--help")
        lib.equal(r.status, 0, command + " --help", r)
        lib.check("usage: foray " + command in r.out and not r.err,
                  command + " --help says how", r)
        lib.equal([x for x in r.out.split("\n")
                   if len(x) > 80 or x != x.rstrip()], [],
                  command + " --help fits a terminal")
        r = box.do(command, "--no-such-option")
        lib.equal(r.status, 125 if command == "sandbox" else 2,
                  command + ": unknown option", r)
        lib.check("no-such-option" in r.err, command + " names the option", r)
    for words in (["--help"], ["help"], ["--version"]):
        lib.equal(box.do(*words).status, 0, " ".join(words))
    lib.equal(box.do().status, 2, "no command")
    doctor = box.do("doctor")
    lib.equal(doctor.status, 0, "doctor", doctor)
    lib.check("workers can run here" in doctor.out, "doctor says so", doctor)
    lib.check(re.search(r"\ndisk space +\S+ +\d+ MiB free at " +
                        re.escape(box.cache), doctor.out), "and the room",
              doctor)
    for settings, said in (
            ({}, "model: builtin"),
            ({"hooks": {"Foo": []}}, 'there is no event "Foo"'),
            ({"monitor": {"rules": 5}}, '"monitor"'),
            ({"model": "x/y"}, 'no provider "x"'),
            ({"permissions": {"deny": ["Bash("]}}, 'deny rule "Bash("'),
            ({"network": {"allow": [5]}}, "network.allow"),
            ({"network": {"fetch": 5}}, "network.fetch"),
            ({"sandbox": {"memory": "x"}}, '"memory"'),
            ({"colour": 1}, '"colour"')):
        config = os.path.join(box.home, "config")
        lib.write(os.path.join(config, "foray", "settings.json"),
                  json.dumps(settings))
        r = box.do("doctor", env={"XDG_CONFIG_HOME": config})
        row = [x for x in r.out.split("\n") if x.startswith("settings ")]
        lib.check(len(row) == 1 and said in row[0] and
                  ("WRONG" in row[0]) == bool(settings) and
                  r.status == (2 if settings else 0) and
                  ("no run starts" in r.out.split("\n")[-2]) == bool(settings),
                  "doctor reads the settings: " + said, r)
        lib.check(not settings or row[0].split()[2] == os.path.join(
            config, "foray", "settings.json:"), "and names the file", r)


def said_of_a_copy(box):
    """What a copy leaves out is named, and what it takes is known before."""
    repo = box.repo("copied", lib.SMALL)
    lib.write(os.path.join(repo, ".npmrc"), "token=1\n")
    for i in range(9):
        lib.write(os.path.join(repo, "d%d" % i, ".envrc"), "A=1\n")
    os.mkfifo(os.path.join(repo, "a-fifo"))
    box.own()
    r = box.do("sandbox", "--copy", "-C", repo, "--", "ls", "-A")
    lib.equal(r.status, 0, "sandbox --copy", r)
    for part in ("left out of the copy: ", ".npmrc: it may hold credentials",
                 "a-fifo: a fifo", "and 7 more"):
        lib.check(part in r.err, "what is left out is said: " + part, r)
    lib.check("npmrc" not in r.out and "fifo" not in r.out, "it is", r)
    r = box.run(repo, "-t", "true")
    lib.check(".npmrc" in r.all("snapshot")[0].get("left_out", ""),
              "a run says it, too", r)
    r = box.do("sandbox", "-C", repo, "--explain")
    lib.check("nine tenths of the machine's memory" in r.out,
              "--explain says how much memory", r)
    for limit, signal in (("cpu", "XCPU"), ("file", "XFSZ")):
        profile = os.path.join(box.dir, "limits.json")
        lib.write(profile, json.dumps({"limits": {
            "cpu": "90s", "file": "64M"}}))
        box.own()
        r = box.do("sandbox", "-C", repo, "--profile", profile, "--", "sh",
                   "-c", "kill -%s $$" % signal)
        lib.check("limits." + limit in r.err, limit + ": the limit is named", r)
    store = os.path.join(box.cache, "foray", "snapshots")
    lib.check(os.listdir(store), "there are snapshots")
    for name in os.listdir(store):
        mode = os.stat(os.path.join(store, name)).st_mode
        lib.equal(mode & 0o77, 0, "nobody else reads " + name)
    os.symlink(box.dir, os.path.join(repo, "leads-out"))
    for option in ("--show", "--write"):
        for path in ("leads-out", "./leads-out", os.path.join(repo, "leads-out")):
            r = box.do("sandbox", option, path, "--", "true", cwd=repo)
            lib.check(r.status == 125 and "symbolic link" in r.err,
                      "%s %s is refused" % (option, path), r)
    r = box.do("doctor", env={"HOME": "/dev/null/none", "XDG_CACHE_HOME": ""})
    lib.check(r.status == 5 and "/dev/null/none" in r.out,
              "doctor: no HOME, no workspace", r)


def said_of_nothing(box):
    """No run, a closed pipe, a full disk, names that are none."""
    none = {"XDG_STATE_HOME": os.path.join(box.dir, "no-state"),
            "XDG_DATA_HOME": os.path.join(box.dir, "no-state")}
    r = box.do("runs", env=none)
    lib.check(r.status == 0 and not r.out and "no runs" in r.err, "no runs", r)
    read, write = os.pipe()
    os.close(read)
    with open("/dev/full", "wb") as full:
        for out, said in ((full, "could not be written"), (write, None)):
            p = box.popen(["foray", "run", "--help"], stdout=out,
                          stderr=subprocess.PIPE)
            err = p.communicate()[1].decode()
            lib.check(said in err if said else err == "",
                      "a full disk is said, a closed pipe is not", err)
    small = box.repo("unheard", lib.SMALL)
    with open("/dev/full", "wb") as full:
        for args, out, status, said in (
                (["run", "-C", small, "-t", lib.SMALL_TEST], full, 0, True),
                (["run", "-C", small, "-t", lib.SMALL_TEST], write, 0, False),
                (["diff"], full, 5, True), (["diff"], write, 0, False)):
            p = box.popen(["foray"] + args, stdout=out, stderr=subprocess.PIPE)
            err = p.communicate()[1].decode()
            lib.equal((p.returncode, "could not be written" in err),
                      (status, said), "%s, unheard" % args[0], err)
    os.close(write)
    r = box.do("run", "-C", box.repo("hosts", lib.SMALL), "-t", "true",
               "--allow-net", "http://foo")
    lib.check(r.status == 2 and "--allow-net: " in r.err and
              "network.allow" not in r.err, "the option is named", r)
    profile = os.path.join(box.dir, "circle.json")
    lib.write(profile, json.dumps({"extends": profile}))
    r = box.do("sandbox", "-C", box.repo("circle", lib.SMALL), "--profile",
               profile, "--", "true")
    lib.check(r.status == 125 and r.err.count("circle.json") == 1 and
              "in a circle" in r.err, "a circle is named once", r)
    for value, status, said in (("A B=1", 125, '"A B" is no name'),
                                ("NOPE", 0, "NOPE: it is not set here")):
        r = box.do("sandbox", "-C", box.repo("env", lib.SMALL), "--env", value,
                   "--", "true")
        lib.check(r.status == status and said in r.err,
                  "--env " + value, r)


def too_large(box):
    """A patch that is too large to be kept is not lost without a word."""
    repo = box.repo("large", lib.SMALL)
    call = ("tool", "-C", repo, "run_command",
            json.dumps({"command": "echo b >>new; seq 300000 >newer"}))
    r = box.do(*call)
    lib.check(r.json["ok"] and not r.json["patch"] and
              "1048576" in " ".join(r.json["notes"]), "tool: it is noted", r)
    r = box.do("tool", "--apply", *call[1:])
    lib.check(r.status == 1 and not r.json["ok"] and r.json["notes"],
              "tool --apply: nothing is applied", r)
    lib.check(not os.path.exists(os.path.join(repo, "new")), "indeed nothing")


def no_runs(box):
    lib.equal(box.do("runs").status, 0, "runs, when there is none")
    for command in ("show", "log", "diff", "apply", "audit"):
        r = box.do(command)
        lib.equal(r.status, 2, command + ", when there is no run", r)
        lib.check("no run" in r.err, command + " says so", r)


def finished_run(box, repo):
    r = box.run(repo, "-t", lib.SMALL_TEST, "-n", "2")
    lib.equal(r.status, 0, "the run", r)
    name = r.finished.get("run", "")
    workers = [e["worker"] for e in r.all("model_call")]
    for e in r.events:
        lib.check(e["run"] == name and e["t"] >= 0, "each event has run and t", e)
    runs = box.do("runs")
    lib.check(name in runs.out and "fixed" in runs.out, "runs lists it", runs)
    for words in (["show"], ["show", name], ["show", name[:-1]]):
        show = box.do(*words)
        lib.check(show.status == 0 and name in show.out and
                  "fixed" in show.out and "H1" in show.out and
                  lib.SMALL_TEST in show.out and "2 fail" in show.out and
                  "\ntime " in show.out, " ".join(words), show)
    log = box.do("log")
    lib.check(log.status == 0 and log.out.count("\n") > 5, "log", log)
    log = box.do("log", "--json", name)
    lib.equal([e["event"] for e in log.events],
              [e["event"] for e in r.events], "log --json has all events")
    log = box.do("log", "-f", name)
    lib.equal(log.status, 0, "log -f of a finished run ends", log)
    if lib.check(workers, "workers called the model", r):
        log = box.do("log", workers[0], name)
        lib.check(log.status == 0 and "turn" in log.out, "log WORKER", log)
        log = box.do("log", "--json", workers[0])
        lib.check(log.status == 0 and
                  all(isinstance(json.loads(line), dict)
                      for line in log.out.splitlines()), "as JSON", log)
    lib.equal(box.do("log", "w999").status, 2, "log of no such worker")
    log = box.do("log", "w1")
    lib.check(log.status == 2 and "(baseline) talked to no model" in log.err,
              "log of one without a conversation", log)
    audit = box.do("audit", name)
    lib.check(audit.status == 0 and
              all(json.loads(line)["n"] == n + 1
                  for n, line in enumerate(audit.out.splitlines())),
              "audit prints numbered lines", audit)
    for word in (["show", "nope"], ["diff", "nope"], ["rm", "nope"],
                 ["audit", "--verify", "nope"], ["apply", "nope"],
                 ["log", "nope"]):
        r = box.do(*word)
        lib.equal(r.status, 2, " ".join(word), r)
        lib.check("nope" in r.err, " ".join(word) + " names it", r)
    lib.equal(box.do("show", "a", "b").status, 2, "two runs are too many")
    lib.equal(box.do("rm").status, 2, "rm of nothing")
    return name


def diff_and_apply(box, repo, name):
    diff = box.do("diff", name)
    lib.check(diff.status == 0 and diff.out.startswith("diff --git") or
              diff.out.startswith("--- "), "diff prints a patch", diff)
    checked = os.path.join(box.dir, "x.patch")
    lib.write(checked, diff.stdout)
    lib.equal(box.call(["git", "-C", repo, "apply", "--check", checked]).status,
              0, "git apply --check takes it")
    other = box.repo("other", lib.SMALL)
    lib.equal(box.do("apply", "-C", other, name).status, 0, "apply -C")
    lib.equal(box.call(["sh", "test.sh"], cwd=other).status, 0, "it is fixed")
    lib.equal(box.call(["sh", "test.sh"], cwd=repo).status, 1,
              "the run's own tree is not")
    lib.equal(box.do("apply", "--branch", "b", name).status, 0,
              "apply --branch")
    lib.check(b"b" in box.git(repo, "branch", "--format=%(refname:short)")
              .split(), "the branch is there")
    lib.equal(box.do("apply").status, 0, "apply")
    lib.equal(box.call(["sh", "test.sh"], cwd=repo).status, 0, "it is fixed")
    before = lib.fingerprint(repo)
    again = box.do("apply")
    lib.check(again.status not in (0, None) and "applied already" in again.err,
              "applying it again fails with a reason", again)
    lib.check("would make" not in again.err, "which is no conflict", again)
    lib.equal(lib.differences(before, lib.fingerprint(repo)), [],
              "and changes nothing")


def plain_view(box, repo):
    r = box.do("run", "-C", repo, "-t", lib.SMALL_TEST)
    lib.equal(r.status, 2, "green tests", r)
    fresh = box.repo("plain", lib.SMALL)
    r = box.do("run", "-C", fresh, "-t", lib.SMALL_TEST)
    lib.equal(r.status, 0, "without --json", r)
    lib.check(os.path.isfile(r.out.strip()), "stdout is the patch's path", r)
    r2 = box.do("run", fresh)
    lib.check(r2.status == 2 and "run -C " + fresh in r2.err,
              "a directory is no TASK", r2)
    lib.check("\033" not in r.err, "no escapes when it is no terminal", r)
    box.tool(fresh, "list_dir", {"path": "."})
    diff = box.do("diff")
    lib.check(diff.out == lib.read(r.out.strip()), "the latest run is it")


def remove(box, name):
    runs = len(box.runs())
    lib.equal(box.do("rm", name).status, 0, "rm")
    lib.check(len(box.runs()) == runs - 1 and name not in box.do("runs").out,
              "it is gone")
    lib.equal(box.do("show", name).status, 2, "and can't be shown")


with lib.Box() as the_box:
    helps(the_box)
    no_runs(the_box)
    said_of_nothing(the_box)
    said_of_a_copy(the_box)
    too_large(the_box)
    tree = the_box.repo("tree", lib.SMALL)
    run = finished_run(the_box, tree)
    diff_and_apply(the_box, tree, run)
    plain_view(the_box, tree)
    remove(the_box, run)
lib.done()
