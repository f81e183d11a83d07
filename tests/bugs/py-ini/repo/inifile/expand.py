"""Values may name others: ${key} of the same section, or ${section:key}."""

import re

REFERENCE = re.compile(r"\$(?:\$|\{([^}]*)\})")
TRUE = {"1", "yes", "true", "on"}
FALSE = {"0", "no", "false", "off"}


class ExpandError(LookupError):
    pass


class Expander:
    def __init__(self, sections):
        self.sections = sections

    def get(self, section, key, seen=()):
        place = (section, key)
        if place in seen:
            raise ExpandError("circle at %s:%s" % place)
        value = self.raw(section, key)

        def other(match):
            name = match.group(1)
            if name is None:
                return "$"
            where, colon, what = name.rpartition(":")
            return self.get(where if colon else section, what.strip().lower(),
                            seen + (place,))
        return REFERENCE.sub(other, value)

    def raw(self, section, key):
        for name in (section, ""):
            if key in self.sections.get(name, {}):
                return self.sections[name][key]
        raise ExpandError("no %s in %s" % (key, section or "the file"))

    def flag(self, section, key):
        value = self.get(section, key).lower()
        if value not in TRUE | FALSE:
            raise ExpandError("%s is neither yes nor no" % key)
        return value in TRUE

    def items(self, section, key):
        return [line.strip() for line in self.get(section, key).split("\n")
                if line.strip()]
