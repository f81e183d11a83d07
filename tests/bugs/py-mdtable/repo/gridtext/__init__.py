from .render import Table

__all__ = ["Table"]
