"""A line of text with a caret, and the changes that can be made to it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Change:
    """At pos, the text old was replaced by new."""
    pos: int
    old: str
    new: str
    caret: int    # where the caret was before

    def inverse(self, caret):
        return Change(self.pos, self.new, self.old, caret)

    def joins(self, later):
        """Is the later one a keystroke of the same word?"""
        if len(later.new) + len(later.old) != 1:
            return False
        if later.new and not self.old:
            return (later.pos == self.pos + len(self.new)
                    and not later.new.isspace())
        if later.old and not self.new:
            return later.pos == self.pos - 1 and not later.old.isspace()
        return False

    def join(self, later):
        if later.new:
            return Change(self.pos, "", self.new + later.new, self.caret)
        return Change(later.pos, later.old + self.old, "", self.caret)


class Buffer:
    def __init__(self, text="", caret=None):
        self.text = text
        self.caret = len(text) if caret is None else caret

    def apply(self, change):
        end = change.pos + len(change.old)
        if self.text[change.pos:end] != change.old:
            raise ValueError("%r is not at %d" % (change.old, change.pos))
        self.text = self.text[:change.pos] + change.new + self.text[end:]
        self.caret = change.pos + len(change.new)

    def word_start(self):
        """Where the word before the caret begins."""
        pos = self.caret
        while pos > 0 and self.text[pos - 1].isspace():
            pos -= 1
        while pos > 0 and not self.text[pos - 1].isspace():
            pos -= 1
        return pos
