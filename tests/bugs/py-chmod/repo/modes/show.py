"""Modes as text."""

from .bits import ALL, EXECUTE, READ, SPECIAL, WRITE, of_class


def parse_octal(text):
    mode = int(text, 8)
    if not 0 <= mode <= ALL:
        raise ValueError("no such mode: %s" % text)
    return mode


def show(mode):
    """rwxr-s--T, as ls does."""
    text = ""
    for name in "ugo":
        has = of_class(mode, name)
        text += "r" if has & READ else "-"
        text += "w" if has & WRITE else "-"
        if mode & SPECIAL[name]:
            letter = "t" if name == "o" else "s"
            text += letter if has & EXECUTE else letter.upper()
        else:
            text += "x" if has & EXECUTE else "-"
    return text
