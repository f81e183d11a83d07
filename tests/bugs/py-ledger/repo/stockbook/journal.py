"""Text format of the movement journal."""

from collections import namedtuple
from decimal import Decimal, InvalidOperation

Movement = namedtuple("Movement", "kind sku qty cost")

KINDS = ("in", "out", "po")


class JournalError(ValueError):
    def __init__(self, lineno, message):
        super().__init__("line %d: %s" % (lineno, message))
        self.lineno = lineno


def parse_line(lineno, line):
    words = line.split("#")[0].split()
    if not words:
        return None
    if words[0] not in KINDS:
        raise JournalError(lineno, "unknown movement %r" % words[0])
    wanted = 4 if words[0] == "in" else 3
    if len(words) != wanted:
        raise JournalError(lineno, "expected %d words" % wanted)
    try:
        qty = int(words[2])
        cost = Decimal(words[3]) if wanted == 4 else None
    except (ValueError, InvalidOperation):
        raise JournalError(lineno, "bad number") from None
    if qty <= 0:
        raise JournalError(lineno, "quantity must be positive")
    return Movement(words[0], words[1].upper(), qty, cost)


def parse_journal(text):
    moves = []
    for lineno, line in enumerate(text.splitlines(), 1):
        move = parse_line(lineno, line)
        if move is not None:
            moves.append(move)
    return moves
