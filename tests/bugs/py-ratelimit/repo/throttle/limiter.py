"""Buckets of all clients."""

from .bucket import TokenBucket
from .headers import limit_headers

IDLE_LIMIT = 10 * 60 * 1000


class Limiter:
    def __init__(self, rule, clock):
        self.rule = rule
        self._clock = clock
        self._buckets = {}

    def __len__(self):
        return len(self._buckets)

    def check(self, client):
        """Return (allowed, headers)."""
        now = self._clock()
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = self._buckets[client] = TokenBucket(self.rule, now)
        allowed = bucket.take(now)
        wait = 0 if allowed else bucket.wait()
        return allowed, limit_headers(self.rule, bucket.tokens, wait)

    def sweep(self):
        """Forget clients that have been silent for long."""
        now = self._clock()
        idle = [client for client, bucket in self._buckets.items()
                if bucket.idle(now) >= IDLE_LIMIT]
        for client in idle:
            del self._buckets[client]
        return len(idle)
