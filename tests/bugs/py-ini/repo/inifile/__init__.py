from .expand import Expander, ExpandError
from .reader import ParseError, read

__all__ = ["ExpandError", "Expander", "ParseError", "read"]
