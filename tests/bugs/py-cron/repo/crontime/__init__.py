from .fields import CronError
from .schedule import Schedule

__all__ = ["CronError", "Schedule"]
