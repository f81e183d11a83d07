"""Day-of-week field, with the "fri#2" (second Friday) extension."""

from .fields import WEEKDAY, CronError


def cron_weekday(date):
    """0 is Sunday, as in crontab(5)."""
    return (date.weekday() + 1) % 7


def week_of_month(day):
    """1 for the days 1-7 of a month, 2 for 8-14, and so on."""
    return (day + 7) // 7


class WeekdayRule:
    def __init__(self, text):
        self.any = text == "*"
        self.days = frozenset()
        self.nth = None
        if "#" in text:
            name, _, nth = text.partition("#")
            if nth not in ("1", "2", "3", "4", "5"):
                raise CronError("weekday: bad ordinal in %r" % text)
            self.days = frozenset([WEEKDAY.number(name) % 7])
            self.nth = int(nth)
        else:
            self.days = frozenset(d % 7 for d in WEEKDAY.parse(text))

    def matches(self, date):
        if cron_weekday(date) not in self.days:
            return False
        return self.nth is None or self.nth == week_of_month(date.day)
