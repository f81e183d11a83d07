# report.py NONCE - adds up what tracers left beside it, and prints the report
# that spectrum.h describes. A file of theirs has lines
#
#     T KNOWN TEST    what follows is of this test; KNOWN: 1 it failed, 0 it did
#                     not, ? another process knows; no TEST: outside of tests
#     F FILE          what follows is of this file
#     L N N...        lines that were executed
#     E N N...        lines that could be
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Report:
    def __init__(self):
        self.failed = {}  # test: did it fail
        self.lines = {}  # file: {line: the tests that executed it}

    def read(self, path):
        test = name = ""
        with open(path, errors="surrogateescape") as f:
            for row in f.read().split("\n"):
                kind, _, rest = row.partition(" ")
                if kind == "T":
                    known, _, test = rest.partition(" ")
                    if test:
                        self.failed[test] = known == "1" or self.failed.get(
                            test, False)
                elif kind == "F":
                    name = rest
                elif kind in ("L", "E"):
                    lines = self.lines.setdefault(name, {})
                    for n in rest.split():
                        tests = lines.setdefault(int(n), set())
                        if kind == "L":
                            tests.add(test)

    def kind(self, tests):
        if not tests:
            return "-"
        own = tests - {""}
        if not own:
            return "x"
        bad = sum(self.failed[t] for t in own)
        return "%d/%d" % (bad, len(own) - bad)

    def file(self, name):
        """Lines "KIND FIRST-LAST,..."; equal neighbours are one range."""
        ranges, last = {}, None
        for n in sorted(self.lines[name]):
            kind = self.kind(self.lines[name][n])
            if kind == last:
                ranges[kind][-1][1] = n
            else:
                ranges.setdefault(kind, []).append([n, n])
            last = kind
        out = ["= " + name]
        for kind, pairs in ranges.items():
            for i in range(0, len(pairs), 100):
                out.append(kind + " " + ",".join(
                    "%d-%d" % (a, b) if a < b else str(a)
                    for a, b in pairs[i:i + 100]))
        return "\n".join(out) + "\n"

    def weight(self, name):
        return sum(1 for tests in self.lines[name].values()
                   if any(self.failed.get(t) for t in tests))

    def text(self, nonce, limit):
        bad = sum(self.failed.values())
        body, size = [], 0
        for name in sorted(self.lines, key=lambda n: (-self.weight(n), n)):
            part = self.file(name)
            if size + len(part) <= limit and "\n" not in name:
                body.append(part)
                size += len(part)
        return "foray-spectrum %s %d %d\n%send %s" % (
            nonce, bad, len(self.failed) - bad, "".join(body), nonce)


def main(nonce):
    if os.path.exists(HERE + "/lost"):
        return
    report = Report()
    for name in sorted(os.listdir(HERE)):
        if name.startswith("out."):
            report.read(HERE + "/" + name)
    if report.lines:
        print(report.text(nonce, 14000))


main(sys.argv[1])
