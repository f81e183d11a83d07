"""'10/min burst 5' and the like."""

UNITS = {"s": 1000, "sec": 1000, "min": 60000, "h": 3600000}


class Rule:
    def __init__(self, count, period, burst=None):
        self.count = count
        self.period = period
        self.burst = count if burst is None else burst

    def cost(self):
        """Milliseconds that one token takes to grow back."""
        return self.period / self.count

    def __repr__(self):
        return "Rule(%d, %d, %d)" % (self.count, self.period, self.burst)


def parse_rule(text):
    words = text.split()
    if len(words) not in (1, 3):
        raise ValueError("bad rule: %r" % text)
    count, slash, unit = words[0].partition("/")
    if unit not in UNITS or not count.isdigit() or int(count) < 1:
        raise ValueError("bad rate: %r" % words[0])
    burst = None
    if len(words) == 3:
        if words[1] != "burst" or not words[2].isdigit():
            raise ValueError("bad burst: %r" % text)
        burst = int(words[2])
    return Rule(int(count), UNITS[unit], burst)
