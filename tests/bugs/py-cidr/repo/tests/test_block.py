import unittest

from netpool import Block, aggregate
from netpool.block import parse_address, show_address


def joined(*texts):
    return [str(b) for b in aggregate(Block.parse(t) for t in texts)]


class BlockTest(unittest.TestCase):
    def test_addresses(self):
        self.assertEqual(parse_address("10.0.1.2"), 0x0a000102)
        self.assertEqual(show_address(0xc0a80001), "192.168.0.1")

    def test_bad_addresses(self):
        for text in ("10.0.0", "10.0.0.256", "10.0.0.x", "10..0.1"):
            with self.assertRaises(ValueError):
                parse_address(text)

    def test_bits_behind_the_prefix(self):
        with self.assertRaises(ValueError):
            Block.parse("10.0.0.1/24")

    def test_single_address(self):
        self.assertEqual(Block.parse("10.0.0.7").size, 1)

    def test_contains(self):
        net = Block.parse("10.0.0.0/24")
        self.assertIn(Block.parse("10.0.0.128/25"), net)
        self.assertIn(net, net)
        self.assertNotIn(Block.parse("10.0.1.0"), net)

    def test_halves(self):
        self.assertEqual([str(b) for b in Block.parse("10.0.0.0/24").halves()],
                         ["10.0.0.0/25", "10.0.0.128/25"])


class AggregateTest(unittest.TestCase):
    def test_pair(self):
        self.assertEqual(joined("10.0.1.0/24", "10.0.0.0/24"),
                         ["10.0.0.0/23"])

    def test_cascade(self):
        self.assertEqual(joined("10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/23"),
                         ["10.0.0.0/22"])

    def test_inside_another(self):
        self.assertEqual(joined("10.0.0.0/16", "10.0.3.0/24", "10.0.0.0/16"),
                         ["10.0.0.0/16"])

    def test_neighbours_of_two_pairs(self):
        self.assertEqual(joined("10.0.1.0/24", "10.0.2.0/24"),
                         ["10.0.1.0/24", "10.0.2.0/24"])

    def test_different_sizes(self):
        self.assertEqual(joined("10.0.0.0/25", "10.0.0.128/26"),
                         ["10.0.0.0/25", "10.0.0.128/26"])

    def test_gap(self):
        self.assertEqual(joined("10.0.0.0/24", "10.0.2.0/24"),
                         ["10.0.0.0/24", "10.0.2.0/24"])
