#!/usr/bin/env python3
"""Limits of a call, a subtask and a sandbox: whatever reaches one is ended with
a sentence that names it, and no control group is left, whoever was killed.

Where this user has no control groups, memory is limited for each process."""
import json
import os
import signal
import time

import lib

CONTROLLERS = ("memory", "pids", "cpu", "freezer")


# ------------------------------------------------------------ control groups


def own_groups():
    """Directories of our own control groups, as far as they are writable."""
    paths = {}
    for line in lib.read("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            paths[name] = path
    found = []
    for line in lib.read("/proc/self/mountinfo").splitlines():
        left, right = line.split(" - ")
        root, point = left.split()[3:5]
        kind, _, options = right.split()[:3]
        names = [""] if kind == "cgroup2" else \
            [n for n in options.split(",") if n in CONTROLLERS]
        for name in names if kind.startswith("cgroup") else []:
            rel = os.path.relpath(paths.get(name, root), root)
            path = os.path.normpath(os.path.join(point, rel))
            if os.access(path, os.W_OK):
                found.append(path)
    return found


def groups(pids=None):
    """Groups that foray made: those of these pids, or all."""
    return [os.path.join(top, n) for top in own_groups()
            for n in os.listdir(top) if n.startswith("foray-") and
            n != "foray-main" and
            (pids is None or int(n.split("-")[1]) in pids)]


def has_groups(box):
    """What foray says of them, and so what is to be expected."""
    text = box.do("doctor").out
    line = [l for l in text.splitlines() if l.startswith("cgroup")]
    return bool(line) and line[0].split()[1] == "ok"


# ------------------------------------------------------------------ one call


class Place:
    def __init__(self, box):
        self.box = box
        self.repo = box.repo("tree", lib.SMALL)

    def limit(self, **limits):
        lib.write(os.path.join(self.box.home, ".config/foray/settings.json"),
                  json.dumps({"sandbox": {"limits": limits}}))
        self.box.own()

    def command(self, text, **more):
        return self.box.tool(self.repo, "run_command",
                             dict({"command": text}, **more), "--ask",
                             "allow", "-t", lib.SMALL_TEST)


def ended(r, sentence, what):
    lib.check(r.status == 0 and sentence in str(r.json.get("result")),
              what + ": " + sentence, r)


HOG = ("python3 -c \"import os; [os.fork() for _ in range(3)]; "
       "b = bytearray(400 << 20); print('held', len(b))\"")


def memory(place, grouped, who):
    place.limit(memory="256M")
    r = place.command(HOG)
    if grouped:
        ended(r, "exit status 137 (killed: memory limit of 256 MiB)",
              who + ": eight hogs")
        ended(place.command("dd if=/dev/zero of=/tmp/f bs=1M count=300"),
              "No space left", who + ": /tmp is memory, half of it at most")
        # Together over the limit, each of them under it.
        r = place.command(
            "mkdir /tmp/c; for i in 1 2 3 4 5 6; do python3 -c \"import os, time\n"
            "open('/tmp/c/$i', 'w').close()\n"
            "while len(os.listdir('/tmp/c')) < 6: time.sleep(0.02)\n"
            "b = bytearray(80 << 20); time.sleep(4); print('held')\" & done; "
            "wait; exit 9")
        result = str(r.json.get("result"))
        lib.check("memory limit of 256 MiB" in result, who + ": the sum counts",
                  r)
        lib.check(result.count("held") <= 3, who + ": few of them fit", r)
    else:
        ended(r, "MemoryError", who + ": hogs")
    lib.check("held " not in str(r.json.get("result")),
              who + ": none of them got it", r)
    r = place.command("echo fine")
    ended(r, "fine", who + ": the next command")


def processes(place, grouped, who):
    place.limit(processes=60)
    began = time.monotonic()
    r = place.command("i=0; while [ $i -lt 400 ]; do sleep 6000 & i=$((i+1)); "
                      "done; echo all were made")
    result = str(r.json.get("result"))
    lib.check("fork" in result and "all were made" not in result,
              who + ": a bomb gets no more processes", r)
    lib.check(lib.soon(time.monotonic() - began, 30), who + ": and is over at once")
    if not grouped:
        return
    # NPROC would let them, the group does not.
    place.limit(processes=4000, all_processes=80)
    r = place.command("i=0; while [ $i -lt 400 ]; do sleep 6000 & i=$((i+1)); "
                      "done; echo all were made")
    lib.check("fork" in str(r.json.get("result")),
              who + ": nor from the group", r)


def files(place, who):
    place.limit()
    for text in ("truncate -s 5G f",
                 "dd if=/dev/zero of=f bs=1 count=1 seek=5G"):
        r = place.command(text)
        lib.check("too large" in str(r.json.get("result")) or
                  "file size limit" in str(r.json.get("result")),
                  who + ": %s is refused" % text, r)
    place.limit(file="2M")
    ended(place.command("exec python3 -c \"import signal; "
                        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
                        "open('f', 'wb').write(bytes(9 << 20))\""),
          "file size limit of 2 MiB", who + ": a large file")


def disk(place, who):
    place.limit(disk="40M")
    fill = ("i=0; while :; do i=$((i+1)); mkdir -p hide/$i; "
            "head -c 4000000 /dev/zero >hide/$i/f; chmod 0 hide/$i; "
            "sleep 0.05; done")
    r = place.command(fill)
    lib.check("disk limit of 40 MiB" in r.text,
              who + ": a workspace that grows is ended", r)
    lib.check(lib.soon(r.seconds, 60), who + ": soon", r)
    ended(place.command("head -c 30000000 /dev/zero >f; sleep 3; echo fine"),
          "fine", who + ": below the limit nothing happens")


def processor(place, grouped, who):
    place.limit(cpu="1s")
    ended(place.command("while :; do :; done"),
          "processor time limit of 1 s", who + ": a busy loop")
    if not grouped:
        return
    place.limit(cpus=0.2)
    r = place.command("python3 -c \"import time; t = time.time()\n"
                      "while time.time() - t < 3: pass\n"
                      "print('spent %.2f' % time.process_time())\"")
    found = str(r.json.get("result")).split("spent ")
    lib.check(len(found) == 2 and float(found[1].split()[0]) < 1.5,
              who + ": a fifth of a processor", r)


def output(place, who):
    place.limit(output="4M")
    ended(place.command("yes"), "killed: output limit of 4 MiB",
          who + ": endless output")


def wall(place, who):
    place.limit(call="1s")
    ended(place.command("sleep 60"), "timed out after 1", who + ": a call")
    place.limit()
    ended(place.command("sleep 60", timeout_s=1), "timed out after 1",
          who + ": as the model asked")
    place.limit(subtask="2s")
    r = place.command("sleep 6000")
    lib.check("the time limit of the subtask is over" in r.text and
              lib.soon(r.seconds, 40), who + ": a subtask", r)
    place.limit()


def bad_settings(place, who):
    for bad in ({"memory": "1M"}, {"memory_mib": 100},
                {"all_processes": "many"}, {"call": -1}, {"cpus": "two"}):
        place.limit(**bad)
        r = place.command("true")
        lib.check(r.status == 2 and "sandbox" in r.text,
                  who + ": %s is refused" % bad, r)
    place.limit()


def out_of_reach(place, who):
    r = place.command(
        "ls -d /sys /run/foray; grep cgroup /proc/self/mounts; "
        "find / -xdev -name 'memory.*' -o -xdev -name 'cgroup.*' "
        "-o -xdev -name 'pids.max' 2>/dev/null; cat /proc/self/cgroup; "
        "for p in /proc/[0-9]*/root; do ls $p/sys; done; "
        "mkdir /tmp/c; mount -t cgroup -o memory none /tmp/c; "
        "mount -t cgroup2 none /tmp/c; unshare -Ur true; echo end")
    result = str(r.json.get("result"))
    lib.check("\nend" in result, who + ": looking for groups", r)
    for word in ("memory.max", "memory.limit", "pids.max", "cgroup.procs",
                 "foray-", " cgroup"):
        lib.check(word not in result, who + ": no %r inside" % word, r)


def sandbox_command(place, grouped, who):
    place.limit(processes=9000, all_processes=1000)
    r = place.box.do("sandbox", "-C", place.repo, "--copy", "--", "sh", "-c",
                     "ls /sys; i=0; while [ $i -lt 9000 ]; do "
                     "sleep 60 & i=$((i+1)); done; exit 7")
    lib.check(r.status not in (125, 7) or not grouped,
              who + ": foray sandbox: a bomb is stopped", r)
    if grouped:
        lib.check("limit of 1000" in r.text, who + ": and why", r)


# ------------------------------------------------------- who was killed when


def victims(live):
    hosts = sorted((p for p in lib.descendants(live.pid)
                    if p.name == "foray-host"), key=lambda p: p.start)
    return [p.pid for p in hosts[:2]]


def kill(place, which, grouped, who):
    box = place.box
    what = "%s: kill -9 of %s" % (who, " and ".join(which))
    live = box.start(place.repo, "-t", "sleep 0.3; " + lib.SMALL_TEST, "-n",
                     "3")
    lib.check(live.wait_event("worker_started", 30), what + ": it runs",
              live.lines)
    launcher, host = victims(live)
    made = groups({launcher})
    if grouped:
        lib.check(made, what + ": there were groups")
    pids = {"foray": live.pid, "launcher": launcher, "host": host}
    for name in which:
        os.kill(pids[name], signal.SIGKILL)
    if "foray" in which:
        live.process.wait()
    else:
        live.wait(60)
    lib.check(not lib.left_alive(seconds=5), what + ": no process is left")
    if {"foray", "launcher"} <= set(which):
        box.tool(place.repo, "run_command", {"command": "true"}, "-t",
                 lib.SMALL_TEST)  # the next one sweeps
    lib.check(lib.wait_until(lambda: not groups({launcher}), 5),
              what + ": no group is left", groups({launcher}))
    live.wait(5)
    lib.end_all()


def one_user(uid):
    who = lib.user_name(uid)
    with lib.Box(uid) as box:
        place = Place(box)
        grouped = has_groups(box)
        if not grouped:
            # Said aloud: what a lack costs is another's test.
            print("%s has no control groups: rlimits are looked at" % who)
        lib.check(grouped or uid is not None or os.geteuid() != 0 or
                  not own_groups(), who + ": groups that there are are used")
        memory(place, grouped, who)
        processes(place, grouped, who)
        files(place, who)
        disk(place, who)
        processor(place, grouped, who)
        output(place, who)
        wall(place, who)
        bad_settings(place, who)
        out_of_reach(place, who)
        sandbox_command(place, grouped, who)
        for which in (["foray"], ["host"], ["launcher"], ["foray", "host"],
                      ["foray", "launcher", "host"]):
            kill(place, which, grouped, who)


for user in lib.users("root"):
    one_user(user)
lib.done()
