import unittest
from datetime import date

from abo import Plan, Subscription
from abo.months import last_day, parse_day, shift

MONTHLY = Plan("basic", 1200)
QUARTER = Plan("team", 9000, every=3)
TRIAL = Plan("trial", 1000, trial=14)


def days(subscription, first, last):
    return [day[5:] for day, _ in subscription.statement(first, last)]


class MonthsTest(unittest.TestCase):
    def test_shift(self):
        self.assertEqual(shift(2023, 11, 1), (2023, 12))
        self.assertEqual(shift(2023, 11, 2), (2024, 1))
        self.assertEqual(shift(2024, 1, 24), (2026, 1))

    def test_last_day(self):
        self.assertEqual([last_day(2023, 2), last_day(2024, 2),
                          last_day(2024, 4)], [28, 29, 30])

    def test_not_a_day(self):
        with self.assertRaises(ValueError):
            parse_day("2023-02-30")


class ChargeTest(unittest.TestCase):
    def test_same_day_of_the_month(self):
        self.assertEqual(days(Subscription(MONTHLY, "2023-01-15"),
                              "2023-01-01", "2023-04-15"),
                         ["01-15", "02-15", "03-15", "04-15"])

    def test_over_the_end_of_the_year(self):
        self.assertEqual(days(Subscription(QUARTER, "2022-10-05"),
                              "2022-12-31", "2023-07-31"),
                         ["01-05", "04-05", "07-05"])

    def test_last_day_of_a_short_month(self):
        self.assertEqual(days(Subscription(MONTHLY, "2023-01-30"),
                              "2023-02-01", "2023-02-28"), ["02-28"])

    def test_short_month_does_not_move_the_next_ones(self):
        self.assertEqual(days(Subscription(MONTHLY, "2024-01-31"),
                              "2024-01-01", "2024-05-31"),
                         ["01-31", "02-29", "03-31", "04-30", "05-31"])

    def test_trial(self):
        self.assertEqual(days(Subscription(TRIAL, "2023-03-20"),
                              "2023-03-01", "2023-05-05"),
                         ["04-03", "05-03"])

    def test_nothing_before_the_start(self):
        self.assertEqual(days(Subscription(MONTHLY, "2023-05-01"),
                              "2023-01-01", "2023-04-30"), [])

    def test_price(self):
        self.assertEqual(Subscription(QUARTER, "2023-05-01").statement(
            "2023-05-01", "2023-06-01"), [("2023-05-01", 9000)])

    def test_no_period(self):
        with self.assertRaises(ValueError):
            Plan("x", 1, every=0)


class CancelTest(unittest.TestCase):
    def test_paid_time_is_used_up(self):
        one = Subscription(MONTHLY, "2023-01-10")
        self.assertEqual(one.cancel("2023-02-20"), date(2023, 3, 10))
        self.assertTrue(one.active("2023-03-09"))
        self.assertFalse(one.active("2023-03-10"))

    def test_no_charge_after_it(self):
        one = Subscription(MONTHLY, "2023-01-10")
        one.cancel("2023-02-10")
        self.assertEqual(days(one, "2023-01-01", "2023-12-31"), ["01-10"])

    def test_in_the_trial(self):
        one = Subscription(TRIAL, "2023-01-01")
        self.assertEqual(one.cancel("2023-01-09"), date(2023, 1, 9))
        self.assertEqual(days(one, "2023-01-01", "2023-12-31"), [])

    def test_active_without_end(self):
        one = Subscription(MONTHLY, "2023-01-10")
        self.assertIsNone(one.ends())
        self.assertFalse(one.active("2023-01-09"))
        self.assertTrue(one.active("2033-01-09"))

    def test_refund(self):
        one = Subscription(MONTHLY, "2023-04-01")
        self.assertEqual(one.refund("2023-04-01"), 1200)
        self.assertEqual(one.refund("2023-04-16"), 600)
        self.assertEqual(one.refund("2023-03-31"), 0)

    def test_refund_at_the_end_of_a_long_period(self):
        one = Subscription(Plan("x", 3100), "2023-01-31")
        self.assertEqual(one.refund("2023-03-30"), 100)
