#!/usr/bin/env python3
"""The chain of the audit record: intact, or the first line that is not."""
import hashlib
import json
import os
import re

import lib


def verify(box, what, line=None):
    """Intact, or (line) the chain is broken there."""
    r = box.do("audit", "--verify")
    if line is None:
        lib.check(r.status == 0 and "intact" in r.out and
                  "NOT" not in r.out, what, r)
        return
    named = re.search(r"line (\d+)", r.text)
    lib.equal((r.status, named and int(named.group(1))), (1, line), what, r)


def change(line, at):
    """The line with one byte changed."""
    return line[:at] + bytes([line[at] ^ 1]) + line[at + 1:]


with lib.Box() as the_box:
    repo = the_box.repo("tree", lib.SMALL)
    run = the_box.run(repo, "-t", lib.SMALL_TEST)
    lib.equal(run.status, 0, "the run", run)
    path = os.path.join(the_box.runs()[-1], "audit.jsonl")
    verify(the_box, "as it was written")
    with open(path, "rb") as f:
        lines = f.read().splitlines(True)
    acts = len(lines)
    lib.check(acts >= 4, "there are some lines", acts)

    def with_lines(changed, what, line=None):
        with open(path, "wb") as out:
            out.write(b"".join(changed))
        verify(the_box, what, line)

    for n in sorted({1, 2, acts // 2, acts - 1, acts}):
        text = lines[n - 1]
        for where in (0, len(text) // 3, len(text) // 2, len(text) - 5,
                      len(text) - 2, len(text) - 1):
            with_lines(lines[:n - 1] + [change(text, where)] + lines[n:],
                       "line %d, byte %d is changed" % (n, where), n)
    for n in (1, 2, acts - 1):
        with_lines(lines[:n - 1] + lines[n:], "line %d is removed" % n, n)
        with_lines(lines[:n] + [lines[n - 1]] + lines[n:],
                   "line %d stands twice" % n, n + 1)
    with_lines([lines[1], lines[0]] + lines[2:], "two lines are swapped", 1)
    with_lines(lines[:-1], "the last line is missing", acts)
    with_lines(lines[:-2], "two lines are missing", acts - 1)
    with_lines(lines[:-1] + [lines[-1][:-9]], "half of the last line", acts)
    with_lines([], "all is missing", 1)
    with_lines(lines + lines[-1:], "a line is added", acts + 1)
    # A right line, and a torn one, that a run at its end has not written.
    last = json.loads(lines[-1])
    body = json.dumps({**{k: v for k, v in last.items() if k != "hash"},
                       "n": acts + 1, "prev": last["hash"]},
                      separators=(",", ":"))[:-1].encode()
    digest = hashlib.blake2b(body, digest_size=32).hexdigest().encode()
    with_lines(lines + [body + b',"hash":"' + digest + b'"}\n'],
               "a line is forged", acts + 1)
    with_lines(lines + [b'{"n":'], "the beginning of a line is added", acts)
    with_lines(lines, "as it was again")
    os.unlink(path)
    gone = the_box.do("audit", "--verify")
    lib.check(gone.status == 1 and "NOT intact" in gone.out,
              "the file is missing", gone)
    with open(path, "wb") as out:
        out.write(b"".join(lines[:-1] + [change(lines[-1], 9)]))
    r = the_box.do("audit", "--monitor")
    lib.check(r.status not in (0, 1) and "line %d" % acts in r.text,
              "a changed record is not looked through", r)
    with open(path, "wb") as out:
        out.write(b"".join(lines))
    for args, want in ((["--act", "test"], lambda x: b'"act":"test"' in x),
                       (["--worker", "w1,w9"],
                        lambda x: b'"worker":"w1"' in x),
                       (["--verdict", "deny"],
                        lambda x: b'"verdict":"deny"' in x),
                       (["--act", "test", "--verdict", "deny"],
                        lambda x: False)):
        r = the_box.do("audit", *args)
        lib.equal(r.out.splitlines(), [x.decode().rstrip("\n") for x in lines
                                       if want(x)], "only %s" % args, r)
    r = the_box.do("audit", "--verify", "--act", "test")
    lib.equal(r.status, 2, "a part of a chain can't be verified", r)
lib.done()
