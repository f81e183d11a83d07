#!/usr/bin/env python3
"""Attempts to get out, from inside both layers (`foray tool`) and from inside
one (`foray sandbox`). Each is first shown to succeed unconfined; inside it must
leave no trace on the host.

    escape.py [root] [user] [overlay] [part]...     default: all of it

root: foray is started as root and drops to a user of its own. user: as an
ordinary one. overlay: both, on a machine whose / is an overlay. The attempts
stand in escape/rows.py and escape/plants.py; inside.py makes them.
"""
import os
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
    for row in mine:
        row[2].reset(w)
    run = w.control([[r[0], control_command(r)[1]] for r in mine])
    for row in mine:
        if row[2].hit(w, run, row[0]):
            controls.setdefault(row[0], w.who)
        else:
            missing.setdefault(row[0], []).append(
                "%s: %s" % (w.who, run.text.get(row[0])))
    for row in rows:
        row[2].reset(w)
    return run


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
    rows = table.rows()
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
            evidence = plants.one(w, template, row, way)
            what = "%s: %s: %s leaves no trace" % (w.who, way, row[0])
            if row[0] in plants.PENDING.get(way, ()):
                print("pending: %s: %s" % (what, evidence or "closed by now"))
            else:
                lib.check(not evidence, what, evidence)
            tried.setdefault((w.who, way), set()).add(row[0])
    w.repo = own


def start(w):
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


def main():
    which = [a for a in sys.argv[1:] if a in ("root", "user", "overlay")]
    parts = [a for a in sys.argv[1:] if a in PARTS] or PARTS
    as_root = os.geteuid() == 0
    if as_root and (not which or "root" in which):
        situation(None, parts)
    if not which or "user" in which:
        situation(unique_uid() if as_root else None, parts)
    for name, why in missing.items():
        if name not in controls and all(
                text.split(": ", 1)[1].startswith(ABSENT) for text in why):
            print("this kernel has no %s" % name)
            continue
        lib.check(name in controls, "unconfined, %s succeeds" % name,
                  "\n".join(why))
    for (who, what), names in tried.items():
        print("%s, %s: %d attempts" % (who, what, len(names)))
    print("%d shown to succeed unconfined" % len(controls))
    lib.done()


main()
