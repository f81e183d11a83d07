"""Rules of a build file.

    app: main.o util.o
        link app main.o util.o
    main.o: main.c util.h
        compile main.c
"""


class RuleError(Exception):
    def __init__(self, line, text):
        super().__init__("line %d: %s" % (line, text))
        self.line = line


class Rule:
    def __init__(self, target, needs):
        self.target = target
        self.needs = needs
        self.steps = []


def parse_rules(text):
    """{target: rule}, in the order of the text."""
    rules = {}
    rule = None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace():
            if rule is None:
                raise RuleError(number, "a step without a target")
            rule.steps.append(line.strip())
            continue
        target, colon, needs = line.partition(":")
        target = target.strip()
        if not colon or not target:
            raise RuleError(number, "no target in %r" % line)
        if target in rules:
            raise RuleError(number, "a second rule for %s" % target)
        rule = rules[target] = Rule(target, needs.split())
    return rules
