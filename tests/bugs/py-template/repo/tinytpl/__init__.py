from .render import Template
from .syntax import TemplateError

__all__ = ["Template", "TemplateError"]
