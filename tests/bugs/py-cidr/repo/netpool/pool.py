"""Give out blocks of a network and take them back."""

from .block import Block, aggregate


class Exhausted(Exception):
    pass


class Pool:
    def __init__(self, *networks):
        self.free = aggregate(Block.parse(n) for n in networks)
        self.used = {}

    def allocate(self, prefix, owner):
        """Cut a block out of the smallest free one that holds it."""
        fits = [b for b in self.free if b.prefix <= prefix]
        if not fits:
            raise Exhausted("no /%d left" % prefix)
        block = max(fits, key=lambda b: (b.prefix, -b.base))
        self.free.remove(block)
        while block.prefix < prefix:
            block, rest = block.halves()
            self.free.append(rest)
        self.free.sort()
        self.used[block] = owner
        return block

    def release(self, block):
        if block not in self.used:
            raise KeyError("%s is not in use" % block)
        del self.used[block]
        self.free = aggregate(self.free + [block])

    def owner(self, address):
        wanted = Block.parse(address)
        for block, name in self.used.items():
            if wanted in block:
                return name
        return None

    def usage(self):
        """Share of the addresses that is in use, in percent."""
        used = sum(b.size for b in self.used)
        free = sum(b.size for b in self.free)
        return round(100 * used / (used + free), 1)
