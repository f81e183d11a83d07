"""Invoices: lines, discount and taxes."""

from collections import namedtuple
from decimal import Decimal

from .money import cents, percent, shown

Line = namedtuple("Line", "text quantity price rate")
Tax = namedtuple("Tax", "rate net amount")


class Invoice:
    """Prices are net; rate is a tax rate in percent. Each tax is rounded by
    itself, as the law has it."""

    def __init__(self, number, discount=0):
        self.number = number
        self.discount = Decimal(discount)
        self.lines = []
        self.payments = []

    def add(self, text, quantity, price, rate="19"):
        if Decimal(quantity) == 0:
            raise ValueError("a line of nothing: %s" % text)
        self.lines.append(Line(text, Decimal(quantity), Decimal(price),
                               Decimal(rate)))
        return self

    def pay(self, amount):
        self.payments.append(cents(amount))

    def amount(self, line):
        """What a line costs after the discount, without tax."""
        full = line.quantity * line.price
        return cents(full - full * self.discount / 100)

    def net(self):
        return sum((self.amount(line) for line in self.lines), Decimal(0))

    def taxes(self):
        """One entry for each rate, the highest first."""
        groups = {}
        for line in self.lines:
            groups.setdefault(line.rate, []).append(self.amount(line))
        return [Tax(rate, sum(amounts), sum(amounts) * rate / 100)
                for rate, amounts in sorted(groups.items(), reverse=True)]

    def total(self):
        return self.net() + sum(tax.amount for tax in self.taxes())

    def due(self):
        return self.total() - sum(self.payments)

    def paid_percent(self):
        return round(percent(sum(self.payments), self.total()))

    def render(self):
        rows = [("Invoice %s" % self.number, "")]
        for line in self.lines:
            text = line.text
            if line.quantity != 1:
                text = "%s x %s" % (line.quantity.normalize(), text)
            rows.append((text, shown(self.amount(line))))
        rows.append(("Net", shown(self.net())))
        for tax in self.taxes():
            if tax.rate:
                rows.append(("Tax %s%% of %s" % (tax.rate, shown(tax.net)),
                             shown(tax.amount)))
        rows.append(("Total", shown(self.total())))
        for payment in self.payments:
            rows.append(("Paid", shown(-payment)))
        if self.payments:
            rows.append(("Due", shown(self.due())))
        wide = max(len(text) for text, _ in rows)
        return ["%-*s  %14s" % (wide, text, amount) if amount else text
                for text, amount in rows]
