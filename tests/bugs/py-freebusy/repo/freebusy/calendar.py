"""One person's day."""

from .interval import parse_interval
from .sets import merge


class Calendar:
    def __init__(self, owner, hours="9:00-17:00"):
        self.owner = owner
        self.hours = parse_interval(hours)
        self._events = []

    def add(self, span, tentative=False):
        self._events.append((parse_interval(span), tentative))
        return self

    def busy(self, include_tentative=True):
        return merge(span for span, tentative in self._events
                     if include_tentative or not tentative)

    def load(self):
        """Share of the working hours that is taken, in percent."""
        taken = 0
        for span in self.busy(include_tentative=False):
            inside = span.clip(self.hours)
            if inside:
                taken += inside.length
        return 100 * taken // self.hours.length
