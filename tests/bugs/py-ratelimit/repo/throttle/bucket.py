"""Token bucket for one client."""


class TokenBucket:
    def __init__(self, rule, now):
        self.rule = rule
        self.tokens = rule.burst
        self.updated = now

    def refill(self, now):
        grown = (now - self.updated) / self.rule.cost()
        self.tokens = self.tokens + grown
        self.updated = now

    def take(self, now):
        self.refill(now)
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def wait(self):
        """Milliseconds until a request would pass, as of the last refill."""
        if self.tokens >= 1:
            return 0
        return (1 - self.tokens) * self.rule.cost()

    def idle(self, now):
        return now - self.updated
