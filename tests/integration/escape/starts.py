"""Attempts that need a start of their own: with descriptors of the caller's, at
a terminal, bombs, daemons, and races against foray itself.

Each function yields (name, evidence) for a way: "control", "one layer" or "both
layers". Evidence is true when something came through.
"""
import os
import select
import shutil
import subprocess
import time

import lib
import world as places

FORKS = 620
MEMORY_KB = 1100 << 10


def launch(w, way, rows, watch=True, **more):
    """Run rows by a way; a Run."""
    at_once = more.pop("at_once", 8)
    may_refuse = more.pop("may_refuse", False)
    moved = more.pop("moved", "")
    facts = more.pop("facts", {})
    w.facts.update(facts)
    if way == "control":
        path = w.write_list(rows, True, at_once=at_once)
        script = os.path.join(w.trip, "inside.py")
        shutil.copy(places.INSIDE, script)
        os.chmod(script, 0o644)
        argv = ["sh", "-c", "exec python3 %s %s %s" % (script, path, moved)]
    else:
        w.write_list(rows, False, at_once=at_once)
        command = "exec python3 inside.py list.json " + moved
        argv = ["foray", "sandbox", "-C", w.repo, "--", "sh", "-c", command] \
            if way == "one layer" else \
            ["foray", "tool", "-C", w.repo, "run_command",
             '{"command": "%s"}' % command]
    result, watch = w.watched(rows, argv, w.repo, watch, **more)
    text = result.out if way != "both layers" else \
        str(result.json.get("result"))
    run = places.Run(result, text, watch)
    lib.check(all(r[0] in run.status for r in rows) or
              may_refuse and result.status == 125,
              "%s: %s: %s was tried" % (w.who, way, rows[0][0]), result)
    return run


# ------------------------------------------------------------- descriptors


def descriptors(w, way):
    """foray's parent has things open, and does not close them."""
    w.put(os.path.join(w.out, "fd-secret"), "fd-secret")
    kept = os.path.join(w.out, "fd-kept")
    lib.write(kept, "as it was\n")
    made = os.path.join(w.out, "fd-made")
    file = os.open(os.path.join(w.out, "fd-secret"), os.O_RDONLY)
    folder = os.open(w.out, os.O_RDONLY)
    path = os.open(w.out, os.O_PATH)
    r, p = os.pipe()
    both = os.open(kept, os.O_RDWR)
    a, b = __import__("socket").socketpair()
    run = launch(w, way, [["descriptors", "py descriptors"]],
                 pass_fds=(file, folder, path, p, both, b.fileno()))
    text = run.text.get("descriptors", "")
    for fd in (file, folder, path, p, both):
        os.close(fd)
    b.close()
    a.setblocking(False)
    try:
        socket_got = a.recv(100)
    except OSError:
        socket_got = b""
    a.close()
    yield "descriptor: a file", w.secrets["fd-secret"] in text
    yield "descriptor: written by a directory", os.path.exists(made)
    yield "descriptor: a pipe", b"fd-written" in os.read(r, 100)
    yield "descriptor: a file to write", lib.read(kept) != "as it was\n"
    yield "descriptor: a socket", b"fd-written" in socket_got
    os.close(r)
    if os.path.exists(made):
        os.unlink(made)


def standard_input(w, way):
    """What is given for reading is not given for writing, and a directory is
    not given at all."""
    if way == "both layers":  # a worker has /dev/null
        return
    kept = os.path.join(w.out, "stdin")
    lib.write(kept, "as it was\n")
    if w.box.uid is not None:
        os.chown(kept, w.box.uid, w.box.uid)
    os.chmod(kept, 0o666)
    with open(kept, "rb") as f:
        launch(w, way, [["stdin", "py stdin_again"]], stdin=f)
    yield "stdin: a file, for writing", lib.read(kept) != "as it was\n"
    w.put(os.path.join(w.out, "fd-secret"), "fd-secret")
    w.put(os.path.join(w.box.home, "fd-secret-up"), "fd-secret-up")
    for row, name in (("stdin_directory", "fd-secret"),
                      ("stdin_up", "fd-secret-up")):
        fd = os.open(w.out, os.O_RDONLY | os.O_DIRECTORY)
        # foray may refuse it
        run = launch(w, way, [[row, "py " + row]], stdin=fd,
                     may_refuse=True, moved="9<&0 </dev/null")
        os.close(fd)
        yield "stdin: a directory, " + row, \
            w.secrets[name] in run.text.get(row, "")


# ---------------------------------------------------------------- terminal


