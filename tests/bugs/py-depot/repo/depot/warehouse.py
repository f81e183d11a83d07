"""Where the lots are, and which of them serve an order."""

from .lots import first_out


class Shortage(Exception):
    def __init__(self, item, missing):
        super().__init__("%s: %d missing" % (item, missing))
        self.item = item
        self.missing = missing


class Warehouse:
    def __init__(self, name, distance=0):
        self.name = name
        self.distance = distance
        self.lots = []

    def receive(self, lot):
        if any(other.code == lot.code for other in self.lots):
            raise ValueError("lot %s is here already" % lot.code)
        self.lots.append(lot)
        return self

    def pickable(self, item, day):
        """What an order of that day may be served from, first out first."""
        return sorted((lot for lot in self.lots
                       if lot.item == item and lot.free > 0
                       and not lot.blocked),
                      key=first_out)

    def available(self, item, day):
        return sum(lot.free for lot in self.pickable(item, day))

    def write_off(self, day):
        """Take out what is spoiled, unless somebody has reserved it."""
        gone = [lot for lot in self.lots
                if lot.expired(day) and lot.reserved == 0]
        self.lots = [lot for lot in self.lots if lot not in gone]
        return gone


def allocate(warehouses, item, amount, day):
    """Reserve all or nothing: [(warehouse name, lot code, amount)].

    Near warehouses come first; a warehouse that holds it all is better than
    two that share it.
    """
    near = sorted(warehouses, key=lambda w: (w.distance, w.name))
    whole = [w for w in near if w.available(item, day) >= amount]
    plan = []
    missing = amount
    for warehouse in whole[:1] or near:
        for lot in warehouse.pickable(item, day):
            take = min(lot.free, missing)
            if take > 0:
                plan.append((warehouse, lot, take))
                missing -= take
    if missing > 0:
        raise Shortage(item, missing)
    for _, lot, take in plan:
        lot.reserve(take)
    return [(warehouse.name, lot.code, take) for warehouse, lot, take in plan]
