"""Run a parsed template."""

from .filters import FILTERS
from .syntax import Output, TemplateError, parse, parse_call


def lookup(path, scope):
    value = scope
    for name in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def evaluate(source, scope):
    """A literal, a nested call such as plus(a, 1), or a variable."""
    if source[:1] in ("'", '"'):
        if len(source) < 2 or source[-1] != source[0]:
            raise TemplateError("bad string: %s" % source)
        return source[1:-1]
    if source.lstrip("-").isdigit():
        return int(source)
    if source.endswith(")"):
        name, arguments = parse_call(source)
        return call(name, [evaluate(a, scope) for a in arguments])
    return lookup(source, scope)


def call(name, arguments):
    if name not in FILTERS:
        raise TemplateError("no such filter: %s" % name)
    return FILTERS[name](*arguments)


class Template:
    def __init__(self, text):
        self._nodes = parse(text)

    def render(self, **scope):
        out = []
        for node in self._nodes:
            if isinstance(node, Output):
                out.append(self._output(node, scope))
            else:
                out.append(node.text)
        return "".join(out)

    def _output(self, node, scope):
        value = evaluate(node.head, scope)
        for name, arguments in node.filters:
            values = [evaluate(a, scope) for a in arguments]
            value = call(name, [value] + values)
        return "" if value is None else str(value)
