"""Earliest arrival, by one look at each hop in the order of departures."""

from .timetable import clock

NEVER = float("inf")


class Search:
    def __init__(self, timetable, start, at, change):
        self.timetable = timetable
        self.start = start
        self.change = change
        self.best = {}    # stop -> minute of arrival
        self.came = {}    # stop -> (previous stop, text of the leg)
        self.boarded = {}  # trip -> hop where one gets on
        self.reach(start, at, None)

    def reach(self, stop, minute, leg):
        if minute >= self.best.get(stop, NEVER):
            return
        self.best[stop] = minute
        self.came[stop] = leg
        for other, duration in self.timetable.walks.get(stop, {}).items():
            self.reach(other, minute + duration,
                       (stop, "walk to %s" % other))

    def ready(self, stop):
        """When one can get on something else at a stop."""
        minute = self.best.get(stop, NEVER)
        return minute if stop == self.start else minute + self.change

    def look(self, hop):
        if self.ready(hop.origin) <= hop.departs:
            first = self.boarded.setdefault(hop.trip, hop)
            self.reach(hop.target, hop.arrives,
                       (first.origin, "%s %s-%s to %s" % (
                           hop.trip, clock(first.departs),
                           clock(hop.arrives), hop.target)))

    def legs(self, goal):
        found = []
        while self.came[goal] is not None:
            goal, text = self.came[goal]
            found.append(text)
        return found[::-1]


def earliest(timetable, start, goal, at, change=3):
    """(minute of arrival, legs), or None when there is no way.

    change: minutes that it takes from one trip to another.
    """
    search = Search(timetable, start, at, change)
    for hop in timetable.hops:
        if hop.departs >= search.best.get(goal, NEVER):
            break
        search.look(hop)
    if goal not in search.best:
        return None
    return search.best[goal], search.legs(goal)
