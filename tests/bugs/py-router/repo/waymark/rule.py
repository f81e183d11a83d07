"""One rule such as /users/<int:number>/files/<path:name>."""

import re

CONVERTERS = {
    "str": ("[^/]+", str, 1),
    "int": ("[0-9]+", int, 2),
    "path": (".+", str, 0),
}
FIXED = 3
PIECE = re.compile(r"<(?:([a-z]+):)?([a-z_]+)>")


class Rule:
    def __init__(self, text, endpoint, methods=("GET",)):
        if not text.startswith("/"):
            raise ValueError("a rule begins with a slash: %s" % text)
        self.text = text
        self.endpoint = endpoint
        self.methods = {method.upper() for method in methods}
        self.parts = []    # (literal, name or None, converter or None)
        self.weight = []
        self._compile()

    def _compile(self):
        pattern = ""
        end = 0
        for piece in PIECE.finditer(self.text):
            kind, name = piece.groups("str")
            if kind not in CONVERTERS:
                raise ValueError("no converter %s in %s" % (kind, self.text))
            literal = self.text[end:piece.start()]
            expression, convert, weight = CONVERTERS[kind]
            pattern += "%s(?P<%s>%s)" % (re.escape(literal), name, expression)
            self.parts.append((literal, name, convert))
            self.weight += [FIXED] * literal.count("/")
            self.weight[-1] = weight
            end = piece.end()
        literal = self.text[end:]
        self.parts.append((literal, None, None))
        self.weight += [FIXED] * literal.count("/")
        self._regex = re.compile(pattern + re.escape(literal))

    def match(self, path):
        """The converted parts of the path, or None."""
        found = self._regex.fullmatch(path)
        if found is None:
            return None
        return {name: convert(found.group(name))
                for _, name, convert in self.parts if name}

    def allows(self, method):
        return method in self.methods

    def allowed(self):
        """What an Allow header says."""
        return self.methods | ({"HEAD"} if "GET" in self.methods else set())

    def build(self, values):
        text = ""
        for literal, name, _ in self.parts:
            text += literal
            if name is not None:
                text += str(values[name])
        return text
