"""Which endpoint answers a request."""

from .rule import Rule


class NotFound(LookupError):
    pass


class MethodNotAllowed(LookupError):
    def __init__(self, path, allowed):
        super().__init__(path)
        self.allowed = sorted(allowed)


class Router:
    def __init__(self, prefix=""):
        self.prefix = prefix.rstrip("/")
        self.rules = []

    def add(self, text, endpoint, methods=("GET",)):
        self.rules.append(Rule(self.prefix + text, endpoint, methods))
        # What is more exact is asked first; equals stay in their order.
        self.rules.sort(key=lambda rule: rule.weight, reverse=True)
        return self

    def match(self, method, path):
        """(endpoint, parameters)"""
        allowed = set()
        for rule in self.rules:
            values = rule.match(path)
            if values is None:
                continue
            if rule.allows(method.upper()):
                return rule.endpoint, values
            allowed |= rule.allowed()
        if allowed:
            raise MethodNotAllowed(path, allowed)
        raise NotFound(path)

    def build(self, endpoint, **values):
        for rule in self.rules:
            names = {name for _, name, _ in rule.parts if name}
            if rule.endpoint == endpoint and names == set(values):
                return rule.build(values)
        raise NotFound(endpoint)
