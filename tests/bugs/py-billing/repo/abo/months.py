"""Arithmetic with months, which have no fixed length."""

from calendar import monthrange
from datetime import date


def last_day(year, month):
    return monthrange(year, month)[1]


def shift(year, month, count):
    """(2023, 12, 1) -> (2024, 1)"""
    index = year * 12 + month - 1 + count
    return index // 12, index % 12 + 1


def parse_day(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError("not a day: %r" % text) from None
