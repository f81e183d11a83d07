"""Operations on lists of intervals."""

from .interval import Interval


def merge(intervals):
    """Sort, and join what overlaps or touches."""
    merged = []
    for item in sorted(intervals, key=lambda i: (i.start, i.end)):
        if merged and item.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start,
                                  max(merged[-1].end, item.end))
        else:
            merged.append(item)
    return merged


def gaps(intervals, window):
    """The free parts of window."""
    free = []
    cursor = window.start
    for item in merge(intervals):
        inside = item.clip(window)
        if inside is None:
            continue
        if inside.start > cursor:
            free.append(Interval(cursor, inside.start))
        cursor = inside.end
    if cursor < window.end:
        free.append(Interval(cursor, window.end))
    return free


def round_up(minute, grid):
    """Next multiple of grid that is not before minute."""
    late = minute % grid
    if not late:
        minute += grid - late
    return minute
