"""Lots of goods, as they came in."""

from dataclasses import dataclass
from datetime import date


@dataclass
class Lot:
    code: str
    item: str
    quantity: int
    received: date
    expires: date | None = None
    blocked: bool = False  # quality control has not let it go yet
    reserved: int = 0

    @property
    def free(self):
        return self.quantity - self.reserved

    def expired(self, day):
        """The day on the label is the last good one."""
        return self.expires is not None and day > self.expires

    def reserve(self, amount):
        if not 0 < amount <= self.free:
            raise ValueError("lot %s has %d free" % (self.code, self.free))
        self.reserved += amount

    def ship(self, amount):
        if amount > self.reserved:
            raise ValueError("lot %s: ship what is reserved" % self.code)
        self.reserved -= amount
        self.quantity -= amount


def first_out(lot):
    """Sort key: what spoils first goes first, then what came first."""
    return (lot.expires or date.max, lot.received, lot.code)
