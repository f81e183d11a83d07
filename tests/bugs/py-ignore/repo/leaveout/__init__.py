from .filter import Filter
from .pattern import Pattern, translate

__all__ = ["Filter", "Pattern", "translate"]
