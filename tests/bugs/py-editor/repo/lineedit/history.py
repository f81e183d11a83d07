"""The editor: commands, undo and redo."""

from .buffer import Buffer, Change


class Editor:
    def __init__(self, text="", limit=100):
        self.buffer = Buffer(text)
        self.limit = limit
        self.done = []
        self.undone = []
        self.open = False    # may the next change join the last one?

    @property
    def text(self):
        return self.buffer.text

    @property
    def caret(self):
        return self.buffer.caret

    def _change(self, pos, old, new):
        change = Change(pos, old, new, self.caret)
        self.buffer.apply(change)
        if self.open and self.done and self.done[-1].joins(change):
            self.done[-1] = self.done[-1].join(change)
        else:
            self.done.append(change)
            del self.done[:-self.limit]
        self.open = True

    def insert(self, text):
        for ch in text:
            self._change(self.caret, "", ch)

    def paste(self, text):
        self.open = False
        self._change(self.caret, "", text)
        self.open = False

    def backspace(self):
        if self.caret > 0:
            pos = self.caret - 1
            self._change(pos, self.text[pos], "")

    def kill_word(self):
        start = self.buffer.word_start()
        if start < self.caret:
            self.open = False
            self._change(start, self.text[start:self.caret], "")
            self.open = False

    def move(self, pos):
        self.open = False
        self.buffer.caret = max(0, min(pos, len(self.text)))

    def undo(self):
        """False when there is nothing left to be undone."""
        if not self.done:
            return False
        change = self.done.pop()
        self.undone.append(change)
        self.buffer.apply(change.inverse(self.caret))
        self.buffer.caret = change.caret
        self.open = False
        return True

    def redo(self):
        if not self.undone:
            return False
        change = self.undone.pop()
        self.done.append(change)
        self.buffer.apply(change)
        self.open = False
        return True
