from .cache import Cache
from .loader import LoadingCache

__all__ = ["Cache", "LoadingCache"]
