import unittest
from decimal import Decimal

from stockbook import JournalError, Ledger, StockError, parse_journal
from stockbook.reorder import Policy, round_to_pack, suggestions


def ledger(text):
    return Ledger().apply_all(parse_journal(text))


class JournalTest(unittest.TestCase):
    def test_comments_and_blank_lines(self):
        self.assertEqual(parse_journal("# nothing\n\n   \n"), [])

    def test_sku_is_upper_cased(self):
        self.assertEqual(parse_journal("out nut 3")[0].sku, "NUT")

    def test_unknown_movement(self):
        with self.assertRaises(JournalError) as caught:
            parse_journal("in A 1 1\nlost A 1")
        self.assertEqual(caught.exception.lineno, 2)

    def test_quantity_must_be_positive(self):
        with self.assertRaises(JournalError):
            parse_journal("out A 0")

    def test_bad_cost(self):
        with self.assertRaises(JournalError):
            parse_journal("in A 1 cheap")


class LedgerTest(unittest.TestCase):
    def test_fifo_cost(self):
        book = ledger("in A 10 1.00\nin A 10 2.00\nout A 15")
        self.assertEqual(book.cost_of_goods, Decimal("20.00"))
        self.assertEqual(book.on_hand("A"), 5)
        self.assertEqual(book.value("A"), Decimal("10.00"))

    def test_ship_exactly_everything(self):
        book = ledger("in A 4 1\nout A 4")
        self.assertEqual(book.on_hand("A"), 0)

    def test_oversell_is_refused(self):
        with self.assertRaises(StockError):
            ledger("in A 4 1\nout A 5")

    def test_delivery_settles_orders(self):
        book = ledger("po A 50\nin A 20 1")
        self.assertEqual(book.on_order("A"), 30)
        book = ledger("po A 50\nin A 60 1")
        self.assertEqual(book.on_order("A"), 0)

    def test_unknown_sku(self):
        self.assertEqual(ledger("").on_hand("A"), 0)
        self.assertEqual(ledger("").value("A"), 0)

    def test_skus(self):
        self.assertEqual(ledger("po B 1\nin A 1 1").skus(), ["A", "B"])


class ReorderTest(unittest.TestCase):
    def test_round_to_pack(self):
        self.assertEqual(round_to_pack(1, 10), 10)
        self.assertEqual(round_to_pack(20, 10), 20)

    def test_enough_stock(self):
        rules = {"A": Policy(5, 20, 1)}
        self.assertEqual(suggestions(ledger("in A 5 1"), rules), [])

    def test_below_minimum(self):
        rules = {"A": Policy(5, 20, 6), "B": Policy(1, 2, 1)}
        self.assertEqual(suggestions(ledger("in A 4 1"), rules),
                         [("A", 18), ("B", 2)])

    def test_open_orders_are_not_bought_twice(self):
        rules = {"A": Policy(50, 80, 1)}
        book = ledger("in A 10 1\npo A 30")
        self.assertEqual(suggestions(book, rules), [("A", 40)])
        book = ledger("in A 10 1\npo A 60")
        self.assertEqual(suggestions(book, rules), [])


if __name__ == "__main__":
    unittest.main()
