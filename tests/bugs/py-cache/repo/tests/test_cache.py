import unittest

from memocache import Cache, LoadingCache
from memocache.clock import ManualClock


class LruTest(unittest.TestCase):
    def test_get_and_default(self):
        cache = Cache(2)
        cache.put("a", 1)
        self.assertEqual(cache.get("a"), 1)
        self.assertEqual(cache.get("b", 7), 7)

    def test_evicts_least_recently_used(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a")
        cache.put("c", 3)
        self.assertIn("a", cache)
        self.assertNotIn("b", cache)
        self.assertEqual(cache.stats.evictions, 1)

    def test_overwrite_counts_as_use(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.put("a", 3)
        cache.put("c", 4)
        self.assertEqual(cache.get("a"), 3)
        self.assertNotIn("b", cache)

    def test_capacity_is_checked(self):
        with self.assertRaises(ValueError):
            Cache(0)


class WeightTest(unittest.TestCase):
    def test_weight_limit(self):
        cache = Cache(10, weigh=len)
        cache.put("a", "xxxx")
        cache.put("b", "yyyyyy")
        self.assertEqual(len(cache), 2)
        cache.put("c", "z")
        self.assertEqual(cache.weight, 7)

    def test_overwrite_adjusts_weight(self):
        cache = Cache(10, weigh=len)
        cache.put("a", "xxxx")
        cache.put("a", "x")
        self.assertEqual(cache.weight, 1)
        cache.remove("a")
        self.assertEqual(cache.weight, 0)

    def test_remove_unknown(self):
        self.assertFalse(Cache(1).remove("a"))


class ExpiryTest(unittest.TestCase):
    def setUp(self):
        self.clock = ManualClock()
        self.cache = Cache(5, ttl=10, clock=self.clock)

    def test_expires(self):
        self.cache.put("a", 1)
        self.clock.advance(9)
        self.assertEqual(self.cache.get("a"), 1)
        self.clock.advance(1)
        self.assertIsNone(self.cache.get("a"))
        self.assertEqual(len(self.cache), 0)

    def test_own_ttl(self):
        self.cache.put("a", 1, ttl=3)
        self.clock.advance(3)
        self.assertNotIn("a", self.cache)

    def test_no_ttl(self):
        cache = Cache(5, clock=self.clock)
        cache.put("a", 1)
        self.clock.advance(10 ** 6)
        self.assertIn("a", cache)

    def test_age(self):
        self.cache.put("a", 1)
        self.clock.advance(4)
        self.cache.put("b", 1)
        self.assertEqual(self.cache.oldest_age(), 4)
        self.cache.put("a", 2)
        self.assertEqual(self.cache.oldest_age(), 0)


class LoadingTest(unittest.TestCase):
    def setUp(self):
        self.clock = ManualClock()
        self.calls = []
        cache = Cache(5, ttl=10, clock=self.clock)
        self.loading = LoadingCache(cache, self.load)
        self.stats = cache.stats

    def load(self, key):
        self.calls.append(key)
        return "%s%d" % (key, len(self.calls))

    def test_loads_once(self):
        self.assertEqual(self.loading.get("a"), "a1")
        self.assertEqual(self.loading.get("a"), "a1")
        self.assertEqual(self.stats.ratio, 0.5)

    def test_reloads_after_expiry(self):
        self.loading.get("a")
        self.clock.advance(11)
        self.assertEqual(self.loading.get("a"), "a2")

    def test_refresh_starts_a_new_lifetime(self):
        self.loading.get("a")
        self.clock.advance(8)
        self.loading.refresh("a")
        self.clock.advance(8)
        self.assertEqual(self.loading.get("a"), "a2")
        self.assertEqual(self.calls, ["a", "a"])
