"""Evaluate a crontab expression."""

from datetime import timedelta

from .fields import DAY, HOUR, MINUTE, MONTH, CronError
from .weekdays import WeekdayRule

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
}

HORIZON = timedelta(days=366 * 5)


class Schedule:
    def __init__(self, expression):
        fields = ALIASES.get(expression, expression).split()
        if len(fields) != 5:
            raise CronError("five fields wanted, got %d" % len(fields))
        self.minutes = MINUTE.parse(fields[0])
        self.hours = HOUR.parse(fields[1])
        self.days = DAY.parse(fields[2])
        self.any_day = fields[2] == "*"
        self.months = MONTH.parse(fields[3])
        self.weekday = WeekdayRule(fields[4])

    def matches_date(self, date):
        if date.month not in self.months:
            return False
        by_day = date.day in self.days
        by_weekday = self.weekday.matches(date)
        # crontab(5): when both are restricted, either one is enough.
        if self.any_day or self.weekday.any:
            return by_day and by_weekday
        return by_day or by_weekday

    def next_after(self, moment):
        """First run strictly later than moment."""
        limit = moment + HORIZON
        at = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        while at < limit:
            if not self.matches_date(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at += timedelta(minutes=1)
            else:
                return at
        return None
