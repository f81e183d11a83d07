"""Configuration files with sections, and values that go on.

    [server]
    host = example.org     ; a comment
    hosts allow =
        10.0.0.0/8
        192.168.0.0/16

An indented line goes on with the value above it. Names are the same in upper
and lower case.
"""

TOP = ""


class ParseError(ValueError):
    def __init__(self, number, text):
        super().__init__("line %d: %s" % (number, text))
        self.number = number


def without_comment(line):
    """A semicolon or # begins a comment where a blank is before it."""
    for pos, ch in enumerate(line):
        if ch in ";#" and (pos == 0 or line[pos - 1].isspace()):
            return line[:pos]
    return line


def section_name(number, text):
    if not text.endswith("]"):
        raise ParseError(number, "the bracket is not closed")
    name = text[1:-1].strip().lower()
    if not name:
        raise ParseError(number, "a section without a name")
    return name


def read(text):
    """{section: {key: value}}; what is before all sections is in ""."""
    sections = {TOP: {}}
    current = sections[TOP]
    key = None
    for number, line in enumerate(text.splitlines(), 1):
        body = without_comment(line).strip()
        if not body:
            # An empty line ends a value, a line with a comment does not.
            key = key if line.strip() else None
        elif line[0].isspace():
            if key is None:
                raise ParseError(number, "there is nothing to go on with")
            current[key] = (current[key] + "\n" + body).lstrip("\n")
        elif body.startswith("["):
            current = sections.setdefault(section_name(number, body), {})
        else:
            key, equals, value = body.partition("=")
            key = " ".join(key.lower().split())
            if not equals or not key:
                raise ParseError(number, "neither a section nor a value")
            if key in current:
                raise ParseError(number, "%s is set twice" % key)
            current[key] = value.strip()
    return sections
