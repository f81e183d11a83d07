"""Times of day as minutes since midnight."""
from clock.parse import parse
from clock.text import show, span

__all__ = ["parse", "show", "span"]
