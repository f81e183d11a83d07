"""A cached value and its book-keeping."""


class Entry:
    __slots__ = ("key", "value", "weight", "stored_at", "expires_at")

    def __init__(self, key, value, weight, now, ttl):
        self.key = key
        self.value = value
        self.weight = weight
        self.stored_at = now
        self.expires_at = deadline(now, ttl)

    def replace(self, value, weight, now, ttl):
        """Put a new value in place of the old one."""
        self.value = value
        self.weight = weight
        self.expires_at = deadline(self.stored_at, ttl)
        self.stored_at = now

    def expired(self, now):
        return self.expires_at is not None and now >= self.expires_at

    def age(self, now):
        return now - self.stored_at


def deadline(now, ttl):
    return None if ttl is None else now + ttl
