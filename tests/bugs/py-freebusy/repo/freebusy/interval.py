"""Half-open intervals of minutes since midnight."""


class Interval:
    __slots__ = ("start", "end")

    def __init__(self, start, end):
        if end < start:
            raise ValueError("interval ends before it starts")
        self.start = start
        self.end = end

    def __eq__(self, other):
        return (self.start, self.end) == (other.start, other.end)

    def __repr__(self):
        return "Interval(%s)" % self

    def __str__(self):
        return "%s-%s" % (clock(self.start), clock(self.end))

    @property
    def length(self):
        return self.end - self.start

    def overlaps(self, other):
        return self.start < other.end and other.start < self.end

    def clip(self, other):
        """The part of self inside other, or None."""
        if not self.overlaps(other):
            return None
        return Interval(max(self.start, other.start), min(self.end, other.end))


def clock(minutes):
    return "%02d:%02d" % divmod(minutes, 60)


def parse_clock(text):
    hours, _, minutes = text.partition(":")
    value = int(hours) * 60 + int(minutes or 0)
    if not 0 <= value <= 24 * 60:
        raise ValueError("no such time: %s" % text)
    return value


def parse_interval(text):
    start, _, end = text.partition("-")
    return Interval(parse_clock(start), parse_clock(end))
