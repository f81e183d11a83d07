"""First-in first-out lots of one SKU."""

from collections import deque
from decimal import Decimal


class Lots:
    def __init__(self):
        self._lots = deque()

    @property
    def quantity(self):
        return sum(qty for qty, _ in self._lots)

    @property
    def value(self):
        return sum((qty * cost for qty, cost in self._lots), Decimal(0))

    def add(self, qty, cost):
        self._lots.append((qty, cost))

    def take(self, qty):
        """Remove qty units, oldest first, and return what they had cost."""
        total = Decimal(0)
        left = qty
        while left > 0:
            have, cost = self._lots.popleft()
            used = min(have, left)
            total += used * cost
            left -= used
            if have > used:
                self._lots.appendleft((have - used, cost))
        return total
