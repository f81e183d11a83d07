#!/usr/bin/env python3
"""Eight workers at once: each in namespaces of its own, none with a key, and
one that is killed takes its own tree along and nothing else."""
import os
import signal

import lib

KEY = "sk-canary-123"
WORKERS = 8


def slow_bug(box):
    """Every run of the tests takes a while, so that workers live."""
    repo = box.bug("py-freebusy")
    test = "sleep 0.7; " + lib.bug_info("py-freebusy")["test"]
    return repo, test


def explorers(live):
    """{worker: pid of its outer bwrap} of those that explore now."""
    gone = {e["worker"] for e in live.events("worker_gone")}
    return {e["worker"]: e["pid"] for e in live.events("worker_started")
            if e["kind"] == "explore" and e["worker"] not in gone}


def agents(live):
    """{worker: its foray-worker process}, alive now."""
    found = {}
    for worker, pid in explorers(live).items():
        for p in lib.descendants(pid):
            if p.is_worker():
                found.setdefault(worker, p)
    return found


def namespaces(live, who):
    found = lib.wait_until(
        lambda: (lambda a: a if len(a) >= WORKERS else None)(agents(live)), 100)
    if not lib.check(found, "%s: %d workers at once" % (who, WORKERS),
                     (explorers(live), agents(live), live.lines[-5:])):
        return
    spaces = {}
    for worker, p in found.items():
        try:
            spaces[worker] = p.namespaces()
        except OSError as e:
            print("%s ended: %s" % (worker, e))
    host = {n: os.readlink("/proc/self/ns/" + n) for n in lib.NAMESPACES}
    lib.check(len(spaces) >= WORKERS - 1, who + ": all could be looked at")
    for kind in lib.NAMESPACES:
        ids = [s[kind] for s in spaces.values()]
        lib.equal(len(set(ids)), len(ids),
                  "%s: %s namespaces differ among workers" % (who, kind), ids)
        lib.check(host[kind] not in ids,
                  "%s: no worker has the host's %s" % (who, kind), ids)
    for worker, p in found.items():
        ids = [line.split()[1:] for line in p.read("status").splitlines()
               if line.startswith(b"Uid:")]
        lib.check(not ids or b"0" not in ids[0],
                  "%s: %s is not root" % (who, worker), ids)


def keys(box, live, who):
    """The key is in no environment, foray's own one included."""
    control = box.popen(["sleep", "600"], env={"OPENAI_API_KEY": KEY})
    lib.check(lib.wait_until(lambda: KEY.encode() in
                             lib.Process(control.pid).read("environ"), 5),
              who + ": in a plain process it would be found")
    control.kill()
    control.wait()
    seen = 0
    for p in lib.descendants(live.pid):
        seen += 1
        for name in ("environ", "cmdline"):
            lib.check(KEY.encode() not in p.read(name),
                      "%s: no key in %s of %s" % (who, name, p.name), p)
    lib.check(seen > 16, who + ": there was something to look at", seen)
    own = lib.Process(live.pid).read("environ")
    lib.check(KEY.encode() not in own, who + ": nor in foray's own")
    found = box.call(["grep", "-rl", KEY, box.state, box.cache])
    lib.equal(found.out, "", who + ": no key in state or cache", found)


def kill_one(live, who):
    def one():
        """A worker that has come up, its pid, and what is below it; stopped,
        so that it is there until it is killed."""
        for worker, pid in sorted(explorers(live).items()):
            tree = lib.descendants(pid)
            try:
                os.kill(pid, signal.SIGSTOP)
                outer = lib.Process(pid)
            except OSError:  # it has just ended
                continue
            if outer.name == "bwrap" and any(p.is_worker() and p.alive()
                                             for p in tree):
                return worker, pid, lib.descendants(pid) + [outer]
            os.kill(pid, signal.SIGCONT)
        return None

    found = lib.wait_until(one, 30)
    if not lib.check(found, who + ": a worker to kill, in its bwrap",
                     (explorers(live), live.lines[-5:])):
        return
    worker, pid, tree = found
    os.kill(pid, signal.SIGKILL)
    rest = lib.left_alive(tree)
    lib.check(not rest, who + ": no descendant of a killed bwrap", rest)
    lib.check(lib.wait_until(
        lambda: worker in {e["worker"] for e in live.events("worker_gone")}, 5),
        who + ": worker_gone tells of it", live.lines[-5:])
    lib.check(live.process.poll() is None or live.events("run_finished"),
              who + ": the run goes on")


def one_run(uid):
    who = lib.user_name(uid)
    with lib.Box(uid) as box:
        repo, test = slow_bug(box)
        live = box.start(repo, "-m", "builtin", "-t", test, "-n", str(WORKERS),
                         "--all", "--max-time", "150s",
                         env={"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY})
        namespaces(live, who)
        keys(box, live, who)
        kill_one(live, who)
        live.signal(signal.SIGINT)
        r = live.wait(60)
        lib.check((r.status, r.finished.get("status")) in (
            (0, "fixed"), (1, "unfixed"), (130, "interrupted")),
            who + ": the run ends properly", r)
        lib.equal(lib.left_alive(), [], who + ": nothing is left")


def inside(uid):
    """What a command of a worker can see."""
    who = lib.user_name(uid)
    with lib.Box(uid) as box:
        repo = box.repo("tree", lib.SMALL)
        lib.write(os.path.join(box.home, ".config/key"), KEY)
        lib.write(os.path.join(repo, ".env"), "KEY=%s\n" % KEY)
        box.own()
        r = box.tool(repo, "run_command", {"command":
                     "env; cat /proc/*/environ /proc/*/cmdline; cat .env; "
                     "cat %s/.config/key; ls -a %s; ls -R %s %s; "
                     "grep -rsl canary-123 . /tmp /run /home /var/tmp; ls -A /root" %
                     (box.home, box.home, box.state, box.cache)},
                     env={"OPENAI_API_KEY": KEY})
        lib.equal(r.status, 0, who + ": looking around inside", r)
        result = str(r.json.get("result"))
        lib.check("PATH=" in result, who + ": there is an environment", r)
        # The command line itself names canary-123, not the key.
        lib.check(KEY not in result, who + ": no key to be found inside", r)
        lib.check("runs" not in result.split(), who + ": no state inside", r)


for user in lib.users("ordinary"):
    one_run(user)
    inside(user)
lib.done()
