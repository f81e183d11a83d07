"""IPv4 blocks in the notation 10.1.0.0/16."""

from functools import total_ordering

BITS = 32


def parse_address(text):
    parts = text.split(".")
    if len(parts) != 4:
        raise ValueError("an address has four parts: %s" % text)
    value = 0
    for part in parts:
        if not part.isdigit() or int(part) > 255:
            raise ValueError("bad part %r in %s" % (part, text))
        value = value * 256 + int(part)
    return value


def show_address(value):
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


@total_ordering
class Block:
    __slots__ = ("base", "prefix")

    def __init__(self, base, prefix):
        if not 0 <= prefix <= BITS:
            raise ValueError("bad prefix length %d" % prefix)
        self.base = base
        self.prefix = prefix
        if base % self.size:
            raise ValueError("%s has bits behind its prefix" % self)

    @classmethod
    def parse(cls, text):
        address, slash, prefix = text.partition("/")
        return cls(parse_address(address), int(prefix) if slash else BITS)

    @property
    def size(self):
        return 1 << BITS - self.prefix

    @property
    def end(self):
        """The first address behind it."""
        return self.base + self.size

    def __str__(self):
        return "%s/%d" % (show_address(self.base), self.prefix)

    def __repr__(self):
        return "Block(%s)" % self

    def __hash__(self):
        return hash((self.base, self.prefix))

    def __eq__(self, other):
        return (self.base, self.prefix) == (other.base, other.prefix)

    def __lt__(self, other):
        return (self.base, self.prefix) < (other.base, other.prefix)

    def __contains__(self, other):
        return self.base <= other.base and other.end <= self.end

    def halves(self):
        low = Block(self.base, self.prefix + 1)
        return low, Block(low.end, low.prefix)


def mergeable(low, high):
    """Do both together make one block of twice the size?"""
    return low.prefix == high.prefix and low.end == high.base


def aggregate(blocks):
    """The fewest blocks that cover the same addresses, in order."""
    stack = []
    for block in sorted(set(blocks)):
        if stack and block in stack[-1]:
            continue
        stack.append(block)
        while len(stack) > 1 and mergeable(stack[-2], stack[-1]):
            stack.pop()
            low = stack.pop()
            stack.append(Block(low.base & ~low.size, low.prefix - 1))
    return stack
