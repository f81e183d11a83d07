from .parser import OutlineError, parse
from .writer import to_html, to_text

__all__ = ["OutlineError", "parse", "to_html", "to_text"]
