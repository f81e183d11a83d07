from .show import parse_octal, show
from .symbolic import ModeError, change

__all__ = ["ModeError", "change", "parse_octal", "show"]
