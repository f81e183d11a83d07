import unittest
from decimal import Decimal

from billing import Invoice, cents, shown
from billing.money import percent


def euro(text):
    return Decimal(text)


class MoneyTest(unittest.TestCase):
    def test_half_goes_up(self):
        self.assertEqual(cents("0.125"), euro("0.13"))
        self.assertEqual(cents("-0.125"), euro("-0.13"))
        self.assertEqual(cents("0.1249"), euro("0.12"))

    def test_shown(self):
        self.assertEqual(shown(euro("1234.5")), "1,234.50 EUR")
        self.assertEqual(shown(euro("-3"), "USD"), "-3.00 USD")

    def test_percent_of_nothing(self):
        self.assertEqual(percent(euro("5"), euro("0")), 0)


class InvoiceTest(unittest.TestCase):
    def test_one_line(self):
        invoice = Invoice("1").add("book", 2, "10.00")
        self.assertEqual(invoice.net(), euro("20.00"))
        self.assertEqual(invoice.total(), euro("23.80"))

    def test_empty(self):
        self.assertEqual(Invoice("1").total(), 0)
        self.assertEqual(Invoice("1").taxes(), [])

    def test_nothing_of_it(self):
        with self.assertRaises(ValueError):
            Invoice("1").add("book", 0, "10.00")

    def test_discount(self):
        invoice = Invoice("1", discount="12.5").add("book", 1, "19.99")
        self.assertEqual(invoice.net(), euro("17.49"))

    def test_parts_of_a_cent(self):
        invoice = Invoice("1").add("wire", "3.5", "0.333", "0")
        self.assertEqual(invoice.total(), euro("1.17"))

    def test_rates_apart(self):
        invoice = (Invoice("1").add("book", 1, "10.00", "7")
                   .add("lamp", 1, "100.00").add("pen", 1, "1.00", "7"))
        self.assertEqual(
            [(str(t.rate), str(t.net), str(t.amount)) for t in invoice.taxes()],
            [("19", "100.00", "19.00"), ("7", "11.00", "0.77")])

    def test_taxes_add_up_to_the_total(self):
        invoice = (Invoice("1").add("book", 1, "10.07", "7")
                   .add("lamp", 1, "9.98"))
        self.assertEqual([t.amount for t in invoice.taxes()],
                         [euro("1.90"), euro("0.70")])
        self.assertEqual(invoice.total(), euro("22.65"))

    def test_refund(self):
        invoice = Invoice("1").add("book", -1, "10.00")
        self.assertEqual(invoice.total(), euro("-11.90"))

    def test_payments(self):
        invoice = Invoice("1").add("lamp", 1, "100.00")
        invoice.pay("19")
        invoice.pay("40.50")
        self.assertEqual(invoice.due(), euro("59.50"))
        self.assertEqual(invoice.paid_percent(), 50)

    def test_paid_to_the_cent(self):
        invoice = Invoice("1").add("pen", 1, "1.11")
        invoice.pay("1.32")
        self.assertEqual(invoice.due(), 0)


class RenderTest(unittest.TestCase):
    def test_render(self):
        invoice = (Invoice("7/24").add("book", 2, "10.00", "7")
                   .add("stamps", 1, "5.00", "0"))
        self.assertEqual(invoice.render(), [
            "Invoice 7/24",
            "2 x book                  20.00 EUR",
            "stamps                     5.00 EUR",
            "Net                       25.00 EUR",
            "Tax 7% of 20.00 EUR        1.40 EUR",
            "Total                     26.40 EUR"])

    def test_payment_is_shown(self):
        invoice = Invoice("8").add("lamp", 1, "1000.00")
        invoice.pay("90")
        self.assertEqual([row.split(None, 1) for row in invoice.render()[-2:]],
                         [["Paid", "-90.00 EUR"], ["Due", "1,100.00 EUR"]])
