"""Trips and the hops between two stops that they are made of.

    # trip   stop time, stop time ...
    R1: Aville 8:00, Bton 8:20/8:22, Cford 8:40

Of two times at a stop the first is the arrival, the second the departure.
"""

from collections import namedtuple

Hop = namedtuple("Hop", "trip origin target departs arrives")


def minutes(text):
    hours, _, rest = text.strip().partition(":")
    value = int(hours) * 60 + int(rest)
    if not 0 <= int(rest) < 60:
        raise ValueError("no such time: %s" % text)
    return value


def clock(value):
    return "%d:%02d" % divmod(value, 60)


def parse_call(text):
    """"Bton 8:20/8:22" -> (stop, arrival, departure)"""
    stop, times = text.strip().rsplit(None, 1)
    arrival, slash, departure = times.partition("/")
    arrival = minutes(arrival)
    return stop, arrival, minutes(departure) if slash else arrival


class Timetable:
    def __init__(self, text=""):
        self.hops = []
        self.walks = {}
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if line:
                self.add_trip(*line.split(":", 1))

    def add_trip(self, trip, calls):
        calls = [parse_call(c) for c in calls.split(",")]
        for (origin, _, departs), (target, arrives, _) in zip(calls,
                                                              calls[1:]):
            if arrives < departs:
                raise ValueError("%s: back in time to %s" % (trip, target))
            self.hops.append(Hop(trip, origin, target, departs, arrives))
        self.hops.sort(key=lambda hop: (hop.departs, hop.arrives))

    def add_walk(self, one, other, duration):
        self.walks.setdefault(one, {})[other] = duration
        self.walks.setdefault(other, {})[one] = duration
