import unittest

from netpool import Block, Exhausted, Pool


class PoolTest(unittest.TestCase):
    def test_smallest_hole(self):
        pool = Pool("10.0.0.0/16", "10.9.0.0/25")
        self.assertEqual(str(pool.allocate(26, "a")), "10.9.0.0/26")
        self.assertEqual(str(pool.allocate(24, "b")), "10.0.0.0/24")

    def test_exhausted(self):
        pool = Pool("10.0.0.0/30")
        pool.allocate(31, "a")
        with self.assertRaises(Exhausted):
            pool.allocate(30, "b")

    def test_release_makes_it_whole(self):
        pool = Pool("10.0.0.0/24")
        blocks = [pool.allocate(26, "a") for _ in range(4)]
        self.assertEqual(pool.free, [])
        for block in blocks[::-1]:
            pool.release(block)
        self.assertEqual([str(b) for b in pool.free], ["10.0.0.0/24"])

    def test_release_in_the_middle(self):
        pool = Pool("10.0.0.0/24")
        blocks = [pool.allocate(26, "a") for _ in range(4)]
        pool.release(blocks[1])
        pool.release(blocks[2])
        self.assertEqual([str(b) for b in pool.free],
                         ["10.0.0.64/26", "10.0.0.128/26"])

    def test_release_twice(self):
        pool = Pool("10.0.0.0/24")
        block = pool.allocate(25, "a")
        pool.release(block)
        with self.assertRaises(KeyError):
            pool.release(block)

    def test_owner(self):
        pool = Pool("10.0.0.0/24")
        pool.allocate(25, "lab")
        self.assertEqual(pool.owner("10.0.0.99"), "lab")
        self.assertIsNone(pool.owner("10.0.0.200"))

    def test_usage(self):
        pool = Pool("10.0.0.0/24")
        pool.allocate(27, "lab")
        self.assertEqual(pool.usage(), 12.5)
        self.assertEqual(pool.free[0], Block.parse("10.0.0.32/27"))
