# python.py - which lines each test of a Python program executes.
#
# It stands in a directory of its own as sitecustomize.py, where PYTHONPATH makes
# every Python below one command find it: each notes per test which lines of the
# program it executed, and writes that into a file "out.*" beside this one when
# it ends, for report.py. "tree" there names the directories whose files are the
# program.
#
# Comments are left out where it is embedded; it must stay small, and run on
# Python 3.6 and later without a package.
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = "FORAY_TRACE_TEST"
HITS_MAX = 4000000
SKIPPED = ("site-packages", "node_modules", ".venv", "venv", ".tox", ".nox")


def is_test(rel):
    parts = rel.split("/")
    stem = parts[-1].split(".")[0]
    return (stem.startswith("test_") or stem.endswith(("_test", "_tests"))
            or stem in ("test", "tests", "conftest")
            or any(p in ("test", "tests", "spec", "testing") for p in parts[:-1]))


def trees():
    with open(HERE + "/tree") as f:
        return [os.path.realpath(t) + "/" for t in f.read().split("\n") if t]


def code_lines(code):
    """The lines of one code object that have instructions."""
    if hasattr(code, "co_lines"):
        return {n for _, _, n in code.co_lines() if n}
    import dis
    return {n for _, n in dis.findlinestarts(code) if n}


def all_lines(path):
    """The lines of a file that may be executed at all."""
    found = set()
    with open(path, "rb") as f:
        todo = [compile(f.read(), path, "exec", 0, True)]
    while todo:
        code = todo.pop()
        found |= code_lines(code)
        todo += [c for c in code.co_consts if hasattr(c, "co_code")]
    return found


