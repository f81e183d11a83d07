"""Cache that fetches what it does not have."""

_MISSING = object()


class LoadingCache:
    def __init__(self, cache, load):
        self._cache = cache
        self._load = load

    def get(self, key):
        value = self._cache.get(key, _MISSING)
        if value is _MISSING:
            value = self.refresh(key)
        return value

    def refresh(self, key):
        """Load now, whether or not the key is cached."""
        value = self._load(key)
        self._cache.put(key, value)
        return value
