"""How many columns of a terminal a text takes."""

import unicodedata


def char_width(ch):
    if unicodedata.combining(ch) or unicodedata.category(ch) in ("Cf", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in ("W", "F") else 1


def width(text):
    return sum(char_width(ch) for ch in text)


def clip(text, limit, mark="…"):
    """The text, cut to so many columns; the mark says that it was cut."""
    if width(text) <= limit:
        return text
    room = limit - width(mark)
    kept = ""
    for ch in text:
        room -= char_width(ch)
        if room < 0:
            break
        kept += ch
    return kept + mark


def fill(text, size, align="left"):
    """Pad with blanks to so many columns."""
    room = max(size - len(text), 0)
    if align == "right":
        return " " * room + text
    if align == "center":
        left = room // 2
        return " " * left + text + " " * (room - left)
    return text + " " * room