def at_terminal(w, way, rows):
    """A shell with foray and another program in one process group, as it is in
    a pipeline: (what was typed for the shell, is the other as it was, did the
    shell come to its end)."""
    master, slave = os.openpty()
    if w.box.uid is not None:
        os.fchown(slave, w.box.uid, w.box.uid)
    w.facts["GROUP"] = "1"
    ended = os.path.join(w.trip, "ended")
    if os.path.exists(ended):
        os.unlink(ended)
    if way == "control":
        path = w.write_list(rows, True, at_once=1)
        shutil.copy(places.INSIDE, os.path.join(w.trip, "inside.py"))
        os.chmod(os.path.join(w.trip, "inside.py"), 0o644)
        command = "python3 %s/inside.py %s" % (w.trip, path)
    else:
        w.write_list(rows, False, at_once=1)
        command = w.box.foray + (
            " sandbox -C . -- python3 inside.py list.json"
            if way == "one layer" else " tool -C . run_command "
            "'{\"command\": \"exec python3 inside.py list.json\"}'")
    p = w.box.popen(
        ["setsid", "-c", "sh", "-c", "sleep 1234 & echo other $!; %s; "
         "echo x >%s; echo the-end; sleep 1234" % (command, ended)],
        stdin=slave, stdout=slave, stderr=slave, cwd=w.repo)
    said, nice, other = b"", 0, None
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            try:
                said += os.read(master, 65536)
            except OSError:
                break
        if p.poll() is not None or b"the-end" in said:
            break
    while select.select([master], [], [], 0.05)[0]:
        said += os.read(master, 65536)
    number = said.split(b"other ")[1].split() if b"other " in said else []
    try:
        other = lib.Process(int(number[0]))
    except (IndexError, OSError):
        other = None
    alive = other is not None and other.alive()
    nice = os.getpriority(os.PRIO_PROCESS, other.pid) if alive else 0
    os.set_blocking(slave, False)
    typed = b""
    try:
        while line := os.read(slave, 65536):
            typed += line
    except OSError:
        pass
    lib.end_all(p.pid)
    p.kill()
    p.wait()
    os.close(slave)
    os.close(master)
    lib.check(b"\"%s\"" % rows[0][0].encode() in said.replace(b"\\\"", b"\"")
              or b"the-end" not in said or rows[0][0] == "group", "%s: %s: %s was tried at a terminal" %
              (w.who, way, rows[0][0]), said)
    del w.facts["GROUP"]
    return typed, alive, nice, os.path.exists(ended)


TYPED = ("sti", "high", "tty", "link")


def terminal(w, way):
    rows = [["type " + n, "py type_on " + n] for n in TYPED]
    typed, alive, _, ended = at_terminal(w, way, rows)
    for n in TYPED:
        yield "terminal: TIOCSTI, " + n, b"typed-" + n.encode() in typed
    lib.check(alive and ended, "%s: %s: the terminal's other programs" %
              (w.who, way))
    _, _, nice, _ = at_terminal(w, way, [["nice", "py nice_group"]])
    yield "terminal: nice of the group", nice == 12
    _, alive, _, ended = at_terminal(w, way, [["group", "py kill_group"]])
    yield "terminal: kill the group", not alive or not ended
    if way == "control" and not w.root:
        yield "terminal: TIOCLINUX", True  # no console: only ENOTTY to be had
        return
    rows = [["tioclinux", "py tioclinux"]]
    run = launch(w, way, rows)
    yield "terminal: TIOCLINUX", not run.text["tioclinux"].startswith("EPERM")


# ------------------------------------------------------------------- bombs


def bombs(w, way):
    w.facts["FORKS"] = str(FORKS)
    run = launch(w, way, [["forks", "py forks"]])
    yield "bomb: processes", run.watch.count >= FORKS
    lib.check(run.watch.slowest < 3, "%s: %s: the host goes on under a fork "
              "bomb" % (w.who, way), run.watch.slowest)
    run = launch(w, way, [["threads", "py threads"]])
    yield "bomb: threads", run.watch.threads >= FORKS
    settings = os.path.join(w.box.home, ".config/foray/settings.json")
    lib.write(settings, '{"sandbox": {"limits": {"memory": "1G"}}}')
    w.box.own()
    run = launch(w, way, [["memory", "py memory"]], may_refuse=True)
    os.unlink(settings)
    yield "bomb: memory", run.watch.size > MEMORY_KB
    rows = [["shm", "py fill_shm"],
            ["var", "py fill_var_tmp"], ["tmp", "py fill_tmp"],
            ["sparse", "py sparse"]]
    run = launch(w, way, rows)
    sizes = run.watch.sizes
    yield "bomb: /dev/shm", sizes.get("/dev/shm/it-fill", 0) >= (
        300 << 20 if way == "control" else 520 << 20)
    yield "bomb: /var/tmp", sizes.get("/var/tmp/it-fill", 0) >= 70 << 20
    yield "bomb: /tmp", sizes.get("/tmp/it-fill", 0) >= (
        300 << 20 if way == "control" else 2200 << 20)
    yield "bomb: a sparse file", sizes.get("sparse", 0) > 4 << 30
    left = os.path.join(w.repo, "sparse")
    if os.path.exists(left):
        os.unlink(left)


def daemons(w, way):
    late = os.path.join(w.repo, "late")
    run = launch(w, way, [
        ["deaf", "py outlive"],
        ["shell", "setsid nohup sh -c 'sleep 0.5; echo x >%s2' "
         ">/dev/null 2>&1 &" % late]], facts={"LATE": late})
    del run
    time.sleep(0.9)
    for name, path in (("daemon: two forks, deaf", late),
                       ("daemon: nohup", late + "2")):
        yield name, os.path.exists(path)
        if os.path.exists(path):
            os.unlink(path)
    rest = lib.left_alive([p for p in lib.descendants()
                           if p.name.startswith("foray")])
    lib.check(not rest, "%s: %s: no daemon is left" % (w.who, way), rest)


