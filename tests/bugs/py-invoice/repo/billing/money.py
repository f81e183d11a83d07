"""Amounts are Decimals with two places."""

from decimal import ROUND_HALF_UP, Decimal

ONE_CENT = Decimal("0.01")


def cents(value):
    """Round to whole cents; a half goes away from zero."""
    return Decimal(value).quantize(ONE_CENT, rounding=ROUND_HALF_UP)


def shown(amount, currency="EUR"):
    """1234.5 -> "1,234.50 EUR" """
    return "{:,.2f} {}".format(amount, currency)


def percent(part, whole):
    return Decimal(0) if not whole else 100 * part / whole
