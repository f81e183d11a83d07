import unittest

from inifile import Expander, ExpandError, read

TEXT = """
root = /srv
[site]
name = shop
path = ${root}/${name}
log = ${path}/log
price = 5$$
debug = Yes
ports =
    80
    443
[mail]
from = ${site:name}@example.org
a = ${b}
b = ${a}
"""


class ExpandTest(unittest.TestCase):
    def setUp(self):
        self.config = Expander(read(TEXT))

    def test_same_section(self):
        self.assertEqual(self.config.get("site", "log"), "/srv/shop/log")

    def test_other_section(self):
        self.assertEqual(self.config.get("mail", "from"), "shop@example.org")

    def test_dollar(self):
        self.assertEqual(self.config.get("site", "price"), "5$")

    def test_circle(self):
        with self.assertRaises(ExpandError):
            self.config.get("mail", "a")

    def test_missing(self):
        with self.assertRaises(ExpandError):
            self.config.get("site", "color")

    def test_flag(self):
        self.assertTrue(self.config.flag("site", "debug"))
        with self.assertRaises(ExpandError):
            self.config.flag("site", "name")

    def test_items(self):
        self.assertEqual(self.config.items("site", "ports"), ["80", "443"])
