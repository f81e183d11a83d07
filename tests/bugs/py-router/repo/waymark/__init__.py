from .router import MethodNotAllowed, NotFound, Router

__all__ = ["MethodNotAllowed", "NotFound", "Router"]
