from .block import Block, aggregate
from .pool import Exhausted, Pool

__all__ = ["Block", "Exhausted", "Pool", "aggregate"]
