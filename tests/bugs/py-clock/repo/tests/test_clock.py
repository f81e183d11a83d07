import unittest

from clock import parse, show, span


class ParseTest(unittest.TestCase):
    def test_plain(self):
        self.assertEqual(parse("7:05"), 425)

    def test_blanks(self):
        self.assertEqual(parse(" 23:59 "), 1439)

    def test_midnight(self):
        self.assertEqual(parse("0:00"), 0)

    def test_no_minutes(self):
        with self.assertRaises(ValueError):
            parse("7")


class ShowTest(unittest.TestCase):
    def test_midnight(self):
        self.assertEqual(show(0), "0:00")

    def test_many(self):
        for total, text in ((425, "7:05"), (61, "1:01"), (719, "11:59"),
                            (1439, "23:59"), (600, "10:00")):
            self.assertEqual(show(total), text)

    def test_span(self):
        self.assertEqual(span(parse("9:30"), parse("17:45")), "9:30-17:45")
