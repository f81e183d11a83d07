import unittest

from crontime.fields import DAY, HOUR, MINUTE, MONTH, CronError


class FieldTest(unittest.TestCase):
    def test_star(self):
        self.assertEqual(HOUR.parse("*"), frozenset(range(24)))

    def test_list_and_range(self):
        self.assertEqual(MINUTE.parse("1,5-7,59"), {1, 5, 6, 7, 59})

    def test_step(self):
        self.assertEqual(MINUTE.parse("*/20"), {0, 20, 40})
        self.assertEqual(MINUTE.parse("50/4"), {50, 54, 58})
        self.assertEqual(DAY.parse("1-10/3"), {1, 4, 7, 10})

    def test_names(self):
        self.assertEqual(MONTH.parse("jan,DEC"), {1, 12})

    def test_errors(self):
        for text in ("60", "x", "", "5-1", "*/0", "*/x", "-3"):
            with self.subTest(text), self.assertRaises(CronError):
                MINUTE.parse(text)