# ------------------------------------------------------------------- races


class Swapper:
    """Somebody exchanges x and y of the tree as fast as it goes: a sandboxed
    command, where the tree can be written to from inside."""

    def __init__(self, w, repo, way, seconds):
        old, w.repo = w.repo, repo
        w.facts["SWAP"] = str(seconds)
        rows = [["swap", "py swap_some"]]
        if way == "control" or not w.live:
            path = w.write_list(rows, True)
            script = os.path.join(w.trip, "inside.py")
            shutil.copy(places.INSIDE, script)
            os.chmod(script, 0o644)
            argv = ["python3", script, path]
        else:
            w.write_list(rows, False)
            argv = ["foray", "sandbox", "-C", repo, "--", "python3",
                    "inside.py", "list.json"]
        w.repo = old
        self.end = time.monotonic() + seconds
        self.p = w.box.popen(argv, cwd=repo, stdout=subprocess.PIPE)

    def going(self):
        return time.monotonic() < self.end

    def finish(self, w, what):
        out = self.p.communicate(timeout=30)[0].decode()
        lib.check("swapped" in out, "%s: %s: it was exchanged" % (w.who, what),
                  out)


def race_tree(w, name, target, folder):
    """x: a file or a directory; y: a link to what is to be had."""
    repo = os.path.join(w.box.src, name)
    shutil.rmtree(repo, ignore_errors=True)
    w.box.repo(name, {"x/id_ed25519" if folder else "x": "good\n",
                      "b": "b\n"})
    os.symlink(target, os.path.join(repo, "y"))
    w.box.own()
    return repo


def naive(path, write=False):
    """Look first, then use: what must not be done."""
    try:
        if os.path.islink(path if not write else os.path.dirname(path)) or \
                os.path.islink(os.path.dirname(path)):
            return ""
        with open(path, "w" if write else "r", encoding="utf-8") as f:
            return f.write("x") if write else f.read()
    except OSError:
        return ""


def races(w, way):
    key = os.path.join(w.box.home, ".ssh/id_ed25519")
    for name, target, folder, path in (
            ("race: a file and a link", key, False, "x"),
            ("race: a directory and a link", os.path.dirname(key), True,
             "x/id_ed25519")):
        repo = race_tree(w, "race", target, folder)
        s = Swapper(w, repo, way, 1.0)
        text = ""
        while s.going():
            if way == "control":
                text += naive(os.path.join(repo, path))
            elif way == "one layer":
                text += w.box.do("sandbox", "--copy", "-C", repo, "--", "cat",
                                 path, "y").out
            else:
                text += w.box.tool(repo, "run_command", {
                    "command": "cat %s; cat y/id_ed25519 y" % path}).out
        s.finish(w, name)
        yield name, w.secrets["ssh key"] in text
    if way == "one layer":
        yield from race_root(w, way)
        return
    repo = race_tree(w, "race", w.out, True)
    made = os.path.join(w.out, "by-race")
    s = Swapper(w, repo, way, 1.0)
    while s.going():
        if way == "control":
            naive(os.path.join(repo, "x/by-race"), True)
        else:
            w.box.tool(repo, "run_command",
                       {"command": "mkdir -p x; echo x >x/by-race"}, "--apply")
    s.finish(w, "race: a patch put on a directory")
    yield "race: a patch put on a directory", os.path.exists(made)
    if os.path.exists(made):
        os.unlink(made)
    if way == "control":
        yield from race_root(w, way)


def race_root(w, way):
    """The tree that is shown is exchanged by a command in the tree above it
    while foray looks at it and mounts it. foray stands in it."""
    repo = race_tree(w, "race", w.out, True)
    shutil.rmtree(os.path.join(repo, ".git"))
    made = os.path.join(w.out, "by-root")
    s = Swapper(w, repo, way, 1.5)
    text = ""
    while s.going():
        where = os.path.join(repo, "x")
        if os.path.islink(where):
            continue
        command = "echo x >by-root; cat link-secret 2>/dev/null; true"
        try:
            if way == "control":
                text += subprocess.run(["sh", "-c", command], cwd=where,
                                       stdout=subprocess.PIPE, check=False
                                       ).stdout.decode()
            else:
                fd = os.open(where, os.O_RDONLY | os.O_NOFOLLOW)
                text += w.box.do("sandbox", "--", "sh", "-c", command,
                                 cwd="/proc/self/fd/%d" % fd,
                                 pass_fds=(fd,)).out
                os.close(fd)
        except OSError:
            pass
    s.finish(w, "race: the tree itself")
    yield "race: the tree itself", os.path.exists(made) or \
        w.secrets["link-secret"] in text
    if os.path.exists(made):
        os.unlink(made)


ALL = (descriptors, standard_input, terminal, bombs, daemons, races)
