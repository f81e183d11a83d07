import unittest

from transit import Timetable, earliest
from transit.timetable import clock, minutes, parse_call

LINES = """
# slow and fast
S1: Aville 8:00, Bton 8:20/8:30, Cford 8:50, Dham 9:10
F1: Aville 8:10, Cford 8:25/8:26, Dham 8:35
X1: Bton 8:22, Elby 8:40
X2: Bton 8:52, Elby 9:10
K1: Cford 8:28, Fleet 8:45
K2: Cford 9:28, Fleet 9:45
"""


class TextTest(unittest.TestCase):
    def test_minutes(self):
        self.assertEqual(minutes(" 8:05"), 485)
        self.assertEqual(clock(485), "8:05")

    def test_no_such_time(self):
        with self.assertRaises(ValueError):
            minutes("8:60")

    def test_call(self):
        self.assertEqual(parse_call("New Bton 8:20/8:22"),
                         ("New Bton", 500, 502))
        self.assertEqual(parse_call("Bton 8:20"), ("Bton", 500, 500))

    def test_hops(self):
        table = Timetable("T: A 1:00, B 1:10, C 1:20\nU: A 1:05, C 1:15")
        self.assertEqual([(h.trip, h.target) for h in table.hops],
                         [("T", "B"), ("U", "C"), ("T", "C")])

    def test_back_in_time(self):
        with self.assertRaises(ValueError):
            Timetable("T: A 2:00, B 1:10")


class ScanTest(unittest.TestCase):
    def setUp(self):
        self.table = Timetable(LINES)

    def trip(self, start, goal, at, **more):
        found = earliest(self.table, start, goal, minutes(at), **more)
        return found and (clock(found[0]), found[1])

    def test_direct(self):
        self.assertEqual(self.trip("Aville", "Bton", "7:50"),
                         ("8:20", ["S1 8:00-8:20 to Bton"]))

    def test_nothing_goes(self):
        self.assertIsNone(self.trip("Elby", "Aville", "7:00"))
        self.assertIsNone(self.trip("Aville", "Bton", "8:01"))

    def test_there_already(self):
        self.assertEqual(self.trip("Elby", "Elby", "7:00"), ("7:00", []))

    def test_no_time_to_change_at_the_start(self):
        self.assertEqual(self.trip("Bton", "Elby", "8:22")[0], "8:40")

    def test_change_takes_time(self):
        self.assertEqual(
            self.trip("Aville", "Elby", "7:50"),
            ("9:10", ["S1 8:00-8:20 to Bton", "X2 8:52-9:10 to Elby"]))

    def test_quick_change(self):
        self.assertEqual(self.trip("Aville", "Elby", "7:50", change=2)[0],
                         "8:40")

    def test_short_stop_on_the_way(self):
        self.assertEqual(self.trip("Aville", "Dham", "8:05"),
                         ("8:35", ["F1 8:10-8:35 to Dham"]))

    def test_long_stop_on_the_way(self):
        self.assertEqual(self.trip("Bton", "Dham", "8:25"),
                         ("9:10", ["S1 8:30-9:10 to Dham"]))

    def test_fast_one_is_worth_it(self):
        self.assertEqual(self.trip("Aville", "Fleet", "8:05")[0], "8:45")

    def test_fast_one_just_missed(self):
        self.assertEqual(self.trip("Aville", "Fleet", "8:05", change=4)[0],
                         "9:45")

    def test_walk(self):
        self.table.add_walk("Bton", "Cross", 5)
        self.assertEqual(
            self.trip("Aville", "Cross", "7:50"),
            ("8:25", ["S1 8:00-8:20 to Bton", "walk to Cross"]))
        self.assertEqual(self.trip("Cross", "Elby", "8:40")[0], "9:10")
