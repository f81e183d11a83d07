# monitor.py - what trace.py does, with sys.monitoring (Python 3.12), where a
# line costs only the first time in each test. It stands beside it as
# foray_monitor.py; self is the tracer.
import sys


def begin(self):
    m = sys.monitoring
    tool = [i for i in (1, 3, 4, 2) if m.get_tool(i) is None][0]
    m.use_tool_id(tool, "foray")
    ev = m.events

    def start(code, offset):
        kind = self.kinds.get(code, 0)
        if kind == 0:
            kind = self.classify(code)
            if kind == "":
                m.set_local_events(tool, code, ev.LINE)
            elif kind:
                m.set_local_events(tool, code, ev.PY_RETURN)
        if not kind:
            return m.DISABLE
        if self.enter(sys._getframe(1), kind):
            m.restart_events()

    def line(code, number):
        if self.kinds.get(code, 0) != "":
            return m.DISABLE
        self.current.setdefault(code, set()).add(number)
        return m.DISABLE

    def end(code, offset, value):
        frame = sys._getframe(1)
        kind = self.kinds.get(code)
        if frame is self.scope or kind == "child":
            self.leave(frame, kind, value)
            m.restart_events()

    def unwind(code, offset, exc):
        if self.scope is not None and code is self.scope.f_code \
                and sys._getframe(1) is self.scope:
            self.threw = True
            self.leave(self.scope, self.kinds[code], None)
            m.restart_events()

    for event, call in ((ev.PY_START, start), (ev.LINE, line),
                        (ev.PY_RETURN, end), (ev.PY_UNWIND, unwind)):
        m.register_callback(tool, event, call)
    m.set_events(tool, ev.PY_START | ev.PY_UNWIND)
