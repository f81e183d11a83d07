import unittest
from datetime import date

from depot import Lot, Shortage, Warehouse, allocate

TODAY = date(2024, 5, 10)


def lot(code, quantity, expires=None, received=date(2024, 4, 1), **more):
    return Lot(code, "milk", quantity, received, expires, **more)


class LotTest(unittest.TestCase):
    def test_free(self):
        item = lot("A", 10, reserved=4)
        self.assertEqual(item.free, 6)

    def test_last_day_is_good(self):
        item = lot("A", 1, TODAY)
        self.assertFalse(item.expired(TODAY))
        self.assertTrue(item.expired(date(2024, 5, 11)))

    def test_never_expires(self):
        self.assertFalse(lot("A", 1).expired(date.max))

    def test_reserve_too_much(self):
        with self.assertRaises(ValueError):
            lot("A", 3).reserve(4)

    def test_ship(self):
        item = lot("A", 5)
        item.reserve(3)
        item.ship(2)
        self.assertEqual((item.quantity, item.reserved), (3, 1))
        with self.assertRaises(ValueError):
            item.ship(2)


class WarehouseTest(unittest.TestCase):
    def setUp(self):
        self.here = Warehouse("here")

    def codes(self):
        return [x.code for x in self.here.pickable("milk", TODAY)]

    def test_spoils_first_goes_first(self):
        self.here.receive(lot("late", 1, date(2024, 8, 1)))
        self.here.receive(lot("soon", 1, date(2024, 6, 1)))
        self.here.receive(lot("never", 1))
        self.assertEqual(self.codes(), ["soon", "late", "never"])

    def test_same_date_by_arrival(self):
        end = date(2024, 6, 1)
        self.here.receive(lot("new", 1, end, date(2024, 5, 1)))
        self.here.receive(lot("old", 1, end, date(2024, 3, 1)))
        self.assertEqual(self.codes(), ["old", "new"])

    def test_blocked_is_not_picked(self):
        self.here.receive(lot("A", 5, blocked=True)).receive(lot("B", 5))
        self.assertEqual(self.codes(), ["B"])

    def test_spoiled_is_not_available(self):
        self.here.receive(lot("old", 5, date(2024, 5, 9)))
        self.here.receive(lot("edge", 2, TODAY))
        self.assertEqual(self.here.available("milk", TODAY), 2)

    def test_codes_are_unique(self):
        self.here.receive(lot("A", 1))
        with self.assertRaises(ValueError):
            self.here.receive(lot("A", 2))

    def test_write_off(self):
        self.here.receive(lot("A", 5, date(2024, 5, 1)))
        self.here.receive(lot("B", 5, date(2024, 5, 1), reserved=1))
        self.here.receive(lot("C", 5))
        self.assertEqual([x.code for x in self.here.write_off(TODAY)], ["A"])
        self.assertEqual([x.code for x in self.here.lots], ["B", "C"])


class AllocateTest(unittest.TestCase):
    def setUp(self):
        self.near = Warehouse("near", 5)
        self.far = Warehouse("far", 80)
        self.both = [self.far, self.near]

    def test_nearest(self):
        self.near.receive(lot("N", 10))
        self.far.receive(lot("F", 10))
        self.assertEqual(allocate(self.both, "milk", 4, TODAY),
                         [("near", "N", 4)])
        self.assertEqual(self.near.lots[0].free, 6)

    def test_one_warehouse_rather_than_two(self):
        self.near.receive(lot("N", 3))
        self.far.receive(lot("F", 10))
        self.assertEqual(allocate(self.both, "milk", 4, TODAY),
                         [("far", "F", 4)])

    def test_shared(self):
        self.near.receive(lot("N", 3))
        self.far.receive(lot("F", 3))
        self.assertEqual(allocate(self.both, "milk", 5, TODAY),
                         [("near", "N", 3), ("far", "F", 2)])

    def test_spoiled_goods_serve_no_order(self):
        self.near.receive(lot("N1", 2, date(2024, 5, 2)))
        self.near.receive(lot("N2", 2, date(2024, 7, 1)))
        self.assertEqual(allocate(self.both, "milk", 2, TODAY),
                         [("near", "N2", 2)])

    def test_all_or_nothing(self):
        self.near.receive(lot("N", 3))
        with self.assertRaises(Shortage) as caught:
            allocate(self.both, "milk", 5, TODAY)
        self.assertEqual(caught.exception.missing, 2)
        self.assertEqual(self.near.lots[0].free, 3)
