import time


class SystemClock:
    def now(self):
        return time.monotonic()


class ManualClock:
    """For tests: time passes only when told to."""

    def __init__(self, start=0):
        self._now = start

    def now(self):
        return self._now

    def advance(self, seconds):
        self._now += seconds
