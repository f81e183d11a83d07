"""How often somebody is paid, and what that makes in a year."""

from fractions import Fraction

PERIODS = {"month": 12, "fortnight": 26, "week": 52}


def yearly(amount):
    return Fraction(amount) * PERIODS["month"]


def share(amount):
    """The part of a yearly amount that falls on one period."""
    return Fraction(amount) / PERIODS["month"]
