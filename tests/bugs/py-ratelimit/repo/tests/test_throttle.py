import unittest

from throttle import Limiter, Rule, TokenBucket, parse_rule
from throttle.headers import limit_headers


class RuleTest(unittest.TestCase):
    def test_parse(self):
        rule = parse_rule("10/min")
        self.assertEqual((rule.count, rule.period, rule.burst),
                         (10, 60000, 10))
        self.assertEqual(parse_rule("2/s burst 9").burst, 9)

    def test_cost(self):
        self.assertEqual(parse_rule("4/s").cost(), 250)
        self.assertEqual(parse_rule("2/h burst 7").cost(), 1800000)

    def test_errors(self):
        for text in ("", "10", "0/s", "5/day", "5/s burst", "5/s burst x"):
            with self.subTest(text), self.assertRaises(ValueError):
                parse_rule(text)


class BucketTest(unittest.TestCase):
    def test_burst_then_refused(self):
        bucket = TokenBucket(Rule(1, 1000, 3), 0)
        self.assertEqual([bucket.take(0) for _ in range(4)],
                         [True, True, True, False])

    def test_grows_back(self):
        bucket = TokenBucket(Rule(2, 1000, 1), 0)
        self.assertTrue(bucket.take(0))
        self.assertFalse(bucket.take(499))
        self.assertTrue(bucket.take(500))

    def test_never_fuller_than_burst(self):
        bucket = TokenBucket(Rule(10, 1000, 2), 0)
        bucket.refill(60000)
        self.assertEqual(bucket.tokens, 2)

    def test_wait(self):
        bucket = TokenBucket(Rule(1, 1000, 1), 0)
        self.assertEqual(bucket.wait(), 0)
        bucket.take(0)
        self.assertEqual(bucket.wait(), 1000)
        bucket.refill(300)
        self.assertAlmostEqual(bucket.wait(), 700)


class HeaderTest(unittest.TestCase):
    def test_no_retry_when_allowed(self):
        self.assertEqual(limit_headers(Rule(5, 1000, 8), 2.7, 0),
                         {"X-RateLimit-Limit": "8",
                          "X-RateLimit-Remaining": "2"})

    def test_whole_seconds(self):
        headers = limit_headers(Rule(5, 1000), 0, 4000)
        self.assertEqual(headers["Retry-After"], "4")

    def test_fraction_rounds_up(self):
        headers = limit_headers(Rule(5, 1000), 0, 1200)
        self.assertEqual(headers["Retry-After"], "2")


class LimiterTest(unittest.TestCase):
    def setUp(self):
        self.now = 0
        self.limiter = Limiter(parse_rule("2/s burst 1"), lambda: self.now)

    def test_clients_do_not_share(self):
        self.assertTrue(self.limiter.check("a")[0])
        self.assertTrue(self.limiter.check("b")[0])
        self.assertFalse(self.limiter.check("a")[0])

    def test_refused_has_retry_after(self):
        self.limiter.check("a")
        allowed, headers = self.limiter.check("a")
        self.assertFalse(allowed)
        self.assertEqual(headers["X-RateLimit-Remaining"], "0")
        self.assertIn("Retry-After", headers)

    def test_sweep(self):
        self.limiter.check("a")
        self.now = 300000
        self.limiter.check("b")
        self.now = 600000
        self.assertEqual(self.limiter.sweep(), 1)
        self.assertEqual(len(self.limiter), 1)
