from .builder import Builder, BuildError
from .rules import RuleError, parse_rules

__all__ = ["BuildError", "Builder", "RuleError", "parse_rules"]
