from .plan import Plan, Subscription

__all__ = ["Plan", "Subscription"]
