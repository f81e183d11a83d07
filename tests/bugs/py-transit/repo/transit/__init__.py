from .scan import earliest
from .timetable import Timetable

__all__ = ["Timetable", "earliest"]
