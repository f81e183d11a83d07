from .calendar import Calendar
from .interval import Interval
from .search import find_slots

__all__ = ["Calendar", "Interval", "find_slots"]
