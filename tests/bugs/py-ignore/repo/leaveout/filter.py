"""All patterns of a file: the last one that matches decides."""

from .pattern import Pattern


class Filter:
    def __init__(self, text=""):
        self.patterns = []
        for line in text.splitlines():
            line = line.rstrip()
            if line and not line.startswith("#"):
                self.patterns.append(Pattern(line))

    def decide(self, path, is_dir):
        """True: left out, False: kept, None: no pattern says anything."""
        for pattern in reversed(self.patterns):
            if pattern.match(path, is_dir):
                return not pattern.keep
        return None

    def left_out(self, path, is_dir=False):
        """What is in a directory that is left out is left out, too."""
        parts = path.split("/")
        for count in range(1, len(parts)):
            if self.decide("/".join(parts[:count]), True):
                return True
        return bool(self.decide(path, is_dir))

    def select(self, paths):
        """The paths that stay; those of directories end with a slash."""
        return [path for path in paths
                if not self.left_out(path.rstrip("/"), path.endswith("/"))]
