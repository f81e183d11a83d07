from .compare import compare
from .unified import unified

__all__ = ["compare", "unified"]
