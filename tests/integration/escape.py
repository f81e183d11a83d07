#!/usr/bin/env python3
"""Attempts to get out, from inside both layers (`foray tool`) and from inside
one (`foray sandbox`). Each is first shown to succeed unconfined; inside it must
leave no trace on the host.

    escape.py [root] [user] [reach] [plant] [start]     default: all of it
    escape.py overlay                                   escape_overlay.py

root: foray is started as root and drops to a user of its own. user: as an
ordinary one. overlay: both, on a machine whose / is an overlay. reach: what
stands in escape/rows.py; plant: in escape/plants.py; start: in escape/starts.py.
escape/inside.py makes the attempts.
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "escape"))

import lib  # noqa: E402
import plants  # noqa: E402
import rows as table  # noqa: E402
import starts  # noqa: E402
import world as places  # noqa: E402

CHUNK = 60  # attempts to a start: what a command prints is cut at 16 KiB
PARTS = ("reach", "plant", "start")
SHORT = PARTS[:1]  # of make test; users_long.py and the overlay take all
SITUATIONS = ["root", "user", "overlay"]
# What a kernel without the thing answers.
ABSENT = ("ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENODEV")
controls, tried = {}, {}


def unique_uid():
    """Of nobody, and no other test's: signals go to all of a user's."""
    return 61000 + os.getpid() % 900


def names_of(rows):
    return [[r[0], r[1]] for r in rows]


def control_command(row):
    kind = row[3]
    return (kind, row[1]) if isinstance(kind, str) else kind


def show_controls(w, rows):
    """Unconfined, each attempt must come through."""
    may = (table.SAME, table.ROOT) if w.root else (table.SAME, table.USER)
    mine = [r for r in rows if control_command(r)[0] in may]
    # What was over before it was seen, on a busy machine, is held for longer.
    for w.stretch in (1, 4, 16):
        for row in rows:
            row[2].reset(w)
        run = w.control([[r[0], control_command(r)[1]] for r in mine])
        left = [r for r in mine if not row_hit(w, run, r)]
        for row in mine:
            if row not in left:
                controls.setdefault(row[0], w.who)
        mine = [r for r in left
                if not str(run.text.get(r[0])).startswith(ABSENT)]
        for row in left:
            if row not in mine or w.stretch == 16:
                missing.setdefault(row[0], []).append(
                    "%s: %s" % (w.who, run.text.get(row[0])))
        if not mine:
            break
    w.stretch = 1
    for row in rows:
        row[2].reset(w)


def row_hit(w, run, row):
    return row[2].hit(w, run, row[0])


missing = {}


def try_inside(w, rows, what, way):
    for at in range(0, len(rows), CHUNK):
        some = rows[at:at + CHUNK]
        w.next_round()
        run = way(names_of(some))
        lib.check(all(r[0] in run.status for r in some),
                  "%s: %s: all attempts were made" % (w.who, what),
                  "%s\n%s" % ([r[0] for r in some if r[0] not in run.status],
                              run.result))
        for row in some:
            hit = row[2].hit(w, run, row[0])
            lib.check(not hit, "%s: %s: %s leaves no trace" %
                      (w.who, what, row[0]), run.text.get(row[0]))
            tried.setdefault((w.who, what), set()).add(row[0])
        for row in some:
            row[2].reset(w)


def reach(w):
    rows = [r for r in table.rows() if r[1] != "py file_handle" or
            w.facts["HANDLE"].strip("0")]
    if len(rows) < len(table.rows()):
        print("this file system has no handles of files")
    if os.geteuid() != 0:  # nor could we see whether they came through
        some = [r for r in rows if control_command(r)[0] != table.ROOT]
        print("%d attempts are for root" % (len(rows) - len(some)))
        rows = some
    show_controls(w, rows + table.COPY_ROWS)
    try_inside(w, rows, "one layer", w.sandbox)
    try_inside(w, rows + table.COPY_ROWS, "both layers", w.tool)


def plant(w):
    template = plants.prepare(w)
    own = w.repo
    for row in plants.PLANTS:
        if plants.one(w, template, row, "control"):
            controls.setdefault(row[0], w.who)
        else:
            missing.setdefault(row[0], []).append(w.who + ": ")
    for way in ("one layer", "both layers"):
        for row in plants.grouped(way):
            evidence = plants.one(w, template, row, way)
            if evidence and row[0] in plants.GROUPS:  # which of them?
                for single in plants.GROUPS[row[0]]:
                    evidence = plants.one(w, template, single, way)
                    print("%s: %s" % (single[0], evidence or "no trace"))
            lib.check(not evidence, "%s: %s: %s leaves no trace" %
                      (w.who, way, row[0]), evidence)
            tried.setdefault((w.who, way), set()).update(
                r[0] for r in plants.GROUPS.get(row[0], [row]))
    w.repo = own


def start(w):
    r = w.box.do("sandbox", "-C", w.repo, "--", "true")
    w.live = "read-only here" not in r.err
    lib.check(r.status == 0, w.who + ": a sandbox", r)
    for function in starts.ALL:
        for way in ("control", "one layer", "both layers"):
            for name, evidence in function(w, way):
                what = "%s: %s: %s" % (w.who, way, name)
                if way != "control":
                    lib.check(not evidence, what + " leaves no trace", evidence)
                    tried.setdefault((w.who, way), set()).add(name)
                elif evidence:
                    controls.setdefault(name, w.who)
                else:
                    missing.setdefault(name, []).append(w.who + ": ")


def in_memory():
    """Many small trees are made and removed: where we may, in a file system
    that no disk has to follow, and that nobody else sees."""
    libc = places.libc
    if os.geteuid() != 0 or libc.unshare(0x20000) != 0:
        return
    where = tempfile.mkdtemp(prefix="foray-it-")
    libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)
    if libc.mount(b"foray-it", where.encode(), b"tmpfs", 0,
                  b"mode=1777,size=1g") == 0:
        tempfile.tempdir = where
    return where


def situation(uid, parts):
    if "reach" in parts:
        with places.World(uid) as w:
            reach(w)
    if "start" in parts:
        with places.World(uid) as w:
            start(w)
    if "plant" in parts:
        old, where = tempfile.tempdir, in_memory()
        with places.World(uid) as w:
            plant(w)
        tempfile.tempdir = old
        if where:
            places.libc.umount2(where.encode(), 2)
            os.rmdir(where)


def overlay_root():
    """A machine whose / is an overlay, as in a container: a mount namespace
    with such a root."""
    def must(r):
        if r != 0:
            raise OSError(ctypes.get_errno(), "overlay root")
    libc = places.libc
    must(libc.unshare(0x20000))
    must(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))
    where = tempfile.mkdtemp(prefix="foray-it-", dir="/var/tmp")
    beside = os.open("/var/tmp", os.O_RDONLY)
    must(libc.mount(b"foray-it", where.encode(), b"tmpfs", 0, b"size=4g"))
    for name in ("up", "work", "root"):
        os.mkdir(os.path.join(where, name), 0o755)
    root = os.path.join(where, "root")
    must(libc.mount(b"overlay", root.encode(), b"overlay", 0, (
        "lowerdir=/,upperdir=%s/up,workdir=%s/work" % (where, where)).encode()))
    for name in ("/proc", "/sys", "/dev"):
        must(libc.mount(name.encode(), (root + name).encode(), None,
                        0x1000 | 0x4000, None))
    os.chdir(root)
    must(libc.syscall(ctypes.c_long(
        155 if os.uname().machine == "x86_64" else 41), b".", b"."))
    must(libc.umount2(b".", 2))
    os.chdir("/")
    os.rmdir(os.path.basename(where), dir_fd=beside)
    os.close(beside)


def report():
    """For the process that started us."""
    with open(os.environ["ESCAPE_REPORT"], "w", encoding="utf-8") as f:
        json.dump({"controls": controls, "missing": missing,
                   "tried": [[who, what, sorted(names)]
                             for (who, what), names in tried.items()],
                   "passed": lib.passed, "failed": lib.failed}, f)


def hear(path, what):
    with open(path, encoding="utf-8") as f:
        said = f.read()
    os.unlink(path)
    if not lib.check(said, what + ": came to its end"):
        return
    said = json.loads(said)
    for name, who in said["controls"].items():
        controls.setdefault(name, who)
    for name, why in said["missing"].items():
        missing.setdefault(name, []).extend(why)
    for who, where, names in said["tried"]:
        tried.setdefault((who, where), set()).update(names)
    lib.passed += said["passed"]
    lib.failed += said["failed"]


def judge():
    lacking = 0
    for name, why in missing.items():
        if name in controls:
            continue
        lacking += 1
        if all(text.split(": ", 1)[1].startswith(ABSENT) for text in why):
            print("this kernel has no %s" % name)
        elif os.geteuid() != 0:
            print("it takes root to show %s unconfined" % name)
        else:
            lib.check(False, "unconfined, %s succeeds" % name, "\n".join(why))
    for (who, what), names in sorted(tried.items()):
        print("%s, %s: %d attempts" % (who, what, len(names)))
    print("%d shown to succeed unconfined" % len(controls))
    if not sys.argv[1:]:  # some are root's alone to show
        lib.check(len(controls) >= (150 if os.geteuid() == 0 else 100), "enough succeed unconfined", controls)


def start_other(which, parts):
    """Another situation at the same time, in a process of its own."""
    fd, path = tempfile.mkstemp(prefix="foray-it-")
    os.close(fd)
    p = subprocess.Popen([sys.executable, os.path.abspath(__file__), which,
                          *parts], env=dict(os.environ, ESCAPE_REPORT=path))
    lib.started.append(p)
    return p, path


def main():
    whole = "overlay" in sys.argv or os.environ.get("FORAY_USERS") == "all"
    parts = [a for a in sys.argv[1:] if a in PARTS] or \
        (PARTS if whole else SHORT)
    as_root = os.geteuid() == 0
    which = [a for a in sys.argv[1:] if a in SITUATIONS] or \
        SITUATIONS[:2 if whole else 1]
    if not as_root:
        which = ["user"]
    if which == ["overlay"]:
        overlay_root()
        which = SITUATIONS[:2]
    if len(which) > 1:
        others = [start_other(w, parts) for w in which]
        for (p, path), name in zip(others, which):
            p.wait()
            hear(path, name)
    else:
        situation(None if which == ["root"] or not as_root else unique_uid(),
                  parts)
    if "ESCAPE_REPORT" in os.environ:
        report()
        os._exit(0 if not lib.left_alive() else 1)
    judge()
    lib.done()


main()
