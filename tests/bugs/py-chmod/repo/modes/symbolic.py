"""Changes in the notation of chmod: u+rw,go-w,a=rX,g=u."""

import re

from .bits import (EXECUTE, READ, SETGID, SETUID, STICKY, WRITE, of_class,
                   spread)

CLAUSE = re.compile(r"([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)")
ACTION = re.compile(r"([-+=])([rwxXst]*|[ugo])(?=[-+=]|$)")
LETTERS = {"r": READ, "w": WRITE, "x": EXECUTE}


class ModeError(ValueError):
    pass


def _bits(what, classes, mode, is_dir):
    """What the letters stand for, in the classes that they are meant for."""
    if what in ("u", "g", "o"):
        return spread(classes, of_class(mode, what))
    bits = 0
    for letter in what:
        if letter in LETTERS:
            bits |= spread(classes, LETTERS[letter])
        elif letter == "X":
            # Only what is a directory or can be executed by someone.
            if is_dir or mode & spread("ugo", EXECUTE):
                bits |= spread(classes, EXECUTE)
        elif letter == "s":
            bits |= SETUID if "u" in classes else 0
            bits |= SETGID if "g" in classes else 0
        else:
            bits |= STICKY
    return bits


def _cleared(classes, is_dir):
    """The bits that "=" takes away first. A directory keeps its group."""
    bits = spread(classes, READ | WRITE | EXECUTE)
    if "u" in classes:
        bits |= SETUID
    if "g" in classes and not is_dir:
        bits |= SETGID
    return bits


def change(mode, text, umask=0o022, is_dir=False):
    """The mode after all clauses of the text, in their order."""
    for clause in text.split(","):
        found = CLAUSE.fullmatch(clause)
        if not found:
            raise ModeError("bad clause %r" % clause)
        who, actions = found.groups()
        classes = "ugo" if not who or "a" in who else who
        for sign, what in ACTION.findall(actions):
            bits = _bits(what, classes, mode, is_dir)
            if not who:
                bits &= ~umask
            if sign == "+":
                mode |= bits
            elif sign == "-":
                mode ^= bits
            else:
                mode = mode & ~_cleared(classes, is_dir) | bits
    return mode
