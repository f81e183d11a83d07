"""What to buy, and how much of it."""

from collections import namedtuple

Policy = namedtuple("Policy", "minimum target pack")


def round_to_pack(qty, pack):
    """Suppliers sell whole packs only."""
    packs = -(-qty // pack)
    return packs * pack


def suggestions(ledger, policies):
    """Return [(sku, qty)] for every SKU that falls below its minimum."""
    wanted = []
    for sku in sorted(policies):
        policy = policies[sku]
        stock = ledger.projected(sku)
        if stock >= policy.minimum:
            continue
        wanted.append((sku, round_to_pack(policy.target - stock, policy.pack)))
    return wanted
