import unittest
from datetime import datetime

from crontime import CronError, Schedule


def upcoming(expression, start, count=1):
    schedule = Schedule(expression)
    moment = datetime.strptime(start, "%Y-%m-%d %H:%M")
    runs = []
    for _ in range(count):
        moment = schedule.next_after(moment)
        runs.append(moment.strftime("%Y-%m-%d %H:%M"))
    return runs


class ScheduleTest(unittest.TestCase):
    def test_next_is_strictly_later(self):
        self.assertEqual(upcoming("30 4 * * *", "2024-03-01 04:30"),
                         ["2024-03-02 04:30"])

    def test_every_quarter(self):
        self.assertEqual(upcoming("*/15 * * * *", "2024-03-01 23:40", 2),
                         ["2024-03-01 23:45", "2024-03-02 00:00"])

    def test_weekdays(self):
        self.assertEqual(upcoming("0 9 * * mon-fri", "2024-03-01 10:00"),
                         ["2024-03-04 09:00"])

    def test_sunday_is_zero_and_seven(self):
        for day in ("0", "7", "sun"):
            self.assertEqual(upcoming("0 0 * * " + day, "2024-03-01 00:00"),
                             ["2024-03-03 00:00"])

    def test_day_or_weekday(self):
        self.assertEqual(upcoming("0 0 13 * fri", "2024-03-08 12:00", 2),
                         ["2024-03-13 00:00", "2024-03-15 00:00"])

    def test_leap_day(self):
        self.assertEqual(upcoming("0 0 29 2 *", "2024-03-01 00:00"),
                         ["2028-02-29 00:00"])

    def test_first_weekday_of_month(self):
        self.assertEqual(upcoming("0 8 * * mon#1", "2024-03-01 00:00"),
                         ["2024-03-04 08:00"])

    def test_second_weekday_on_the_14th(self):
        self.assertEqual(upcoming("0 8 * * thu#2", "2024-03-01 00:00", 2),
                         ["2024-03-14 08:00", "2024-04-11 08:00"])

    def test_fifth_weekday_skips_short_months(self):
        self.assertEqual(upcoming("0 8 * * fri#5", "2024-03-01 00:00", 2),
                         ["2024-03-29 08:00", "2024-05-31 08:00"])

    def test_impossible_date(self):
        start = datetime(2024, 1, 1)
        self.assertIsNone(Schedule("0 0 31 2 *").next_after(start))

    def test_alias(self):
        self.assertEqual(upcoming("@monthly", "2024-12-05 00:00"),
                         ["2025-01-01 00:00"])

    def test_bad_expressions(self):
        for text in ("* * * *", "0 0 * * fri#6", "0 0 0 * *"):
            with self.subTest(text), self.assertRaises(CronError):
                Schedule(text)