class Tracer:
    def __init__(self):
        self.trees = trees()
        self.cwd = os.getcwd()
        self.kinds = {}  # of code: None: not ours; "": source; else a scope
        self.files = {}  # name in the code: (path, below the tree) or None
        self.sizes = {}
        self.failed = {}  # test: did it fail
        self.hits = {}  # test: {code: lines}
        self.parent = os.environ.get(TEST)
        self.scope = self.label = None
        self.left = HITS_MAX
        self.switch(self.parent)

    def place(self, name):
        if name not in self.files:
            path = os.path.realpath(os.path.join(self.cwd, name))
            rel = [path[len(t):] for t in self.trees if path.startswith(t)]
            ours = rel and not any(s in rel[0].split("/") for s in SKIPPED)
            self.files[name] = (path, rel[0]) if ours else None
        return self.files[name]

    def classify(self, code):
        name, file = code.co_name, code.co_filename
        kind = None
        if name == "run" and file.endswith("unittest/case.py"):
            kind = "unittest"
        elif name == "runtestprotocol" and file.endswith("_pytest/runner.py"):
            kind = "pytest"
        elif name == "_bootstrap" and file.endswith(
                "multiprocessing/process.py"):
            kind = "child"
        elif not file.startswith("<"):
            place = self.place(file)
            if place and not is_test(place[1]):
                kind = ""
                own = code_lines(code)
                self.sizes[code] = len(own - {code.co_firstlineno}) or 1
                self.left -= len(own)
            elif place and name.lower().startswith("test") \
                    and code.co_flags & 3 == 3:
                kind = "function"
        self.kinds[code] = kind
        return kind

    # A test is on from where its outermost scope is entered.

    def switch(self, label):
        self.label = label
        self.current = self.hits.setdefault(label, {})

    def enter(self, frame, kind):
        """True: this frame is the test from now on."""
        if kind == "child":
            self.hits, self.failed = {}, {}
            self.parent = self.label
            self.switch(self.label)
            return True
        if self.scope is not None or self.left < 0:
            return False
        here = frame.f_locals
        try:
            if kind == "unittest":
                label = here["self"].id()
            elif kind == "pytest":
                label = here["item"].nodeid
            else:
                label = frame.f_code.co_filename + "::" + frame.f_code.co_name
            label = repr(str(label))
        except Exception:
            return False
        self.scope = frame
        self.before = self.bad(here.get("result"))
        self.threw = False
        self.switch(label)
        os.environ[TEST] = label
        return True

    @staticmethod
    def bad(result):
        """How many tests of a unittest result failed; None: it can't tell."""
        try:
            return (len(result.failures) + len(result.errors) +
                    len(result.unexpectedSuccesses))
        except Exception:
            return None

    def leave(self, frame, kind, value):
        if kind == "child":
            self.write()
            return
        failed = self.threw and value is None
        if kind == "unittest":
            now = self.bad(frame.f_locals.get("result"))
            outcome = frame.f_locals.get("outcome")
            if now is not None and self.before is not None:
                failed = now > self.before
            elif now is not None:
                failed = now > 0
            else:
                failed = not getattr(outcome, "success", True)
        elif kind == "pytest" and not self.threw:
            try:
                failed = any(r.failed for r in value)
            except Exception:
                failed = False
        self.failed[self.label] = failed or self.failed.get(self.label, False)
        self.left -= sum(len(s) for s in self.current.values())
        self.scope = None
        os.environ.pop(TEST, None)
        if self.parent is not None:
            os.environ[TEST] = self.parent
        self.switch(self.parent)

    # What sys.settrace calls.

    def on_call(self, frame, event, arg):
        code = frame.f_code
        kind = self.kinds.get(code, 0)
        if kind == 0:
            kind = self.classify(code)
        if kind is None:
            return None
        if kind:
            return self.on_scope if self.enter(frame, kind) else None
        if len(self.current.setdefault(code, set())) >= self.sizes[code] \
                or self.left < 0:
            return None
        return self.on_line

    def on_line(self, frame, event, arg):
        if event == "line":
            code = frame.f_code
            seen = self.current.get(code)
            if seen is None:
                seen = self.current[code] = set()
            seen.add(frame.f_lineno)
            if len(seen) >= self.sizes[code]:
                frame.f_trace_lines = False
        return self.on_line

    def on_scope(self, frame, event, arg):
        kind = self.kinds[frame.f_code]
        if event == "return" and (frame is self.scope or kind == "child"):
            self.leave(frame, kind, arg)
        elif event == "exception":
            self.threw = True
        elif event == "line":
            self.threw = False
        return self.on_scope

    def begin(self):
        import atexit
        atexit.register(self.end)
        if hasattr(sys, "monitoring"):
            sys.path.insert(0, HERE)
            import foray_monitor
            del sys.path[0]
            return foray_monitor.begin(self)
        import threading
        threading.settrace(self.on_call)
        sys.settrace(self.on_call)
        self.mine = sys.gettrace()

    def end(self):
        if hasattr(sys, "monitoring"):
            return self.write()
        # Somebody else's tracer took over: what is missing was not unexecuted.
        if sys.gettrace() is not self.mine:
            with open(HERE + "/lost", "w"):
                return None
        sys.settrace(None)
        return self.write()

    def write(self):
        import warnings
        warnings.simplefilter("ignore")
        out = []
        for label, codes in self.hits.items():
            known = self.failed.get(label)
            out.append("T %s %s" % ("?" if known is None else int(known),
                                    label or ""))
            for code, lines in codes.items():
                if lines and self.place(code.co_filename):
                    out.append("F " + self.place(code.co_filename)[1])
                    out.append("L " + " ".join(map(str, lines)))
        for path, rel in {self.place(c.co_filename) for s in self.hits.values()
                          for c in s}:
            try:
                out.append("F " + rel)
                out.append("E " + " ".join(map(str, all_lines(path))))
            except Exception:
                pass
        name = "%s/%d.%s" % (HERE, os.getpid(), os.urandom(4).hex())
        with open(name, "w", errors="surrogateescape") as f:
            f.write("\n".join(out))
        os.rename(name, "%s/out.%s" % (HERE, os.path.basename(name)))


def chain():
    """The sitecustomize that the environment has itself."""
    sys.path[:] = [p for p in sys.path if os.path.realpath(p or ".") != HERE]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize
    except ImportError as e:
        if e.name != "sitecustomize":
            raise
    finally:
        if ours is not None:
            sys.modules.setdefault("sitecustomize", ours)


chain()
try:
    Tracer().begin()
except Exception:
    pass
