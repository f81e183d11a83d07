"""Subscriptions and the days on which they are charged."""

from dataclasses import dataclass
from datetime import date, timedelta

from .months import last_day, parse_day, shift


@dataclass(frozen=True)
class Plan:
    name: str
    price: int          # cents a period
    every: int = 1      # months a period
    trial: int = 0      # days that are free

    def __post_init__(self):
        if self.every < 1:
            raise ValueError("a period has at least one month")


class Subscription:
    """The anchor is the day of the first charge: later ones fall on the same
    day of the month, or on the last one where the month is shorter."""

    def __init__(self, plan, start):
        self.plan = plan
        self.start = parse_day(start)
        self.anchor = self.start + timedelta(days=plan.trial)
        self.cancelled = None

    def following(self, due):
        """The day of the charge after the one on a day given."""
        year, month = shift(due.year, due.month, self.plan.every)
        return date(year, month, min(due.day, last_day(year, month)))

    def dues(self, until):
        """All days of charges before that day."""
        due = self.anchor
        while due < until:
            if self.cancelled is None or due < self.cancelled:
                yield due
            due = self.following(due)

    def cancel(self, day):
        """What is paid for can be used to its end."""
        self.cancelled = parse_day(day)
        return self.ends()

    def ends(self):
        """The first day without service; None when nobody has cancelled."""
        if self.cancelled is None:
            return None
        if self.cancelled <= self.anchor:
            return self.cancelled
        due = self.anchor
        while due < self.cancelled:
            due = self.following(due)
        return due

    def active(self, day):
        day = parse_day(day)
        end = self.ends()
        return self.start <= day and (end is None or day < end)

    def statement(self, first, last):
        """[(day, cents)] of the charges from first to last."""
        first, last = parse_day(first), parse_day(last)
        return [(due.isoformat(), self.plan.price)
                for due in self.dues(last + timedelta(days=1))
                if due >= first]

    def refund(self, day):
        """Cents for the days of a period that are left on that day."""
        day = parse_day(day)
        paid = None
        for paid in self.dues(day + timedelta(days=1)):
            pass
        if paid is None:
            return 0
        end = self.following(paid)
        return self.plan.price * (end - day).days // (end - paid).days
