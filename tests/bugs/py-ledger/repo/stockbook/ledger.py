"""Current state of the warehouse."""

from decimal import Decimal

from .lots import Lots


class StockError(Exception):
    pass


class Ledger:
    def __init__(self):
        self._lots = {}
        self._ordered = {}
        self.cost_of_goods = Decimal(0)

    def apply(self, move):
        if move.kind == "in":
            self._receive(move.sku, move.qty, move.cost)
        elif move.kind == "out":
            self._ship(move.sku, move.qty)
        else:
            self._ordered[move.sku] = self.on_order(move.sku) + move.qty

    def apply_all(self, moves):
        for move in moves:
            self.apply(move)
        return self

    def skus(self):
        return sorted(set(self._lots) | set(self._ordered))

    def on_hand(self, sku):
        lots = self._lots.get(sku)
        return lots.quantity if lots else 0

    def on_order(self, sku):
        return self._ordered.get(sku, 0)

    def projected(self, sku):
        """Stock once every open purchase order has arrived."""
        return self.on_hand(sku) - self.on_order(sku)

    def value(self, sku):
        lots = self._lots.get(sku)
        return lots.value if lots else Decimal(0)

    def _receive(self, sku, qty, cost):
        self._lots.setdefault(sku, Lots()).add(qty, cost)
        # A delivery settles open orders first; the rest was unannounced.
        self._ordered[sku] = max(self.on_order(sku) - qty, 0)

    def _ship(self, sku, qty):
        have = self.on_hand(sku)
        if qty > have:
            raise StockError("%s: %d wanted, %d on hand" % (sku, qty, have))
        self.cost_of_goods += self._lots[sku].take(qty)
