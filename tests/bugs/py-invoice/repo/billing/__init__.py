from .document import Invoice
from .money import cents, shown

__all__ = ["Invoice", "cents", "shown"]
