from .bucket import TokenBucket
from .limiter import Limiter
from .rules import Rule, parse_rule

__all__ = ["Limiter", "Rule", "TokenBucket", "parse_rule"]
