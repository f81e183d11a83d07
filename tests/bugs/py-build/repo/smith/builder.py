"""Bring targets up to date, their needs first."""


class BuildError(Exception):
    pass


class Builder:
    """stamps: {file name: time of its last change}, kept up to date.

    execute(step, target) runs one step and may raise BuildError.
    """

    def __init__(self, rules, stamps, execute):
        self.rules = rules
        self.stamps = stamps
        self.execute = execute
        self.clock = max(stamps.values(), default=0)
        self.state = {}    # target -> "fresh", "built" or "failed"

    def build(self, *targets):
        """Build as much as can be; the targets that failed."""
        for target in targets or list(self.rules)[:1]:
            self._visit(target, ())
        return [name for name, state in self.state.items()
                if state == "failed"]

    def _visit(self, name, trail):
        """When the target changed last; None when it can't be built."""
        if name in trail:
            raise BuildError("circle: %s" % " -> ".join(
                trail[trail.index(name):] + (name,)))
        rule = self.rules.get(name)
        if rule is None:
            if name not in self.stamps:
                raise BuildError("no rule for %s" % name)
            return self.stamps[name]
        times = [self._visit(need, trail + (name,)) for need in rule.needs]
        if None in times:
            self.state[name] = "failed"
            self.stamps.pop(name, None)
            return None
        if name in self.stamps and max(times, default=0) <= self.stamps[name]:
            self.state[name] = "fresh"
            return self.stamps[name]
        return self._make(rule)

    def _make(self, rule):
        try:
            for step in rule.steps:
                self.execute(step, rule.target)
        except BuildError:
            self.state[rule.target] = "failed"
            self.stamps.pop(rule.target, None)
            return None
        self.clock += 1
        self.stamps[rule.target] = self.clock
        self.state[rule.target] = "built"
        return self.clock
