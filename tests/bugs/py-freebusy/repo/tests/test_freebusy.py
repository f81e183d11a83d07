import unittest

from freebusy import Calendar, Interval, find_slots
from freebusy.interval import parse_interval
from freebusy.sets import gaps, merge


def spans(*texts):
    return [parse_interval(t) for t in texts]


def shown(intervals):
    return [str(i) for i in intervals]


class IntervalTest(unittest.TestCase):
    def test_parse(self):
        self.assertEqual(parse_interval("8-9:30"), Interval(480, 570))

    def test_rejects_nonsense(self):
        for text in ("10-9", "9-25", "9-24:01"):
            with self.subTest(text), self.assertRaises(ValueError):
                parse_interval(text)

    def test_touching_is_not_overlapping(self):
        first, second = spans("9-10", "10-11")
        self.assertFalse(first.overlaps(second))
        self.assertIsNone(first.clip(second))

    def test_clip(self):
        inner = Interval(0, 100).clip(Interval(50, 200))
        self.assertEqual(inner, Interval(50, 100))


class SetsTest(unittest.TestCase):
    def test_merge_joins_touching(self):
        self.assertEqual(shown(merge(spans("10-11", "9-10", "13-14"))),
                         ["09:00-11:00", "13:00-14:00"])

    def test_merge_contained(self):
        self.assertEqual(shown(merge(spans("9-12", "10-11"))),
                         ["09:00-12:00"])

    def test_gaps(self):
        found = gaps(spans("8-9:30", "11-12", "16-18"), Interval(540, 1020))
        self.assertEqual(shown(found), ["09:30-11:00", "12:00-16:00"])

    def test_gaps_of_empty_day(self):
        self.assertEqual(shown(gaps([], Interval(540, 600))), ["09:00-10:00"])


class SearchTest(unittest.TestCase):
    def setUp(self):
        self.ann = Calendar("ann").add("9-10:10").add("12-13")
        self.bob = Calendar("bob", "10-16").add("11:00-11:40", tentative=True)

    def test_without_grid(self):
        self.assertEqual(shown(find_slots([self.ann, self.bob], 30)),
                         ["10:10-10:40", "13:00-13:30"])

    def test_tentative_ignored(self):
        found = find_slots([self.ann, self.bob], 60, include_tentative=False)
        self.assertEqual(shown(found), ["10:10-11:10", "13:00-14:00"])

    def test_grid_aligns_start(self):
        found = find_slots([self.ann, self.bob], 20, grid=15)
        self.assertEqual(shown(found),
                         ["10:15-10:35", "13:00-13:20"])

    def test_grid_can_make_a_gap_too_short(self):
        found = find_slots([self.ann, self.bob], 50, grid=30)
        self.assertEqual(shown(found), ["13:00-13:50"])

    def test_disjoint_hours(self):
        late = Calendar("eve", "18-22")
        self.assertEqual(find_slots([self.ann, late], 5), [])

    def test_load(self):
        self.assertEqual(Calendar("joe").add("8-11").load(), 25)
        self.assertEqual(self.bob.load(), 0)
