from .buffer import Buffer
from .history import Editor

__all__ = ["Buffer", "Editor"]
