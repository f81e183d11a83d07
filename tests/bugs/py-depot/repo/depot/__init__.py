from .lots import Lot
from .warehouse import Shortage, Warehouse, allocate

__all__ = ["Lot", "Shortage", "Warehouse", "allocate"]
