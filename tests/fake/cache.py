"""Prefix caches, accounted for as the providers do it.

    usage, entries = cache.look(who, talk)
    ...the reply's first byte goes out...
    cache.add(who, entries)

An entry is there once the reply that made it has begun, so siblings sent at
once don't find it. who: the model and the key, which share nothing with others.
"""
from hashlib import blake2b

from rules import Usage, tokens

LEAST = 1024     # tokens; shorter prefixes are never cached
STEP = 128       # tokens; what OpenAI rounds down to
LOOK_BACK = 20   # blocks before a breakpoint in which Anthropic looks
BYTES = 4        # of a token


def chain(pieces):
    """After each piece the digest of the prompt so far, and its bytes."""
    h, size, found = blake2b(digest_size=12), 0, []
    for piece in pieces:
        # With its length, so that moving a boundary is another prompt.
        h.update(b"%d:" % len(piece) + piece)
        size += len(piece)
        found.append((h.digest(), size))
    return found


class Automatic:
    """OpenAI's: no marks; on the bytes of the prompt, in steps."""

    def __init__(self):
        self.known = {}

    def look(self, who, talk):
        data = b"".join(talk.pieces)
        entries, cached = [], 0
        known = self.known.get(who, ())
        h, at = blake2b(digest_size=12), 0
        for end in range(LEAST * BYTES, len(data) + 1, STEP * BYTES):
            h.update(data[at:end])
            at = end
            entries.append(h.digest())
            if entries[-1] in known:
                cached = tokens(end)
        return Usage(prompt=tokens(len(data)), cached=cached), entries

    def add(self, who, entries):
        self.known.setdefault(who, set()).update(entries)


class Breakpoints:
    """Anthropic's: only what a breakpoint ended is there to be found."""

    def __init__(self):
        self.known = {}

    def look(self, who, talk):
        prefixes = chain(talk.pieces)
        total = tokens(prefixes[-1][1])
        read, known = 0, self.known.get(who, ())
        for mark in talk.marks:
            for at in range(mark, max(-1, mark - LOOK_BACK), -1):
                digest, size = prefixes[at]
                if digest in known:
                    read = max(read, tokens(size))
                    break
        worth = [prefixes[m] for m in talk.marks
                 if tokens(prefixes[m][1]) >= LEAST]
        last = max([tokens(size) for _, size in worth], default=0)
        return (Usage(prompt=total, cached=read,
                      written=max(0, last - read)),
                [digest for digest, _ in worth])

    def add(self, who, entries):
        self.known.setdefault(who, set()).update(entries)
