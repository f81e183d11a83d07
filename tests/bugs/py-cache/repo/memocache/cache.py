"""Least-recently-used cache with a weight limit and expiry."""

from collections import OrderedDict

from .clock import SystemClock
from .entry import Entry
from .stats import Stats


class Cache:
    def __init__(self, capacity, ttl=None, weigh=None, clock=None):
        if capacity < 1:
            raise ValueError("capacity must be positive")
        self.capacity = capacity
        self.ttl = ttl
        self.weight = 0
        self.stats = Stats()
        self._weigh = weigh or (lambda value: 1)
        self._clock = clock or SystemClock()
        self._entries = OrderedDict()

    def __len__(self):
        return len(self._entries)

    def __contains__(self, key):
        return self._live(key) is not None

    def get(self, key, default=None):
        entry = self._live(key)
        if entry is None:
            self.stats.misses += 1
            return default
        self.stats.hits += 1
        self._entries.move_to_end(key)
        return entry.value

    def put(self, key, value, ttl=None):
        ttl = self.ttl if ttl is None else ttl
        now = self._clock.now()
        weight = self._weigh(value)
        entry = self._entries.get(key)
        if entry is None:
            self._entries[key] = Entry(key, value, weight, now, ttl)
            self.weight += weight
        else:
            self.weight += weight - entry.weight
            entry.replace(value, weight, now, ttl)
            self._entries.move_to_end(key)
        self._shrink()

    def remove(self, key):
        entry = self._entries.pop(key, None)
        if entry is None:
            return False
        self.weight -= entry.weight
        return True

    def oldest_age(self):
        now = self._clock.now()
        return max((e.age(now) for e in self._entries.values()), default=0)

    def _live(self, key):
        entry = self._entries.get(key)
        if entry is not None and entry.expired(self._clock.now()):
            self.remove(key)
            return None
        return entry

    def _shrink(self):
        while self.weight > self.capacity:
            key = next(iter(self._entries))
            self.remove(key)
            self.stats.evictions += 1
