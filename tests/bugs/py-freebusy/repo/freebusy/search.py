"""Find a time that suits everybody."""

from .interval import Interval
from .sets import gaps, round_up


def common_hours(calendars):
    start = max(c.hours.start for c in calendars)
    end = min(c.hours.end for c in calendars)
    return Interval(start, end) if start < end else None


def find_slots(calendars, length, grid=None, include_tentative=True):
    """Earliest start in every gap that holds a meeting of that length.

    With a grid, meetings start at a multiple of so many minutes only.
    """
    window = common_hours(calendars)
    if window is None:
        return []
    taken = []
    for calendar in calendars:
        taken.extend(calendar.busy(include_tentative))
    slots = []
    for gap in gaps(taken, window):
        start = round_up(gap.start, grid) if grid else gap.start
        if start + length <= gap.end:
            slots.append(Interval(start, start + length))
    return slots
