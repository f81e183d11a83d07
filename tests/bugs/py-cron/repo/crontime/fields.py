"""The five fields of a crontab line."""

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
DAYS = "sun mon tue wed thu fri sat".split()


class CronError(ValueError):
    pass


class Field:
    """Name, bounds and the words that may stand for numbers."""

    def __init__(self, name, low, high, words=()):
        self.name = name
        self.low = low
        self.high = high
        self.words = words

    def number(self, text):
        if text.lower() in self.words:
            return self.words.index(text.lower()) + self.low
        if not text.isdigit():
            raise CronError("%s: %r is not a number" % (self.name, text))
        value = int(text)
        if not self.low <= value <= self.high:
            raise CronError("%s: %d out of range" % (self.name, value))
        return value

    def parse(self, text):
        values = set()
        for part in text.split(","):
            values.update(self._part(part))
        return frozenset(values)

    def _part(self, part):
        span, slash, step = part.partition("/")
        step = int(step) if step.isdigit() else (0 if slash else 1)
        if step < 1:
            raise CronError("%s: bad step in %r" % (self.name, part))
        if span == "*":
            first, last = self.low, self.high
        elif "-" in span:
            first, last = map(self.number, span.split("-", 1))
        else:
            first = self.number(span)
            last = self.high if slash else first
        if first > last:
            raise CronError("%s: range %r is empty" % (self.name, span))
        return range(first, last + 1, step)


MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day", 1, 31)
MONTH = Field("month", 1, 12, MONTHS)
WEEKDAY = Field("weekday", 0, 7, DAYS)
