"""Template text to a list of nodes."""

from .split import split_arguments, split_pipes


class TemplateError(ValueError):
    pass


class Text:
    def __init__(self, text):
        self.text = text


class Output:
    def __init__(self, source):
        head, *filters = split_pipes(source)
        if not head:
            raise TemplateError("empty expression")
        self.head = head
        self.filters = [parse_call(f) for f in filters]


def parse_call(source):
    """'join(", ")' -> ('join', ['", "'])"""
    name, paren, rest = source.partition("(")
    if paren and not rest.endswith(")"):
        raise TemplateError("unbalanced call: %s" % source)
    name = name.strip()
    if not name.isidentifier():
        raise TemplateError("bad filter name: %r" % name)
    return name, split_arguments(rest[:-1])


def parse(text):
    nodes = []
    pos = 0
    while True:
        start = text.find("{{", pos)
        if start < 0:
            break
        end = text.find("}}", start)
        if end < 0:
            raise TemplateError("unclosed {{ at %d" % start)
        if start > pos:
            nodes.append(Text(text[pos:start]))
        nodes.append(Output(text[start + 2:end].strip()))
        pos = end + 2
    if pos < len(text):
        nodes.append(Text(text[pos:]))
    return nodes
