"""One line of a file that says what to leave out.

    *.log        names, at any depth
    /build       from the top only
    docs/*.html  as well
    cache/       directories only
    !keep.log    but not this one
"""

import re


def translate(glob):
    """A regular expression: ** goes over slashes, * and ? do not."""
    out = ""
    pos = 0
    while pos < len(glob):
        ch = glob[pos]
        pos += 1
        if ch == "*":
            if glob.startswith("*/", pos):
                out += "(?:.*/)?"
                pos += 2
            elif glob.startswith("*", pos):
                out += ".*"
                pos += 1
            else:
                out += "[^/]*"
        elif ch == "?":
            out += "[^/]"
        elif ch == "[":
            end = glob.find("]", pos + 1)
            if end < 0:
                out += "\\["
                continue
            inside = glob[pos:end].replace("\\", "\\\\")
            if inside.startswith("!"):
                inside = "^" + inside[1:]
            out += "[" + inside + "]"
            pos = end + 1
        elif ch == "\\" and pos < len(glob):
            out += re.escape(glob[pos])
            pos += 1
        else:
            out += re.escape(ch)
    return out


class Pattern:
    def __init__(self, line):
        self.keep = line.startswith("!")
        glob = line[1:] if self.keep else line
        glob = glob.rstrip("/")
        # A slash in it binds the pattern to the top.
        self.bound = "/" in glob
        self._regex = re.compile(translate(glob.lstrip("/")))

    def match(self, path, is_dir):
        name = path if self.bound else path.rpartition("/")[2]
        return self._regex.fullmatch(name) is not None
